"""The files in which VLC and GIMP keep their settings, and what VLC plays."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from xml.etree import ElementTree

from eapo_gym.envs.osworld.judging.office.guard import checked_bytes, parsed_xml
from eapo_gym.envs.osworld.judging.registry import Metric
from eapo_gym.envs.osworld.judging.safe_files import existing, text
from eapo_gym.envs.osworld.tasks import TaskFileError

SLIDER_COLOURS = "153;210;153;20;210;20;255;199;15;245;39;29"
BLACKISH = 100

FILE_PLACES = tuple(
    f'information/category[@name="meta"]/info[@name="{name}"]'
    for name in ("filename", "title", "uri", "location", "name")
)
URL_PLACES = (
    *(
        f'information/category[@name="meta"]/info[@name="{name}"]'
        for name in ("url", "URI", "location", "title", "filename")
    ),
    *(f'information/category[@name="Stream 0"]/info[@name="{name}"]' for name in ("Codec", "Type", "Language")),
)
"""Where VLC may say what it plays, the best place first."""


def is_vlc_playing(result: Path | None, rule: Mapping[str, Any]) -> float:
    """Whether VLC says that it plays this file, or this address."""
    there = existing(result)
    status = parsed_xml(checked_bytes(there), there.name)
    if status.findtext("state") != "playing":
        return 0.0
    if rule["type"] == "file_name":
        wanted, played = rule["file_name"], _first(status, FILE_PLACES)
        return float(bool(played) and (posixpath.basename(played) == wanted or played.endswith(wanted)))
    if rule["type"] == "url":
        return float(_plays_address(_first(status, URL_PLACES), rule["url"]))
    return 0.0


def _first(status: ElementTree.Element, places: tuple[str, ...]) -> str:
    return next(filter(None, map(status.findtext, places)), "")


def _plays_address(played: str, wanted: str) -> bool:
    """Of a stream VLC often shows the last part of the address alone."""
    if not played:
        return False
    address = urlparse(wanted)
    if wanted in played or played == posixpath.basename(address.path):
        return True
    shown = urlparse(played)
    return "://" in played and shown.netloc == address.netloc and address.path in shown.path


def is_vlc_recordings_folder(result: Path | None, rule: Mapping[str, Any]) -> float:
    """Whether the first line that sets the folder of recordings sets this one."""
    for line in text(result).split("\n"):
        if "input-record-path" in line and not line.startswith("#"):
            return float(line.split("=")[-1].strip() == rule["recording_file_path"])
    return 0.0


def is_vlc_fullscreen(window: Mapping[str, int] | None, screen: Mapping[str, int] | None) -> float:
    if window is None or screen is None:
        return 0.0
    return float(all(window[side] == screen[side] for side in ("width", "height")))


def check_qt_slider_colours(result: Path | None, rule: Mapping[str, Any]) -> float:
    """Whether the colours of the volume's slider are these, or all nearly black."""
    colours = _last_value(result, "qt-slider-colours", SLIDER_COLOURS)
    if rule["type"] == "match":
        return float(colours == rule["expected_qt_slider_colours"])
    if rule["type"] == "blackish":
        values = [int(value) for value in colours.split(";")]
        whole = len(values) // 3 * 3
        return float(all(value < BLACKISH for value in values[:whole]))
    raise TaskFileError(f"check_qt_slider_colours knows 'match' and 'blackish', not {rule['type']!r}.")


def check_global_key_play_pause(result: Path | None, rule: Mapping[str, Any]) -> float:
    """Whether a key plays and pauses wherever the focus is: 1 or 0."""
    key = _last_value(result, "global-key-play-pause=", "")
    return float(("1" if key else "0") == str(rule["expected_global_key_play_pause"]))


def _setting(name: str, default: str) -> Metric:
    """The metric that asks for one setting of VLC's, whose file does not name what is as VLC has it by itself."""

    def check(result: Path | None, rule: Mapping[str, Any]) -> float:
        return float(_last_value(result, f"{name}=", default) == str(rule[f"expected_{name.replace('-', '_')}"]))

    return check


def _last_value(path: Path | None, mark: str, default: str) -> str:
    """What stands behind "=" in the last line with the mark, even if "#" makes it a comment: as the benchmark reads."""
    value = default
    for line in text(path).split("\n"):
        if mark in line:
            value = line.split("=")[-1].strip()
    return value


def check_config_status(result: Path | None, rule: Mapping[str, Any]) -> float:
    """Whether a line of GIMP's settings, such as (theme "Light"), has this key, or these two, and this value."""
    if result is None:
        return 0.0
    keys = [rule["key"]] if isinstance(rule["key"], str) else list(rule["key"])
    for line in text(result).split("\n"):
        items = [] if line.startswith("#") else line.strip().lstrip("(").rstrip(")").split()
        if items and items[: len(keys)] == keys and items[-1] == rule["value"]:
            return 1.0
    return 0.0


METRICS = {
    "is_vlc_playing": is_vlc_playing,
    "is_vlc_recordings_folder": is_vlc_recordings_folder,
    "is_vlc_fullscreen": is_vlc_fullscreen,
    "check_qt_slider_colours": check_qt_slider_colours,
    "check_qt_bgcone": _setting("qt-bgcone", "1"),
    "check_qt_max_volume": _setting("qt-max-volume", "125"),
    "check_qt_minimal_view": _setting("qt-minimal-view", "0"),
    "check_one_instance_when_started_from_file": _setting("one-instance-when-started-from-file", "1"),
    "check_global_key_play_pause": check_global_key_play_pause,
    "check_config_status": check_config_status,
}
