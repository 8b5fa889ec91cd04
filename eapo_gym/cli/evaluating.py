"""`eapo-gym eval`, `baselines`, `compare` and `report`: what they do with the options that they were given."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eapo_gym.atomic import write_atomically
from eapo_gym.cli.targets import address, find_spec
from eapo_gym.cli.terminal import console, plain, said_progress, stoppable
from eapo_gym.errors import UnknownName

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from eapo_gym.agents.arms import Arm
    from eapo_gym.bench.evaluate import Evaluation, Progress, Result
    from eapo_gym.bench.metrics import Metrics
    from eapo_gym.loggers import Loggers

REPORT_FILE = "report.html"
BASELINES_FILE = "baselines.json"

_WATCH_EVERY = 10.0
"""Seconds between two points of a run that is going on, in its trackers."""


def target_of(env: str) -> str:
    """What stands on the command line for an environment, as an evaluation names it, in whatever folder it runs."""
    return address(env) if ":" in env else str(find_spec(env).id)


def default_folder(config: Evaluation) -> Path:
    """Where a run goes that was given no folder: a name that the same command finds again."""
    parts = [config.env, config.split or "", config.agent, config.model or ""]
    name = "-".join(re.sub(r"[^A-Za-z0-9._]+", "-", part.removeprefix("eapo/")).strip("-.") for part in parts if part)
    return Path("runs") / name


def run_eval(
    config: Evaluation,
    out: Path | None = None,
    *,
    log: str = "",
    report: bool = True,
    as_json: bool = False,
) -> Path:
    """Evaluate, or go on with what was broken off in the folder; print the result; returns the folder.

    `log` names trackers (see `eapo_gym.loggers`) that get the metrics, besides the files in the folder.
    """
    from eapo_gym.bench.setting import without_secrets
    from eapo_gym.loggers import open_loggers

    folder = out or default_folder(config)
    if config.agent == "human":
        config = replace(config, limits=replace(config.limits, agent=None))  # people may think
    # Before anything is played: a tracker that is not there should not be missed at the end of a long night.
    with open_loggers(log, folder, run_name=folder.name, config=without_secrets(config)) as loggers:
        with stoppable(folder):
            result = asyncio.run(_evaluate(config, folder, watch=_Watch(loggers)))
        page = _write_report([folder], folder / REPORT_FILE) if report else None
        _log(loggers, folder, result)
    if as_json:
        print(json.dumps({"folder": str(folder), **result.metrics.to_json()}, indent=1))
    else:
        _print_table({result.metrics.agent: result.metrics}, _title(result))
        _print_notices({"": result}, folder, page)
    _exit_if_nothing_was_played([result])
    return folder


def run_baselines(
    config: Evaluation,
    out: Path,
    *,
    arms: Sequence[str] | None = None,
    report: bool = True,
    as_json: bool = False,
) -> Path:
    """Put a model through the arms of the baselines table; see `run_arms`.

    Arms are those of `eapo_gym.agents.arms`, by default all of them; any other name is an agent of that name, so that
    "random" or "oracle" can stand beside them.
    """
    chosen = {name: _arm(name) for name in (arms or _all_arms())}
    return run_arms(config, chosen, out, report=report, as_json=as_json)


def run_arms(
    config: Evaluation, arms: Mapping[str, Arm], out: Path, *, report: bool = True, as_json: bool = False
) -> Path:
    """Evaluate each arm in a folder of its own below `out`, one engine for all of them; one table and one report."""
    with stoppable(out):
        results = asyncio.run(_evaluate_arms(config, arms, out))
    rows = {name: result.metrics for name, result in results.items()}
    content = {name: metrics.to_json() for name, metrics in rows.items()}
    write_atomically(out / BASELINES_FILE, json.dumps(content, indent=1) + "\n")
    page = _write_report([out / folder_name(name) for name in arms], out / REPORT_FILE) if report else None
    if as_json:
        print(json.dumps(content, indent=1))
    else:
        _print_table(rows, _title(next(iter(results.values()))))
        _print_notices(results, out, page)
    _exit_if_nothing_was_played(results.values())
    return out


def run_models(config: Evaluation, models: Mapping[str, str], out: Path) -> None:
    """Evaluate one agent with each of the models, in a folder of its own below `out`; one table."""
    results = {}
    with stoppable(out):
        for name, model in models.items():
            results[name] = asyncio.run(_evaluate(replace(config, model=model), out / folder_name(name), name))
    _print_table({name: result.metrics for name, result in results.items()}, _title(next(iter(results.values()))))
    _exit_if_nothing_was_played(results.values())


def folder_name(arm: str) -> str:
    """Where the run of an arm is."""
    return arm.replace(" ", "-")


def run_compare(a: Path, b: Path, *, as_json: bool = False) -> None:
    """Print what differs between two runs."""
    from eapo_gym.bench.compare import compare
    from eapo_gym.bench.store import load_run

    comparison = compare(load_run(a), load_run(b))
    if as_json:
        print(json.dumps(comparison.to_json(), indent=1))
    else:
        console().print(plain(comparison.table()), soft_wrap=True)


def run_report(folders: Sequence[Path], out: Path | None = None) -> Path:
    """Write the report of a run, or of several side by side; returns its path."""
    page = _write_report(folders, out or folders[0] / REPORT_FILE)
    console().print(plain(page.resolve()), soft_wrap=True)
    return page


# Playing


async def _evaluate(
    config: Evaluation, folder: Path, title: str = "", engine: Any = None, watch: _Watch | None = None
) -> Result:
    from eapo_gym.bench.evaluate import evaluate

    with said_progress(hidden=config.agent == "human") as bar:
        shown = bar.add_task(title or config.agent, total=None, said="")

        def tell(now: Progress) -> None:
            _show(bar, shown, now)
            if watch is not None:
                watch(now)

        return await evaluate(config, folder, engine=engine, on_progress=tell)


async def _evaluate_arms(config: Evaluation, arms: Mapping[str, Arm], out: Path) -> dict[str, Result]:
    from eapo_gym.agents.loading import needs_engine
    from eapo_gym.bench.evaluate import open_engine_of

    results = {}
    options = _options_for(arms, config.agent_options)
    async with AsyncExitStack() as stack:
        engine = None
        if any(needs_engine(arm.agent) for arm in arms.values()):
            overrides = any(arm.sampled_with(config.sampling).override for arm in arms.values())
            engine = open_engine_of(config, overrides)
            stack.push_async_callback(engine.close)
        for name, arm in arms.items():
            of_arm = replace(
                config,
                agent=arm.agent,
                agent_options={**options[name], **arm.options},
                sampling=arm.sampled_with(config.sampling),
            )
            results[name] = await _evaluate(of_arm, out / folder_name(name), name, engine)
    return results


def _options_for(arms: Mapping[str, Arm], given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Each arm gets the options that its agent has; one that none of them has is refused before anything is played."""
    from eapo_gym.agents.foreign import PREFIX as PYTHON
    from eapo_gym.agents.loading import OPENAI, options_of

    own = (PYTHON, OPENAI)
    known = {
        name: set(given) if arm.agent.startswith(own) else set(options_of(arm.agent)) for name, arm in arms.items()
    }
    every = set[str]().union(*known.values())
    for option in given:
        if option not in every:
            raise UnknownName.of("option of the arms' agents", option, sorted(every))
    return {name: {option: given[option] for option in given if option in known[name]} for name in arms}


