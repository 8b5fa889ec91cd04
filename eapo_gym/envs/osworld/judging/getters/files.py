"""Files: of the machine, from the network, and those that steps before the judging wrote."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from eapo_gym.envs.osworld.judging.registry import CannotJudge, Scene, Unreadable
from eapo_gym.envs.osworld.paths import on_machine
from eapo_gym.envs.osworld.tasks import TaskFileError

MACHINE = "machine"
FETCHED = "fetched"
"""Two folders, so that what was wanted never takes the place of what the agent made where both have one name."""

Fetch = Callable[[Scene, str, Path], bool]
"""Puts a file at a path; False where there is none."""


def vm_file(scene: Scene, config: Mapping[str, Any]) -> Path | list[Path | None] | None:
    """Copies of files of the machine."""
    return _several(scene, config, MACHINE, copy_from_machine, name_of=lambda dest: _with_time(dest, config, scene))


def cloud_file(scene: Scene, config: Mapping[str, Any]) -> Path | list[Path | None] | None:
    """What was wanted, in most tasks: files from the network, or such as the task brings along."""
    return _several(scene, config, FETCHED, _fetch)


def cache_file(scene: Scene, config: Mapping[str, Any]) -> Path:
    """A file that a step before the judging wrote (its `stdout`), or that another check has brought."""
    name = str(config["path"])
    for folder in (scene.cache, scene.cache / MACHINE, scene.cache / FETCHED):
        path = inside(folder, name)
        if path.is_file():
            return path
    raise Unreadable(f"No step before the judging has written {name!r}.")


def content_from_vm_file(scene: Scene, config: Mapping[str, Any]) -> list[str]:
    """The last row of a workbook's first sheet: all that the benchmark asks for."""
    kind = (config.get("file_type"), config.get("file_content"))
    if kind != ("xlsx", "last_row"):
        raise TaskFileError(
            f"Of a file's content only the last_row of an xlsx is known, not {kind[1]!r} of {kind[0]!r}."
        )
    from eapo_gym.envs.osworld.judging.getters.workbooks import last_row

    path = str(config["path"])
    return last_row(one_from_machine(scene, path, PurePosixPath(path).name))


def list_directory(scene: Scene, config: Mapping[str, Any]) -> dict[str, Any]:
    """A folder of the machine with all below: name, type, and children."""
    return folder_tree(scene, str(config["path"]))


def folder_tree(scene: Scene, path: str) -> dict[str, Any]:
    """What `list_directory` gives, for other getters; links are not followed."""
    path = str(on_machine(path, scene.computer.home))
    listing = scene.computer.execute(["find", path, "-mindepth", "1", "-printf", r"%y\t%P\0"])
    if listing.code:
        raise FileNotFoundError(2, "no such folder on the machine", path)
    root: dict[str, Any] = {"type": "directory", "name": PurePosixPath(path).name, "children": []}
    folders = {PurePosixPath("."): root}
    for line in filter(None, listing.output.split("\0")):
        kind, _, below = line.partition("\t")
        where = PurePosixPath(below)
        node: dict[str, Any] = {"type": "directory" if kind == "d" else "file", "name": where.name}
        if kind == "d":
            node["children"] = []
            folders[where] = node
        folders[where.parent]["children"].append(node)
    return root


def inside(folder: Path, name: str) -> Path:
    """The path of that name in the folder; a name that leads out of it is the task's mistake."""
    path = folder / name
    if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
        raise TaskFileError(f"A file is to be called {name!r}: expected a name inside of the folder of the judging.")
    return path


def one_from_machine(scene: Scene, path: str, dest: str) -> Path | None:
    """A copy of one file of the machine."""
    target = inside(scene.cache / MACHINE, dest)
    return target if copy_from_machine(scene, path, target) else None


def copy_from_machine(scene: Scene, path: str, target: Path) -> bool:
    content = scene.computer.read_file(str(on_machine(path, scene.computer.home)))
    if content is None:
        target.unlink(missing_ok=True)
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return True


def _fetch(scene: Scene, address: str, target: Path) -> bool:
    """A file from the network, or one that the task brings along: then the address is a name in its folder."""
    if "://" in address:
        if scene.download is None:
            raise CannotJudge(f"What was wanted is a file of the network ({address}), and nothing is fetched here.")
        source = scene.download(address)
    else:
        if scene.beside is None:
            raise CannotJudge(f"What was wanted is {address!r} beside the task's file, and the task is of no file.")
        source = inside(scene.beside, address)
        if not source.is_file():
            raise TaskFileError(f"What was wanted is {address!r}, and there is no such file in {scene.beside}.")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return True


def _several(
    scene: Scene,
    config: Mapping[str, Any],
    folder: str,
    fetch: Fetch,
    name_of: Callable[[str], str] = str,
) -> Path | list[Path | None] | None:
    """The files that the task asks for: `gives` numbers those that the metric is handed, by default the first alone."""
    several = bool(config.get("multi", False))
    paths, names = (config["path"], config["dest"]) if several else ([config["path"]], [config["dest"]])
    wanted = set(config.get("gives", [0]))
    given: list[Path | None] = []
    for position, (path, name) in enumerate(zip(paths, names, strict=False)):
        target = inside(scene.cache / folder, name_of(str(name)))
        there = fetch(scene, str(path), target)
        if position in wanted:
            given.append(target if there else None)
    return given[0] if len(given) == 1 else given


def _with_time(dest: str, config: Mapping[str, Any], scene: Scene) -> str:
    """With `time_suffix`, when it was looked at stands in the name."""
    if not config.get("time_suffix", False) or config.get("multi", False):
        return dest
    moment = scene.now().strftime(str(config.get("time_format", "%Y%m%d_%H%M%S")))
    name = PurePosixPath(dest)
    return str(name.with_name(f"{name.stem}_{moment}{name.suffix}"))


GETTERS = {
    "vm_file": vm_file,
    "cloud_file": cloud_file,
    "cache_file": cache_file,
    "content_from_vm_file": content_from_vm_file,
    "list_directory": list_directory,
}
