"""Tiny models for tests, made once on a machine and kept: ask `tiny_model("qwen3")` for the folder of one."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path

import pytest

from eapo_gym.engines import tiny, tiny_text

_SHELF = Path(tempfile.gettempdir()) / f"eapo-gym-tests-{os.getuid()}"
_SOURCES = b"".join(Path(module.__file__).read_bytes() for module in (tiny, tiny_text))


@cache
def tiny_model(architecture: str = "qwen3", size: str = "0.2m", **options: object) -> Path:
    """The folder of a tiny model, which nobody may write to; skips where there is nothing to make one with."""
    for package in ("torch", "tokenizers", "transformers"):
        pytest.importorskip(package)
    versions = [__import__(package).__version__ for package in ("torch", "tokenizers", "transformers")]
    recipe = repr((architecture, size, sorted(options.items()), versions))
    folder = _SHELF / f"{architecture}-{size}-{hashlib.sha256(_SOURCES + recipe.encode()).hexdigest()[:16]}"
    # Two test processes may make the same one: the folder appears whole, and the slower finds it there.
    try:
        return tiny.make_tiny(folder, architecture, size, **options)  # type: ignore[arg-type]
    except OSError:
        if not (folder / tiny.NOTE).is_file():
            raise
        return folder
