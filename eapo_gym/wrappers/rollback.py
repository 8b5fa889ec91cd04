"""`Rollback`: one more command, which takes back the last step that changed something."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import gymnasium as gym

from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ActionError, UnknownName
from eapo_gym.json_action import parse_json_action
from eapo_gym.schema import MAX_TEXT, AnyText
from eapo_gym.wrappers.base import AnsweringWrapper, StepResult

COMMAND = "rollback"

RollbackMode = Literal["inverse", "restore"]


@dataclass(frozen=True, slots=True)
class _Change:
    """A step that changed the state, and what takes it back: `ways` is None as long as nobody has asked."""

    before: str
    action: str
    ways: tuple[str, ...] | None
    snapshot: Any


class Rollback(AnsweringWrapper, gym.utils.RecordConstructorArgs):
    """Adds the command `rollback`, which moves the environment back by one change; everything else goes on.

    With `mode="inverse"` it is one ordinary step of the environment, the best of the actions that `inverse` named
    before the change was made: what an agent has outside of a simulation too. `mode="restore"` puts a snapshot back,
    always holds, and is an oracle: `info["rollback_mode"]` says so with every step. It needs a snapshot before every
    change, which costs next to nothing for environments that copy, and seconds for those that save a device.

    Whether the state before was really reached is verified by its fingerprint; `info["rollback"]` has the outcome. A
    rollback that did not hold but changed something is a change like any other, to be taken back by the next one.
    """

    place = 1

    def __init__(self, env: gym.Env[Any, Any], mode: RollbackMode = "inverse") -> None:
        gym.utils.RecordConstructorArgs.__init__(self, mode=mode)
        AnsweringWrapper.__init__(self, env)
        if mode not in get_args(RollbackMode):
            raise UnknownName.of("rollback mode", mode, get_args(RollbackMode))
        self.mode = mode
        examples = getattr(env.action_space, "examples", ())
        self.action_space = AnyText(
            getattr(env.action_space, "max_length", MAX_TEXT), examples=(*examples, COMMAND) if examples else ()
        )
        # What undoes an action has to be asked in the state in which it is taken. Where a snapshot costs next to
        # nothing, that state can be looked up should a rollback come; elsewhere the question is asked at every step.
        self._ask_later = self.snapshot_kind == "copy"
        self._changes: list[_Change] = []
        self._fingerprint = ""
        self._snapshot: Any = None  # of the present state, where one was taken

    def parse_action(self, text: str) -> str:
        return COMMAND if _is_rollback(text) else self.inner.parse_action(text)

    def valid_actions(self) -> list[str] | None:
        actions = self.inner.valid_actions()
        return [*actions, COMMAND] if actions is not None and self._way_back() else actions

    def inverse(self, action: str) -> list[str]:
        if not _is_rollback(action):
            return self.inner.inverse(action)
        return [self._changes[-1].action] if self._way_back() else []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        # Before the reset: an environment in a process of its own is replaced only once nobody holds its snapshots.
        self._changes, self._snapshot = [], None
        obs, info = self.env.reset(seed=seed, options=options)
        return self.show(obs, info)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        """What led to the restored state is not known here, so there is nothing to take back from it."""
        self._changes = []
        return super().restore(snapshot)

    def show(self, obs: Obs, info: Info) -> tuple[Obs, Info]:
        self._snapshot = None
        self._fingerprint = self.inner.fingerprint()
        return super().show(obs, self._stamp(info))

    def branch_state(self) -> Any:
        return super().branch_state(), tuple(self._changes), self._snapshot

    def resume_state(self, state: Any, obs: Obs, info: Info) -> tuple[Obs, Info]:
        notice, changes, snapshot = state
        obs, info = super().resume_state(notice, obs, info)
        self._changes, self._snapshot = list(changes), snapshot
        return obs, self._stamp(info)

    def step(self, action: str) -> StepResult:
        if not isinstance(action, str):
            raise TypeError(f"expected a command (str), got {type(action).__name__}")
        if _is_rollback(action):
            return self._roll_back()
        result, change = self._take(action)
        if change is not None:
            self._changes.append(change)
        return result

    def _take(self, action: str) -> tuple[StepResult, _Change | None]:
        """Step the environment; the change that it made, if it made one."""
        before, snapshot = self._fingerprint, self._snapshot
        if snapshot is None and (self._ask_later or self.mode == "restore"):
            snapshot = self.inner.snapshot()
        ways = None if self._ask_later or self.mode == "restore" else tuple(self.inner.inverse(action))
        obs, reward, terminated, truncated, info = self.env.step(action)
        obs, info = self.show(obs, info)
        result = obs, float(reward), terminated, truncated, info
        if self._fingerprint == before:
            self._snapshot = snapshot
            return result, None
        return result, _Change(before, action, ways, snapshot)

    def _way_back(self) -> bool:
        return bool(self._changes) and (self.mode == "restore" or bool(self._ways()))

    def _ways(self) -> tuple[str, ...]:
        """The native actions that may take back the last change."""
        change = self._changes[-1]
        if change.ways is None:
            bare: Any = self.unwrapped
            here = bare.snapshot()
            bare.restore(change.snapshot)
            change = replace(change, ways=tuple(self.inner.inverse(change.action)))
            bare.restore(here)
            self._changes[-1] = change
        return change.ways or ()

    def _roll_back(self) -> StepResult:
        if not self._changes:
            return self._decline("nothing has changed that could be taken back")
        if not self._way_back():
            return self._decline(f"nothing takes back {self._changes[-1].action!r:.80}")
        return self._put_back() if self.mode == "restore" else self._undo()

    def _undo(self) -> StepResult:
        way, *others = self._ways()
        target = self._changes.pop()
        result, change = self._take(way)
        held = self._fingerprint == target.before
        if not held:
            # Still to be taken back, but not by the same action again.
            self._changes.append(replace(target, ways=tuple(others)))
            if change is not None:
                self._changes.append(change)
        return self._report(result, way, held, target.before, None if held else "the state is not the one before")

    def _put_back(self) -> StepResult:
        target = self._changes.pop()
        obs, info = super().restore(target.snapshot)
        self._snapshot = target.snapshot
        held = self._fingerprint == target.before
        result = obs, 0.0, False, self.count_step(), info
        return self._report(result, None, held, target.before, None if held else "the snapshot is of another state")

    def _decline(self, reason: str) -> StepResult:
        obs, reward, terminated, truncated, info = self.answer(f"The rollback did nothing: {reason}.")
        self._fingerprint = self.inner.fingerprint()
        return self._report((obs, reward, terminated, truncated, self._stamp(info)), None, False, None, reason)

    def _report(
        self, result: StepResult, action: str | None, held: bool, target: str | None, reason: str | None
    ) -> StepResult:
        result[-1]["rollback"] = {
            "mode": self.mode,
            "action": action,
            "held": held,
            "target": target,
            "reason": reason,
        }
        return result

    def _stamp(self, info: Info) -> Info:
        info["fingerprint"] = self._fingerprint
        info["rollback_mode"] = self.mode
        return info


def _is_rollback(text: str) -> bool:
    """The word alone, or, where actions are JSON, the object that says it."""
    if text == COMMAND:
        return True
    if len(text) > 80 or COMMAND not in text.lower():
        return False
    try:
        return text.strip().lower() == COMMAND or parse_json_action(text) == {"action_type": COMMAND}
    except ActionError:
        return False
