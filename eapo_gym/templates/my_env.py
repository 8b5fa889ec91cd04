"""MyEnv: a guest asks for a tea, and the tins stand in closed boxes.

Whoever remembers what was in the boxes finds the tin sooner: that is what makes it a game of exploration. Each promise
of the contract has a comment where it is kept. Change the game, and let the test tell which promise broke.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass, replace
from typing import Any

from eapo_gym import AgentEnv, AnyText
from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ActionError, UnknownName
from eapo_gym.schema import observation_space

TEAS = ("assam", "fennel", "mint", "sencha")
SPLITS = {"train": range(20), "valid": range(20, 25)}

EXAMPLES = ("look", "open box 1", "close box 1", "take from box 1", "put in box 1", "serve")
COMMAND = re.compile(r"look|serve|(?:open|close|take from|put in) box [1-4]")
INVERSES = {"open": "close", "close": "open", "take from": "put in", "put in": "take from"}


@dataclass(frozen=True)
class State:
    """All that an episode changes, in one value that nothing can change behind our back."""

    boxes: tuple[str | None, ...]
    open: tuple[int, ...] = ()
    hand: str | None = None
    served: str | None = None


class MyEnv(AgentEnv):
    # "copy": a snapshot is a value in memory. ("replay" and "device" are for engines that cannot be copied.)
    snapshot_kind = "copy"
    # Tasks that we made up are "embedded"; "official" is kept for a benchmark's own data.
    source = "embedded"
    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(self, split: str = "train", render_mode: str | None = None) -> None:
        if split not in SPLITS:
            raise UnknownName.of("split", split, SPLITS)
        self.split = split
        self.render_mode = render_mode
        # Observations have at least `goal` and `state`; actions are text, with examples for action_space.sample().
        self.observation_space = observation_space(max_text=2_000)
        self.action_space = AnyText(examples=EXAMPLES)
        self._state = State(TEAS)
        self._text = ""

    def tasks(self, split: str | None = None) -> list[str]:
        # The same ids in the same order, whenever they are asked for.
        split = split or self.split
        return [f"{split}/{tea}-{number}" for number in SPLITS[split] for tea in TEAS]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        # The seed alone decides: super() seeds self.np_random, and choose_task draws from it or takes options["task"].
        super().reset(seed=seed)
        self.task = self.choose_task(options)
        # Everything that an episode changes is set anew. The task id decides where the tins are.
        self._state = State(tuple(random.Random(self.task).sample(TEAS, len(TEAS))))
        self._text = self.describe()
        return self._observation(), self._info()

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        # Any text is answered by an observation, however odd it is; only what is no text at all is an error.
        if not isinstance(action, str):
            raise TypeError(f"expected a command (str), got {type(action).__name__}")
        valid = action in self.valid_actions()
        if valid:
            self._state = self._after(action)
            self._text = self.describe()
        else:
            # An action that is not valid leaves the state as it is.
            self._text = "That does not work here."
        # A bool for the end of the episode, False for the step limit: that is TimeLimit's business.
        ended = self._state.served is not None
        # `invalid_action` may be left out; where it is reported, it must be right.
        return self._observation(), float(self._won), ended, False, {**self._info(), "invalid_action": not valid}

    def _after(self, action: str) -> State:
        state = self._state
        verb, _, number = action.partition(" box ")
        box = int(number or 0) - 1
        if verb == "open":
            return replace(state, open=tuple(sorted({*state.open, box})))
        if verb == "close":
            return replace(state, open=tuple(other for other in state.open if other != box))
        if verb == "take from":
            return replace(state, boxes=_with(state.boxes, box, None), hand=state.boxes[box])
        if verb == "put in":
            return replace(state, boxes=_with(state.boxes, box, state.hand), hand=None)
        if verb == "serve":
            return replace(state, served=state.hand)
        return state  # look

    def valid_actions(self) -> list[str]:
        # A new list of all that does something here, in the words that step takes.
        state = self._state
        actions = ["look"] if state.hand is None else ["look", "serve"]
        for box, tea in enumerate(state.boxes):
            actions.append(f"close box {box + 1}" if box in state.open else f"open box {box + 1}")
            if box in state.open and state.hand is None and tea is not None:
                actions.append(f"take from box {box + 1}")
            if box in state.open and state.hand is not None and tea is None:
                actions.append(f"put in box {box + 1}")
        return actions

    def parse_action(self, text: str) -> str:
        # Be lenient in what is understood; the answer is the one form that valid_actions lists, or an ActionError
        # that says what is wrong (never the whole text, which may be a megabyte) and shows a command that is right.
        command = " ".join(text.lower().split())
        if not COMMAND.fullmatch(command):
            raise ActionError(f"{text!r:.80} is no command: expected one like {', '.join(EXAMPLES)}.", EXAMPLES[1])
        return command

    def inverse(self, action: str) -> list[str]:
        # What would undo the action, asked before it is taken. Serving cannot be undone, and looking need not be.
        verb, _, number = action.partition(" box ")
        if verb not in INVERSES or action not in self.valid_actions():
            return []
        return [f"{INVERSES[verb]} box {number}"]

    def fingerprint(self) -> str:
        # Equal if and only if the state is: the task and the state, no step count, no clock, no last text. Text through
        # hashlib, since hash() and the order of a set change from process to process.
        return hashlib.sha256(f"{self.task}|{self._state}".encode()).hexdigest()[:16]

    def snapshot(self) -> Any:
        # All that restore needs, and nothing that a later step changes: State is frozen, the others are text.
        return self.task, self._state, self._text

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        # Set first, look then: the observation is that of the restored state.
        self.task, self._state, self._text = snapshot
        return self._observation(), self._info()

    def describe(self) -> str:
        # A sentence or two about the state alone: this is what a memory keeps of it.
        state = self._state
        boxes = []
        for box, tea in enumerate(state.boxes):
            inside = f"holds {tea}" if tea else "is empty"
            boxes.append(f"box {box + 1} {inside if box in state.open else 'is closed'}")
        hand = f"You hold the {state.hand}." if state.hand else "Your hands are free."
        return f"On the shelf, {', '.join(boxes)}. {hand}"

    def render(self) -> str | None:
        return self._text if self.render_mode == "ansi" else None

    @property
    def _wanted(self) -> str:
        return self.task.split("/")[1].split("-")[0]

    @property
    def _won(self) -> bool:
        return self._state.served == self._wanted

    def _observation(self) -> Obs:
        # A new dict every time: learners keep what they are given.
        return {"goal": f"A guest asks for {self._wanted}. Find the tin and serve it.", "state": self._text}

    def _info(self) -> Info:
        # Every result says what it is a result of.
        return {"task": self.task, "source": self.source, "split": self.split, "won": self._won}


def _with(boxes: tuple[str | None, ...], number: int, tea: str | None) -> tuple[str | None, ...]:
    return (*boxes[:number], tea, *boxes[number + 1 :])
