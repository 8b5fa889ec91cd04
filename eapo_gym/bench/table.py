"""The table of a run: a row for each episode, flat and typed, for those who compute with other tools."""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.records import Episode
from eapo_gym.errors import MissingExtra

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    """An episode in numbers. The names and types are the schema of `episodes.csv` and `episodes.parquet`."""

    task: str
    repeat: int
    seed: int | None
    task_type: str | None
    agent: str
    source: str
    split: str | None
    engine: str | None
    """Of the environment."""

    rollback_mode: str | None
    outcome: str
    success: bool
    steps: int
    distinct_states: int
    exploration_degree: float | None
    exploration_degree_no_self_loops: float | None
    invalid: int
    format_ok: int
    rollbacks: int
    rollbacks_held: int
    reward: float
    reward_task: float | None
    reward_format: float | None
    reward_explore: float | None
    calls: int
    prompt_tokens: int
    response_tokens: int
    seconds: float
    agent_seconds: float
    env_seconds: float
    tries: int
    error: str

    @property
    def key(self) -> tuple[str, int]:
        return self.task, self.repeat

    @property
    def score(self) -> float:
        """What the task gave, without the format's share."""
        return self.reward if self.reward_task is None else self.reward_task

    @property
    def played(self) -> bool:
        """Played to its end, and not broken off by a fault or a time-out."""
        return self.outcome in ("solved", "ended", "steps")


def row_of(episode: Episode) -> Row:
    """The row of an episode."""
    trajectory, notes = episode.trajectory, episode.notes
    steps, info = trajectory.transitions, trajectory.info

    def part(name: str) -> float | None:
        values = [note.reward_parts[name] for note in notes if name in note.reward_parts]
        return sum(values) if values else None

    def text(name: str) -> str | None:
        value = info.get(name)
        return None if value is None else str(value)

    return Row(
        task=trajectory.task,
        repeat=episode.repeat,
        seed=info.get("seed"),
        task_type=text("task_type"),
        agent=episode.agent,
        source=trajectory.source,
        split=text("split"),
        engine=text("engine"),
        rollback_mode=text("rollback_mode"),
        outcome=episode.outcome,
        success=episode.success,
        steps=len(steps),
        distinct_states=len(set(episode.fingerprints())),
        exploration_degree=trajectory.exploration_degree() if steps else None,
        exploration_degree_no_self_loops=trajectory.exploration_degree(self_loops=False) if steps else None,
        invalid=episode.invalid,
        format_ok=sum(step.format_ok for step in steps),
        rollbacks=episode.rollbacks,
        rollbacks_held=episode.rollbacks_held,
        reward=float(sum(step.reward for step in steps)),
        reward_task=part("task"),
        reward_format=part("format"),
        reward_explore=part("explore"),
        calls=sum(note.calls for note in notes),
        prompt_tokens=sum(note.prompt_tokens for note in notes),
        response_tokens=sum(note.response_tokens for note in notes),
        seconds=episode.seconds,
        agent_seconds=sum(note.agent_seconds for note in notes),
        env_seconds=sum(note.env_seconds for note in notes),
        tries=int(info.get("tries", 1)),
        error=episode.error,
    )


def write_csv(rows: Iterable[Row], path: Path) -> None:
    """Write the table as CSV; what is not known is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [item.name for item in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_cells, rows))
    write_atomically(path, text.getvalue())


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write the table as Parquet, which needs pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra.of("Writing Parquet", "parquet") from error
    cells = list(map(_cells, rows))
    table = pyarrow.Table.from_pylist(cells, schema=_arrow_schema(pyarrow))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        pyarrow.parquet.write_table(table, os.fspath(draft))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _cells(row: Row) -> dict[str, Any]:
    # Names and errors come from outside: no character in them may break a line, a file or a terminal.
    return {
        name: _CONTROL.sub("\N{REPLACEMENT CHARACTER}", value) if isinstance(value, str) else value
        for name, value in asdict(row).items()
    }


def _arrow_schema(pyarrow: Any) -> Any:
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    columns = []
    for name, hint in get_type_hints(Row).items():
        kinds = [kind for kind in getattr(hint, "__args__", (hint,)) if kind is not type(None)]
        columns.append(pyarrow.field(name, types[kinds[0]], nullable=hint not in types))
    return pyarrow.schema(columns)
