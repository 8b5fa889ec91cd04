"""`OSWorldEnv`: tasks on a desktop, the benchmark's or our own, on a machine of the benchmark's or on this one."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.envs.osworld import identity
from eapo_gym.envs.osworld.actions import EXAMPLES, Parsed, inverse, parse_action
from eapo_gym.envs.osworld.apps import command_of
from eapo_gym.envs.osworld.computer import Computer, ComputerError
from eapo_gym.envs.osworld.contents import digest_of_file
from eapo_gym.envs.osworld.elements import Listing, elements_of
from eapo_gym.envs.osworld.inputs import Input
from eapo_gym.envs.osworld.judging.judge import INFEASIBLE_STATUS, Verdict, judge
from eapo_gym.envs.osworld.machines import LOCAL, Machine, machine
from eapo_gym.envs.osworld.official import DOMAINS
from eapo_gym.envs.osworld.own.seeing import Plan
from eapo_gym.envs.osworld.paths import leaves_home, on_machine, paths_of
from eapo_gym.envs.osworld.preparing import PreparationError, Preparer
from eapo_gym.envs.osworld.settled import Look, act_and_look, look
from eapo_gym.envs.osworld.sources import SOURCES, TaskSource, task_source
from eapo_gym.envs.osworld.tasks import DesktopTask
from eapo_gym.errors import ActionError, ContractError, EapoError, HostingError, SnapshotError, UnknownName
from eapo_gym.registration import OSWORLD_STEPS
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space

Mode = Literal["both", "elements", "screenshot"]
MODES = ("both", "elements", "screenshot")

WIDTH, HEIGHT = 1920, 1080

_WAITED_SECONDS = 1.0
_APP_SECONDS = 20.0
"""So long an app may take to show its window."""

_MOST_DESCRIBED = 480
"""Characters."""

_CALM_SECONDS = 0.5
_MOST_CALM_SECONDS = 15.0
"""An app that starts rests in between: an episode begins when it has looked the same for so long, or at the latest."""

_TRIES = 2
"""So often an episode is played again before it is said that it does not lead to the same state."""


@dataclass(frozen=True, slots=True)
class Done:
    """What was done in one step, in a form that does not depend on what was seen."""

    inputs: tuple[Input, ...] = ()
    opened: str = ""
    waited: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment of an episode: what led there from its beginning, and what it is known by."""

    task: str
    steps: tuple[Done, ...]
    answer: str
    ended: str | None
    mark: str


