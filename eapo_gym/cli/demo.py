"""`eapo-gym demo`: experts, a random agent and a tiny language model play the same games, and what comes of it."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from eapo_gym.agents.arms import Arm
from eapo_gym.bench.evaluate import Evaluation
from eapo_gym.bench.records import Episode
from eapo_gym.bench.store import load_run
from eapo_gym.cli.evaluating import run_arms
from eapo_gym.cli.terminal import console, plain
from eapo_gym.engines.base import Sampling
from eapo_gym.registration import ALFWORLD

STEPS = 50
"""The step limit of most of ALFWorld's literature; games that took longer were not going to be solved by chance."""

MODEL = "tiny model"

AGENTS = {
    "oracle": Arm("oracle", "knows the game and plans"),
    "explorer": Arm("explorer", "knows what it has seen, and remembers"),
    "no memory": Arm("explorer", "the same, and remembers nothing", options={"memoryless": True}),
    "random": Arm("random", "draws a valid action"),
}

_RESPONSE = 48
"""Tokens. A model that has learned nothing does not end by itself."""


_GOOD_READ = 25
"""Steps."""


def demo(episodes: int, out: Path, seed: int, open_report: bool) -> None:
    """Play, print a table, and write the runs and their report into `out`."""
    arms, model = dict(AGENTS), None
    if find_spec("torch") and find_spec("transformers"):
        model = _tiny_model(out)
        arms[MODEL] = Arm("eapo", "a language model that has learned nothing", options={"compact": True})
    config = Evaluation(
        env=ALFWORLD,
        split="valid",
        model=model,
        sampling=Sampling(max_tokens=_RESPONSE),
        seeds=(seed,),
        max_tasks=episodes,
        max_steps=STEPS,
        parallel=64,
    )
    run_arms(config, arms, out)
    _say_what_next(out, model)
    report = out / "report.html"
    if open_report and sys.stdout.isatty() and _has_a_screen():
        webbrowser.open(report.resolve().as_uri())


def _tiny_model(out: Path) -> str:
    from eapo_gym.cli.models import training_texts
    from eapo_gym.engines.tiny import make_tiny

    return str(make_tiny(out / "tiny-qwen3", "qwen3", "0.2m", texts=training_texts(ALFWORLD)))


def _say_what_next(out: Path, model: str | None) -> None:
    say = console()
    if model is None:
        say.print("No language model played: that needs  pip install 'eapo-gym\\[transformers]'")
    else:
        say.print("The tiny model is made on the spot and has learned nothing; a real one goes through the same doors.")
    shown = interesting(load_run(out / "explorer").episodes)
    task = shown.trajectory.task
    say.print(plain(f"Play a game yourself:  eapo-gym play alfworld --split valid --web --task {task}"), soft_wrap=True)
    say.print("Evaluate a model:      eapo-gym eval --agent eapo --model FOLDER_OR_HUB_ID --split valid")


def interesting(episodes: Sequence[Episode]) -> Episode:
    """A solved episode that came back to states, or else had to search: long enough for that, short enough to read."""

    def interest(episode: Episode) -> tuple[bool, float, int]:
        degree = episode.trajectory.exploration_degree(self_loops=False)
        return episode.success, degree, -abs(len(episode) - _GOOD_READ)

    return max(episodes, key=interest)


def _has_a_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
