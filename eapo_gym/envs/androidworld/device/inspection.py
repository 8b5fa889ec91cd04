"""What AndroidWorld on a real device needs, looked at one after the other: what `eapo-gym doctor androidworld` shows.

It asks and changes nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from eapo_gym.envs.androidworld.device.connection import CONSOLE_PORT, GRPC_PORT
from eapo_gym.envs.androidworld.device.hosted import PYTHON_VARIABLE, how_to_install, is_installed
from eapo_gym.envs.androidworld.device.sdk import ToolError, find_tool, listens, output_of, serial_of
from eapo_gym.envs.needs import Need

AVD = "AndroidWorld"
API_LEVEL = "33"
SCREEN = "1080x2400"
YEAR = "2023"
"""Every task begins on a day of that year."""

PACKAGES = (
    *("ca.zgrs.clipper", "code.name.monkey.retromusic", "com.android.camera2", "com.android.chrome"),
    *("com.android.settings", "com.arduia.expense", "com.dimowner.audiorecorder", "com.flauschcode.broccoli"),
    *("com.google.android.contacts", "com.google.android.deskclock", "com.google.android.dialer"),
    *("com.google.android.documentsui", "com.simplemobiletools.calendar.pro", "com.simplemobiletools.draw.pro"),
    *("com.simplemobiletools.gallery.pro", "com.simplemobiletools.smsmessenger", "de.dennisguse.opentracks"),
    *("net.cozic.joplin", "net.gsantner.markor", "net.osmand", "org.tasks", "org.videolan.vlc"),
)
"""The apps that the 116 tasks are played in."""

_FORWARDER = "com.google.androidenv.accessibilityforwarder"
_TOOLS = "https://developer.android.com/studio#command-line-tools-only"
_IMAGE = f"system-images;android-{API_LEVEL};google_apis;x86_64"

_MODULES = ("eapo_gym", "android_world", "android_env", "gymnasium")

_ASKS = """
import sys
from importlib.util import find_spec
sys.path.remove("")  # where this was asked does not count
missing = [name for name in sys.argv[1:] if find_spec(name) is None]
sys.exit(sys.executable + " lacks " + ", ".join(missing) if missing else 0)
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look."""

    console_port: int = CONSOLE_PORT
    grpc_port: int = GRPC_PORT
    adb_path: str | None = None
    emulator_path: str | None = None
    avd: str | None = None
    snapshot: str | None = None
    python: str | None = None

    @property
    def start(self) -> str:
        """The command that starts the emulator."""
        begins = f"-snapshot {self.snapshot} -no-snapshot-save" if self.snapshot else "-no-snapshot"
        ports = f"-port {self.console_port} -grpc {self.grpc_port}"
        return f"emulator -avd {self.avd or AVD} {ports} -no-window -no-audio {begins}"

    @property
    def ready(self) -> str:
        """Python that connects once, and lets the benchmark set the device up."""
        ports = f"console_port={self.console_port}, grpc_port={self.grpc_port}"
        return f"gymnasium.make('eapo/AndroidWorld-v0', source='official', {ports}, setup=True)"


def inspect(place: Place) -> list[Need]:
    """All that can be looked at: where something is missing, what needs it is left out."""
    found = [python_need(place.python), _hardware()]
    emulator = find_tool("emulator", place.emulator_path)
    found.append(_emulator(emulator))
    if emulator:
        found.append(_avd(place, emulator))
    adb = find_tool("adb", place.adb_path)
    found.append(_adb(adb, place))
    if not adb:
        return found
    device = _device(place, adb)
    found += [device, _grpc(place)]
    if device.ok:
        ask = partial(_asked, [adb, "-s", serial_of(place.console_port)])
        looks: list[Callable[[], Need]] = [
            lambda: _booted(ask),
            lambda: _version(ask),
            lambda: _root(ask),
            lambda: _screen(ask),
            lambda: _apps(ask, place),
            lambda: _app_states(ask, place),
            lambda: _service(ask),
            lambda: _date(ask),
            lambda: _snapshot(ask, place),
        ]
        try:
            found.extend(look() for look in looks)
        except ToolError as problem:
            found.append(Need("device", False, f"it stopped answering: {problem}", place.start))
    return found


def python_need(python: str | None = None) -> Need:
    """The interpreter that has the benchmark's package."""
    python = python or os.environ.get(PYTHON_VARIABLE) or None
    if python is None:
        said = f"{sys.executable} (${PYTHON_VARIABLE} names no other)"
        if is_installed():
            return Need("android_world", True, f"installed in {said}")
        return Need("android_world", False, f"not installed in {said}", how_to_install("python"))
    try:
        # -E: as in the environment's own process, variables for this Python are none of the other's business.
        output_of([python, "-E", "-c", _ASKS, *_MODULES], timeout=60)
    except ToolError as problem:
        return Need("android_world", False, str(problem), how_to_install(python))
    return Need("android_world", True, f"installed for {python}")


def _asked(prefix: list[str], *words: str) -> str:
    return output_of([*prefix, *words])


Ask = Callable[..., str]


def _hardware() -> Need:
    usable = os.access("/dev/kvm", os.R_OK | os.W_OK)
    if sys.platform != "linux" or usable:
        return Need("virtualisation", True, "/dev/kvm" if usable else "not looked at on this system", optional=True)
    detail = "/dev/kvm is not there, or not for you: an emulator would be too slow to use"
    return Need(
        "virtualisation", False, detail, 'sudo usermod -aG kvm "$USER", or a machine that has it', optional=True
    )


def _emulator(path: str | None) -> Need:
    # One that somebody else started will do.
    fix = "" if path else f"sdkmanager emulator (of Android's command line tools: {_TOOLS})"
    return Need("emulator", path is not None, path or "not found", fix, optional=True)