def _all_arms() -> Iterable[str]:
    from eapo_gym.agents.arms import ARMS

    return ARMS


def _arm(name: str) -> Arm:
    from eapo_gym.agents.arms import ARMS, Arm
    from eapo_gym.agents.loading import agent_names, needs_engine

    if name in ARMS:
        return ARMS[name]
    try:
        needs_engine(name)
    except UnknownName:
        raise UnknownName.of("arm or agent", name, [*ARMS, *agent_names()]) from None
    return Arm(name, "")


# What is shown


def _show(bar: Bar, shown: Any, now: Progress) -> None:
    parts = [f"{100 * now.success:.1f} % solved" if now.done else "", f"{now.steps_per_second:,.0f} steps/s"]
    parts += [f"{now.outcomes[name]} {name}" for name in ("timeout", "agent", "infrastructure") if now.outcomes[name]]
    bar.update(shown, total=now.planned, completed=now.done, said=", ".join(filter(None, parts)))


def _title(result: Result) -> str:
    played = result.stamp["environment"]
    facts = [
        f"{played['id']}, {played['split']}: {result.metrics.success.n} episodes",
        "generated tasks, not the benchmark's" if played["source"] == "embedded" else f"source {played['source']}",
        f"at most {played['step_limit']} steps",
        f"rollback: {played['rollback_mode'] or 'none'}",
    ]
    return ", ".join(facts)


