"""What is done with things in lists: they are found, deleted, renamed, moved and copied."""

from __future__ import annotations

import re
from dataclasses import replace

from eapo_gym.envs.androidworld.experts.calendar import go_to_day, titles
from eapo_gym.envs.androidworld.experts.screen import Item
from eapo_gym.envs.androidworld.experts.visit import Decision, Visit
from eapo_gym.envs.androidworld.experts.words import (
    ALL,
    COPY,
    DELETE,
    DRAWER,
    EVERYTHING,
    MENU,
    MOVE,
    RENAME,
    SEARCH,
    UP,
    brief,
    fit,
    plain,
    says,
)

_DATED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_NO_HOLD = "holding marks nothing in {}"


def delete(visit: Visit) -> Decision | None:
    if (way := visit.enter()) is not None:
        return way
    part = visit.part
    left = [name for name in part.names if not visit.knows(f"gone {name}")]
    if (part.names and not left) or visit.knows("all gone"):
        return None
    last = visit.notes.last.partition(" ")[2] or "what is to be deleted"
    what = left[0] if left else last
    if (button := visit.screen.confirms) is not None and visit.notes.last.startswith("tap"):
        asks = [item.text for item in visit.screen.items if item.kind == "TextView"]
        if button.kind == "Button" and any(says(said, word) for said in (*asks, button.said) for word in DELETE):
            visit.gets_on(f"gone {left[0]}" if left else "one gone" if part.value == "duplicates" else "all gone")
            return visit.tap(button, "I am asked whether to delete it: yes.")
    if visit.screen.selecting or visit.screen.is_menu or _is_about(visit, what):
        return _delete_marked(visit, what)
    if part.day and (way := go_to_day(visit, part.day)) is not None:
        return way
    item = _target(visit, left)
    if item is None:
        if not left:
            return _nothing_here(visit)
        return look_for(visit, what)
    return mark(visit, item, item.text)


def _nothing_here(visit: Visit) -> Decision | None:
    """What to do where nothing is to be deleted: this may be another place, or all may be done."""
    screen = visit.screen
    if screen.is_dialog or (screen.fields and not screen.best(SEARCH)):
        return visit.back("This is not where something can be deleted: I go back.")
    if _is_empty(visit):
        return None
    if visit.part.value == "duplicates":
        return _further(visit)
    return _further(visit) or visit.seek("what is to be deleted", EVERYTHING)


def _further(visit: Visit) -> Decision | None:
    """Where else there may be something to delete; nowhere once all lists have been seen."""
    if (further := visit.scroll("down", "more of them")) is not None:
        return further
    lists = visit.screen.best(EVERYTHING, kind="Button")
    if lists is not None and lists.kind == "Button" and not visit.tried(f"tap {brief(lists.said)}"):
        return visit.tap(lists, "This is not all of them.", f"Are there more under {lists.said!r:.60}?")
    return None


def _duplicate(visit: Visit) -> Item | None:
    """The second of two entries that say the same in all of their lines."""
    texts = [item for item in visit.screen.items if item.kind == "TextView" and item.text]
    seen = set[tuple[str, ...]]()
    for item, *below in zip(texts, texts[1:], texts[2:], strict=False):
        is_amount = re.match(r"[-+]?[$€£]", below[1].text) is not None
        lines = (item.text, *(line.text for line in below[: 2 if is_amount else 1]))
        if lines in seen and not any(re.match(r"[-+]?[$€£]|[A-Z][a-z]+ \d+, \d{4}", line) for line in lines[:2]):
            return item
        seen.add(lines)
    return None


def _target(visit: Visit, left: list[str]) -> Item | None:
    """The thing on the screen that is to be marked."""
    if left:
        if visit.part.time:
            found = [item for item in visit.screen.touchable() if item.text == left[0]]
            start = f"{int(visit.part.time):02}:00"
            return next((item for item in found if visit.screen.after(item)[:1][0].text.startswith(start)), None)
        return visit.screen.named(left[0])
    if visit.part.value == "newest":
        dated = [
            (date[0], -item.index, item)
            for item, below in zip(visit.screen.items, visit.screen.items[1:], strict=False)
            if (date := _DATED.match(below.text))
        ]
        return max(dated, key=lambda each: each[:2])[2] if dated else None
    if visit.part.value == "duplicates":
        return _duplicate(visit)
    if visit.part.value != "all":
        return None
    if visit.part.day:
        return next(iter(titles(visit.screen)), None)
    return next(
        (
            item
            for item, below in zip(visit.screen.items, visit.screen.items[1:], strict=False)
            if _DATED.match(below.text)
        ),
        None,
    )


