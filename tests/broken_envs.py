"""Deliberately broken environments, one fault each. `BROKEN` says which check must catch it, and with which words."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ActionError
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space
from tests.toys import COMMANDS, Corridor


@dataclass(frozen=True)
class Fault:
    check: str
    words: tuple[str, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


BROKEN: dict[type[Corridor], Fault] = {}


def caught_by(check: str, *words: str, **kwargs: Any) -> Any:
    """Names the check that must find the fault, and words that its message must have."""

    def note(env: type[Corridor]) -> type[Corridor]:
        BROKEN[env] = Fault(check, words, kwargs)
        return env

    return note


class Counting(Corridor):
    """A corridor that counts its steps, as many environments do."""

    _steps = 0

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self._steps = 0
        return super().reset(**kwargs)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        self._steps += 1
        return super().step(action)


# --- The fingerprint --------------------------------------------------------------------------------------------------


@caught_by("fingerprint", "step count", "step('xyzzy 0x7f')")
class FingerprintCountsSteps(Counting):
    def fingerprint(self) -> str:
        return f"{super().fingerprint()}|{self._steps}"

    def snapshot(self) -> Any:
        return super().snapshot(), self._steps

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        state, self._steps = snapshot
        return super().restore(state)


@caught_by("fingerprint", "last feedback", "step('xyzzy 0x7f')")
class FingerprintHasFeedback(Corridor):
    def fingerprint(self) -> str:
        return f"{super().fingerprint()}|{self._text}"


@caught_by("fingerprint", "there and back again", "inverse(")
class FingerprintCountsMoves(Corridor):
    """Invalid commands leave it equal; only a way there and back shows the fault."""

    _moves = 0

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self._moves = 0
        return super().reset(**kwargs)

    def _apply(self, action: str) -> None:
        self._moves += action != "look"
        super()._apply(action)

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}|{self._moves}"

    def snapshot(self) -> Any:
        return super().snapshot(), self._moves

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        state, self._moves = snapshot
        return super().restore(state)


@caught_by("fingerprint", "no text", "hashlib")
class FingerprintIsNumber(Corridor):
    def fingerprint(self) -> Any:
        return len(super().fingerprint())


@caught_by("other-process", "fingerprint", "hashlib", "PYTHONHASHSEED")
class FingerprintFromHash(Corridor):
    def fingerprint(self) -> str:
        return str(hash(super().fingerprint()))


@caught_by("other-process", "fingerprint", "id()")
class FingerprintFromId(Corridor):
    def fingerprint(self) -> str:
        return f"{super().fingerprint()}|{id(self)}"


@caught_by("state-identity", "two different states", "light lamp")
class FingerprintForgetsLamp(Corridor):
    def fingerprint(self) -> str:
        lamp, self._lamp = self._lamp, False
        text = super().fingerprint()
        self._lamp = lamp
        return text


@caught_by("state-identity", "two different states", "fingerprint after step")
class HiddenRust(Corridor):
    """The lamp lights at the second try, and nothing but the try itself tells."""

    _tries = 0

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self._tries = 0
        return super().reset(**kwargs)

    def _apply(self, action: str) -> None:
        if action == "light lamp" and self._tries < 1:
            self._tries += 1
        else:
            super()._apply(action)

    def snapshot(self) -> Any:
        return super().snapshot(), self._tries

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        state, self._tries = snapshot
        return super().restore(state)


# --- Snapshot and restore ---------------------------------------------------------------------------------------------


@caught_by("restore", "self._lamp was False and is True", "restore(s)")
class RestoreForgetsLamp(Corridor):
    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        lamp = self._lamp
        super().restore(snapshot)
        self._lamp = lamp
        return self._obs(), self._info()


@caught_by("restore", "the same actions lead elsewhere", "counter")
class RestoreForgetsCounter(Counting):
    """The battery is empty after 15 steps, which the snapshot does not know."""

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, self._steps >= 15, info


@caught_by("restore", "another observation", "observation['state']")
class RestoreReturnsStaleObservation(Corridor):
    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        stale = self._obs()
        return stale, super().restore(snapshot)[1]


@caught_by("restore", "restore() raised NotImplementedError")
class RestoreMissing(Corridor):
    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        raise NotImplementedError("later")


@caught_by("snapshot", "while the environment goes on", "Copy what is mutable")
class SnapshotIsAlias(Corridor):
    """The state is one dict, and the snapshot is that dict."""

    def snapshot(self) -> Any:
        return vars(self)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        vars(self).update(snapshot)
        return self._obs(), self._info()


@caught_by("snapshot", "cannot be restored twice", "Copy what is mutable")
class SnapshotIsTakenOver(Corridor):
    """The first restore makes the snapshot the live state, and the episode then writes into it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._visited: list[int] = []

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self._visited = []
        return super().reset(**kwargs)

    def _apply(self, action: str) -> None:
        super()._apply(action)
        self._visited.append(self._at)

    def describe(self) -> str:
        return f"{super().describe()} You were in {len(set(self._visited))} rooms."

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}|{sorted(set(self._visited))}"

    def snapshot(self) -> Any:
        return super().snapshot(), list(self._visited)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        state, self._visited = snapshot
        return super().restore(state)

    def inverse(self, action: str) -> list[str]:
        return []


