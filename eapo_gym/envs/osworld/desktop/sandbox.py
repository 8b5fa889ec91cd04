"""The command line of the sandbox: what a program inside of it can see and do.

Its own users, processes, sockets and network (of which there is only a loopback); `/usr` and the few files of `/etc`
that programs need, read-only; nothing else of this machine. It can write in its home, which is a throw-away folder, and
in folders that live in memory.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HOME = "/home/user"
"""The home inside, as the benchmark's tasks call it."""

UID = 1000

SERVER = "/opt/eapo"
"""Where our own files are inside: the server, wrappers of programs, settings of the window manager."""

MEMORY_FOLDERS = {"/tmp": 1024, "/run": 256, "/var/tmp": 64, "/dev/shm": 1024}
"""What is writable besides the home, with its limit in MiB."""

_ETC = (
    "alternatives",
    "chromium",
    "chromium.d",
    "dbus-1",
    "debian_version",
    "dictionaries-common",
    "fonts",
    "gimp",
    "gtk-2.0",
    "gtk-3.0",
    "host.conf",
    "java-17-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "libreoffice",
    "locale.alias",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "papersize",
    "profile",
    "protocols",
    "python3",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "services",
    "terminfo",
    "thunderbird",
    "vulkan",
    "X11",
    "xdg",
    "xml",
)
"""What programs read of `/etc`. A list of what is let in, as nobody knows what else a machine keeps there."""

_ROOT_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one desktop on this machine."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def programs(self) -> Path:
        """A copy of our own files, so that a package that is updated does not change a desktop that runs."""
        return self.root / "programs"

    @property
    def etc(self) -> Path:
        """The files of `/etc` that are the sandbox's own."""
        return self.root / "etc"

    @property
    def socket(self) -> Path:
        return self.root / "socket"

    @property
    def log(self) -> Path:
        return self.root / "log"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What is put around a command."""

    places: Places
    environment: Mapping[str, str] = field(default_factory=dict)
    bwrap: str = "bwrap"
    system: Path = Path("/")

    def command(self, inside: Sequence[str]) -> list[str]:
        """The whole command line, `inside` being the program and its arguments."""
        line = [self.bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        line += ["--uid", str(UID), "--gid", str(UID), "--hostname", "desktop"]
        line += self._files_of_the_system()
        line += ["--proc", "/proc", "--dev", "/dev"]
        for folder, mebibytes in MEMORY_FOLDERS.items():
            line += ["--size", str(mebibytes * 2**20), "--tmpfs", folder]
        line += ["--perms", "0700", "--dir", f"/run/user/{UID}", "--perms", "1777", "--dir", "/tmp/.X11-unix"]
        line += ["--ro-bind", str(self.places.programs), SERVER, "--bind", str(self.places.home), HOME]
        line += ["--remount-ro", "/dev", "--remount-ro", "/"]
        line += ["--chdir", HOME, "--clearenv"]
        for name, value in self.environment.items():
            line += ["--setenv", name, value]
        return [*line, "--", *inside]

    def _files_of_the_system(self) -> list[str]:
        line = ["--ro-bind", str(self.system / "usr"), "/usr"]
        for name in _ROOT_LINKS:
            path = self.system / name
            if path.is_symlink():
                line += ["--symlink", os.readlink(path), f"/{name}"]
            elif path.is_dir():
                line += ["--ro-bind", str(path), f"/{name}"]
        for name in _ETC:
            line += ["--ro-bind-try", str(self.system / "etc" / name), f"/etc/{name}"]
        for path in sorted(self.places.etc.iterdir()):
            line += ["--ro-bind", str(path), f"/etc/{path.name}"]
        return [*line, "--ro-bind-try", str(self.system / "var/cache/fontconfig"), "/var/cache/fontconfig"]


ETC_FILES = {
    "passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:{UID}:{UID}:user:{HOME}:/bin/bash\n",
    "group": f"root:x:0:\nuser:x:{UID}:\n",
    "hosts": "127.0.0.1\tlocalhost desktop\n::1\tlocalhost\n",
    "hostname": "desktop\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    "machine-id": "0f1e2d3c4b5a69788796a5b4c3d2e1f0\n",
}
"""What the sandbox has instead of this machine's: it knows one user, and no name of the network."""


def environment() -> dict[str, str]:
    """The variables of every program inside; none of this machine's are among them."""
    return {
        "PATH": f"{SERVER}/bin:/usr/bin:/bin:/usr/games",
        "HOME": HOME,
        "USER": "user",
        "LOGNAME": "user",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "DISPLAY": ":0",
        "TERM": "xterm-256color",
        "XDG_RUNTIME_DIR": f"/run/user/{UID}",
        "XDG_CURRENT_DESKTOP": "GNOME",
        "XDG_SESSION_TYPE": "x11",
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path=/run/user/{UID}/bus",
        "PYTHONPATH": f"{SERVER}/python",
        "PYTHONDONTWRITEBYTECODE": "1",
        # accessibility, which each toolkit has to be asked for in its own way
        "GTK_MODULES": "gail:atk-bridge",
        "QT_ACCESSIBILITY": "1",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "GNOME_ACCESSIBILITY": "1",
        # settings are kept in a file of the home, as there is no daemon for them
        "GSETTINGS_BACKEND": "keyfile",
        "SAL_USE_VCLPLUGIN": "gtk3",
        "LIBGL_ALWAYS_SOFTWARE": "1",
    }
