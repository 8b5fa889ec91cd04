"""Engines: language models behind one small interface, `Engine` in `base`.

`open_engine` is the door: `transformers` (CPU and GPU), `vllm`, or `openai` (any server that speaks that protocol).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from eapo_gym.engines.base import (
    Capabilities,
    Completion,
    Engine,
    EngineError,
    EngineUnavailable,
    Message,
    Override,
    Prompt,
    PromptTooLong,
    Sampling,
    Unsupported,
)
from eapo_gym.errors import UnknownName

__all__ = [
    "ENGINES",
    "Capabilities",
    "Completion",
    "Engine",
    "EngineError",
    "EngineUnavailable",
    "Message",
    "Override",
    "Prompt",
    "PromptTooLong",
    "Sampling",
    "Unsupported",
    "open_engine",
]

ENGINES = ("transformers", "vllm", "openai")


def open_engine(kind: str, model: str, **options: Any) -> Engine:
    """The engine `kind` with `model`: a folder, a hub's id, or for "openai" the name that the server gives it.

    Options are those of the engine's class: `TransformersEngine`, `VllmEngine`, `OpenAIEngine`.
    """
    check_options(kind, options)
    return _engine_class(kind)(model, **options)


def check_options(kind: str, options: Iterable[str]) -> None:
    """Refuse options that an engine does not have."""
    known = inspect.signature(_engine_class(kind)).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for name in options:
        if name not in known and not takes_any:
            raise UnknownName.of(f"option of the engine {kind!r}", name, list(known)[1:])


def _engine_class(kind: str) -> Callable[..., Engine]:
    if kind == "transformers":
        from eapo_gym.engines.transformers import TransformersEngine

        return TransformersEngine
    if kind == "vllm":
        from eapo_gym.engines.vllm import VllmEngine

        return VllmEngine
    if kind == "openai":
        from eapo_gym.engines.openai import OpenAIEngine

        return OpenAIEngine
    raise UnknownName.of("engine", kind, ENGINES)
