"""What the checker found: findings that tell a newcomer what to change, and the report that holds them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from eapo_gym.errors import ContractError

if TYPE_CHECKING:
    from rich.table import Table

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken promise: what was expected, what came instead, the calls that show it, and what to change."""

    check: str
    title: str
    expected: str
    actual: str
    fix: str
    script: tuple[str, ...] = ()
    """The calls that show it, a line for each episode."""

    def __str__(self) -> str:
        rows = [("expected", self.expected), ("actually", self.actual)]
        rows += [("shown by" if i == 0 else "", line) for i, line in enumerate(self.script)]
        rows.append(("change", self.fix))
        body = "\n".join(f"    {label:<9} {_indented(text)}" for label, text in rows)
        return f"[{self.check}] {self.title}\n{body}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one check went."""

    name: str
    promise: str
    status: Status
    probes: int = 0
    planned: int = 0
    cut: bool = False
    """Whether the budget ended it before all of the planned probes were done."""
    seconds: float = 0.0
    note: str = ""
    """Why it was skipped, or what there was nothing of to try."""


@dataclass(slots=True)
class Report:
    """What `check_agent_env` ran, how thoroughly, and what it found."""

    env: str
    outcomes: list[Outcome] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    steps: int = 0
    """Resets, steps and restores that the checks took."""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.findings

    @property
    def cut(self) -> list[Outcome]:
        """The checks that the budget ended early."""
        return [outcome for outcome in self.outcomes if outcome.cut]

    def outcome(self, name: str) -> Outcome:
        return next(outcome for outcome in self.outcomes if outcome.name == name)

    def raise_if_broken(self) -> None:
        if self.findings:
            raise ContractBroken(self)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.ok}

    def __str__(self) -> str:
        failed = {finding.check for finding in self.findings}
        ran = [outcome for outcome in self.outcomes if outcome.status != "skipped"]
        effort = f"{self.steps:,} steps, {self.seconds:.1f} s"
        if not failed:
            head = f"{self.env} keeps the contract: {len(ran)} checks passed ({effort})."
        else:
            head = f"{self.env} breaks the contract: {len(failed)} of {len(ran)} checks failed ({effort})."
        parts = [head, *map(str, self.findings)]
        notes = [f"    {o.name}: {o.status}, {o.note}" for o in self.outcomes if o.note]
        if self.cut:
            cuts = ", ".join(f"{o.name} after {o.probes} of {o.planned} probes" for o in self.cut)
            notes.append(f"    cut by the budget (budget_seconds, budget_steps): {cuts}")
        if notes:
            parts.append("\n".join(["Notes", *notes]))
        return "\n\n".join(parts)

    def __rich__(self) -> Table:
        """A table with a row for each check, for `rich.print(report)`."""
        from rich.markup import escape
        from rich.table import Table

        table = Table(title=escape(self.env), caption=f"{self.steps:,} steps, {self.seconds:.1f} s", title_style="bold")
        table.add_column("check", no_wrap=True)
        table.add_column("promise")
        table.add_column("probes", justify="right")
        table.add_column("result")
        colours = {"passed": "green", "failed": "red", "skipped": "yellow"}
        for o in self.outcomes:
            result = f"[{colours[o.status]}]{o.status}[/]" + (f"  {escape(o.note)}" if o.note else "")
            probes = f"{o.probes} of {o.planned}" if o.cut else str(o.probes or "")
            table.add_row(o.name, escape(o.promise), probes, result)
        return table


class ContractBroken(ContractError):
    """The environment breaks promises of the contract; `report` holds every finding."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[type[ContractBroken], tuple[Report]]:
        return type(self), (self.report,)


def _indented(text: str) -> str:
    return text.replace("\n", "\n" + " " * 14)