class OSWorldEnv(AgentEnv):
    """Tasks on a desktop with real applications.

    Args:
        split: of our own tasks "train", "valid" or "test"; of the benchmark's "all", "small", a domain, …
        source: "embedded", our own tasks, which need no network, or "official", the benchmark's.
        computer: "local", a desktop in a sandbox on this machine, or the address of a machine of the benchmark's, such
            as "http://192.168.1.20:5000", which somebody else runs and reverts; or a `Machine` of one's own.
        token: for a server that wants one.
        tasks: play only these tasks, by their ids, or by the names of our own templates such as "CalcSort".
        domains: play only tasks of these groups of apps, such as "libreoffice_calc".
        max_steps: of an episode; at its end the desktop is judged as it stands.
        observation_mode: "both", "elements" (text alone) or "screenshot".
        width: of the local desktop's screen, in pixels.
        height: of the same.
        render_mode: "ansi" or "rgb_array".
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    snapshot_kind = "replay"
    engine = "desktop"

    def __init__(
        self,
        split: str = "train",
        *,
        source: str = "embedded",
        computer: str | Machine = LOCAL,
        token: str | None = None,
        tasks: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
        max_steps: int = OSWORLD_STEPS,
        observation_mode: Mode = "both",
        width: int = WIDTH,
        height: int = HEIGHT,
        render_mode: str | None = None,
    ) -> None:
        if source not in SOURCES:
            raise UnknownName.of("source", source, SOURCES)
        if observation_mode not in MODES:
            raise UnknownName.of("observation_mode", observation_mode, MODES)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownName.of("render_mode", render_mode, self.metadata["render_modes"])
        if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 1:
            raise ValueError(f"max_steps: expected 1 or more, got {max_steps!r}.")
        for domain in domains or ():
            if domain not in DOMAINS:
                raise UnknownName.of("domain", domain, DOMAINS)
        self.source = source
        self.max_steps = max_steps
        self.observation_mode = observation_mode
        self.render_mode = render_mode
        self._source: TaskSource = task_source(source)
        self._chosen, self._domains = tasks, domains
        self.split = split
        self._ids = self._source.chosen(split, tasks, domains)
        self._machine = machine(computer, (width, height), token) if isinstance(computer, str) else computer
        self.observation_space = observation_space(
            screenshot=(height, width) if observation_mode != "elements" else None,
            elements=observation_mode != "screenshot",
        )
        self.action_space = AnyText(MAX_TEXT, examples=EXAMPLES)
        self._size = (width, height)
        self._episode: _Episode | None = None
        self._broken = False

    # Gymnasium

    def tasks(self, split: str | None = None) -> list[str]:
        if split is None or split == self.split:
            return list(self._ids)
        return self._source.chosen(split, self._chosen, self._domains)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed)
        self._enter(self.choose_task(options))
        return self._observation(""), self._info(valid=True)

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"expected an action (str) such as {EXAMPLES[0]}, got {type(action).__name__}")
        episode = self._now("step")
        before, notice, reward = episode.mark_of(self), "", 0.0
        episode.turns += 1
        try:
            parsed = parse_action(action, self._size)
            if parsed.kind in ("done", "fail"):
                reward = self._judge(INFEASIBLE_STATUS if parsed.kind == "fail" else "complete")
            elif parsed.kind == "answer":
                episode.answer = parsed.said
                episode.changed()
            else:
                self._do(self._resolved(parsed))
        except ActionError as error:
            notice = str(error)
        ended = episode.ended is not None
        valid = not notice and (ended or episode.mark_of(self) != before)
        info = self._info(valid=valid, won=ended and reward >= 1.0)
        return self._observation(notice), reward, ended, False, info

    def render(self) -> Any:
        seen = self._now("render").look
        if self.render_mode == "rgb_array":
            return seen.screen
        return self._listing().as_text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        self._leave()
        self._machine.close()
        super().close()

    # The contract

    def fingerprint(self) -> str:
        return self._now("fingerprint").mark_of(self)

    def snapshot(self) -> Snapshot:
        episode = self._now("snapshot")
        return Snapshot(self.task, tuple(episode.steps), episode.answer, episode.ended, episode.mark_of(self))

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        """Play the episode again from its beginning, on a desktop that is as new."""
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"expected a snapshot of an OSWorld environment, got {type(snapshot).__name__}")
        episode = self._episode
        if episode is None or self.task != snapshot.task or episode.mark_of(self) != snapshot.mark:
            self._play_again(snapshot)
            episode = self._now("restore")
        episode.steps = list(snapshot.steps)
        episode.answer, episode.ended = snapshot.answer, snapshot.ended
        episode.plan = None
        episode.changed()
        return self._observation(""), self._info(valid=True)

    def valid_actions(self) -> list[str] | None:
        """What can be written, pressed and dragged on a desktop has no end."""
        return None

    def parse_action(self, text: str) -> str:
        return parse_action(text, self._size).command()

    def inverse(self, action: str) -> list[str]:
        """What may lead back, best first. Nothing is tried beforehand: whoever does it looks whether it did."""
        try:
            return inverse(parse_action(action, self._size))
        except ActionError:
            return []

    def describe(self) -> str:
        """The window in front, and what stands on the screen; what clocks say is left out."""
        listing = self._listing()
        said = "; ".join(identity.said(listing.elements))
        return f"{identity.timeless(listing.front) or 'no window'}: {said}"[:_MOST_DESCRIBED]

    def oracle(self) -> str | None:
        """The next action of somebody who knows the task; of the benchmark's tasks nobody has told us."""
        episode = self._now("oracle")
        if self._source.plan is None:
            return None
        if episode.plan is None:
            if episode.turns or episode.ended is not None:
                raise ContractError("The oracle follows a plan that begins with the episode: call reset() first.")
            episode.plan = _Plan(self._source.plan(self.task, lambda: self._listing().elements))
        return None if episode.ended is not None else episode.plan.next(episode.turns)

    def verdict_info(self) -> Info:
        """What the checks of the episode's judging found, in sentences."""
        verdict = self._now("verdict_info").verdict
        return {} if verdict is None else {"checks": [check.sentence for check in verdict.checks]}

    def judge_as_it_stands(self) -> float:
        """What an episode that was broken off is worth: the benchmark judges those too."""
        return self._judge("broken off") if self._now("judging").ended is None else 0.0

    # An episode

    def _now(self, call: str) -> _Episode:
        if self._broken:
            raise HostingError(f"{call}: the episode ended when {self._machine.name} failed, call reset() first.")
        if self._episode is None:
            raise ContractError(f"{call}: no task has begun yet, call reset() first.")
        return self._episode

    def _enter(self, task_id: str) -> None:
        self._leave()
        self._broken = False
        task = self._source.task(task_id)
        if path := leaves_home(task):
            raise PreparationError(
                f"Task {task_id} names the path {path!r:.120}, which leads out of the home directory: it is not played."
            )
        scratch = Path(tempfile.mkdtemp(prefix="eapo-osworld-"))
        try:
            with self._on_machine("beginning an episode"):
                computer = self._machine.begin()
                if computer.size != self._size:
                    raise ContractError(
                        f"The screen of {self._machine.name} has {computer.size[0]} × {computer.size[1]} pixels: make "
                        f"the environment with width={computer.size[0]}, height={computer.size[1]}."
                    )
                preparer = Preparer(
                    computer, self._source.fetch, scratch, settle=lambda most: look(computer, most=max(0.5, most))
                )
                skipped = preparer.prepare(task)
                seen = _calm(computer, self._size)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        self.task = task_id
        self._episode = _Episode(task, computer, preparer, scratch, seen, skipped)

    def _leave(self) -> None:
        if self._episode is not None:
            shutil.rmtree(self._episode.scratch, ignore_errors=True)
            self._episode = None

    def _resolved(self, parsed: Parsed) -> Done:
        if parsed.kind == "open_app":
            command_of(parsed.said)
            return Done(opened=parsed.said)
        if parsed.kind == "wait":
            return Done(waited=True)
        return Done(parsed.inputs(self._listing().elements, self._size))

    def _do(self, done: Done) -> None:
        episode = self._now("step")
        computer = episode.computer
        with self._on_machine("acting"):
            if done.opened:
                episode.look = _opened(computer, done.opened, episode.look)
            elif done.waited:
                time.sleep(_WAITED_SECONDS)
                episode.look = look(computer)
            else:
                episode.look = act_and_look(computer, done.inputs)
        episode.steps.append(done)
        episode.changed()

    def _judge(self, status: str) -> float:
        episode = self._now("judging")
        with self._on_machine("judging"):
            episode.verdict = judge(
                episode.task,
                episode.computer,
                answer_status=status,
                cache=episode.scratch,
                prepare=episode.preparer.finish,
                download=self._source.fetch,
            )
        episode.ended = status
        episode.changed()
        return episode.verdict.score

    def _play_again(self, snapshot: Snapshot) -> None:
        if not self._machine.restores:
            raise SnapshotError(f"{self._machine.name} cannot be made as new from here, so nothing can be restored.")
        for _ in range(_TRIES):
            self._enter(snapshot.task)
            episode = self._now("restore")
            for done in snapshot.steps:
                self._do(done)
            episode.answer, episode.ended = snapshot.answer, snapshot.ended
            episode.changed()
            if episode.mark_of(self) == snapshot.mark:
                return
        raise SnapshotError(
            f"The {len(snapshot.steps)} steps that led to this state of {snapshot.task} led to another one when they "
            f"were played again, {_TRIES} times: the applications did not do the same."
        )

    @contextmanager
    def _on_machine(self, what: str) -> Iterator[None]:
        """What goes wrong with the machine is an infrastructure failure; the next episode gets one that is as new."""
        try:
            yield
        except (ComputerError, OSError) as problem:
            if isinstance(problem, EapoError):
                raise
            self._broken = True
            raise HostingError(f"{self._machine.name} failed over {what}: {problem}") from problem

    # What is seen

    def _listing(self) -> Listing:
        episode = self._now("looking")
        if episode.listing is None:
            episode.listing = elements_of(episode.look.tree, self._size)
        return episode.listing

    def _mark(self, episode: _Episode) -> str:
        with self._on_machine("looking at the task's files"):
            files = {path: digest_of_file(episode.computer.read_file(path)) for path in episode.files}
        listing = self._listing()
        return identity.fingerprint(
            listing.front, listing.elements, files, self.task, episode.answer, str(episode.ended)
        )

    def _observation(self, notice: str) -> Obs:
        episode, listing = self._now("observing"), self._listing()
        state = f"In front: {listing.front or 'nothing'}"
        if episode.answer:
            state += f"\nYour answer: {episode.answer}"
        if notice:
            state += f"\n{notice}"
        obs: Obs = {"goal": episode.task.instruction, "state": state}
        if self.observation_mode != "elements":
            obs["screenshot"] = episode.look.screen
        if self.observation_mode != "screenshot":
            obs["elements"] = listing.as_text()[:MAX_TEXT]
        return obs

    def _info(self, *, valid: bool, won: bool = False) -> Info:
        episode, listing = self._now("info"), self._listing()
        return {
            "task": self.task,
            "task_type": episode.task.domain,
            "source": self.source,
            "split": self.split,
            "engine": self.engine,
            "won": won,
            "invalid_action": not valid,
            "max_steps": self.max_steps,
            "foreground": listing.front,
            "elements": [each.info() for each in listing.elements],
            "at_rest": episode.look.at_rest,
            "passed_over": list(episode.skipped),
            **self.verdict_info(),
        }


