"""Models by name: a folder, or an id on the Hugging Face hub. What cannot be had is one sentence."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

from eapo_gym.engines.base import EngineUnavailable

_T = TypeVar("_T")

_SMALL = 1 << 29
"""Bytes."""


def load(loader: Callable[..., _T], model: str | Path, what: str, **options: Any) -> _T:
    """`loader(model)`, such as `AutoTokenizer.from_pretrained`; `what` names it ("tokenizer") should there be none.

    Code that comes with a model is never run.
    """
    name = os.fspath(model)
    try:
        where = name if Path(name).is_dir() or _hub_answers() else _in_cache(name, options.get("cache_dir"))
        with no_progress_bar() if _is_small(where) else nullcontext():
            return loader(where, trust_remote_code=False, **options)
    except (OSError, ValueError) as error:  # ValueError: an architecture that is not known, or needs code of its own
        raise EngineUnavailable(_explain(name, what, error)) from error


def _is_small(where: str) -> bool:
    """Read in a moment, for which a progress bar would be noise."""
    folder = Path(where)
    return folder.is_dir() and sum(file.stat().st_size for file in folder.glob("*.safetensors")) < _SMALL


@contextmanager
def no_progress_bar() -> Iterator[None]:
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def count_parameters(config: Any) -> int:
    """How many parameters a model of this configuration has, found without making any."""
    import torch

    with torch.device("meta"):
        model = model_class(config)(config)
    return sum(parameter.numel() for parameter in model.parameters())


def model_class(config: Any) -> Any:
    """The class of transformers that a configuration names."""
    import transformers

    return getattr(transformers, config.architectures[0])


@cache
def _hub_answers() -> bool:
    """Asked once, and briefly: the hub's own client takes most of a minute to find that there is no network."""
    from huggingface_hub.constants import ENDPOINT

    hub = urlsplit(ENDPOINT)
    if hub.scheme in getproxies() or hub.hostname is None:
        return True  # a proxy's business
    try:
        socket.create_connection((hub.hostname, hub.port or 443), timeout=5).close()
    except OSError:
        return False
    return True


def _in_cache(name: str, cache_dir: str | Path | None) -> str:
    """The folder in which the hub's client keeps what it fetched before.

    By its name loaders would ask the hub all the same, some of them for files that most models do not have.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return str(snapshot_download(name, local_files_only=True, cache_dir=cache_dir))
    except LocalEntryNotFoundError as error:
        raise OSError("it does not answer") from error


def _explain(name: str, what: str, error: Exception) -> str:
    said = str(error).strip()
    reason = said.split("\n", 1)[0].rstrip(".: ") if said else type(error).__name__
    if Path(name).is_dir():
        return f"The folder {name} has no {what} that can be loaded: {reason}."
    if Path(name).is_absolute() or name.startswith(".") or name.count("/") > 1:
        return f"There is no folder {name}: expected one with a model, or a hub's id such as Qwen/Qwen3-1.7B."
    return (
        f"No {what} of {name!r} could be had: there is no such folder here, and of the Hugging Face hub: {reason}. "
        f"Fetch it where there is a network (hf download {name}) and name the folder, or make a model of your own "
        "(eapo-gym models tiny)."
    )
