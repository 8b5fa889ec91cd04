"""An app's database: rows in memory, and an SQLite file for whoever pulls or pushes one.

It is immutable, so that a snapshot of the phone is the phone's state itself: every change makes a new one, which shares
all other tables with the old one.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from eapo_gym.errors import EapoError

Value = str | int | float | bytes | None
Row = Mapping[str, Value]
Rows = tuple[Row, ...]
Keep = Callable[[Row], bool]

MAGIC = b"SQLite format 3\x00"


class DatabaseError(EapoError):
    """What was asked of a database that it cannot do."""


@dataclass(frozen=True, eq=False)
class Database:
    """All tables. `key` names the column of a table that counts up by itself."""

    schema: tuple[str, ...]
    """The statements that make the tables, indexes and triggers."""

    tables: Mapping[str, Rows]
    keys: Mapping[str, str]
    version: int = 0
    """`PRAGMA user_version`, by which an app knows which of its versions has made the file."""

    next_keys: Mapping[str, int] | None = None
    """The next number of a table; without one, the highest that is there and one."""

    @classmethod
    def make(cls, *schema: str, version: int = 0) -> Database:
        """An empty one."""
        return read_database(_written(schema, (), version))

    def __getitem__(self, table: str) -> Rows:
        try:
            return self.tables[table]
        except KeyError:
            raise DatabaseError(f"Expected one of the tables {sorted(self.tables)}, got {table!r}.") from None

    def row(self, table: str, key: Value) -> Row | None:
        name = self.keys[table]
        return next((row for row in self[table] if row[name] == key), None)

    def insert(self, table: str, /, **values: Value) -> tuple[Database, int]:
        """With one row more, and that row's number."""
        columns = self._columns(table)
        unknown = values.keys() - set(columns)
        if unknown:
            raise DatabaseError(f"{table}: expected some of the columns {list(columns)}, got {sorted(unknown)}.")
        key = self.keys.get(table)
        number = self._next(table)
        if key is not None:
            if values.get(key) is None:
                values = {**values, key: number}
            given = values[key]
            number = given if isinstance(given, int) else number
        row = {name: values.get(name, default) for name, default in columns.items()}
        counted = {**(self.next_keys or {}), table: max(self._next(table), number + 1)}
        return replace(self, tables={**self.tables, table: (*self[table], row)}, next_keys=counted), number

    def update(self, table: str, where: Keep, /, **values: Value) -> Database:
        rows = tuple({**row, **values} if where(row) else row for row in self[table])
        return replace(self, tables={**self.tables, table: rows})

    def delete(self, table: str, where: Keep) -> Database:
        rows = tuple(row for row in self[table] if not where(row))
        return replace(self, tables={**self.tables, table: rows})

    def to_bytes(self) -> bytes:
        """As an SQLite file."""
        rows = tuple((table, tuple(tuple(row.items()) for row in rows)) for table, rows in self.tables.items())
        return _written(self.schema, rows, self.version)

    def ask(self, statement: str) -> tuple[Database, list[tuple[Any, ...]]]:
        """Run one SQL statement; the database that it leaves, and the rows that it finds."""
        with _opened(self.to_bytes()) as (path, connection):
            connection.set_authorizer(_allowed)
            try:
                found = connection.execute(statement).fetchall()
                connection.commit()
            except sqlite3.Error as error:
                raise DatabaseError(f"{error}") from error
            finally:
                connection.set_authorizer(None)
            connection.close()
            after = path.read_bytes()
        return read_database(after), found

    def _columns(self, table: str) -> Mapping[str, Value]:
        return _columns_of(self.schema, table)

    def _next(self, table: str) -> int:
        counted = (self.next_keys or {}).get(table)
        if counted is not None:
            return counted
        key = self.keys.get(table)
        numbers = [row[key] for row in self[table]] if key is not None else []
        return max((number for number in numbers if isinstance(number, int)), default=0) + 1


def read_database(file: bytes) -> Database:
    """The database in an SQLite file."""
    with _opened(file) as (_, connection):
        try:
            connection.execute("PRAGMA quick_check").fetchone()
            made = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY rowid").fetchall()
            schema = tuple(sql for _, name, sql in made if sql and not name.startswith("sqlite_"))
            tables, keys = {}, {}
            for name in [name for kind, name, _ in made if kind == "table" and not name.startswith("sqlite_")]:
                found = connection.execute(f"SELECT * FROM {_quoted(name)}")
                columns = [column[0] for column in found.description]
                tables[name] = tuple(dict(zip(columns, row, strict=True)) for row in found.fetchall())
                key = _key_of(connection, name)
                if key is not None:
                    keys[name] = key
            [version] = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error as error:
            raise DatabaseError(f"Expected an SQLite file, got something else: {error}.") from error
    return Database(schema, tables, keys, version)


@lru_cache(maxsize=128)
def _columns_of(schema: tuple[str, ...], table: str) -> Mapping[str, Value]:
    """The columns of a table with what they hold if nothing is said."""
    connection = sqlite3.connect(":memory:")
    try:
        for statement in schema:
            connection.execute(statement)
        columns = connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
        return {
            name: None if default is None else connection.execute(f"SELECT {default}").fetchone()[0]
            for _, name, _, _, default, _ in columns
        }
    finally:
        connection.close()


@lru_cache(maxsize=64)
def _written(
    schema: tuple[str, ...],
    tables: tuple[tuple[str, tuple[tuple[tuple[str, Value], ...], ...]], ...],
    version: int,
) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "database"
        connection = sqlite3.connect(path)
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
            # Triggers come last: what they would do to the rows has been done already.
            for statement in schema:
                if not _is_trigger(statement):
                    connection.execute(statement)
            for table, rows in tables:
                for row in rows:
                    names = ", ".join(_quoted(name) for name, _ in row)
                    marks = ", ".join("?" * len(row))
                    connection.execute(
                        f"INSERT INTO {_quoted(table)} ({names}) VALUES ({marks})", [value for _, value in row]
                    )
            for statement in filter(_is_trigger, schema):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {int(version)}")
            connection.commit()
        finally:
            connection.close()
        return path.read_bytes()


@contextmanager
def _opened(file: bytes) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """An SQLite file on the disk for a while, and a connection to it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "database"
        path.write_bytes(file)
        connection = sqlite3.connect(path)
        try:
            yield path, connection
        finally:
            connection.close()


def _allowed(action: int, *_: object) -> int:
    """What a statement may do: all but reach other files of this machine."""
    refused = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA}
    return sqlite3.SQLITE_DENY if action in refused else sqlite3.SQLITE_OK


def _key_of(connection: sqlite3.Connection, table: str) -> str | None:
    columns = connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
    keys = [(name, kind) for _, name, kind, _, _, place in columns if place]
    return keys[0][0] if len(keys) == 1 and keys[0][1].upper() == "INTEGER" else None


def _is_trigger(statement: str) -> bool:
    return statement.split(None, 2)[1].upper() == "TRIGGER"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
