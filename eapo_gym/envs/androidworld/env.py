"""`AndroidWorldEnv`: the benchmark's tasks on the embedded phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from eapo_gym.envs.androidworld.actions import EXAMPLES, Action, parse_action
from eapo_gym.envs.androidworld.elements import Element, as_text
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.identity import fingerprint
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.phone.state import State
from eapo_gym.envs.androidworld.phone.windows import HEIGHT, WIDTH
from eapo_gym.envs.androidworld.tasks import supported
from eapo_gym.envs.androidworld.tasks.base import Params, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger
from eapo_gym.envs.androidworld.tasks.guide import Guide
from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.envs.dice import Dice
from eapo_gym.errors import ActionError, ContractError, SnapshotError, UnknownName
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space

Mode = Literal["both", "elements", "screenshot"]
MODES = ("both", "elements", "screenshot")

SPLITS: Mapping[str, int] = {"train": 30, "valid": 3, "test": 5}
"""How many episodes of each task a split has."""

STEPS_PER_COMPLEXITY = 10
_MOST_DESCRIBED = 480
"""Characters."""

_A_MOMENT = 61.7
"""Seconds after which every clock shows another time."""

_LAYOUTS = 1_000_000


class LayoutDice(Dice):
    """Which layout an episode has."""

    __slots__ = ()

    version = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment of an episode."""

    task: str
    state: State
    answer: str
    ended: bool


