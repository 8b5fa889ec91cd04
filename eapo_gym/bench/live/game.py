"""`Game`: a person plays one episode after the other, and every one with a step is kept.

The episodes are played by `rollout.play`, in a thread with an event loop of its own, with the person as the agent; so
what is kept is what an evaluation keeps. Any other thread may look (`state`), and do what a person can: `act`, `begin`,
`hint`. Those take turns; and an answer names the version of the state that it is an answer to, so that of two tabs
that are clicked in at once one acts, and the other is told to look again.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

import gymnasium as gym
import numpy as np

from eapo_gym.bench.hands import Hand
from eapo_gym.bench.live.person import Person, PersonGone
from eapo_gym.bench.live.prompt import PromptReader
from eapo_gym.bench.live.views import checked_page
from eapo_gym.bench.records import Episode
from eapo_gym.bench.report.view import view_of
from eapo_gym.bench.rollout import Limits, play
from eapo_gym.bench.setting import find_layer
from eapo_gym.bench.store import RunFolder
from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ActionError, EapoError, UnknownName
from eapo_gym.schema import Observation, Turn
from eapo_gym.wrappers import ExploreMemory, Rollback

Result = TypeVar("Result")

_PATIENCE = 600.0
"""Seconds that somebody waits for an environment: a device may have to boot."""

_TURN = 2.0
"""Seconds that somebody waits while somebody else is at it."""

_LAST_WORD = 5.0
"""Seconds that the environment has for its last step, and to close, when the game is closed."""

_LAST_WRITE = 30.0
"""Seconds that a slow disk then has to keep what was played."""

_EXAMPLES = 24

_LONGEST_TEXT = 200
"""Characters of an element's text that are listed."""


class GameError(EapoError):
    """Something that cannot be done now, or so; the state of the game is as it was."""


class Doubtful(GameError):
    """A command that is hardly meant; sent with `anyway`, it is done."""


class OpensEnv(Protocol):
    """Makes the environment of a split (None: the first one), in the explore schema."""

    def __call__(self, split: str | None) -> gym.Env[Any, Any]: ...


@dataclass(slots=True)
class _Request:
    """Another episode is asked for."""

    split: str | None
    task: str | None
    done: concurrent.futures.Future[None] = field(default_factory=concurrent.futures.Future)


class _Told(gym.Wrapper[Obs, str, Obs, str]):
    """Keeps what agents are not shown: the `info` of the last step, and the environment's page for people."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.info: Info = {}
        self.page: dict[str, Any] | None = None
        self.page_problem = ""
        """Why there is no page, where there should be one."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        obs, self.info = self.env.reset(seed=seed, options=options)
        self._look()
        return obs, self.info

    def step(self, action: str) -> tuple[Obs, Any, bool, bool, Info]:
        obs, reward, terminated, truncated, self.info = self.env.step(action)
        self._look()
        return obs, reward, terminated, truncated, self.info

    def _look(self) -> None:
        """A page that fails costs nobody the episode: there is the text."""
        self.page, self.page_problem = None, ""
        core: Any = self.env.unwrapped
        try:
            page = core.live_page()
            self.page = None if page is None else checked_page(page)
        except Exception as error:
            self.page_problem = f"The environment's page cannot be shown: {type(error).__name__}: {error}"