@caught_by("restore-elsewhere", "another task", "info['task']")
class RestoreForgetsTask(Corridor):
    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        task = self.task
        super().restore(snapshot)
        self.task = task
        return self._obs(), self._info()


# --- Seeds, tasks, resets ---------------------------------------------------------------------------------------------


@caught_by("seeding", "same seed gives another episode", "self.np_random")
class SeedIgnored(Corridor):
    def choose_task(self, options: dict[str, Any] | None) -> str:
        if (options or {}).get("task") is None:
            return random.choice(self.tasks())
        return super().choose_task(options)


@caught_by("seeding", "same seed gives another episode", "no clock")
class SeedIsClock(Corridor):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        return super().reset(seed=time.perf_counter_ns(), options=options)


@caught_by("seeding", "resets after a seeded one")
class SeedForgotten(Corridor):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        return super().reset(seed=int.from_bytes(os.urandom(4), "big") if seed is None else seed, options=options)


@caught_by("seeding", "every seed reaches the same task")
class SeedMeansNothing(Corridor):
    def choose_task(self, options: dict[str, Any] | None) -> str:
        return super().choose_task({"task": self.tasks()[0], **(options or {})})


@caught_by("other-process", "same seed gives another episode in another process", "order of a set", rooms=12)
class SeedDependsOnHash(Corridor):
    def choose_task(self, options: dict[str, Any] | None) -> str:
        if (options or {}).get("task") is None:
            tasks = sorted(self.tasks(), key=hash)
            return tasks[int(self.np_random.integers(len(tasks)))]
        return super().choose_task(options)


@caught_by("fresh-start", "self._lamp was False and is True", "in a new environment")
class ResetLeavesLamp(Corridor):
    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        lamp = self._lamp
        super().reset(**kwargs)
        self._lamp = lamp
        self._text = self.describe()
        return self._obs(), self._info()


@caught_by("task-option", "plays another task", "choose_task")
class TaskOptionIgnored(Corridor):
    def choose_task(self, options: dict[str, Any] | None) -> str:
        return super().choose_task(None)


@caught_by("task-option", "UnknownName", "no error")
class UnknownTaskAccepted(Corridor):
    def choose_task(self, options: dict[str, Any] | None) -> str:
        wanted = (options or {}).get("task")
        return wanted if wanted in self.tasks() else super().choose_task(None)


@caught_by("task-option", "UnknownName", "KeyError")
class UnknownTaskIsKeyError(Corridor):
    def choose_task(self, options: dict[str, Any] | None) -> str:
        wanted = (options or {}).get("task")
        return super().choose_task(None) if wanted is None else {task: task for task in self.tasks()}[wanted]


