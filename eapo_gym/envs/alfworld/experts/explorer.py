"""The expert that knows only what it has seen: it searches likely places first, and remembers in words.

It keeps nothing between two calls. All that it knows of an episode is in the memory text that it wrote the turn before.
So one explorer plays a thousand episodes at a time, and shows what a language model can do with such a memory.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eapo_gym.envs.alfworld.experts.decision import Decision
from eapo_gym.envs.alfworld.experts.goal import TREATERS, Goal, parse_goal
from eapo_gym.envs.alfworld.experts.memory import Memory, by_name, kind, preposition
from eapo_gym.envs.alfworld.experts.perception import Turn
from eapo_gym.envs.alfworld.experts.places import chance

_KNOWN = "Nothing to find out now: what I need next is known."

_TRIES = 100
"""How many commands an explorer can find to be impossible before it gives up thinking of more."""


class Explorer:
    """Plays from observation texts and offered commands alone.

    `memoryless=True` withholds its memory from it, and is otherwise the same agent: what memory is worth is the
    difference. Without memory it cannot know where it has looked, so it draws the next place at random, likely places
    more often; to go to the likeliest one again and again would be a worse agent, not the same.
    """

    def __init__(self, *, memoryless: bool = False, seed: int = 0) -> None:
        self.memoryless = memoryless
        self._random = random.Random(seed) if memoryless else None

    def act(
        self,
        goal: Goal | str,
        state: str,
        admissible: Sequence[str] | None = None,
        explore: str = "",
        memory: str = "",
    ) -> Decision:
        """The next command, and the texts that go with it.

        `goal` is the task's sentence, `state` what the game said last, `explore` and `memory` are those of the decision
        before; all that is used of the two is `memory`. `admissible` are the commands that the game offers. They show
        more than the text does: what is in hand, and what lies open beside the place that one went to. A teacher of
        agents that are not shown them should go without (None).
        """
        task = parse_goal(goal) if isinstance(goal, str) else goal
        kinds = frozenset({task.object, task.lamp or task.object})
        turn = Turn.perceive(kinds, state, admissible, "" if self.memoryless else memory)
        choice = _Deliberation(task, turn, self._random).choose()
        turn.memory.last = choice.command
        return Decision(choice.command, choice.think, choice.explore, "" if self.memoryless else str(turn.memory))


@dataclass(frozen=True, slots=True)
class _Choice:
    command: str
    think: str
    explore: str = _KNOWN


class _Deliberation:
    """One turn's decision."""

    def __init__(self, goal: Goal, turn: Turn, chances: random.Random | None) -> None:
        self.goal = goal
        self.turn = turn
        self.memory = turn.memory
        self._random = chances

    def choose(self) -> _Choice:
        for _ in range(_TRIES):
            choice = self._next()
            if self.turn.commands is None or choice.command in self.turn.commands:
                return choice
            self.turn.fail(choice.command)
        return _Choice("look", "What I remember does not fit what I see, so I look around.")

    def _next(self) -> _Choice:
        carrying = self.memory.carrying
        if carrying and kind(carrying) != self.goal.object:
            return self._put_down(carrying)
        if self.goal.lamp:
            return self._look_under_lamp(carrying)
        if carrying:
            return self._treat(carrying) or self._deliver(carrying)
        return self._fetch() or self._search([self.goal.object])

    # The parts of a task

    def _look_under_lamp(self, carrying: str) -> _Choice:
        lamps = [pair for pair in self.memory.found if kind(pair[0]) == self.goal.lamp]
        missing = [] if lamps else [str(self.goal.lamp)]
        if not carrying:
            return self._fetch() or self._search([self.goal.object, *missing])
        if not lamps:
            return self._search(missing)
        lamp, place = min(lamps, key=lambda pair: (self._effort(pair[1]), pair))
        if place in self.turn.reach:
            return _Choice(f"use {lamp}", f"I carry {carrying} and stand at {lamp}: I switch it on.")
        return _Choice(f"go to {place}", f"I carry {carrying}, and {lamp} is {preposition(place)} {place}.")

    def _fetch(self) -> _Choice | None:
        """Get a known object that is not where it belongs."""
        target = self._target() if self.goal.count > 1 else None
        there = {thing for thing, place in self.memory.found if place == target}
        loose = [pair for pair in self.memory.found if kind(pair[0]) == self.goal.object and pair[0] not in there]
        if not loose:
            return None
        thing, place = min(loose, key=lambda pair: (self._effort(pair[1]), pair))
        where = f"{thing} is {preposition(place)} {place}"
        return self._approach(place, where) or _Choice(f"take {thing} from {place}", f"{where}: I take it.")

    def _treat(self, carrying: str) -> _Choice | None:
        verb = self.goal.treatment
        if verb is None or self.memory.treated == verb:
            return None
        if not self.turn.sure_of_treatment and any(kind(r) == self.goal.receptacle for r in self.turn.reach):
            return None  # Why else would I have carried it here?
        tools = [place for place in self._known() if kind(place) in TREATERS[verb]]
        if not tools:
            return None
        tool = min(tools, key=lambda place: (place not in self.turn.reach, by_name(place)))
        if tool in self.turn.reach:
            return _Choice(f"{verb} {carrying} with {tool}", f"I am at {tool}, which can {verb} {carrying}.")
        return _Choice(f"go to {tool}", f"I carry {carrying}, and have to {verb} it: {tool} does that.")

    def _deliver(self, carrying: str) -> _Choice:
        target = self._target()
        if target is None:
            return _Choice("inventory", f"I know of no {self.goal.receptacle} that takes it, so I check what I carry.")
        where = f"{carrying} belongs {preposition(target)} {target}"
        return self._approach(target, where) or _Choice(f"move {carrying} to {target}", f"{where}: I put it there.")

    def _target(self) -> str | None:
        """The receptacle to bring things to: where most of those that count are, or where it takes the least."""
        targets = [place for place in self._known() if kind(place) == self.goal.receptacle]
        if self.goal.count > 1:
            there = [place for thing, place in self.memory.found if kind(thing) == self.goal.object]
            most = max(map(there.count, targets), default=0)
            if most:
                # Ties go by name, not by what is near: the target must stay the same while one walks.
                return min((place for place in targets if there.count(place) == most), key=by_name)
        return min(targets, key=self._effort, default=None)

    def _put_down(self, carrying: str) -> _Choice:
        places = sorted(self._known(), key=lambda place: (-chance(kind(carrying), kind(place)), *self._effort(place)))
        near = [place for place in places if place in self.turn.reach and not self.turn.closed(place)]
        if not places:
            return _Choice("look", f"I do not need {carrying}, but know no place for it, so I look around.")
        place = (near or places)[0]
        why = f"I do not need {carrying} and put it {preposition(place)} {place}"
        return self._approach(place, why) or _Choice(f"move {carrying} to {place}", f"{why}.")

    # Searching

    def _search(self, kinds: Sequence[str]) -> _Choice:
        """Look into the place that promises most for each command that it takes."""
        memory = self.memory
        if not memory.unsearched:
            memory.unsearched, memory.searched = set(memory.searched), set()
        if not memory.unsearched:
            return _Choice("look", "I know of no place to search, so I look around.")
        promise = {place: self._promise(place, kinds) for place in memory.unsearched}
        ranked = sorted(promise, key=lambda place: (-promise[place], *self._effort(place)))
        place = ranked[0]
        if self._random is not None:
            # Whoever stands before a closed door remembers why.
            drawn = [place for place in ranked if place in self.turn.shut] or ranked
            place = self._random.choices(drawn, [promise[place] for place in drawn])[0]
        wanted = " or ".join(map(_one, kinds))
        think = f"I still have to find {wanted}. There may be one {preposition(place)} {place}"
        candidates = [place, *(other for other in ranked if other != place)][:3]
        explore = f"Where is {wanted}? Candidates: {', '.join(candidates)}."
        choice = self._approach(place, think) or _Choice(f"examine {place}", f"{think}: I look.")
        return _Choice(choice.command, choice.think, explore)

    def _promise(self, place: str, kinds: Iterable[str]) -> float:
        likely = sum(chance(kind_, kind(place)) for kind_ in kinds)
        if kind(place) == self.goal.receptacle and self.goal.treatment is None:
            likely /= 1000  # what lies there is done already
        commands = (place not in self.turn.reach) + self.turn.closed(place)
        return likely / max(1, commands)

    # Getting about

    def _known(self) -> set[str]:
        memory = self.memory
        return (memory.searched | memory.unsearched) - memory.useless

    def _effort(self, place: str) -> tuple[int, str, int]:
        """Commands until one can take from it or put into it; ties go by name."""
        return (place not in self.turn.reach) + self.turn.closed(place), *by_name(place)

    def _approach(self, place: str, why: str) -> _Choice | None:
        """The command that brings `place` closer, or None if it is open and within reach."""
        if place not in self.turn.reach:
            return _Choice(f"go to {place}", f"{why}: I go there.")
        if self.turn.closed(place):
            return _Choice(f"open {place}", f"{why}, which is closed: I open it first.")
        return None


def _one(kind_: str) -> str:
    return f"{'an' if kind_[0] in 'aeiou' else 'a'} {kind_}"


def doubtful(goal: Goal, decision: Decision, seed: int) -> Decision | None:
    """The turn of one who does not trust what it knows; None where `decision` explores already.

    It goes to look for the thing somewhere else, or looks around if it has the thing in hand. Its notes stay true, so
    that it can do later what it should have done now.
    """
    notes = Memory.read(decision.memory)
    if notes is None or decision.explore != _KNOWN:
        return None
    places = sorted(notes.searched | notes.unsearched, key=by_name)
    others = [place for place in places if place != notes.at and decision.command != f"go to {place}"]
    if notes.carrying or not others:
        place, command = notes.at, "look"
    else:
        place = random.Random(seed).choice(others)
        command = f"go to {place}"
    if not place or command == decision.command:
        return None
    notes.last = command
    wanted = _one(goal.object)
    think = f"I know what to do next, and still wonder where {wanted} is. I look again."
    return Decision(command, think, f"Where is {wanted}? Candidates: {place}.", str(notes))
