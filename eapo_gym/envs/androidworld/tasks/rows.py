"""What tasks about an app's database have in common: rows that are to be added, and rows that are to be deleted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from difflib import SequenceMatcher
from textwrap import wrap
from typing import Any, ClassVar, TypeVar

from eapo_gym.envs.androidworld.phone.databases import DatabaseError, Row, Rows
from eapo_gym.envs.androidworld.phone.files import FileError
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Task

ALIKE = 0.9
"""Texts that have this share of their letters in common, in the same order, count as the same."""

T = TypeVar("T")


class RowTask(Task):
    """An app's table holds some rows when the task begins: `noise`, and behind them `targets` if those are to go.

    A row is a mapping of column to value, without the column that counts up.
    """

    database: ClassVar[str]
    table: ClassVar[str]
    key: ClassVar[str]
    """The column that counts up."""

    def adopted(self, theirs: Params) -> Params:
        """The benchmark has its rows as objects."""
        rest = {name: value for name, value in theirs.items() if name in self.kept}
        return {
            "targets": [self._row(each) for each in theirs["row_objects"]],
            "noise": [self._row(each) for each in theirs.get("noise_row_objects", ())],
            **rest,
        }

    kept: ClassVar[tuple[str, ...]] = ()
    """Further parameters, which are the same in both forms."""

    def _row(self, theirs: Any) -> dict[str, Any]:
        return {name: value for name, value in asdict(theirs).items() if name != self.key}

    @abstractmethod
    def first_rows(self, params: Params) -> Sequence[Row]:
        """What the table holds when the task begins."""

    def prepare(self, phone: Phone, params: Params) -> None:
        for package in self.apps:
            phone.stop(package)
        state = phone.state
        if self.database not in state.files:
            state = phone.apps[self.apps[0]].install(state)
        # Numbers begin at one again: the benchmark empties the table too.
        database = state.files.database(self.database)
        database = replace(database, tables={**database.tables, self.table: ()}, next_keys=None)
        for row in self.first_rows(params):
            database, _ = database.insert(self.table, **row)
        phone.state = replace(state, files=state.files.write(self.database, database, state.now))

    def begun(self, phone: Phone, params: Params) -> Params:
        return {**params, "before": self._rows(phone)}

    def _rows(self, phone: Phone) -> Rows:
        try:
            return phone.state.files.database(self.database)[self.table]
        except (FileError, DatabaseError):
            return ()


class DeletionTask(RowTask):
    """Rows are to be deleted, and nothing else may change."""

    def first_rows(self, params: Params) -> Sequence[Row]:
        return [*params["noise"], *params["targets"]]

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        before = params["before"]
        doomed = before[len(before) - len(params["targets"]) :]
        after = self._rows(phone)
        return float(any(_same(after, [row for row in before if row not in gone]) for gone in self._choices(doomed)))

    def _choices(self, doomed: Rows) -> Iterable[Rows]:
        """Which rows may be gone in the end: one of these sets of them."""
        return (doomed,)


class OneOfTwoTask(DeletionTask):
    """Two rows are the same, and one of them is to be deleted, no matter which."""

    def _choices(self, doomed: Rows) -> Iterable[Rows]:
        return ((row,) for row in doomed)


class AdditionTask(RowTask):
    """Rows are to be added, and nothing else may change."""

    exact: ClassVar[tuple[str, ...]] = ()
    """Columns that must be as they were asked for."""

    alike: ClassVar[tuple[str, ...]] = ()
    """Columns with texts, which may have a slip of the pen."""

    def first_rows(self, params: Params) -> Sequence[Row]:
        return list(params["noise"])

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        before, after, wanted = params["before"], self._rows(phone), params["targets"]
        is_there = all(any(self._fits(each, row) for row in after) for each in wanted)
        return float(is_there and len(after) == len(before) + len(wanted) and all(row in after for row in before))

    def _fits(self, wanted: Row, row: Row) -> bool:
        return all(wanted[name] == row.get(name) for name in self.exact) and all(
            are_alike(wanted[name], row.get(name)) for name in self.alike
        )


def are_alike(one: object, other: object) -> bool:
    """Whether two texts are nearly the same, no matter whether in capitals."""
    if one is None or other is None:
        return False
    return SequenceMatcher(None, str(one).lower(), str(other).lower()).ratio() >= ALIKE


def _same(one: Iterable[Row], other: Iterable[Row]) -> bool:
    """The same rows, in any order."""
    return sorted(map(_frozen, one)) == sorted(map(_frozen, other))


def _frozen(row: Row) -> list[tuple[str, str]]:
    return sorted((name, repr(value)) for name, value in row.items())


def different(count: int, draw: Callable[[], T], among: Sequence[T] = ()) -> list[T]:
    """So many things, each unlike the others and unlike those that are there already."""
    found: list[T] = []
    while len(found) < count:
        candidate = draw()
        if candidate not in found and candidate not in among:
            found.append(candidate)
    return found


def as_text(kind: str, rows: Sequence[Mapping[str, Any]], form: str, width: int = 0) -> str:
    """The rows as the benchmark's goals and files list them: a table with bars, or a block of lines for each.

    The first column of a row is its headline. `form` is "csv" or "text_block", whose lines may be `width` long at most.
    """
    if form == "csv":
        head = "|".join(rows[0]) if rows else ""
        return "\n".join([head, *("|".join(map(str, row.values())) for row in rows)])
    blocks = []
    for row in rows:
        (_, headline), *others = row.items()
        told = [(name, "\n".join(wrap(str(value), width)) if width else value) for name, value in others]
        blocks.append(f"{kind}: {headline}\n" + "".join(f" {name}: {value}\n" for name, value in told))
    return "\n".join(blocks)
