from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.phone.files import SDCARD, FileError, Files, resolve

NAMES = st.sampled_from(["a", "b", "c.txt", "d é", "e'f"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
STEPS = st.lists(st.tuples(st.sampled_from(["write", "mkdir", "rm", "cp", "mv"]), PATHS, PATHS), max_size=12)


@given(STEPS)
def test_it_is_a_file_system_like_any_other(steps: list[tuple[str, str, str]]) -> None:
    """The same operations on a real one: what can be done is done, what cannot is refused, and the same is left."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = Files()
        for number, (what, path, other) in enumerate(steps):
            ours, theirs = _ours(files, what, path, other, number), _theirs(root, what, path, other, number)
            assert (ours is None) == (not theirs), (what, path, other)
            files = files if ours is None else ours
        listed = {"/" + str(each.relative_to(root)): each for each in root.rglob("*")}
        assert {path for path in (*files.files, *files.folders) if path != "/"} == set(listed)
        for path, file in files.files.items():
            assert file.read() == listed[path].read_bytes()


def _ours(files: Files, what: str, path: str, other: str, number: int) -> Files | None:
    now = float(number)
    try:
        if what == "write":
            return files.write(path, str(number).encode(), now)
        if what == "mkdir":
            return files.make_folder(path, now)
        if what == "rm":
            return files.remove(path, now)
        return files.copy(path, other, now) if what == "cp" else files.move(path, other, now)
    except FileError:
        return None


def _theirs(root: Path, what: str, path: str, other: str, number: int) -> bool:
    place, target = root / path[1:], root / other[1:]
    try:
        if what == "write":
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(str(number).encode())
        elif what == "mkdir":
            place.mkdir(parents=True, exist_ok=True)
        elif what == "rm":
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        else:
            return _transferred(place, target, moved=what == "mv")
    except OSError:
        return False
    return True


def _transferred(place: Path, target: Path, *, moved: bool) -> bool:
    if not place.exists():
        return False
    target = target / place.name if target.is_dir() else target
    if moved and target == place:
        return True
    if (str(target) + os.sep).startswith(str(place) + os.sep) or _blocked(place, target):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.copytree(place, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(place, target)
    if moved:
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    return True


def _blocked(place: Path, target: Path) -> bool:
    """A file stands where a folder is needed, or the other way round, there or further down."""
    if any(parent.is_file() for parent in target.parents):
        return True
    if place.is_file():
        return target.is_dir()
    if target.is_file():
        return True
    for each in place.rglob("*"):
        there = target / each.relative_to(place)
        if there.exists() and there.is_dir() != each.is_dir():
            return True
    return False


@pytest.mark.parametrize(
    ("path", "one"),
    [
        ("/sdcard/Download/a b.txt", f"{SDCARD}/Download/a b.txt"),
        ("/sdcard", SDCARD),
        ("//data/user/0/com.x/../y", "/data/data/y"),
        ("/sdcardx", "/sdcardx"),
        ("relative/./x", "/relative/x"),
        ("/../..", "/"),
    ],
)
def test_a_path_has_one_name(path: str, one: str) -> None:
    assert resolve(path) == one


def test_a_moved_file_keeps_its_time() -> None:
    files = Files().write("/a/x", b"1", 5.0).move("/a/x", "/b/y", 9.0)
    assert files.get("/b/y").changed == 5.0
    assert "/a/x" not in files


def test_snapshots_are_not_touched_by_what_comes_later() -> None:
    before = Files().write("/a", b"1", 1.0)
    after = before.write("/a", b"2", 2.0).remove("/a", 3.0)
    assert before.read("/a") == b"1"
    assert "/a" not in after
