"""Supervised fine-tuning before RL: on expert demonstrations, and on rollback pairs.

    result = sft(config, ["data/demonstrations.jsonl", "data/rollback.jsonl"], "runs/sft")
    config = replace(config, model=str(result.model))       # RL goes on from there

**The loss** of an update is the mean of −log p over all target tokens of its examples. So every token counts the same,
which is the likelihood of the data; and how a batch is cut into micro-batches does not matter. With a mean for each
example first, the tokens of short responses would count more than those of long ones, and a memory would be learned the
less the more there is to remember.

**The folder** has `sft.json` (settings, hashes of the data), `metrics.jsonl`, `checkpoints`, and at the end `model`, a
plain Hugging Face folder, and `result.json`. A run that was broken off goes on from its last checkpoint, and comes to
the same weights: what is drawn depends on the seed and the number of the update alone.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.setting import versions, without_secrets
from eapo_gym.bench.store import differences, plain
from eapo_gym.errors import EapoError
from eapo_gym.loggers import Loggers, open_loggers
from eapo_gym.trainers.checkpoint import Checkpoints, locked
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.encoding import Encoded, Encoder
from eapo_gym.trainers.examples import BadExamples, Example, content_hash, read_examples
from eapo_gym.trainers.failures import BadUpdates
from eapo_gym.trainers.policy import Policy
from eapo_gym.trainers.records import keep_metrics_until

STAMP_FILE = "sft.json"
RESULT_FILE = "result.json"
MODEL_FOLDER = "model"
CHECKPOINTS = "checkpoints"

_log = logging.getLogger(__name__)

_MOST_VALIDATED = 256
"""Held-out examples that a validation looks at."""

_MATTER = (
    *("model", "seed", "agent", "agent_options", "rollback", "max_tokens", "engine_options", "rollback_sft"),
    *("sft_epochs", "sft_learning_rate", "sft_batch", "sft_max_steps", "sft_held_out", "learning_rate", "schedule"),
    *("warmup", "weight_decay", "beta2", "grad_clip", "precision", "tuning", "lora_rank", "lora_alpha", "lora_targets"),
)
"""The settings that decide what comes of it; a run that is taken up must have the same.

`microbatch_tokens` decides about the last bits alone, and must be free to be lowered where memory runs out.
"""


class SftError(EapoError, ValueError):
    """A fine-tuning that cannot begin, or cannot go on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it has come."""

    step: int
    steps: int
    loss: float
    """Of the last update."""

    valid_loss: float
    """The last that was measured; NaN where nothing is held out."""

    tokens_per_second: float
    """Prompts included."""

    seconds_left: float


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it."""

    model: Path
    """A plain Hugging Face folder."""

    steps: int
    examples: int
    """Trained on, each of them about `sft_epochs` times."""

    held_out: int
    too_long: int
    """Left out, since they do not fit into the model's window."""

    loss: float
    """The mean of the last ten updates."""

    valid_before: float
    valid_after: float
    skipped: int
    """Updates that were left out for not being finite."""

    held_out_tasks: list[str] = field(default_factory=list)
    over_max_tokens: int = 0
    """Left out, since their targets are longer than `max_tokens`."""