def _avd(place: Place, emulator: str) -> Need:
    name = place.avd or AVD
    create = f"sdkmanager '{_IMAGE}' && avdmanager create avd -n {name} -d pixel_6 -k '{_IMAGE}'"
    try:
        known = output_of([emulator, "-list-avds"]).split()
    except ToolError as problem:
        return Need("AVD", False, str(problem), create, optional=True)
    detail = f"{name} is not among {', '.join(known) or 'none'}"
    return Need("AVD", name in known, name if name in known else detail, "" if name in known else create, optional=True)


def _adb(path: str | None, place: Place) -> Need:
    if path is None:
        said = f"not at {place.adb_path}" if place.adb_path else "not found"
        return Need("adb", False, said, f"sdkmanager platform-tools (of Android's command line tools: {_TOOLS})")
    try:
        return Need("adb", True, f"{path}: {output_of([path, 'version']).splitlines()[0]}")
    except (ToolError, IndexError) as problem:
        return Need("adb", False, str(problem), "sdkmanager platform-tools")


def _device(place: Place, adb: str) -> Need:
    serial = serial_of(place.console_port)
    try:
        lines = output_of([adb, "devices"]).splitlines()[1:]
    except ToolError as problem:
        return Need("device", False, str(problem), "adb kill-server && adb start-server")
    states = dict(line.split(None, 1) for line in lines if len(line.split(None, 1)) == 2)
    state = states.get(serial)
    if state == "device":
        return Need("device", True, serial)
    if state is not None:
        return Need(
            "device", False, f"{serial} is {state}", f"adb -s {serial} reconnect, or start it again: {place.start}"
        )
    return Need("device", False, f"{serial} is not among {', '.join(states) or 'none'}", place.start)


def _grpc(place: Place) -> Need:
    if listens(place.grpc_port):
        return Need("gRPC", True, f"port {place.grpc_port}")
    return Need("gRPC", False, f"nothing listens at port {place.grpc_port}", f"start it with -grpc: {place.start}")


def _booted(ask: Ask) -> Need:
    booted = ask("shell", "getprop", "sys.boot_completed") == "1"
    return Need("boot", booted, "done" if booted else "not done yet", "" if booted else "wait, and look again")


def _version(ask: Ask) -> Need:
    level = ask("shell", "getprop", "ro.build.version.sdk")
    detail = f"API level {level}; the benchmark is made for {API_LEVEL}"
    fix = "" if level == API_LEVEL else f"an AVD of {_IMAGE}"
    return Need("Android", level == API_LEVEL, detail, fix, optional=True)


def _root(ask: Ask) -> Need:
    allowed = ask("shell", "getprop", "ro.debuggable") == "1"
    detail = "adb may be root" if allowed else "adb may not be root: images with Google Play forbid it"
    return Need("root", allowed, detail, "" if allowed else f"an AVD of {_IMAGE}")


def _screen(ask: Ask) -> Need:
    said = ask("shell", "wm", "size").splitlines()
    size = said[-1].rpartition(" ")[2] if said else "unknown"
    fix = "" if size == SCREEN else "an AVD of the device pixel_6"
    return Need("screen", size == SCREEN, f"{size}; the benchmark is made for {SCREEN}", fix, optional=True)


def _apps(ask: Ask, place: Place) -> Need:
    installed = {line.removeprefix("package:").strip() for line in ask("shell", "pm", "list", "packages").splitlines()}
    missing = [package for package in PACKAGES if package not in installed]
    if not missing:
        return Need("apps", True, f"all {len(PACKAGES)}")
    return Need("apps", False, f"{len(missing)} of {len(PACKAGES)} are missing: {', '.join(missing)}", place.ready)


def _app_states(ask: Ask, place: Place) -> Need:
    """The benchmark's set-up keeps every app's first state, and tasks begin from it."""
    try:
        kept = len(ask("shell", "su", "0", "ls", "/data/data/android_world/snapshots").split())
    except ToolError:
        kept = 0
    detail = f"of {kept} apps" if kept else "none is kept: tasks would begin with what was there before"
    return Need("apps' first states", kept > 0, detail, "" if kept else place.ready)


def _service(ask: Ask) -> Need:
    on = _FORWARDER in ask("shell", "settings", "get", "secure", "enabled_accessibility_services")
    detail = "on" if on else "off: it is installed with the first connection, which needs the network"
    return Need("accessibility service", on, detail, optional=True)


def _date(ask: Ask) -> Need:
    frozen = ask("shell", "settings", "get", "global", "auto_time") == "0"
    year = ask("shell", "date", "+%Y")
    if frozen and year == YEAR:
        return Need("date", True, f"frozen, {year}", optional=True)
    detail = f"{year}, {'frozen' if frozen else 'set by the network'}; every task begins by setting it to {YEAR}"
    return Need("date", False, detail, "adb shell settings put global auto_time 0", optional=True)


def _snapshot(ask: Ask, place: Place) -> Need:
    save = f"adb -s {serial_of(place.console_port)} emu avd snapshot save {place.snapshot or 'ready'}"
    try:
        listed = ask("emu", "avd", "snapshot", "list")
    except ToolError as problem:
        return Need("snapshot", False, str(problem), save, optional=place.snapshot is None)
    names = {word for line in listed.splitlines() for word in line.split()}
    wanted = place.snapshot or "ready"
    detail = wanted if wanted in names else f"there is no snapshot {wanted!r} to bring the device back from"
    return Need("snapshot", wanted in names, detail, "" if wanted in names else save, optional=place.snapshot is None)
