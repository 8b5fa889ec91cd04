"""How large a report of many episodes is, and how quick a browser is with it.

    python benchmarks/report_size.py [--episodes 500] [--steps 50] [--out DIR]

Episodes of a random player in ALFWorld, with thoughts and a memory that grows, first as text alone, then with a
screenshot (and its marked twin) before every step. The times are of headless Chromium, and include layout.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from common import write_result

from eapo_gym.bench.pictures import Pictures
from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.report import write_report
from eapo_gym.bench.store import IMAGES_FOLDER, Run
from eapo_gym.protocol import render
from eapo_gym.schema import Trajectory, Transition, Turn
from eapo_gym.visitation import VisitCounter
from eapo_gym.wrappers.set_of_marks import MarkPainter

DISTINCT_SCREENS = 400
SCREEN = (1200, 540)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--out", type=Path, help="keep the reports here")
    options = parser.parse_args()
    out = options.out or Path(tempfile.mkdtemp(prefix="report-size-"))
    run = synthetic_run(options.episodes, options.steps)
    results = {"text": measure(run, out / "text.html")}
    results["images"] = measure(with_screens(run, out), out / "images.html")
    for name, result in results.items():
        print(f"{name:8}" + "  ".join(f"{key} {value}" for key, value in result.items()))
    write_result("report_size", {"episodes": options.episodes, "steps": options.steps, **results})
    if options.out is None:
        shutil.rmtree(out)


def synthetic_run(episodes: int, steps: int) -> Run:
    env = gym.make("eapo/ALFWorld-v0", schema="native", split="train", games=min(episodes, 100))
    tasks = env.get_wrapper_attr("tasks")()
    played = [play(env, tasks[i % len(tasks)], i // len(tasks), steps) for i in range(episodes)]
    return Run({}, [(episode.trajectory.task, episode.repeat) for episode in played], played)


def play(env: gym.Env[Any, Any], task: str, repeat: int, steps: int) -> Episode:
    dice = random.Random(f"{task}{repeat}")
    core: Any = env.unwrapped
    obs, info = env.reset(seed=repeat, options={"task": task})
    trajectory = Trajectory(task, core.source, info={"split": "train", "task_type": info["task_type"], "seed": repeat})
    episode = Episode("random", trajectory, outcome="steps", repeat=repeat, seconds=dice.random())
    visits, explore, memory = VisitCounter(), "", ""
    for t in range(steps):
        offered = info["admissible_commands"]
        command = dice.choice(offered)
        before, fingerprint = obs, core.fingerprint()
        think = f"I do not know what {command!r} leads to. {' '.join(dice.sample(offered, min(12, len(offered))))}."
        turn = Turn(think, f"What comes of {command}?", f"{memory[-1500:]} Then: {obs['state']}", command, True)
        obs, reward, terminated, _, info = env.step(command)
        trajectory.transitions.append(
            Transition(
                task=task,
                trajectory=f"{task}#{repeat}",
                t=t,
                goal=before["goal"],
                state=before["state"],
                fingerprint=fingerprint,
                depth=visits.visit(fingerprint),
                explore_in=explore,
                memory_in=memory,
                explore=turn.explore,
                memory=turn.memory or "",
                action=command,
                format_ok=True,
                reward=float(reward),
                terminated=terminated,
                truncated=t + 1 == steps,
                next_state=obs["state"],
                next_fingerprint=core.fingerprint(),
            )
        )
        episode.notes.append(StepNote(render(turn), think, offered=tuple(offered), calls=1, response_tokens=200))
        explore, memory = turn.explore, turn.memory or ""
        if terminated:
            episode.outcome = "solved"
            break
    return episode


def with_screens(run: Run, folder: Path) -> Run:
    """The same run with a screenshot before each step: as many distinct ones as an app has screens."""
    pictures, paint = Pictures(folder / IMAGES_FOLDER), MarkPainter(SCREEN[0])
    names = [
        (pictures.save(screen), pictures.save(paint(screen, elements)))
        for screen, elements in (screen_of(i) for i in range(DISTINCT_SCREENS))
    ]
    dice = random.Random(0)
    episodes = []
    for episode in run.episodes:
        some = dice.choices(names, k=len(episode))
        notes = [
            replace(note, screenshot=plain, marked=marked)
            for note, (plain, marked) in zip(episode.notes, some, strict=True)
        ]
        episodes.append(replace(episode, notes=notes))
    return Run(run.stamp, run.planned, episodes, folder)


def screen_of(seed: int) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """Something like an app: a background, tiles of colours with grain, and what can be clicked."""
    dice = np.random.default_rng(seed)
    height, width = SCREEN
    screen = np.full((height, width, 3), dice.integers(200, 256, 3), np.uint8)
    elements = []
    for index in range(14):
        top, left = int(dice.integers(0, height - 120)), int(dice.integers(0, width - 200))
        box = (left, top, left + int(dice.integers(60, 200)), top + int(dice.integers(30, 120)))
        part = screen[box[1] : box[3], box[0] : box[2]]
        grain = dice.integers(0, 40, (part.shape[0] // 8 + 1, part.shape[1] // 8 + 1, 3)).repeat(8, 0).repeat(8, 1)
        part[:] = dice.integers(0, 200, 3) + grain[: part.shape[0], : part.shape[1]]
        elements.append({"index": index, "bounds": box})
    return screen, elements


def measure(run: Run, path: Path) -> dict[str, Any]:
    begin = time.perf_counter()
    write_report(run, path)
    written = time.perf_counter() - begin
    return {"write_s": round(written, 1), "size_mb": round(path.stat().st_size / 1e6, 1), **in_browser(path)}


_TIMES = """async () => {
  const laidOut = async action => {
    const begin = performance.now();
    await action();
    document.body.getBoundingClientRect();
    return performance.now() - begin;
  };
  const median = times => times.sort((a, b) => a - b)[times.length >> 1];
  const shown = async id => {
    location.hash = `#${id}/1`;
    while (report.shown?.id !== id - 1) await new Promise(done => setTimeout(done));
  };
  const count = report.index.rows.length, filters = [], cold = [], warm = [], steps = [];
  for (const text of ["p", "pu", "put", ""]) filters.push(await laidOut(() => report.list.narrow({ text })));
  for (let i = 0; i < 12; i++) cold.push(await laidOut(() => shown(1 + Math.floor((i * 0.618 % 1) * count))));
  for (let i = 0; i < 12; i++) warm.push(await laidOut(() => shown(1 + i % 6)));
  for (let t = 0; t < 40; t++) steps.push(await laidOut(() => report.viewer.go(t)));
  return { filter_ms: median(filters), open_cold_ms: median(cold), open_next_ms: median(warm), step_ms: median(steps),
           slowest_step_ms: Math.max(...steps) };
}"""


def in_browser(path: Path) -> dict[str, float]:
    """Times of headless Chromium: until the overview stands, until all is read, and of what a reader does then."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        begin = time.perf_counter()
        page.goto(path.resolve().as_uri(), wait_until="commit")
        page.wait_for_selector(".list-window tbody tr:not(.gap)")
        overview = time.perf_counter() - begin
        page.wait_for_load_state("load")
        loaded = time.perf_counter() - begin
        times = page.evaluate(_TIMES)
        browser.close()
    rounded = {name: round(value, 1) for name, value in times.items()}
    return {"overview_s": round(overview, 2), "loaded_s": round(loaded, 2), **rounded}


if __name__ == "__main__":
    main()
