"""Tokens per second of episodes through the engine `vllm`, against vLLM itself on the same prompts.

    python benchmarks/engine_vllm.py --model runs/tiny-1m

Episodes are coroutines that ask for one response after the other, each with a prompt that the response before is part
of. Their prompts are kept, and given to vLLM's own asynchronous engine all at once, without this package in between.
The goal is 90 %: what is lost is lost to waiting for the slowest of the episodes, and to what is done around a request.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from typing import Any

from common import write_result

from eapo_gym.engines.base import Message, Prompt, Sampling
from eapo_gym.engines.tiny import make_tiny
from eapo_gym.engines.vllm import VllmEngine

GOAL = "Find a mug and put it on the desk."


async def play(engine: VllmEngine, number: int, steps: int, tokens: int, asked: list[Prompt]) -> int:
    """One episode; returns how many tokens were sampled."""
    seen, sampled = f"You are in room {number}. You see a desk, a drawer and a shelf.", 0
    for step in range(steps):
        prompt = engine.prompt([Message("system", GOAL), Message("user", seen)])
        asked.append(prompt)
        [completion] = await engine.generate([prompt], Sampling(max_tokens=tokens, seed=number * steps + step))
        sampled += len(completion.ids)
        seen = f"Step {step} in room {number}. You said: {completion.text[:200]}"
    return sampled


async def episodes(engine: VllmEngine, number: int, steps: int, tokens: int) -> tuple[float, list[Prompt]]:
    asked: list[Prompt] = []
    start = time.perf_counter()
    sampled = await asyncio.gather(*(play(engine, episode, steps, tokens, asked) for episode in range(number)))
    return sum(sampled) / (time.perf_counter() - start), asked


async def raw(llm: Any, prompts: list[Prompt], tokens: int, stop_ids: list[int], turn: int) -> float:
    """The same prompts, all at once, in vLLM's own loop."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    async def answer(number: int, prompt: Prompt) -> int:
        params = SamplingParams(
            max_tokens=tokens, seed=number, logprobs=0, stop_token_ids=stop_ids, detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )  # fmt: skip
        [rendered] = await llm.renderer.render_cmpl_async([{"prompt_token_ids": list(prompt.ids)}])
        async for output in llm.generate(rendered, params, f"raw-{turn}-{number}"):
            last = output
        return len(last.outputs[0].token_ids)

    await llm.reset_prefix_cache()
    start = time.perf_counter()
    sampled = await asyncio.gather(*(answer(number, prompt) for number, prompt in enumerate(prompts)))
    return sum(sampled) / (time.perf_counter() - start)


async def measure(engine: VllmEngine, options: argparse.Namespace) -> dict[str, Any]:
    llm, run = engine._llm, engine._loop.run
    await episodes(engine, options.parallel, 1, 8)  # what is compiled or made at first use is made now
    through, directly = [], []
    for turn in range(options.repeats):
        await run(llm.reset_prefix_cache())
        speed, prompts = await episodes(engine, options.parallel, options.steps, options.tokens)
        through.append(speed)
        directly.append(await run(raw(llm, prompts, options.tokens, list(engine._chat.stop_ids), turn)))
        print(f"{turn + 1}: episodes {through[-1]:7.0f} tokens/s, vLLM alone {directly[-1]:7.0f} tokens/s")
    # Whatever else the machine does only ever takes away: the best of the turns is what each of them can do.
    share = max(through) / max(directly)
    print(f"episodes reach {share:.0%} of vLLM alone")
    return {"episodes": through, "alone": directly, "share": share, "stats": dict(engine.stats())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", help="a model's folder or id; without one, a tiny model is made")
    parser.add_argument("--parallel", type=int, default=16, help="episodes at a time")
    parser.add_argument("--steps", type=int, default=6, help="steps of an episode")
    parser.add_argument("--tokens", type=int, default=64, help="tokens of a response")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dtype", default="float32")
    options = parser.parse_args()
    model = options.model or str(make_tiny(Path("runs/tiny-1m"), "qwen3", "1m"))
    engine = VllmEngine(
        model, context=1024, dtype=options.dtype, enforce_eager=True, max_num_seqs=options.parallel,
        kv_cache_memory_bytes=256 << 20,
    )  # fmt: skip
    try:
        result = asyncio.run(measure(engine, options))
    finally:
        asyncio.run(engine.close())
    write_result("engine_vllm", {**engine.stamp(), **vars(options), **result})


if __name__ == "__main__":
    main()