def sft(
    config: TrainConfig,
    data: Sequence[str | Path | Example],
    out: str | Path,
    *,
    model: str | Path | None = None,
    accelerator: Any = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Fine-tune `config.model` (or `model`) on files of examples, or on examples; goes on with what was broken off.

    With an accelerator of several processes all of them call it, and the first one writes.
    """
    out = Path(out)
    name = str(model or config.model)
    config = replace(config, model=name, learning_rate=config.sft_rate)
    examples = list(_examples(config, data))
    stamp = plain(
        {
            "config": {key: value for key, value in without_secrets(config.to_json()).items() if key in _MATTER},
            "data": _hashes(data),
            "examples": len(examples),
        }
    )
    first = accelerator is None or accelerator.is_main_process
    with ExitStack() as open_things:
        if first:
            out.mkdir(parents=True, exist_ok=True)
            open_things.enter_context(locked(out / ".lock", f"Another process is fine-tuning in {out}"))
        _check_same(out, stamp)
        if (out / RESULT_FILE).exists():
            return _read_result(out)
        held = held_out_tasks(examples, config.sft_held_out, config.seed)
        encoder = Encoder(config, name)
        train = encoder([example for example in examples if example.task not in held])
        valid = encoder([example for example in examples if example.task in held])
        left_out = encoder.left_out()
        if not train:
            raise SftError(f"None of {len(examples):,} examples can be trained on. {left_out}")
        run = _Run(config, train, valid, encoder, out, accelerator, on_progress)
        if first:
            if left_out:
                _log.warning("Some of %s examples are left out. %s", f"{len(examples):,}", left_out)
            # Not before: what cannot begin, for a wrong setting say, must not be in the way of what can.
            if not (out / STAMP_FILE).exists():
                write_atomically(out / STAMP_FILE, json.dumps({**stamp, "versions": versions()}, indent=1) + "\n")
        return run.run(sorted(held))


def held_out_tasks(examples: Iterable[Example], share: float, seed: int) -> set[str]:
    """The tasks that are only measured on: one at least, if a share is asked for and there are two or more.

    Which ones depends on their names, so that a task is held out of demonstrations and rollback pairs alike.
    """
    tasks = sorted({example.task for example in examples}, key=lambda task: (_draw(seed, task), task))
    count = min(len(tasks) - 1, max(1, round(share * len(tasks)))) if share > 0 and tasks else 0
    return set(tasks[:count])


def _draw(seed: int, task: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{task}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


class _Run:
    """A fine-tuning that is going on."""

    def __init__(
        self,
        config: TrainConfig,
        train: list[Encoded],
        valid: list[Encoded],
        encoder: Encoder,
        out: Path,
        accelerator: Any,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.config, self.train, self.encoder, self.out = config, train, encoder, out
        self.held_out = len(valid)
        count = min(len(valid), _MOST_VALIDATED)
        self.valid = [valid[i * len(valid) // count] for i in range(count)]
        self.accelerator, self.on_progress = accelerator, on_progress
        self.rank = 0 if accelerator is None else accelerator.process_index
        self.ranks = 1 if accelerator is None else accelerator.num_processes
        # At least one update; the last one may be smaller than the others.
        self.seen_in_all = max(1, round(config.sft_epochs * len(train)))
        self.steps = math.ceil(self.seen_in_all / config.sft_batch)
        if config.sft_max_steps is not None:
            self.steps = min(self.steps, config.sft_max_steps)
        self.policy = Policy.load(config, roles=("policy",), accelerator=accelerator, updates=self.steps)
        self.checkpoints = Checkpoints(out / CHECKPOINTS, config.keep_last)
        self.bad = BadUpdates(config)
        self.losses: list[float] = []
        self.valid_losses: list[float] = []
        """The first and the last."""

    def run(self, held: list[str]) -> Result:
        begun = self._take_up()
        with self._loggers(begun) as loggers:
            if not begun:
                self._validate(loggers, 0)
            clock, tokens = time.perf_counter(), 0
            for step in range(begun + 1, self.steps + 1):
                values, count = self._update(step)
                tokens += count
                seconds = time.perf_counter() - clock
                rate = tokens / seconds if seconds else 0.0
                self._log(loggers, {"sft": {**values, "tokens_per_second": rate}}, step)
                last = step == self.steps
                if last or (self.config.eval_every and step % self.config.eval_every == 0):
                    self._validate(loggers, step)
                if last or step % self.config.save_every == 0:
                    self._save(loggers, step)
                if self.on_progress is not None:
                    left = (self.steps - step) * seconds / (step - begun)
                    valid = self.valid_losses[-1] if self.valid_losses else math.nan
                    self.on_progress(Progress(step, self.steps, values["loss"], valid, rate, left))
        return self._finish(held)

    # An update

    def _update(self, step: int) -> tuple[dict[str, float], int]:
        """The numbers of an update, and how many tokens went through the model."""
        chosen = [self.train[i] for i in self.batch(step)]
        targets = sum(len(each.target) for each in chosen)
        total = 0.0
        # Every process takes every n-th; all of them divide by the tokens of the whole batch.
        for part in self.policy.passes(self._rows(chosen[self.rank :: self.ranks]), "policy"):
            loss = -part.logprobs.sum() / targets
            self.policy.backward(loss)
            total += float(loss.detach())
        rate = self.policy.learning_rate("policy")
        norm = self.policy.update("policy")
        self.bad.note(norm)
        loss = self._over_processes(total)
        self.losses = [*self.losses[-9:], loss]
        values = {"loss": loss, "learning_rate": rate, "grad_norm": norm, "tokens": float(targets)}
        return values, targets + sum(len(each.prompt) for each in chosen)

    def batch(self, step: int) -> list[int]:
        """The examples of an update, which follow from the seed and its number alone."""
        size, count = self.config.sft_batch, len(self.train)
        places = range((step - 1) * size, min(step * size, self.seen_in_all))
        orders = {epoch: self._order(epoch) for epoch in {place // count for place in places}}
        return [int(orders[place // count][place % count]) for place in places]

    def _order(self, epoch: int) -> np.ndarray:
        return np.random.default_rng([abs(self.config.seed), epoch]).permutation(len(self.train))

    def _rows(self, encoded: Sequence[Encoded]) -> list[Any]:
        return [each.row(self.encoder.agent(each.example)) for each in encoded]

    def _over_processes(self, value: float) -> float:
        if self.ranks == 1:
            return value
        import torch

        return float(self.accelerator.gather(torch.tensor([value], device=self.policy.device)).sum())

    # Measuring

    def _validate(self, loggers: Loggers | None, step: int) -> None:
        if not self.valid:
            return
        scores = self.policy.score(self._rows(self.valid), "policy")
        sums: dict[str, list[float]] = {}
        for each, [logprobs] in zip(self.valid, scores, strict=True):
            for kind in ("all", each.example.kind):
                sums.setdefault(kind, [0.0, 0.0])
                sums[kind][0] -= float(logprobs.sum(dtype=np.float64))
                sums[kind][1] += len(logprobs)
        losses = {kind: total / count for kind, (total, count) in sums.items()}
        self.valid_losses = [*self.valid_losses[:1], losses["all"]]
        named = {"valid_loss" if kind == "all" else f"valid_loss_{kind}": loss for kind, loss in losses.items()}
        self._log(loggers, {"sft": named}, step)

    def _log(self, loggers: Loggers | None, values: Mapping[str, Any], step: int) -> None:
        if loggers is not None:
            loggers.log(values, step)

    def _loggers(self, begun: int) -> Any:
        if self.rank:
            return nullcontext()
        keep_metrics_until(self.out, begun or None)
        return open_loggers(
            self.config.loggers, self.out, run_name=self.out.name, config=without_secrets(self.config.to_json())
        )

    # Coming back

    def _take_up(self) -> int:
        """The number of updates that are done."""
        found = self.checkpoints.latest()
        if found is None:
            return 0
        state = self.checkpoints.load(found)
        self.policy.load_state(state["policy"])
        self.bad.load_state(state["bad"])
        self.losses, self.valid_losses = list(state["losses"]), list(state["valid_losses"])
        return found.step

    def _save(self, loggers: Loggers | None, step: int) -> None:
        state = {
            "policy": self.policy.state(),
            "bad": self.bad.state(),
            "losses": self.losses,
            "valid_losses": self.valid_losses,
        }
        if loggers is not None:
            loggers.sync()
            self.checkpoints.save(step, state)

    def _finish(self, held: list[str]) -> Result:
        if not self.rank:
            for left in self.out.glob(f".{MODEL_FOLDER}.*"):  # by a process that was killed in the middle of an export
                shutil.rmtree(left)
        folder = self.policy.export(self.out / MODEL_FOLDER)
        measured = self.valid_losses or [math.nan]
        result = Result(
            folder,
            steps=self.steps,
            examples=len(self.train),
            held_out=self.held_out,
            too_long=self.encoder.too_long,
            loss=sum(self.losses) / len(self.losses),
            valid_before=measured[0],
            valid_after=measured[-1],
            skipped=self.bad.skipped,
            held_out_tasks=held,
            over_max_tokens=self.encoder.over_max_tokens,
        )
        if not self.rank:
            written = plain({**asdict(result), "model": MODEL_FOLDER})
            write_atomically(self.out / RESULT_FILE, json.dumps(written, indent=1) + "\n")
        return result


# Data and settings


def _examples(config: TrainConfig, data: Sequence[str | Path | Example]) -> Iterator[Example]:
    found = [example for each in data for example in ([each] if isinstance(each, Example) else read_examples(each))]
    if not found:
        raise BadExamples("There is nothing to fine-tune on: name a file of examples (sft_data).")
    # The plain agent is shown neither instruction nor memory, so that nothing would tell it to go back.
    kept = [each for each in found if each.kind != "rollback" or (config.rollback_sft and config.agent != "plain")]
    if not kept:
        why = "rollback_sft is false" if not config.rollback_sft else "the plain agent has no use for them"
        raise BadExamples(f"All {len(found)} examples are rollback pairs, and {why}: add demonstrations to sft_data.")
    return iter(kept)


def _hashes(data: Sequence[str | Path | Example]) -> dict[str, str]:
    """By their place and name alone, since folders may be moved."""
    examples = [each for each in data if isinstance(each, Example)]
    files = [Path(each) for each in data if not isinstance(each, Example)]
    hashes = {f"{i} {path.name}": content_hash(path) for i, path in enumerate(files)}
    if examples:
        text = json.dumps([example.to_json() for example in examples], default=str)
        hashes["examples"] = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return hashes


def _check_same(out: Path, stamp: Mapping[str, Any]) -> None:
    path = out / STAMP_FILE
    if not path.exists():
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SftError(f"{path} cannot be read ({error}): choose another folder.") from error
    before.pop("versions", None)
    before["config"] = {name: value for name, value in before.get("config", {}).items() if name in _MATTER}
    differ = [f"{name} (there {old!r:.80}, here {new!r:.80})" for name, old, new in differences(before, stamp)]
    if differ:
        raise SftError(
            f"{out} holds another fine-tuning; what differs: {', '.join(differ)}. Take it up as it was begun, or "
            "choose another folder."
        )


def _read_result(out: Path) -> Result:
    written = json.loads((out / RESULT_FILE).read_text(encoding="utf-8"))
    numbers = {name: float(written[name]) for name in ("loss", "valid_before", "valid_after")}
    return Result(**{**written, **numbers, "model": out / MODEL_FOLDER})
