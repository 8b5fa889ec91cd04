"""When rows of a database count as added, and when as deleted: expenses and recipes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import TaskDice
from eapo_gym.envs.androidworld.tasks.expense import (
    ExpenseAddMultiple,
    ExpenseAddMultipleFromMarkor,
    ExpenseAddSingle,
    ExpenseDeleteDuplicates2,
    ExpenseDeleteMultiple2,
)
from eapo_gym.envs.androidworld.tasks.recipes import (
    RecipeAddMultipleRecipesFromImage,
    RecipeAddMultipleRecipesFromMarkor2,
    RecipeAddSingleRecipe,
    RecipeDeleteDuplicateRecipes3,
    RecipeDeleteMultipleRecipesWithConstraint,
)
from eapo_gym.envs.androidworld.tasks.rows import RowTask, are_alike, as_text, different


class Table:
    """The table that a task is about, on a phone that was prepared for it."""

    def __init__(self, task: RowTask, seed: int = 1) -> None:
        self.task = task
        self.phone: Phone = new_phone()
        drawn = task.draw(TaskDice("rows", seed))
        task.prepare(self.phone, drawn)
        self.params = task.begun(self.phone, drawn)

    def rows(self) -> list[dict[str, Any]]:
        return [dict(row) for row in self.phone.state.files.database(self.task.database)[self.task.table]]

    def add(self, **values: Any) -> None:
        self.phone.change(lambda turn: turn.insert(self.task.database, self.task.table, **values))

    def delete(self, *numbers: Any) -> None:
        key = self.task.key
        self.phone.change(
            lambda turn: turn.delete(self.task.database, self.task.table, lambda row: row[key] in numbers)
        )

    def update(self, number: Any, **values: Any) -> None:
        key = self.task.key
        self.phone.change(
            lambda turn: turn.update(self.task.database, self.task.table, lambda row: row[key] == number, **values)
        )

    def judge(self) -> float:
        return self.task.judge(self.phone, self.params, "")


def test_the_rows_of_the_task_are_the_last_ones() -> None:
    table = Table(ExpenseDeleteMultiple2())
    names = [row["name"] for row in table.rows()]
    assert len(names) == 53
    assert names[-3:] == [row["name"] for row in table.params["targets"]]
    assert len(set(names)) == 53, "no name is there twice"


def test_only_those_that_were_asked_for_may_be_deleted() -> None:
    table = Table(ExpenseDeleteMultiple2())
    *others, first, second, third = [row["expense_id"] for row in table.rows()]
    assert table.judge() == 0
    table.delete(first, second)
    assert table.judge() == 0, "one is left"
    table.delete(third)
    assert table.judge() == 1
    table.update(others[0], note="changed")
    assert table.judge() == 0


def test_deleting_too_much_or_adding_something_is_wrong() -> None:
    for does in ("delete", "add"):
        table = Table(ExpenseDeleteMultiple2())
        numbers = [row["expense_id"] for row in table.rows()]
        table.delete(*numbers[-3:])
        if does == "delete":
            table.delete(numbers[0])
        else:
            table.add(**table.params["noise"][0])
        assert table.judge() == 0


@pytest.mark.parametrize("task", [ExpenseDeleteDuplicates2, RecipeDeleteDuplicateRecipes3])
@pytest.mark.parametrize("which", [-1, -2])
def test_either_of_two_that_are_the_same_may_go(task: type[RowTask], which: int) -> None:
    table = Table(task())
    numbers = [row[table.task.key] for row in table.rows()]
    table.delete(numbers[which])
    assert table.judge() == 1
    table.delete(numbers[-1], numbers[-2])
    assert table.judge() == 0, "one has to stay"


def test_a_copy_that_is_only_changed_is_not_deleted() -> None:
    table = Table(RecipeDeleteDuplicateRecipes3())
    table.update(table.rows()[-1]["recipeId"], title="")
    assert table.judge() == 0


@pytest.mark.parametrize(
    ("changes", "judged"),
    [
        ({}, 1),
        ({"name": "split the rent with everyone"}, 1),
        ({"name": "Split the rent with nobody"}, 0),
        ({"amount": 10_001}, 0),
        ({"category": 5}, 0),
        ({"note": "Long overdu"}, 1),
        ({"note": ""}, 0),
        ({"note": None}, 0),
        ({"created_date": 0}, 1),
    ],
)
def test_an_added_expense_may_have_a_slip_of_the_pen_in_its_texts(changes: dict[str, Any], judged: int) -> None:
    table = Table(ExpenseAddSingle())
    wanted = {"name": "Split the rent with everyone", "amount": 10_000, "category": 4, "note": "Long overdue"}
    table.params = {**table.params, "targets": [wanted]}
    assert table.judge() == 0
    table.add(**{**wanted, "created_date": 5, "modified_date": 5, **changes})
    assert table.judge() == judged


def test_all_must_be_added_and_nothing_else_happen() -> None:
    table = Table(ExpenseAddMultiple())
    for row in table.params["targets"][:2]:
        table.add(**row)
    assert table.judge() == 0
    table.add(**table.params["targets"][2])
    assert table.judge() == 1
    table.add(**table.params["targets"][2])
    assert table.judge() == 0, "one is there twice"
    table.delete(table.rows()[-1]["expense_id"])
    table.delete(table.rows()[0]["expense_id"])
    assert table.judge() == 0, "one that was there before is gone"


@pytest.mark.parametrize(
    ("column", "value", "judged"), [("favorite", 1, 0), ("source", "a book", 0), ("imageName", "x", 1)]
)
def test_what_a_recipe_has_beside_what_was_asked_for(column: str, value: Any, judged: int) -> None:
    table = Table(RecipeAddSingleRecipe())
    table.add(**{**table.params["targets"][0], column: value})
    assert table.judge() == judged


def test_a_database_that_is_gone_is_no_success() -> None:
    table = Table(RecipeDeleteMultipleRecipesWithConstraint())
    files = table.phone.state.files.remove(table.task.database, 0.0)
    table.phone.state = replace(table.phone.state, files=files)
    assert table.judge() == 0
    table.task.prepare(table.phone, table.params)
    assert len(table.rows()) == 32, "the next task makes it anew"


def test_the_constraint_is_met_by_the_right_ones_alone() -> None:
    for seed in range(20):
        params = RecipeDeleteMultipleRecipesWithConstraint().draw(TaskDice("constraint", seed))
        assert all(params["ingredient"] in row["directions"].lower() for row in params["targets"])
        assert not any(params["ingredient"] in row["directions"].lower() for row in params["noise"])
        assert len(params["noise"]) == 29


def test_the_note_has_what_is_asked_for_among_the_rest() -> None:
    table = Table(ExpenseAddMultipleFromMarkor())
    lines = table.phone.state.files.text("/sdcard/Documents/Markor/my_expenses.txt").split("\n")
    assert lines[0] == "name|amount_dollars|category_name|note"
    assert len(lines) == 103
    asked = {line.split("|")[0] for line in lines if line.endswith(". Reimbursable.")}
    assert asked == {row["name"] for row in table.params["targets"]}

    cooking = Table(RecipeAddMultipleRecipesFromMarkor2())
    text = cooking.phone.state.files.text("/sdcard/Documents/Markor/recipes.txt")
    time = cooking.params["prep_time"]
    assert all(row["preparationTime"] == time for row in cooking.params["targets"])
    assert not any(row["preparationTime"] == time for row in cooking.params["noise"])
    assert all(row["directions"] in text for row in (*cooking.params["targets"], *cooking.params["noise"]))


def test_the_picture_is_a_picture() -> None:
    table = Table(RecipeAddMultipleRecipesFromImage())
    assert table.phone.state.files.read("/sdcard/DCIM/recipes.jpg").startswith(b"\xff\xd8")


def test_rows_are_listed_as_the_benchmark_lists_them() -> None:
    rows = [{"title": "A", "time": "10 mins"}, {"title": "B|", "time": "1 hrs and more"}]
    assert as_text("Recipe", rows, "csv") == "title|time\nA|10 mins\nB||1 hrs and more"
    assert (
        as_text("Recipe", rows, "text_block", 8) == "Recipe: A\n time: 10 mins\n\nRecipe: B|\n time: 1 hrs\nand more\n"
    )


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Pea soup", "pea SOUP", True),
        ("", "", True),
        ("n/a", "n/a\n", False),
        ("a", None, False),
        ("10 mins", "20 mins", False),
    ],
)
def test_texts_are_alike_but_for_capitals_and_little_else(one: object, other: object, alike: bool) -> None:
    assert are_alike(one, other) == alike


def test_different_things_are_drawn() -> None:
    numbers = iter([1, 1, 2, 3, 2, 4])
    assert different(2, lambda: next(numbers), among=[2]) == [1, 3]
