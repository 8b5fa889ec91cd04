"""The official download of ALFWorld's data: its own command `alfworld-download`, found, run, and run again.

The command fetches three archives and unpacks each of them before it goes on to the next, then fetches a detector for
the visual environment. It continues a partial download; but what it has unpacked it throws away, and would fetch again.
It passes over files that are there, so placeholders, gone again afterwards, keep it from fetching what is not needed:

* archives that it had finished when it was broken off, which is certain once a later one has begun;
* the detector, unless it is asked for. The command has no option to leave it out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path

from eapo_gym.envs.alfworld.reference import PYTHON_VARIABLE
from eapo_gym.errors import EapoError

COMMAND = "alfworld-download"
ARCHIVES = ("json_2.1.1_json.zip", "json_2.1.1_pddl.zip", "json_2.1.2_tw-pddl.zip")
DETECTOR = Path("detectors") / "mrcnn_alfred_objects_sep13_004.pth"
PARTIAL = ".partial"
"""Folder for partial downloads, within the data: the same disk, and no other download's leftovers."""


class NoDownloader(EapoError, FileNotFoundError):
    """The official command is not installed."""


def find_command(python: str | None = None) -> Path:
    """The official command, beside the interpreter that is named, or that of the reference engine, or this one."""
    pythons = [python] if python else [os.environ.get(PYTHON_VARIABLE), sys.executable]
    for interpreter in filter(None, pythons):
        found = shutil.which(COMMAND, path=str(Path(interpreter).parent))
        if found:
            return Path(found)
    found = None if python else shutil.which(COMMAND)
    if found:
        return Path(found)
    where = f"beside {python}" if python else "here"
    raise NoDownloader(
        f"ALFWorld's own command {COMMAND!r} is not installed {where}: pip install 'eapo-gym[alfworld]', in this "
        "environment or in another one whose interpreter you name with --python. (An archive that you have already is "
        "unpacked with --from ARCHIVE.)"
    )


def download(command: Path, data: Path, *, detector: bool = False) -> int:
    """Run the official command until it ends; returns its exit status. Broken off, it can be run again."""
    partial = data / PARTIAL
    partial.mkdir(parents=True, exist_ok=True)
    variables = {**os.environ, "ALFWORLD_DATA": str(data), "TMPDIR": str(partial)}
    with ExitStack() as placeholders:
        for name in finished_archives(data):
            placeholders.enter_context(_placeholder(data / name, _empty_archive()))
        if not detector:
            placeholders.enter_context(_placeholder(data / DETECTOR, b""))
        try:
            status = subprocess.run([str(command), "--data-dir", str(data)], env=variables, check=False).returncode
        except OSError as error:
            raise NoDownloader(f"{command} cannot be run: {error.strerror}.") from error
    if status == 0:
        shutil.rmtree(partial)
    return status


def finished_archives(data: Path) -> tuple[str, ...]:
    """The archives that a download which was broken off had unpacked."""
    begun = [i for i, name in enumerate(ARCHIVES) if any(place.exists() for place in _places(data, name))]
    return ARCHIVES[: max(begun)] if begun else ()


def _places(data: Path, archive: str) -> tuple[Path, Path]:
    """Where an archive lies before it is unpacked: whole, and in part."""
    return data / archive, data / PARTIAL / "alfworld" / archive


@contextmanager
def _placeholder(path: Path, content: bytes) -> Iterator[None]:
    """A file that stands in for one that is not there; one that an earlier run left behind is taken over."""
    if path.exists() and path.stat().st_size != len(content):
        yield  # the real thing
        return
    made_folder = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    try:
        yield
    finally:
        if path.exists() and path.stat().st_size == len(content):
            path.unlink()
        if made_folder and not any(path.parent.iterdir()):
            path.parent.rmdir()


def _empty_archive() -> bytes:
    content = BytesIO()
    zipfile.ZipFile(content, "w").close()
    return content.getvalue()
