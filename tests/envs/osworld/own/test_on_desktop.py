"""Tasks done and failed on a real desktop, by the templates' own plans.

A few that are quick, or those whose names begin with a word of `EAPO_DESKTOP_TEMPLATES`; "all" plays all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eapo_gym.envs.osworld.desktop import LocalDesktop
from eapo_gym.envs.osworld.desktop.needs import missing_apps, missing_packages, sandbox_problem
from eapo_gym.envs.osworld.own.base import WAYS, Way
from eapo_gym.envs.osworld.own.catalog import templates
from eapo_gym.envs.osworld.own.verifying import Player

_MISSING = missing_packages()
_PROBLEM = f"packages are missing: {', '.join(_MISSING)}" if _MISSING else sandbox_problem()
_QUICK = "TerminalCount,EditorAddLine,FilesRename"

pytestmark = [
    pytest.mark.skipif(_PROBLEM is not None, reason=f"The local desktop cannot start here: {_PROBLEM}"),
    pytest.mark.skipif(bool(missing_apps()), reason=f"Programs are not installed: {', '.join(missing_apps())}"),
]

for package in ("docx", "openpyxl", "pptx", "PIL"):
    pytest.importorskip(package, reason=f"the tasks' files are made with {package}, which is not installed")


def chosen() -> list[str]:
    words = os.environ.get("EAPO_DESKTOP_TEMPLATES", _QUICK).split(",")
    return [name for name in templates() if "all" in words or any(name.startswith(word) for word in words)]


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Player]:
    folder: Path = tmp_path_factory.mktemp("tasks")
    with LocalDesktop() as desktop:
        yield Player(desktop, desktop.save_home(), folder)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", chosen())
def test_done_and_failed(player: Player, name: str, way: Way) -> None:
    play = player.play(f"valid/{name}/0", way)
    assert play.is_right, play.line()
