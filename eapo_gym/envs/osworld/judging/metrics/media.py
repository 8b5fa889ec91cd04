"""Sounds and films: how alike they are to an ear and an eye that do not mind how they were encoded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.envs.osworld.judging.metrics import sounds
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.judging.safe_files import existing
from eapo_gym.errors import MissingExtra

MOST_FRAMES = 100
MOST_DIFFERENT_BITS = 5
THUMBNAIL, COARSE = 32, 8


def compare_audios(result: Path | None, expected: Path | None) -> float:
    """How alike two sounds are, the one stretched in time so that it fits the other."""
    if result is None or expected is None:
        return 0.0
    timbres = [sounds.timbre(path) for path in (result, expected)]
    if timbres[0] is None or timbres[1] is None:  # as in the benchmark: two that cannot be heard are alike
        return float(timbres[0] is None and timbres[1] is None)
    distance, steps = sounds.aligned(timbres[0].T, timbres[1].T)
    return float(np.exp(-distance / steps))


def compare_videos(
    result: Path | None, expected: Path | None, *, max_frames_to_check: int = MOST_FRAMES, threshold: int = 5
) -> float:
    """Whether the first frames of two films look alike; a few may not, and if one ends the other must."""
    films = [_film(path) for path in (result, expected)]
    different = 0
    for _ in range(max_frames_to_check):
        (one_goes_on, one), (other_goes_on, other) = (film.read() for film in films)
        if not one_goes_on or not other_goes_on:
            return float(one_goes_on == other_goes_on)
        different += int(np.count_nonzero(_look(one) != _look(other)) > threshold)
        if different > threshold:
            return 0.0
    return 1.0


def _film(path: Path | None) -> Any:
    try:
        import cv2
    except ImportError:
        raise MissingExtra.of("Comparing films", "osworld") from None
    there = existing(path)
    film = cv2.VideoCapture(str(there))
    if not film.isOpened():
        raise Unreadable(f"The file {there.name!r} is no film that can be read.")
    return film


def _look(frame: Any) -> np.ndarray:
    """A frame in 64 bits: which of its coarsest waves are above their median (the "perceptual hash")."""
    from PIL import Image

    grey = Image.fromarray(frame[:, :, ::-1]).convert("L").resize((THUMBNAIL, THUMBNAIL), Image.Resampling.LANCZOS)
    waves = sounds.cosines(THUMBNAIL)
    coarse = (waves @ np.asarray(grey, dtype=np.float64) @ waves.T)[:COARSE, :COARSE]
    looks: np.ndarray = coarse > np.median(coarse)
    return looks


METRICS = {"compare_audios": compare_audios, "compare_videos": compare_videos}
