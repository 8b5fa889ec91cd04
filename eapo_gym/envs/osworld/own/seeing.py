"""How somebody who knows the desktop finds their way: by the names of what is on the screen.

A plan is a stream of actions; each is made from the elements that are there when it is asked for, so the next one must
be asked for after the last one was done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eapo_gym.envs.osworld.elements import Element
from eapo_gym.errors import EapoError

Plan = Iterator[str]
"""Actions, as a model would write them."""

_LABEL = 8
"""So many pixels may a label reach into what it stands beside."""

_PATIENCE = 20
"""So often a plan waits for what it expects."""


class NotOnScreen(EapoError):
    """What a plan looks for is not there."""


@dataclass
class Seeing:
    """Makes actions from the elements that are on the screen at the moment."""

    look: Callable[[], Sequence[Element]]

    def find(self, said: str, kind: str = "", number: int = 0) -> Element | None:
        """The element with that name, or one that matches `/pattern/`; -1 is the number of the last."""
        found = self.all(said, kind)
        return found[number] if -len(found) <= number < len(found) else None

    def all(self, said: str, kind: str = "") -> list[Element]:
        fits, is_kind = _fits(said), _fits(kind) if kind else lambda text: True
        return [
            each for each in self.look() if (fits(each.name.strip()) or fits(each.text.strip())) and is_kind(each.kind)
        ]

    def sees(self, said: str, kind: str = "") -> bool:
        return self.find(said, kind) is not None

    def click(self, said: str, kind: str = "", number: int = 0, *, how: str = "click") -> str:
        """Click on it, or `double_click`, `right_click`, …"""
        found = self.find(said, kind, number)
        if found is None:
            shown = "; ".join(each.line() for each in self.look())
            raise NotOnScreen(f"Expected {kind} {said!r} on the screen, got {shown[:2_000]}")
        return _action(how, index=found.index)

    def until(self, said: str, kind: str = "") -> Plan:
        """Wait until it is there; whoever needs it says so if it never comes."""
        for _ in range(_PATIENCE):
            if self.sees(said, kind):
                return
            yield self.wait()

    def until_typing(self, waits: int = 4) -> Plan:
        """Wait until a field has the focus, as far as its program says so."""
        for _ in range(waits):
            if any(each.focused and each.kind == "entry" for each in self.look()):
                return
            yield self.wait()

    def tap(self, said: str, kind: str = "", number: int = 0) -> Plan:
        """Wait for it, and click on it."""
        yield from self.until(said, kind)
        yield self.click(said, kind, number)

    def tap_beside(self, label: str, kind: str) -> Plan:
        """Click on what stands to the right of a label, in the same line."""
        yield from self.until(label)
        place = self.find(label)
        if place is None:
            yield self.click(label)
            return
        _, top, right, bottom = place.bounds
        fits = _fits(kind)
        inline = [each for each in self.look() if fits(each.kind) and top <= each.center[1] <= bottom]
        following = [each for each in inline if each.bounds[0] >= right - _LABEL]
        if not following:
            raise NotOnScreen(f"Expected {kind} to the right of {label!r}.")
        nearest = min(following, key=lambda each: each.bounds[0])
        yield _action("click", index=nearest.index)

    def close_dialogs(self) -> Plan:
        """Close what was left open, the one in front first."""
        for _ in range(2):
            yield from self.if_there("Close", "push-button", waits=1)

    def menu(self, *names: str) -> Plan:
        """Open a menu, and choose what is in it."""
        for name in names:
            yield from self.tap(name, kind="/menu.*|check-menu-item|radio-menu-item/")

    def if_there(self, said: str, kind: str = "", *, waits: int = 2) -> Plan:
        """Click on it if it comes."""
        for _ in range(waits):
            if self.sees(said, kind):
                break
            yield self.wait()
        if self.sees(said, kind):
            yield self.click(said, kind)

    def refill(self, text: str) -> Plan:
        """Write in the place of all that the field with the focus holds."""
        yield self.press("ctrl", "a")
        yield self.write(text)

    def name_file(self, place: str) -> Plan:
        """Answer a dialog that asks for a file: its field for the name has the focus."""
        yield from self.until("Cancel", "push-button")
        yield from self.until_typing()
        yield from self.refill(place)
        yield self.press("enter")

    @staticmethod
    def write(text: str) -> str:
        return _action("input_text", text=text)

    @staticmethod
    def press(*keys: str, times: int = 1) -> str:
        """Press a key, or several together."""
        together = "+".join(keys)
        return _action("hotkey", keys=together) if times == 1 else _action("press_key", key=together, times=times)

    @staticmethod
    def answer(text: str) -> str:
        return _action("answer", text=text)

    @staticmethod
    def wait() -> str:
        return _action("wait")

    @staticmethod
    def done() -> str:
        return _action("status", goal_status="complete")

    @staticmethod
    def give_up() -> str:
        return _action("status", goal_status="infeasible")


def _action(kind: str, **fields: Any) -> str:
    return json.dumps({"action_type": kind} | fields)


def _fits(said: str) -> Callable[[str], bool]:
    """Whether a text is that one, or matches `/pattern/`."""
    if said.startswith("/") and said.endswith("/") and len(said) > 1:
        pattern = re.compile(said[1:-1], re.DOTALL)
        return lambda text: pattern.fullmatch(text) is not None
    return lambda text: text == said