class Game:
    """A person's game.

    Args:
        open_env: makes the environment; it is made again for another split, or when it broke.
        env_id: what the environment is called.
        out: the run's folder, open; the game appends to it and does not close it.
        seed: of the run: draws tasks, and seeds the environment.
        splits: the splits that an environment knows.
        hint: what an oracle would do now; None where no oracle knows the environment. Hints are counted in the episode.
        limits: seconds that the environment may take.
    """

    def __init__(
        self,
        open_env: OpensEnv,
        *,
        env_id: str,
        out: RunFolder,
        seed: int = 0,
        splits: Callable[[gym.Env[Any, Any]], list[str]] | None = None,
        hint: Callable[[gym.Env[Any, Any]], str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.env_id, self.out, self.seed = env_id, out, seed
        self._open_env, self._splits, self._hint = open_env, splits, hint
        self._limits = limits or Limits(agent=None)
        self._dice = np.random.default_rng(seed)
        self._repeats: dict[str, int] = {}
        for episode in out.take_finished():
            self._count(episode)
        self.saved = 0
        """Episodes that were kept in this sitting."""

        # Owned by the thread of the game.
        self._hand = Hand("environment")
        self._env: _Told | None = None
        self._prompt: PromptReader | None = None
        self._person = Person(self._ask)
        self._request: _Request | None = None
        self._episode: Episode | None = None

        # What everybody may read, under `_changed`.
        self._changed = threading.Condition()
        self._state: dict[str, Any] = {"version": 0, "status": "starting", "env": env_id, "folder": str(out.folder)}
        self._state |= {"view": None, "page": None, "saved": 0, "notice": ""}

        self._turn = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._requests: asyncio.Queue[_Request | None] = asyncio.Queue()
        self._thread = threading.Thread(target=self._run, name="game", daemon=True)
        self._thread.start()

    # What anybody may do, from any thread

    def state(self, after: int = -1, patience: float = 0.0) -> dict[str, Any]:
        """The state of the game; waits up to `patience` seconds for one of a version other than `after`."""
        with self._changed:
            self._changed.wait_for(lambda: self._state["version"] != after, patience)
            return self._state

    def begin(self, task: str | None = None, split: str | None = None) -> None:
        """Play another episode; the present one ends as it is. Without a task one is drawn."""
        with self._my_turn():
            if self.state()["status"] == "busy":
                raise GameError("The environment is still at work: wait for it, and try again.")
            if self._env is not None:
                # Asked before anything ends: a name that is mistyped must not cost the episode that is being played.
                tasks = self._in_env(self._tasks, split)
                if task is not None:
                    self._check_task(task, tasks)
            request = _Request(split, task)
            self._loop.call_soon_threadsafe(self._go_on_with, request)
            self._await(request.done)

    def act(self, turn: Turn, version: int, anyway: bool = False) -> None:
        """Answer the state of that version; returns when the step was taken.

        A text that is no command, or nearly one that is offered, is not sent unless `anyway` says so.
        """
        with self._my_turn():
            self._check_mine(version)
            turn = self._checked(turn, anyway)
            self._publish(status="busy")
            busy = self.state()["version"]
            self._loop.call_soon_threadsafe(self._person.answer, turn)
            if self.state(after=busy, patience=_PATIENCE)["version"] == busy:
                raise GameError("The environment is still at work; what comes of the step will be shown.")

    def hint(self) -> str:
        """What an oracle would do. It is noted in the episode that it was asked."""
        with self._my_turn():
            state = self.state()
            self._check_mine(state["version"])
            if self._hint is None or self._env is None or self._episode is None:
                raise GameError("No oracle knows this environment.")
            text = self._in_env(self._hint, self._env)
            info = self._episode.trajectory.info
            info["hints"] = info.get("hints", 0) + 1
            self._publish(notice=f"Hint: {text}")
            return text

    def tasks(self, split: str | None = None) -> list[str]:
        """The tasks of a split."""
        with self._my_turn():
            return self._in_env(self._tasks, split)

    def close(self) -> None:
        """End the game. The present episode is kept, as one that ended unsolved. Twice does no harm."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._go_on_with, None)
        self._thread.join(_LAST_WORD)
        if self._thread.is_alive():
            # The environment does not come back from its step: what was played before it is kept all the same.
            self._loop.call_soon_threadsafe(self._main.cancel)
            self._thread.join(_LAST_WRITE)
        if not self._thread.is_alive():
            self._loop.close()
        self._publish(status="closed")

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=_TURN):
            raise GameError("The environment is still at work: wait for it, and try again.")
        try:
            if not self._thread.is_alive():
                raise GameError("The game is over: the program that ran it is closing.")
            yield
        finally:
            self._turn.release()

    def _check_mine(self, version: int) -> None:
        state = self.state()
        if state["status"] == "over":
            raise GameError("The episode is over: begin another one.")
        if state["status"] != "yours" or state["version"] != version:
            raise GameError("The game has moved on since (in another tab?): look at it again.")

    def _checked(self, turn: Turn, anyway: bool) -> Turn:
        """The turn with the command as the environment writes it, if it is meant."""
        text, offered = turn.action or "", self.state()["offered"] or []
        if anyway or text in offered:
            return turn
        try:
            command = self._in_env(self._command, text)
        except ActionError as error:
            raise Doubtful(f"{error}{_meant(text, offered)}") from error
        meant = _meant(command, offered) if command not in offered else ""
        if meant and command != "rollback":
            raise Doubtful(f"{command!r:.80} is not among the valid actions.{meant}")
        return Turn(turn.think, turn.explore, turn.memory, command, turn.format_ok)

    def _in_env(self, function: Callable[..., Result], *args: Any) -> Result:
        """Something that needs the environment, while it waits for the person, in the thread that it lives in."""
        return self._await(asyncio.run_coroutine_threadsafe(self._hand.call(function, *args), self._loop))

    def _await(self, future: concurrent.futures.Future[Result]) -> Result:
        try:
            return future.result(_PATIENCE)
        except EapoError:
            raise
        except concurrent.futures.TimeoutError as error:
            raise GameError(f"The environment did not answer within {_PATIENCE:g} s.") from error
        except Exception as error:
            raise GameError(_said(error)) from error

    def _check_task(self, task: str, tasks: list[str]) -> None:
        if task not in tasks:
            raise UnknownName.of("task", task, tasks)

    # In the thread of the environment

    def _tasks(self, split: str | None) -> list[str]:
        if self._env is None:
            raise GameError("There is no environment now: begin an episode.")
        found: list[str] = self._env.get_wrapper_attr("tasks")(split)
        return found

    def _command(self, text: str) -> str:
        layer = None if self._env is None else find_layer(self._env, ExploreMemory)
        if layer is None:
            raise GameError("There is no environment now: begin an episode.")
        return layer.inner.parse_action(text)

    # In the thread of the game

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._main = self._loop.create_task(self._play_on())
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            self._keep_unfinished()

    def _go_on_with(self, request: _Request | None) -> None:
        """End the present episode and begin what is asked for; None ends the game.

        In one go: between the two the next episode might have begun, and would be the one that is ended.
        """
        self._person.leave()
        self._requests.put_nowait(request)

    async def _play_on(self) -> None:
        while (request := await self._requests.get()) is not None:
            self._request = request
            try:
                await self._play(await self._prepare(request))
                failure: Exception = GameError(self._state["notice"] or "The episode was over before it began.")
            except Exception as error:  # whatever an environment raises is told, and another one may do better
                failure = error if isinstance(error, EapoError) else GameError(_said(error))
                self._keep_unfinished()
                self._publish(status="over", notice=str(failure))
            if not request.done.done():
                request.done.set_exception(failure)
        await self._close_env()

    async def _prepare(self, request: _Request) -> str:
        """The environment for what is asked, and the task."""
        if self._env is not None and request.split not in (None, self._split()):
            await self._close_env()
        if self._env is None:
            self._publish(status="busy", notice="")
            env = await self._hand.call(self._open_env, request.split)
            self._env, self._prompt = _Told(env), PromptReader(env)
        tasks = await self._hand.call(self._tasks, None)
        if not tasks:
            raise GameError(f"The split {self._split()!r} has no tasks.")
        if request.task is None:
            return tasks[int(self._dice.integers(len(tasks)))]
        self._check_task(request.task, tasks)
        return request.task

    async def _play(self, task: str) -> None:
        assert self._env is not None
        begin = time.perf_counter()
        try:
            episode = await play(
                self._env,
                self._person,
                task=task,
                seed=self.seed,
                repeat=self._repeats.get(task, 0),
                env_id=self.env_id,
                limits=self._limits,
                pictures=self.out.pictures,
                hand=self._hand,
                watch=self._watch,
            )
        except PersonGone:
            if self._episode is not None:
                self._episode.seconds = time.perf_counter() - begin
                self._keep_unfinished()
            return
        said = self._keep(episode)
        if episode.outcome in ("timeout", "infrastructure"):
            said = f"The environment failed: {episode.error} {said}"
            self._give_env_up()
        self._show(episode, None, status="over", notice=said.strip())

    def _watch(self, episode: Episode) -> None:
        self._episode = episode

    def _ask(self, observation: Observation) -> None:
        """It is the person's turn."""
        assert self._episode is not None
        assert self._request is not None
        self._show(self._episode, observation, status="yours", notice="")
        if not self._request.done.done():
            self._request.done.set_result(None)

    def _show(self, episode: Episode, now: Observation | None, **more: Any) -> None:
        env = self._env
        shown: dict[str, Any] = {
            "offered": None,
            "elements": [],
            "prompt": [],
            "page": None if env is None else env.page,
        }
        if now is None or env is None:
            shown["view"] = view_of(episode)
        else:
            shown["view"] = view_of(episode, now, str(env.info["fingerprint"]))
            shown["offered"] = None if now.valid_actions is None else list(now.valid_actions)
            shown["elements"] = _boxes(env.info)
            shown["prompt"] = [] if self._prompt is None else self._prompt(now)
        if env is not None:
            core: Any = env.unwrapped
            shown |= {
                "split": core.split,
                "splits": [core.split] if self._splits is None else self._splits(env),
                "rollback": find_layer(env, Rollback) is not None,
                "hint": self._hint is not None,
                "examples": list(getattr(core.action_space, "examples", ()))[:_EXAMPLES],
            }
            more["notice"] = more.get("notice") or env.page_problem
        self._publish(**shown, **more)

    def _publish(self, **changes: Any) -> None:
        """A new state; the one before is never changed, so whoever has it can read it in peace."""
        with self._changed:
            version = self._state["version"] + 1
            self._state = {**self._state, **changes, "version": version, "saved": self.saved}
            self._changed.notify_all()

    def _keep(self, episode: Episode) -> str:
        """Keep an episode with a step; returns what is to be said of it."""
        self._episode = None
        if not len(episode):
            return ""
        try:
            self.out.append(episode)
        except (EapoError, OSError) as error:  # a full disk, say: the game goes on, and the person is told
            return f"The episode could not be kept: {error}"
        self._count(episode)
        self.saved += 1
        return f"Kept in {self.out.folder}."

    def _keep_unfinished(self) -> None:
        episode = self._episode
        if episode is not None:
            episode.outcome, episode.trajectory.success = "ended", False
            self._publish(notice=self._keep(episode))

    def _count(self, episode: Episode) -> None:
        task = episode.trajectory.task
        self._repeats[task] = max(self._repeats.get(task, 0), episode.repeat + 1)

    def _split(self) -> str:
        return "" if self._env is None else str(self._env.get_wrapper_attr("split"))

    async def _close_env(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            await self._hand.call(env.close)

    def _give_env_up(self) -> None:
        """A call may still be going on in it; the next episode gets another one, in another thread."""
        if self._env is not None:
            self._hand.leave(self._env.close)
        self._env, self._hand = None, Hand("environment")


def _meant(text: str, offered: list[str]) -> str:
    close = get_close_matches(text, offered, n=1, cutoff=0.75)
    return f" Did you mean {close[0]!r}?" if close else ""


def _said(error: Exception) -> str:
    return f"The environment failed: {type(error).__name__}: {error}"


def _boxes(info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where on the screenshot the elements are, as far as an environment says it in the way that is usual."""
    elements = info.get("elements")
    boxes = []
    for element in elements if isinstance(elements, list | tuple) else ():
        if isinstance(element, Mapping) and isinstance(element.get("index"), int | np.integer):
            edges = _edges(element.get("bounds"))
            if edges is not None:
                boxes.append({"index": int(element["index"]), "bounds": edges, **_said_of(element)})
    return boxes


def _said_of(element: Mapping[str, Any]) -> dict[str, Any]:
    """What a person is told of an element, as far as it is said."""
    texts = {name: element.get(name) for name in ("text", "kind")}
    flags = {name: element.get(name) is True for name in ("editable", "focused", "scrollable")}
    return {name: text[:_LONGEST_TEXT] if isinstance(text, str) else "" for name, text in texts.items()} | flags


def _edges(bounds: object) -> list[float] | None:
    """Four finite numbers, or None: what is neither could not be sent as JSON."""
    if not isinstance(bounds, list | tuple | np.ndarray) or len(bounds) != 4:
        return None
    edges = [float(edge) for edge in bounds if isinstance(edge, int | float | np.number)]
    return edges if len(edges) == 4 and all(map(math.isfinite, edges)) else None
