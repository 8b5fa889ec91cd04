"""The names that commands and texts use ("desk 1"), made from the ids of a game file as ALFWorld makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = {"_bar_": "|", "_minus_": "-", "_plus_": "+", "_dot_": ".", "_comma_": ","}


def entity_names(ids: Iterable[str]) -> dict[str, str]:
    """Id → name. Things of a kind are numbered from the last id backwards, in the order of their ids."""
    ordered = sorted(ids)
    left = Counter(kind for kind in map(_kind, ordered) if kind is not None)
    names: dict[str, str] = {}
    for id_ in ordered:
        kind = _kind(id_)
        if kind is None:
            names[id_] = f"{_readable(id_)} "  # the blank is ALFWorld's: the place of a number that is not there
        else:
            names[id_] = f"{kind} {left[kind]}"
            left[kind] -= 1
    return names


def _kind(id_: str) -> str | None:
    kind, bar, _ = id_.partition("_bar_")
    if not bar:
        return None
    # "Sink|…|SinkBasin" is the basin, not the sink around it.
    return kind + ("basin" if "basin" in id_ else "")


def _readable(id_: str) -> str:
    for word, sign in _PUNCTUATION.items():
        id_ = id_.replace(word, sign)
    return id_