class AndroidWorldEnv(AgentEnv):
    """AndroidWorld's tasks on a phone in memory: nothing has to be installed, and every screen can be put back.

    Args:
        split: "train", "valid" or "test". They differ in parameters and layouts, not in the tasks.
        tasks: play only these tasks: names of the benchmark such as "MarkorCreateNote".
        episodes: so many episodes of each task, instead of the split's number.
        observation_mode: "both", "elements" (text alone, and many times faster) or "screenshot".
        layouts: "varied" (menus and places differ from episode to episode) or "usual".
        render_mode: "ansi" or "rgb_array".
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    engine = "phone"
    quick = False

    def __init__(
        self,
        split: str = "train",
        tasks: Sequence[str] | None = None,
        episodes: int | None = None,
        observation_mode: Mode = "both",
        layouts: Literal["varied", "usual"] = "varied",
        render_mode: str | None = None,
    ) -> None:
        for name, value, known in (
            ("split", split, tuple(SPLITS)),
            ("observation_mode", observation_mode, MODES),
            ("layouts", layouts, ("varied", "usual")),
        ):
            if value not in known:
                raise UnknownName.of(name, value, known)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownName.of("render_mode", render_mode, self.metadata["render_modes"])
        if episodes is not None and episodes < 1:
            raise ValueError(f"episodes: expected 1 or more of each task, got {episodes}.")
        self.split = split
        self.observation_mode = observation_mode
        self.layouts = layouts
        self.episodes = episodes
        self.render_mode = render_mode
        self._names = _known(tasks)
        self.observation_space = observation_space(
            screenshot=(HEIGHT, WIDTH) if observation_mode != "elements" else None,
            elements=observation_mode != "screenshot",
        )
        self.action_space = AnyText(MAX_TEXT, examples=EXAMPLES)
        self._hands: Hands | None = None
        self._task: Task | None = None
        self._params: Params = {}
        self._guide: Guide | None = None
        self._answer = ""
        self._ended = False

    @property
    def phone(self) -> Phone:
        return self.hands.phone

    @property
    def hands(self) -> Hands:
        if self._hands is None:
            raise ContractError("No task has begun yet: call reset() first.")
        return self._hands

    @property
    def most_steps(self) -> int:
        """The budget of the longest of the tasks."""
        return max(_budget(supported()[name]) for name in self._names)

    def tasks(self, split: str | None = None) -> list[str]:
        split = split or self.split
        if split not in SPLITS:
            raise UnknownName.of("split", split, tuple(SPLITS))
        # Task by task within a number, so that the first ids are of many tasks.
        return [f"{split}/{name}/{n}" for n in range(self.episodes or SPLITS[split]) for name in self._names]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed)
        self._enter(self.choose_task(options))
        assert self._task is not None
        self._answer, self._ended = "", False
        return self._observation(""), self._info(valid=True)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"expected an action (str) such as {EXAMPLES[0]}, got {type(action).__name__}")
        before = self.phone.state
        notice, reward, won = "", 0.0, False
        if self._guide is not None:
            self._guide.follow(action)
        try:
            parsed = parse_action(action)
            if parsed.action_type == "status":
                self._ended = True
                reward = self._judged(parsed)
                won = reward >= 1.0
            elif parsed.action_type == "answer":
                self._answer = parsed.text or ""
            else:
                self.hands.act(parsed)
        except ActionError as error:
            notice = str(error)
        valid = not notice and (self._ended or parsed.action_type == "answer" or self._changed(before))
        return self._observation(notice), reward, self._ended, False, self._info(valid=valid, won=won)

    # The contract

    def fingerprint(self) -> str:
        return self._mark(self.phone.state)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.task, self.phone.state, self._answer, self._ended)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"expected a snapshot of an AndroidWorld environment, got {type(snapshot).__name__}")
        if snapshot.task != self.task or self._hands is None:
            self._enter(snapshot.task)
        self.phone.state = snapshot.state
        self._answer, self._ended = snapshot.answer, snapshot.ended
        self._guide = None
        return self._observation(""), self._info(valid=True)

    def valid_actions(self) -> list[str] | None:
        """What can be written into a field, or touched between two elements, has no end."""
        return None

    def parse_action(self, text: str) -> str:
        return parse_action(text).command()

    def inverse(self, action: str) -> list[str]:
        """Of the ways that may lead back, those that do: they are tried on a copy of the phone."""
        phone, state = self.phone, self.phone.state
        mark = self._mark(state)
        try:
            taken = parse_action(action)
            if taken.action_type in ("status", "answer"):
                return []
            self.hands.act(taken)
            after = phone.state
            if self._mark(after) == mark:
                return []
            return [way.command() for way in _ways_back(taken) if self._leads(after, way, mark)]
        except ActionError:
            return []
        finally:
            phone.state = state

    def _leads(self, after: State, way: Action, mark: str) -> bool:
        self.phone.state = after
        try:
            self.hands.act(way)
        except ActionError:
            return False
        return self._mark(self.phone.state) == mark

    def describe(self) -> str:
        """Which app is in front, and what stands on its screen; clocks that run are left out."""
        state = self.phone.state
        now = self._said()
        self.phone.state = replace(state, now=state.now + _A_MOMENT)
        later = set(self._said())
        self.phone.state = state
        return f"{self._where()}: {'; '.join(text for text in now if text in later)[:_MOST_DESCRIBED]}"

    def _said(self) -> list[str]:
        """The texts of the app in front, each of them once."""
        package = self.phone.state.front.package
        said = [" ".join((each.text or each.desc).split()) for each in self._elements() if each.package == package]
        return list(dict.fromkeys(filter(None, said)))

    def render(self) -> Any:
        if self.render_mode == "rgb_array":
            return self.hands.pixels()
        return f"{self._where()}\n{as_text(self._elements())}" if self.render_mode == "ansi" else None

    def oracle(self) -> str | None:
        """The next action of the task's plan, which begins with the episode."""
        if self._guide is None:
            raise ContractError(
                "The oracle follows a plan that begins with the episode: call reset() first (a snapshot has no plan)."
            )
        return self._guide.next()

    # Its parts

    def _enter(self, task_id: str) -> None:
        split, name, number = task_id.split("/")
        layout = 0 if self.layouts == "usual" else LayoutDice(split, name, number).between(1, _LAYOUTS)
        self._hands = Hands(new_phone(layout))
        self.task = task_id
        self._task = supported()[name]
        params = self._task.draw(TaskDice(split, name, number))
        self._task.prepare(self.phone, params)
        self._params = self._task.begun(self.phone, params)
        self._guide = Guide(self._task.plan(Finger(self._elements), self._params))

    def _judged(self, action: Action) -> float:
        assert self._task is not None
        if action.goal_status != "complete":
            return 0.0
        return self._task.judge(self.phone, self._params, self._answer)

    def _changed(self, before: State) -> bool:
        return self._mark(before) != self.fingerprint()

    def _mark(self, state: State) -> str:
        return fingerprint(state, self.task, self._answer, str(self._ended))

    def _elements(self) -> list[Element]:
        return self.hands.elements()

    def _where(self) -> str:
        front = self.phone.state.front
        return f"{self.phone.apps[front.package].label} ({front.component})"

    def _observation(self, notice: str) -> Obs:
        assert self._task is not None
        state = f"In front: {self._where()}"
        if self._answer:
            state += f"\nYour answer: {self._answer}"
        if notice:
            state += f"\n{notice}"
        obs: Obs = {"goal": self._task.goal(self._params), "state": state}
        if self.observation_mode != "elements":
            obs["screenshot"] = self.hands.pixels()
        if self.observation_mode != "screenshot":
            obs["elements"] = as_text(self._elements())
        return obs

    def _info(self, *, valid: bool, won: bool = False) -> Info:
        assert self._task is not None
        return {
            "task": self.task,
            "task_type": self._task.name(),
            "difficulty": self._task.difficulty,
            "source": self.source,
            "split": self.split,
            "engine": self.engine,
            "won": won,
            "invalid_action": not valid,
            "max_steps": _budget(self._task),
            "foreground": self.phone.state.front.component,
            "elements": [each.info() for each in self._elements()],
        }


def _known(tasks: Sequence[str] | None) -> list[str]:
    """The names of the tasks that are played."""
    if tasks is None:
        return sorted(supported())
    for name in tasks:
        if name not in supported():
            raise UnknownName.of("task of the embedded phone", name, sorted(supported()))
    return list(dict.fromkeys(tasks))


def _budget(task: Task) -> int:
    return round(STEPS_PER_COMPLEXITY * task.complexity)


def _ways_back(taken: Action) -> list[Action]:
    opposite = {"down": "up", "up": "down", "left": "right", "right": "left"}
    ways = [Action("navigate_back")]
    if taken.action_type == "click":
        ways.append(taken)
    if taken.action_type in ("scroll", "swipe") and taken.direction is not None:
        ways.insert(0, Action(taken.action_type, direction=opposite[taken.direction], index=taken.index))
    if taken.action_type == "open_app":
        ways.append(Action("navigate_home"))
    return ways
