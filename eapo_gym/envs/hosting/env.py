"""`HostedEnv`: any `AgentEnv` in a process of its own, also under another Python interpreter.

    env = HostedEnv("my_package.env:MyEnv", {"split": "train"})
    env = HostedEnv("/somewhere/old.py:OldEnv", python="/somewhere/venv/bin/python", recycle_episodes=50)

It behaves as the environment itself would, episode for episode, and outlives what the environment does not: a hang, a
crash, a leak. A process that is lost in the middle of an episode ends that episode, as data, and nothing else.
"""

from __future__ import annotations

import copy
import os
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from numpy.random import Generator

import eapo_gym
from eapo_gym.envs.base import AgentEnv, Info, Obs, SnapshotKind
from eapo_gym.envs.hosting import codec
from eapo_gym.envs.hosting.client import Client
from eapo_gym.envs.hosting.generators import Loan
from eapo_gym.envs.hosting.process import Fault, TenantProcess, Transport
from eapo_gym.envs.hosting.snapshots import Drawer, HandleSnapshot, ValueSnapshot
from eapo_gym.envs.hosting.spaces import space_from
from eapo_gym.errors import HostingError, SnapshotError, UnknownName
from eapo_gym.schema import AnyText, observation_space

CALLS = (
    *("reset", "step", "render", "close", "tasks", "fingerprint", "snapshot", "restore"),
    *("describe", "valid_actions", "parse_action", "inverse"),
)
"""The names that `timeouts` may speak of."""

LABELS = ("task", "source", "split")

_CLOSING = 5.0
"""Seconds that an environment has to close itself, unless `timeouts` says otherwise."""

_LEAVING = 2.0
"""Seconds that its process has to go once that is done."""


