"""A sweep: the same training with every combination of some settings, and several seeds of each.

    sweep = make_sweep(Path("config.yaml"), ["gamma_explore=0.5,0.9", "seeds=0,1,2"], fixed=["steps=200"])
    results = run_sweep(sweep, Path("sweeps/gamma"))
    write_results(sweep, Path("sweeps/gamma"), results)

Each run is a process of its own, in a folder of its own that its settings name: one that crashes ends no other, and its
memory is given back. `sweep.json` keeps what was asked for and what is finished. A sweep that was broken off goes on
where it was; one with more values or seeds than before trains those that are new.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.setting import without_secrets
from eapo_gym.bench.store import plain
from eapo_gym.errors import EapoError
from eapo_gym.trainers.config import BadConfig, TrainConfig, parse_overrides
from eapo_gym.trainers.runs import CONFIG_FILE

SWEEP_FILE = "sweep.json"
LOGS = "logs"
SEEDS = "seeds"

WAITING, FINISHED, FAILED = "waiting", "finished", "failed"

_PATIENCE = 60.0
"""Seconds that a run which is to stop may take to end; then it is killed."""

_LONGEST_NAME = 40


class SweepError(EapoError, ValueError):
    """A sweep that cannot be, or a folder that holds another one."""


Train = Callable[[Path | None, Path, Sequence[str], Path, threading.Event], int]
"""Trains with a configuration, in a folder, with `key=value` settings; writes what it says to a log, and stops soon
after the event is set. Returns 0 if the run is finished."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep."""

    name: str
    """Of its folder."""

    values: dict[str, Any]
    """Of the settings that are swept over."""

    seed: int
    overrides: tuple[str, ...]
    config: dict[str, Any]
    """All of its settings, but for passwords and the like, which are kept nowhere."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is to be trained."""

    config: Path | None
    grid: dict[str, list[Any]]
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sweep has come, and what happened last."""

    total: int
    finished: int
    failed: int
    running: tuple[str, ...]
    event: str = ""


def parse_grid(texts: Sequence[str]) -> tuple[dict[str, list[Any]], list[int]]:
    """`["gamma_explore=0.5,0.9", "seeds=0,1"]` as the values of each setting, and the seeds.

    Values are YAML, with commas between them; a list in brackets is the same. The grid's names are those of settings,
    or of one entry of a setting, as in `agent_options.compact=true,false`.
    """
    grid: dict[str, list[Any]] = {}
    seeds: list[int] = []
    for text in texts:
        name, found, given = text.partition("=")
        name, given = name.strip(), given.strip()
        if not found or not given:
            raise SweepError(f"Expected values to sweep over as field=a,b,c; got {text!r:.80}.")
        if name in grid or (name == SEEDS and seeds):
            raise SweepError(f"{name} is given twice: name all of its values at once, as in {name}=a,b,c.")
        values = _values(name, given)
        if name == SEEDS:
            seeds = _seeds(values)
        else:
            grid[name] = values
    return grid, seeds or [0]


def make_sweep(config: Path | None, grid: Sequence[str], fixed: Sequence[str] = ()) -> Sweep:
    """All runs of a sweep; each of their configurations is checked here, before the first of them begins."""
    swept, seeds = parse_grid(grid)
    settled = parse_overrides(fixed)
    for name in (*swept, *settled):
        if name.partition(".")[0] == "seed":
            raise SweepError("seed: the seeds of a sweep are given as seeds=0,1,2.")
    for name in swept:
        if name in settled or (name.partition(".")[0] in settled and "." not in name):
            raise SweepError(f"{name} is both swept over and fixed: choose one.")
    points = []
    for combination in product(*swept.values()):
        values = dict(zip(swept, combination, strict=True))
        for seed in seeds:
            settings = [*fixed, *(f"{name}={_yaml_of(value)}" for name, value in values.items()), f"seed={seed}"]
            checked = plain(without_secrets(TrainConfig.load(config, settings).to_json()))
            if not checked["model"]:
                raise SweepError(
                    "model: expected a folder or a hub's id to train, got none: add model=… behind --, or to the file."
                )
            name = ",".join([*(f"{name}={_file_name(value)}" for name, value in values.items()), f"seed={seed}"])
            points.append(Point(name, values, seed, tuple(settings), checked))
    return Sweep(config, swept, tuple(points))


def run_sweep(
    sweep: Sweep,
    out: Path,
    *,
    jobs: int = 1,
    train: Train | None = None,
    on_change: Callable[[Progress], None] | None = None,
) -> dict[str, str]:
    """Train what is not finished, so many at a time; returns what became of each run: finished, or failed.

    A run that fails is noted, and tried again when the sweep is.
    """
    if jobs < 1:
        raise SweepError(f"jobs: expected 1 or more, got {jobs}.")
    train = train or train_in_process
    states = _take_up(sweep, out)
    waiting = [point for point in sweep.points if states[point.name] != FINISHED]
    running: dict[Future[int], Point] = {}
    stop = threading.Event()

    def tell(event: str = "") -> None:
        if on_change is not None:
            counts = [sum(state == each for state in states.values()) for each in (FINISHED, FAILED)]
            names = tuple(point.name for point in running.values())
            on_change(Progress(len(sweep.points), counts[0], counts[1], names, event))

    with ThreadPoolExecutor(jobs) as threads:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    point = waiting.pop(0)
                    log = out / LOGS / f"{point.name}.log"
                    running[threads.submit(train, sweep.config, out / point.name, point.overrides, log, stop)] = point
                tell()
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    point, status = running.pop(future), future.result()
                    states[point.name] = FAILED if status else FINISHED
                    _write_state(sweep, out, states)
                    tell(f"{point.name}: {states[point.name]}" + (f" (exit status {status})" if status else ""))
        finally:
            stop.set()
    return states


def train_in_process(
    config: Path | None, folder: Path, overrides: Sequence[str], log: Path, stop: threading.Event
) -> int:
    """Train with `eapo-gym train` in a process of its own; one that is stopped goes on from its last checkpoint."""
    command = [sys.executable, "-m", "eapo_gym.cli", "train"]
    if config is not None:
        command += ["--config", str(config)]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        process = subprocess.Popen(
            [*command, "--out", str(folder), *overrides],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            while process.poll() is None and not stop.is_set():
                _wait(process, 0.5)
            if process.poll() is None:
                process.terminate()
                _wait(process, _PATIENCE)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    return process.returncode


def last_words(out: Path, name: str, lines: int = 3) -> str:
    """The end of a run's log, which says why it failed."""
    log = out / LOGS / f"{name}.log"
    if not log.exists():
        return ""
    text = log.read_text(encoding="utf-8", errors="replace")
    return "\n".join(line for line in text.splitlines()[-lines:] if line.strip())


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return  # whoever called looks at it again


