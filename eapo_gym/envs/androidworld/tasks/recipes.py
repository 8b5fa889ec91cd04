"""Tasks about Broccoli: recipes to be added and to be deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.phone.apps.gallery import PACKAGE as GALLERY
from eapo_gym.envs.androidworld.phone.apps.markor.storage import NOTEBOOK
from eapo_gym.envs.androidworld.phone.apps.markor.storage import PACKAGE as MARKOR
from eapo_gym.envs.androidworld.phone.apps.recipes import (
    ADD,
    DATABASE,
    DELETE,
    FIELDS,
    LONG,
    PACKAGE,
    RECIPES,
    SAVE,
    SEARCH,
)
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen, any_of
from eapo_gym.envs.androidworld.tasks.papers import clear_files, clear_folder, put_picture, put_text, text_picture
from eapo_gym.envs.androidworld.tasks.rows import (
    AdditionTask,
    DeletionTask,
    OneOfTwoTask,
    RowTask,
    as_text,
    different,
)

APP = "Broccoli app"
FORMS = ("csv", "text_block")
NOTE_FILE, PICTURE = "recipes.txt", "recipes.jpg"
DCIM = f"{SDCARD}/DCIM"
PAGE_WIDTH = 60
"""Letters in a line of a picture."""

WRITTEN = ("title", "description", "servings", "preparationTime", "ingredients", "directions")
"""What goals and files tell of a recipe."""

DISHES: Mapping[str, str] = {
    "Almond Porridge": "Simmer oats in almond milk, stir in honey and a spoon of butter, and top with sliced apple.",
    "Apple Pancakes": "Whisk flour, milk and eggs, fold in grated apple, and fry small pancakes in butter.",
    "Baked Beans on Rye": "Warm white beans with tomatoes and mustard, and spoon them over toasted rye bread.",
    "Barley Risotto": "Toast barley with onions, add stock bit by bit, and finish with butter and hard cheese.",
    "Beetroot Soup": "Boil beetroot with potatoes and onions, blend it, and serve with a spoon of sour cream.",
    "Cabbage Rolls": "Wrap rice and minced pork in cabbage leaves, and stew them slowly in tomatoes and stock.",
    "Carrot Fritters": "Grate carrots, mix with eggs and flour, season with cumin, and fry until golden.",
    "Celery and Walnut Salad": "Slice celery and apple, toss with walnuts and yogurt, and chill for an hour.",
    "Cheese Dumplings": "Knead curd cheese with flour and eggs, shape dumplings, boil them, and roll in crumbs.",
    "Coconut Rice Pudding": "Cook rice in coconut milk with sugar and cinnamon, and let it set in small bowls.",
    "Corn Chowder": "Soften onions and celery, add corn, potatoes and milk, and simmer until thick.",
    "Cucumber Cold Soup": "Blend cucumber with yogurt, garlic and dill, and chill well before serving.",
    "Duck with Plums": "Roast duck legs with plums and red onions, and baste them with their own fat.",
    "Egg Curry": "Fry onions, ginger and curry powder, add tomatoes, and warm boiled eggs in the sauce.",
    "Fennel Gratin": "Parboil fennel, cover with cream and cheese, and bake until the top is brown.",
    "Fish Pie": "Poach cod in milk, thicken with flour and butter, cover with mashed potatoes, and bake.",
    "Flatbread with Onions": "Roll dough thin, spread sour cream, scatter onions and bacon, and bake very hot.",
    "Gnocchi with Sage": "Boil gnocchi until they float, and toss them with brown butter and sage leaves.",
    "Green Bean Stew": "Braise green beans with tomatoes, garlic and olive oil until they are soft.",
    "Ham and Leek Tart": "Line a tin with pastry, fill with leeks, ham, eggs and cream, and bake.",
    "Hazelnut Brownies": "Melt chocolate with butter, stir in sugar, eggs, flour and hazelnuts, and bake briefly.",
    "Lamb Meatballs": "Mix minced lamb with mint and garlic, shape balls, and grill them on skewers.",
    "Lemon Orzo": "Boil orzo in stock, stir in spinach and lemon juice, and crumble goat cheese over it.",
    "Marinated Tofu Bowl": "Press tofu, soak it in soy sauce and ginger, fry it, and serve on rice with radish.",
    "Mushroom Toast": "Fry mushrooms with thyme in butter, add a dash of cream, and heap them on toast.",
    "Mussels in Cider": "Steam mussels with shallots and dry cider, and finish with cream and chives.",
    "Nettle Omelette": "Blanch young nettles, fold them into beaten eggs with chives, and fry gently.",
    "Oven Potatoes": "Halve potatoes, rub with olive oil and rosemary, and roast until crisp.",
    "Paprika Chicken": "Brown chicken with onions, dust with paprika, add stock, and finish with sour cream.",
    "Pea and Mint Dip": "Mash peas with mint, lemon juice and olive oil, and season with salt.",
    "Pear and Blue Cheese Pizza": "Stretch dough, lay on pears and blue cheese, bake, and scatter walnuts over it.",
    "Pumpkin Ravioli": "Fill pasta with roast pumpkin and ricotta, boil, and serve with brown butter.",
    "Red Lentil Dal": "Simmer red lentils with turmeric and ginger, and pour fried garlic and cumin over them.",
    "Rhubarb Crumble": "Cover rhubarb and sugar with a crumble of oats, flour and butter, and bake.",
    "Sardine Linguine": "Warm sardines with garlic and capers, and toss with linguine and breadcrumbs.",
    "Sesame Noodles": "Boil noodles, and dress them with sesame paste, soy sauce, vinegar and spring onions.",
    "Shepherd's Stew": "Stew lamb with carrots, turnips and barley until everything is tender.",
    "Stuffed Mushrooms": "Fill mushrooms with breadcrumbs, garlic and parsley, and bake with a little cheese.",
    "Sweet Corn Tamales": "Spread corn dough on husks, fill with chicken and chili, fold, and steam.",
    "Tomato Tart": "Spread mustard on pastry, lay on tomatoes and goat cheese, and bake.",
    "Trout with Almonds": "Dust trout with flour, fry in butter, and pour toasted almonds and lemon juice over it.",
    "Turnip Mash": "Boil turnips and carrots, mash with butter, and season with nutmeg.",
    "Veal Goulash": "Brown veal with onions and paprika, add tomatoes, and simmer for a long time.",
    "Yogurt Cake": "Stir yogurt, sugar, eggs, flour and oil together, and bake in a round tin.",
}
"""Titles, and how the dish is made."""

TOP_DISH = next(iter(DISHES))
"""It stands at the top of a list that is sorted by title."""

DESCRIPTIONS = (
    "Simple food for a long evening.",
    "A dish that children and grown-ups like alike.",
    "Good to prepare the day before guests come.",
)
ADVICE = (
    "Taste it before you add more salt.",
    "It keeps for two days in a closed box.",
    "Scatter chopped parsley over it at the end.",
)
AMOUNTS = (
    "what the shelf holds",
    "two handfuls",
    "see below",
    "half of everything",
    "by eye",
    "n/a",
    "enough for all",
    "a small bag",
    "as you have them",
    "season's best",
    "in equal parts",
    "to be weighed",
    "one basket",
    "leftovers",
    "ask the cook",
)
"""What stands for the ingredients."""

SERVINGS = ("1 serving", "2 servings", "3-4 servings", "6 servings", "8 servings")
TIMES = ("10 mins", "20 mins", "30 mins", "45 mins", "1 hrs", "2 hrs", "3 hrs", "4 hrs")

COMMON = (
    "almond milk", "apple", "bacon", "barley", "beetroot", "butter", "cabbage", "capers", "carrots", "celery", "cheese",
    "chicken", "chives", "chocolate", "cinnamon", "coconut milk", "corn", "cream", "cucumber", "cumin", "dill", "eggs",
    "fennel", "flour", "garlic", "ginger", "goat cheese", "green beans", "ham", "hazelnuts", "honey", "leeks",
    "lemon juice", "mint", "mushrooms", "mustard", "nutmeg", "oats", "olive oil", "onions", "paprika", "parsley",
    "pears", "peas", "plums", "potatoes", "rice", "ricotta", "rosemary", "sage", "sour cream", "soy sauce", "spinach",
    "sugar", "thyme", "tofu", "tomatoes", "turmeric", "turnips", "walnuts", "yogurt",
    # Nothing is made of these: then there is nothing to delete.
    "kohlrabi", "saffron", "tamarind", "okra", "sorrel", "samphire", "quince", "star anise",
)  # fmt: skip
"""Ingredients that directions may name."""

Given = Mapping[str, Any]
"""A recipe as the parameters have it: column to value."""


class _Recipes(RowTask):
    apps: ClassVar[tuple[str, ...]] = (PACKAGE,)
    database, table, key = DATABASE, RECIPES, "recipeId"


class _Delete(_Recipes, DeletionTask):
    template = f"Delete the following recipes from {APP}: {{titles}}."

    targets: ClassVar[int] = 3
    noise: ClassVar[int] = 0

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        titles = dice.sample(list(DISHES), self.noise + self.targets)
        rows = [_recipe(dice, title) for title in titles]
        return {"targets": rows[self.noise :], "noise": rows[: self.noise]}

    def goal(self, params: Params) -> str:
        return self.template.format(titles=", ".join(row["title"] for row in params["targets"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Broccoli")
        yield from _delete(finger, params["targets"])
        yield finger.done()


class RecipeDeleteSingleRecipe(_Delete):
    complexity = 1
    difficulty = "easy"
    targets = 1


class RecipeDeleteSingleWithRecipeWithNoise(_Delete):
    complexity = 2
    difficulty = "easy"
    targets = 1
    noise = 29


class RecipeDeleteMultipleRecipes(_Delete):
    complexity = 2.4
    difficulty = "easy"


class RecipeDeleteMultipleRecipesWithNoise(_Delete):
    complexity = 3.4
    difficulty = "medium"
    noise = 29


class RecipeDeleteMultipleRecipesWithConstraint(_Delete):
    template = f"Delete the recipes from {APP} that use {{ingredient}} in the directions."
    complexity = 4
    difficulty = "hard"
    noise = 29
    kept = ("ingredient",)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        """Three recipes with the ingredient, or none if nothing is made of it."""
        ingredient = dice.pick(COMMON)
        with_it = [title for title, directions in DISHES.items() if ingredient in directions.lower()]
        advised = any(ingredient in advice.lower() for advice in ADVICE)

        def uses(row: Given) -> bool:
            return ingredient in row["directions"].lower()

        noise = different(self.noise, lambda: _recipe_that(dice, lambda row: not uses(row)))
        targets = different(self.targets, lambda: _recipe_that(dice, uses)) if with_it or advised else []
        return {"targets": targets, "noise": noise, "ingredient": ingredient}

    def goal(self, params: Params) -> str:
        return self.template.format(ingredient=params["ingredient"])


class RecipeDeleteDuplicateRecipes(_Recipes, OneOfTwoTask):
    template = (
        f"Delete all but one of any recipes in the {APP} that are exact duplicates, ensuring at least one instance of"
        " each unique recipe remains"
    )
    complexity: ClassVar[float] = 1
    difficulty = "easy"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        target, *noise = different(6, lambda: _recipe(dice))
        return {"targets": [target, target], "noise": noise}

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Broccoli")
        yield from _delete(finger, params["targets"][:1])
        yield finger.done()


class RecipeDeleteDuplicateRecipes2(RecipeDeleteDuplicateRecipes):
    complexity = 2.4
    difficulty = "medium"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        """Some of the others have the title of the two."""
        target, *noise = different(7, lambda: _recipe(dice))
        noise += [_variation(dice, target, "title") for _ in range(4)]
        return {"targets": [target, target], "noise": noise}


class RecipeDeleteDuplicateRecipes3(RecipeDeleteDuplicateRecipes):
    complexity = 3.4
    difficulty = "medium"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        """Some of the others have the title and the description of the two, which are not at the top of the list."""
        target, *noise = different(22, lambda: _recipe_that(dice, lambda row: row["title"] != TOP_DISH))
        noise += different(3, lambda: _recipe(dice, TOP_DISH))
        noise += [_variation(dice, target, "title", "description") for _ in range(6)]
        return {"targets": [target, target], "noise": noise}


class _Add(_Recipes, AdditionTask):
    template = f"Add the following recipes into the {APP}:\n{{recipes}}"
    exact = ("favorite",)
    alike = ("title", "description", "servings", "preparationTime", "source", "ingredients", "directions")
    kept: ClassVar[tuple[str, ...]] = ("text_representation_type",)

    targets: ClassVar[int] = 3
    noise: ClassVar[int] = 10

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        targets = different(self.targets, lambda: _recipe(dice))
        titles = {row["title"] for row in targets}
        noise = different(self.noise, lambda: _recipe_that(dice, lambda row: row["title"] not in titles))
        return {"targets": targets, "noise": noise, "text_representation_type": dice.pick(FORMS)}

    def goal(self, params: Params) -> str:
        return self.template.format(recipes=listed(params["targets"], params["text_representation_type"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Broccoli")
        for row in params["targets"]:
            yield from _add(finger, row)
        yield finger.done()


class RecipeAddSingleRecipe(_Add):
    complexity = 2.4
    difficulty = "easy"
    targets = 1


class RecipeAddMultipleRecipes(_Add):
    complexity = 6
    difficulty = "medium"


class RecipeAddMultipleRecipesFromMarkor(_Add):
    template = f"Add the recipes from {NOTE_FILE} in Markor to the Broccoli recipe app."
    complexity = 6
    difficulty = "hard"
    apps = (PACKAGE, MARKOR)

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        clear_folder(phone, NOTEBOOK)
        form = params["text_representation_type"]
        put_text(phone, f"{NOTEBOOK}/{NOTE_FILE}", listed(self._noted(params), form))

    def _noted(self, params: Params) -> list[Given]:
        """The recipes in the note."""
        return list(params["targets"])

    def goal(self, params: Params) -> str:
        return self.template.format(**params)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Markor")
        yield finger.tap(NOTE_FILE)
        yield from super().plan(finger, params)


class RecipeAddMultipleRecipesFromMarkor2(RecipeAddMultipleRecipesFromMarkor):
    template = (
        f"Add the recipes from {NOTE_FILE} in Markor that take {{prep_time}} to prepare into the Broccoli recipe app."
    )
    kept = ("text_representation_type", "prep_time")
    noise = 40

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        time = dice.pick(TIMES)

        def takes_it(row: Given) -> bool:
            return bool(row["preparationTime"] == time)

        targets = different(self.targets, lambda: _recipe_that(dice, takes_it))
        noise = different(self.noise, lambda: _recipe_that(dice, lambda row: not takes_it(row)))
        form = dice.pick(FORMS)
        return {"targets": targets, "noise": noise, "text_representation_type": form, "prep_time": time}

    def _noted(self, params: Params) -> list[Given]:
        """By title, which puts those that are asked for among the others."""
        return sorted([*params["targets"], *params["noise"]], key=lambda row: (row["title"], repr(row)))


class RecipeAddMultipleRecipesFromImage(_Add):
    template = f"Add the recipes from {PICTURE} in Simple Gallery Pro to the Broccoli recipe app."
    complexity = 6
    difficulty = "hard"
    apps = (PACKAGE, GALLERY)

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        clear_files(phone, SDCARD)
        put_picture(phone, f"{DCIM}/{PICTURE}", text_picture(listed(params["targets"], "text_block", PAGE_WIDTH)))

    def goal(self, params: Params) -> str:
        return self.template

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Simple Gallery Pro")
        yield finger.tap("DCIM")
        yield finger.tap(PICTURE)
        yield from super().plan(finger, params)


def listed(rows: Iterable[Given], form: str, width: int = 0) -> str:
    """Recipes as goals and files list them."""
    return as_text("Recipe", [{name: row[name] for name in WRITTEN} for row in rows], form, width)


def _recipe(dice: TaskDice, title: str = "") -> dict[str, Any]:
    """A recipe of that title, or of any."""
    title = title or dice.pick(list(DISHES))
    return {
        "title": title,
        "description": dice.pick(DESCRIPTIONS),
        "servings": dice.pick(SERVINGS),
        "preparationTime": dice.pick(TIMES),
        "source": "",
        "ingredients": dice.pick(AMOUNTS),
        "directions": f"{DISHES[title]} {dice.pick(ADVICE)}",
        "favorite": 0,
        "imageName": "",
    }


def _recipe_that(dice: TaskDice, fits: Callable[[Given], bool]) -> dict[str, Any]:
    while not fits(row := _recipe(dice)):
        pass
    return row


def _variation(dice: TaskDice, target: Given, *same: str) -> dict[str, Any]:
    """A recipe that is like another one in some columns, but not in all."""
    while (row := {**_recipe(dice, target["title"]), **{name: target[name] for name in same}}) == target:
        pass
    return row


# How it is done


def _add(finger: Finger, row: Given) -> Plan:
    """Fill the form from the top to the bottom, whatever stands where."""
    yield finger.tap(any_of(ADD))
    left = {name: any_of(FIELDS[name]) for name in WRITTEN}
    for _ in range(3 * len(left)):
        name = _next_field(finger, left)
        if name is None:
            yield finger.scroll("down")
            continue
        yield finger.write(row[name], into=left.pop(name))
        if name in LONG:
            # Enter begins a new line here, and the keyboard stays.
            yield finger.back()
        if not left:
            break
    yield finger.tap(any_of(SAVE))


def _next_field(finger: Finger, left: Mapping[str, str]) -> str | None:
    """The uppermost of these fields that is on the screen."""
    shown = {name: finger.fields(pattern) for name, pattern in left.items()}
    places = [(found[0].bounds[1], name) for name, found in shown.items() if found]
    return min(places)[1] if places else None


def _delete(finger: Finger, rows: Iterable[Given]) -> Plan:
    """Delete them one after the other."""
    for row in rows:
        yield from _open(finger, row)
        if not finger.sees(any_of(DELETE)):
            yield finger.tap("More options")
        yield finger.tap(any_of(DELETE))
        yield finger.tap(any_of(name.upper() for name in DELETE))


def _open(finger: Finger, row: Given) -> Plan:
    """Open a recipe: the only one that looks like it, or one of those that a search finds."""
    if len(_cards(finger, row)) == 1:
        yield from _try_cards(finger, row)
        if _is_open(finger, row):
            return
    yield from _search(finger, row["title"])
    if len(_cards(finger, row)) > _MOST_CARDS:
        yield finger.scroll("down")
    yield from _try_cards(finger, row)
    if not _is_open(finger, row):
        yield finger.scroll("up")
        yield from _try_cards(finger, row)
    if not _is_open(finger, row):
        raise NotOnScreen(f"Expected the recipe {row['title']!r} in the list.")


_MOST_CARDS = 5
"""If there are more of them, some are below the screen."""


def _try_cards(finger: Finger, row: Given) -> Plan:
    """Open those that look like it, until it is the right one. The newest stand last."""
    for number in range(1, len(_cards(finger, row)) + 1):
        yield Action("click", index=_cards(finger, row)[-number].index)
        if _is_open(finger, row):
            return
        yield finger.back()


def _search(finger: Finger, title: str) -> Plan:
    if not finger.fields():
        yield finger.tap(any_of(SEARCH))
    yield finger.write(title, clear=True)


def _cards(finger: Finger, row: Given) -> list[Element]:
    """The recipes in the list that have this title and description."""
    elements = finger.look()
    return [
        each
        for place, each in enumerate(elements)
        if each.text == row["title"]
        and not each.editable
        and any(other.text == row["description"] for other in elements[place + 1 : place + 2])
    ]


def _is_open(finger: Finger, row: Given) -> bool:
    """Whether the recipe on the screen is this one."""
    return all(finger.sees(row[name]) for name in WRITTEN)


TASKS = (
    RecipeAddMultipleRecipes,
    RecipeAddMultipleRecipesFromImage,
    RecipeAddMultipleRecipesFromMarkor,
    RecipeAddMultipleRecipesFromMarkor2,
    RecipeAddSingleRecipe,
    RecipeDeleteDuplicateRecipes,
    RecipeDeleteDuplicateRecipes2,
    RecipeDeleteDuplicateRecipes3,
    RecipeDeleteMultipleRecipes,
    RecipeDeleteMultipleRecipesWithConstraint,
    RecipeDeleteMultipleRecipesWithNoise,
    RecipeDeleteSingleRecipe,
    RecipeDeleteSingleWithRecipeWithNoise,
)
