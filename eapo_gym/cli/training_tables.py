"""What `eapo-gym rollback`, `demonstrations` and `sft` show: progress bars and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eapo_gym.trainers.collecting import Progress as Collecting
    from eapo_gym.trainers.rollback import Admission
    from eapo_gym.trainers.rollback_rate import RollbackRate
    from eapo_gym.trainers.sft import Result


@contextmanager
def bar(title: str) -> Iterator[Callable[[int, int | None, str], None]]:
    """A progress bar on stderr, told by (done, planned or None where nobody knows, what else there is to say)."""
    from eapo_gym.cli.terminal import plain, said_progress

    shown = said_progress()
    with shown:
        task = shown.add_task(plain(title).plain.replace("[", "\\["), total=None, said="")
        yield lambda done, planned, said: shown.update(task, completed=done, total=planned, said=said)


def said_of(now: Collecting) -> str:
    parts = [f"{now.examples:,} examples"]
    if tried := now.counts.get("tried", 0):
        parts.append(f"{100 * now.counts.get('admitted', 0) / tried:.1f} % admitted")
    parts += [
        f"{now.outcomes[name]} {name}" for name in ("timeout", "agent", "infrastructure") if now.outcomes.get(name)
    ]
    return ", ".join(parts)


def print_line(text: str) -> None:
    from eapo_gym.cli.terminal import console, plain

    console().print(plain(text), soft_wrap=True)


def _table(title: str, first: str, *columns: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from eapo_gym.cli.terminal import plain

    table = Table(title=plain(title), title_style="bold", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(first)
    for name in columns:
        table.add_column(plain(name), justify="right")
    return table


def print_admission(admission: Admission, title: str) -> None:
    from eapo_gym.cli.terminal import console, plain
    from eapo_gym.trainers.rollback import REASONS

    reasons = [reason for reason in REASONS if admission.total[reason]]
    table = _table(title, "undone", "tried", "admitted", "rate", *(REASONS[reason] for reason in reasons))
    for kind, counts in (*sorted(admission.kinds.items()), ("all", admission.total)):
        tried, admitted = counts.get("tried", 0), counts.get("admitted", 0)
        rate = f"{100 * admitted / tried:.1f} %" if tried else "–"
        table.add_row(plain(kind), *map(str, (tried, admitted)), rate, *(str(counts.get(each, 0)) for each in reasons))
    console().print(table)
    if admission.duplicates:
        print_line(f"{admission.duplicates} of those admitted were the same as another one, and are there once.")


def print_rates(rates: Mapping[str, RollbackRate], title: str) -> None:
    from eapo_gym.cli.terminal import console, plain

    kinds = sorted({kind for rate in rates.values() for kind in rate.kinds})
    table = _table(title, "model", "returned\n(95 % interval)", "native", "format", *kinds)
    for name, rate in rates.items():
        shares = [_percent(rate.share("native")), _percent(rate.share("format_ok"))]
        shares += [_percent(rate.share("returned", kind)) for kind in kinds]
        table.add_row(plain(name), str(rate.returned), *shares)
    console().print(table)
    for name, rate in rates.items():
        if rate.not_replayed:
            print_line(f"{name}: {rate.not_replayed} pairs could not be played again: {rate.first_problem}")
        if rate.too_long:
            print_line(f"{name}: {rate.too_long} prompts did not fit into its window, and count as not returned")


def _percent(share: Any) -> str:
    return f"{100 * share.rate:.1f} %" if share.n else "–"


def print_result(result: Result) -> None:
    lines = [f"{result.steps} updates on {result.examples:,} examples; loss {result.loss:.4f}"]
    if result.held_out:
        lines.append(
            f"held out: {result.held_out:,} examples; loss {result.valid_before:.4f} → {result.valid_after:.4f}"
        )
    if result.too_long:
        lines.append(f"left out: {result.too_long:,} examples, which do not fit into the model's window")
    if result.over_max_tokens:
        lines.append(f"left out: {result.over_max_tokens:,} examples, whose targets are longer than max_tokens")
    if result.skipped:
        lines.append(f"skipped: {result.skipped} updates, which were not finite")
    lines.append(f"{result.model.resolve()}")
    print_line("\n".join(lines))
