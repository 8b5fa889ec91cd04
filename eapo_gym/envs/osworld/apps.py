"""The apps that can be opened by name, with the commands that start them on the benchmark's machines.

The local desktop has programs of the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eapo_gym.errors import ActionError, UnknownName

APPS: Mapping[str, Sequence[str]] = {
    "chrome": ("google-chrome", "--remote-debugging-port=1337"),
    "files": ("nautilus",),
    "gimp": ("gimp",),
    "calc": ("libreoffice", "--calc"),
    "impress": ("libreoffice", "--impress"),
    "writer": ("libreoffice", "--writer"),
    "terminal": ("gnome-terminal",),
    "text editor": ("gedit",),
    "thunderbird": ("thunderbird",),
    "vlc": ("vlc",),
    "vs code": ("code",),
}

_OTHER_NAMES: Mapping[str, str] = {
    "browser": "chrome",
    "chromium": "chrome",
    "google chrome": "chrome",
    "file manager": "files",
    "nautilus": "files",
    "libreoffice calc": "calc",
    "spreadsheet": "calc",
    "libreoffice impress": "impress",
    "presentation": "impress",
    "libreoffice writer": "writer",
    "word processor": "writer",
    "gedit": "text editor",
    "editor": "text editor",
    "mail": "thunderbird",
    "email": "thunderbird",
    "vlc media player": "vlc",
    "media player": "vlc",
    "code": "vs code",
    "visual studio code": "vs code",
}


def command_of(name: str) -> Sequence[str]:
    """What starts an app; raises `ActionError` where there is none of that name."""
    wanted = " ".join(name.casefold().split())
    wanted = _OTHER_NAMES.get(wanted, wanted)
    if wanted not in APPS:
        raise ActionError(
            str(UnknownName.of("app", name[:80], APPS)), '{"action_type": "open_app", "app_name": "calc"}'
        )
    return APPS[wanted]
