"""The pictures of a report: each once, scaled down, within a budget of bytes that is kept whatever the run holds."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from eapo_gym.bench.records import Episode
from eapo_gym.bench.report.view import pictures_of
from eapo_gym.errors import MissingExtra

_SCALES = ((45_000, 1280, 75), (15_000, 960, 70), (0, 640, 60))
"""(bytes that the budget has for each picture, longest side in pixels, quality of the WebP): the first that fits."""

_AT_A_TIME = 32


@dataclass(slots=True)
class Album:
    """The pictures that found room, and why the others did not."""

    pictures: dict[str, bytes] = field(default_factory=dict)
    """WebP, by name."""

    left_out: int = 0
    missing: int = 0
    """Named by an episode, and not in the run's folder."""

    longest_side: int = 0
    budget: float = 0.0
    """In megabytes."""

    def notice(self) -> str:
        """What a reader has to know about the pictures, or nothing."""
        said = []
        if self.pictures:
            size = sum(map(len, self.pictures.values())) / 1e6
            said.append(
                f"{_count(len(self.pictures))}, scaled down to at most {self.longest_side} pixels ({size:.1f} MB)."
            )
        if self.left_out:
            said.append(f"{_count(self.left_out)} left out, since the limit is {self.budget:g} MB.")
        if self.missing:
            said.append(f"{_count(self.missing)} not found in the run's folder, or not readable.")
        return " ".join(said)

    def encoded(self) -> Iterator[tuple[str, str]]:
        for name, data in self.pictures.items():
            yield name, base64.b64encode(data).decode("ascii")


def make_album(sources: Sequence[tuple[Path | None, Sequence[Episode]]], megabytes: float) -> Album:
    """The pictures of the episodes of some runs; each source is the folder of a run's pictures, and its episodes.

    Episodes get their pictures whole, one of each outcome and kind of task in turn, until the budget is used up.
    """
    names: dict[str, Path | None] = {}
    for folder, episode in _in_turn(sources):
        for name in pictures_of(episode):
            names.setdefault(name, None if folder is None else _path(folder, name))
    album = Album(budget=megabytes)
    there = {name: path for name, path in names.items() if path is not None}
    album.missing = len(names) - len(there)
    if not there or megabytes <= 0:
        album.left_out = len(there)
        return album
    budget = int(megabytes * 1e6)
    _, album.longest_side, quality = next(scale for scale in _SCALES if budget / len(there) >= scale[0])
    _fill(album, there, budget, quality)
    return album


def _fill(album: Album, paths: Mapping[str, Path], budget: int, quality: int) -> None:
    image_module = _pillow()
    rest = list(paths.items())
    room = budget
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(rest), _AT_A_TIME):
            some = rest[start : start + _AT_A_TIME]
            scaled = pool.map(lambda item: _scaled(image_module, item[1], album.longest_side, quality), some)
            for (name, _), data in zip(some, scaled, strict=True):
                if data is None:
                    album.missing += 1
                elif len(data) > room:
                    album.left_out = len(rest) - len(album.pictures) - album.missing
                    return
                else:
                    album.pictures[name] = data
                    room -= len(data)


def _scaled(image_module: Any, path: Path, longest_side: int, quality: int) -> bytes | None:
    try:
        with image_module.open(path) as image:
            small = image.convert("RGB")
    except (OSError, SyntaxError, ValueError, image_module.DecompressionBombError):
        return None  # whatever file it is, it is no picture; the report counts it
    small.thumbnail((longest_side, longest_side))
    out = io.BytesIO()
    small.save(out, "WEBP", quality=quality, method=2)
    return out.getvalue()


def _in_turn(sources: Sequence[tuple[Path | None, Sequence[Episode]]]) -> Iterator[tuple[Path | None, Episode]]:
    groups: dict[tuple[int, str, str], list[tuple[Path | None, Episode]]] = {}
    for run, (folder, episodes) in enumerate(sources):
        for episode in episodes:
            kind = str(episode.trajectory.info.get("task_type", ""))
            groups.setdefault((run, episode.outcome, kind), []).append((folder, episode))
    return (item for item in chain.from_iterable(zip_longest(*groups.values())) if item is not None)


def _path(folder: Path, name: str) -> Path | None:
    """The file of a picture; a name from a results file leads nowhere but into the run's own folder."""
    if Path(name).name != name or name in (".", ".."):
        return None
    path = folder / name
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):  # longer than names may be, or with a zero in it
        return None


def _count(pictures: int) -> str:
    return f"{pictures} picture{'s' * (pictures != 1)}"


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra.of("A report with screenshots (leave them out with a limit of 0 MB)", "gui") from error
    return Image
