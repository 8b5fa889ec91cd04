"""The model that is trained, in its three roles: the policy, the reference that it started from, and the reward model.

    policy = Policy.load(config)
    before = policy.score(rows, "reference")
    for part in policy.passes(rows, "policy"):
        policy.backward(loss_of(part))
    norm = policy.update("policy")

With LoRA the three are one frozen model: the policy and the reward model are adapters of it, and the reference is the
model without any. With full fine-tuning they are three copies. Dropout is off in all of them, since the policy that
samples has to be the policy that trains.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch.distributed.tensor import DTensor

from eapo_gym.engines import check_options, open_engine
from eapo_gym.engines.base import Engine
from eapo_gym.engines.chat import Chat
from eapo_gym.engines.images import ImageReader
from eapo_gym.engines.transformers import TransformersEngine
from eapo_gym.engines.transformers.adapters import Adapters
from eapo_gym.errors import UnknownName
from eapo_gym.trainers import loading, states
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.failures import naming_memory
from eapo_gym.trainers.logprobs import BadRow, LogProbs, Row, microbatches
from eapo_gym.trainers.ranks import Ranks

Role = Literal["policy", "reference", "q"]
ROLES: tuple[Role, ...] = ("policy", "reference", "q")

_NOTHING = Row((0,), ((0,),))
"""What a process reads that has nothing left, while others have: all must take part in what they do together."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The log-probs of some rows, with a gradient, as they come out of one forward pass."""

    indices: list[int]
    """Which of the rows."""

    logprobs: Any
    """Of all target tokens of these rows, one after the other."""

    row: Any
    """The place in `indices` that each token belongs to."""

    target: Any
    """Which target of its row."""


@dataclass(slots=True, eq=False)
class _Part:
    """A role of the model. What is None is None for the reference, which nobody trains."""

    module: LogProbs
    adapter: str | None = None
    wrapped: Any = None
    """The module as it is called with a gradient: what several processes need may be wrapped around it."""

    parameters: dict[str, Any] | None = None
    optimizer: Any = None
    schedule: Any = None


