"""What a sound sounds like: its timbre over time, and how two of these fit each other.

The measures are the usual ones (mel-frequency cepstral coefficients, and dynamic time warping on a coarse grid first),
with the numbers that the benchmark's libraries have by themselves, so that its scores come out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.judging.safe_files import existing
from eapo_gym.errors import MissingExtra

RATE = 22_050
WINDOW, STEP = 2_048, 512
BANDS, COEFFICIENTS = 128, 20
QUIETEST, DECIBELS = 1e-10, 80.0
LINEAR_BELOW, LINEAR_STEP = 1_000.0, 200.0 / 3
LOGARITHMIC_STEP = np.log(6.4) / 27
LONGEST_SECONDS = 1_800
RADIUS = 1


def timbre(path: Path) -> np.ndarray | None:
    """Coefficients × moments, each coefficient's largest value 1; None where nothing can be heard or read."""
    heard = _heard(path)
    if heard is None or not heard.size:
        return None
    padded = np.pad(heard, WINDOW // 2)
    moments = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::STEP]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    bands = _bands()
    # A moment at a time would be slow, all at once would take gigabytes for an hour.
    parts = (moments[start : start + 1024] for start in range(0, len(moments), 1024))
    power = np.concatenate([bands @ (np.abs(np.fft.rfft(part * hann)) ** 2).T for part in parts], axis=1)
    loudness = 10 * np.log10(np.maximum(QUIETEST, power))
    loudness = np.maximum(loudness, loudness.max() - DECIBELS)
    unit = cosines(BANDS) / np.sqrt(2 * BANDS)
    unit[0] /= np.sqrt(2)
    coefficients = (unit @ loudness)[:COEFFICIENTS]
    largest = np.abs(coefficients).max(axis=1, keepdims=True)
    scaled: np.ndarray = coefficients / np.where(largest < np.finfo(np.float32).tiny, 1.0, largest)
    return scaled


def aligned(one: np.ndarray, other: np.ndarray) -> tuple[float, int]:
    """The distance of two sequences along the path on which they fit best, and the length of that path.

    A path is found for sequences of half the length, and the whole ones are fitted in its neighbourhood alone.
    """
    path: list[tuple[int, int]] | None = None
    coarser = [(one, other)]
    while min(map(len, coarser[-1])) >= RADIUS + 2:
        halved = [(a[: len(a) // 2 * 2 : 2] + a[1 : len(a) // 2 * 2 : 2]) / 2 for a in coarser[-1]]
        coarser.append((halved[0], halved[1]))
    distance = 0.0
    for first, second in reversed(coarser):
        distance, path = _fitted(first, second, path)
    return distance, len(path or ())


def cosines(size: int) -> np.ndarray:
    """The matrix of the discrete cosine transform (of the second type, twice the sum)."""
    places = np.arange(size)
    return 2 * np.cos(np.pi * places[:, None] * (2 * places[None, :] + 1) / (2 * size))


def _heard(path: Path) -> np.ndarray | None:
    try:
        import soundfile
        import soxr
    except ImportError:
        raise MissingExtra.of("Comparing sounds", "osworld") from None
    there = existing(path)
    try:
        with soundfile.SoundFile(str(there)) as sound:
            if sound.frames > LONGEST_SECONDS * sound.samplerate:
                raise Unreadable(f"The sound {there.name!r} is longer than {LONGEST_SECONDS} seconds.")
            heard, rate = sound.read(dtype="float32", always_2d=True), sound.samplerate
    except soundfile.LibsndfileError:
        return None
    mono = np.mean(heard, axis=1)
    resampled: np.ndarray = mono if rate == RATE else soxr.resample(mono, rate, RATE, quality="HQ")
    return resampled


def _bands() -> np.ndarray:
    """How much of each frequency belongs to each of the ear's bands: triangles of the same area."""
    edges = _hertz(np.linspace(0.0, _pitch(RATE / 2), BANDS + 2))
    widths = np.diff(edges)
    slopes = edges[:, None] - np.linspace(0.0, RATE / 2, WINDOW // 2 + 1)[None, :]
    up, down = -slopes[:-2] / widths[:-1, None], slopes[2:] / widths[1:, None]
    triangles: np.ndarray = np.maximum(0.0, np.minimum(up, down)) * (2.0 / (edges[2:] - edges[:-2]))[:, None]
    return triangles


def _pitch(hertz: float) -> float:
    """A frequency in steps that the ear finds equal: linear below 1,000 Hz, logarithmic above."""
    return float(LINEAR_BELOW / LINEAR_STEP + np.log(hertz / LINEAR_BELOW) / LOGARITHMIC_STEP)


def _hertz(pitches: np.ndarray) -> np.ndarray:
    bend = LINEAR_BELOW / LINEAR_STEP
    above = LINEAR_BELOW * np.exp(LOGARITHMIC_STEP * (pitches - bend))
    return np.where(pitches < bend, pitches * LINEAR_STEP, above)


def _fitted(
    one: np.ndarray, other: np.ndarray, coarse: list[tuple[int, int]] | None
) -> tuple[float, list[tuple[int, int]]]:
    """The best path from the beginnings to the ends, near a path of half the size if there is one."""
    lengths_one, lengths_other = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
    best: dict[tuple[int, int], tuple[float, int, int]] = {(0, 0): (0.0, 0, 0)}
    never = (float("inf"), 0, 0)
    for row, columns in enumerate(_near(len(one), len(other), coarse), 1):
        places = np.arange(columns.start, columns.stop)
        with np.errstate(invalid="ignore", divide="ignore"):
            alike = other[places] @ one[row - 1] / (lengths_one[row - 1] * lengths_other[places])
        for column, apart in zip((places + 1).tolist(), (1 - alike).tolist(), strict=True):
            comes_from = ((row - 1, column), (row, column - 1), (row - 1, column - 1))
            best[row, column] = min(
                ((best.get(place, never)[0] + apart, *place) for place in comes_from), key=lambda found: found[0]
            )
    path = []
    row, column = len(one), len(other)
    distance = best[row, column][0]
    while (row, column) != (0, 0):
        path.append((row - 1, column - 1))
        _, row, column = best[row, column]
    return distance, path[::-1]


def _near(rows: int, columns: int, coarse: list[tuple[int, int]] | None) -> list[range]:
    """Which columns of each row are looked at."""
    if coarse is None:
        return [range(columns)] * rows
    wanted: set[tuple[int, int]] = set()
    around = range(-RADIUS, RADIUS + 1)
    for row, column in {(row + a, column + b) for row, column in coarse for a in around for b in around}:
        wanted |= {(row * 2 + a, column * 2 + b) for a in (0, 1) for b in (0, 1)}
    ranges = []
    start = 0
    for row in range(rows):
        first = next((column for column in range(start, columns) if (row, column) in wanted), start)
        last = first
        while (row, last) in wanted and last < columns:
            last += 1
        ranges.append(range(first, last))
        start = first
    return ranges
