"""The pictures of a run: files named after what is in them, so that each is kept once."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.errors import MissingData, MissingExtra

_ENDING = ".webp"


class Pictures:
    """A folder of pictures, without loss, safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: set[str] = set()

    def save(self, picture: np.ndarray) -> str:
        """Keep a picture (height, width, 3 colours of 8 bits); returns its name."""
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
            raise ValueError(
                f"expected a picture of shape (h, w, 3) and type uint8, got {picture.shape} {picture.dtype}."
            )
        content = hashlib.blake2b(repr(picture.shape).encode(), digest_size=16)
        content.update(np.ascontiguousarray(picture).data)
        name = content.hexdigest() + _ENDING
        if name not in self._known:
            path = self.folder / name
            if not path.exists():
                self._write(path, picture)
            self._known.add(name)
        return name

    def load(self, name: str) -> np.ndarray:
        """The picture of that name."""
        path = self.folder / name
        if Path(name).name != name or not path.is_file():
            raise MissingData(f"The picture {name!r:.100} is not in {self.folder}: was the run's folder copied whole?")
        with _pillow().open(path) as image:
            return np.asarray(image.convert("RGB"))

    def _write(self, path: Path, picture: np.ndarray) -> None:
        image = _pillow().fromarray(picture)
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        # A screenshot is written at every step, while the environment waits. Of the lossless ways this is the quickest
        # for screens, whose areas are even; method 0 does not see that, and files are ten times as large.
        image.save(draft, "WEBP", lossless=True, quality=0, method=1)
        draft.replace(path)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra.of("Keeping screenshots", "gui") from error
    return Image
