"""The evaluators of the tasks, in the benchmark's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eapo_gym.envs.osworld.own.base import Step

Part = Mapping[str, Any]


def check(
    metric: str,
    result: Part,
    expected: Part | None = None,
    options: Part | None = None,
    before: Sequence[Step] = (),
) -> dict[str, Any]:
    """One metric; `before` are the steps that are done first."""
    said: dict[str, Any] = {"func": metric, "result": result}
    if expected is not None:
        said["expected"] = expected
    if options is not None:
        said["options"] = options
    if before:
        said["postconfig"] = list(before)
    return said


def all_of(*checks: Mapping[str, Any]) -> dict[str, Any]:
    """All of these must hold."""
    steps = [each for one in checks for each in one.get("postconfig", ())]
    said = {
        "func": [one["func"] for one in checks],
        "conj": "and",
        "result": [one["result"] for one in checks],
        "expected": [one.get("expected", {}) for one in checks],
        "options": [one.get("options", {}) for one in checks],
    }
    return said | ({"postconfig": steps} if steps else {})


def on_machine(place: str) -> Part:
    """A file of the machine."""
    return {"type": "vm_file", "path": place, "dest": place.rsplit("/", 1)[-1]}


def beside(name: str) -> Part:
    """A file that stands beside the task, in its folder."""
    return {"type": "cloud_file", "path": name, "dest": f"expected_{name}"}


def rule(**rules: Any) -> Part:
    return {"type": "rule", "rules": rules}


def output(*command: str) -> Part:
    """What a command on the machine writes."""
    return {"type": "vm_command_line", "command": list(command)}


def writes(command: Sequence[str], text: str, before: Sequence[Step] = ()) -> dict[str, Any]:
    """A command writes exactly this."""
    return check("exact_match", output(*command), rule(expected=text), before=before)


def includes(
    command: Sequence[str], include: Sequence[str], exclude: Sequence[str] = (), before: Sequence[Step] = ()
) -> dict[str, Any]:
    """A command writes all of these, and none of those."""
    return check(
        "check_include_exclude", output(*command), rule(include=list(include), exclude=list(exclude)), before=before
    )


def listed(folder: str) -> list[str]:
    """The command that lists all files below a folder, one in a line."""
    return ["bash", "-c", f"cd '{folder}' && find . -type f | LC_ALL=C sort"]
