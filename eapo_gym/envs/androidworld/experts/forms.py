"""What is done with forms: a button adds something, fields are filled in, values are chosen, all of it is saved."""

from __future__ import annotations

import re

from eapo_gym.envs.androidworld.experts.screen import Item, Screen
from eapo_gym.envs.androidworld.experts.visit import Decision, Visit
from eapo_gym.envs.androidworld.experts.words import ADD, SAVE, brief, fit, plain

_ALSO = {
    "name": ("name", "title", "what"),
    "title": ("title", "name", "what"),
    "amount": ("amount", "how much", "price", "value", "sum"),
    "category": ("category", "categories"),
    "note": ("note", "comment", "memo", "remark", "description"),
    "servings": ("servings", "serves", "portions", "yield", "people"),
    "preparation time": ("preparation time", "takes", "ready in", "time", "duration"),
    "description": ("description", "about", "notes", "note", "summary", "details", "in a few words", "in short"),
    "directions": ("directions", "steps", "method", "instructions", "how to"),
    "ingredients": ("ingredients", "shopping list", "what you need", "what goes in"),
    "phone": ("phone", "mobile", "number"),
}
"""What a field may be called."""

_KEEPS = ("write to disk", "save note", "undo", "add to favorites", "remove from favorites")
"""Buttons of one thing that is open."""

_MORE = ("more fields", "show more", "add more fields")


def create(visit: Visit) -> Decision | None:
    """Something with several fields is added."""
    if visit.knows("saved"):
        return None
    if (way := visit.enter()) is not None:
        return way
    if not _is_form(visit):
        if visit.knows("wrote"):
            return visit.press(SAVE, "All is filled in.") or visit.back("I go back to the form.")
        return add_button(visit, visit.part.what)
    if (way := fill(visit, visit.part.fields)) is not None:
        return way
    return save(visit) if visit.part.save else None


def _is_form(visit: Visit) -> bool:
    screen, first = visit.screen, visit.part.fields[0][0]
    if screen.is_dialog and any(item.kind == "RadioButton" for item in screen.items):
        return True
    return bool(field_for(screen, first)) or len(screen.fields) >= 2


def add_button(visit: Visit, what: str) -> Decision:
    named = tuple(f"{verb} {what}" for verb in ADD) if what else ()
    if visit.screen.find(_KEEPS) is not None:
        return visit.back("Something else is open here: I go back.")
    item = visit.screen.find(named) or visit.screen.best((*named, *ADD), kind="ImageButton")
    if item is not None and not visit.tried(f"tap {brief(item.said)}"):
        return visit.tap(item, f"{item.said!r:.60} is how to add {what or 'one'}.", "Which fields are there?")
    return visit.seek(f"a way to add {what or 'one'}", (*named, *ADD))


def fill(visit: Visit, fields: tuple[tuple[str, str], ...]) -> Decision | None:
    """Write what is not yet written, and choose what is not yet chosen."""
    missing = []
    for label, value in fields:
        value = _as_written(value)
        if visit.knows(f"{label} is done"):
            continue
        way = _write(visit, label, value) or _choose(visit, label, value)
        if way is not None:
            return way
        if not visit.knows(f"{label} is done"):
            missing.append(label)
    if not missing:
        return None
    if visit.screen.keyboard:
        return visit.hide_keyboard()
    further = visit.scroll("down", f"a field for {missing[0]}") or visit.scroll("up", f"a field for {missing[0]}")
    if further is not None:
        return further
    more = visit.screen.find(_MORE)
    if more is not None and not visit.tried(f"tap {brief(more.said)}"):
        return visit.tap(more, f"There is no field for {missing[0]} yet.", f"Is {missing[0]} among these?")
    for label in missing:
        visit.note(f"{label} is done")
    return None


def _as_written(value: str) -> str:
    return value.removeprefix("$") if re.fullmatch(r"\$[\d.,]+", value) else value


def _names(label: str) -> tuple[str, ...]:
    """What the field for this may be called: "category_name" is for a category."""
    words = plain(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label.replace("_", " ")))
    first = words.removesuffix(" name").removesuffix(" dollars") if words not in _ALSO else words
    if words in ("first name", "last name"):
        return (words,)
    return _ALSO.get(words) or _ALSO.get(first) or (words,)


def field_for(screen: Screen, label: str) -> Item | None:
    """The field with that name: it stands in the field while that is empty, and above it afterwards."""
    best, most, above = None, 0, ""
    for item in screen.items:
        if item.editable:
            score = max(fit(item.hint or item.desc, _names(label)), fit(above, _names(label)) if item.text else 0)
            best, most = (item, score) if score > most else (best, most)
        above = item.text if item.kind == "TextView" else ""
    return best


def _write(visit: Visit, label: str, value: str) -> Decision | None:
    if any(item.text.strip() == value.strip() for item in visit.screen.fields):
        visit.note(f"{label} is done")
        return None
    field = field_for(visit.screen, label)
    if field is None or not field.enabled or (field.text and not field.hint and label not in _ALSO):
        return None
    visit.note(f"{label} is done")
    visit.note("wrote")
    return visit.write(value, field, f"{value!r:.60} goes into {field.hint or field.desc or label}.")


def _choose(visit: Visit, label: str, value: str) -> Decision | None:
    """One of several values, which are all there, or come out of a spinner."""
    if field_for(visit.screen, label) is not None:
        return None
    what = plain(label).removesuffix(" label").removesuffix(" type")
    spinners = [item for item in visit.screen.items if item.kind == "Spinner" and what in plain(item.desc)]
    if spinners:
        if spinners[0].text == value:
            visit.note(f"{label} is done")
            return None
        return visit.tap(spinners[0], f"The {label} should be {value}, and not {spinners[0].text}.")
    choice = visit.screen.find((value,))
    if choice is None or choice.kind == "Spinner":
        return None
    if choice.kind != "RadioButton":
        visit.note(f"{label} is done")
    return visit.tap(choice, f"The {label} is {value}.")


def save(visit: Visit) -> Decision | None:
    button = visit.screen.find(SAVE) or visit.screen.best(SAVE[:-1], kind="Button")
    if button is None:
        if visit.screen.keyboard:
            return visit.hide_keyboard()
        return visit.scroll("down", "the button to save") or visit.seek("the button to save", SAVE)
    visit.gets_on("saved")
    return visit.tap(button, "All is filled in: I save it.")