class HostedEnv(AgentEnv):
    """The environment that `target` builds, in a child process.

    Like any Gymnasium environment it is for one thread at a time; many of them in many threads are fine.

    Args:
        target: "module:Class" or "/folder/file.py:Class"; any callable that returns an environment will do, so
            "gymnasium:make" with `kwargs={"id": …}` hosts a registered id. The environment may be any object with the
            methods of the contract: eapo_gym and Gymnasium need not be installed where it runs.
        kwargs: what the target is called with; plain data.
        python: another interpreter. Without one, the child finds every module that this process finds.
        path: folders that the child can import from besides its own.
        env: environment variables to add to those of this process, or (None) to take away. Unless set here,
            PYTHONHASHSEED is the child's own, at random.
        timeout: seconds that a call may take, None for ever; `timeouts` gives single calls their own.
        start_timeout: seconds until the child has imported and built the environment.
        retries: fresh processes that `reset` tries after the first one failed.
        recycle_episodes: play so many episodes in one process, then the next in a new one.
        recycle_bytes: the same, once a process holds more resident memory than this.
        render_mode: goes into `kwargs`, since `gymnasium.make` has it as an argument of its own.
    """

    def __init__(
        self,
        target: str,
        kwargs: Mapping[str, Any] | None = None,
        *,
        python: str | os.PathLike[str] | None = None,
        path: Sequence[str | os.PathLike[str]] = (),
        env: Mapping[str, str | None] | None = None,
        timeout: float | None = 60.0,
        timeouts: Mapping[str, float | None] | None = None,
        start_timeout: float | None = 120.0,
        retries: int = 3,
        recycle_episodes: int | None = None,
        recycle_bytes: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.target = _checked_target(target)
        self.kwargs = {**(kwargs or {}), **({} if render_mode is None else {"render_mode": render_mode})}
        self.python = None if python is None else os.fspath(python)
        self.path = [os.path.abspath(folder) for folder in path]
        self.variables = dict(env or {})
        self.timeout = timeout
        self.timeouts = dict(timeouts or {})
        for name in self.timeouts:
            if name not in CALLS:
                raise UnknownName.of("call in timeouts", name, CALLS)
        for name, limit in {"recycle_episodes": recycle_episodes, "recycle_bytes": recycle_bytes}.items():
            if limit is not None and limit < 1:
                raise ValueError(f"{name}: expected a positive number or None, got {limit}")
        if retries < 0:
            raise ValueError(f"retries: expected 0 or more, got {retries}")
        self.start_timeout = start_timeout
        self.retries = retries
        self.recycle_episodes = recycle_episodes
        self.recycle_bytes = recycle_bytes

        self.restarts: Counter[str] = Counter()
        """How often a process was given up, by cause: timeout, died, protocol, interrupted, recycled."""
        self.episodes = 0
        """Episodes begun since this environment was made, over all of its processes."""

        self.tenant: dict[str, Any] = {}
        """The present process: its pid, and the versions it runs on (None for what it has not imported)."""

        self._client: Client | None = None
        self._transport: Transport | None = None
        self._aborted = False
        self._closed = False
        self._failure: Fault | None = None  # what ended the episode, until another one begins
        self._played = 0  # episodes begun in the present process
        self._drawer = Drawer()  # the snapshots that live in the present process
        self._last_reply: bytes | bytearray = b""  # decoded again, it is a fresh copy of the last observation
        self._known: dict[str, Any] = {}  # answers about the present state, for when its process is lost
        self._known_before: dict[str, Any] = {}  # and about the states before
        self._unreported = False  # the process was lost between two steps, and the next one has to say so
        self._generator: dict[str, Any] | None = None  # state of the tenant's, as last heard of
        self._loan: Loan | None = None  # a copy of it that was handed out since the last call
        try:
            built = self._start()
        except Fault as fault:
            raise HostingError(f"{self.target} could not be started: {fault}") from fault
        except codec.CodecError as error:
            raise TypeError(f"{self.target} could not be started: {error}") from error
        if built["eapo_gym"] not in (None, eapo_gym.__version__):
            _warn(
                f"{self!r} runs on eapo-gym {built['eapo_gym']}, this process on {eapo_gym.__version__}: "
                "they understand each other, but the environment may be another than here."
            )
        default = observation_space()
        self.observation_space = space_from(built["observation_space"]) if built["observation_space"] else default
        self.action_space = space_from(built["action_space"]) if built["action_space"] else AnyText()
        self.metadata = built["metadata"] or dict(AgentEnv.metadata)
        self.render_mode = built["render_mode"]
        self._snapshot_kind: SnapshotKind = built["snapshot_kind"] or "copy"
        self._has_generator: bool = built["has_generator"]

    @property
    def snapshot_kind(self) -> SnapshotKind:  # type: ignore[override]  # the tenant's class variable
        return self._snapshot_kind

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        self._refuse_if_closed("reset")
        self._recycle_if_due()
        for attempt in range(self.retries + 1):
            try:
                obs, info, self._generator = self._ask("reset", seed=seed, options=options)
                break
            except Fault as fault:
                if attempt == self.retries or self._aborted:
                    raise HostingError(
                        f"reset of {self.target} failed in {attempt + 1} processes, the last time so: {fault}"
                    ) from fault
        self.episodes += 1
        self._played += 1
        if not self._has_generator and seed is not None:
            self._loan = Loan.fresh(seed)
        self._episode_goes_on(info)
        return obs, info

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if self._unreported:
            assert self._failure is not None
            self._unreported = False
            return self._ended_by(self._failure)
        self._refuse_without_episode("step")
        try:
            obs, reward, terminated, truncated, info = self._ask("step", action=action)
        except Fault as fault:
            return self._ended_by(fault)
        self._episode_goes_on(info)
        return obs, reward, terminated, truncated, info

    def snapshot(self) -> ValueSnapshot | HandleSnapshot:
        """Of plain data: outlives the process, can be restored in any hosted environment of this target. Otherwise it
        lives in the present process, which is not recycled as long as anybody holds it."""
        gone = {"handle": -1}  # of a process that is lost: it cannot be restored, and says so
        answer = self._asked_between_steps(gone, "snapshot")
        if "value" in answer:
            return ValueSnapshot(self.target, answer["value"])
        return HandleSnapshot(self.target, answer["handle"], self._drawer)

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self._refuse_if_closed("restore")
        if not isinstance(snapshot, ValueSnapshot | HandleSnapshot) or snapshot.target != self.target:
            raise SnapshotError(f"restore: expected a snapshot of a hosted {self.target}, got {snapshot!r:.80}.")
        if isinstance(snapshot, ValueSnapshot):
            obs, info = self._ask_or_raise("restore", value=snapshot.value)
        elif snapshot.drawer is self._drawer:
            obs, info = self._ask_or_raise("restore", handle=snapshot.handle)
        else:
            raise SnapshotError(
                "This snapshot stayed in a process that is gone, or in that of another environment: only snapshots of "
                f"plain data outlive their process. Processes given up so far: {dict(self.restarts) or 'none'}."
            )
        self._episode_goes_on(info)
        return obs, info

    def fingerprint(self) -> str:
        answer: str = self._answer("fingerprint")
        return answer

    def describe(self) -> str:
        answer: str = self._answer("describe")
        return answer

    def valid_actions(self) -> list[str] | None:
        answer: list[str] | None = self._answer("valid_actions")
        return answer

    def parse_action(self, text: str) -> str:
        command: str = self._asked_between_steps(text.strip(), "call", name="parse_action", args=[text], kwargs={})
        return command

    def inverse(self, action: str) -> list[str]:
        actions: list[str] = self._asked_between_steps([], "call", name="inverse", args=[action], kwargs={})
        return actions

    def render(self) -> Any:
        return self.call("render")

    def tasks(self, split: str | None = None) -> list[str]:
        """Speaks of no episode, so it may be asked when one has failed."""
        self._refuse_if_closed("tasks")
        ids: list[str] = self._ask_or_raise("call", name="tasks", args=[split], kwargs={})
        return ids

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call any public method of the hosted environment, also one that is not in the contract."""
        self._refuse_without_episode(name)
        return self._ask_or_raise("call", name=name, args=list(args), kwargs=kwargs)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._loan = None
            self._retire()

    def abort(self) -> None:
        """End the process at once, whatever it is doing; for another thread than the one that waits for it, whose call
        fails. No other process is started: all that is left to do is to close."""
        self._aborted = True
        transport = self._transport
        pid = getattr(transport, "pid", None)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    @property
    def output(self) -> str:
        """The last of what the present process printed."""
        return self._client.transport.output if self._client else ""

    @property
    def np_random(self) -> Generator:
        """A copy of the tenant's generator: what is done to it before the next call is done to the tenant's own."""
        return self._borrowed().generator

    @np_random.setter
    def np_random(self, value: Generator) -> None:
        self._loan = Loan(value, seed=-1)

    @property
    def np_random_seed(self) -> int:
        return self._borrowed().seed

    @property
    def _np_random(self) -> Generator:  # type: ignore[override]  # Gymnasium's env_checker reads it
        return self.np_random

    def __repr__(self) -> str:
        return f"<HostedEnv {self.target}>"

    __str__ = __repr__

    # The process: started, asked, lost, replaced.

    def _connect(self) -> Transport:
        """The one place that knows where the tenant runs."""
        return TenantProcess(self.python, self.variables)

    def _start(self) -> dict[str, Any]:
        # The same interpreter finds what this process finds, however that came to be on its path.
        path = self.path if self.python else [*self.path, *map(os.path.abspath, sys.path)]
        self._refuse_if_aborted()
        client = Client(self._connect())
        self._transport = client.transport
        try:
            self._refuse_if_aborted()  # again, now that it is there to be ended
            built = client.build(self.start_timeout, self.target, self.kwargs, path)
        except BaseException as error:
            self._transport = None  # before its process is gone, so that nobody ends another one with its number
            client.transport.end(0.0)
            if isinstance(error, Fault):
                self.restarts[error.cause] += 1
            raise
        self._client, self._played = client, 0
        self._wear_labels()
        self.tenant = {name: built[name] for name in ("pid", "python", "numpy", "eapo_gym", "protocol")}
        if self._loan is None and self._generator is not None:
            # Unseeded episodes go on where they were: a new process draws no other tasks than the old one would.
            self._loan = Loan.of(self._generator)
        return built

    def _ask(self, do: str, **fields: Any) -> Any:
        """One request to the present process, or to a fresh one. Raises `Fault` if it is lost over it."""
        if self._client is None:
            self._start()
        assert self._client is not None
        name = fields.get("name", do)
        dropped, loan = self._drawer.take_dropped(), self._loan
        if dropped:
            fields["drop"] = dropped
        if loan is not None and self._has_generator:
            fields["generator"] = self._generator = loan.data()
            self._loan = None
        try:
            answer = self._client.ask(do, self.timeouts.get(name, self.timeout), **fields)
        except Fault as fault:
            self._lose(fault)
            raise
        except codec.CodecError as error:
            # Nothing was sent, so what was to go with it goes with the next request.
            self._drawer.dropped.extend(dropped)
            self._loan = loan
            raise TypeError(f"{name}: {error}") from error
        except Exception:
            raise  # the environment's own, and it goes on
        except BaseException:
            # Ctrl-C, say: the answer that is under way would be taken for that to the next request.
            self._lose(Fault("interrupted", f"{name} was interrupted"))
            raise
        self._wear_labels()
        return answer

    def _wear_labels(self) -> None:
        assert self._client is not None
        for name in LABELS:
            if name in self._client.labels:
                setattr(self, name, self._client.labels[name])

    def _lose(self, fault: Fault) -> None:
        assert self._client is not None
        self.restarts[fault.cause] += 1
        self._failure = fault
        self._transport = None
        self._client.transport.end(0.0)
        self._client, self._drawer = None, Drawer()

    def _recycle_if_due(self) -> None:
        if self._client is None or not self._played:
            return
        # A process that is lost over these questions has gone by itself.
        with suppress(Fault):
            due = self.recycle_episodes is not None and self._played >= self.recycle_episodes
            due = due or (self.recycle_bytes is not None and self._ask("memory") > self.recycle_bytes)
            if due and self._drawer.held:
                _warn(
                    f"{self!r} would be recycled now, but {len(self._drawer.held)} of its snapshots are still held, "
                    "and they live in its process: let go of them, or make them of plain data."
                )
            elif due:
                self._generator = self._ask("generator")
                self.restarts["recycled"] += 1
                try:
                    self._retire()
                except Exception as error:
                    _warn(f"{self!r} was recycled, but its close() failed: {type(error).__name__}: {error}")

    def _retire(self) -> None:
        """Let the environment close itself, then end its process. Raises what its `close` raises."""
        client, self._client, self._drawer = self._client, None, Drawer()
        if client is not None:
            try:
                client.ask("close", self.timeouts.get("close", _CLOSING))
            except Fault:
                self._transport = None
                client.transport.end(0.0)
            finally:
                self._transport = None
                client.transport.end(_LEAVING)

    # The episode: going on, ended by a fault, asked about.

    def _episode_goes_on(self, info: Info) -> None:
        assert self._client is not None
        for name in LABELS:
            if name not in self._client.labels and isinstance(info.get(name), str):
                setattr(self, name, info[name])  # an environment that is no AgentEnv may say it there alone
        self._failure, self._unreported = None, False
        self._known_before = {**self._known_before, **self._known}
        self._known.clear()
        self._last_reply = self._client.last_reply

    def _ended_by(self, fault: Fault) -> tuple[Obs, float, bool, bool, Info]:
        if not self._last_reply:
            raise HostingError(f"{self.target}: {fault}") from fault
        last = codec.decode(self._last_reply)["value"]
        obs: Obs = last[0]
        info: Info = last[-1 if len(last) == 5 else 1]  # a step's reply, or that of a reset
        info.update({name: getattr(self, name) for name in LABELS})
        info.update(won=False, failure={"cause": fault.cause, "message": str(fault)})
        return obs, 0.0, False, True, info

    def _answer(self, name: str) -> Any:
        """A question about the state. Once its process is lost, the state is where it was last seen: whoever asks after
        every step (a wrapper that counts visits, say) gets through the step that failed."""
        last_seen = {**self._known_before, **self._known}
        if self._failure is not None and name in last_seen:
            return copy.copy(last_seen[name])
        if name in last_seen:
            answer = self._asked_between_steps(copy.copy(last_seen[name]), "call", name=name, args=[], kwargs={})
        else:
            answer = self.call(name)
        if self._failure is None:
            self._known[name] = copy.copy(answer)
        return answer

    def _asked_between_steps(self, neutral: Any, do: str, **fields: Any) -> Any:
        """A question that a wrapper asks around a step. A process that is lost over it ends the episode as one that is
        lost over a step does: as data, with the next step; until then the answer is a neutral one."""
        if self._unreported:
            return neutral
        self._refuse_without_episode(str(fields.get("name", do)))
        try:
            return self._ask(do, **fields)
        except Fault as fault:
            if not self._last_reply:
                raise HostingError(f"{self.target}: {fault}") from fault
            self._unreported = True
            return neutral

    def _ask_or_raise(self, do: str, **fields: Any) -> Any:
        try:
            return self._ask(do, **fields)
        except Fault as fault:
            raise HostingError(f"{self.target}: {fault}") from fault

    def _refuse_if_closed(self, call: str) -> None:
        if self._closed:
            raise HostingError(f"{call}: this environment is closed; make a new one.")

    def _refuse_if_aborted(self) -> None:
        if self._aborted:
            raise HostingError(f"{self.target} was aborted; make a new one.")

    def _refuse_without_episode(self, call: str) -> None:
        self._refuse_if_closed(call)
        if self._failure is not None:
            raise HostingError(f"{call}: the episode ended with its process, call reset() first. {self._failure}")

    def _borrowed(self) -> Loan:
        if self._loan is None:
            if not self._has_generator:
                self._loan = Loan.fresh()
            elif self._client is None and self._generator is not None:
                self._loan = Loan.of(self._generator)
            else:
                self._refuse_if_closed("np_random")
                self._loan = Loan.of(self._ask_or_raise("generator"))
        return self._loan


def _checked_target(target: str) -> str:
    where, _, name = str(target).rpartition(":")
    if not (where and name):
        raise HostingError(f"target: expected 'module:Class' or '/folder/file.py:Class', got {target!r:.100}.")
    return f"{os.path.abspath(os.path.expanduser(where))}:{name}" if where.endswith(".py") else f"{where}:{name}"


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
