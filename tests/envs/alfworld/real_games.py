"""Games of the benchmark itself, for the tests that want them where they are at hand."""

from __future__ import annotations

import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.envs.alfworld.data import data_folder

ARCHIVE = Path(__file__).parents[4] / "shared/data/alfworld/json_2.1.1_games.tar.xz"
"""An archive of them that may stand beside the repository."""


@cache
def real_games(split: str, most: int) -> dict[str, dict[str, Any]]:
    """Task → game, for up to `most` games of a split; skips the test where there are none."""
    folder = data_folder() / "json_2.1.1" / split
    games: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*/*/game.tw-pddl"))[:most]:
        games[str(file.parent.relative_to(folder))] = json.loads(file.read_bytes())
    if not games and ARCHIVE.exists():
        with tarfile.open(ARCHIVE) as archive:
            for member in archive:
                path = Path(member.name)
                content = archive.extractfile(member)
                if content and path.name == "game.tw-pddl" and path.parts[-4] == split:
                    games["/".join(path.parts[-3:-1])] = json.loads(content.read())
                    if len(games) == most:
                        break
    if not games:
        pytest.skip("no game of the benchmark is here: set ALFWORLD_DATA, or run 'eapo-gym data alfworld'")
    return games
