"""One self-contained HTML file: the report of a run, of several runs side by side, or of one episode.

Nothing is loaded from anywhere. All that environments and agents said stands in it as compressed data that the page's
script shows as text, and the page's own policy forbids every other script: an episode can do nothing to its reader.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.records import Episode
from eapo_gym.bench.report.album import Album, make_album
from eapo_gym.bench.report.assets import VIEWER_SCRIPTS, VIEWER_STYLES, asset, policy
from eapo_gym.bench.report.overview import line_of, overview_of
from eapo_gym.bench.report.pack import pack, pack_in_blocks
from eapo_gym.bench.report.view import view_of
from eapo_gym.bench.store import IMAGES_FOLDER, Run

IMAGE_BUDGET = 60.0
"""Megabytes of pictures in a report: what a browser opens at once, and a mail server may still let through."""


def write_report(run: Run | Sequence[Run], path: str | os.PathLike[str], *, images_mb: float = IMAGE_BUDGET) -> Path:
    """Write the report of a run, or of several that are to be compared, as one HTML file."""
    path = Path(path)
    write_atomically(path, report_page(run, images_mb=images_mb))
    return path


def report_page(run: Run | Sequence[Run], *, images_mb: float = IMAGE_BUDGET) -> str:
    """The report of a run, or of several that are to be compared; `images_mb` bounds what its pictures take."""
    runs = [run] if isinstance(run, Run) else list(run)
    if not runs:
        raise ValueError("A report needs at least one run.")
    names = _names(runs)
    title = f"{', '.join(names)}: report"
    return _page(runs, names, title, images_mb, alone=False)


def episode_page(episode: Episode, *, folder: Path | None = None, images_mb: float = IMAGE_BUDGET) -> str:
    """One episode as a page of its own; `folder` is that of its run, where its pictures are."""
    if not episode.trajectory.transitions:
        raise ValueError("An episode without a step has nothing to show.")
    task = episode.trajectory.task
    run = Run({}, [(task, episode.repeat)], [episode], folder)
    title = f"{episode.agent or 'episode'}: {episode.trajectory.transitions[0].goal}"
    return _page([run], [episode.agent], title, images_mb, alone=True)


def _page(runs: Sequence[Run], names: Sequence[str], title: str, images_mb: float, *, alone: bool) -> str:
    episodes = [episode for run in runs for episode in run.episodes]
    rows = [line_of(episode, i) for i, run in enumerate(runs) for episode in run.episodes]
    blocks = []
    at = 0
    for block, (text, count) in enumerate(pack_in_blocks(map(view_of, episodes))):
        blocks.append(_data(f"block-{block}", text))
        for i, row in enumerate(rows[at : at + count]):
            row["block"], row["at"] = block, i
        at += count
    folders = [None if run.folder is None else run.folder / IMAGES_FOLDER for run in runs]
    album = make_album([(folder, run.episodes) for folder, run in zip(folders, runs, strict=True)], images_mb)
    index = {
        "title": title,
        "alone": alone,
        "runs": [overview_of(run, name) for run, name in zip(runs, names, strict=True)],
        "rows": rows,
        "pictures": {name: i for i, name in enumerate(album.pictures)},
        "picture_notice": album.notice(),
    }
    script = asset(*VIEWER_SCRIPTS, "charts.js", "list.js", "report.js")
    parts = {
        "policy": policy(script),
        "title": _text(title),
        "style": asset(*VIEWER_STYLES, "report.css"),
        "index": _data("index", pack(index)),
        "script": script,
        "data": "\n".join([*blocks, *_pictures(album)]),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], asset("report.html"))


def _names(runs: Sequence[Run]) -> list[str]:
    """What the runs are called: by their agents, and where that does not tell them apart by their folders."""
    names = [", ".join(dict.fromkeys(episode.agent for episode in run.episodes)) or "empty run" for run in runs]
    if len(set(names)) < len(names):
        names = [
            f"{name} {i}" if run.folder is None else run.folder.name
            for i, (name, run) in enumerate(zip(names, runs, strict=True), 1)
        ]
    return names


def _data(name: str, text: str) -> str:
    """Data for the script, in an element that is neither shown nor run; the text is base64."""
    return f'<script type="text/plain" id="{name}">{text}</script>'


def _pictures(album: Album) -> list[str]:
    return [_data(f"picture-{i}", text) for i, (_, text) in enumerate(album.encoded())]


def _text(text: str) -> str:
    """Any text as HTML: nothing in it is markup, and everything in it can be written to a file."""
    written = text.encode("utf-8", "replace").decode("utf-8")
    return escape(re.sub(r"[\x00-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", written))