def _is_empty(visit: Visit) -> bool:
    return any(says(item.text, "no items found") or says(item.text, "empty") for item in visit.screen.items)


def _is_about(visit: Visit, name: str) -> bool:
    """Whether this is the page of one thing: it shows it, and offers to delete it."""
    opened = visit.notes.last in (f"tap {brief(name)}", f"hold {brief(name)}")
    return opened and visit.moved and any(brief(item.text) == brief(name) for item in visit.screen.items)


def _delete_marked(visit: Visit, what: str) -> Decision:
    screen = visit.screen
    if visit.part.value == "all" and not visit.knows("marked all"):
        if (item := screen.find(ALL)) is not None:
            visit.gets_on("marked all")
            return visit.tap(item, "All of them are to be deleted: I mark the others too.")
        menu = screen.find(MENU)
        if menu is not None and not visit.tried(f"tap {brief(menu.said)}"):
            return visit.tap(menu, "All of them are to be deleted.", "Can all of them be marked in this menu?")
    if (item := screen.find(DELETE)) is not None:
        if not screen.is_dialog and screen.selecting is False and screen.is_menu is False:
            return visit.tap(item, f"Here {what} can be deleted.")
        return visit.tap(item, f"I delete {what}.")
    menu = screen.find(MENU)
    if menu is not None and not visit.tried(f"tap {brief(menu.said)}"):
        return visit.tap(menu, f"I see no way to delete {what} here.", "It may be in this menu.")
    return visit.back(f"{what} cannot be deleted here: I go back.", f"Where can {what} be deleted?")


def mark(visit: Visit, item: Item, what: str) -> Decision:
    """Hold it, or open it where that does nothing."""
    app = brief(visit.screen.app)
    if visit.notes.last == f"hold {brief(item.said)}" and not visit.screen.selecting:
        visit.note(_NO_HOLD.format(app))
    if not visit.knows(_NO_HOLD.format(app)):
        return visit.hold(item, f"Here is {what}.", f"What can be done with {what}, if I hold it?")
    return visit.tap(item, f"Holding {what} marked nothing: I open it.", f"Can it be done on the page of {what}?")


def look_for(visit: Visit, name: str) -> Decision:
    """Find a thing in lists and folders."""
    part, screen = visit.part, visit.screen
    area = part.what if part.kind == "delete" else part.value
    places = [place for place in (part.folder, area) if place]
    if part.folder and not any(says(item.text, part.folder) for item in screen.items[:8] if item.kind == "TextView"):
        for place in places:
            item = screen.named(place)
            if item is not None and not visit.tried(f"tap {brief(place)}"):
                return visit.tap(item, f"{name} is in {place}.", f"Is {name} in {place}?")
        drawer = screen.find(DRAWER)
        if area and drawer is not None and not visit.tried(f"tap {brief(drawer.said)}"):
            return visit.tap(drawer, f"I look for {area}.", f"{area} may be in this menu.")
    elif part.folder:
        inside = screen.named(part.folder)
        if (
            inside is not None
            and plain(screen.title) != plain(part.folder)
            and not visit.tried(f"tap {brief(part.folder)}")
        ):
            return visit.tap(inside, f"{name} is in {part.folder}.", f"Is {name} in {part.folder}?")
    if (way := _search(visit, name)) is not None:
        return way
    for direction in ("down", "up"):
        if (further := visit.scroll(direction, name)) is not None:
            return further
    return visit.seek(name, EVERYTHING)


