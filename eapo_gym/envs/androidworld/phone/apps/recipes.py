"""Broccoli: a cookbook. Recipes with categories, favourites, a cooking mode and a calendar of what is in season."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from eapo_gym.envs.androidworld.phone.app import OVER, App, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.databases import Database, DatabaseError, Row, Rows, Value
from eapo_gym.envs.androidworld.phone.files import SDCARD, FileError
from eapo_gym.envs.androidworld.phone.state import State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    IMAGE,
    LINEAR,
    app_bar,
    bottom_bar,
    button,
    checkbox,
    chip,
    column,
    dialog,
    divider,
    drawer,
    fab,
    field,
    floating,
    icon,
    icon_button,
    item,
    labelled,
    listing,
    menu,
    nothing_yet,
    page,
    row,
    search_bar,
    snackbar,
    space,
    text,
)

PACKAGE = "com.flauschcode.broccoli"
DATABASE = f"/data/data/{PACKAGE}/databases/broccoli"
RECIPES, CATEGORIES, FILED = "recipes", "categories", "recipes_with_categories"
EXPORT = f"{SDCARD}/Download/broccoli.json"
MAIN = ".MainActivity"
DETAILS = ".recipe.details.RecipeDetailsActivity"
EDITOR = ".recipe.crud.CreateAndEditRecipeActivity"
COOKING = ".recipe.cooking.CookingAssistantActivity"

EMPTY = Database(
    schema=(
        "CREATE TABLE `recipes` (`recipeId` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `title` TEXT, "
        "`imageName` TEXT, `description` TEXT, `servings` TEXT, `preparationTime` TEXT, `source` TEXT, "
        "`ingredients` TEXT, `directions` TEXT, `favorite` INTEGER NOT NULL)",
        "CREATE TABLE `categories` (`categoryId` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `name` TEXT)",
        "CREATE TABLE `recipes_with_categories` (`recipeId` INTEGER NOT NULL, `categoryId` INTEGER NOT NULL, "
        "PRIMARY KEY(`recipeId`, `categoryId`))",
    ),
    tables={RECIPES: (), CATEGORIES: (), FILED: ()},
    keys={RECIPES: "recipeId", CATEGORIES: "categoryId"},
    version=1,
)

# What things are called on different phones; the usual name comes first.
ADD = ("New recipe", "Add recipe", "Write a recipe")
SAVE = ("Save", "Done", "Keep")
EDIT = ("Edit", "Change", "Modify")
DELETE = ("Delete", "Remove", "Throw away")
SEARCH = ("Search", "Find a recipe", "Look for")
FIELDS: Mapping[str, tuple[str, ...]] = {
    "title": ("Title", "Name of the dish", "Recipe name"),
    "description": ("Description", "In a few words", "About it"),
    "servings": ("Servings", "Serves", "Portions"),
    "preparationTime": ("Preparation time", "Takes", "Ready in"),
    "source": ("Source", "From", "Where it is from"),
    "ingredients": ("Ingredients", "What you need", "Shopping list"),
    "directions": ("Directions", "How to make it", "Steps"),
}
"""The columns that are written into, and what their fields are called."""

LONG = {"description": 2, "ingredients": 4, "directions": 5}
"""These fields take several lines."""

PALETTE = ("#7cb342", "#ef6c00", "#c62828", "#00897b", "#6d4c41", "#8e24aa", "#3949ab")
FAVOURITES = "Favorites"
SORTS: Mapping[str, Callable[[Row], Any]] = {
    "By title": lambda row: (title_of(row).lower(), _number(row)),
    "Newest first": lambda row: -_number(row),
    "Oldest first": lambda row: _number(row),
}

SEASONS: Mapping[str, tuple[str, ...]] = {
    "January": ("Leek", "Kale", "Parsnip", "Beetroot"),
    "February": ("Leek", "Chicory", "Cabbage", "Celeriac"),
    "March": ("Spinach", "Leek", "Spring onion", "Cabbage"),
    "April": ("Asparagus", "Radish", "Rhubarb", "Spinach"),
    "May": ("Asparagus", "Lettuce", "Radish", "Strawberry"),
    "June": ("Peas", "Strawberry", "Cherry", "Broad bean"),
    "July": ("Tomato", "Zucchini", "Cucumber", "Blueberry"),
    "August": ("Tomato", "Corn", "Bell pepper", "Plum"),
    "September": ("Pumpkin", "Eggplant", "Apple", "Fig"),
    "October": ("Pumpkin", "Broccoli", "Mushroom", "Pear"),
    "November": ("Cauliflower", "Chard", "Quince", "Turnip"),
    "December": ("Brussels sprout", "Kale", "Carrot", "Potato"),
}


# What is in the database


def recipes(at: Scene) -> Rows:
    """All of them; none where the file is gone or is no database of this app."""
    return _rows(at, RECIPES)


def title_of(row: Row) -> str:
    return _said(row, "title")


def _rows(at: Scene, table: str) -> Rows:
    try:
        return at.rows(DATABASE, table)
    except (FileError, DatabaseError):
        return ()


def _said(row: Row, column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value)


def _number(row: Row) -> int:
    value = row.get("recipeId")
    return value if isinstance(value, int) else 0


def _recipe(at: Scene, number: int) -> Row | None:
    return next((row for row in recipes(at) if row["recipeId"] == number), None)


def _categories(at: Scene) -> dict[int, str]:
    """All categories, by their names."""
    rows = sorted(_rows(at, CATEGORIES), key=lambda row: _said(row, "name").lower())
    return {int(str(row["categoryId"])): _said(row, "name") for row in rows}


def _filed(at: Scene, number: int) -> tuple[int, ...]:
    """The categories of a recipe."""
    return tuple(int(str(row["categoryId"])) for row in _rows(at, FILED) if row["recipeId"] == number)


def _file(turn: Turn, number: int, categories: Sequence[int]) -> None:
    """Put a recipe into these categories, and into no other."""
    if not _filed(turn, number) and not categories:
        return
    turn.delete(DATABASE, FILED, lambda row: row["recipeId"] == number)
    for category in categories:
        turn.insert(DATABASE, FILED, recipeId=number, categoryId=category)


def _add(turn: Turn, row: Row) -> int:
    turn.mend(DATABASE, EMPTY)
    return turn.insert(DATABASE, RECIPES, **row)


def _toggled(numbers: tuple[int, ...], number: int) -> tuple[int, ...]:
    """With this one if it was not among them, else without it."""
    return tuple(each for each in numbers if each != number) if number in numbers else (*numbers, number)


def _steps(directions: str) -> list[str]:
    """The directions, a sentence or line at a time."""
    return [step.strip() for step in re.split(r"\n+|(?<=[.!?])\s+", directions) if step.strip()]


# The first screen, with its parts


class Main(Screen):
    """The recipes, the favourites, the categories, the seasons and the settings."""

    name = MAIN

    def view(self, at: Scene) -> View:
        part = _part(at)
        bar, body, above = _PARTS[part](at)
        below = []
        if at.get("undo"):
            recipe, _ = at.get("undo")
            below.append(snackbar(f"{title_of(recipe) or 'Recipe'} deleted", "Undo", ("undo",)))
        if _by_tabs(at):
            tabs = [(picture, title) for _, picture, title in _places(at)]
            below.append(bottom_bar(tabs, _title(at, part), "place"))
        layers = [column(bar, *above, listing(body, name=part, pad=(0, 0, 0, 88)), *below, fill="page")]
        if part in _ADDS and not at.get("undo"):
            said = at.taste.choose("recipe add", *ADD) if part == "recipes" else _ADDS[part]
            add = fab("add", said, ("add", part))
            layers.append(replace(floating(add), pad=(16, 16, 16, 24 + (72 if _by_tabs(at) else 0))))
        over = _over(at)
        return View(kind=FRAME, flow="stack", children=(*layers, *([over] if over is not None else [])))

    def on(self, turn: Turn, event: Event) -> None:
        if turn.get("undo") and event != ("undo",):
            turn.drop("undo")
        _touched(turn, event)

    def entered(self, turn: Turn, field: str) -> None:
        if field == "category_name":
            _name_category(turn)
        else:
            turn.focus("")

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("searching"):
            turn.drop("searching", "query")
        elif turn.get("category"):
            _go(turn, "categories")
        elif _part(turn) != "recipes":
            _go(turn, "recipes")
        else:
            turn.close()


_ADDS = {"recipes": ADD[0], "categories": "New category"}
"""What the round button adds to a part."""


def _touched(turn: Turn, event: Event) -> None:
    match event:
        case ("part", part):
            _go(turn, part)
        case ("place", title):
            _go(turn, next(part for part, _, named in _places(turn) if named == title))
        case ("over", what):
            turn.keep(**{OVER: what})
        case ("close",):
            turn.drop(OVER)
            turn.focus("")
        case ("add", "recipes"):
            turn.open(EDITOR, filed=(turn.get("category"),) if turn.get("category") else ())
        case ("add", "categories"):
            _ask_name(turn, 0, "")
        case ("open", number):
            turn.open(DETAILS, number=number)
        case ("favourite", number):
            _favour(turn, number)
        case ("undo",):
            recipe, filed = turn.get("undo")
            _file(turn, _add(turn, recipe), filed)
            turn.drop("undo")
        case ("search",):
            turn.keep(searching=True, query="")
            turn.focus("query")
        case ("search for", wanted):
            _go(turn, "recipes")
            turn.keep(searching=True, query=wanted)
        case ("leave search",):
            turn.drop("searching", "query")
            turn.focus("")
        case ("sort", how):
            turn.keep(sort=how)
            turn.drop(OVER)
        case ("category", number):
            _go(turn, "recipes")
            turn.keep(category=number)
        case ("hold category", number):
            turn.keep(**{OVER: ("category", number)})
        case ("rename", number):
            _ask_name(turn, number, _categories(turn)[number])
        case ("name category",):
            _name_category(turn)
        case ("delete category", number):
            turn.delete(DATABASE, CATEGORIES, lambda row: row["categoryId"] == number)
            turn.delete(DATABASE, FILED, lambda row: row["categoryId"] == number)
            turn.drop(OVER)
        case ("month", name):
            turn.keep(month=name)
        case ("export",):
            turn.write(EXPORT, json.dumps([dict(row) for row in recipes(turn)], indent=2, default=str))
            turn.toast("Saved as Download/broccoli.json")


def _go(turn: Turn, part: str) -> None:
    turn.drop(OVER, "searching", "query", "category")
    turn.focus("")
    turn.keep(part=part)


def _favour(turn: Turn, number: int) -> None:
    """Among the favourites, or not any more."""
    found = _recipe(turn, number)
    if found is not None:
        favourite = 0 if found["favorite"] else 1
        turn.update(DATABASE, RECIPES, lambda row: row["recipeId"] == number, favorite=favourite)


def _ask_name(turn: Turn, number: int, name: str) -> None:
    turn.keep(**{OVER: ("name", number)}, category_name=name)
    turn.focus("category_name")


def _name_category(turn: Turn) -> None:
    """Make or rename the category whose name was asked for."""
    name, (_, number) = turn.get("category_name", "").strip(), turn.get(OVER)
    if not name:
        return
    if number:
        turn.update(DATABASE, CATEGORIES, lambda row: row["categoryId"] == number, name=name)
    else:
        turn.mend(DATABASE, EMPTY)
        turn.insert(DATABASE, CATEGORIES, name=name)
    turn.drop(OVER, "category_name")
    turn.focus("")


def _part(at: Scene) -> str:
    return str(at.get("part", "recipes"))


def _places(at: Scene) -> list[tuple[str, str, str]]:
    """Part, icon and title of where one can go."""
    places = [
        ("recipes", "recipe", "Recipes"),
        ("favourites", "heart", FAVOURITES),
        ("categories", "label", "Categories"),
        ("seasons", "calendar", at.taste.choose("recipe seasons", "Seasonal calendar", "In season", "Seasons")),
        ("settings", "settings", "Settings"),
    ]
    return [places[0], *at.taste.order("recipe places", places[1:])]


def _title(at: Scene, part: str) -> str:
    return next(title for each, _, title in _places(at) if each == part)


def _by_tabs(at: Scene) -> bool:
    """Some phones have the places at the bottom, the usual one in a drawer."""
    return at.taste.choose("recipe ways", "drawer", "tabs") == "tabs"


Part = tuple[View, Sequence[View], Sequence[View]]
"""The bar, what scrolls below it, and what stands between the two."""


def _bar(at: Scene, title: str, actions: Sequence[View] = ()) -> View:
    if _by_tabs(at):
        return app_bar(title, actions=actions)
    return app_bar(title, up=("over", "drawer"), up_icon="menu", actions=actions)


def _list(at: Scene) -> Part:
    found = _listed(at)
    if found:
        body = [_card(each) for each in found]
    elif recipes(at):
        body = [nothing_yet("search", "Nothing found")]
    else:
        body = [nothing_yet("recipe", "No recipes yet", "Write your first one with +")]
    if at.get("searching"):
        return search_bar(at.get("query", ""), "Search by title or ingredient", ("leave search",)), body, []
    actions = [
        icon_button("search", at.taste.choose("recipe search", *SEARCH), ("search",)),
        icon_button("more", "More options", ("over", "menu")),
    ]
    category = _categories(at).get(at.get("category", 0))
    if category is not None:
        return app_bar(category, up=("part", "categories"), actions=actions), body, []
    return _bar(at, "Recipes", actions), body, []


def _listed(at: Scene) -> list[Row]:
    """The recipes as searched, filed and sorted."""
    wanted = str(at.get("query", "")).strip().lower()
    category = at.get("category", 0)
    found = [
        each
        for each in recipes(at)
        if wanted in f"{title_of(each)}\n{_said(each, 'ingredients')}".lower()
        and (not category or category in _filed(at, _number(each)))
    ]
    return sorted(found, key=SORTS[at.get("sort", "By title")])


def _card(each: Row) -> View:
    """A recipe in a list."""
    return _drawn(tuple(each.items()))


@lru_cache(maxsize=4_096)
def _drawn(values: tuple[tuple[str, Value], ...]) -> View:
    """The list is drawn at every step, and most of its cards stay as they were."""
    each = dict(values)
    title, description = title_of(each), _said(each, "description")
    colour = PALETTE[sum(map(ord, title)) % len(PALETTE)]
    picture = View(
        kind=IMAGE, width=72, height=72, across="center",
        look=Look(fill=colour, round=12, icon="recipe", size=32, color="#ffffff"),
    )  # fmt: skip
    words = [text(title or "Untitled", bold=True, lines=2, id="card_text_view_title")]
    if description:
        words.append(text(description, size=14, color="faint", lines=2, id="card_text_view_description"))
    inside = [picture, column(*words, gap=2, grow=1, along="center")]
    if each.get("favorite"):
        inside.append(icon("heart", size=20, color="danger", desc="Favorite"))
    card = View(
        kind=LINEAR, flow="row", height=100, gap=14, pad=(12, 8, 12, 8), tap=("open", each["recipeId"]),
        look=Look(fill="card", round=14), children=tuple(inside),
    )  # fmt: skip
    return column(card, pad=(12, 4, 12, 4))


def _favourites(at: Scene) -> Part:
    found = sorted((each for each in recipes(at) if each.get("favorite")), key=SORTS["By title"])
    nothing = nothing_yet("heart", "No favorites yet", "Touch the heart of a recipe that you like")
    return _bar(at, FAVOURITES), [_card(each) for each in found] or [nothing], []


def _category_list(at: Scene) -> Part:
    filed = [row["categoryId"] for row in _rows(at, FILED)]
    body = []
    for number, name in _categories(at).items():
        count = filed.count(number)
        body.append(
            item(
                name,
                f"{count} recipe{'' if count == 1 else 's'}",
                tap=("category", number),
                hold=("hold category", number),
                start=icon("label"),
                end=icon_button("more", f"Options of {name}", ("hold category", number), color="faint"),
            )
        )
    return _bar(at, "Categories"), body or [nothing_yet("label", "No categories yet", "Make one with +")], []


def _seasons(at: Scene) -> Part:
    names = list(SEASONS)
    month = str(at.get("month", f"{at.now:%B}"))
    place = names.index(month)
    head = row(
        icon_button("back", "Previous month", ("month", names[place - 1])),
        text(month, bold=True, along="center", across="center", grow=1, id="month"),
        icon_button("chevron", "Next month", ("month", names[(place + 1) % len(names)])),
        height=56,
        pad=(8, 0, 8, 0),
    )
    body = [
        item(name, "Look for recipes with it", tap=("search for", name), start=icon("star", color="good"))
        for name in SEASONS[month]
    ]
    return _bar(at, _title(at, "seasons")), body, [head]


def _settings(at: Scene) -> Part:
    count = len(recipes(at))
    body = [
        item("Export", f"Write {count} recipes to a file in Download", tap=("export",), start=icon("download")),
        divider(),
        item("About", "Broccoli, for this phone", start=icon("info")),
    ]
    return _bar(at, "Settings"), body, []


_PARTS: Mapping[str, Callable[[Scene], Part]] = {
    "recipes": _list,
    "favourites": _favourites,
    "categories": _category_list,
    "seasons": _seasons,
    "settings": _settings,
}


def _over(at: Scene) -> View | None:
    """What lies over the first screen."""
    match at.get(OVER):
        case "drawer":
            entries = [(picture, title, ("part", part)) for part, picture, title in _places(at)]
            return drawer(entries, ("close",), title="Broccoli", chosen=_title(at, _part(at)))
        case "menu":
            return menu([(how, ("sort", how)) for how in SORTS], ("close",))
        case ("name", number):
            written = field("category_name", at.get("category_name", ""), hint="Category name", focused=True)
            buttons = [button("Cancel", ("close",)), button("OK", ("name category",))]
            return dialog("Rename category" if number else "New category", [written], buttons, dismiss=("close",))
        case ("category", number):
            name = _categories(at).get(number, "")
            lines = [item("Rename", tap=("rename", number)), item("Delete", tap=("delete category", number))]
            return dialog(name, lines, [button("Cancel", ("close",))], dismiss=("close",))
    return None


# One recipe


class Details(Screen):
    name = DETAILS

    def view(self, at: Scene) -> View:
        found = _recipe(at, at.extras["number"])
        if found is None:
            return page("Recipe", [nothing_yet("recipe", "This recipe is gone")], up=("up",))
        heart = "Remove from favorites" if found.get("favorite") else "Add to favorites"
        colour = "danger" if found.get("favorite") else "line"
        actions = [icon_button("heart", heart, ("favourite",), color=colour), *_shown_actions(at)]
        over = _details_over(at, found)
        return page("Recipe", _facts(at, found), up=("up",), actions=actions, over=[over] if over is not None else [])

    def on(self, turn: Turn, event: Event) -> None:
        number = turn.extras["number"]
        turn.drop(OVER)
        match event:
            case ("up",):
                turn.close()
            case ("over", what):
                turn.keep(**{OVER: what})
            case ("favourite",):
                _favour(turn, number)
            case ("tick", place):
                ticked = turn.get("ticked", ())
                turn.keep(
                    ticked=tuple(each for each in ticked if each != place) if place in ticked else (*ticked, place)
                )
            case ("cook",):
                turn.open(COOKING, number=number)
            case ("edit",):
                found = _recipe(turn, number)
                if found is not None:
                    written = {name: _said(found, name) for name in FIELDS}
                    turn.open(EDITOR, number=number, filed=_filed(turn, number), **written)
            case ("share",):
                found = _recipe(turn, number)
                if found is not None:
                    turn.copy("\n\n".join(filter(None, (_said(found, name) for name in FIELDS))))
                    turn.toast("Recipe copied")
            case ("delete",):
                _delete(turn, number)


def _delete(turn: Turn, number: int) -> None:
    found, filed = _recipe(turn, number), _filed(turn, number)
    if found is None:
        turn.close()
        return
    turn.delete(DATABASE, RECIPES, lambda row: row["recipeId"] == number)
    _file(turn, number, ())
    turn.close(undo=(found, filed))


def _actions(at: Scene) -> list[tuple[str, str, Event]]:
    """Icon, name and event of what can be done with a recipe."""
    return [
        ("edit", at.taste.choose("recipe edit", *EDIT), ("edit",)),
        ("play", "Cooking mode", ("cook",)),
        ("share", "Share", ("share",)),
        ("delete", at.taste.choose("recipe delete", *DELETE), ("over", "ask")),
    ]


def _in_bar(at: Scene) -> str:
    """The action that has a button of its own; the others are in the menu."""
    return at.taste.choose("recipe action in the bar", "play", "delete", "edit")


def _shown_actions(at: Scene) -> list[View]:
    shown = [icon_button(name, said, event) for name, said, event in _actions(at) if name == _in_bar(at)]
    return [*shown, icon_button("more", "More options", ("over", "menu"))]


def _details_over(at: Scene, found: Row) -> View | None:
    match at.get(OVER):
        case "menu":
            entries = [(said, event) for name, said, event in _actions(at) if name != _in_bar(at)]
            return menu(at.taste.order("recipe actions", entries), ("close",))
        case "ask":
            yes = at.taste.choose("recipe delete", *DELETE).upper()
            return dialog(
                "",
                [],
                [button("Cancel", ("close",)), button(yes, ("delete",), id="button1")],
                dismiss=("close",),
                said=f'Do you want to delete "{title_of(found) or "this recipe"}"?',
            )
    return None


def _facts(at: Scene, found: Row) -> list[View]:
    """All about a recipe, from the top to the bottom of the page."""
    colour = PALETTE[sum(map(ord, title_of(found))) % len(PALETTE)]
    categories = _categories(at)
    chips = [chip(categories[number], ("nothing",)) for number in _filed(at, _number(found)) if number in categories]
    facts = [
        _fact(picture, _label(at, name), _said(found, name))
        for name, picture in (("servings", "people"), ("preparationTime", "timer"), ("source", "book"))
        if _said(found, name)
    ]
    parts: list[View] = [
        View(kind=IMAGE, height=120, look=Look(fill=colour, icon="recipe", size=56, color="#ffffff")),
        text(title_of(found) or "Untitled", size=22, bold=True, id="details_title", pad=(16, 12, 16, 0)),
    ]
    if _said(found, "description"):
        parts.append(
            text(_said(found, "description"), color="faint", id="details_description", pad=(16, 4, 16, 0), size=15)
        )
    if chips:
        parts.append(row(*chips[:4], gap=8, pad=(16, 8, 16, 0)))
    if facts:
        parts.append(column(*facts, gap=8, pad=(16, 12, 16, 4)))
    return [*parts, *at.taste.order("recipe sections", [_needed(at, found), _directions(at, found)])]


def _fact(picture: str, label: str, value: str) -> View:
    name = replace(text(label, size=14, color="faint", across="center", lines=1), width=150)
    return row(icon(picture, size=20), name, text(value, size=15, across="center", grow=1), gap=12)


def _needed(at: Scene, found: Row) -> View:
    """The ingredients, to be ticked off."""
    lines = [line.strip() for line in _said(found, "ingredients").split("\n") if line.strip()]
    ticked = at.get("ticked", ())
    boxes = [
        row(
            checkbox(place in ticked, ("tick", place), desc=line),
            text(line, size=15, grow=1, across="center", color="faint" if place in ticked else "text"),
            tap=("tick", place),
            gap=4,
            height=None if len(line) > 40 else 40,
        )
        for place, line in enumerate(lines)
    ]
    return column(_headline(_label(at, "ingredients")), *boxes, pad=(16, 8, 16, 0)) if boxes else space(height=0)


def _directions(at: Scene, found: Row) -> View:
    paragraphs = [line.strip() for line in _said(found, "directions").split("\n") if line.strip()]
    words = [text(each, size=15, pad=(0, 2, 0, 6), id="details_directions") for each in paragraphs]
    return column(_headline(_label(at, "directions")), *words, pad=(16, 8, 16, 16)) if words else space(height=0)


def _headline(said: str) -> View:
    return text(said, bold=True, color="primary", pad=(0, 4, 0, 4))


def _label(at: Scene, name: str) -> str:
    return at.taste.choose(f"recipe {name}", *FIELDS[name])


class Cooking(Screen):
    """The directions in large letters, one step at a time."""

    name = COOKING

    def view(self, at: Scene) -> View:
        found = _recipe(at, at.extras["number"]) or {}
        steps = _steps(_said(found, "directions")) or ["There are no directions."]
        place = min(at.get("place", 0), len(steps) - 1)
        body = column(
            text(f"Step {place + 1} of {len(steps)}", size=14, color="faint", along="center"),
            text(steps[place], size=26, along="center"),
            gap=24,
            grow=1,
            along="center",
            pad=(24, 24, 24, 24),
        )
        buttons = row(
            button("Previous", ("go", place - 1), style="outlined", enabled=place > 0, grow=1),
            button("Next", ("go", place + 1), style="filled", enabled=place + 1 < len(steps), grow=1),
            gap=12,
            pad=(16, 12, 16, 12),
            height=72,
        )
        return page(title_of(found), [body], up=("up",), up_icon="close", below=[buttons], scrolls=False)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("go", place):
                turn.keep(place=place)


# Writing a recipe


class Editor(Screen):
    name = EDITOR

    def view(self, at: Scene) -> View:
        title = "Edit recipe" if at.get("number") else "New recipe"
        save = at.taste.choose("recipe save", *SAVE)
        below: list[View] = []
        actions: list[View] = []
        if at.taste.choose("recipe save place", "bar", "below") == "bar":
            actions = [button(save, ("save",), id="button_save_recipe")]
        else:
            whole = button(save, ("save",), style="filled", across="fill", id="button_save_recipe")
            below = [column(whole, pad=(16, 8, 16, 12), height=64)]
        over = _editor_over(at)
        body = [column(*_form(at), gap=6, pad=(16, 4, 16, 24))]
        return page(title, body, up=("up",), actions=actions, below=below, over=[over] if over is not None else [])

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                self.back(turn)
            case ("close",):
                turn.drop(OVER)
            case ("categories",):
                turn.focus("")
                turn.keep(**{OVER: "categories"})
            case ("file", number):
                filed = turn.get("filed", ())
                turn.keep(
                    filed=tuple(each for each in filed if each != number) if number in filed else (*filed, number)
                )
            case ("leave",):
                turn.close()
            case ("save",):
                _save(turn)

    def back(self, turn: Turn) -> None:
        """What was written is not thrown away without a question."""
        if OVER in turn.kept:
            turn.drop(OVER)
        elif any(turn.get(name, "") != turn.extras.get(name, "") for name in FIELDS):
            turn.focus("")
            turn.keep(**{OVER: "leave"})
        else:
            turn.close()

    def typed(self, turn: Turn, field: str) -> None:
        turn.drop("wrong")


def _form(at: Scene) -> list[View]:
    focus = at.activity.focus
    fields = [
        labelled(
            name, _label(at, name), at.get(name, ""), focused=focus == name, lines=LONG.get(name, 1),
            id=f"new_{name}", problem=at.get("wrong", "") if name == "title" else "",
        )
        for name in FIELDS
    ]  # fmt: skip
    categories = _categories(at)
    filed = [categories[number] for number in at.get("filed", ()) if number in categories]
    picked = item("Categories", ", ".join(filed) or "None", tap=("categories",), start=icon("label", color="primary"))
    title, *others = fields
    return [title, picked, *at.taste.order("recipe form", others)]


def _editor_over(at: Scene) -> View | None:
    match at.get(OVER):
        case "leave":
            return dialog(
                "",
                [],
                [button("Keep editing", ("close",)), button("Discard", ("leave",))],
                dismiss=("close",),
                said="Discard what you have written?",
            )
        case "categories":
            boxes = [
                checkbox(number in at.get("filed", ()), ("file", number), said=name)
                for number, name in _categories(at).items()
            ]
            nothing = text("There are no categories yet. Make some in the part of that name.", color="faint")
            done = [button("Done", ("close",))]
            return dialog("Categories", boxes or [nothing], done, dismiss=("close",))
    return None


def _save(turn: Turn) -> None:
    """Save what is written, or say what is missing."""
    values = {name: turn.get(name, "").strip() for name in FIELDS}
    if not values["title"]:
        turn.keep(wrong="A recipe needs a title")
        return
    number = turn.get("number")
    if number and _recipe(turn, number) is not None:
        turn.update(DATABASE, RECIPES, lambda row: row["recipeId"] == number, **values)
    else:
        number = _add(turn, {**values, "imageName": "", "favorite": 0})
    _file(turn, number, turn.get("filed", ()))
    turn.toast("Recipe saved")
    turn.close()


class Broccoli(App):
    package = PACKAGE
    label = "Broccoli"
    icon = "recipe"
    colour = "#558b2f"
    screens = (Main, Details, Editor, Cooking)

    def install(self, state: State) -> State:
        return replace(state, files=state.files.write(DATABASE, EMPTY, state.now))