@caught_by("tasks", "twice")
class TasksRepeat(Corridor):
    def tasks(self, split: str | None = None) -> list[str]:
        return super().tasks(split) + super().tasks(split)[:1]


@caught_by("tasks", "tasks() changes")
class TasksShuffled(Corridor):
    def tasks(self, split: str | None = None) -> list[str]:
        return random.sample(tasks := [f"{split or self.split}/key-in-{room}" for room in range(30)], len(tasks))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        return super().reset(seed=seed, options={"task": f"{self.split}/key-in-1", **(options or {})})


@caught_by("tasks", "tasks(split)")
class TasksIgnoreSplit(Corridor):
    def tasks(self, split: str | None = None) -> list[str]:
        return super().tasks("valid" if split else None)


# --- Actions ----------------------------------------------------------------------------------------------------------


@caught_by("valid-actions", "answered as invalid", "'unlock door'")
class ValidActionsLie(Corridor):
    def valid_actions(self) -> list[str]:
        return sorted({*super().valid_actions(), "unlock door"})

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if action == "unlock door" and action not in super().valid_actions():
            action = "nothing of the kind"
        return super().step(action)


@caught_by("valid-actions", "answered as invalid", "invalid_action")
class ValidActionReportedInvalid(Corridor):
    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, terminated, truncated, {**info, "invalid_action": action not in COMMANDS[:-1]}


@caught_by("valid-actions", "does not list")
class ValidActionsIncomplete(Corridor):
    """Every other room, the way to the right is not listed, and open all the same."""

    def valid_actions(self) -> list[str]:
        return [action for action in super().valid_actions() if action != "right" or self._at % 2 == 0]

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if action == "right" and self._at < self.rooms - 1:
            self._at += 1
            self._text = self.describe()
            return self._obs(), 0.0, False, False, self._info()
        return super().step(action)

    def inverse(self, action: str) -> list[str]:
        return []


@caught_by("valid-actions", "twice", "'look'")
class ValidActionsRepeat(Corridor):
    def valid_actions(self) -> list[str]:
        return [*super().valid_actions(), "look"]


@caught_by("valid-actions", "no list of texts", "tuple")
class ValidActionsAreTuple(Corridor):
    def valid_actions(self) -> Any:
        return tuple(super().valid_actions())


@caught_by("valid-actions", "no list of texts", "{'command': 'look'}")
class ValidActionsAreObjects(Corridor):
    def valid_actions(self) -> Any:
        return [{"command": action} for action in super().valid_actions()]


@caught_by("valid-actions", "parse_action refuses", "'Look around'")
class ValidActionNotParsed(Corridor):
    def valid_actions(self) -> list[str]:
        return [*super().valid_actions(), "Look around"]


@caught_by("purity", "valid_actions() changes the episode", "copies")
class ValidActionsMutate(Corridor):
    def valid_actions(self) -> list[str]:
        actions = super().valid_actions()
        self._lamp = True
        return actions


@caught_by("purity", "fingerprint() changes the episode")
class FingerprintDrawsChance(Corridor):
    """The answer is right, and yet the next step is not what it would have been."""

    def fingerprint(self) -> str:
        self.np_random.random()
        return super().fingerprint()

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        obs, *rest = super().step(action)
        obs["state"] += f" The wind blows from {int(self.np_random.integers(360))}°."
        return obs, *rest

    def snapshot(self) -> Any:
        return super().snapshot(), self.np_random.bit_generator.state

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self.np_random.bit_generator.state = snapshot[1]
        return super().restore(snapshot[0])


