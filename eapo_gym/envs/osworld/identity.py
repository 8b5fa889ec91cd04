"""Which state a desktop is in, as far as its windows and the task's files tell: the same in every process and run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from eapo_gym.envs.osworld.elements import Element

_TIME = re.compile(
    r"\b\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
    r"|\b(?:just now|(?:an?|\d+) (?:second|minute|hour)s? ago)\b"
)
_DATE = re.compile(
    r"\b(?:(?:Mon|Tue|Wednes|Thurs|Fri|Satur|Sun)(?:day)?,? )?(?:\d{1,2} )?"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}(?:,? \d{4})?\b|\b\d{4}-\d{2}-\d{2}\b"
)


def fingerprint(front: str, elements: Iterable[Element], files: Mapping[str, str], *more: str) -> str:
    """From the title in front, what can be seen and pointed to, and the digests of files by their paths.

    Where things are does not belong to it (LibreOffice changes its mind about that), nor what time it is; what somebody
    wrote does, a time as well. Of tool bars only what is written in them belongs to it: the rest repeats what can be
    seen elsewhere, a quarter of a second late.
    """
    digest = blake2b(digest_size=16)
    for part in (more, timeless(front), sorted(files.items()), [_told(element) for element in elements]):
        digest.update(repr(part).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def said(elements: Iterable[Element]) -> list[str]:
    """What stands on a screen, each of it once; not what clocks say."""
    texts = (" ".join(_words(element)[0].split()) for element in elements)
    return list(dict.fromkeys(filter(None, texts)))


def timeless(text: str) -> str:
    """A text in which all times and days are the same."""
    return _TIME.sub("⏱", _DATE.sub("⏱", text))


def _told(element: Element) -> tuple[object, ...]:
    where = (timeless(element.window), element.kind)
    if element.in_bar:
        return (*where, *(_words(element) if element.editable else ()))
    states = (element.checked, element.enabled, element.expanded, element.focused, element.selected)
    return (*where, *_words(element), states)


def _words(element: Element) -> tuple[str, str]:
    if element.editable:
        return element.text or element.name, element.name
    return timeless(element.text or element.name), timeless(element.name)
