"""The bench an environment is tried on: it drives the environment, writes the calls down, and minds the budget."""

from __future__ import annotations

import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from eapo_gym.envs.base import AgentEnv
from eapo_gym.envs.branching import Branch, branch, resume
from eapo_gym.envs.checker.report import Finding
from eapo_gym.envs.checker.returns import info_faults, observation_faults, pair_faults, step_faults
from eapo_gym.envs.checker.seen import (
    Divergence,
    Moment,
    Trail,
    View,
    called,
    moment,
    plain_attributes,
    said,
    shown,
    trails_differ,
)
from eapo_gym.errors import ActionError

NONSENSE = ("xyzzy 0x7f", "}{", "", "\x00")
"""Texts that hardly any command language has; the first that `parse_action` refuses stands for an invalid action."""


Rebuild = Callable[[Mapping[str, str]], AgentEnv]
"""Builds the environment again in another process, with these environment variables."""


class Broken(Exception):
    """The environment did something that no check can go on from."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.title)
        self.finding = finding


class BudgetSpent(Exception):
    """The share of the check that runs is used up."""


class Skipped(Exception):
    """There is nothing to check here; the message says why."""


class Budget:
    """Steps and seconds, shared out among the checks: what one leaves over, the later ones have."""

    def __init__(self, steps: int, seconds: float) -> None:
        self.steps, self.seconds = steps, seconds
        self.begin = time.perf_counter()
        self.used = 0
        self._steps_until, self._time_until = float(steps), self.begin + seconds

    def share(self, checks_left: int) -> None:
        now = time.perf_counter()
        self._steps_until = self.used + (self.steps - self.used) / checks_left
        self._time_until = now + (self.begin + self.seconds - now) / checks_left

    @property
    def spent(self) -> bool:
        return self.used >= self._steps_until or time.perf_counter() >= self._time_until

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.begin


class Driver:
    """Calls an environment as its users do, writes the calls down, and looks at everything that comes back.

    Resets and steps go through `env`, which may be a whole stack of wrappers; the questions of the contract go to
    `core`, the `AgentEnv` inside it. `say` turns a command into what the stack takes as an action.
    """

    def __init__(self, bench: Bench, env: gym.Env[Any, Any], core: AgentEnv, say: Callable[[str], str]) -> None:
        self.bench, self.env, self.core, self._say = bench, env, core, say
        self.outer: Any = env
        """The outermost layer that answers for the contract."""
        while isinstance(self.outer, gym.Wrapper) and not hasattr(self.outer, "fingerprint"):
            self.outer = self.outer.env
        self.script: list[str] = []
        self.now = Moment({}, {})
        self.obs: dict[str, Any] = {}
        """The last observation, the very object that came back."""

    def reset(self, *, seed: int | None = None, task: str | None = None) -> Moment:
        options = None if task is None else {"task": task}
        result = self._call(called("reset", seed=seed, options=options), self.env.reset, seed=seed, options=options)
        return self._look("reset", result)

    def step(self, command: str) -> Moment:
        return self.send(self._say(command), called("step", command))

    def send(self, action: Any, call: str) -> Moment:
        """Step with an action as it is."""
        result = self._call(call, self.env.step, action)
        self._file(step_faults(call, result), stop=True)
        obs, reward, terminated, truncated, info = result
        return self._look(call, (obs, info), reward, terminated, truncated)

    def snapshot(self, name: str = "s") -> Any:
        return self._call(f"{name} = snapshot()", self.core.snapshot, budget=False)

    def restore(self, snapshot: Any, name: str = "s") -> Moment:
        return self._look("restore", self._call(f"restore({name})", self.core.restore, snapshot))

    def branch(self) -> Branch:
        saved: Branch = self._call("b = branch(env)", branch, self.env, budget=False)
        return saved

    def resume(self, saved: Branch) -> Moment:
        return self._look("resume", self._call("resume(env, b)", resume, self.env, saved))

    def render(self) -> Any:
        return self._call("render()", self.env.render, budget=False)

    def fingerprint(self) -> str:
        text: str = self.ask("fingerprint")
        return text

    def valid_actions(self, of: Any = None) -> list[str] | None:
        actions: list[str] | None = self.ask("valid_actions", of=of)
        if actions is None or (isinstance(actions, list) and all(isinstance(action, str) for action in actions)):
            return actions
        raise Broken(
            Finding(
                "valid-actions",
                "valid_actions() is no list of texts",
                "a list of str, or None where they cannot be listed",
                f"{shown(actions)} ({type(actions).__name__})",
                "List commands exactly as step takes them.",
                (f"{self.calls}; valid_actions()",),
            )
        )

    def choices(self) -> list[str] | None:
        """What can be done here, the commands that wrappers add included."""
        return self.valid_actions(of=self.outer)

    def inverse(self, command: str) -> list[str]:
        actions: list[str] = self.ask("inverse", command)
        return actions

    def parse(self, text: str) -> str | None:
        """The command for a text, or None where `parse_action` refuses it as it should."""

        def parsed() -> str | None:
            try:
                return self.core.parse_action(text)
            except ActionError:
                return None

        command: str | None = self._call(called("parse_action", text), parsed, budget=False, note=False)
        return command

    def ask(self, method: str, *args: Any, of: Any = None) -> Any:
        """A question of the contract. It stays out of the script, since it must not change anything."""
        asked = getattr(self.core if of is None else of, method)
        return self._call(called(method, *args), asked, *args, budget=False, note=False)

    def random_state(self) -> str:
        """Tells whether a step drew random numbers."""
        return repr(self.core.np_random.bit_generator.state)

    def view(self) -> View:
        valid = self.valid_actions()
        return View(self.fingerprint(), None if valid is None else tuple(valid), self.ask("describe"))

    def go_on(self, steps: int, commands: Sequence[str] | None = None) -> Trail:
        """Walk from here, at random or with the given commands, until the episode ends."""
        trail = Trail(tuple(self.script), [self.now], [self.view()], plain_attributes(self.core))
        while not self.now.ended and len(trail) < (steps if commands is None else len(commands)):
            command = self.bench.choose(self.choices()) if commands is None else commands[len(trail)]
            trail.moments.append(self.step(command))
            trail.views.append(self.view())
            trail.commands.append(command)
        return trail

    def play(
        self, steps: int, *, seed: int | None = None, task: str | None = None, commands: Sequence[str] | None = None
    ) -> Trail:
        """An episode from its reset on."""
        self.reset(seed=seed, task=task)
        return self.go_on(steps, commands)

    @property
    def calls(self) -> str:
        return "; ".join(self.script)

    def _call(
        self, call: str, function: Callable[..., Any], *args: Any, budget: bool = True, note: bool = True, **kwargs: Any
    ) -> Any:
        if budget:
            self.bench.tick()
        if note:
            self.script.append(call)
        try:
            return function(*args, **kwargs)
        except Exception as error:  # whatever a broken environment raises becomes a finding
            raise Broken(self._raised(call, error)) from error

    def _raised(self, call: str, error: Exception) -> Finding:
        where = traceback.extract_tb(error.__traceback__)[-1]
        script = self.calls if self.script and self.script[-1] == call else f"{self.calls}; {call}"
        check, expected, fix = self.bench.check, "an answer: no call of the contract may fail here", "Handle this case."
        if isinstance(error, ActionError) and call.startswith("step("):
            check, expected = "bad-actions", "an observation that says what was wrong, and the state as it was"
            fix = "Catch it in step: a model writes all kinds of text, and none of it may end the run."
        return Finding(
            check,
            f"{call.split(' = ')[-1].split('(')[0]}() raised {type(error).__name__}",
            expected,
            f"{said(error)}\nin {where.filename}, line {where.lineno}: {where.line}",
            fix,
            (script,),
        )

    def _look(
        self, call: str, pair: Any, reward: Any = 0.0, terminated: bool = False, truncated: bool = False
    ) -> Moment:
        self._file(pair_faults(call, pair), stop=True)
        obs, info = pair
        self._file(observation_faults(self.env.observation_space, obs))
        self._file(info_faults(self.core, info))
        self.obs = obs
        self.now = moment(obs, info, reward, bool(terminated), bool(truncated))
        return self.now

    def _file(self, faults: Iterator[Finding], stop: bool = False) -> None:
        for fault in faults:
            finding = replace(fault, script=(self.calls,))
            if stop:
                raise Broken(finding)
            self.bench.file(finding)


class Bench:
    """What the checks share: the drivers, the settings, the random numbers, the budget, the findings."""

    def __init__(
        self,
        env: gym.Env[Any, Any],
        core: AgentEnv,
        *,
        say: Callable[[str], str],
        rebuild: Rebuild,
        seeds: Sequence[int],
        steps: int,
        episodes: int,
        budget: Budget,
        rng_seed: int,
    ) -> None:
        self.core = Driver(self, core, core, str)
        self.stack = self.core if env is core else Driver(self, env, core, say)
        self.rebuild = rebuild
        self.arrays = core.snapshot_kind != "device"
        """Whether pixels count in a comparison: those of a real device hold a clock and a cursor."""
        self.seeds, self.steps, self.episodes = tuple(seeds), steps, episodes
        self.budget = budget
        self.findings: list[Finding] = []
        self.opening: Trail | None = None
        """The very first episode, when the environment was still as its maker left it."""
        self._rng_seed = rng_seed
        self._nonsense: str | None = None
        self.open("", 1)

    def open(self, check: str, checks_left: int) -> None:
        """Get ready for a check: its own random numbers, so that no check depends on which others ran."""
        self.check, self.probes, self.planned, self.cut, self.note = check, 0, 0, False, ""
        self.rng = random.Random(f"{self._rng_seed}/{check}")
        self._used: Counter[str] = Counter()
        if isinstance(getattr(self.core.core, "action_space", None), spaces.Space):
            self.core.core.action_space.seed(self.rng.randrange(2**31))
        self.budget.share(checks_left)

    def tries(self, planned: int) -> Iterator[int]:
        """Probe after probe while the budget lasts; the first one is always finished."""
        self.planned += planned
        for number in range(planned):
            if self.probes and self.budget.spent:
                self.cut = True
                return
            self.core.script.clear()
            self.stack.script.clear()
            yield number
            self.probes += 1

    def tick(self) -> None:
        if self.probes and self.budget.spent:
            raise BudgetSpent
        self.budget.used += 1

    def length(self, probe: int) -> int:
        """Short walks first: they show a fault with the fewest calls."""
        return min(self.steps, 4 << probe)

    def seed(self, probe: int) -> int:
        """The given seeds first; more probes than those count on from the last."""
        return self.seeds[probe] if probe < len(self.seeds) else self.seeds[-1] + 1 + probe - len(self.seeds)

    def differ(self, expected: Trail, actual: Trail, *, whole_start: bool = True) -> Divergence | None:
        """Where two stretches part."""
        return trails_differ(expected, actual, arrays=self.arrays, whole_start=whole_start)

    def choose(self, valid: Sequence[str] | None) -> str:
        """A command to try: often one that was tried least, so that a walk sees all that there is."""
        if not valid:
            command: str = self.core.core.action_space.sample()
        elif self.rng.random() < 0.5:
            command = self.rng.choice(valid)
        else:
            fewest = min(self._used[each] for each in valid)
            command = self.rng.choice([each for each in valid if self._used[each] == fewest])
        self._used[command] += 1
        return command

    @property
    def nonsense(self) -> str | None:
        """A text that is no command here, or None in an environment that takes every text."""
        if self._nonsense is None:
            self._nonsense = next((text for text in NONSENSE if self._refused(text)), None)
        return self._nonsense

    def _refused(self, text: str) -> bool:
        try:
            self.core.core.parse_action(text)
        except Exception:  # whether it is the right one is for the check of parse_action to say
            return True
        return False

    def fail(self, title: str, *, expected: str, actual: str, fix: str, script: Sequence[str], check: str = "") -> None:
        """File a finding of the check that runs (or of the one named)."""
        self.file(Finding(check or self.check, title, expected, actual, fix, tuple(script)))

    def file(self, finding: Finding) -> None:
        if not any((known.check, known.title) == (finding.check, finding.title) for known in self.findings):
            self.findings.append(finding)

    @property
    def failed(self) -> bool:
        """Whether the check that runs has a finding."""
        return any(finding.check == self.check for finding in self.findings)
