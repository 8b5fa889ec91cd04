"""Identifiers in the style of the game files: the type, then where the thing was when its room was made."""

from __future__ import annotations


def thing_id(type_: str, position: tuple[int, int, int]) -> str:
    """The id of a thing at a position in centimetres: `Mug_bar__plus_01_dot_23_bar_…`."""
    return "_bar_".join((type_, *map(_metres, position)))


def spot_id(x: int, z: int, turn: int, tilt: int) -> str:
    """The id of a spot to stand on: where on a grid of 25 cm, facing which side, looking how far down in degrees."""
    return "_bar_".join(("loc", *map(_whole, (x, z, turn, tilt))))


def _metres(centimetres: int) -> str:
    sign = {1: "_plus_", 0: "", -1: "_minus_"}[(centimetres > 0) - (centimetres < 0)]
    return f"{sign}{abs(centimetres) // 100:02d}_dot_{abs(centimetres) % 100:02d}"


def _whole(number: int) -> str:
    return f"_minus_{-number}" if number < 0 else str(number)