# What is kept


def _take_up(sweep: Sweep, out: Path) -> dict[str, str]:
    """What is known of the runs of this sweep; refuses a folder where one of these names is another run.

    A run that failed before it began, for a wrong setting say, leaves a folder without its record: it may have the
    right setting now.
    """
    before = {name: run for name, run in _read_state(out).items() if (out / name / CONFIG_FILE).exists()}
    for point in sweep.points:
        kept = before.get(point.name, {})
        other = [name for name, value in kept.get("config", {}).items() if point.config.get(name) != value]
        if other:
            raise SweepError(
                f"{out / point.name} was trained with another {', '.join(other[:5])} than now: choose another folder, "
                "or the settings as they were."
            )
    states = {point.name: str(before.get(point.name, {}).get("state", WAITING)) for point in sweep.points}
    _write_state(sweep, out, states)
    return states


def _read_state(out: Path) -> dict[str, dict[str, Any]]:
    path = out / SWEEP_FILE
    try:
        runs = json.loads(path.read_bytes())["runs"]
        return {str(name): dict(run) for name, run in runs.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SweepError(f"{path} cannot be read: {error}. Choose another folder for the sweep.") from error


def _write_state(sweep: Sweep, out: Path, states: Mapping[str, str]) -> None:
    """Runs of earlier sweeps in this folder stay in it."""
    runs = _read_state(out)
    for point in sweep.points:
        runs[point.name] = {
            "state": states[point.name],
            "values": point.values,
            "seed": point.seed,
            "config": point.config,
        }
    write_atomically(out / SWEEP_FILE, json.dumps({"runs": runs}, indent=1) + "\n")


# Values


def _values(name: str, given: str) -> list[Any]:
    """What stands behind the `=`, as YAML: a list without its brackets, or with them."""
    [values] = parse_overrides([f"{name if name != SEEDS else 'seed'}=[{given}]"]).values()
    if isinstance(values, dict):  # one entry of a setting
        [values] = values.values()
    if len(values) == 1 and isinstance(values[0], list):
        [values] = values
    if not values:
        raise SweepError(f"{name}: expected values to sweep over, got none.")
    written = [json.dumps(value, sort_keys=True, default=str) for value in values]
    if len(set(written)) < len(written):
        raise SweepError(f"{name}: a value is given twice in {given!r:.80}.")
    return list(values)


def _seeds(values: Sequence[Any]) -> list[int]:
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise SweepError(f"seeds: expected whole numbers from 0, got {value!r:.80}.")
    return list(values)


def _yaml_of(value: Any) -> str:
    """JSON is YAML."""
    try:
        return json.dumps(value)
    except TypeError as error:
        raise BadConfig(f"{value!r:.80} is no value of a setting: {error}.") from error


def _file_name(value: Any) -> str:
    """A value as part of a folder's name: as it is where that is possible, else shortened, with a digest of it."""
    text = value if isinstance(value, str) else json.dumps(value)
    harmless = re.sub(r"[^A-Za-z0-9._+-]+", "-", text)
    if harmless == text and 0 < len(text) <= _LONGEST_NAME:
        return text
    return f"{harmless[:_LONGEST_NAME].strip('-')}-{sha256(json.dumps(value).encode()).hexdigest()[:6]}"
