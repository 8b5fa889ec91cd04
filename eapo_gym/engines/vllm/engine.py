"""The engine `vllm`: continuous batching, prefix caching, LoRA and images in vLLM's own process.

    engine = VllmEngine("Qwen/Qwen3-1.7B", max_lora_rank=32, override=True)

The process is spawned, so a script that makes an engine needs the usual guard, `if __name__ == "__main__":`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from eapo_gym.engines.base import (
    Capabilities,
    Completion,
    Engine,
    EngineError,
    EngineUnavailable,
    Message,
    Prompt,
    PromptTooLong,
    Sampling,
    Unsupported,
)
from eapo_gym.engines.chat import Chat
from eapo_gym.engines.images import ImageReader
from eapo_gym.engines.vllm.loop import LoopThread
from eapo_gym.errors import MissingExtra

T = TypeVar("T")

_CPU_CACHE = 4 << 30
"""Bytes for the key-value cache on a CPU unless told: vLLM would take most of the machine's memory."""

_PATIENCE = 10.0
"""Seconds that vLLM's processes have to end by themselves."""

_PIECE = 512 << 20
"""Bytes of weights that are handed over at a time."""

_MATERIAL = 1e-3
"""A share by which weights change so that log-probs must move; and how far they may move by rounding alone."""

_PROBE = 24
"""Tokens of the prompt whose log-probs tell whether an update of the weights took."""


