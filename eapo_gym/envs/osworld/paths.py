"""Where on the machine the paths of a task's file lead.

The benchmark's files say /home/user, and the local desktop shows its home directory at exactly that place, so a path
means the same on both. A path without a folder ("setup.sh") is one in the home directory: there the server runs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from eapo_gym.envs.osworld.tasks import ConfigStep, DesktopTask

HOME = PurePosixPath("/home/user")
"""The home directory of the benchmark's machines, and of the local desktop as it looks from inside."""

_FILES_OF_GETTERS = {
    "vm_file": ("path",),
    "content_from_vm_file": ("path",),
    "vscode_config": ("path",),
    "list_directory": ("path",),
    "audio_in_slide": ("ppt_file_path",),
    "background_image_in_slide": ("ppt_file_path",),
}
"""The getters that are told a path on the machine, and where. All others know their own, or run a command."""

_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|\Z)")
_OTHER_SYSTEM = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def on_machine(path: str, home: PurePosixPath = HOME) -> PurePosixPath:
    """A path of a task's file as an absolute one, without `~`, `$HOME` and `..`."""
    whole = _HOME.sub(lambda _: str(home), path, count=1) if _HOME.match(path) else path
    return PurePosixPath("/" + posixpath.normpath(posixpath.join(str(home), whole)).lstrip("/"))


def leaves_home(task: DesktopTask, home: PurePosixPath = HOME) -> str | None:
    """The first path of a task's file that leads out of the home directory, None where all stay inside.

    Files that steps write or open, and files that are judged. What commands do is for the machine to bound.
    """
    for path in paths_of(task):
        if not _inside(path, home):
            return path
    return None


def _inside(path: str, home: PurePosixPath) -> bool:
    rest = _HOME.sub("", path, count=1) if _HOME.match(path) else path
    if "\0" in path or "$" in rest or rest.startswith("~") or _OTHER_SYSTEM.match(path):
        return False  # another's home, a variable, or another system's path: nobody knows where they lead
    return on_machine(path, home).is_relative_to(home)


def paths_of(task: DesktopTask) -> Iterator[str]:
    """The paths on the machine that a task's file names, in its order."""
    for step in (*task.config, *task.evaluator.postconfig):
        yield from _of_step(step)
    for check in task.evaluator.checks:
        for getter in (check.result, check.expected):
            if getter is not None:
                yield from _of_getter(getter)


def _of_step(step: ConfigStep) -> Iterator[str]:
    if step.type in ("download", "upload_file"):
        yield from (file["path"] for file in step.parameters["files"])
    elif step.type in ("open", "change_wallpaper"):
        yield step.parameters["path"]


def _of_getter(getter: Mapping[str, Any]) -> Iterator[str]:
    for name in _FILES_OF_GETTERS.get(getter["type"], ()):
        value = getter.get(name)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str):
                yield path
