"""One process or several: what `accelerate` set up, and what follows from it for the trained modules.

Gradients of several processes are summed, so that a step on shares of a batch is a step on the batch. FSDP is torch's
own `fully_shard`, with the settings of accelerate's plugin: accelerate's own way of applying it takes exactly one model
with its optimiser, and there are up to three here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from eapo_gym.trainers.config import BadConfig, TrainConfig


class Ranks:
    """Those that train together; without an accelerator it is this one."""

    device: Any
    shards: bool
    """Each has a part of the weights (FSDP2), and all must make the same forward passes."""

    def __init__(self, accelerator: Any, config: TrainConfig) -> None:
        self._accelerator = accelerator
        if accelerator is None:
            self.shards = False
            self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            return
        kind = str(getattr(accelerator.distributed_type, "value", accelerator.distributed_type))
        self.shards = bool(accelerator.is_fsdp2)
        if not self.shards and kind not in ("NO", "MULTI_CPU", "MULTI_GPU"):
            raise BadConfig(
                f"accelerate was set up for {kind}: expected one process, DDP (MULTI_GPU), or FSDP version 2."
            )
        if accelerator.mixed_precision == "fp16":
            raise BadConfig("accelerate was set up for fp16, whose gradients overflow: expected bf16 or no.")
        if accelerator.mixed_precision != "no" and not self.shards:
            raise BadConfig(
                f"accelerate was set up for {accelerator.mixed_precision}, in which the policy alone would compute, "
                "and not what samples and what it is compared with: expected no; set precision instead."
            )
        if self.shards and config.tuning == "lora":
            raise BadConfig("tuning: expected full where FSDP shards the weights, got lora: train adapters with DDP.")
        if self.shards and config.sampler == "shared":
            raise BadConfig(
                "sampler: expected transformers or vllm where FSDP shards the weights, got shared: nobody has all."
            )
        self.device = accelerator.device

    @property
    def first(self) -> bool:
        """This is the one that writes files."""
        return self._accelerator is None or bool(self._accelerator.is_main_process)

    def wait(self) -> None:
        """Until all of them are here."""
        if self._accelerator is not None:
            self._accelerator.wait_for_everyone()

    def most(self, count: int) -> int:
        """The greatest count that one of them has."""
        if self._accelerator is None or self._accelerator.num_processes == 1:
            return count
        return int(self._accelerator.gather(torch.tensor([count], device=self.device)).max())

    def shard(self, modules: Sequence[Any]) -> None:
        """Spread the weights over all, layer by layer, where that is how they train."""
        if not self.shards:
            return
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import MixedPrecisionPolicy, OffloadPolicy, fully_shard

        plugin = self._accelerator.state.fsdp_plugin
        options = {
            "mesh": init_device_mesh(self.device.type, (self._accelerator.num_processes,)),
            "mp_policy": plugin.mixed_precision_policy or MixedPrecisionPolicy(),
            "offload_policy": plugin.cpu_offload or OffloadPolicy(),
        }
        for module in modules:
            layers = set(getattr(module.model, "_no_split_modules", None) or ())
            for part in list(module.modules()):
                if type(part).__name__ in layers:
                    fully_shard(part, reshard_after_forward=bool(plugin.reshard_after_forward), **options)
            fully_shard(module, **options)

    def wrap(self, module: Any, parameters: Iterable[Any]) -> Any:
        """The module as it is called with a gradient, such that the gradients of these parameters are exchanged."""
        if self._accelerator is None or self.shards:
            return module
        own = {id(one) for one in parameters}
        others = [one for one in module.parameters() if one.requires_grad and id(one) not in own]
        # What is exchanged is settled now, by what wants a gradient: of two adapters in one model, one at a time.
        for one in others:
            one.requires_grad_(False)
        wrapped = self._accelerator.prepare_model(module)
        for one in others:
            one.requires_grad_(True)
        return wrapped

    @contextmanager
    def apart(self, wrapped: Any) -> Iterator[None]:
        """Within this context gradients are not exchanged: once, with the last micro-batch, is enough."""
        if self._accelerator is None:
            yield
            return
        with self._accelerator.no_sync(wrapped):
            yield

    def backward(self, loss: Any) -> None:
        if self._accelerator is None:
            loss.backward()
            return
        # Over processes the mean is taken, and accumulation is divided by; here losses are summed.
        scale = self._accelerator.num_processes * self._accelerator.gradient_accumulation_steps
        self._accelerator.backward(loss * scale)