class VllmEngine(Engine):
    """A model in vLLM.

    `override` loads the logits processor for OverRIDE and `max_lora_rank` makes room for LoRA adapters up to that rank;
    both cost some speed, so that they are off unless asked for. Further options are vLLM's own engine arguments
    (`gpu_memory_utilization`, `tensor_parallel_size`, `enforce_eager`, …).
    """

    kind: ClassVar[str] = "vllm"

    def __init__(
        self,
        model: str | Path,
        *,
        dtype: str = "auto",
        context: int | None = None,
        thinking: bool | None = None,
        override: bool = False,
        max_lora_rank: int = 0,
        **engine_args: Any,
    ) -> None:
        _prepare_environment(override)
        try:
            from vllm.engine.arg_utils import AsyncEngineArgs
            from vllm.platforms import current_platform
        except ImportError as error:
            raise MissingExtra.of("The engine vllm", "vllm") from error
        self.model = str(model)
        self._chat = Chat(model, thinking=thinking)
        if current_platform.is_cpu():
            engine_args.setdefault("kv_cache_memory_bytes", _CPU_CACHE)
        if max_lora_rank:
            engine_args |= {"enable_lora": True, "max_lora_rank": max_lora_rank}
        if override:
            from eapo_gym.engines.vllm.logits import OverrideProcessor

            processors = [*engine_args.get("logits_processors", ()), OverrideProcessor]
            engine_args["logits_processors"] = processors
        arguments = AsyncEngineArgs(
            model=self.model,
            dtype=dtype,
            max_model_len=context,
            enable_prefix_caching=engine_args.pop("enable_prefix_caching", True),
            generation_config="vllm",  # what is drawn follows from Sampling alone, not from a file of the model
            worker_extension_cls="eapo_gym.engines.vllm.worker.WorkerExtension",
            disable_log_stats=engine_args.pop("disable_log_stats", True),
            **engine_args,
        )
        self._reader: ImageReader | None = None
        self._counts_images = self._chat.image_id is not None
        self._adapters: dict[str, Any] = {}
        self._numbers = itertools.count(1)
        self._closed = False
        self._updating = asyncio.Lock()
        self._counts = dict.fromkeys(("requests", "prompt_tokens", "cached_tokens", "response_tokens"), 0)
        self._loop = LoopThread("vllm")
        try:
            self._llm = self._loop.submit(_open(arguments)).result()
        except Exception as error:  # whatever it is that vLLM, its process or the model's files come up with
            self._loop.close()
            raise EngineUnavailable(f"vLLM could not start with {self.model}: {_short(error)}") from error
        config = self._llm.model_config
        self.context = config.max_model_len
        self._dtype = str(config.dtype).removeprefix("torch.")
        self._architecture = config.architectures[0]
        self._vocabulary = config.get_vocab_size()
        self.capabilities = Capabilities(
            images=self._chat.image_id is not None, weights=True, adapters=max_lora_rank > 0, override=override
        )

    # Prompts

    def prompt(self, messages: Sequence[Message], *, prefill: str = "") -> Prompt:
        return self._chat.prompt(messages, prefill=prefill)

    def encode(self, text: str) -> list[int]:
        return self._chat.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._chat.decode(ids)

    def image_tokens(self, image: np.ndarray) -> int | None:
        if not self._counts_images:
            return None
        try:
            self._reader = self._reader or ImageReader(self.model, self._chat)
        except Unsupported:  # vLLM knows more kinds of models
            self._counts_images = False
            return None
        return self._reader.tokens(image)

    # Requests

    async def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        if sampling.override is not None and not self.capabilities.override:
            raise Unsupported("This engine was opened without OverRIDE: open it with override=True.")
        adapter = self._adapter(sampling.adapter)
        extra_args = None
        if sampling.override is not None:
            from eapo_gym.engines.vllm.logits import extra_args as carried

            extra_args = carried(sampling.override, adapter.lora_int_id if adapter is not None else 0)
        jobs = []
        for prompt, seed in zip(prompts, _seeds(sampling.seed, len(prompts)), strict=True):
            fed = self._fed(prompt, prompt.ids, room=1)
            params = SamplingParams(
                max_tokens=sampling.max_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k,
                min_p=sampling.min_p,
                seed=seed,
                stop=list(sampling.stop) or None,
                include_stop_str_in_output=True,
                stop_token_ids=list(self._chat.stop_ids),
                logprobs=0,
                detokenize=bool(sampling.stop),
                output_kind=RequestOutputKind.FINAL_ONLY,
                extra_args=extra_args,
            )
            jobs.append((fed, params, adapter))
        return [self._completion(output, sampling) for output in await self._run(self._answer_all(jobs))]

    async def score(
        self, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], *, adapter: str | None = None
    ) -> list[list[float]]:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        lora = self._adapter(adapter)
        jobs = []
        for prompt, target in zip(prompts, targets, strict=True):
            if not target:
                continue
            # vLLM generates a token after every prompt, which has to find room too.
            fed = self._fed(prompt, (*prompt.ids, *target), room=1)
            params = SamplingParams(
                max_tokens=1, prompt_logprobs=0, detokenize=False, output_kind=RequestOutputKind.FINAL_ONLY
            )
            jobs.append((fed, params, lora))
        outputs = iter(await self._run(self._answer_all(jobs)))
        return [_target_logprobs(next(outputs), target) if target else [] for target in targets]

    def _fed(self, prompt: Prompt, ids: Sequence[int], room: int) -> dict[str, Any]:
        if not prompt.ids:
            raise EngineError("A prompt without token ids: expected one that this engine's prompt() made.")
        if len(ids) + room > self.context:
            raise PromptTooLong(
                f"The prompt has {len(ids)} tokens, and the context of the model {self.context}: shorten the prompt."
            )
        fed: dict[str, Any] = {"prompt_token_ids": list(ids)}
        if prompt.images:
            if not self.capabilities.images:
                raise Unsupported(f"{self.model} sees no images: expected a prompt of text alone.")
            from PIL import Image

            fed["multi_modal_data"] = {"image": [Image.fromarray(np.ascontiguousarray(i)) for i in prompt.images]}
        return fed

    def _adapter(self, name: str | None) -> Any:
        if name is None:
            return None
        if name not in self._adapters:
            raise Unsupported(f"There is no adapter {name!r}: expected one of {sorted(self._adapters)}, or load it.")
        return self._adapters[name]

    def _completion(self, output: Any, sampling: Sampling) -> Completion:
        [answer] = output.outputs
        if answer.finish_reason not in ("stop", "length"):
            raise EngineError(
                f"vLLM ended a response with {answer.finish_reason!r}: expected stop or length. Try again."
            )
        ids = tuple(answer.token_ids)
        logprobs = tuple(float(row[id_].logprob) for id_, row in zip(ids, answer.logprobs, strict=True))
        sampled: tuple[float, ...] | None = None
        if sampling.temperature == 0:
            sampled = (0.0,) * len(ids)  # there was no choice
        elif sampling.temperature == 1 and not sampling.distorts:
            sampled = logprobs
        self._counts["requests"] += 1
        self._counts["prompt_tokens"] += len(output.prompt_token_ids)
        self._counts["cached_tokens"] += output.num_cached_tokens or 0
        self._counts["response_tokens"] += len(ids)
        return Completion(
            prompt_ids=tuple(output.prompt_token_ids),
            ids=ids,
            text=self._chat.decode(ids),
            logprobs=logprobs,
            sampled_logprobs=sampled,
            finish=answer.finish_reason,
        )

    async def _answer_all(self, jobs: list[tuple[Any, Any, Any]]) -> list[Any]:
        tasks = [asyncio.ensure_future(self._answer(*job)) for job in jobs]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:  # if one fails, nobody waits for the others
                task.cancel()

    async def _answer(self, fed: Any, params: Any, adapter: Any) -> Any:
        [rendered] = await self._llm.renderer.render_cmpl_async([fed])
        name = f"eapo-{next(self._numbers)}"
        outputs = [output async for output in self._llm.generate(rendered, params, name, lora_request=adapter)]
        if not outputs:
            raise EngineError("vLLM ended a request without an answer: expected one. Try again.")
        return outputs[-1]

    # Weights

    async def update_weights(self, weights: Iterable[tuple[str, Any]]) -> None:
        """Replace weights, and verify that the model computes with them: by its layers, and by log-probs of a probe."""
        await self._run(self._update_weights(weights))

    async def _update_weights(self, weights: Iterable[tuple[str, Any]]) -> None:
        async with self._updating:
            (sums_before, sizes), probe_before = await self._digest(), await self._probe()
            await self._llm.pause_generation(mode="keep", clear_cache=False)
            try:
                homeless = await self._hand_over(weights)
                await self._llm.reset_prefix_cache(reset_running_requests=True)
                stale = [name for names in await self._ask_workers("eapo_stale_layers") for name in names]
            finally:
                await self._llm.resume_generation()
            if homeless:
                raise EngineError(
                    f"{len(homeless)} of the new weights have no place in the model ({', '.join(homeless[:3])}, …): "
                    "expected names and shapes as in its state dict."
                )
            if stale:
                raise EngineError(
                    f"The update of the weights did not take: {len(stale)} layers compute with old copies "
                    f"({', '.join(stale[:3])}, …). Open the engine without quantisation."
                )
            sums, _ = await self._digest()
            changed = float((np.abs(sums - sums_before) / sizes).max())
            moved = float(np.abs(await self._probe() - probe_before).max())
            if (changed > _MATERIAL and moved == 0) or (changed == 0 and moved > _MATERIAL):
                raise EngineError(
                    f"The update of the weights did not take: they changed by a share of {changed:.2g}, and log-probs "
                    f"of a probe by {moved:.2g}. Open the engine again with the new weights."
                )

    async def _hand_over(self, weights: Iterable[tuple[str, Any]]) -> list[str]:
        """Give the weights to the workers, and return the names of those that they could not use."""
        from safetensors.torch import save_file

        homeless: list[str] = []
        with tempfile.TemporaryDirectory(prefix="eapo-weights-", dir=_fast_folder()) as folder:
            file = os.path.join(folder, "weights.safetensors")
            for piece in _pieces(weights):
                await asyncio.to_thread(save_file, piece, file)
                [missing, *_] = await self._ask_workers("eapo_load_weights", file)
                homeless += missing
        return homeless

    async def _ask_workers(self, method: str, *args: Any) -> list[Any]:
        """What a method of the worker extension returns, for each worker."""
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            answers: list[Any] = await self._llm.collective_rpc(method, args=args)
        except EngineDeadError:
            raise
        except Exception as error:  # vLLM raises nothing more specific for what went wrong in a worker
            raise EngineError(f"vLLM's workers could not answer {method}: {_short(error)}") from error
        return answers

    async def _digest(self) -> Any:
        """Two sums of each parameter, and how large it is."""
        sums = np.concatenate(await self._ask_workers("eapo_weight_sums")).reshape(-1, 2)
        return sums, np.maximum(sums[:, 1:], 1e-12)

    async def _probe(self) -> Any:
        """Log-probs of tokens from all over the vocabulary."""
        from vllm import SamplingParams

        ids = [number * (self._vocabulary - 1) // _PROBE for number in range(1, _PROBE)]
        ids = [id_ for id_ in ids if id_ not in self._chat.control_ids]
        params = SamplingParams(max_tokens=1, prompt_logprobs=0, detokenize=False)
        return np.array(_target_logprobs(await self._answer({"prompt_token_ids": ids}, params, None), ids[1:]))

    async def load_adapter(self, name: str, folder: str) -> None:
        if not self.capabilities.adapters:
            raise Unsupported("This engine was opened without adapters: open it with max_lora_rank=….")
        from safetensors import safe_open
        from vllm.lora.request import LoRARequest

        file = Path(folder) / "adapter_model.safetensors"
        if not file.is_file() or not file.with_name("adapter_config.json").is_file():
            raise EngineError(
                f"The folder {folder} holds no LoRA adapter: expected adapter_config.json and {file.name}, as PEFT "
                "saves them."
            )
        with safe_open(file, "np") as tensors:
            if any("lm_head" in name for name in tensors.keys()):  # noqa: SIM118 - it is no mapping
                raise Unsupported(
                    f"The adapter in {folder} changes the output layer (lm_head), which vLLM leaves out when it scores "
                    "a text: train it without."
                )

        # Each time a new number and name: vLLM finds adapters by the one and cached prefixes by the other.
        number = next(self._numbers)
        request = LoRARequest(f"{name}@{number}", number, str(folder))
        await self._run(self._llm.add_lora(request))
        self._adapters[name] = request

    # The engine itself

    async def sleep(self, level: int = 1) -> None:
        """Free the GPU's memory until `wake`; needs `enable_sleep_mode=True`. At level 2 the weights are lost."""
        await self._run(self._llm.sleep(level))

    async def wake(self) -> None:
        await self._run(self._llm.wake_up())

    def stats(self) -> Mapping[str, float]:
        return dict(self._counts)

    def stamp(self) -> dict[str, Any]:
        return {
            **super().stamp(),
            "architecture": self._architecture,
            "dtype": self._dtype,
            "context": self.context,
        }

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._shut_down)

    def _shut_down(self) -> None:
        self._loop.close()  # first, so that nobody reads from a process that ends
        self._llm.shutdown(timeout=_PATIENCE)
        del self._llm

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the engine's own loop; what vLLM raises comes back as an error of ours."""
        from vllm.exceptions import VLLMClientError, VLLMServerError
        from vllm.v1.engine.exceptions import EngineDeadError

        if self._closed:
            work.close()
            raise EngineUnavailable("The engine is closed: open another one.")
        try:
            return await self._loop.run(work)
        except asyncio.CancelledError:
            if self._closed:
                raise EngineUnavailable("The engine was closed while it answered: open another one.") from None
            raise
        except EngineDeadError as error:
            raise EngineUnavailable("vLLM's process has died: see its log, and open the engine again.") from error
        except (VLLMClientError, VLLMServerError, ValueError) as error:
            if self._closed:
                raise EngineUnavailable("The engine was closed while it answered: open another one.") from error
            if self._llm.errored:
                raise EngineUnavailable("vLLM's process has died: see its log, and open the engine again.") from error
            raise EngineError(f"vLLM refused a request: {_short(error)}") from error