@caught_by("copies", "valid_actions() hands out a list of its own", "Return a copy")
class ValidActionsShared(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._lists: dict[str, list[str]] = {}

    def valid_actions(self) -> list[str]:
        return self._lists.setdefault(self.fingerprint(), super().valid_actions())


@caught_by("purity", "describe() answers differently")
class DescribeCounts(Corridor):
    _described = 0

    def describe(self) -> str:
        self._described += 1
        return f"{super().describe()} (Told {self._described} times.)"

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self._described = 0
        return super().reset(**kwargs)

    def snapshot(self) -> Any:
        return super().snapshot(), self._described

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self._described = snapshot[1]
        return super().restore(snapshot[0])


@caught_by("describe", "two visits of one state", "state alone")
class DescribeTellsLastMove(Corridor):
    _last = "nothing"

    def reset(self, **kwargs: Any) -> tuple[Obs, Info]:
        self._last = "nothing"
        return super().reset(**kwargs)

    def _apply(self, action: str) -> None:
        super()._apply(action)
        self._last = action

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        result = super().step(action)
        self._text = Corridor.describe(self) if result[0]["state"] != "Nothing happens." else "Nothing happens."
        return self._obs(), *result[1:]

    def describe(self) -> str:
        return f"{super().describe()} You did: {self._last}."

    def snapshot(self) -> Any:
        return super().snapshot(), self._last

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self._last = snapshot[1]
        return super().restore(snapshot[0])


@caught_by("describe", "no short text", "2,000")
class DescribeIsLong(Corridor):
    def describe(self) -> str:
        return super().describe() * 100


@caught_by("inverse", "does not invert", "'light lamp'")
class InverseDoesNotInvert(Corridor):
    def inverse(self, action: str) -> list[str]:
        return ["look"] if action == "light lamp" else super().inverse(action)


@caught_by("fingerprint", "after another number of steps", "counts steps")
class FingerprintCountsWhatWasDone(Corridor):
    """Counts valid actions only, and has no way back by which it would be noticed."""

    _done = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        self._done = 0
        return super().reset(seed=seed, options=options)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        self._done += action in self.valid_actions()
        return super().step(action)

    def inverse(self, action: str) -> list[str]:
        return []

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}|{self._done}"

    def snapshot(self) -> Any:
        return super().snapshot(), self._done

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self._done = snapshot[1]
        return super().restore(snapshot[0])


@caught_by("inverse", "does not invert", "'left'")
class InverseDoesNotInvertFurtherIn(Corridor):
    """Wrong only for a step that the first one makes possible."""

    def inverse(self, action: str) -> list[str]:
        return ["look"] if action == "left" else super().inverse(action)


@caught_by("inverse", "not valid after the step", "'extinguish lamp'")
class InverseIsNoAction(Corridor):
    def inverse(self, action: str) -> list[str]:
        return ["extinguish lamp"] if action == "light lamp" else super().inverse(action)


@caught_by("inverse", "no list of texts")
class InverseIsText(Corridor):
    def inverse(self, action: str) -> Any:
        return (super().inverse(action) or [""])[0]


@caught_by("parse-action", "KeyError", "ActionError")
class ParseActionRaisesKeyError(Corridor):
    def parse_action(self, text: str) -> str:
        return {command: command for command in COMMANDS}[text.strip()]


@caught_by("parse-action", "no right command", "error.example")
class ActionErrorWithoutExample(Corridor):
    def parse_action(self, text: str) -> str:
        try:
            return super().parse_action(text)
        except ActionError as error:
            raise ActionError(str(error)) from None


@caught_by("parse-action", "no sentence", "limit")
class ActionErrorEchoes(Corridor):
    def parse_action(self, text: str) -> str:
        if text.strip() not in COMMANDS:
            raise ActionError(f"{text!r} is no command.", "look")
        return text.strip()


@caught_by("parse-action", "changes a valid action", "valid_actions() lists")
class ParseActionShouts(Corridor):
    def parse_action(self, text: str) -> str:
        return super().parse_action(text.lower()).upper()


@caught_by("bad-actions", "UnicodeEncodeError", "step('\\ud800')")
class StepEncodesAction(Corridor):
    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if isinstance(action, str):
            action.encode()
        return super().step(action)


@caught_by("bad-actions", "step() raised ActionError", "Catch it in step")
class StepRefusesText(Corridor):
    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        return super().step(self.parse_action(action) if isinstance(action, str) else action)


