"""`AndroidDeviceEnv`: the benchmark's own tasks on a device, in the interpreter that has `android_world`."""

from __future__ import annotations

import copy
import itertools
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from eapo_gym.envs.androidworld.actions import EXAMPLES, Action, parse_action
from eapo_gym.envs.androidworld.device import suite
from eapo_gym.envs.androidworld.device.connection import Connection, connection_to
from eapo_gym.envs.androidworld.device.identity import LIST_SETTINGS, fingerprint, said, settings_in
from eapo_gym.envs.androidworld.device.screen import Look, Patience, Screen
from eapo_gym.envs.androidworld.device.touch import Touch
from eapo_gym.envs.androidworld.elements import as_text
from eapo_gym.envs.base import AgentEnv, Info, Obs, SnapshotKind
from eapo_gym.errors import ActionError, ContractError, EapoError, HostingError, SnapshotError, UnknownName
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space

MODES = ("both", "elements", "screenshot")

_MOST_DESCRIBED = 480
"""Characters."""

_SNAPSHOT_NAME = "eapo-gym-{}"


class Snapshot:
    """A moment of an episode, kept by the device itself under a name; beside it the task, which has a memory too."""

    def __init__(self, name: str, task: Any, task_id: str, answer: str, ended: bool) -> None:
        self.name = name
        self.task = task
        self.task_id = task_id
        self.answer = answer
        self.ended = ended


