"""How the explorer takes in a turn: the game's text and the commands that it offers, turned into memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from eapo_gym.envs.alfworld.experts.memory import NAME, Memory, kind
from eapo_gym.envs.alfworld.experts.places import OPENABLE, PLACES

_THINGS = rf"(?:nothing|an? {NAME}(?:, (?:and )?an? {NAME})*)"

_ROOM = re.compile(rf"in the middle of a room\. Looking quickly around you, you see ({_THINGS})\.")
_ARRIVED = re.compile(rf"You arrive at ({NAME})\.")
_CONTENTS = re.compile(rf"(?:On the ({NAME})|The ({NAME}) is open\. In it), you see ({_THINGS})\.")
_CLOSED = re.compile(rf"(?:The ({NAME}) is closed|You close the ({NAME}))\.")
_TAKEN = re.compile(rf"You pick up the ({NAME}) from the ({NAME})\.")
_PUT = re.compile(rf"You move the ({NAME}) to the ({NAME})\.")
_TREATED = re.compile(rf"You (clean|heat|cool) the ({NAME}) using the {NAME}\.")
_CARRYING = re.compile(rf"You are (?:not carrying anything|carrying: an? ({NAME}))\.")

_COMMAND = re.compile(
    rf"(?P<verb>go to|open|close|examine|use|take|move|clean|heat|cool) (?P<first>{NAME})"
    rf"(?: (?:from|to|with) (?P<second>{NAME}))?"
)


@dataclass(slots=True)
class Turn:
    """What there is to decide upon: the memory, brought up to date, and what only this turn shows."""

    memory: Memory
    kinds: frozenset[str]
    """The types of objects that matter."""

    commands: frozenset[str] | None = None
    """What the game offers, or None if it does not say."""

    reach: set[str] = field(default_factory=set)
    """The receptacles that can be dealt with from here."""

    shut: set[str] = field(default_factory=set)
    """Those that were seen closed in this turn."""

    sure_of_treatment: bool = True
    """False if something is carried of which nobody remembers whether it was cleaned, heated or cooled."""

    @classmethod
    def perceive(cls, kinds: frozenset[str], text: str, admissible: Sequence[str] | None, remembered: str) -> Turn:
        memory = Memory.read(remembered)
        turn = cls(memory or Memory(), kinds, None if admissible is None else frozenset(admissible))
        turn.sure_of_treatment = memory is not None
        turn._hear(text)
        if turn.memory.at:
            turn.reach.add(turn.memory.at)
        if turn.commands is not None:
            turn._consult(turn.commands)
        return turn

    def closed(self, receptacle: str) -> bool:
        """Whether it is, as far as one can tell."""
        if self.commands is not None and receptacle in self.reach:
            return receptacle in self.shut
        return receptacle in self.shut or (kind(receptacle) in OPENABLE and receptacle not in self.memory.opened)

    # What the game says

    def _hear(self, text: str) -> None:
        memory = self.memory
        if "Nothing happens." in text and memory.last:
            self.fail(memory.last)
        if match := _ROOM.search(text):
            memory.unsearched |= set(re.findall(NAME, match[1])) - memory.searched - memory.useless
        if match := _ARRIVED.search(text):
            memory.at = match[1]
        if match := _TAKEN.search(text):
            thing, memory.at = match[1], match[2]
            memory.carrying, memory.treated = thing, ""
            memory.found = {pair for pair in memory.found if pair[0] != thing}
            self.sure_of_treatment = True
        if match := _PUT.search(text):
            thing, memory.at = match[1], match[2]
            memory.carrying = memory.treated = ""
            if kind(thing) in self.kinds:
                memory.found.add((thing, memory.at))
        if match := _TREATED.search(text):
            memory.treated, memory.carrying = match[1], match[2]
            self.sure_of_treatment = True
        if match := _CARRYING.search(text):
            self._carry(match[1] or "")
        for match in _CONTENTS.finditer(text):
            self._see(match[1] or match[2], set(re.findall(NAME, match[3])))
        for match in _CLOSED.finditer(text):
            self.shut.add(match[1] or match[2])
        memory.opened -= self.shut

    def _see(self, receptacle: str, things: set[str]) -> None:
        memory = self.memory
        memory.at = memory.at or receptacle
        memory.found = {pair for pair in memory.found if pair[1] != receptacle}
        # A thing that the game lists in two places stays listed in one when it is taken from the other.
        memory.found |= {(thing, receptacle) for thing in things if kind(thing) in self.kinds} - {
            (memory.carrying, receptacle)
        }
        self._searched(receptacle)

    def _searched(self, receptacle: str) -> None:
        memory = self.memory
        memory.searched.add(receptacle)
        memory.unsearched.discard(receptacle)
        if kind(receptacle) in OPENABLE:
            memory.opened.add(receptacle)

    def _carry(self, thing: str) -> None:
        if thing != self.memory.carrying:
            self.memory.carrying, self.memory.treated = thing, ""

    # What the game offers

    def _consult(self, commands: frozenset[str]) -> None:
        memory = self.memory
        options = [match.groups(default="") for match in map(_COMMAND.fullmatch, sorted(commands)) if match]
        elsewhere = {first for verb, first, _ in options if verb == "go to"}
        takes = {(first, second) for verb, first, second in options if verb == "take"}
        here = {first for verb, first, _ in options if verb in ("open", "close")}
        here |= {second for verb, _, second in options if second}
        examined = {first for verb, first, _ in options if verb == "examine"}
        known = elsewhere | here | memory.searched | memory.unsearched | memory.useless | self.reach
        furniture = PLACES | set(map(kind, known))
        self.reach = here | {name for name in examined if kind(name) in furniture}
        memory.unsearched |= (elsewhere | self.reach) - memory.searched - memory.useless
        self.shut = {first for verb, first, _ in options if verb == "open"}
        memory.opened = (memory.opened - self.shut) | {first for verb, first, _ in options if verb == "close"}

        handled = {first for verb, first, _ in options if verb in ("move", "clean", "heat", "cool")}
        held = handled or examined - self.reach
        if takes or not held:
            self._carry("")
        elif len(held) == 1:
            self._carry(held.pop())
        if not memory.carrying:
            # With empty hands all that lies open within reach is offered.
            for receptacle in self.reach - self.shut:
                self._searched(receptacle)
            gone = {pair for pair in memory.found if pair[1] in self.reach - self.shut} - takes
            lamps = {first for verb, first, _ in options if verb == "use"}
            memory.found -= {pair for pair in gone if pair[0] not in lamps}
            memory.found |= {pair for pair in takes if kind(pair[0]) in self.kinds}
        for verb, lamp, _ in options:
            seen = any(thing == lamp and place in self.reach for thing, place in memory.found)
            if verb == "use" and kind(lamp) in self.kinds and not seen:
                place = memory.at if memory.at in self.reach else min(self.reach, default=memory.at)
                memory.found |= {(lamp, place)} if place else set()

    # What did not work

    def fail(self, command: str) -> None:
        """Learn from a command that did nothing."""
        memory = self.memory
        match = _COMMAND.fullmatch(command)
        if match is None:
            return
        verb, first, second = match.groups(default="")
        if verb == "go to":
            if self.commands is None and memory.at:
                memory.at = first  # it is within reach from here
            else:
                self._give_up(first)
        elif verb == "open":
            memory.opened.add(first)
            self.shut.discard(first)
        elif verb == "examine" and first in memory.searched | memory.unsearched:
            self._give_up(first)
        elif verb == "take":
            memory.found.discard((first, second))
        elif verb == "use":
            memory.found = {pair for pair in memory.found if pair[0] != first}
        elif second and (self.commands is not None or second == memory.at):
            self._give_up(second)

    def _give_up(self, receptacle: str) -> None:
        self.memory.useless.add(receptacle)
        self.memory.unsearched.discard(receptacle)
