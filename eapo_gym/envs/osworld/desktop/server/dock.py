"""The bar at the left: a button for each program that is installed."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import gi  # type: ignore[import-not-found]

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # type: ignore[import-not-found]  # noqa: E402

from .windows import DOCK, DOCK_TITLE  # noqa: E402

WIDTH = 64

_PROGRAMS = (
    # name, icon, the program that must be there, what is started
    ("Files", "system-file-manager", "pcmanfm", "nautilus"),
    ("Terminal", "utilities-terminal", "xterm", "gnome-terminal"),
    ("Web Browser", "chromium", "chromium", "google-chrome"),
    ("Mail", "thunderbird", "thunderbird", "thunderbird"),
    ("Calc", "libreoffice-calc", "localc", "localc"),
    ("Writer", "libreoffice-writer", "lowriter", "lowriter"),
    ("Impress", "libreoffice-impress", "loimpress", "loimpress"),
    ("GIMP", "gimp", "gimp", "gimp"),
    ("VLC", "vlc", "vlc", "vlc"),
    ("Text Editor", "accessories-text-editor", "mousepad", "mousepad"),
)


_APART: dict[str, Any] = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
    "start_new_session": True,
}


def main() -> None:
    GLib.set_prgname(DOCK)
    Gdk.set_program_class(DOCK)
    screen = Gdk.Screen.get_default()
    window = Gtk.Window(title=DOCK_TITLE, type_hint=Gdk.WindowTypeHint.DOCK, accept_focus=False)
    window.set_default_size(WIDTH, screen.get_height())
    window.move(0, 0)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4, margin=4)
    window.add(box)
    for name, icon, needed, command in _PROGRAMS:
        if shutil.which(needed, path="/usr/bin:/usr/games"):
            box.pack_start(_button(name, icon, command), False, False, 0)
    window.show_all()
    _keep_free(window)
    Gtk.main()


def _button(name: str, icon: str, command: str) -> Any:
    image = Gtk.Image.new_from_icon_name(icon, Gtk.IconSize.DND)
    image.set_pixel_size(32)
    button = Gtk.Button(image=image, relief=Gtk.ReliefStyle.NONE, can_focus=False)
    button.get_accessible().set_name(name)
    button.connect("clicked", lambda _: _launch(command))
    return button


def _launch(command: str) -> None:
    process = subprocess.Popen([command], **_APART)
    # asked for its end now and then, as it stays in the list of processes otherwise
    GLib.timeout_add_seconds(2, lambda: process.poll() is None)


def _keep_free(window: Any) -> None:
    """Tell the window manager that maximised windows end where the bar begins."""
    from Xlib import display  # type: ignore[import-untyped]

    gi.require_version("GdkX11", "3.0")
    from gi.repository import GdkX11  # noqa: F401

    connection = display.Display()
    bar = connection.create_resource_object("window", window.get_window().get_xid())
    cardinal = connection.intern_atom("CARDINAL")
    bar.change_property(connection.intern_atom("_NET_WM_STRUT"), cardinal, 32, [WIDTH, 0, 0, 0])
    connection.sync()
    connection.close()


if __name__ == "__main__":
    main()