@caught_by("bad-actions", "AttributeError", "TypeError", "step(None)")
class StepTakesAnything(Corridor):
    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        return super().step(action.strip())


# --- Spaces, return values, info --------------------------------------------------------------------------------------


@caught_by("observations", "no 'goal'")
class ObservationLacksGoal(Corridor):
    def _obs(self) -> Obs:
        return {"state": self._text}


@caught_by("observations", "'state' does not fit", "NoneType")
class ObservationIsNone(Corridor):
    def _obs(self) -> Obs:
        return {"goal": "Unlock the door.", "state": self._text if self._at != 1 else None}


@caught_by("observations", "60 are allowed", "max_text")
class ObservationTooLong(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.observation_space = observation_space(max_text=60)

    def describe(self) -> str:
        return super().describe()[: 60 + self._lamp]


@caught_by("observations", "outside of its alphabet", "AnyText")
class ObservationOutsideAlphabet(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.observation_space = spaces.Dict({"goal": AnyText(), "state": spaces.Text(2_000)})


@caught_by("observations", "'hint' is not declared")
class ObservationHasMore(Corridor):
    def _obs(self) -> Obs:
        return {**super()._obs(), "hint": "There is a key."}


@caught_by("observations", "changed by a later step", "screenshot")
class ObservationReused(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.observation_space = observation_space(screenshot=(2, 2))
        self._pixels = np.zeros((2, 2, 3), np.uint8)

    def _obs(self) -> Obs:
        self._pixels[:] = self._at
        return {**super()._obs(), "screenshot": self._pixels}


@caught_by("spaces", "no text 'goal'")
class SpaceLacksGoal(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.observation_space = spaces.Dict({"state": AnyText()})

    def _obs(self) -> Obs:
        return {"state": self._text}


@caught_by("spaces", "action space is no text", "Discrete")
class ActionsAreNumbers(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.action_space = spaces.Discrete(2)


@caught_by("sample", "does not contain")
class SampleOutside(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.action_space = Babble(MAX_TEXT, examples=COMMANDS)


class Babble(AnyText):
    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        return 7


@caught_by("info", "lacks 'source'")
class InfoLacksSource(Corridor):
    def _info(self) -> Info:
        info = super()._info()
        del info["source"]
        return info


@caught_by("info", "info['won'] is no bool")
class InfoWonIsNumber(Corridor):
    def _info(self) -> Info:
        return {**super()._info(), "won": int(self._won)}


@caught_by("info", "info['split'] is not the environment's", "'train'")
class InfoNamesOtherSplit(Corridor):
    def _info(self) -> Info:
        return {**super()._info(), "split": "test"}


@caught_by("api", "finite")
class RewardIsNaN(Corridor):
    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        obs, _, terminated, truncated, info = super().step(action)
        return obs, float("nan"), terminated, truncated, info


@caught_by("api", "reward is no finite number", "None (NoneType)")
class RewardIsNone(Corridor):
    def step(self, action: str) -> Any:
        obs, _, terminated, truncated, info = super().step(action)
        return obs, None, terminated, truncated, info


@caught_by("api", "there is no action_space", "AnyText")
class NoActionSpace(Corridor):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        del self.action_space


@caught_by("api", "reset returns something else", "a tuple (dict, dict, int)")
class ResetReturnsThree(Corridor):
    def reset(self, **kwargs: Any) -> Any:
        return *super().reset(**kwargs), 0


@caught_by("api", "terminated is no bool")
class TerminatedIsNumber(Corridor):
    def step(self, action: str) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, int(terminated), truncated, info


@caught_by("api", "a tuple (observation, reward, terminated, truncated, info)")
class StepReturnsFour(Corridor):
    def step(self, action: str) -> Any:
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, info


@caught_by("render", "wrong type", "a str", render_mode="ansi")
class RenderReturnsNumber(Corridor):
    def render(self) -> Any:
        return 7
