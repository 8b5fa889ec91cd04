"""What Chromium keeps in its profile, and small pages for it to show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

PROFILE = "/home/user/.config/chromium/Default"


def page(title: str, body: str) -> bytes:
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    ).encode()


def bookmarks(bar: Sequence[tuple[str, str]]) -> bytes:
    """The file of bookmarks, with these titles and addresses on the bar."""
    children = [
        {"date_added": "13350000000000000", "guid": _guid(number), "id": str(number), "name": name, "type": "url",
         "url": url} for number, (name, url) in enumerate(bar, 10)
    ]  # fmt: skip
    roots = {
        "bookmark_bar": _folder(1, "Bookmarks bar", children),
        "other": _folder(2, "Other bookmarks", []),
        "synced": _folder(3, "Mobile bookmarks", []),
    }
    return json.dumps({"roots": roots, "version": 1}, indent=3).encode()


def _folder(number: int, name: str, children: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "children": children, "date_added": "13350000000000000", "date_modified": "0", "guid": _guid(number),
        "id": str(number), "name": name, "type": "folder",
    }  # fmt: skip


def _guid(number: int) -> str:
    # The roots have fixed ids of their own in Chromium, which puts them right when it reads the file.
    return f"00000000-0000-4000-a000-{number:012d}"