class Policy:
    """A model in the roles that were asked for."""

    tokenizer: Any
    chat: Chat
    model: Any
    """The model of transformers or PEFT that holds the policy."""

    device: Any
    tuning: str
    adapter: str | None
    """What `Sampling.adapter` must be for an engine to sample with the policy."""

    context: int
    """The most tokens that a prompt and a target may have together."""

    @classmethod
    def load(
        cls,
        config: TrainConfig,
        model: str | Path | None = None,
        *,
        roles: Sequence[Role] = ROLES,
        accelerator: Any = None,
        updates: int | None = None,
    ) -> Policy:
        """From a folder or a hub's id, `config.model` if none is named.

        `updates` is how many updates of each role the schedule of the learning rates is laid out for; by default
        `steps` of them for the reward model, and for the policy `epochs` times `minibatches` as many.
        """
        return cls(config, str(model or config.model), tuple(roles), accelerator, updates)

    def __init__(
        self, config: TrainConfig, name: str, roles: tuple[Role, ...], accelerator: Any, updates: int | None
    ) -> None:
        if not name:
            raise BadConfig("model: expected a folder or a hub's id, got none.")
        for role in roles:
            if role not in ROLES:
                raise UnknownName.of("role", role, ROLES)
        self._config = config
        self._name = name
        self._ranks = Ranks(accelerator, config)
        self.tuning = config.tuning
        self.device = self._ranks.device
        self.chat = Chat(name, thinking=config.engine_options.get("thinking"))
        self.tokenizer = self.chat.tokenizer
        loading.check_tags(self.chat)
        trained = [role for role in ROLES if role in roles and role != "reference"]
        if config.tuning == "lora":
            models = loading.with_adapters(config, name, self.device, roles, trained)
        else:
            models = loading.copies(config, name, self.device, roles, trained)
        self.model = models["policy" if "policy" in models else next(iter(models))]
        self.adapter = "policy" if config.tuning == "lora" and "policy" in trained else None
        base = loading.base_of(self.model)
        self.context = int(getattr(base.config.get_text_config(), "max_position_embeddings", None) or 1 << 20)

        @cache
        def open_reader() -> ImageReader:
            return ImageReader(name, self.chat)

        self._parts = {role: _Part(LogProbs(loading.base_of(model), open_reader)) for role, model in models.items()}
        self._adapters = Adapters(self.model) if config.tuning == "lora" and trained else None
        loading.check_arithmetic(next(iter(self._parts.values())).module, self._using(None))
        self._ranks.shard([part.module for part in self._parts.values()])
        for role in trained:
            part = self._parts[role]
            part.adapter = role if self._adapters is not None else None
            part.parameters = self._trained_parameters(part, role)
            part.wrapped = self._ranks.wrap(part.module, part.parameters.values())
            self._make_optimizer(part, role, updates)

    # Log-probs

    @property
    def is_sharded(self) -> bool:
        """Each process has a part of the weights: only all of them together can read them."""
        return self._ranks.shards

    def score(self, rows: Sequence[Row], role: Role, temperature: float = 1.0) -> list[list[np.ndarray]]:
        """For each row and target the log-probs of its tokens, as float32."""
        part = self._part(role)
        groups = self._groups(rows)
        # Where weights are spread over processes, all of them must make as many passes.
        idle = self._ranks.most(len(groups)) - len(groups) if self._ranks.shards else 0
        found: list[list[np.ndarray]] = [[] for _ in rows]
        with torch.no_grad(), self._using(part.adapter):
            for indices in groups:
                members = [rows[i] for i in indices]
                with naming_memory(self._config, "score"):
                    batch = replace(part.module.collate(members), temperature=temperature)
                    values = part.module(batch.to(self.device)).cpu().numpy()
                lengths = [len(target) for row in members for target in row.targets]
                pieces = iter(np.split(values, np.cumsum(lengths)[:-1]) if lengths else [])
                for i in indices:
                    found[i] = [next(pieces) for _ in rows[i].targets]
            for _ in range(idle):
                part.module(part.module.collate([_NOTHING]).to(self.device))
        return found

    def passes(self, rows: Sequence[Row], role: Role, temperature: float = 1.0) -> Iterator[Pass]:
        """The rows in micro-batches, each to be followed by `backward` of a loss of its log-probs.

        Losses add up over micro-batches and over processes: whoever means an average divides by what all of them have
        together. Within the loop the model is that of the role, so nothing may sample from it.
        """
        part = self._trained(role)
        groups = self._groups(rows)
        rounds = self._ranks.most(len(groups))
        with self._using(part.adapter), self._recomputing(part):
            for i in range(rounds):
                members = [rows[j] for j in groups[i]] if i < len(groups) else [_NOTHING]
                with self._ranks.apart(part.wrapped) if i + 1 < rounds else nullcontext():
                    with naming_memory(self._config, "update"):
                        batch = replace(part.module.collate(members), temperature=temperature).to(self.device)
                        values = part.wrapped(batch)
                    if i < len(groups):
                        yield Pass(groups[i], values, batch.row, batch.target)
                    else:
                        self.backward(0.0 * values.sum())

    def backward(self, loss: Any) -> None:
        """Add the gradient of a loss to that of the passes before."""
        with naming_memory(self._config, "update"):
            self._ranks.backward(loss)

    def update(self, role: Role) -> float:
        """Take a step along the gradient, clipped; returns how long it was before. One that is not finite is left."""
        part = self._trained(role)
        with naming_memory(self._config, "update"):  # the first one makes the optimizer's moments
            return self._update(part)

    def _update(self, part: _Part) -> float:
        parameters = list((part.parameters or {}).values())
        gradients = [one.grad for one in parameters if one.grad is not None]
        norm = torch.nn.utils.get_total_norm(gradients)
        length = float(norm.full_tensor() if isinstance(norm, DTensor) else norm)
        if math.isfinite(length):
            torch.nn.utils.clip_grads_with_norm_(parameters, self._config.grad_clip, norm)
            part.optimizer.step()
            part.schedule.step()
        part.optimizer.zero_grad(set_to_none=True)
        return length

    def learning_rate(self, role: Role) -> float:
        """What the next update of a role moves by."""
        return float(self._trained(role).schedule.get_last_lr()[0])

    # Sampling

    def open_engine(self, **options: Any) -> Engine:
        """An engine that samples with the policy as it is now; it shares the weights, or has a copy of its own."""
        sampler = self._config.sampler
        options = {**self._config.engine_options, **options}
        if sampler == "shared":
            check_options("transformers", options)
            return TransformersEngine(self.model, tokenizer=self.tokenizer, **options)
        if sampler == "vllm" and self.adapter is not None:
            options.setdefault("max_lora_rank", self._config.lora_rank)
        if sampler == "transformers":
            options = {"device": str(self.device), "dtype": loading.precision(self._config, self.device)} | options
        engine = open_engine(sampler, self._name, **options)
        _wait_for(self.sync(engine))
        return engine

    @asynccontextmanager
    async def paused(self, engine: Engine) -> AsyncIterator[None]:
        """Within this context the weights may change: `passes`, `update`, `score` and `load_state` belong here.

        An engine that shares them stands still, and uses nothing afterwards that the old weights have made. One with a
        copy goes on; it has the new weights after `sync`.
        """
        if self._config.sampler != "shared":
            yield
            return
        assert isinstance(engine, TransformersEngine)
        async with engine.paused():
            try:
                yield
            finally:
                engine.forget_prefixes()

    async def sync(self, engine: Engine) -> None:
        """Let the engine sample with the weights that the policy has now."""
        if self._config.sampler == "shared":
            assert isinstance(engine, TransformersEngine)
            engine.forget_prefixes()
        elif self.adapter is None:
            await engine.update_weights(loading.weights_of(self.model))
        else:
            with tempfile.TemporaryDirectory(prefix="eapo-adapter-") as folder:
                self.model.save_pretrained(folder, selected_adapters=[self.adapter], save_embedding_layers=False)
                await engine.load_adapter(self.adapter, str(Path(folder) / self.adapter))

    # Files and states

    def export(self, folder: str | Path) -> Path:
        """Write the policy as a plain folder for transformers and vLLM, adapters merged, in the place of an old one.

        With several processes all of them call it, and the first one writes.
        """
        weights = dict(loading.weights_of(self.model, self.adapter))
        if self._ranks.first:
            loading.write_folder(Path(folder), loading.base_of(self.model), weights, self.tokenizer, self._name)
        self._ranks.wait()
        return Path(folder)

    def state(self) -> dict[str, Any]:
        """All that `load_state` needs to go on as if nothing had been in between: copies, on the CPU."""
        return {
            role: {
                "weights": {name: states.whole(value) for name, value in part.parameters.items()},
                "optimizer": states.of_optimizer(part.optimizer),
                "schedule": deepcopy(part.schedule.state_dict()),
            }
            for role, part in self._parts.items()
            if part.parameters is not None
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned; a state of another model or another set of roles is refused as a whole."""
        trained = {role: part for role, part in self._parts.items() if part.parameters is not None}
        if set(state) != set(trained):
            raise states.BadState(f"The state is of the roles {sorted(state)}: expected {sorted(trained)}.")
        for role, part in trained.items():
            states.check_weights(role, state[role]["weights"], part.parameters or {})
        for role, part in trained.items():
            own = part.parameters or {}
            with torch.no_grad():
                for name, value in state[role]["weights"].items():
                    own[name].copy_(states.placed_like(value, own[name]))
            part.optimizer.load_state_dict(states.for_optimizer(state[role]["optimizer"], list(own.values())))
            part.optimizer.zero_grad(set_to_none=True)
            part.schedule.load_state_dict(deepcopy(state[role]["schedule"]))

    # Parts

    def _part(self, role: Role) -> _Part:
        if role not in self._parts and role == "reference" and self._adapters is not None:
            return _Part(next(iter(self._parts.values())).module)
        if role not in self._parts:
            raise UnknownName.of("role", role, self._parts, "Name it in the roles of Policy.load.")
        return self._parts[role]

    def _trained(self, role: Role) -> _Part:
        part = self._part(role)
        if part.parameters is None:
            raise ValueError("role: expected one that is trained, policy or q; the reference has no gradient.")
        return part

    def _using(self, adapter: str | None) -> AbstractContextManager[None]:
        return nullcontext() if self._adapters is None else self._adapters.using(adapter)

    @contextmanager
    def _recomputing(self, part: _Part) -> Iterator[None]:
        """transformers checkpoints activations of models in training mode only; it changes nothing else here."""
        part.module.train(self._config.gradient_checkpointing)
        try:
            yield
        finally:
            part.module.eval()

    def _trained_parameters(self, part: _Part, role: Role) -> dict[str, Any]:
        named = part.module.model.named_parameters()
        if self._adapters is not None:
            return {name: one for name, one in named if "lora_" in name and role in name.split(".")[-2:]}
        return {name: one for name, one in named if one.requires_grad}

    def _make_optimizer(self, part: _Part, role: Role, updates: int | None) -> None:
        config = self._config
        rate = config.policy_rate if role == "policy" else config.q_rate
        parameters = list((part.parameters or {}).values())
        # One kernel for all of it, which pays for models of many small weights.
        part.optimizer = torch.optim.AdamW(
            parameters,
            lr=rate,
            betas=(0.9, config.beta2),
            weight_decay=config.weight_decay,
            fused=None if self._ranks.shards else True,
        )
        per_step = config.epochs * config.minibatches if role == "policy" and updates is None else 1
        part.schedule = torch.optim.lr_scheduler.LambdaLR(
            part.optimizer, _schedule(config, config.warmup * per_step, updates or config.steps * per_step)
        )

    # Limits

    def _groups(self, rows: Sequence[Row]) -> list[list[int]]:
        for row in rows:
            if row.length > self.context:
                raise BadRow(
                    f"A prompt and its target have {row.length:,} tokens, and the window of {self._name} is "
                    f"{self.context:,}: lower max_tokens or the budgets of the prompt, or take another model."
                )
        return microbatches(rows, self._config.microbatch_tokens)


def _schedule(config: TrainConfig, warmup: int, updates: int) -> Callable[[int], float]:
    def factor(update: int) -> float:
        if update < warmup:
            return (update + 1) / warmup
        done = min(1.0, (update - warmup) / max(1, updates - warmup))
        if config.schedule == "linear":
            return 1.0 - done
        return 0.5 * (1.0 + math.cos(math.pi * done)) if config.schedule == "cosine" else 1.0

    return factor


def _wait_for(work: Coroutine[Any, Any, None]) -> None:
    """Do it here and now, also where a loop is running: in a thread of its own."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="eapo-gym-sync")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
