"""`eapo-gym report` of training runs, and `eapo-gym sweep`: what they do with the options that they were given."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from eapo_gym.cli.terminal import console, plain, progress, stoppable
from eapo_gym.errors import EapoError

if TYPE_CHECKING:
    from eapo_gym.trainers.curves import Band

REPORT_FILE = "report.html"
FIGURES_FOLDER = "figures"


class MixedRuns(EapoError, ValueError):
    """Training runs and evaluations, which no report shows side by side."""


def are_training_runs(folders: Sequence[Path]) -> bool:
    """Whether these are all training runs, or none of them is; a mixture is refused."""
    from eapo_gym.trainers.runs import is_training_run

    kinds = {folder: is_training_run(folder) for folder in folders}
    if len(set(kinds.values())) > 1:
        training = next(folder for folder, is_training in kinds.items() if is_training)
        other = next(folder for folder, is_training in kinds.items() if not is_training)
        raise MixedRuns(
            f"{training} is a training run, and {other} is not: expected runs of one kind. Make a report of each."
        )
    return all(kinds.values())


def run_training_report(
    folders: Sequence[Path],
    out: Path | None = None,
    *,
    figures: bool = False,
    band: Band = "std",
    window: int | None = None,
) -> Path:
    """Write the report of training runs; with `figures`, these also as files in a folder beside it."""
    from eapo_gym.trainers.report import write_training_report
    from eapo_gym.trainers.runs import load_training_runs

    runs = load_training_runs(folders)
    path = out or folders[0] / REPORT_FILE
    beside = path.parent / FIGURES_FOLDER if figures else None
    page = write_training_report(runs, path, band=band, window=window, figures=beside)
    for run in runs:
        if not run.rows:
            print(f"eapo-gym: {run.name} has no step yet, and is in no figure.", file=sys.stderr)
    console().print(plain(page.resolve()), soft_wrap=True)
    return page


class SweepCommand(TyperCommand):
    """Keeps apart what stands before `--`, which is swept over, and what stands behind it, which is fixed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["eapo_gym.fixed"] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


def sweep(
    context: typer.Context,
    grid: Annotated[
        list[str],
        typer.Argument(
            metavar="FIELD=A,B,C",
            help="What is swept over, seeds=0,1,2 among it; behind --, what is fixed: FIELD=VALUE.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the runs and their table.", file_okay=False)],
    config: Annotated[Path | None, typer.Option(help="A YAML file with settings.", dir_okay=False)] = None,
    jobs: Annotated[int, typer.Option(help="Runs at a time.", min=1)] = 1,
) -> None:
    """Train with every combination of some settings; write one table and one figure.

    Each run is a process and a folder of its own. A sweep that was broken off goes on where it was.
    """
    run_sweep_command(config, grid, context.meta.get("eapo_gym.fixed", []), out, jobs)


def run_sweep_command(config: Path | None, grid: Sequence[str], fixed: Sequence[str], out: Path, jobs: int = 1) -> None:
    """Run a sweep, say how it goes, and print its table."""
    from eapo_gym.trainers.sweep import FAILED, Progress, last_words, make_sweep, run_sweep
    from eapo_gym.trainers.sweep_results import TABLE, write_results

    planned = make_sweep(config, grid, fixed)
    errors = console(stderr=True)
    with progress() as bar:
        task = bar.add_task("", total=len(planned.points))

        def show(now: Progress) -> None:
            bar.update(task, completed=now.finished + now.failed, description=f"{len(now.running)} running")
            if now.event:
                errors.print(plain(now.event), soft_wrap=True)

        with stoppable(out), _terminable():
            states = run_sweep(planned, out, jobs=jobs, on_change=show)
    paths = write_results(planned, out, states)
    console().print(plain((out / f"{TABLE}.md").read_text(encoding="utf-8")), soft_wrap=True)
    console().print(plain("\n".join(str(path.resolve()) for path in paths)), soft_wrap=True)
    failed = [name for name, state in states.items() if state == FAILED]
    for name in failed:
        errors.print(plain(f"{name} failed:\n{last_words(out, name)}"), soft_wrap=True)
    if failed:
        errors.print(plain(f"{len(failed)} of {len(states)} runs failed; the same command tries them again."))
        raise typer.Exit(1)


@contextmanager
def _terminable() -> Iterator[None]:
    """Being asked to end is like Ctrl-C: the processes that this one began end with it."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
