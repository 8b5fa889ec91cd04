"""`eapo-gym new-env`: the template, and what to do with it."""

from __future__ import annotations

from pathlib import Path

from eapo_gym.cli.terminal import console, plain
from eapo_gym.scaffold import new_env


def write_env(name: str, folder: Path) -> None:
    """Write the template and say how to go on."""
    written = new_env(name, folder)
    out = console()
    for path in written:
        out.print(plain(f"wrote {path}"))
    module = next(path for path in written if path.suffix == ".py" and not path.name.startswith("test_"))
    test = next(path for path in written if path.name.startswith("test_"))
    made = _class_in(module)
    out.print(plain(f"\nIt works as it is. Try it, then make it yours:\n  eapo-gym play {module}:{made}"))
    out.print(plain(f"  eapo-gym check {module}:{made}\n  pytest {test}"))


def _class_in(module: Path) -> str:
    """The environment's class: the last one of the template."""
    lines = module.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("class ") and "AgentEnv" in line][-1].split("(")[0].split()[1]
