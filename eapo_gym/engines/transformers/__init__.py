"""The engine `transformers`: a model in this process, on a CPU or a GPU, with continuous batching."""

from __future__ import annotations

from eapo_gym.engines.transformers.engine import TransformersEngine

__all__ = ["TransformersEngine"]
