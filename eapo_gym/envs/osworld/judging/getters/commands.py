"""What commands of the task's file say, and what the machine says of itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from eapo_gym.envs.osworld.judging.getters.files import inside, one_from_machine
from eapo_gym.envs.osworld.judging.registry import Scene
from eapo_gym.envs.osworld.tree import Node

WINDOW_SIZE = """
import json, sys
from Xlib import X, display
screen = display.Display()
root = screen.screen().root
listed = root.get_full_property(screen.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
for number in listed.value if listed else []:
    window = screen.create_resource_object("window", number)
    if sys.argv[1].lower() in [name.lower() for name in window.get_wm_class() or ()]:
        place = window.get_geometry()
        print(json.dumps({"width": place.width, "height": place.height}))
        break
"""
"""Runs on the machine, whose server needs Xlib for its own work."""

VIDEOS = """
3gp 3gpp 3gpp2 avi divx dv fli flv mp2t mp4 mp4v-es mpeg mpeg-system msvideo ogg quicktime vnd.divx vnd.mpegurl
vnd.rn-realvideo webm x-anim x-avi x-flc x-fli x-flv x-m4v x-matroska x-mpeg x-mpeg-system x-mpeg2 x-ms-asf
x-ms-asf-plugin x-ms-asx x-ms-wm x-ms-wmv x-ms-wmx x-ms-wvx x-msvideo x-nsv x-ogm x-ogm+ogg x-theora x-theora+ogg
"""
"""The kinds of video that the benchmark asks about."""


def vm_command_line(scene: Scene, config: Mapping[str, Any]) -> str:
    """What a command writes."""
    return scene.computer.execute(config["command"], shell=bool(config.get("shell", False))).output


def vm_command_error(scene: Scene, config: Mapping[str, Any]) -> str:
    """What a command complains of."""
    return scene.computer.execute(config["command"], shell=bool(config.get("shell", False))).error


def vm_terminal_output(scene: Scene, config: Mapping[str, Any]) -> str | None:
    """What the terminal shows that has the focus; None where none has."""
    terminals = [
        terminal
        for application in scene.computer.tree().walk()
        if application.role == "application"
        for frame in application.children
        if "active" in frame.states
        for terminal in frame.walk()
        if terminal.role == "terminal" and "focused" in terminal.states
    ]
    return terminals[0].text.rstrip() if len(terminals) == 1 else None


def vm_screen_size(scene: Scene, config: Mapping[str, Any]) -> dict[str, int]:
    width, height = scene.computer.size
    return {"width": width, "height": height}


def vm_window_size(scene: Scene, config: Mapping[str, Any]) -> dict[str, int] | None:
    """The size of the first window of that class; None where there is none."""
    said = scene.computer.execute(["python3", "-c", WINDOW_SIZE, str(config["app_class_name"])]).output.strip()
    if not said:
        return None
    size: dict[str, int] = json.loads(said)
    return size


def vm_wallpaper(scene: Scene, config: Mapping[str, Any]) -> Path:
    """The picture behind the windows, as GNOME's settings name it; an empty file where there is none."""
    said = scene.computer.execute(["gsettings", "get", "org.gnome.desktop.background", "picture-uri"]).output
    path = unquote(urlparse(said.strip().strip("'")).path)
    dest = str(config["dest"])
    picture = one_from_machine(scene, path, dest) if path else None
    if picture is None:
        picture = inside(scene.cache / "machine", dest)
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(b"")
    return picture


def accessibility_tree(scene: Scene, config: Mapping[str, Any]) -> Node:
    """All that accessibility knows."""
    return scene.computer.tree()


def default_video_player(scene: Scene, config: Mapping[str, Any]) -> str:
    """The program that opens most kinds of video."""
    script = 'for kind in "$@"; do xdg-mime query default "video/$kind"; done'
    said = scene.computer.execute(["sh", "-c", script, "sh", *VIDEOS.split()]).output
    programs = Counter(line for line in said.splitlines() if line)
    return f"{programs.most_common(1)[0][0]}\n" if programs else "unknown"


GETTERS = {
    "vm_command_line": vm_command_line,
    "vm_command_error": vm_command_error,
    "vm_terminal_output": vm_terminal_output,
    "vm_screen_size": vm_screen_size,
    "vm_window_size": vm_window_size,
    "vm_wallpaper": vm_wallpaper,
    "accessibility_tree": accessibility_tree,
    "default_video_player": default_video_player,
}