def _search(visit: Visit, name: str) -> Decision | None:
    """Let the app look for it, where there is a search."""
    screen = visit.screen
    field = next((item for item in screen.fields if fit(item.hint, SEARCH) or item.text), None)
    if field is not None and not screen.is_dialog:
        if field.text.strip() != name and not visit.tried(f"search {brief(name)}"):
            return replace(visit.write(name, field, f"I search for {name}."), what=f"search {brief(name)}")
        return None
    button = screen.best(SEARCH)
    if button is None or visit.tried(f"tap {brief(button.said)}") or visit.knows(f"searched for {name}"):
        return None
    visit.note(f"searched for {name}")
    return visit.tap(button, f"I do not see {name}: I search for it.", f"Is {name} found by a search?")


def rename(visit: Visit) -> Decision | None:
    part, screen = visit.part, visit.screen
    if visit.knows("renamed"):
        return None
    if (way := visit.enter()) is not None:
        return way
    if screen.is_dialog and screen.fields:
        field = screen.fields[0]
        if field.text.strip() != part.to:
            return visit.write(part.to, field, "This is where the new name goes.")
        button = screen.confirms
        if button is not None:
            visit.note("renamed")
            return visit.tap(button, "The name is right.")
    if screen.selecting or screen.is_menu:
        return _choose(visit, RENAME, part.what, "rename it")
    item = screen.named(part.what)
    if item is None or screen.fields:
        if screen.fields:
            return visit.back("It is renamed in the list: I go back.")
        return look_for(visit, part.what)
    return mark(visit, item, part.what)


def move(visit: Visit) -> Decision | None:
    part, screen = visit.part, visit.screen
    if visit.knows("moved"):
        return None
    if (way := visit.enter()) is not None:
        return way
    verbs = MOVE if part.kind == "move" else COPY
    if visit.knows("choosing a folder"):
        return _choose_folder(visit)
    if screen.selecting or screen.is_menu:
        item = screen.find(verbs)
        if item is not None:
            visit.gets_on("choosing a folder")
            return visit.tap(item, f"I want to {part.kind} {part.what}.")
        return _choose(visit, verbs, part.what, f"{part.kind} it")
    item = screen.named(part.what)
    return look_for(visit, part.what) if item is None else mark(visit, item, part.what)


def _choose_folder(visit: Visit) -> Decision:
    part, screen = visit.part, visit.screen
    there = plain(screen.title) == plain(part.to) or any(
        re.search(rf"/{re.escape(part.to)}$", item.text) for item in screen.items
    )
    button = screen.find((part.kind, "select", "ok", "choose", f"{part.kind} here"), kind="Button") or screen.confirms
    if there and button is not None:
        visit.note("moved")
        return visit.tap(button, f"This is {part.to}: here it should go.")
    item = screen.named(part.to)
    if item is not None and not visit.tried(f"tap {brief(part.to)}"):
        return visit.tap(item, f"It should go to {part.to}.")
    if (further := visit.scroll("down", part.to)) is not None and item is None and visit.tried("tap parent folder"):
        return further
    area = screen.named(part.value) if part.value else None
    if area is not None and not visit.tried(f"tap {brief(part.value)}"):
        return visit.tap(area, f"{part.to} is in {part.value}.", f"Is {part.to} in {part.value}?")
    up = screen.find(UP) or screen.named("..")
    if up is not None and screen.name and not visit.notes.last.startswith("tap parent folder again"):
        return visit.tap(up, f"{part.to} is not here: I go up.", f"Is {part.to} beside this folder?")
    return visit.seek(
        part.to, (part.to, "internal storage", "other folder", "another folder", "choose folder", "browse", "folder")
    )


def _choose(visit: Visit, verbs: tuple[str, ...], what: str, aim: str) -> Decision:
    """From a menu, or from the buttons for what is marked."""
    item = visit.screen.find(verbs)
    if item is not None:
        return visit.tap(item, f"I want to {aim}.")
    menu = visit.screen.find(MENU)
    if menu is not None and not visit.tried(f"tap {brief(menu.said)}"):
        return visit.tap(menu, f"I see no way to {aim} yet.", "It may be in this menu.")
    return visit.back(f"I cannot {aim} here: I go back.", f"Where can I {aim}, with {what}?")
