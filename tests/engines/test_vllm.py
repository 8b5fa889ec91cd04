"""The engine `vllm`, in the real vLLM: what it draws and scores is held against transformers and the same model."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Coroutine, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import pytest

pytest.importorskip("vllm", reason="needs vllm (make test-vllm)")

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

from eapo_gym.engines.base import (
    Completion,
    EngineError,
    EngineUnavailable,
    Message,
    Override,
    Prompt,
    PromptTooLong,
    Sampling,
    Unsupported,
)
from eapo_gym.engines.override import OverrideHeads
from eapo_gym.engines.vllm import VllmEngine
from eapo_gym.engines.vllm.loop import LoopThread
from tests.engines.tiny_models import tiny_model

T = TypeVar("T")

SMALL = {"dtype": "float32", "enforce_eager": True, "kv_cache_memory_bytes": 128 << 20, "max_num_seqs": 16}
CONTEXT = 512
TOLERANCE = 1e-3
"""Of log-probs, between two implementations in single precision."""


def run(work: Coroutine[Any, Any, T], seconds: float = 120) -> T:
    return asyncio.run(asyncio.wait_for(work, seconds))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with larger weights, so that what comes next depends on what came before."""
    folder = tmp_path_factory.mktemp("model") / "tiny"
    shutil.copytree(tiny_model("qwen3"), folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    changed(model, seed=0, spread=0.15).save_pretrained(folder)
    return folder


def changed(model: Any, seed: int, spread: float = 0.05) -> Any:
    """The model with noise added to its matrices."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight += spread * torch.randn(weight.shape, generator=generator)
    return model


@pytest.fixture
def model(folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[VllmEngine]:
    """One for all: it takes half a minute to start."""
    engine = VllmEngine(folder, context=CONTEXT, override=True, max_lora_rank=8, **SMALL)
    yield engine
    asyncio.run(engine.close())


@pytest.fixture
def prompt(engine: VllmEngine) -> Prompt:
    """Longer than a block of the cache, which has 128 tokens on a CPU."""
    return engine.prompt([Message("system", "You find things."), Message("user", "You see a mug and a desk. " * 20)])


@torch.no_grad()
def logits_after(model: Any, prompt: Prompt | tuple[int, ...], ids: tuple[int, ...] | list[int]) -> Any:
    """The model's logits for each of `ids`, and for the token after them."""
    fed = [*(prompt.ids if isinstance(prompt, Prompt) else prompt), *ids]
    return model(torch.tensor([fed])).logits[0, -len(ids) - 1 :]


def logprobs_of(model: Any, prompt: Prompt | tuple[int, ...], ids: tuple[int, ...] | list[int]) -> Any:
    rows = logits_after(model, prompt, ids)[:-1].log_softmax(-1)
    return rows[torch.arange(len(ids)), list(ids)].numpy()


def generated(engine: VllmEngine, prompt: Prompt, **sampling: Any) -> Completion:
    return run(engine.generate([prompt], Sampling(**{"max_tokens": 16, **sampling})))[0]


def test_logprobs_are_those_of_transformers(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    completion = generated(engine, prompt, seed=1)
    assert completion.prompt_ids == prompt.ids
    assert completion.finish in ("stop", "length")
    assert completion.text == engine.decode(completion.ids)
    assert completion.logprobs == pytest.approx(logprobs_of(model, prompt, completion.ids), abs=TOLERANCE)
    assert completion.sampled_logprobs == completion.logprobs


def test_scores_are_those_of_transformers(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    target = engine.encode("open the drawer 2 and take the mug")
    scores, none, one = run(engine.score([prompt, prompt, prompt], [target, [], target[:1]]))
    assert scores == pytest.approx(logprobs_of(model, prompt, target), abs=TOLERANCE)
    assert none == []
    assert one == pytest.approx(scores[:1], abs=TOLERANCE)


def test_greedy_is_that_of_transformers(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    completion = generated(engine, prompt, temperature=0)
    expected = model.generate(torch.tensor([prompt.ids]), max_new_tokens=16, do_sample=False)[0, len(prompt.ids) :]
    assert list(completion.ids) == expected.tolist()
    assert completion.sampled_logprobs == (0.0,) * len(completion.ids)
    assert generated(engine, prompt, top_k=1).ids == completion.ids


def test_a_seed_repeats_and_prompts_of_one_call_differ(engine: VllmEngine, prompt: Prompt) -> None:
    first, second, *_ = run(engine.generate([prompt] * 4, Sampling(max_tokens=12, seed=5)))
    again = run(engine.generate([prompt] * 2, Sampling(max_tokens=12, seed=5)))
    assert [first.ids, second.ids] == [completion.ids for completion in again]
    assert first.ids != second.ids
    assert generated(engine, prompt, max_tokens=12, seed=6).ids != first.ids


def test_min_p_and_top_p_keep_what_they_say(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    for setting in ({"min_p": 0.3}, {"top_p": 0.4}, {"top_k": 3}):
        for completion in run(engine.generate([prompt] * 8, Sampling(max_tokens=8, seed=2, **setting))):
            rows = logits_after(model, prompt, completion.ids)[:-1].softmax(-1)
            for probs, id_ in zip(rows, completion.ids, strict=True):
                better = probs[probs > probs[id_] + 1e-4]
                assert probs[id_] >= setting.get("min_p", 0) * probs.max() - 1e-4
                assert better.sum() < setting.get("top_p", 1.0) + 1e-4
                assert len(better) < setting.get("top_k", len(probs))
            assert completion.sampled_logprobs is None
            assert completion.logprobs == pytest.approx(logprobs_of(model, prompt, completion.ids), abs=TOLERANCE)


def test_stop_texts_are_part_of_a_response(engine: VllmEngine, prompt: Prompt) -> None:
    whole = generated(engine, prompt, temperature=0)
    stop = engine.decode(whole.ids[4:6])
    cut = generated(engine, prompt, temperature=0, stop=(stop,))
    assert cut.finish == "stop"
    assert stop in cut.text
    assert len(cut.ids) <= 6
    assert cut.ids == whole.ids[: len(cut.ids)]


def test_stop_tokens_end_a_response(engine: VllmEngine, prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generated(engine, prompt, temperature=0)
    monkeypatch.setattr(engine._chat, "stop_ids", (whole.ids[3],))
    ended = generated(engine, prompt, temperature=0)
    assert ended.finish == "stop"
    assert ended.ids == whole.ids[: whole.ids.index(whole.ids[3]) + 1]


def test_refusals_are_typed_and_harm_nobody(engine: VllmEngine, prompt: Prompt) -> None:
    long = Prompt(prompt.ids * 20)
    image = Prompt(prompt.ids, images=(np.zeros((8, 8, 3), np.uint8),))
    wrong = Prompt((10**7,))
    for bad, refusal in ((long, PromptTooLong), (Prompt(()), EngineError), (image, Unsupported), (wrong, EngineError)):
        with pytest.raises(refusal):
            generated(engine, bad)
    with pytest.raises(PromptTooLong):
        run(engine.score([prompt], [[5] * CONTEXT]))
    with pytest.raises(Unsupported, match="no adapter 'none'"):
        generated(engine, prompt, adapter="none")
    assert generated(engine, prompt).ids


def test_a_response_ends_where_the_context_does(engine: VllmEngine, prompt: Prompt) -> None:
    completion = generated(engine, prompt, max_tokens=10_000, seed=0)
    assert completion.finish == "stop" or len(prompt.ids) + len(completion.ids) == CONTEXT


def test_a_cancelled_request_leaves_the_engine_well(engine: VllmEngine, prompt: Prompt) -> None:
    async def cancel_one() -> Completion:
        task = asyncio.create_task(engine.generate([prompt] * 3, Sampling(max_tokens=180)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await engine.generate([prompt], Sampling(max_tokens=4)))[0]

    assert len(run(cancel_one()).ids) == 4


def test_many_callers_at_a_time_get_what_each_would_alone(engine: VllmEngine) -> None:
    prompts = [engine.prompt([Message("user", f"Go to the shelf {number}.")]) for number in range(12)]

    async def together() -> list[Completion]:
        calls = [engine.generate([prompt], Sampling(max_tokens=6, temperature=0)) for prompt in prompts]
        return [completion for [completion] in await asyncio.gather(*calls)]

    alone = [generated(engine, prompt, max_tokens=6, temperature=0).ids for prompt in prompts]
    assert [completion.ids for completion in run(together())] == alone


def test_prefixes_are_cached_and_counted(engine: VllmEngine, prompt: Prompt) -> None:
    generated(engine, prompt, max_tokens=1)
    before = engine.stats()
    generated(engine, prompt, max_tokens=1)
    after = engine.stats()
    assert after["cached_tokens"] > before["cached_tokens"]
    assert after["requests"] == before["requests"] + 1
    assert after["prompt_tokens"] == before["prompt_tokens"] + len(prompt.ids)
    assert after["response_tokens"] == before["response_tokens"] + 1


def test_override_draws_what_the_heads_say(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    """Without chance, five responses of one key are those that the heads give on transformers' logits."""
    override = Override("a", strength=4.0)
    heads = OverrideHeads()
    expected = []
    for _ in range(5):
        trace, ids = heads.begin(override), []
        for _ in range(10):
            ids.append(int(heads.reweight(logits_after(model, prompt, ids)[-1:], [trace]).argmax()))
        heads.learn(trace, ids)
        expected.append(tuple(ids))
    found = [generated(engine, prompt, max_tokens=10, temperature=0, override=override) for _ in range(5)]
    assert [completion.ids for completion in found] == expected
    assert len(set(expected)) > 1
    assert all(
        completion.logprobs == pytest.approx(logprobs_of(model, prompt, completion.ids), abs=TOLERANCE)
        for completion in found
    )
    plain = generated(engine, prompt, max_tokens=10, temperature=0).ids
    assert plain == expected[0]

    async def mixed() -> list[tuple[int, ...]]:
        settings = [Sampling(max_tokens=10, temperature=0, override=o) for o in (None, Override("b", strength=4.0))]
        answers = await asyncio.gather(*(engine.generate([prompt] * 3, setting) for setting in settings * 2))
        return [completion.ids for answer in (answers[0], answers[2]) for completion in answer]

    assert run(mixed()) == [plain] * 6


def an_adapter(model: Any, folder: Path, seed: int) -> Path:
    config = LoraConfig(r=4, lora_alpha=32, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM")
    tuned = get_peft_model(model, config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in tuned.named_parameters():
            if "lora_B" in name:
                weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
    tuned.save_pretrained(folder)
    return folder


def test_adapters_load_and_load_again(engine: VllmEngine, folder: Path, prompt: Prompt, tmp_path: Path) -> None:
    scores = []
    for seed in (1, 2):
        base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        place = an_adapter(base, tmp_path / "adapter", seed)
        run(engine.load_adapter("mine", str(place)))
        tuned = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), place)
        completion = generated(engine, prompt, adapter="mine", seed=3)
        assert completion.logprobs == pytest.approx(logprobs_of(tuned, prompt, completion.ids), abs=TOLERANCE)
        scores += run(engine.score([prompt], [[7, 8, 9]], adapter="mine"))
    assert scores[0] != pytest.approx(scores[1], abs=0.01)
    assert scores[1] != pytest.approx(run(engine.score([prompt], [[7, 8, 9]]))[0], abs=0.01)
    with pytest.raises(EngineError, match=r"adapter_config\.json"):
        run(engine.load_adapter("other", str(tmp_path)))


def test_an_adapter_of_the_output_layer_is_refused(engine: VllmEngine, folder: Path, tmp_path: Path) -> None:
    """vLLM would leave it out of the scores, and say nothing."""
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    get_peft_model(base, LoraConfig(r=4, target_modules=["lm_head"])).save_pretrained(tmp_path)
    with pytest.raises(Unsupported, match="lm_head"):
        run(engine.load_adapter("head", str(tmp_path)))


def test_scores_beside_responses_under_way(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    async def both() -> list[Any]:
        task = asyncio.create_task(engine.generate([prompt] * 4, Sampling(max_tokens=60)))
        scores = [await engine.score([prompt], [[7, 8, 9]]) for _ in range(4)]
        await task
        return scores

    for [score] in run(both()):
        assert score == pytest.approx(logprobs_of(model, prompt, [7, 8, 9]), abs=TOLERANCE)


def test_weights_change_and_nothing_old_remains(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    generated(engine, prompt)  # the prompt is in the cache of prefixes now
    for seed in (1, 2):
        changed(model, seed)
        run(engine.update_weights(model.state_dict().items()))
        completion = generated(engine, prompt, seed=seed)
        assert completion.logprobs == pytest.approx(logprobs_of(model, prompt, completion.ids), abs=TOLERANCE)
    name = "model.layers.0.self_attn.k_proj.weight"
    with torch.no_grad():
        model.get_parameter(name).mul_(-2)
    run(engine.update_weights([(name, model.get_parameter(name))]))
    assert run(engine.score([prompt], [[7, 8, 9]]))[0] == pytest.approx(
        logprobs_of(model, prompt, [7, 8, 9]), abs=TOLERANCE
    )
    run(engine.update_weights([(name, model.get_parameter(name))]))  # nothing new is no fault


def test_responses_under_way_go_on_with_new_weights(engine: VllmEngine, model: Any, prompt: Prompt) -> None:
    async def both() -> list[Completion]:
        task = asyncio.create_task(engine.generate([prompt] * 4, Sampling(max_tokens=120, seed=1)))
        await asyncio.sleep(0.2)
        await engine.update_weights(model.state_dict().items())
        return await task

    assert all(completion.finish == "stop" or len(completion.ids) == 120 for completion in run(both()))
    assert run(engine.score([prompt], [[7, 8]]))[0] == pytest.approx(logprobs_of(model, prompt, [7, 8]), abs=TOLERANCE)


def test_weights_that_have_no_place_are_refused(engine: VllmEngine, model: Any) -> None:
    weight = torch.zeros(4, 4)
    for name in ("model.layers.0.self_attn.w_proj.weight", "model.layers.99.mlp.up_proj.weight", "nothing"):
        with pytest.raises(EngineError, match="no place in the model"):
            run(engine.update_weights([(name, weight)]))
    with pytest.raises(EngineError, match="no place in the model"):
        run(engine.update_weights([("model.norm.weight", torch.zeros(3))]))
    run(engine.update_weights([("model.norm.weight", model.get_parameter("model.norm.weight"))]))


def test_layers_that_compute_with_old_copies_are_found() -> None:
    from eapo_gym.engines.vllm.worker import WorkerExtension

    class UnquantizedLinearMethod:
        """As vLLM's own, with the weights that it was given packed away or not."""

        def __init__(self, packed: Any = None) -> None:
            self.packed = packed

        def apply(self, layer: Any, x: Any, bias: Any) -> Any:
            return torch.nn.functional.linear(x, layer.weight if self.packed is None else self.packed)

    layers = torch.nn.ModuleDict({name: torch.nn.Linear(64, 48, bias=False) for name in ("fresh", "stale", "same")})
    layers["fresh"].quant_method = UnquantizedLinearMethod()
    layers["same"].quant_method = UnquantizedLinearMethod(layers["same"].weight.detach().clone())
    layers["stale"].quant_method = UnquantizedLinearMethod(layers["stale"].weight.detach().clone())
    with torch.no_grad():
        layers["stale"].weight[5] *= 1.01
    worker = WorkerExtension()
    worker.model_runner = SimpleNamespace(get_model=lambda: layers)
    assert worker.eapo_stale_layers() == ["stale"]


def test_images_are_expanded_and_scored(prompt: Prompt) -> None:
    pytest.importorskip("torchvision", reason="needs torchvision (vLLM's Qwen3-VL does)")
    from transformers import AutoModelForImageTextToText, AutoProcessor

    folder = tiny_model("qwen3-vl")
    engine = VllmEngine(folder, context=CONTEXT, **SMALL)
    try:
        assert engine.capabilities.images
        images = tuple(np.random.default_rng(n).integers(0, 255, (96, 128, 3), np.uint8) for n in range(2))
        prompt = engine.prompt([Message("user", "What is it?", images)])
        completion = generated(engine, prompt, seed=1)
        assert len(completion.prompt_ids) > len(prompt.ids)
        processed = AutoProcessor.from_pretrained(folder).image_processor(list(images), return_tensors="pt")
        model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        ids = torch.tensor([[*completion.prompt_ids, *completion.ids]])
        is_image = (ids == model.config.image_token_id).int()
        with torch.no_grad():
            rows = model(input_ids=ids, mm_token_type_ids=is_image, **processed).logits[0].log_softmax(-1)
        rows = rows[-len(completion.ids) - 1 : -1]
        expected = rows[torch.arange(len(completion.ids)), list(completion.ids)].numpy()
        assert completion.logprobs == pytest.approx(expected, abs=5 * TOLERANCE)
        [scores] = run(engine.score([prompt], [completion.ids]))
        assert scores == pytest.approx(completion.logprobs, abs=TOLERANCE)
    finally:
        run(engine.close())


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """vLLM's own server for OpenAI's protocol, with the same model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder), "--served-model-name",
        "tiny", "--dtype", "float32", "--enforce-eager", "--max-model-len", str(CONTEXT), "--host", "127.0.0.1",
        "--port", str(port), "--max-num-seqs", "8", "--generation-config", "vllm", "--kv-cache-memory-bytes",
        str(128 << 20),
    ]  # fmt: skip
    process = subprocess.Popen(command, env={**os.environ, "VLLM_NO_USAGE_STATS": "1"}, start_new_session=True)
    try:
        for _ in range(240):
            assert process.poll() is None, "the server ended before it answered"
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
                break
            except OSError:
                time.sleep(1)
        else:
            pytest.fail("the server did not answer within four minutes")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_vllms_server_through_the_openai_engine(server: str, folder: Path, model: Any) -> None:
    pytest.importorskip("openai")
    from eapo_gym.engines.openai import OpenAIEngine

    client = OpenAIEngine("tiny", server, "none", tokenizer=str(folder))
    try:
        assert client.capabilities.token_ids
        assert client.capabilities.logprobs
        assert client.capabilities.score
        assert client.context == CONTEXT
        prompt = client.prompt([Message("user", "You see a mug.")])
        [completion] = run(client.generate([prompt], Sampling(max_tokens=10, temperature=0)))
        expected = model.generate(torch.tensor([prompt.ids]), max_new_tokens=10, do_sample=False)[0, len(prompt.ids) :]
        assert completion.prompt_ids == prompt.ids
        assert list(completion.ids) == expected.tolist()
        assert completion.logprobs == pytest.approx(logprobs_of(model, prompt, completion.ids), abs=TOLERANCE)
        [scores] = run(client.score([prompt], [completion.ids]))
        assert scores == pytest.approx(completion.logprobs, abs=TOLERANCE)
    finally:
        run(client.close())


def test_a_loop_that_closes_cancels_what_runs_in_it() -> None:
    loop = LoopThread("test")
    assert asyncio.run(loop.run(asyncio.sleep(0, "done"))) == "done"
    waiting = loop.submit(asyncio.sleep(60))
    loop.close()
    loop.close()
    with pytest.raises(CancelledError):
        waiting.result(5)


def test_a_model_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="no tokenizer"):
        VllmEngine(tmp_path, **SMALL)


def test_without_options_there_are_neither_override_nor_adapters(
    engine: VllmEngine, prompt: Prompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    monkeypatch.setattr(engine, "capabilities", replace(engine.capabilities, override=False, adapters=False))
    with pytest.raises(Unsupported, match="override=True"):
        generated(engine, prompt, override=Override("a"))
    with pytest.raises(Unsupported, match="max_lora_rank"):
        run(engine.load_adapter("a", "folder"))


def test_the_stamp_says_what_ran(engine: VllmEngine, folder: Path) -> None:
    stamp = engine.stamp()
    assert stamp["kind"] == "vllm"
    assert stamp["model"] == str(folder)
    assert stamp["dtype"] == "float32"
    assert stamp["architecture"] == "Qwen3ForCausalLM"
    assert "vllm" not in stamp  # a run has the versions of all packages elsewhere


# The last one: it kills the engine's process.
def test_a_dead_process_makes_the_engine_unavailable(engine: VllmEngine, prompt: Prompt) -> None:
    async def kill_it() -> None:
        task = asyncio.create_task(engine.generate([prompt], Sampling(max_tokens=300)))
        await asyncio.sleep(0.1)
        for process in engine._llm.engine_core.resources.engine_manager.processes:
            os.kill(process.pid, signal.SIGKILL)
        await task

    with pytest.raises(EngineUnavailable, match="died"):
        run(kill_it())
    with pytest.raises(EngineUnavailable, match="died"):
        generated(engine, prompt)
    run(engine.close())
    run(engine.close())
    with pytest.raises(EngineUnavailable, match="closed"):
        generated(engine, prompt)
