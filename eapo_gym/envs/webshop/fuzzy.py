"""How alike two phrases are, from 0 to 100: the token set ratio of `thefuzz`, with exactly its numbers.

The benchmark takes two phrases for the same where this is above 85. It is computed here rather than by a package
because the shop then needs none; the tests compare it with `thefuzz` and `rapidfuzz` where these are installed.

"The benchmark's numbers" means thefuzz 0.20 and later. Earlier ones count by another measure of likeness (Python's
`difflib`, or python-Levenshtein where it is installed), so that they differ even from one machine to the next.
"""

from __future__ import annotations

import re
from functools import lru_cache

ALIKE = 85
"""Two phrases mean the same to the benchmark where their ratio is higher."""

_NOT_WORD = re.compile(r"[\W_]")
_LETTERS: dict[int, str | None] = dict.fromkeys(range(128, 256)) | {0x130: "i"}
"""What thefuzz drops before it compares (other letters beyond ASCII stay), and the one capital whose small letter
is two in Python and one there."""


@lru_cache(maxsize=65536)
def alike(first: str, second: str) -> bool:
    """Whether the benchmark takes two phrases for the same."""
    return _token_set_ratio(first, second, ALIKE) > ALIKE


def token_set_ratio(first: str, second: str) -> int:
    """100 where the words of one are among those of the other, less the more the remaining words differ."""
    return _token_set_ratio(first, second, 0)


def _token_set_ratio(first: str, second: str, floor: int) -> int:
    """The ratio, or some number that is not above the floor where the ratio is not either: that is quicker."""
    words_1, words_2 = _words(first), _words(second)
    if not words_1 or not words_2:
        return 0
    common = words_1 & words_2
    if common and (len(common) == len(words_1) or len(common) == len(words_2)):
        return 100
    rest_1 = " ".join(sorted(words_1 - common))
    rest_2 = " ".join(sorted(words_2 - common))
    shared = sum(map(len, common)) + len(common) - 1 if common else 0
    gap = 1 if common else 0
    length_1, length_2 = shared + gap + len(rest_1), shared + gap + len(rest_2)
    best = float(floor)
    if common:
        shorter = min(len(rest_1), len(rest_2))
        best = max(best, _ratio(gap + shorter, 2 * shared + gap + shorter))
    if _ratio(abs(len(rest_1) - len(rest_2)), length_1 + length_2) > best:  # else no order of letters can be better
        distance = len(rest_1) + len(rest_2) - 2 * _longest_common(rest_1, rest_2)
        best = max(best, _ratio(distance, length_1 + length_2))
    return round(best)


def _ratio(distance: int, length: int) -> float:
    return 100.0 - 100.0 * distance / length


@lru_cache(maxsize=16384)
def _words(text: str) -> frozenset[str]:
    return frozenset(_NOT_WORD.sub(" ", text.translate(_LETTERS)).lower().split())


def _longest_common(first: str, second: str) -> int:
    """The length of the longest common subsequence, a bit per letter of the first (Hyyrö's recurrence)."""
    places: dict[str, int] = {}
    for place, letter in enumerate(first):
        places[letter] = places.get(letter, 0) | 1 << place
    everything = (1 << len(first)) - 1
    free = everything
    for letter in second:
        if letter in places:
            met = free & places[letter]
            free = ((free + met) | (free - met)) & everything
    return len(first) - free.bit_count()
