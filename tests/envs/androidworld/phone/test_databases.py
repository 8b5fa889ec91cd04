from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.phone.databases import Database, DatabaseError, read_database
from eapo_gym.envs.androidworld.phone.files import Files

SCHEMA = (
    "CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', "
    "size REAL, done INTEGER DEFAULT 0, data BLOB)",
    "CREATE TABLE tags (name TEXT)",
    "CREATE INDEX by_title ON notes (title)",
)
TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
VALUES = st.fixed_dictionaries(
    {}, optional={"title": TEXTS, "size": st.floats(allow_nan=False) | st.none(), "data": st.binary() | st.none()}
)


def asked(file: bytes, tmp_path: Path, statement: str) -> list[tuple[Any, ...]]:
    """What the real SQLite finds in it."""
    path = tmp_path / "asked.db"
    path.write_bytes(file)
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


@given(st.lists(VALUES, max_size=6))
def test_what_goes_in_comes_out_of_a_real_sqlite_file(rows: list[dict[str, Any]]) -> None:
    import tempfile

    database = Database.make(*SCHEMA, version=7)
    for number, row in enumerate(rows, 1):
        database, key = database.insert("notes", **row)
        assert key == number
    with tempfile.TemporaryDirectory() as folder:
        found = asked(database.to_bytes(), Path(folder), "SELECT title, size, data, done FROM notes ORDER BY id")
        assert found == [(row.get("title", ""), row.get("size"), row.get("data"), 0) for row in rows]
        assert asked(database.to_bytes(), Path(folder), "PRAGMA user_version") == [(7,)]
    back = read_database(database.to_bytes())
    assert back.tables == database.tables
    assert (back.schema, back.keys, back.version) == (database.schema, database.keys, 7)


def test_numbers_are_not_used_again() -> None:
    database, first = Database.make(*SCHEMA).insert("notes", title="a")
    database, second = database.insert("notes", title="b")
    database = database.delete("notes", lambda row: row["id"] == second)
    database, third = database.insert("notes", title="c")
    assert (first, second, third) == (1, 2, 3)


def test_a_change_leaves_what_was_there() -> None:
    before, _ = Database.make(*SCHEMA).insert("notes", title="a")
    after = before.update("notes", lambda row: True, title="b")
    assert [row["title"] for row in before["notes"]] == ["a"]
    assert [row["title"] for row in after["notes"]] == ["b"]


def test_sql_changes_what_there_is(tmp_path: Path) -> None:
    database, _ = Database.make(*SCHEMA).insert("notes", title="it's")
    database, found = database.ask("SELECT title FROM notes")
    assert found == [("it's",)]
    database, _ = database.ask("DELETE FROM notes")
    assert not database["notes"]


@pytest.mark.parametrize("statement", ["ATTACH DATABASE '/etc/passwd' AS x", "SELECT * FROM nowhere", "nonsense"])
def test_sql_that_is_refused(statement: str) -> None:
    with pytest.raises(DatabaseError):
        Database.make(*SCHEMA).ask(statement)


def test_sql_reaches_no_other_file_of_this_machine(tmp_path: Path) -> None:
    target = tmp_path / "stolen.db"
    with pytest.raises(DatabaseError):
        Database.make(*SCHEMA).ask(f"VACUUM INTO '{target}'")
    assert not target.exists()


def test_what_there_is_not() -> None:
    with pytest.raises(DatabaseError, match=r"one of the tables \['notes', 'tags'\], got 'nots'"):
        Database.make(*SCHEMA)["nots"]
    with pytest.raises(DatabaseError, match=r"columns .* got \['titel'\]"):
        Database.make(*SCHEMA).insert("notes", titel="a")
    with pytest.raises(DatabaseError, match="Expected an SQLite file"):
        read_database(b"SQLite format 3\x00 and no more")


def test_a_pushed_file_is_a_database_for_the_apps() -> None:
    database, _ = Database.make(*SCHEMA).insert("notes", title="a")
    files = Files().write("/data/data/x/databases/notes.db", database.to_bytes(), 1.0)
    assert files.database("/data/data/x/databases/notes.db")["notes"][0]["title"] == "a"
    broken = b"SQLite format 3\x00" + b"\xff" * 100
    assert Files().write("/x.db", broken, 1.0).read("/x.db") == broken
