"""The one thing that a getter reads in a workbook."""

from __future__ import annotations

from pathlib import Path

from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.judging.safe_files import packed
from eapo_gym.errors import MissingExtra


def last_row(path: Path | None) -> list[str]:
    """The cells of the last row of the first sheet, as text, below a row of titles."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtra.of("Checking workbooks", "osworld") from None
    packed(path)  # refuses what unpacks to too much
    rows = list(load_workbook(path, read_only=True, data_only=True).worksheets[0].values)
    if len(rows) < 2:
        raise Unreadable("The workbook has no row below its titles.")
    return ["nan" if cell is None else str(cell) for cell in rows[-1]]
