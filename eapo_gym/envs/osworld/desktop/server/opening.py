"""The program that is meant for a kind of file."""

from __future__ import annotations

from pathlib import Path

from gi.repository import Gio, GLib  # type: ignore[import-not-found]


def open_with_default(path: Path) -> bool:
    """Start it with the file; False where there is none."""
    kind, _ = Gio.content_type_guess(str(path), None)
    program = Gio.AppInfo.get_default_for_type(kind, False)
    if program is None:
        return False
    try:
        return bool(program.launch([Gio.File.new_for_path(str(path))], None))
    except GLib.Error:
        return False
