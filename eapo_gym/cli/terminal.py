"""What the commands share of the terminal: consoles, progress bars, and texts that nobody has vetted."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

_WIDTH = 120
"""Columns where there is no terminal to ask."""

INTERRUPTED = 130
"""The exit status of what Ctrl-C has stopped, by convention."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def console(stderr: bool = False) -> Console:
    """A console for stdout, where results go, or for stderr, where everything else goes."""
    from rich.console import Console

    stream: TextIO = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH
    return Console(stderr=stderr, highlight=False, width=width)


def progress() -> Progress:
    """A progress bar on stderr that leaves nothing behind, and shows nothing where there is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = console(stderr=True)
    return Progress(*columns, console=bar, transient=True, disable=not bar.is_terminal)


def said_progress(hidden: bool = False) -> Progress:
    """A progress bar whose tasks also say something (the field `said`); for what takes long."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
    )
    screen = console(stderr=True)
    return Progress(*columns, console=screen, transient=True, disable=hidden or not screen.is_terminal)


@contextmanager
def stoppable(folder: Path) -> Iterator[None]:
    """Ctrl-C is a pause: what was finished is kept."""
    try:
        yield
    except KeyboardInterrupt:
        console(stderr=True).print(plain(f"Stopped. The same command goes on with {folder}."), soft_wrap=True)
        raise SystemExit(INTERRUPTED) from None


def plain(text: object, **style: Any) -> Text:
    """A foreign text as it stands: no markup in it means anything, and it cannot steer the terminal."""
    from rich.text import Text

    written = str(text).encode("utf-8", "replace").decode("utf-8")
    return Text(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", written), **style)
