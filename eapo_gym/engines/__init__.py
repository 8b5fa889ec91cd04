"""Engines: language models behind one small interface, `Engine` in `base`.

`open_engine` is the door: `transformers` (CPU and GPU), `vllm`, or `openai` (any server that speaks that protocol).
"""

from __future__ import annotations

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
    if kind == "transformers":
        from eapo_gym.engines.transformers import TransformersEngine

        return TransformersEngine(model, **options)
    if kind == "vllm":
        from eapo_gym.engines.vllm import VllmEngine

        return VllmEngine(model, **options)
    if kind == "openai":
        from eapo_gym.engines.openai import OpenAIEngine

        return OpenAIEngine(model, **options)
    raise UnknownName.of("engine", kind, ENGINES)