async def _open(arguments: Any) -> Any:
    from vllm.v1.engine.async_llm import AsyncLLM

    return AsyncLLM.from_engine_args(arguments)


def _prepare_environment(override: bool) -> None:
    """What vLLM reads from the environment, before it is imported; what the user has set stays."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0)))) if hasattr(os, "sched_getaffinity") else "auto"
    settings = {
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_LEVEL": "WARNING",
        # A fork of a process with threads in it, such as those of torch, can hang.
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        "VLLM_CPU_OMP_THREADS_BIND": cores,  # by default one core is left unused, on a machine of two the half
    }
    if override:
        settings["VLLM_USE_V2_MODEL_RUNNER"] = "0"  # the other runner does not say when a request has ended
    for name, value in settings.items():
        os.environ.setdefault(name, value)


def _seeds(seed: int | None, count: int) -> list[int | None]:
    if seed is None:
        return [None] * count
    return [int(child.generate_state(1)[0]) for child in np.random.SeedSequence(seed % (1 << 64)).spawn(count)]


def _target_logprobs(output: Any, target: Sequence[int]) -> list[float]:
    rows = output.prompt_logprobs[-len(target) :]
    return [float(row[id_].logprob) for id_, row in zip(target, rows, strict=True)]


def _pieces(weights: Iterable[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """The weights in files of a bounded size; each a copy on the CPU, since tied ones share their memory."""
    piece: dict[str, Any] = {}
    size = 0
    for name, weight in weights:
        piece[name] = weight.detach().cpu().contiguous().clone()
        size += weight.numel() * weight.element_size()
        if size >= _PIECE:
            yield piece
            piece, size = {}, 0
    if piece:
        yield piece


def _fast_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__
