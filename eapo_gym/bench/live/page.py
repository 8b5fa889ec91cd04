"""The page of a game: the viewer of the reports, and beside it what a person needs to act."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from eapo_gym.bench.report.assets import VIEWER_SCRIPTS, VIEWER_STYLES, asset, policy


@cache
def play_page() -> str:
    """The page. There is nothing of the game in it: that comes as JSON, and is shown as text."""
    page = _own("play.html")
    style = asset(*VIEWER_STYLES) + "\n" + _own("play.css")
    return page.replace("/* style */", style).replace("/* script */", _script())


@cache
def content_policy() -> str:
    """The page's own script and no other may run, and it may talk to this server and no other."""
    return policy(_script(), "connect-src 'self'", "frame-ancestors 'none'")


@cache
def _script() -> str:
    return "\n".join((asset(*VIEWER_SCRIPTS), _own("views.js"), _own("screen.js"), _own("play.js")))


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
