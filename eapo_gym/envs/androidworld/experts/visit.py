"""One turn of the explorer: what it sees and remembers, and what it can do with its hands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from random import Random

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.experts.dates import read_today
from eapo_gym.envs.androidworld.experts.goal import Part
from eapo_gym.envs.androidworld.experts.memory import Memory
from eapo_gym.envs.androidworld.experts.screen import Item, Screen
from eapo_gym.envs.androidworld.experts.words import DRAWER, MENU, brief, fit, plain, says

KNOWN = "Nothing to find out now: what I need next is known."
_LAUNCHER = "launcher"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done, and why."""

    action: Action
    what: str
    """In words, for the notes."""

    think: str
    explore: str = KNOWN


class Visit:
    """A look at the screen, with one part of the goal in mind."""

    def __init__(self, screen: Screen, part: Part, notes: Memory, chances: Random | None) -> None:
        self.screen = screen
        self.part = part
        self.notes = notes
        self.chances = chances
        """Draws for one that remembers nothing."""

    # What is known

    def knows(self, fact: str) -> bool:
        return brief(fact) in self.notes.known

    def note(self, fact: str) -> None:
        self.notes.note(brief(fact))

    def gets_on(self, fact: str) -> None:
        """Something has been achieved: what was tried before may be tried again."""
        self.note(fact)
        self.notes.tried.clear()

    def tried(self, what: str) -> bool:
        return self.notes.has_tried(self.screen.name, what)

    @property
    def moved(self) -> bool:
        """Whether the screen is another one than that on which something was last done."""
        return self.screen.name != self.notes.at

    @property
    def today(self) -> date | None:
        return read_today(self.notes.today)

    # What can be done

    def tap(self, item: Item, think: str, explore: str = KNOWN) -> Decision:
        return Decision(Action("click", index=item.index), f"tap {_called(item)}", think, explore)

    def hold(self, item: Item, think: str, explore: str = KNOWN) -> Decision:
        return Decision(Action("long_press", index=item.index), f"hold {_called(item)}", think, explore)

    def write(self, text: str, item: Item, think: str) -> Decision:
        clear = True if item.text else None
        what = f"write into {brief(item.hint or item.desc or 'field')}"
        return Decision(Action("input_text", text=text, index=item.index, clear_text=clear), what, think)

    def erase(self, think: str) -> Decision:
        return Decision(Action("press_keyboard", keycode="KEYCODE_DEL"), "erase", think)

    def back(self, think: str, explore: str = KNOWN) -> Decision:
        return Decision(Action("navigate_back"), "back", think, explore)

    def wait(self, think: str) -> Decision:
        return Decision(Action("wait"), "wait", think)

    def answer(self, text: str, think: str) -> Decision:
        return Decision(Action("answer", text=text), "answer", think)

    def drag(self, item: Item, direction: str, think: str) -> Decision:
        """Draw something sideways, which is what scrolling the other way does."""
        return Decision(Action("scroll", direction=direction, index=item.index), f"drag {_called(item)}", think)

    def hide_keyboard(self) -> Decision:
        return Decision(Action("navigate_back"), "hide keyboard", "The keyboard is in the way: I put it away.")

    # Finding the way

    @property
    def is_in_app(self) -> bool:
        wanted, here = brief(self.part.app), brief(self.screen.app)
        return wanted == here or f"{wanted} is {here}" in self.notes.known

    def enter(self) -> Decision | None:
        """Open the part's app, unless it is in front."""
        wanted, here = brief(self.part.app), brief(self.screen.app)
        opened = self.notes.last == f"open {wanted}" and not self.screen.notice
        if opened and _LAUNCHER not in here and wanted != here:
            self.note(f"{wanted} is {here}")
        if self.is_in_app:
            return None
        name = self.part.app
        offered = self.screen.apps_offered
        if offered:
            words = plain(name).split()
            name = max(offered, key=lambda app: sum(says(app, word) for word in words))
        action = Action("open_app", app_name=name)
        return Decision(action, f"open {wanted}", f"This is done in {name}: I open it.", f"What can be done in {name}?")

    def seek(self, what: str, promising: Sequence[str], *, wander: bool = False) -> Decision:
        """Look for something where it is likely to be: here, further down, behind a menu, or elsewhere."""
        here = self.screen.name
        fresh = [item for item in self.screen.touchable() if not self.tried(f"tap {_called(item)}")]
        rated = [(max(fit(item.text, promising), fit(item.desc, promising)), item) for item in fresh]
        likely = [(score, item) for score, item in rated if score > 0]
        if self.chances is not None and fresh:
            return self._draw([item for _, item in likely] or fresh, what)
        if likely:
            _, item = max(likely, key=lambda each: (each[0], -each[1].index))
            others = [other.said for _, other in sorted(likely, key=lambda each: -each[0]) if other is not item]
            hope = f"{what[:1].upper()}{what[1:]} may be under {item.said!r:.60}"
            also = f", or under {others[0]!r:.60}" if others else ""
            return self.tap(item, f"{item.said!r:.60} fits what I look for: I try it.", f"{hope}{also}.")
        further = self.scroll("down", what)
        if further is not None:
            return further
        ways = [self.screen.find(DRAWER), self.screen.find(MENU)] if not self.screen.is_menu else []
        for way in ways:
            if way is not None and not self.tried(f"tap {_called(way)}"):
                return self.tap(way, f"I do not see {what} here: perhaps behind {way.said!r}.", f"Is {what} in there?")
        if fresh and (wander or self.tried("back")):
            item = fresh[0]
            return self.tap(item, f"Nothing fits {what}: I try {item.said!r:.60}.", f"What is under {item.said!r:.60}?")
        return self.back(f"{what[:1].upper()}{what[1:]} is not on {here}: I go back.", f"Where else may {what} be?")

    def _draw(self, items: Sequence[Item], what: str) -> Decision:
        assert self.chances is not None
        item = self.chances.choice(list(items))
        return self.tap(item, f"I do not know where {what} is: I try something.", f"Where is {what}?")

    def scroll(self, direction: str, what: str) -> Decision | None:
        """Scroll, unless that has been tried from here: then there is nothing more that way."""
        holder = next((item for item in self.screen.items if "scrollable" in item.states), None)
        if holder is None:
            return None
        rows = [item for item in self.screen.after(holder) if item.kind == "TextView" and item.text]
        edge = rows[-3:] if direction == "down" else rows[:3]
        said = " ".join(filter(None, (f"scroll {direction} from", *(brief(row.text)[:16].strip() for row in edge))))
        if self.tried(said):
            return None
        action = Action("scroll", direction=direction)
        return Decision(
            action, said, f"I do not see {what} yet: I scroll {direction}.", f"Is {what} further {direction}?"
        )

    def press(self, phrases: Iterable[str], think: str) -> Decision | None:
        """Touch the button that is called like one of these, if there is one."""
        item = self.screen.find(phrases)
        return None if item is None else self.tap(item, think)


def _called(item: Item) -> str:
    return brief(item.text or item.desc) or brief(item.kind)
