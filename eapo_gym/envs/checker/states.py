"""Checks of the state: asking changes nothing, and the fingerprint is its identity, no more and no less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from eapo_gym.envs.checker.bench import Bench
from eapo_gym.envs.checker.seen import Difference, Moment, View, called, contrast, moments_part, shown

MAX_DESCRIPTION = 2_000

_QUESTIONS = ("fingerprint", "describe", "valid_actions", "tasks", "snapshot", "parse_action", "inverse")
_ABOUT_A_COMMAND = ("parse_action", "inverse")
_SPOILT = "spoilt by the caller"


def check_purity(bench: Bench) -> None:
    for probe in bench.tries(bench.episodes):
        commands = _asked_twice(bench, bench.seed(probe), bench.length(probe))
        if bench.failed:
            return
        seed = bench.seed(probe)
        silent = _walk(bench, seed, commands, asking=())
        if moments_part(silent, _walk(bench, seed, commands, asking=_QUESTIONS), arrays=bench.arrays) is None:
            continue
        for asking in (*((name,) for name in _QUESTIONS), _QUESTIONS):
            found = moments_part(silent, _walk(bench, seed, commands, asking=asking), arrays=bench.arrays)
            if found:
                _file_impure(bench, asking, *found)
                return


def _file_impure(bench: Bench, asking: tuple[str, ...], steps: int, difference: Difference) -> None:
    name = f"{asking[0]}()" if len(asking) == 1 else "asking"
    bench.fail(
        f"{name} changes the episode",
        expected=f"{difference.what}: {difference.expected}, as where it is not asked",
        actual=f"{difference.actual}, where {' and '.join(f'{each}()' for each in asking)} came before each step",
        fix="Answer from copies: only reset, step and restore may set attributes or draw random numbers.",
        script=("; ".join(bench.core.script[: steps + 1]),),
    )


def _asked_twice(bench: Bench, seed: int, length: int) -> list[str]:
    """Walk, asking everything twice. Returns the commands."""
    core = bench.core
    core.reset(seed=seed)
    commands: list[str] = []
    while len(commands) < length and not core.now.ended:
        commands.append(bench.choose(core.valid_actions()))
        for name in _QUESTIONS:
            first, second = _ask(bench, name, commands[-1]), _ask(bench, name, commands[-1])
            # A snapshot may be any object, with or without an equality.
            if name != "snapshot" and first != second:
                expected, actual = contrast(first, second)
                bench.fail(
                    f"{name}() answers differently when asked twice",
                    expected=expected,
                    actual=actual,
                    fix="Let it only read the state: it must not change it, nor depend on anything else (a counter, a "
                    "clock, id(), the order of a set).",
                    script=(f"{core.calls}; {name}(); {name}()",),
                )
                return commands
        core.step(commands[-1])
    return commands


def _walk(bench: Bench, seed: int, commands: list[str], *, asking: tuple[str, ...]) -> list[Moment]:
    bench.core.script.clear()
    moments = [bench.core.reset(seed=seed)]
    for command in commands:
        for name in asking:
            _ask(bench, name, command)
        moments.append(bench.core.step(command))
        if bench.core.now.ended:
            break
    return moments


def _ask(bench: Bench, name: str, command: str) -> Any:
    if name == "parse_action":  # a sample of the action space need not be a command
        return bench.core.parse(command)
    return bench.core.ask(name, command) if name in _ABOUT_A_COMMAND else bench.core.ask(name)


def check_copies(bench: Bench) -> None:
    """Callers shuffle, extend and empty the lists they are given; the environment must not notice."""
    core = bench.core
    for probe in bench.tries(min(3, bench.episodes)):
        core.reset(seed=bench.seed(probe))
        for _ in range(bench.length(probe)):
            command = bench.choose(core.valid_actions())
            for name in ("tasks", "valid_actions", "inverse"):
                given = _ask(bench, name, command)
                if not isinstance(given, list):
                    continue
                given.append(_SPOILT)
                again = _ask(bench, name, command)
                shared = _SPOILT in again
                given.pop()  # the other checks go on with this environment
                if shared:
                    bench.fail(
                        f"{name}() hands out a list of its own",
                        expected="the same answer, whatever the caller did with the first one",
                        actual=f"{len(again)} entries, with what the caller appended",
                        fix=f"Return a copy: list({name}).",
                        script=(f"{core.calls}; {name}().append({_SPOILT!r}); {name}()",),
                    )
            core.step(command)
            if core.now.ended or bench.failed:
                break


def check_fingerprint(bench: Bench) -> None:
    """Nothing of the transcript belongs to it: a command that is none leaves it equal. (`inverse` tries ways back.)"""
    core, nonsense = bench.core, bench.nonsense
    if nonsense is None:
        bench.note = "parse_action refuses no text, so there was no invalid command to try"
    for probe in bench.tries(bench.episodes):
        core.reset(seed=bench.seed(probe))
        for _ in range(bench.length(probe)):
            before = core.fingerprint()
            if not isinstance(before, str) or not before:
                bench.fail(
                    "fingerprint() is no text",
                    expected="a str that is not empty",
                    actual=f"{shown(before)} ({type(before).__name__})",
                    fix="Return text, for example a hashlib digest of the facts that make up the state.",
                    script=(core.calls,),
                )
                return
            if nonsense is not None:
                core.step(nonsense)
                if not core.now.ended and core.fingerprint() != before:
                    _file_transcript(bench, before)
                    return
            if core.now.ended:
                break
            core.step(bench.choose(core.valid_actions()))
            if core.now.ended:
                break


def _file_transcript(bench: Bench, before: str) -> None:
    expected, actual = contrast(before, bench.core.fingerprint())
    bench.fail(
        "a command that is none changes the fingerprint",
        expected=f"{expected}, as before it: the state has not changed",
        actual=actual,
        fix="Build the fingerprint only from what the rules of the environment read: no step count, no clock, no last "
        "feedback, nothing else of the transcript. (If the command did change the state: an invalid command must not.)",
        script=(bench.core.calls,),
    )


@dataclass(slots=True)
class _Answer:
    """What came of an action in some state."""

    text: dict[str, str]
    reward: float
    terminated: bool
    fingerprint: str
    calls: str


@dataclass(slots=True)
class _Met:
    """A state as it was when it was first met, and what its actions did."""

    view: View
    calls: str
    answers: dict[str, _Answer] = field(default_factory=dict)


def check_state_identity(bench: Bench) -> None:
    """Equal fingerprints must mean the same state: what can be done, and what comes of it, must be equal too."""
    when: dict[str, set[int]] = {}
    looks: dict[str, dict[int, str]] = {}
    for task, t, view in _meetings(bench, _same_choices):
        if bench.failed:
            return
        when.setdefault(view.fingerprint, set()).add(t)
        look = repr((task, view.describe, view.valid, bench.core.now.text))
        looks.setdefault(look, {}).setdefault(t, bench.core.calls)
    again = [calls for calls in looks.values() if len(calls) > 1]
    if len(again) >= _OFTEN and all(len(steps) == 1 for steps in when.values()):
        (_, first), (_, second) = list(again[0].items())[:2]
        bench.fail(
            "no state is ever met again after another number of steps",
            expected=f"{len(again)} situations that look the same after different numbers of steps (text, describe() "
            "and valid_actions()) to have one fingerprint now and then",
            actual="every fingerprint belongs to one number of steps",
            fix="Leave everything that counts steps, actions or time out of the fingerprint.",
            script=(f"first: {first}", f"later: {second}"),
            check="fingerprint",
        )


def check_describe(bench: Bench) -> None:
    for _, _, view in _meetings(bench, _same_description):
        text = view.describe
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_DESCRIPTION:
            size = f"{len(text):,} characters" if isinstance(text, str) else type(text).__name__
            bench.fail(
                "describe() is no short text",
                expected=f"a str of 1 to {MAX_DESCRIPTION:,} characters",
                actual=f"{shown(text, 120)} ({size})",
                fix="Say in a sentence or two where the agent stands and what it sees: a memory keeps many of these.",
                script=(bench.core.calls,),
            )
        if bench.failed:
            return


_OFTEN = 3
"""So many situations must look the same again before their fingerprints may be doubted."""


def _meetings(bench: Bench, compare: Callable[[Bench, _Met, View], None]) -> Iterator[tuple[str, int, View]]:
    """Walk through the same task again and again; hand every state that was met before to `compare`.

    Yields the task, the number of the step in its walk, and what was seen there.
    """
    core = bench.core
    tasks = core.ask("tasks")
    met: dict[tuple[str, str], _Met] = {}
    again = 0
    for probe in bench.tries(2 * bench.episodes):
        task = tasks[(probe // bench.episodes) % len(tasks)]
        core.reset(seed=bench.seed(probe), task=task)
        for t in range(bench.length(probe) + 1):
            view = core.view()
            here = met.setdefault((task, view.fingerprint), _Met(view, core.calls))
            again += here.view is not view
            compare(bench, here, view)
            yield task, t, view
            if core.now.ended:
                break
            _act(bench, here, view)
    bench.note = bench.note or ("" if again else "no state was met twice")


def _act(bench: Bench, here: _Met, view: View) -> None:
    """Take an action, often one that was taken here before, and compare what came of it with the first time."""
    core = bench.core
    known = [command for command in here.answers if view.valid is None or command in view.valid]
    command = bench.rng.choice(known) if known and bench.rng.random() < 0.5 else bench.choose(view.valid)
    drawn = core.random_state()
    core.step(command)
    if core.random_state() != drawn:
        bench.note = "step draws random numbers, so the answers to one action were not compared"
        return
    answer = _Answer(core.now.text, core.now.reward, core.now.terminated, core.fingerprint(), core.calls)
    first = here.answers.setdefault(command, answer)
    if bench.check != "state-identity":
        return
    for what in ("fingerprint", "reward", "terminated", "text"):
        then, now = getattr(first, what), getattr(answer, what)
        if then != now:
            _file_coarse(bench, here, f"{what} after {called('step', command)}", then, now, first.calls, answer.calls)
            return


def _same_choices(bench: Bench, here: _Met, view: View) -> None:
    then, now = here.view.valid, view.valid
    if (then is None) != (now is None) or (then is not None and now is not None and set(then) != set(now)):
        _file_coarse(bench, here, "valid_actions()", then, now, here.calls, bench.core.calls)


def _file_coarse(bench: Bench, here: _Met, what: str, then: Any, now: Any, first: str, second: str) -> None:
    expected, actual = contrast(then, now)
    bench.fail(
        "two different states have one fingerprint",
        expected=f"{what}: {expected}, as the first time the fingerprint was {shown(here.view.fingerprint, 60)}",
        actual=actual,
        fix="Put into the fingerprint whatever decides the difference. (If only the text differs, since it counts "
        "steps or tells the time, take that out of the observation.)",
        script=(f"first: {first}", f"later: {second}"),
    )


def _same_description(bench: Bench, here: _Met, view: View) -> None:
    if view.describe != here.view.describe:
        expected, actual = contrast(here.view.describe, view.describe)
        bench.fail(
            "describe() differs between two visits of one state",
            expected=f"{expected}, as the first time the fingerprint was {shown(view.fingerprint, 60)}",
            actual=actual,
            fix="Describe the state alone, not how the agent came there, its last command, or the step count.",
            script=(f"first: {here.calls}", f"later: {bench.core.calls}"),
        )
