"""The list of the checks, and running them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from eapo_gym import protocol
from eapo_gym.envs.base import AgentEnv
from eapo_gym.envs.checker import actions, elsewhere, episodes, interface, snapshots, states
from eapo_gym.envs.checker.bench import Bench, Broken, Budget, BudgetSpent, Skipped
from eapo_gym.envs.checker.elsewhere import Maker
from eapo_gym.envs.checker.report import Outcome, Report
from eapo_gym.errors import ContractError, UnknownName
from eapo_gym.schema import Turn


@dataclass(frozen=True, slots=True)
class Check:
    """A promise, and the code that tries it. It runs only where those that it `needs` hold: first things first."""

    name: str
    promise: str
    run: Callable[[Bench], None]
    needs: tuple[str, ...] = ("api",)


CHECKS = (
    Check("spaces", "observations are a Dict with text goal and state, actions are text", interface.check_spaces, ()),
    Check("api", "reset gives a pair, step five things, of the right types", interface.check_api, ()),
    Check("observations", "every observation lies in the space and is a new object", interface.check_observations),
    Check("tasks", "tasks() lists ids: text, different, always the same", episodes.check_tasks, ()),
    Check("info", "info carries task, source, split, won", interface.check_info, ("api", "tasks")),
    Check("sample", "action_space.sample() is accepted", interface.check_sample, ("api", "spaces")),
    Check("render", "render() returns what its mode says", interface.check_render),
    Check("wrappers", "wrappers hand the contract on", interface.check_wrappers),
    Check("task-option", "reset(options={'task': id}) plays that task", episodes.check_task_option, ("api", "tasks")),
    Check("seeding", "the same seed gives the same episode", episodes.check_seeding, ("api", "tasks")),
    Check("fresh-start", "reset leaves nothing of the episode before", episodes.check_fresh_start, ("api", "seeding")),
    Check("purity", "asking changes nothing", states.check_purity, ("api", "seeding")),
    Check("copies", "what is handed out is the caller's to change", states.check_copies, ("purity",)),
    Check("fingerprint", "the fingerprint holds nothing of the transcript", states.check_fingerprint, ("purity",)),
    Check("state-identity", "equal fingerprints are equal states", states.check_state_identity, ("fingerprint",)),
    Check("describe", "describe() is a short text of the state alone", states.check_describe, ("state-identity",)),
    Check(
        "valid-actions",
        "what is listed can be done",
        actions.check_valid_actions,
        ("spaces", "observations", "fingerprint"),
    ),
    Check("inverse", "the first inverse undoes the action", actions.check_inverse, ("fingerprint",)),
    Check("parse-action", "any text is a command or an ActionError", actions.check_parse_action, ("purity",)),
    Check("bad-actions", "no text and no object breaks step", actions.check_bad_actions, ("fingerprint",)),
    Check("restore", "a snapshot forgets nothing", snapshots.check_restore, ("purity",)),
    Check("snapshot", "a snapshot stands alone and can be used again", snapshots.check_snapshot, ("restore",)),
    Check("restore-elsewhere", "a snapshot outlives its episode", snapshots.check_restore_elsewhere, ("restore",)),
    Check(
        "branching",
        "branch and resume keep it all",
        episodes.check_branching,
        ("snapshot", "restore-elsewhere"),
    ),
    Check("other-process", "another process sees the same", elsewhere.check_other_process, ("fresh-start", "purity")),
)
"""Every check, in the order in which they run."""


def run_checks(
    env: gym.Env[Any, Any],
    *,
    seeds: Sequence[int] = (0, 1, 2),
    steps: int = 40,
    episodes: int = 8,
    budget_steps: int = 50_000,
    budget_seconds: float = 90.0,
    cross_process: bool = True,
    make: Maker | None = None,
    make_kwargs: Mapping[str, Any] | None = None,
    rng_seed: int = 0,
    skip: Collection[str] = (),
    progress: bool = False,
) -> Report:
    """`check_agent_env` without the exception: every check, and what it found."""
    for name in skip:
        if name not in {check.name for check in CHECKS}:
            raise UnknownName.of("check", name, [check.name for check in CHECKS])
    core = env.unwrapped
    if not isinstance(core, AgentEnv):
        raise ContractError(
            f"Expected an AgentEnv, wrapped or not, and {type(core).__name__} is none: subclass eapo_gym.AgentEnv "
            "(eapo-gym new-env NAME writes one to begin with)."
        )
    if not seeds or steps < 1 or episodes < 1:
        raise ValueError(f"expected at least one seed, step and episode, got {seeds=}, {steps=}, {episodes=}")
    bench = Bench(
        env,
        core,
        say=_response if _answers_to_responses(env) else str,
        rebuild=functools.partial(elsewhere.rebuild, core, make, make_kwargs) if cross_process else _not_wanted,
        seeds=seeds,
        steps=steps,
        episodes=episodes,
        budget=Budget(budget_steps, budget_seconds),
        rng_seed=rng_seed,
    )
    report = Report(_name(env, core))
    for number, check in enumerate(_with_progress(CHECKS) if progress else CHECKS):
        report.outcomes.append(_run(check, bench, report, skip, len(CHECKS) - number))
    # A fault that one check meets may be another's to report.
    failed = {finding.check for finding in bench.findings}
    report.outcomes = [replace(o, status="failed", note="") if o.name in failed else o for o in report.outcomes]
    report.findings, report.steps, report.seconds = bench.findings, bench.budget.used, bench.budget.elapsed
    return report


def _run(check: Check, bench: Bench, report: Report, skip: Collection[str], checks_left: int) -> Outcome:
    if check.name in skip:
        return Outcome(check.name, check.promise, "skipped", note="as asked")
    # Only a promise that is broken, or could not be tried because of one, is in the way.
    broken = {finding.check for finding in bench.findings}
    broken |= {o.name for o in report.outcomes if o.status == "skipped" and o.note.startswith(_WAITS)}
    in_the_way = [name for name in check.needs if name in broken]
    if in_the_way:
        return Outcome(check.name, check.promise, "skipped", note=f"{_WAITS} {', '.join(in_the_way)}")
    bench.open(check.name, checks_left)
    begin = bench.budget.elapsed
    try:
        check.run(bench)
    except Broken as broken_promise:
        finding = broken_promise.finding
        bench.file(finding)
        if finding.check != check.name:
            return Outcome(check.name, check.promise, "skipped", note=f"{_WAITS} {finding.check}")
    except BudgetSpent:
        bench.cut = True
    except Skipped as reason:
        return Outcome(check.name, check.promise, "skipped", note=str(reason))
    seconds = bench.budget.elapsed - begin
    return Outcome(check.name, check.promise, "passed", bench.probes, bench.planned, bench.cut, seconds, bench.note)


_WAITS = "waits for"


def _answers_to_responses(env: gym.Env[Any, Any]) -> bool:
    """Whether the action is a model's whole response: then the observation has the sections it threads on."""
    space = getattr(env, "observation_space", None)
    return isinstance(space, spaces.Dict) and {"explore", "memory"} <= space.spaces.keys()


def _response(command: str) -> str:
    return protocol.render(Turn(explore="Trying something.", memory=f"I tried {command}.", action=command))


def _not_wanted(variables: Mapping[str, str]) -> AgentEnv:
    raise Skipped("cross_process=False")


def _name(env: gym.Env[Any, Any], core: AgentEnv) -> str:
    return core.spec.id if core.spec is not None else type(core).__name__


def _with_progress(checks: Sequence[Check]) -> Iterator[Check]:
    """The checks, one after the other, with a bar that says which one runs."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<18}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, transient=True) as bar:
        row = bar.add_task("", total=len(checks))
        for check in checks:
            bar.update(row, description=check.name)
            yield check
            bar.advance(row)
