"""Copies of homes: what comes back is what was there, and links lead nowhere."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eapo_gym.envs.osworld.desktop import homes, seeds
from eapo_gym.envs.osworld.desktop.folders import Folder

names = st.text("abc .äß", min_size=1, max_size=6).filter(lambda name: name.strip(".") and "/" not in name)
contents = st.recursive(
    st.binary(max_size=100) | st.sampled_from(["target", "/etc/passwd", "../.."]),
    lambda inner: st.dictionaries(names, inner, max_size=4),
    max_leaves=10,
)
trees = st.dictionaries(names, contents, max_size=5)


def _make(folder: Path, tree: dict) -> None:
    for name, content in tree.items():
        if isinstance(content, dict):
            (folder / name).mkdir()
            _make(folder / name, content)
        elif isinstance(content, str):
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_bytes(content)


def _look(folder: Path) -> dict:
    found: dict = {}
    for entry in os.scandir(folder):
        if entry.is_symlink():
            found[entry.name] = os.readlink(entry.path)
        elif entry.is_dir():
            found[entry.name] = _look(Path(entry.path))
        else:
            found[entry.name] = Path(entry.path).read_bytes()
    return found


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=trees, after=trees)
def test_a_home_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, before: dict, after: dict) -> None:
    root = tmp_path_factory.mktemp("homes")
    home = root / "home"
    home.mkdir()
    _make(home, before)
    copy = homes.save(home, root / "copies")
    homes.empty(home)
    _make(home, after)
    inode = home.stat().st_ino
    homes.load(copy, home)
    assert _look(home) == before
    assert home.stat().st_ino == inode


def test_modes_and_times_are_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    script = home / "folder" / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    os.utime(script, (1_000_000, 2_000_000))
    (home / "folder").chmod(0o700)
    copy = homes.save(home, tmp_path / "copies")
    found = (copy.path / "folder" / "run.sh").stat()
    assert stat.S_IMODE(found.st_mode) == 0o750
    assert found.st_mtime == 2_000_000
    assert stat.S_IMODE((copy.path / "folder").stat().st_mode) == 0o700


def test_what_links_lead_to_is_neither_read_nor_touched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("private")
    home = tmp_path / "home"
    home.mkdir()
    (home / "folder").symlink_to(secret)
    (home / "file").symlink_to(secret / "key")
    copy = homes.save(home, tmp_path / "copies")
    assert (copy.path / "folder").is_symlink()
    assert (copy.path / "file").is_symlink()
    homes.load(copy, home)
    homes.empty(home)
    homes.give(home, os.getuid())
    assert (secret / "key").read_text() == "private"


def test_pipes_do_not_hang_a_copy(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.mkfifo(home / "pipe")
    (home / "file").write_text("text")
    copy = homes.save(home, tmp_path / "copies")
    assert sorted(entry.name for entry in copy.path.iterdir()) == ["file"]


def test_a_forgotten_copy_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "file").touch()
    copy = homes.save(home, tmp_path / "copies")
    copy.forget()
    with pytest.raises(ValueError, match="forgotten"):
        homes.load(copy, home)
    assert (home / "file").exists()


def test_a_new_home_is_complete(tmp_path: Path) -> None:
    import configparser
    import xml.etree.ElementTree as ElementTree

    seeds.plant(tmp_path)
    assert all((tmp_path / name).is_dir() for name in seeds.FOLDERS)
    office = tmp_path / ".config/libreoffice/4/user/registrymodifications.xcu"
    assert len(ElementTree.fromstring(office.read_text(encoding="utf-8"))) > 10
    programs = configparser.ConfigParser(delimiters="=")
    programs.read(tmp_path / ".config/mimeapps.list")
    assert programs["Default Applications"]["text/csv"] == "libreoffice-calc.desktop"
    profiles = configparser.ConfigParser()
    profiles.read(tmp_path / ".thunderbird/profiles.ini")
    assert (tmp_path / ".thunderbird" / profiles["Profile0"]["Path"] / "user.js").is_file()


def test_what_a_killed_process_left_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    running = Folder(None)
    abandoned = Folder(None)
    abandoned._lock.close()  # as the kernel does it for a process that ends
    other = tmp_path / "eapo-desktop-of-somebody"
    other.mkdir()
    new = Folder(None)
    assert set(tmp_path.iterdir()) == {running.places.root, other, new.places.root}
    new.remove()
    running.remove()
    assert list(tmp_path.iterdir()) == [other]