def _print_table(rows: Mapping[str, Metrics], title: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=plain(title), title_style="bold", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("agent", no_wrap=True)
    table.add_column("success\n(95 % interval)", justify="right", min_width=12)
    scored = any(metrics.score_says_more for metrics in rows.values())
    for name in (
        *(["score"] if scored else []),
        "over\nseeds",
        "steps",
        "solved\nin",
        "expl.\ndegree",
        "no\nloops",
        "invalid",
        "format",
        "failed",
    ):
        table.add_column(name, justify="right")
    for name, metrics in rows.items():
        failed = sum(metrics.outcomes[kind] for kind in ("timeout", "agent", "infrastructure"))
        seeds = metrics.success_over_seeds
        table.add_row(
            plain(name),
            str(metrics.success),
            *([_number(metrics.score.mean, ".3f")] if scored else []),
            f"{100 * seeds.mean:.1f} ± {100 * seeds.std:.1f}" if seeds.n > 1 else "–",
            _number(metrics.steps.mean, ".1f"),
            _number(metrics.steps_solved.mean, ".1f"),
            _number(metrics.exploration_degree.mean, ".3f"),
            _number(metrics.exploration_degree_no_self_loops.mean, ".3f"),
            _percent(metrics.invalid_rate),
            "–" if metrics.format_rate is None else _percent(metrics.format_rate),
            str(failed),
        )
    console().print(table)


def _number(value: float, form: str) -> str:
    return format(value, form) if value == value else "–"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %" if value == value else "–"


def _print_notices(results: Mapping[str, Result], folder: Path, page: Path | None) -> None:
    lines = []
    for name, result in results.items():
        counts = ", ".join(f"{count} {outcome}" for outcome, count in result.metrics.outcomes.items() if count)
        lines += [f"{name or 'Outcomes'}: {counts}", *_first_failures(result)]
    lines += dict.fromkeys(notice for result in results.values() for notice in result.notices)
    lines.append(f"Everything is in {folder.resolve()}")
    if page is not None:
        lines.append(f"Report: {page.resolve()}")
    console().print(plain("\n".join(lines)), soft_wrap=True)


def _exit_if_nothing_was_played(results: Iterable[Result]) -> None:
    """A run in which every episode failed says nothing about the agent, and must not look as if it did."""
    for result in results:
        failed = sum(result.metrics.outcomes[kind] for kind in ("timeout", "agent", "infrastructure"))
        if failed and failed == len(result.rows):
            print(f"eapo-gym: no episode of {result.metrics.agent} was played to its end.", file=sys.stderr)
            raise typer.Exit(1)


def _first_failures(result: Result) -> list[str]:
    """One example for each way to fail, so that a run of failures says at once what is wrong."""
    found: dict[str, str] = {}
    for row in result.rows:
        if row.error and row.outcome not in found:
            found[row.outcome] = f"  {row.outcome}, for example {row.task}: {' '.join(row.error.split())[:300]}"
    return list(found.values())


def _write_report(folders: Sequence[Path], path: Path) -> Path:
    from eapo_gym.bench.report import write_report
    from eapo_gym.bench.store import load_run

    return write_report([load_run(folder) for folder in folders], path)


class _Watch:
    """Hands the numbers of a run that is going on to its trackers, every now and then."""

    def __init__(self, loggers: Loggers) -> None:
        self._loggers = loggers
        self._last = time.monotonic()

    def __call__(self, now: Progress) -> None:
        if not now.done or time.monotonic() - self._last < _WATCH_EVERY:
            return
        self._last = time.monotonic()
        values = {"success": now.success, "steps_per_second": now.steps_per_second, "outcomes": now.outcomes}
        self._loggers.log({"running": values}, step=now.done)


def _log(loggers: Loggers, folder: Path, result: Result) -> None:
    values = {"success": result.metrics.success.rate, **_numbers(result.metrics.to_json())}
    loggers.log(values, step=len(result.planned))
    for name in ("metrics.json", "episodes.csv"):
        loggers.artifact(folder / name)


def _numbers(values: Mapping[str, Any], prefix: str = "eval/") -> dict[str, float]:
    """The numbers in nested data, flat."""
    flat: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _numbers(value, f"{prefix}{name}/")
        elif isinstance(value, int | float):
            flat[f"{prefix}{name}"] = value
    return flat
