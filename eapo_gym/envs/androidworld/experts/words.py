"""Words as the explorer compares them, and what buttons are commonly called on phones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 48

ADD = ("add", "new", "create", "compose", "start", "write", "insert", "record", "log")
SAVE = ("save", "done", "keep", "ok", "create", "apply", "finish", "store", "write to disk", "set clipboard", "copy")
YES = ("ok", "yes", "done", "confirm", "continue", "select", "accept")
NO = ("cancel", "no", "close", "dismiss", "not now", "later", "keep")
ALLOW = ("while using the app", "allow", "only this time", "got it", "accept", "agree", "skip")
DELETE = (
    "delete",
    "throw away",
    "bin",
    "remove",
    "discard",
    "erase",
    "trash",
    "move to trash",
    "delete now",
    "move to bin",
)
RENAME = ("rename", "change name")
MOVE = ("move", "move to", "move to folder")
COPY = ("copy", "copy to", "copy to folder")
ALL = ("select all", "mark all", "all")
MENU = ("more options", "menu", "more", "options", "overflow")
DRAWER = ("open navigation drawer", "show roots", "navigation drawer", "open drawer")
EVERYTHING = ("all", "logs", "transactions", "list", "history", "more")
SEND = ("sms", "send", "mms")
RECORD = ("start recording", "record", "shutter", "start")
STOP = ("stop recording", "finish recording", "stop", "finish", "shutter", "done")
SEARCH = ("search", "find", "look for")
UP = ("parent folder", "..", "up")


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """The words of a text in small letters, with a blank between them; wi-fi and wifi are the same.

    >>> plain("Wi-Fi & Networks: copy_of_note.md")
    'wifi networks copy of note md'
    """
    words = " ".join(_WORD.findall(text.lower()))
    return words.replace("wi fi", "wifi")


def brief(text: str) -> str:
    """The same, short enough for a note."""
    return plain(text)[:_LONGEST].strip()


def is_one_of(text: str, phrases: Iterable[str]) -> bool:
    return plain(text) in phrases


def says(text: str, phrase: str) -> bool:
    """Whether the words of the phrase stand in the text, one right after the other.

    >>> says("Delete recording", "delete"), says("Deleted", "delete")
    (True, False)
    """
    return f" {plain(phrase)} " in f" {plain(text)} "


def fit(text: str, phrases: Iterable[str]) -> int:
    """How well a label fits: more for earlier phrases, and for one that is all of it; 0 if none of them is in it."""
    known = tuple(phrases)
    for place, phrase in enumerate(known):
        if says(text, phrase):
            return 2 * (len(known) - place) + (plain(text) == plain(phrase))
    return 0
