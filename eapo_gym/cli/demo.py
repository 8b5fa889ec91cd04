"""`eapo-gym demo`: agents play, and a small language model is trained to, on this machine."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from eapo_gym.agents.arms import Arm
from eapo_gym.bench.evaluate import Evaluation
from eapo_gym.bench.records import Episode
from eapo_gym.bench.store import load_run
from eapo_gym.cli.evaluating import folder_name, run_arms, run_compare, run_models, run_report
from eapo_gym.cli.learning import Size, evaluation_of, learn
from eapo_gym.cli.terminal import console, plain
from eapo_gym.cli.training_report import run_training_report
from eapo_gym.registration import ANDROIDWORLD, WEBSHOP

AGENTS = {
    "oracle": Arm("oracle", "knows the game and plans"),
    "explorer": Arm("explorer", "knows what it has seen, and remembers"),
    "no memory": Arm("explorer", "the same, and remembers nothing", options={"memoryless": True}),
    "random": Arm("random", "draws a valid action"),
}

SHOPPERS = {
    "explorer": Arm("explorer", "searches, compares, goes back, and buys what fits best"),
    "no memory": Arm("explorer", "the same, and remembers nothing", options={"memoryless": True}),
    "random": Arm("random", "draws a valid action"),
}
MOST_SHOPPING = 50
"""Goals: what a shopper does is seen sooner than what a model has learned."""

PHONE_USERS = {
    "oracle": Arm("oracle", "knows the phone"),
    "explorer": Arm("explorer", "looks for it, remembers, and goes back"),
    "random": Arm("random", "touches anything"),
}
MOST_ON_THE_PHONE = 20
"""Tasks."""

_NEEDED = ("torch", "transformers", "accelerate", "peft", "matplotlib", "yaml")
"""Packages of the extra `train`."""

_GOOD_READ = 25
"""Steps."""


def demo(episodes: int, out: Path, seed: int, open_report: bool, size: Size | None) -> None:
    """Let agents play, then train a model from nothing and let it play; write all runs and their reports into `out`.

    `size` is how much is trained; None for nothing.
    """
    config = evaluation_of(seed, episodes)
    run_arms(replace(config, agent_options={}), AGENTS, out, report=False)
    run_arms(_shopping(min(episodes, MOST_SHOPPING), seed), SHOPPERS, out / "webshop")
    if find_spec("PIL"):
        run_arms(_on_the_phone(min(episodes, MOST_ON_THE_PHONE), seed), PHONE_USERS, out / "phone")
    else:
        console().print("Nobody used the phone: its screens need Pillow:  pip install 'eapo-gym\\[gui]'")
    folders = [out / folder_name(name) for name in AGENTS]
    learned = None
    if size is not None and not (missing := [name for name in _NEEDED if not find_spec(name)]):
        learned = learn(out / "learning", seed, size)
        # Each game twice, since a model draws its words.
        run_models(replace(config, seeds=(seed, seed + 1)), learned, out)
        folders += [out / folder_name(name) for name in learned]
        run_compare(*folders[-2:])
        run_training_report([out / "learning" / "eapo"], out / "training.html")
    elif size is not None:
        console().print(f"Nothing was trained: that needs {', '.join(missing)}:  pip install 'eapo-gym\\[train]'")
    report = run_report(folders, out / "report.html")
    _say_what_next(out, learned)
    if open_report and sys.stdout.isatty() and _has_a_screen():
        webbrowser.open(report.resolve().as_uri())


def _shopping(goals: int, seed: int) -> Evaluation:
    """The same agents in another environment, where other things have to be found out."""
    return Evaluation(env=WEBSHOP, split="test", agent="explorer", seeds=(seed,), max_tasks=goals)


def _on_the_phone(tasks: int, seed: int) -> Evaluation:
    """And in a third one, with the list of what is on the screen."""
    return Evaluation(
        env=ANDROIDWORLD,
        env_kwargs={"observation_mode": "elements"},
        split="test",
        agent="explorer",
        seeds=(seed,),
        max_tasks=tasks,
    )


def _say_what_next(out: Path, learned: dict[str, str] | None) -> None:
    say = console()
    task = interesting(load_run(out / "explorer").episodes).trajectory.task
    say.print(plain(f"Play a game yourself:  eapo-gym play alfworld --split valid --web --task {task}"), soft_wrap=True)
    say.print(plain("Go shopping:           eapo-gym play webshop --split test --web"), soft_wrap=True)
    say.print(plain("Use the phone:         eapo-gym play androidworld --split test --web"), soft_wrap=True)
    if learned is None:
        say.print("Evaluate a model:      eapo-gym eval --agent eapo --model FOLDER_OR_HUB_ID --split valid")
    else:
        say.print("Train on:              eapo-gym train --help-config, and docs/train.md")


def interesting(episodes: Sequence[Episode]) -> Episode:
    """A solved episode that came back to states, or else had to search: long enough for that, short enough to read."""

    def interest(episode: Episode) -> tuple[bool, float, int]:
        degree = episode.trajectory.exploration_degree(self_loops=False)
        return episode.success, degree, -abs(len(episode) - _GOOD_READ)

    return max(episodes, key=interest)


def _has_a_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
