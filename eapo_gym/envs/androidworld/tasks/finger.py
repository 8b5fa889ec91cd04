"""How somebody who knows the phone finds their way: by what stands on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.phone.state import LAUNCHER
from eapo_gym.errors import EapoError

_LINE = 120
"""A switch stands in the same line as its name if it is no further below it, in pixels."""


class NotOnScreen(EapoError):
    """What a plan looks for is not there."""


@dataclass
class Finger:
    """Makes actions from the elements that are on the screen at the moment."""

    look: Callable[[], list[Element]]

    def find(self, said: str, *, kind: str = "", number: int = 0) -> Element | None:
        """The element with that text or description, or one that matches `/pattern/`; -1 is the number of the last."""
        fits = _fits(said)
        found = [each for each in self.look() if (fits(each.text) or fits(each.desc)) and kind in each.kind]
        return found[number] if -len(found) <= number < len(found) else None

    def sees(self, said: str) -> bool:
        return self.find(said) is not None

    def tap(self, said: str, *, kind: str = "", number: int = 0) -> Action:
        return Action("click", index=self._needed(said, kind, number).index)

    def hold(self, said: str, *, number: int = 0) -> Action:
        return Action("long_press", index=self._needed(said, "", number).index)

    def write(self, text: str, *, into: str = "", number: int = 0, clear: bool = False) -> Action:
        """Write into the field with that hint or text, or `/pattern/` of them, or into the field of that number."""
        named = self.fields(into)
        if number >= len(named):
            shown = [each.line() for each in self.fields()]
            raise NotOnScreen(f"Expected a field {into or number!r} on the screen, got {shown}.")
        return Action("input_text", text=text, index=named[number].index, clear_text=True if clear else None)

    def fields(self, into: str = "") -> list[Element]:
        """The fields on the screen, or those with that hint or text, or `/pattern/` of them."""
        fits = _fits(into) if into else lambda text: True
        return [each for each in self.look() if each.editable and any(map(fits, (each.hint, each.text, each.desc)))]

    def is_on(self, name: str) -> bool:
        """Whether the switch in the line of that name is on."""
        title = self._needed(name, "", 0)
        top, bottom = title.bounds[1], title.bounds[3]
        beside = [each for each in self.look() if each.checkable and top <= each.center[1] <= bottom + _LINE]
        if not beside:
            raise NotOnScreen(f"Expected a switch beside {name!r}.")
        return beside[0].checked

    def slide(self, name: str, share: float) -> Action:
        """Touch a slider where that share of its width is."""
        left, top, right, bottom = self._needed(name, "", 0).bounds
        return Action("click", x=min(round(left + share * (right - left)), right - 1), y=(top + bottom) // 2)

    def begin(self, app: str) -> Iterator[Action]:
        """Open an app at its first screen, wherever it was left."""
        yield self.open(app)
        while self.sees("Navigate up"):
            yield self.back()
        if any(each.package == LAUNCHER.package for each in self.look()):
            # It had been opened somewhere in its middle, and has been left by the way back.
            yield self.open(app)

    def scroll_to(self, said: str, most: int = 12) -> Iterator[Action]:
        """Scroll until it is on the screen: to the top first, where it does not show at once."""
        if self.sees(said):
            return
        before: list[Element] = []
        while (now := self.look()) != before:
            before = now
            yield self.scroll("up")
        for _ in range(most):
            if self.sees(said):
                return
            yield self.scroll("down")

    def scroll_to_field(self, into: str, most: int = 12) -> Iterator[Action]:
        """Scroll down until the field with that hint or text is on the screen."""
        for _ in range(most):
            if self.fields(into):
                return
            yield self.scroll("down")

    @staticmethod
    def done() -> Action:
        return Action("status", goal_status="complete")

    @staticmethod
    def open(app: str) -> Action:
        return Action("open_app", app_name=app)

    @staticmethod
    def scroll(direction: str = "down", index: int | None = None) -> Action:
        return Action("scroll", direction=direction, index=index)

    @staticmethod
    def back() -> Action:
        return Action("navigate_back")

    @staticmethod
    def wait() -> Action:
        return Action("wait")

    @staticmethod
    def answer(text: str) -> Action:
        return Action("answer", text=text)

    def _needed(self, said: str, kind: str, number: int) -> Element:
        found = self.find(said, kind=kind, number=number)
        if found is None:
            shown = "; ".join(each.line() for each in self.look())
            raise NotOnScreen(f"Expected {said!r} on the screen, got {shown[:2_000]}")
        return found


def any_of(names: Iterable[str]) -> str:
    """The pattern for any of these names: a menu is called differently on another phone."""
    return f"/{'|'.join(re.escape(name) for name in names)}/"


def _fits(said: str) -> Callable[[str], bool]:
    """Whether a text is that one, or matches `/pattern/`."""
    if said.startswith("/") and said.endswith("/") and len(said) > 1:
        pattern = re.compile(said[1:-1], re.DOTALL)
        return lambda text: pattern.fullmatch(text) is not None
    return lambda text: text == said
