"""Several processes that train one model: who they are, and what they have to agree on.

    torchrun --nproc-per-node 4 -m eapo_gym train --config …        (or accelerate launch)

Each process plays its share of a step's tasks with an engine of its own, and gradients are averaged.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

import torch

from eapo_gym.errors import MissingExtra
from eapo_gym.trainers.config import BadConfig, TrainConfig

Item = TypeVar("Item")

_PATIENCE = timedelta(hours=6)
"""What the others wait for the slowest; rollouts of a step differ by more than a network ever would."""


class Processes:
    """The processes of a run; one of them is the first, which writes and speaks for all."""

    def __init__(self, config: TrainConfig) -> None:
        self.accelerator = _accelerator(config) if int(os.environ.get("WORLD_SIZE", "1")) > 1 else None
        self.count = 1 if self.accelerator is None else self.accelerator.num_processes
        self.rank = 0 if self.accelerator is None else self.accelerator.process_index
        if config.tasks_per_step % self.count:
            raise BadConfig(
                f"tasks_per_step: expected a multiple of the {self.count} processes, got {config.tasks_per_step}."
            )

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def share(self, items: Sequence[Item]) -> list[Item]:
        """This process's part of what all of them have."""
        return list(items[self.rank :: self.count])

    def sums(self, values: Sequence[float]) -> list[float]:
        """The sums over all processes."""
        if self.accelerator is None:
            return list(values)
        # Not as float64 everywhere: some accelerators have none.
        tensor = torch.tensor(list(values), dtype=torch.float32, device=self.accelerator.device)
        return [float(value) for value in self.accelerator.reduce(tensor, reduction="sum").cpu()]

    def gather(self, item: Item) -> list[Item]:
        """What each of the processes has, in the order of their ranks."""
        if self.accelerator is None:
            return [item]
        from accelerate.utils import gather_object

        found: list[Item] = gather_object([item])
        return found

    def wait(self) -> None:
        """Until all have come this far."""
        if self.accelerator is not None:
            self.accelerator.wait_for_everyone()

    def close(self) -> None:
        if self.accelerator is not None:
            self.accelerator.end_training()


def _accelerator(config: TrainConfig) -> Any:
    try:
        from accelerate import Accelerator
        from accelerate.utils import InitProcessGroupKwargs
    except ImportError as error:
        raise MissingExtra.of("Training with several processes", "train") from error
    has_gpu = torch.cuda.is_available()
    kwargs = InitProcessGroupKwargs(backend="nccl" if has_gpu else "gloo", timeout=_PATIENCE)
    return Accelerator(cpu=not has_gpu, kwargs_handlers=[kwargs])
