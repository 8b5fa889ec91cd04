"""vLLM behind the interface of an engine: the async engine in a process of its own, for GPUs and for CPUs."""

from eapo_gym.engines.vllm.engine import VllmEngine

__all__ = ["VllmEngine"]
