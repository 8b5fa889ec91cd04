"""How fast are log-probs and updates? The trainer against a plain loop of transformers, and against TRL's GRPO step.

    python benchmarks/log_probs.py                  (with TRL where it is installed: pip install trl)

All of them have the same model and the same rows: prompts and responses of ALFWorld's explorer, in an order that is
shuffled, as rollouts end in. All of them compute the clipped objective, without a distance from a reference, and take a
step of AdamW.

plain   pads the rows as they come, so many at a time, asks the model for all logits, and takes what it needs of them
TRL     `GRPOTrainer.training_step` on inputs that are prepared: no generation, no rewards. As its own generation does,
        they are padded to the longest prompt and the longest response of the whole batch. It computes entropies too
ours    `Policy.score`, and `Policy.passes` with `Policy.update`: sorted by length, under a budget of tokens

A micro-batch of plain and TRL has as many rows as fit into our budget of tokens if all were as long as the longest.
Before anything is measured, log-probs and the norm of the gradient are compared: all must agree.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from common import write_result
from rich.console import Console
from rich.table import Table
from taught import demonstrations
from transformers import AutoModelForCausalLM

from eapo_gym.engines.tiny import make_tiny
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.encoding import Encoder
from eapo_gym.trainers.logprobs import Row
from eapo_gym.trainers.objective import policy_loss
from eapo_gym.trainers.policy import Policy

CLIP = 0.2
RATE = 1e-6
"""Low, so that the models that are compared stay alike over the repeats."""

SAME = {"cpu": 1e-3, "cuda": 0.25}
"""The most that the log-prob of a token may differ by: rounding, which in bf16 is coarse."""


class Ours:
    def __init__(self, config: TrainConfig, rows: Sequence[Row], advantages: np.ndarray) -> None:
        self.policy, self.rows, self.advantages = Policy.load(config, roles=("policy",)), rows, advantages
        self.model = self.policy.model

    def begin(self) -> None:
        self.old = self.score()

    def score(self) -> list[np.ndarray]:
        return [values for [values] in self.policy.score(self.rows, "policy")]

    def update(self) -> float:
        for part in self.policy.passes(self.rows, "policy"):
            old = torch.from_numpy(np.concatenate([self.old[i] for i in part.indices])).to(part.logprobs)
            loss, _ = policy_loss(
                part.logprobs,
                old,
                None,
                torch.from_numpy(self.advantages[part.indices]).to(part.logprobs),
                part.row,
                rows=len(self.rows),
                tokens=sum(map(len, self.old)),
                clip_low=CLIP,
                clip_high=CLIP,
            )
            self.policy.backward(loss)
        return self.policy.update("policy")


class Plain:
    """What one writes in an hour."""

    def __init__(self, config: TrainConfig, rows: Sequence[Row], advantages: np.ndarray, at_a_time: int) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model: Any = AutoModelForCausalLM.from_pretrained(config.model, dtype=torch.float32).to(self.device)
        if config.tuning == "lora":
            from peft import get_peft_model

            self.model = get_peft_model(self.model, lora_settings(config))
        trained = [one for one in self.model.parameters() if one.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.0)
        self.rows, self.advantages, self.at_a_time = rows, advantages, at_a_time

    def begin(self) -> None:
        self.old = self.score()

    def score(self) -> list[np.ndarray]:
        found = []
        with torch.no_grad():
            for start in range(0, len(self.rows), self.at_a_time):
                values, mask = self._log_probs(self.rows[start : start + self.at_a_time])
                found += [one[here].cpu().numpy() for one, here in zip(values, mask, strict=True)]
        return found

    def update(self) -> float:
        for start in range(0, len(self.rows), self.at_a_time):
            values, mask = self._log_probs(self.rows[start : start + self.at_a_time])
            old = torch.zeros_like(values)
            old[mask] = torch.from_numpy(np.concatenate(self.old[start : start + self.at_a_time])).to(values)
            advantage = torch.from_numpy(self.advantages[start : start + self.at_a_time]).to(values)[:, None]
            ratio = (values - old).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
            (-((gain * mask).sum(1) / mask.sum(1)).sum() / len(self.rows)).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return float(norm)

    def _log_probs(self, rows: Sequence[Row]) -> tuple[Any, Any]:
        width = max(len(row.prompt) + len(row.targets[0]) for row in rows)
        ids, seen = torch.zeros(len(rows), width, dtype=torch.long), torch.zeros(len(rows), width, dtype=torch.long)
        asked = torch.zeros(len(rows), width - 1, dtype=torch.bool)
        for i, row in enumerate(rows):
            text = row.prompt + row.targets[0]
            ids[i, : len(text)] = torch.tensor(text)
            seen[i, : len(text)] = 1
            asked[i, len(row.prompt) - 1 : len(text) - 1] = True
        ids, seen, asked = ids.to(self.device), seen.to(self.device), asked.to(self.device)
        with in_precision(self.device):
            logits = self.model(input_ids=ids, attention_mask=seen, use_cache=False).logits[:, :-1]
        values = logits.float().log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
        return values, asked


class Trl:
    """Raises ImportError where TRL is not installed."""

    def __init__(
        self, config: TrainConfig, rows: Sequence[Row], advantages: np.ndarray, at_a_time: int, folder: Path
    ) -> None:
        from datasets import Dataset
        from transformers import AutoTokenizer
        from trl import GRPOConfig, GRPOTrainer

        class Prepared(GRPOTrainer):  # type: ignore[misc]
            """Its own step, on what it is given."""

            def _prepare_inputs(self, batch: Any) -> Any:
                return batch

        parts = -(-len(rows) // at_a_time)
        on_gpu = torch.cuda.is_available()
        settings = GRPOConfig(
            output_dir=str(folder / "trl"),
            per_device_train_batch_size=at_a_time,
            gradient_accumulation_steps=parts,
            num_generations=len(rows),
            beta=0.0,
            epsilon=CLIP,
            loss_type="grpo",
            learning_rate=RATE,
            weight_decay=0.0,
            gradient_checkpointing=False,
            bf16=on_gpu,
            use_cpu=not on_gpu,
            report_to="none",
        )
        self.trainer: Any = Prepared(
            model=AutoModelForCausalLM.from_pretrained(config.model, dtype=torch.float32),
            reward_funcs=lambda completions, **_: [0.0] * len(completions),
            args=settings,
            train_dataset=Dataset.from_list([{"prompt": "-"}] * len(rows)),
            processing_class=AutoTokenizer.from_pretrained(config.model, padding_side="left"),
            peft_config=lora_settings(config) if config.tuning == "lora" else None,
        )
        self.trainer.create_optimizer()
        self.trainer.model.to(self.trainer.accelerator.device)
        self.trainer.current_gradient_accumulation_steps = parts
        self.model = self.trainer.model
        whole = self._inputs(rows, advantages)
        self.parts = [
            {name: one[start : start + at_a_time] for name, one in whole.items()}
            for start in range(0, len(rows), at_a_time)
        ]

    def begin(self) -> None:
        scored = iter(self.score())
        for part in self.parts:
            mask = part["completion_mask"].bool()
            old = torch.zeros(mask.shape, device=mask.device)
            old[mask] = torch.from_numpy(np.concatenate([next(scored) for _ in mask])).to(old)
            part["old_per_token_logps"] = old

    def score(self) -> list[np.ndarray]:
        found = []
        with torch.no_grad():
            for part in self.parts:
                values, _, _ = self.trainer._get_per_token_logps_and_entropies(
                    self.trainer.model,
                    torch.cat([part["prompt_ids"], part["completion_ids"]], 1),
                    torch.cat([part["prompt_mask"], part["completion_mask"]], 1),
                    part["completion_ids"].shape[1],
                )
                found += [
                    one[here.bool()].float().cpu().numpy()
                    for one, here in zip(values, part["completion_mask"], strict=True)
                ]
        return found

    def update(self) -> float:
        trainer = self.trainer
        for part in self.parts:
            trainer.training_step(trainer.model, part, None)
        norm = torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), 1.0)
        trainer.optimizer.step()
        trainer.optimizer.zero_grad()
        return float(norm)

    def _inputs(self, rows: Sequence[Row], advantages: np.ndarray) -> dict[str, Any]:
        device = self.trainer.accelerator.device
        longest = max(len(row.prompt) for row in rows), max(len(row.targets[0]) for row in rows)
        prompts, completions = (torch.zeros(len(rows), width, dtype=torch.long) for width in longest)
        prompt_mask, completion_mask = torch.zeros_like(prompts), torch.zeros_like(completions)
        for i, row in enumerate(rows):
            prompts[i, longest[0] - len(row.prompt) :] = torch.tensor(row.prompt)
            prompt_mask[i, longest[0] - len(row.prompt) :] = 1
            completions[i, : len(row.targets[0])] = torch.tensor(row.targets[0])
            completion_mask[i, : len(row.targets[0])] = 1
        found = {
            "prompt_ids": prompts,
            "prompt_mask": prompt_mask,
            "completion_ids": completions,
            "completion_mask": completion_mask,
            "advantages": torch.from_numpy(advantages).float(),
        }
        return {name: one.to(device) for name, one in found.items()}


def lora_settings(config: TrainConfig) -> Any:
    from peft import LoraConfig

    return LoraConfig(
        r=config.lora_rank, lora_alpha=config.lora_alpha, target_modules="all-linear", task_type="CAUSAL_LM"
    )


def in_precision(device: Any) -> AbstractContextManager[Any]:
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def make_alike(ours: Any, others: Sequence[Any]) -> None:
    """Give all of them the same adapters, which are drawn and begin as nothing."""
    adapters = {name: one for name, one in ours.named_parameters() if "lora_" in name}
    dice = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for one in adapters.values():
            one.copy_(torch.randn(one.shape, generator=dice) * 0.02)
        for other in others:
            own = dict(other.named_parameters())
            for name, one in adapters.items():
                own[name.replace(".policy.", ".default.")].copy_(one)


def rows_of(config: TrainConfig, folder: Path, count: int) -> list[Row]:
    encoder = Encoder(config, config.model)
    examples = demonstrations(folder / "shown", max(10, count // 8))
    random.Random(0).shuffle(examples)
    encoded = encoder(examples[: 2 * count])[:count]
    return [each.row(encoder.agent(each.example)) for each in encoded]


def seconds_of(work: Callable[[], Any]) -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def differences(contestants: dict[str, Any]) -> dict[str, float]:
    """How far the others are from the plain loop: the worst token."""
    expected = contestants["plain"].old
    return {
        name: max(float(np.abs(a - b).max()) for a, b in zip(each.score(), expected, strict=True))
        for name, each in contestants.items()
        if name != "plain"
    }


def measure(config: TrainConfig, rows: Sequence[Row], options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    advantages = np.random.default_rng(0).normal(size=len(rows))
    most = max(1, options.microbatch_tokens // max(row.length for row in rows))
    at_a_time = max(count for count in range(1, most + 1) if len(rows) % count == 0)  # TRL has no smaller last part
    contestants: dict[str, Any] = {
        "ours": Ours(config, rows, advantages),
        "plain": Plain(config, rows, advantages, at_a_time),
    }
    try:
        contestants["trl"] = Trl(config, rows, advantages, at_a_time, folder)
    except ImportError as error:
        print(f"TRL is not measured, since it cannot be imported: {error}. pip install trl brings it.")
    make_alike(contestants["ours"].model, [each.model for name, each in contestants.items() if name != "ours"])
    for each in contestants.values():
        each.begin()
    worst = differences(contestants)
    norms = {name: each.update() for name, each in contestants.items()}  # warms up, too
    limit = SAME["cuda" if torch.cuda.is_available() else "cpu"]
    for name, difference in worst.items():
        assert difference < limit, f"{name}: a log-prob differs by {difference} from the plain loop's"
        apart = abs(norms[name] - norms["plain"]) / norms["plain"]
        assert apart < limit, f"{name}: the gradient is {norms[name]} long, the plain loop's {norms['plain']}"
    for each in contestants.values():
        each.score()
    seconds: dict[str, dict[str, list[float]]] = {name: {"score": [], "update": []} for name in contestants}
    for _ in range(options.repeats):  # in turn, so that noise hits all alike
        for name, each in contestants.items():
            seconds[name]["score"].append(seconds_of(each.score))
            seconds[name]["update"].append(seconds_of(each.update))
    tokens = sum(len(row.prompt) + len(row.targets[0]) for row in rows)
    medians = {name: {part: median(values) for part, values in each.items()} for name, each in seconds.items()}
    ours = seconds["ours"]
    return {
        "rows": len(rows),
        "tokens": tokens,
        "response_tokens": sum(len(row.targets[0]) for row in rows),
        "longest": max(row.length for row in rows),
        "rows_at_a_time": at_a_time,
        "tokens_per_second": {
            name: {part: tokens / value for part, value in each.items()} for name, each in medians.items()
        },
        "ours_over": {
            name: {
                part: median(theirs / own for theirs, own in zip(each[part], ours[part], strict=True)) for part in each
            }
            for name, each in seconds.items()
            if name != "ours"
        },
        "largest_difference_of_log_probs": worst,
        "gradient_norm": norms,
        "every_seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cpu"), default="auto", help="auto is a GPU where there is one")
    parser.add_argument("--size", default="8m", help="parameters of the model")
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--vocab", type=int, default=2048)
    parser.add_argument("--microbatch-tokens", type=int, default=4096)
    parser.add_argument("--tuning", choices=("full", "lora", "both"), default="both")
    parser.add_argument("--lora-rank", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="print, and write no result")
    options = parser.parse_args()
    if options.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""

    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        model = make_tiny(folder / "model", "qwen3", options.size, compact=True, context=2048, vocab=options.vocab)
        for tuning in ("full", "lora") if options.tuning == "both" else (options.tuning,):
            config = TrainConfig.make(
                model=str(model),
                tuning=tuning,
                lora_rank=options.lora_rank,
                lora_alpha=2 * options.lora_rank,
                learning_rate=RATE,
                microbatch_tokens=options.microbatch_tokens,
                max_tokens=256,
                agent_options={"compact": True},
            )
            found[tuning] = measure(config, rows_of(config, folder, options.rows), options, folder)

    table = Table("tokens/s", "", *("ours", "plain", "TRL"), "ours / plain", "ours / TRL", title=options.size)
    for tuning, each in found.items():
        for part in ("score", "update"):
            rates, ratios = each["tokens_per_second"], each["ours_over"]
            cells = [f"{rates[name][part]:,.0f}" if name in rates else "–" for name in ("ours", "plain", "trl")]
            cells += [f"{ratios[name][part]:.2f}" if name in ratios else "–" for name in ("plain", "trl")]
            table.add_row(tuning, part, *cells)
    Console().print(table)
    for tuning, each in found.items():
        said = ", ".join(f"{name} {value:.1e}" for name, value in each["largest_difference_of_log_probs"].items())
        print(f"{tuning}: the largest difference of a log-prob from the plain loop's: {said}")
    if not options.dry:
        on_gpu = torch.cuda.is_available()
        packages = ("torch", "transformers", "peft", "trl")
        write_result(
            "log_probs",
            {
                "device": torch.cuda.get_device_name() if on_gpu else "cpu", "torch_threads": torch.get_num_threads(),
                "model": options.size, "vocabulary": options.vocab, "microbatch_tokens": options.microbatch_tokens,
                "versions": {name: _version(name) for name in packages}, "tunings": found,
            },
        )  # fmt: skip


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
