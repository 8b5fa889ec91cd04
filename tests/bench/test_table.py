import csv
import io
from dataclasses import fields
from pathlib import Path

import pytest

from eapo_gym.bench.table import Row, row_of, write_csv, write_parquet
from eapo_gym.errors import MissingExtra
from tests.bench.test_metrics import episode


def rows() -> list[Row]:
    odd = episode("q\0\ud800\n1", "infrastructure", states="a")
    odd.error = 'RuntimeError: "x", y\nz\x1b[31m'
    return [row_of(episode("p1", states="abab")), row_of(odd)]


def test_a_row_says_what_its_episode_was() -> None:
    row, odd = rows()
    assert (row.task, row.task_type, row.success, row.steps, row.distinct_states) == ("p1", "p", True, 3, 2)
    assert row.exploration_degree == 1.0
    assert (row.played, odd.played) == (True, False)
    assert (odd.steps, odd.exploration_degree) == (0, None)


def test_csv_has_a_line_for_each_row_whatever_is_in_it(tmp_path: Path) -> None:
    write_csv(rows(), tmp_path / "e.csv")
    text = (tmp_path / "e.csv").read_text(encoding="utf-8")
    assert text.count("\n") == 3
    read = list(csv.DictReader(io.StringIO(text)))
    assert list(read[0]) == [item.name for item in fields(Row)]
    assert (read[0]["task"], read[0]["success"], read[0]["steps"], read[0]["seed"]) == ("p1", "True", "3", "")
    assert read[1]["task"] == "q���1"
    assert read[1]["error"] == 'RuntimeError: "x", y�z�[31m'


def test_parquet_has_one_schema_for_all_tables(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    for name, table in {"two": rows(), "none": []}.items():
        write_parquet(table, tmp_path / name)
    two, none = parquet.read_table(tmp_path / "two"), parquet.read_table(tmp_path / "none")
    assert two.schema == none.schema
    assert {str(kind) for kind in two.schema.types} == {"string", "int64", "double", "bool"}
    assert two.column("steps").to_pylist() == [3, 0]
    assert two.column("exploration_degree").to_pylist() == [1.0, None]
    assert not two.schema.field("task").nullable
    assert sorted(path.name for path in tmp_path.iterdir()) == ["none", "two"]


def test_parquet_without_pyarrow_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"eapo-gym\[parquet\]"):
        write_parquet(rows(), tmp_path / "x")
