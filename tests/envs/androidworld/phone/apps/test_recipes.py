"""Broccoli: recipes that are written, found, cooked, thrown away and brought back."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.apps.launcher import Launcher
from eapo_gym.envs.androidworld.phone.apps.recipes import CATEGORIES, DATABASE, EXPORT, FILED, RECIPES, Broccoli
from eapo_gym.envs.androidworld.phone.factory import BENCHMARK_TIME
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.finger import Finger


class Player:
    """Somebody who has Broccoli in front of them."""

    def __init__(self) -> None:
        self.phone = Phone([Launcher(), Broccoli()], now=BENCHMARK_TIME.timestamp())
        self.hands = Hands(self.phone)
        self.finger = Finger(self.hands.elements)
        self.hands.act(self.finger.open("Broccoli"))

    def add(self, title: str, **values: str) -> None:
        """A recipe that was there before."""
        columns = ("imageName", "description", "servings", "preparationTime", "source", "ingredients", "directions")
        row = {**dict.fromkeys(columns, ""), **values}
        self.phone.change(lambda turn: turn.insert(DATABASE, RECIPES, title=title, favorite=0, **row))

    def tap(self, *names: str) -> None:
        for name in names:
            self.hands.act(self.finger.tap(name))

    def write(self, text: str, into: str) -> None:
        self.hands.act(self.finger.write(text, into=into, clear=True))

    def back(self) -> None:
        self.hands.act(self.finger.back())

    def to(self, part: str) -> None:
        self.tap("Open navigation drawer", part)

    def sees(self, said: str) -> bool:
        return self.finger.sees(said)

    def rows(self, table: str = RECIPES) -> list[dict[str, Any]]:
        return [dict(row) for row in self.phone.state.files.database(DATABASE)[table]]


@pytest.fixture
def player() -> Player:
    player = Player()
    player.add("Soup", ingredients="2 leeks\nsalt", directions="Cut the leeks. Boil them!\nSalt it.", servings="2")
    player.add("apple pie", description="Grandma's", ingredients="3 apples")
    return player


def test_a_recipe_is_written() -> None:
    player = Player()
    assert player.sees("No recipes yet")
    player.tap("New recipe")
    written = {
        "Title": "Crème 'brûlée' 🍮",
        "Description": "Sweet; \"rich\"",
        "Servings": "4",
        "Preparation time": "1 hrs",
        "Ingredients": "cream\neggs",
        "Directions": "Stir. Bake.",
    }  # fmt: skip
    for name, text in written.items():
        for action in player.finger.scroll_to_field(name):
            player.hands.act(action)
        player.write(text, into=name)
        if player.phone.state.keyboard:
            player.back()
    player.tap("Save")
    assert player.rows() == [
        {
            "recipeId": 1, "title": "Crème 'brûlée' 🍮", "imageName": "", "description": "Sweet; \"rich\"",
            "servings": "4", "preparationTime": "1 hrs", "source": "", "ingredients": "cream\neggs",
            "directions": "Stir. Bake.", "favorite": 0,
        }
    ]  # fmt: skip
    assert player.sees("Crème 'brûlée' 🍮")


def test_a_recipe_needs_a_title() -> None:
    player = Player()
    player.tap("New recipe")
    player.write("   ", into="Title")
    player.tap("Save")
    assert player.sees("A recipe needs a title")
    assert player.rows() == []


def test_what_was_written_is_not_thrown_away_without_a_question(player: Player) -> None:
    player.tap("New recipe")
    player.back()
    assert player.sees("Recipes"), "nothing was written"
    player.tap("New recipe")
    player.write("Jam", into="Title")
    player.back()
    player.tap("Keep editing")
    assert player.sees("Jam")
    player.back()
    player.tap("Discard")
    assert player.sees("Recipes")
    assert len(player.rows()) == 2


def test_a_recipe_is_edited_and_keeps_its_number(player: Player) -> None:
    player.tap("Soup", "More options", "Edit")
    player.write("Leek soup", into="Title")
    player.tap("Save")
    assert player.sees("Leek soup"), "one is back at the recipe"
    assert [(row["recipeId"], row["title"]) for row in player.rows()] == [(1, "Leek soup"), (2, "apple pie")]
    assert player.rows()[0]["directions"] == "Cut the leeks. Boil them!\nSalt it."


def test_deleting_asks_first_and_can_be_undone_with_the_categories(player: Player) -> None:
    def put_in_category(turn: Any) -> None:
        turn.insert(DATABASE, CATEGORIES, name="Warm")
        turn.insert(DATABASE, FILED, recipeId=1, categoryId=1)

    player.phone.change(put_in_category)
    before = player.rows(), player.rows(FILED)
    player.tap("Soup", "More options", "Delete", "Cancel")
    assert (player.rows(), player.rows(FILED)) == before
    player.tap("More options", "Delete", "DELETE")
    assert [row["title"] for row in player.rows()] == ["apple pie"]
    assert player.rows(FILED) == []
    player.tap("Undo")
    assert (sorted(player.rows(), key=lambda row: row["recipeId"]), player.rows(FILED)) == before


def test_the_list_is_in_the_order_of_the_titles_whatever_their_case(player: Player) -> None:
    def order() -> list[str]:
        return [each.text for each in player.hands.elements() if each.text in ("Soup", "apple pie")]

    assert order() == ["apple pie", "Soup"]
    player.tap("More options", "Oldest first")
    assert order() == ["Soup", "apple pie"]


def test_search_finds_titles_and_ingredients(player: Player) -> None:
    player.tap("Search")
    for wanted, found in (("APPLE", ["apple pie"]), ("leek", ["Soup"]), ("l", ["apple pie", "Soup"])):
        player.write(wanted, into="/.*/")
        assert [each.text for each in player.hands.elements() if each.text in ("Soup", "apple pie")] == found
    player.write("boil", into="/.*/")
    assert player.sees("Nothing found")


def test_favourites(player: Player) -> None:
    player.tap("Soup", "Add to favorites")
    assert [row["favorite"] for row in player.rows()] == [1, 0]
    player.back()
    player.to("Favorites")
    assert player.sees("Soup")
    assert not player.sees("apple pie")
    player.tap("Soup", "Remove from favorites")
    player.back()
    assert player.sees("No favorites yet")


def test_categories_are_made_used_renamed_and_deleted(player: Player) -> None:
    player.to("Categories")
    player.tap("New category")
    player.write("Winter", into="Category name")
    assert player.sees("0 recipes"), "enter is OK"
    player.back()
    player.tap("Soup", "More options", "Edit", "Categories", "Winter", "Done", "Save")
    player.back()
    player.to("Categories")
    assert player.sees("1 recipe")
    player.tap("Winter")
    assert player.sees("Soup")
    assert not player.sees("apple pie")
    player.back()
    player.tap("Options of Winter", "Rename")
    player.write("Cold days", into="Category name")
    assert [row["name"] for row in player.rows(CATEGORIES)] == ["Cold days"]
    player.tap("Options of Cold days", "Delete")
    assert player.rows(CATEGORIES) == player.rows(FILED) == []


def test_cooking_mode_goes_step_by_step(player: Player) -> None:
    player.tap("Soup", "Cooking mode")
    assert player.sees("Cut the leeks.")
    player.tap("Next", "Next")
    assert player.sees("Salt it.")
    assert player.sees("Step 3 of 3")
    player.tap("Next")
    assert player.sees("Step 3 of 3"), "there is no fourth"
    player.tap("Previous")
    assert player.sees("Boil them!")


def test_what_is_in_season_is_looked_for(player: Player) -> None:
    player.to("Seasonal calendar")
    assert player.sees("October")
    player.tap("Next month", "Next month", "Next month")
    assert player.sees("January")
    player.tap("Leek")
    assert player.sees("Soup")
    assert not player.sees("apple pie")


def test_sharing_copies_and_the_export_is_json(player: Player) -> None:
    player.tap("Soup", "More options", "Share")
    assert player.phone.state.clipboard.startswith("Soup\n\n2\n\n2 leeks")
    player.back()
    player.to("Settings")
    player.tap("Export")
    assert [each["title"] for each in json.loads(player.phone.state.files.text(EXPORT))] == ["Soup", "apple pie"]


def test_a_file_that_is_pushed_is_what_the_app_shows(player: Player, tmp_path: Path) -> None:
    path = tmp_path / "broccoli"
    path.write_bytes(player.phone.state.files.read(DATABASE))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE recipes SET title = NULL, ingredients = NULL WHERE recipeId = 1")
        connection.execute("DELETE FROM recipes WHERE recipeId = 2")
    connection.close()
    files = player.phone.state.files.write(DATABASE, path.read_bytes(), 0.0)
    player.phone.state = replace(player.phone.state, files=files)
    player.tap("Untitled")
    assert player.sees("Cut the leeks. Boil them!")
    player.phone.state = replace(player.phone.state, files=files.remove(DATABASE, 0.0))
    assert player.sees("This recipe is gone")
    player.back()
    assert player.sees("No recipes yet")
    player.tap("New recipe")
    player.write("Jam", into="Title")
    player.tap("Save")
    assert [row["title"] for row in player.rows()] == ["Jam"]
