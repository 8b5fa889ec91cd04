"""The settings of GIMP, VLC and VS Code, and what VLC plays."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eapo_gym.envs.osworld.inputs import KeyDown, KeyUp, Write
from eapo_gym.envs.osworld.judging.getters.files import MACHINE, inside, one_from_machine
from eapo_gym.envs.osworld.judging.registry import Scene

VLC_STATUS = """
import base64, sys, urllib.request
asked = urllib.request.Request("http://localhost:8080/requests/status.xml")
asked.add_header("Authorization", "Basic " + base64.b64encode(b":password").decode())
nothing_between = urllib.request.build_opener(urllib.request.ProxyHandler({}))
sys.stdout.write(nothing_between.open(asked, timeout=10).read().decode())
"""
"""Runs on the machine; password and port are those that the tasks start VLC's web interface with."""

GIMP_VERSIONS = ("2.10", "3.0")
"""Folders of GIMP's settings: the benchmark's machine has the first."""

PALETTE_SECONDS = 1.0
"""How long a command of VS Code's palette takes to write its file, as the benchmark has it."""


def vlc_config(scene: Scene, config: Mapping[str, Any]) -> Path | None:
    return one_from_machine(scene, str(scene.computer.home / ".config/vlc/vlcrc"), str(config["dest"]))


def vlc_playing_info(scene: Scene, config: Mapping[str, Any]) -> Path | None:
    """What VLC's web interface says of itself; None where it does not answer."""
    said = scene.computer.execute(["python3", "-c", VLC_STATUS])
    if said.code or not said.output:
        return None
    target = inside(scene.cache / MACHINE, str(config["dest"]))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(said.output, encoding="utf-8")
    return target


def gimp_config_file(scene: Scene, config: Mapping[str, Any]) -> Path | None:
    """A file of GIMP's settings; None where it is not there or is empty."""
    name = str(config["file_name"])
    for version in GIMP_VERSIONS:
        path = one_from_machine(scene, str(scene.computer.home / ".config/GIMP" / version / name), str(config["dest"]))
        if path is not None:
            return path if path.stat().st_size else None
    return None


def vscode_config(scene: Scene, config: Mapping[str, Any]) -> Path | None:
    """A file that a command of VS Code's palette writes: the command is chosen there by its name, as hands would."""
    palette = ("ctrl", "shift", "p")
    scene.computer.act(
        [
            *map(KeyDown, palette),
            *map(KeyUp, reversed(palette)),
            Write(str(config["vscode_extension_command"])),
            KeyDown("enter"),
            KeyUp("enter"),
        ]
    )
    time.sleep(PALETTE_SECONDS)
    return one_from_machine(scene, str(config["path"]), str(config["dest"]))


GETTERS = {
    "vlc_config": vlc_config,
    "vlc_playing_info": vlc_playing_info,
    "gimp_config_file": gimp_config_file,
    "vscode_config": vscode_config,
}
