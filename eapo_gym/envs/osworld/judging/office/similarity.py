"""How much of two texts is the same."""

from __future__ import annotations

from eapo_gym.envs.osworld.judging.registry import Unreadable

LONGEST = 1_000_000


def similarity(one: str, other: str) -> float:
    """From 0 to 1: twice the longest common subsequence, over both lengths. Two empty texts are the same.

    The subsequence is counted a row at a time with the bits of an integer (Hyyrö 2004): bit i is clear where the i-th
    character of `one` takes part.
    """
    if not one and not other:
        return 1.0
    if len(one) * len(other) > LONGEST**2:
        raise Unreadable(f"Expected texts of at most {LONGEST} characters, they have {len(one)} and {len(other)}.")
    positions: dict[str, int] = {}
    for place, character in enumerate(one):
        positions[character] = positions.get(character, 0) | 1 << place
    everything = (1 << len(one)) - 1
    row = everything
    for character in other:
        matched = row & positions.get(character, 0)
        row = (row + matched | row - matched) & everything
    common = len(one) - row.bit_count()
    length = len(one) + len(other)
    return 1.0 - (length - 2 * common) / length