class AndroidDeviceEnv(AgentEnv):
    """AndroidWorld's 116 tasks on a device: set up, judged and cleared away by the benchmark's own code.

    Args:
        device: a connection, or what `connection_to` makes one of: {"kind": "emulator", "console_port": 5554, …}.
        split: "test" (the benchmark's own parameters), "valid" or "train" (those of other seeds).
        tasks: play only these tasks, by the benchmark's names.
        episodes: so many episodes of each task, instead of the split's number.
        observation_mode: "both", "elements" or "screenshot".
        render_mode: "ansi" or "rgb_array".
        patience: how long a screen is waited for, in seconds: quiet, moving, limit, poll (see `Patience`).
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    source = "official"
    engine = "device"
    snapshot_kind: SnapshotKind = "device"  # type: ignore[misc]

    def __init__(
        self,
        device: Connection | Mapping[str, Any] | None = None,
        split: str = "test",
        tasks: Sequence[str] | None = None,
        episodes: int | None = None,
        observation_mode: str = "both",
        render_mode: str | None = None,
        patience: Mapping[str, float] | None = None,
    ) -> None:
        for name, value, known in (
            ("split", split, tuple(suite.SUITE_SEEDS)),
            ("observation_mode", observation_mode, MODES),
            ("render_mode", render_mode, (None, *self.metadata["render_modes"])),
        ):
            if value not in known:
                raise UnknownName.of(name, value, [str(each) for each in known])
        if episodes is not None and episodes < 1:
            raise ValueError(f"episodes: expected 1 or more of each task, got {episodes}.")
        _say_less()
        self.split = split
        self.observation_mode = observation_mode
        self.episodes = episodes
        self.render_mode = render_mode
        self._names = suite.names(tasks)
        self.connection = device if isinstance(device, Connection) else connection_to(**(device or {}))
        self._screen = Screen(self.connection, Patience(**(patience or {})))
        self._touch = Touch(self._screen)
        self._broken = False
        with self._device("the connection"):
            self.connection.open()
            height, width = self.connection.pixels().shape[:2]
        self._size = height, width
        self.observation_space = observation_space(
            screenshot=self._size if observation_mode != "elements" else None,
            elements=observation_mode != "screenshot",
        )
        self.action_space = AnyText(MAX_TEXT, examples=EXAMPLES)
        self._task: Any = None
        self._look: Look | None = None
        self._mark: str | None = None  # the fingerprint of that look, once it was asked for
        self._answer = ""
        self._ended = False
        self._numbers = itertools.count()
        self._unused: list[str] = []  # names of snapshots that nobody holds any more

    def most_steps(self) -> int:
        """The budget of the longest of the tasks."""
        return suite.longest_budget(self._names)

    def tasks(self, split: str | None = None) -> list[str]:
        split = split or self.split
        if split not in suite.SUITE_SEEDS:
            raise UnknownName.of("split", split, tuple(suite.SUITE_SEEDS))
        count = self.episodes or suite.EPISODES[split]
        # Task by task within a number, so that the first ids are of many tasks.
        return [f"{split}/{name}/{number}" for number in range(count) for name in self._names]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed)
        task_id = self.choose_task(options)
        self._clear_away()
        if self._broken:
            self._bring_back()
        self._begin(task_id)
        return self._observation(""), self._info(valid=True)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"expected an action (str) such as {EXAMPLES[0]}, got {type(action).__name__}")
        self._refuse_without_episode("step")
        before = self.fingerprint()
        notice, reward = "", 0.0
        try:
            parsed = parse_action(action)
            if parsed.action_type == "status":
                self._ended = True
                reward = self._judged(parsed)
            elif parsed.action_type == "answer":
                self._answer = parsed.text or ""
            else:
                self._act(parsed)
        except ActionError as error:
            notice = str(error)
        self._mark = None
        valid = not notice and self.fingerprint() != before
        return self._observation(notice), reward, self._ended, False, self._info(valid=valid, won=reward >= 1.0)

    def close(self) -> None:
        with suppress(EapoError):
            self._clear_away()
        self.connection.close()
        super().close()

    # The contract

    def fingerprint(self) -> str:
        if self._mark is None:
            with self._device("its settings"):
                settings = settings_in(self._screen.adb(LIST_SETTINGS))
            self._mark = fingerprint(self._seen(), settings, self.task, self._answer, str(self._ended))
        return self._mark

    def snapshot(self) -> Snapshot:
        self._refuse_without_episode("snapshot")
        # One that nobody can go back to any more is written over: they take gigabytes on a device.
        name = self._unused.pop() if self._unused else _SNAPSHOT_NAME.format(next(self._numbers))
        self._save(name)
        taken = Snapshot(name, copy.deepcopy(self._task), self.task, self._answer, self._ended)
        weakref.finalize(taken, self._unused.append, name)
        return taken

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"expected a snapshot of a device environment, got {type(snapshot).__name__}")
        self._load(snapshot.name)
        self._task, self.task = copy.deepcopy(snapshot.task), snapshot.task_id
        self._answer, self._ended = snapshot.answer, snapshot.ended
        self._broken = False
        self._look_again()
        return self._observation(""), self._info(valid=True)

    def valid_actions(self) -> list[str] | None:
        """What can be written into a field, or touched between two elements, has no end."""
        return None

    def parse_action(self, text: str) -> str:
        return parse_action(text).command()

    def inverse(self, action: str) -> list[str]:
        """What may lead back, best first; on a device nothing can be tried beforehand."""
        try:
            taken = parse_action(action)
        except ActionError:
            return []
        return [way.command() for way in self._ways_back(taken)]

    def describe(self) -> str:
        """Which app is in front, and what stands on its screen."""
        look = self._seen()
        package = look.foreground.partition("/")[0]
        texts = said(each for each in look.elements if each.package == package)
        return f"{look.foreground}: {'; '.join(texts)[:_MOST_DESCRIBED]}"

    def render(self) -> Any:
        look = self._seen()
        if self.render_mode == "rgb_array":
            return _of_size(look.pixels, self._size)
        return f"{look.foreground}\n{as_text(look.elements)}" if self.render_mode == "ansi" else None

    # The episode

    def _begin(self, task_id: str) -> None:
        split, name, number = task_id.split("/")
        with self._device(f"setting up {name}"):
            env = self.connection.env
            self._task = suite.new_task(env, split, name, int(number))
            with self.connection.pauses():
                self._task.initialize_task(env)
                env.reset(go_home=self._task.start_on_home_screen)
                env.hide_automation_ui()
        self.task, self._answer, self._ended = task_id, "", False
        self._look_again()

    def _clear_away(self) -> None:
        """End the episode before; what goes wrong there is mended before the next one begins."""
        task, self._task, self._look = self._task, None, None
        if task is None or not task.initialized or self._broken:
            return
        with suppress(HostingError), self._device("clearing away the task"), self.connection.pauses():
            task.tear_down(self.connection.env)

    def _bring_back(self) -> None:
        with self._device("bringing it back"):
            self.connection.restart()
        self._broken = False

    def _act(self, action: Action) -> None:
        with self._device(action.action_type):
            try:
                self._touch.act(action, self._seen())
            except ActionError:
                raise
            except Exception as problem:
                # adb says no in the same way to a device that is gone and to one that refuses: only the latter answers.
                if not self._answers():
                    raise
                raise ActionError(f"The device refused it: {_in_short(problem)}", EXAMPLES[0]) from problem
        self._look_again()

    def _answers(self) -> bool:
        with suppress(Exception):
            return self._screen.adb("echo here").strip() == "here"
        return False

    def _judged(self, action: Action) -> float:
        if action.goal_status != "complete":
            return 0.0
        with self._device("judging"), self.connection.pauses():
            self.connection.env.interaction_cache = self._answer
            return float(self._task.is_successful(self.connection.env))

    def _look_again(self) -> None:
        with self._device("looking at it"):
            self._look = self._screen.settled()
        self._mark = None

    @contextmanager
    def _device(self, what: str) -> Iterator[None]:
        """Whatever goes wrong with the device is an infrastructure failure, and the device is brought back for it."""
        try:
            yield
        except EapoError as error:
            self._broken = self._broken or isinstance(error, HostingError)
            raise
        except ImportError:
            raise  # a package that is missing, which its host explains
        except Exception as problem:
            self._broken = True
            raise HostingError(
                f"{self.connection.name} failed over {what}: {_in_short(problem)} "
                "It is brought back before the next episode."
            ) from problem

    def _refuse_without_episode(self, call: str) -> None:
        if self._broken:
            raise HostingError(f"{call}: the episode ended when {self.connection.name} failed, call reset() first.")
        if self._look is None:
            raise ContractError(f"{call}: no task has begun yet, call reset() first.")

    # Snapshots

    def _save(self, name: str) -> None:
        from android_env.proto import state_pb2

        request = state_pb2.SaveStateRequest(args={"snapshot_name": name})
        response = self._asked_for_state("save_state", request)
        if response.status != state_pb2.SaveStateResponse.Status.OK:
            raise SnapshotError(
                f"{self.connection.name} could not save its state: {response.error_message or 'it gives no reason'}. "
                "An emulator needs an AVD of its own for it (no -read-only), and room on the disk."
            )

    def _load(self, name: str) -> None:
        from android_env.proto import state_pb2

        request = state_pb2.LoadStateRequest(args={"snapshot_name": name})
        response = self._asked_for_state("load_state", request)
        if response.status != state_pb2.LoadStateResponse.Status.OK:
            raise SnapshotError(
                f"{self.connection.name} could not go back to its saved state {name!r}: "
                f"{response.error_message or 'it has none of that name'}."
            )

    def _asked_for_state(self, call: str, request: Any) -> Any:
        try:
            with self._device(call):
                return getattr(self.connection.env.controller, call)(request)
        except HostingError as error:
            if not isinstance(error.__cause__, NotImplementedError):
                raise
            self._broken = False
            raise SnapshotError(
                f"{self.connection.name} cannot save its state: snapshots need an emulator, or the embedded phone."
            ) from error

    # What is seen

    def _seen(self) -> Look:
        if self._look is None:
            raise ContractError("No task has begun yet: call reset() first.")
        return self._look

    def _ways_back(self, taken: Action) -> list[Action]:
        kind = taken.action_type
        back = Action("navigate_back")
        if kind not in ("click", "double_tap", "long_press", "scroll", "swipe", "open_app"):
            return []
        if kind in ("scroll", "swipe") and taken.direction is not None:
            opposite = {"down": "up", "up": "down", "left": "right", "right": "left"}
            return [Action(kind, direction=opposite[taken.direction], index=taken.index)]
        if kind == "click" and taken.index is not None and taken.index < len(self._seen().elements):
            # A switch goes back by the same touch; whatever opens something, by the button.
            return [taken, back] if self._seen().elements[taken.index].checkable else [back]
        return [back, Action("navigate_home")] if kind == "open_app" else [back]

    def _observation(self, notice: str) -> Obs:
        look = self._seen()
        state = f"In front: {look.foreground}"
        if self._answer:
            state += f"\nYour answer: {self._answer}"
        if notice:
            state += f"\n{notice}"
        obs: Obs = {"goal": str(self._task.goal), "state": state}
        if self.observation_mode != "elements":
            obs["screenshot"] = _of_size(look.pixels, self._size)
        if self.observation_mode != "screenshot":
            obs["elements"] = as_text(look.elements)
        return obs

    def _info(self, *, valid: bool, won: bool = False) -> Info:
        name = self.task.split("/")[1]
        return {
            "task": self.task,
            "task_type": name,
            **suite.about(name),
            "source": self.source,
            "split": self.split,
            "engine": self.engine,
            "won": won,
            "invalid_action": not valid,
            "max_steps": suite.budget_of(self._task),
            "foreground": self._seen().foreground,
            "elements": [each.info() for each in self._seen().elements],
        }


def _of_size(pixels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A picture of the size that was promised: of a screen that is turned, its upper left part, at its own places."""
    height, width = size
    if pixels.shape[:2] == size:
        return np.ascontiguousarray(pixels)
    whole = np.zeros((height, width, 3), np.uint8)
    part = pixels[:height, :width]
    whole[: part.shape[0], : part.shape[1]] = part
    return whole


def _in_short(problem: BaseException) -> str:
    """The first line of what went wrong."""
    line = next(iter(str(problem).splitlines()), "")[:300]
    return f"{type(problem).__name__}: {line.rstrip('.')}." if line else f"{type(problem).__name__}."


def _say_less() -> None:
    """android-env logs every call and every picture."""
    import absl.logging

    absl.logging.set_verbosity(absl.logging.FATAL)
