"""What the local desktop needs of this machine, and what of it is here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from eapo_gym.envs.needs import Need

_PROGRAMS = {
    "bubblewrap": "bwrap",
    "xvfb": "Xvfb",
    "openbox": "openbox",
    "dbus-daemon": "dbus-daemon",
    "x11-xkb-utils": "xkbcomp",
}
_FILES = {
    "at-spi2-core": ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher"),
    "python3-gi": ("/usr/lib/python3/dist-packages/gi/__init__.py",),
    "gir1.2-atspi-2.0": ("/usr/lib/*/girepository-1.0/Atspi-2.0.typelib",),
    "gir1.2-gtk-3.0": ("/usr/lib/*/girepository-1.0/Gtk-3.0.typelib",),
    "python3-xlib": ("/usr/lib/python3/dist-packages/Xlib/__init__.py",),
}
_APPS = {
    "libreoffice-calc": "localc",
    "libreoffice-writer": "lowriter",
    "libreoffice-impress": "loimpress",
    "gimp": "gimp",
    "vlc": "vlc",
    "chromium": "chromium",
    "thunderbird": "thunderbird",
    "pcmanfm": "pcmanfm",
    "xterm": "xterm",
    "mousepad": "mousepad",
    "socat": "socat",
}
_BESIDES = ("adwaita-icon-theme", "fonts-dejavu-core", "libatk-adaptor", "libreoffice-gtk3")
"""What cannot be seen from a program's name, and is installed with the rest."""


def missing_packages(root: Path = Path("/")) -> list[str]:
    """The Debian packages without which no desktop starts."""
    missing = [package for package, program in _PROGRAMS.items() if shutil.which(program) is None]
    missing += [
        package for package, places in _FILES.items() if not any(any(root.glob(place.lstrip("/"))) for place in places)
    ]
    return missing


def missing_apps() -> list[str]:
    """The Debian packages of programs that tasks use, which are not installed."""
    return [package for package, program in _APPS.items() if shutil.which(program) is None]


def install_command() -> str:
    """The one command that installs all of it."""
    packages = sorted({*_PROGRAMS, *_FILES, *_APPS, *_BESIDES})
    return "sudo apt-get install --no-install-recommends " + " ".join(packages)


def sandbox_problem() -> str | None:
    """Why bubblewrap cannot make a sandbox here; None if it can."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return "bubblewrap is not installed"
    command = [bwrap, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "/bin/true"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    if ran.returncode == 0:
        return None
    said = ran.stderr.strip().splitlines()
    return f"this machine does not let bubblewrap make namespaces ({said[-1] if said else f'code {ran.returncode}'})"


def needs() -> list[Need]:
    """What the doctor tells."""
    missing = missing_packages()
    if missing:
        return [Need("local desktop", False, f"not installed: {', '.join(missing)}", install_command())]
    problem = sandbox_problem()
    if problem:
        fix = "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; in Docker: --privileged)"
        return [Need("local desktop", False, problem, fix)]
    apps = missing_apps()
    detail = f"{len(_APPS) - len(apps)} of {len(_APPS)} programs that tasks use"
    found = [Need("local desktop", True, "can be started")]
    found.append(Need("programs", not apps, detail, install_command() if apps else "", optional=True))
    return found
