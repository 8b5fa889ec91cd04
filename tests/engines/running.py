"""What the tests of the transformers engine share: models, and the plain forward pass that all must agree with."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from eapo_gym.engines.transformers import TransformersEngine  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402

TOLERANCE = 2e-5
"""Of log-probs in single precision, when the same is computed in another order."""


def run(work: Coroutine[Any, Any, Any], seconds: float = 60) -> Any:
    """Run it; what hangs fails."""
    return asyncio.run(asyncio.wait_for(work, seconds))


def tokenizer_of(architecture: str) -> Any:
    return transformers.AutoTokenizer.from_pretrained(tiny_model(architecture))


def livelier(model: Any, spread: float = 0.15) -> Any:
    """With larger weights, so that what comes next depends on all that came before."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.copy_(spread * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def text_model(architecture: str) -> tuple[Any, Any]:
    """A model and its tokenizer: qwen3; gemma3 with a window much shorter than prompts; llama."""
    if architecture == "llama":
        tokenizer = tokenizer_of("qwen3")
        config = transformers.LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=48, intermediate_size=96, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048,
        )  # fmt: skip
        config._attn_implementation = "sdpa"
        return livelier(transformers.LlamaForCausalLM(config)), tokenizer
    name, options = {"qwen3": ("qwen3", {}), "gemma3": ("gemma3-text", {"sliding_window": 16})}[architecture]
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_model(name), attn_implementation="sdpa", **options)
    return livelier(model), tokenizer_of(name)


@asynccontextmanager
async def opened(model: Any, *, endless: bool = False, **options: Any) -> Any:
    """An engine that is closed afterwards; `endless` responses are as long as they may be."""
    engine = TransformersEngine(model, **options)
    if endless:
        engine._batcher._ends = frozenset()
    try:
        yield engine
    finally:
        await engine.close()


def plain_logprobs(model: Any, prompt: Sequence[int], ids: Sequence[int], **inputs: Any) -> list[float]:
    """Log-probs of the ids after the prompt, from one forward pass without a cache."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[*prompt, *ids]]), use_cache=False, **inputs).logits[0].float()
    after = logits[len(prompt) - 1 : -1].log_softmax(-1)
    return after.gather(1, torch.tensor(ids)[:, None])[:, 0].tolist()


def greedy(model: Any, prompt: Sequence[int], count: int, **inputs: Any) -> list[int]:
    """What transformers' own generate says."""
    ids = torch.tensor([list(prompt)])
    made = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False, **inputs)
    return made[0, len(prompt) :].tolist()
