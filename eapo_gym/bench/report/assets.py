"""The scripts and styles of the pages, which stand in this folder as files of their own."""

from __future__ import annotations

import base64
from hashlib import sha256
from importlib.resources import files

VIEWER_SCRIPTS = ("dom.js", "diff.js", "graph.js", "viewer.js")
"""In this order they make `EpisodeViewer`; a page that shows episodes has its own script after them."""

VIEWER_STYLES = ("theme.css", "viewer.css")


def asset(*names: str) -> str:
    """The files of these names, one after the other."""
    return "\n".join(files(__package__).joinpath(name).read_text(encoding="utf-8") for name in names)


def policy(script: str, *more: str) -> str:
    """A content security policy under which this very script may run and no other, and nothing is loaded.

    `more` are directives in addition, such as `connect-src 'self'`.
    """
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    directives = (
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join((*directives, *more))
