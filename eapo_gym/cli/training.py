"""`eapo-gym train`: what it does with the settings that it was given, and what is seen of it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eapo_gym.cli.targets import load_class
from eapo_gym.cli.terminal import console, plain, said_progress, stoppable
from eapo_gym.cli.training_report import run_training_report

if TYPE_CHECKING:
    from eapo_gym.trainers.config import TrainConfig
    from eapo_gym.trainers.sft import Progress as Tuning
    from eapo_gym.trainers.train import Progress, Result

_SAID: dict[str, tuple[str, str]] = {
    "train/success": ("solved", ".0%"),
    "reward/total": ("reward", ".2f"),
    "reward/explore": ("explore", ".2f"),
    "q/auc_lift": ("auc", ".2f"),
    "explore/degree": ("degree", ".2f"),
    "format/rate": ("format", ".0%"),
    "policy/kl": ("kl", ".3f"),
    "policy/grad_norm": ("grad", ".2f"),
    "time/step": ("s", ".1f"),
    "eval/success": ("| eval", ".1%"),
}
"""The numbers that matter, on one line."""


def run_train(config_file: Path | None, settings: Sequence[str], out: Path | None, *, report: bool = True) -> Path:
    """Train, or go on with what was broken off in the folder; returns the folder."""
    from eapo_gym.trainers.config import TrainConfig
    from eapo_gym.trainers.train import train

    config = TrainConfig.load(config_file, settings)
    if ":" in config.env:
        load_class(config.env)  # what lies beside the user is found from now on, and what is not there is told now
    folder = out or default_folder(config)
    first = os.environ.get("RANK", "0") == "0"
    with stoppable(folder), Watch(config.steps) as watch:
        result = train(config, folder, on_progress=watch)
    if first:
        _say(result, config)
        if report:
            run_training_report([folder])
    return folder


def default_folder(config: TrainConfig) -> Path:
    """Where a run goes that was given no folder: a name that the same command finds again."""
    parts = [config.env.removeprefix("eapo/"), config.algorithm, f"seed{config.seed}"]
    return Path("runs") / "-".join(re.sub(r"[^A-Za-z0-9._]+", "-", part).strip("-.") for part in parts)


def print_settings() -> None:
    """Every setting with its default and what it does, and the presets."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from eapo_gym.trainers.config import TrainConfig, docs
    from eapo_gym.trainers.presets import PRESETS

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("setting", "default", "what it does"):
        table.add_column(name, no_wrap=name == "setting")
    said = docs()
    for item in fields(TrainConfig):
        table.add_row(plain(item.name), plain(_written(item)), plain(said[item.name]))
    out = console()
    out.print(table)
    out.print("Presets (algorithm=…), and what they set:", style="bold")
    for name, values in PRESETS.items():
        listed = " ".join(f"{key}={value}" for key, value in values.items())
        out.print(plain(f"  {name:<18}{listed or 'the defaults'}"), soft_wrap=True)


def _written(item: Any) -> str:
    default = item.default if item.default is not MISSING else item.default_factory()
    if isinstance(default, bool) or default is None:
        return {True: "true", False: "false", None: "null"}[default]
    if isinstance(default, tuple):
        return str(list(default))
    return '""' if default == "" else str(default)


class Watch:
    """Progress of a run: bars where there is a terminal, and a line for each step in any case."""

    def __init__(self, steps: int) -> None:
        self.bar = said_progress()
        self.run = self.bar.add_task("training", total=steps, said="")
        self.part = self.bar.add_task("", total=None, said="", visible=False)

    def __enter__(self) -> Watch:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def __call__(self, now: Progress) -> None:
        if now.notice:
            self.bar.console.print(plain(now.notice, style="yellow"), soft_wrap=True)
        if now.metrics is not None:
            self.bar.update(self.run, completed=now.step)
            self.bar.console.print(plain(f"step {now.step}/{now.steps}  {said(now.metrics)}"), soft_wrap=True)
            return
        if now.tuning is not None:
            self._tune(now.tuning)
            return
        playing = now.playing
        self.bar.update(
            self.part,
            description=f"  {now.doing}",
            total=None if playing is None else playing.planned,
            completed=0 if playing is None else playing.done,
            said="" if playing is None else f"{playing.successes} solved, {playing.steps_per_second:,.0f} steps/s",
            visible=True,
        )

    def _tune(self, now: Tuning) -> None:
        loss = f"loss {now.loss:.3f}"
        if now.step == now.steps:
            self.bar.console.print(plain(f"fine-tuned, {now.steps} updates  {loss}"), soft_wrap=True)
        speed = f"{loss}, {now.tokens_per_second:,.0f} tokens/s"
        self.bar.update(self.part, description="  fine-tune", total=now.steps, completed=now.step, said=speed)


def said(metrics: dict[str, float]) -> str:
    """The numbers of a step that matter, in one line."""
    found = []
    for name, (short, form) in _SAID.items():
        value = metrics.get(name, math.nan)
        if not math.isnan(value):
            found.append(f"{short} {value:{form}}")
    return "  ".join(found)


def _say(result: Result, config: TrainConfig) -> None:
    lines = [f"The trained model is in {result.model.resolve()}"]
    if "eval/success" in result.metrics:
        low, high = (result.metrics[f"eval/{name}"] for name in ("low", "high"))
        lines.append(
            f"It solves {result.metrics['eval/success']:.1%} of {config.eval_split} "
            f"(95 % interval {low:.1%} to {high:.1%})."
        )
    console().print(plain("\n".join(lines)), soft_wrap=True)
