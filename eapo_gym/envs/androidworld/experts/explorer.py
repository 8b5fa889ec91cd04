"""The expert that knows only what it has seen: it opens apps, tries what fits, goes back, and remembers.

It keeps nothing between two calls. All that it knows of an episode is in the memory text that it wrote the turn before.
It has rules about phones in general, such as that what is held can be deleted, and none about where a phone has what.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

from eapo_gym.agents.base import AgentError
from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.experts.calendar import ask, event
from eapo_gym.envs.androidworld.experts.forms import create
from eapo_gym.envs.androidworld.experts.goal import Part, read_goal, with_rows
from eapo_gym.envs.androidworld.experts.memory import MOST_TURNS, Memory
from eapo_gym.envs.androidworld.experts.screen import Item, Screen, read_screen
from eapo_gym.envs.androidworld.experts.simple import (
    capture,
    clipboard,
    open_app,
    record,
    slide,
    stopwatch,
    switch,
    timer,
)
from eapo_gym.envs.androidworld.experts.texts import new_file, paste, read_message, read_note, send, write
from eapo_gym.envs.androidworld.experts.things import delete, move, rename
from eapo_gym.envs.androidworld.experts.visit import KNOWN, Decision, Visit
from eapo_gym.envs.androidworld.experts.words import ALL, ALLOW, DELETE, RECORD, SAVE, SEND, STOP, YES, brief, fit
from eapo_gym.schema import Observation, Turn

SKILLS: Mapping[str, Callable[[Visit], Decision | None]] = {
    "ask": ask,
    "capture": capture,
    "clipboard": clipboard,
    "copy": move,
    "create": create,
    "delete": delete,
    "event": event,
    "move": move,
    "new file": new_file,
    "open": open_app,
    "paste": paste,
    "read message": read_message,
    "read note": read_note,
    "record": record,
    "rename": rename,
    "reply": send,
    "send": send,
    "slide": slide,
    "stopwatch": stopwatch,
    "switch": switch,
    "timer": timer,
    "write": write,
}
"""How each kind of part is done. A skill says what to do next, or None where nothing is left to do."""

_PERMISSION = re.compile(r"^Allow .+\?$|permission", re.IGNORECASE)
_TODAY = re.compile(r"[A-Z][a-z]{2}, [A-Z][a-z]{2} \d{1,2}")
_STUCK = 3
"""So often in a row it does the same on the same screen."""

_PATIENCE = 90


class Explorer:
    """Does what a goal asks for from the texts of screens (observation modes with elements).

    Args:
        memoryless: withhold its memory from it. It then draws what to try.
        use_valid_actions: has no effect here, where actions cannot be listed.
    """

    about = "AndroidWorld's phone with its elements as text"

    def __init__(self, *, memoryless: bool = False, use_valid_actions: bool = True) -> None:
        self.memoryless = memoryless

    @staticmethod
    def knows(observation: Observation) -> bool:
        """Whether it shows a phone's screen."""
        return read_screen(observation.state, observation.elements) is not None

    def act(self, observation: Observation) -> Turn:
        """The next action, and the texts that go with it."""
        screen = read_screen(observation.state, observation.elements)
        if screen is None:
            raise AgentError(
                "The explorer reads a phone's elements (observation_mode 'elements' or 'both'), and this shows none: "
                f"{observation.state!r:.80}."
            )
        chances = Random(observation.context.seed) if self.memoryless else None
        notes = Memory() if self.memoryless else Memory.parse(observation.memory) or Memory()
        notes.turn = min(notes.turn + 1, MOST_TURNS)
        notes.today = notes.today or _today(screen)
        decision = _next(screen, read_goal(observation.goal), notes, chances)
        notes.take_down(screen.name, decision.what)
        memory = "" if self.memoryless else str(notes)
        return Turn(decision.think, decision.explore, memory, decision.action.command(), format_ok=True)

    def mistake(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a beginner would do instead of `turn`: it takes something else on the screen for the right thing."""
        return self._instead(observation, turn, "{} must be what I need: I touch it.", "Is it under {}?")

    def doubt(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a worrier would do instead of `turn`: it knows what to do, and looks elsewhere all the same."""
        if turn.explore != KNOWN:
            return None
        think = "I know what to do, and still wonder what {} is for. I look."
        return self._instead(observation, turn, think, "Is there a better way under {}?")

    def _instead(self, observation: Observation, turn: Turn, think: str, explore: str) -> Turn | None:
        """Touch something else, which does no harm, where nothing has been achieved by what `turn` does."""
        screen = read_screen(observation.state, observation.elements)
        before, after = Memory.parse(observation.memory) or Memory(), Memory.parse(turn.memory or "")
        if screen is None or after is None or '"click"' not in (turn.action or ""):
            return None
        if (before.part, before.known, before.read) != (after.part, after.known, after.read) or screen.is_dialog:
            return None
        right = after.last.removeprefix("tap ")
        others = [item for item in screen.touchable() if brief(item.said) not in ("", right) and _harmless(item)]
        if not others:
            return None
        item = Random(observation.context.seed).choice(others)
        visit = Visit(screen, Part("open"), after, None)
        decision = visit.tap(item, think.format(repr(item.said[:60])), explore.format(repr(item.said[:60])))
        after.at, after.last, after.again = before.at, before.last, before.again
        after.tried = list(before.tried)
        after.take_down(screen.name, decision.what)
        return Turn(decision.think, decision.explore, str(after), decision.action.command(), format_ok=True)


_HARMFUL = (*DELETE, *SAVE, *SEND, *YES, *ALLOW, *RECORD, *STOP, *ALL, "undo", "call", "dial", "add", "reset", "clear")


def _harmless(item: Item) -> bool:
    return not item.switch and not fit(item.said, _HARMFUL)


def _today(screen: Screen) -> str:
    return next((item.text for item in screen.items if _TODAY.fullmatch(item.text)), "")


def _next(screen: Screen, parts: tuple[Part, ...], notes: Memory, chances: Random | None) -> Decision:
    if not parts:
        return _give_up("I do not know how this is done")
    if notes.turn > _PATIENCE:
        return _give_up("I have tried for too long")
    while notes.part <= len(parts := with_rows(parts, notes.read)):
        visit = Visit(screen, parts[notes.part - 1], notes, chances)
        skill = SKILLS.get(visit.part.kind)
        if skill is None:
            return _give_up("I have not read what is to be added")
        decision = _clear_the_way(visit) or skill(visit)
        if decision is not None:
            return _unstuck(visit, decision)
        notes.part += 1
        notes.known = [fact for fact in notes.known if " is " in fact and not fact.endswith(" is done")]
        notes.tried.clear()
    done = Action("status", goal_status="complete")
    return Decision(done, "done", "All that was asked for is done.")


def _clear_the_way(visit: Visit) -> Decision | None:
    """Apps ask for permissions before they do anything."""
    if any(_PERMISSION.search(item.text) for item in visit.screen.items[:3]):
        item = visit.screen.best(ALLOW, kind="Button")
        if item is not None:
            return visit.tap(item, "The app needs this permission: I grant it.")
    return None


def _unstuck(visit: Visit, decision: Decision) -> Decision:
    """Not the same again and again."""
    notes = visit.notes
    if (notes.at, notes.last) != (visit.screen.name, decision.what) or notes.again < _STUCK - 1:
        return decision
    if decision.action.action_type == "click" and decision.what.removeprefix("tap ").isdigit():
        return decision  # digits may be entered several times
    if notes.again > 2 * _STUCK:
        return _give_up("I get no further")
    return visit.back("That leads nowhere: I go back.", "Is there another way?")


def _give_up(why: str) -> Decision:
    return Decision(Action("status", goal_status="infeasible"), "give up", f"{why}: I give up.")