class _Episode:
    """What is known of the episode that is being played."""

    def __init__(
        self, task: DesktopTask, computer: Computer, preparer: Preparer, scratch: Path, seen: Look, skipped: list[str]
    ) -> None:
        self.task = task
        self.computer = computer
        self.preparer = preparer
        self.scratch = scratch
        self.look = seen
        self.skipped = skipped
        self.files = tuple(dict.fromkeys(str(on_machine(path)) for path in paths_of(task)))
        self.steps: list[Done] = []
        self.turns = 0
        """Actions that were taken, those without an effect among them."""

        self.answer = ""
        self.ended: str | None = None
        """The status with which it was judged."""

        self.verdict: Verdict | None = None
        self.plan: _Plan | None = None
        self.listing: Listing | None = None
        self._mark: str | None = None

    def changed(self) -> None:
        """Something was done: what was read off the last look is out of date."""
        self.listing = self._mark = None

    def mark_of(self, env: OSWorldEnv) -> str:
        if self._mark is None:
            self._mark = env._mark(self)
        return self._mark


class _Plan:
    """A plan's next action, which stays the same until a step was taken."""

    def __init__(self, actions: Plan) -> None:
        self._actions = actions
        self._asked = -1
        self._next: str | None = None

    def next(self, turns: int) -> str | None:
        if turns != self._asked:
            self._asked, self._next = turns, next(self._actions, None)
        return self._next


def _calm(computer: Computer, size: tuple[int, int]) -> Look:
    """A look at a desktop on which nothing starts any more."""
    deadline = time.monotonic() + _MOST_CALM_SECONDS
    before = look(computer)
    while True:
        time.sleep(_CALM_SECONDS)
        seen = look(computer)
        if elements_of(seen.tree, size) == elements_of(before.tree, size) or time.monotonic() > deadline:
            return seen
        before = seen


def _opened(computer: Computer, name: str, before: Look) -> Look:
    """Start an app, and wait for its window."""
    windows = _titles(before)
    computer.launch(list(command_of(name)))
    deadline = time.monotonic() + _APP_SECONDS
    while True:
        seen = look(computer)
        if _titles(seen) != windows or time.monotonic() > deadline:
            return seen


def _titles(seen: Look) -> list[tuple[str, str]]:
    return [(app.name, window.name) for app in seen.tree.children for window in app.children]
