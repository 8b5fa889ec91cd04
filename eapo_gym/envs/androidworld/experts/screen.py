"""A screen as the explorer reads it, from the texts of an observation alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eapo_gym.envs.androidworld.experts.words import ALLOW, DELETE, NO, SAVE, YES, brief, fit, plain

_LINE = re.compile(
    r'(?P<index>\d+): (?P<kind>[\w$]+)(?: "(?P<text>.*)")?(?: \((?P<desc>.*)\))?(?: hint "(?P<hint>.*)")?'
    r"(?: \[(?P<states>[a-z, ]+)\])?"
)
_FRONT = re.compile(r"In front: (?P<app>.*) \((?P<component>[\w./$]+)\)")
_NO_APP = re.compile(r"There is no app .* expected one of (?P<apps>.*)\.")
_SELECTED = re.compile(r"\d+ (selected|/ \d+)")
_SYSTEM_KEYS = ("Back", "Home", "Overview")
_KEYBOARD = "Keyboard"
_PASSING = ("Toast",)


@dataclass(frozen=True, slots=True)
class Item:
    """An element."""

    index: int
    kind: str
    text: str = ""
    desc: str = ""
    hint: str = ""
    states: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        return self.text or self.desc or self.hint

    @property
    def editable(self) -> bool:
        return "editable" in self.states

    @property
    def enabled(self) -> bool:
        return "disabled" not in self.states

    @property
    def switch(self) -> str:
        """ "on", "off", or empty where it cannot be switched."""
        return next((state for state in self.states if state in ("on", "off")), "")


@dataclass(frozen=True, slots=True)
class Screen:
    """What is to be seen."""

    app: str
    component: str
    notice: str
    """What the phone said to the last action."""

    items: tuple[Item, ...]
    """Of the app, or of the dialog or menu in front of it."""

    bar: tuple[str, ...]
    """What the symbols in the bar at the top stand for."""

    keyboard: bool
    clock: str = ""

    @property
    def title(self) -> str:
        for item in self.items:
            if "scrollable" in item.states or item.editable:
                return ""
            if item.kind == "TextView" and item.text:
                return item.text
        return ""

    @property
    def name(self) -> str:
        """What the explorer calls this screen in its notes."""
        where = "menu" if self.is_menu else self.title or self.component.rpartition(".")[2]
        return f"{brief(self.app)}, {brief(where)}" if brief(where) else brief(self.app) or "screen"

    @property
    def is_menu(self) -> bool:
        """A list of what can be done, and nothing else."""
        kinds = {item.kind for item in self.items}
        return bool(kinds) and kinds <= {"TextView", "CheckBox"} and len(self.items) <= 12

    @property
    def is_dialog(self) -> bool:
        """Something that has to be said yes or no to."""
        buttons = [item for item in self.items if item.kind == "Button"]
        return any(plain(item.said) in NO for item in buttons) and not self.find(("navigate up",))

    @property
    def selecting(self) -> bool:
        """Whether something is marked, to be deleted or moved."""
        return any(_SELECTED.fullmatch(item.text) for item in self.items[:4])

    @property
    def fields(self) -> list[Item]:
        return [item for item in self.items if item.editable]

    @property
    def apps_offered(self) -> list[str]:
        """The names of all apps, where one was asked for that is not there."""
        told = _NO_APP.search(self.notice)
        return told["apps"].split(", ") if told else []

    def touchable(self) -> Iterator[Item]:
        """What may do something if it is touched."""
        return (item for item in self.items if item.said and not item.editable and item.enabled and not passing(item))

    def find(self, phrases: Iterable[str], *, kind: str = "") -> Item | None:
        """What is called exactly like one of these; the first of them that is there."""
        known = [plain(phrase) for phrase in phrases]
        called = {
            plain(said): item
            for item in reversed(list(self.touchable()))
            if kind in item.kind
            for said in (item.text, item.desc)
            if said
        }
        return next((called[phrase] for phrase in known if phrase in called), None)

    def best(self, phrases: Iterable[str], *, kind: str = "") -> Item | None:
        """What fits best to any of these."""
        known = tuple(phrases)
        scored = [
            (max(fit(item.text, known), fit(item.desc, known)), -item.index, item)
            for item in self.touchable()
            if kind in item.kind
        ]
        score, _, item = max(scored, default=(0, 0, None), key=lambda each: each[:2])
        return item if score > 0 else None

    def named(self, name: str) -> Item | None:
        """What says exactly this."""
        wanted = " ".join(name.split())
        return next(
            (item for item in self.touchable() if " ".join(item.text.split()) == wanted or item.desc == wanted), None
        )

    def shows(self, text: str) -> bool:
        """Whether this stands on it, in a field or anywhere else."""
        wanted = " ".join(text.split())
        return any(" ".join(item.text.split()) == wanted for item in self.items if not passing(item))

    def after(self, item: Item) -> list[Item]:
        return list(self.items[self.items.index(item) + 1 :])

    def in_bar(self, word: str) -> bool:
        return any(plain(said).startswith(plain(word)) for said in self.bar)

    @property
    def confirms(self) -> Item | None:
        """The button of a dialog that says yes."""
        if not self.is_dialog:
            return None
        buttons = [item for item in self.items if item.kind == "Button" and item.enabled]
        known = (*DELETE, "move", "copy", *YES, *SAVE, *ALLOW)
        rated = [(fit(item.said, known), -item.index, item) for item in buttons if plain(item.said) not in NO]
        return max(rated, key=lambda each: each[:2])[2] if rated else None


def passing(item: Item) -> bool:
    """Whether it only tells something for a moment."""
    return item.kind in _PASSING


def read_screen(state: str, elements: str | None) -> Screen | None:
    """The screen that an observation shows, or None if it shows something else."""
    front = _FRONT.match(state)
    if front is None or elements is None:
        return None
    items = [_item(match) for line in elements.split("\n") if (match := _LINE.fullmatch(line))]
    items, bar, clock = _without_system(items)
    keyboard = any(item.kind.startswith(_KEYBOARD) for item in items)
    return Screen(
        app=front["app"],
        component=front["component"],
        notice=state[front.end() :].strip(),
        items=tuple(item for item in items if not item.kind.startswith(_KEYBOARD)),
        bar=tuple(bar),
        keyboard=keyboard,
        clock=clock,
    )


def _item(match: re.Match[str]) -> Item:
    text, desc, hint = (_unescaped(match[name] or "") for name in ("text", "desc", "hint"))
    states = tuple(match["states"].split(", ")) if match["states"] else ()
    return Item(int(match["index"]), match["kind"], text, desc, hint, states)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)


def _without_system(items: list[Item]) -> tuple[list[Item], list[str], str]:
    """Apart from the keys at the bottom, and from the clock and the symbols at the top."""
    rest = [item for item in items if not (item.kind == "ImageButton" and item.desc in _SYSTEM_KEYS)]
    last = max((n for n, item in enumerate(rest) if item.desc.startswith("Battery")), default=-1)
    if last < 0:
        return rest, [], ""
    first = last
    while first > 0 and rest[first - 1].kind == "ImageView":
        first -= 1
    symbols = [item.desc for item in rest[first : last + 1]]
    if first > 0 and re.fullmatch(r"\d\d?:\d\d", rest[first - 1].text):
        return rest[: first - 1] + rest[last + 1 :], symbols, rest[first - 1].text
    return rest[:first] + rest[last + 1 :], symbols, ""
