"""What an agent may leave behind to harm whoever judges: it is worth nothing, and is not carried out."""

from __future__ import annotations

import io
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest

from eapo_gym.envs.osworld.judging import registry
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.judging.safe_files import MAX_TEXT_BYTES, database_rows, image, packed, text


def test_a_text_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(MAX_TEXT_BYTES + 1)
    with pytest.raises(Unreadable, match="at most"):
        text(path)


def test_an_archive_that_unpacks_to_too_much_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eapo_gym.envs.osworld.judging.safe_files.MAX_UNPACKED_BYTES", 1000)
    monkeypatch.setattr("eapo_gym.envs.osworld.judging.metrics.archives.MAX_UNPACKED_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2000))
    with pytest.raises(Unreadable, match="at most 1,000"):
        packed(tmp_path / "a.zip")
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        entry = tarfile.TarInfo("zeros")
        entry.size = 2000
        tar.addfile(entry, io.BytesIO(bytes(2000)))
    with pytest.raises(Unreadable, match="too much"):
        registry.metric("compare_archive")(tmp_path / "a.tar", tmp_path / "a.tar")


def test_an_archive_writes_nothing_outside(tmp_path: Path) -> None:
    outside = tmp_path / "escaped.txt"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../escaped.txt", "out")
        archive.writestr(str(outside), "out")
        archive.writestr("in.txt", "in")
    assert registry.metric("compare_archive")(tmp_path / "a.zip", tmp_path / "a.zip") == 1.0
    assert not outside.exists()


def test_a_picture_of_too_many_pixels_is_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = pytest.importorskip("PIL.Image", reason="Pillow reads pictures, and is not installed")
    monkeypatch.setattr("eapo_gym.envs.osworld.judging.office.guard.MOST_PIXELS", 99)
    pictures.new("1", (10, 10)).save(tmp_path / "a.png")
    with pytest.raises(Unreadable, match="at most 99 pixels"):
        image(tmp_path / "a.png")


def test_xml_with_entities_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "status.xml"
    path.write_text('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><root><state>&a;</state></root>')
    with pytest.raises(Unreadable, match="entities"):
        registry.metric("is_vlc_playing")(path, {"type": "file_name", "file_name": "x"})


def test_a_list_that_is_a_program_is_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(Unreadable, match="no list"):
        registry.metric("check_gnome_favorite_apps")(f"[open({str(mark)!r}, 'w')]", {"expected": ["a"]})
    assert not mark.exists()


def made(path: Path, statement: str) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def test_a_database_that_computes_without_end_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eapo_gym.envs.osworld.judging.safe_files.MAX_DATABASE_STEPS", 1_000_000)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS url FROM n"
    path = made(tmp_path / "a.sqlite", f"CREATE VIEW urls AS {endless}")
    with pytest.raises(Unreadable, match="interrupted"):
        database_rows(path, "SELECT count(*) FROM urls")


@pytest.mark.parametrize("query", ["ATTACH '{}' AS other", "DELETE FROM t", "PRAGMA user_version = 1"])
def test_a_query_only_reads(query: str, tmp_path: Path) -> None:
    path = made(tmp_path / "a.sqlite", "CREATE TABLE t (x)")
    before = path.read_bytes()
    with pytest.raises(Unreadable, match="does not answer"):
        database_rows(path, query.format(tmp_path / "made.sqlite"))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.sqlite"]


def test_programs_of_the_agent_are_not_run_here() -> None:
    with pytest.raises(registry.CannotJudge, match="not done here"):
        registry.metric("check_python_file_by_test_suite")(None, None)
