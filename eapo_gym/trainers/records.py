"""What a run of training is, kept in its folder, so that it goes on as what it was begun as.

config.json     written when it begins: configuration, environment, versions, hashes of its data; under `resumed`
                what was another when it was taken up again
metrics.jsonl   cut back to the checkpoint from which a run goes on
done.json       the last metrics; there once the run has come to its end
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.records import json_ready
from eapo_gym.bench.setting import versions, without_secrets
from eapo_gym.bench.store import differences, plain
from eapo_gym.errors import EapoError, MissingData
from eapo_gym.loggers import METRICS
from eapo_gym.trainers.checkpoint import locked
from eapo_gym.trainers.config import TrainConfig

CONFIG, DONE, EVALS = "config.json", "done.json", "evals"

MAY_DIFFER: Mapping[str, str] = {
    "steps": "how far to go (with a constant learning rate; a schedule is laid out for a number of steps)",
    "env_steps": "how far to go, likewise",
    "save_every": "what is kept of the run, and not what it is",
    "keep_last": "what is kept of the run, and not what it is",
    "eval_every": "an evaluation draws from generators of its own, and trains nothing",
    "loggers": "who watches",
    "episode_timeout": "how long to wait for what hangs",
    "response_timeout": "how long to wait for what hangs",
    "step_timeout": "how long to wait for what hangs",
    "retries": "how often to try what failed",
    "max_bad_updates": "how often to put up with what failed",
}
"""Settings that may be others when a run is taken up again, and why."""

MAY_DIFFER_IN_BITS: Mapping[str, str] = {
    "microbatch_tokens": "the same gradient, summed in other parts: what to lower when memory runs out",
    "gradient_checkpointing": "the same gradient, computed twice: what to turn on when memory runs out",
    "parallel": "the same episodes, batched otherwise: what to lower when memory runs out",
}
"""The same for settings that change nothing but the rounding; the run is no longer the same to the bit."""

_EVAL = re.compile(r"step-(\d{6,})")
_BLOCK = 1 << 22

_log = logging.getLogger(__name__)


class OtherRun(EapoError, ValueError):
    """A folder that holds another run than the one that was asked for."""


def open_run(
    config: TrainConfig, folder: Path, env_facts: Mapping[str, Any], *, writes: bool, held: ExitStack
) -> dict[str, float] | None:
    """Begin a run in a folder, or make sure that the one in it is this one; if it is done, its last metrics.

    Of several processes one writes, and has the folder to itself until `held` is closed.
    """
    if writes:
        folder.mkdir(parents=True, exist_ok=True)
        held.enter_context(locked(folder / ".lock", f"Another process is training in {folder}"))
        now = _record(config, env_facts)
        if (folder / CONFIG).exists():
            _take_up(config, folder, now)
        elif any(folder.glob("checkpoints/step-*")) or (folder / METRICS).exists():
            raise OtherRun(f"{folder} has a run in it and no {CONFIG} to say of what: choose another folder.")
        else:
            _write_json(folder / CONFIG, now)
    done = _read_json(folder / DONE) if (folder / DONE).exists() else None
    if done is None or not _is_far_enough(done, config):
        return None
    return {str(name): float(value) for name, value in done["metrics"].items()}


def write_done(folder: Path, metrics: Mapping[str, float]) -> None:
    """The run has come to its end: starting it again does nothing, unless it is for more steps."""
    config = read_record(folder)["config"]
    wanted = {"steps": config["steps"], "env_steps": config.get("env_steps")}
    _write_json(folder / DONE, {**wanted, "metrics": metrics})


def _is_far_enough(done: Mapping[str, Any], config: TrainConfig) -> bool:
    """Whether a run that has ended went as far as is asked for now."""
    if done["steps"] < config.steps:
        return False
    if config.env_steps is None or done.get("env_steps") is None:
        return done.get("env_steps") is None
    return bool(done["metrics"].get("env_steps", 0) >= config.env_steps)


def read_record(folder: Path) -> dict[str, Any]:
    """`config.json`, with the configuration as it was last in force."""
    record = _read_json(folder / CONFIG)
    if not isinstance(record.get("config"), dict):
        raise OtherRun(f"{folder / CONFIG} is no record of a training run: expected an object with a config.")
    if not isinstance(record.get("resumed", []), list):
        raise OtherRun(f"{folder / CONFIG}: expected a list as resumed, got {record['resumed']!r:.80}.")
    for sitting in record.get("resumed", []):
        record["config"] |= {name: new for name, (_, new) in sitting["changed"].items()}
    return record


def check_same(config: TrainConfig, folder: Path) -> dict[str, tuple[Any, Any]]:
    """Refuse to go on with the run in a folder under a configuration that would make it another.

    Returns the settings that differ and may: what they were, and what they are.
    """
    before = {**_defaults(), **read_record(folder)["config"]}
    found = {name: (old, new) for name, old, new in differences(before, _settings_of(config))}
    allowed = {*MAY_DIFFER, *MAY_DIFFER_IN_BITS}
    if config.schedule != "constant":
        allowed -= {"steps", "env_steps"}
    _refuse(folder, {name: pair for name, pair in found.items() if name not in allowed})
    return found


def hash_data(path: Path) -> str:
    """The SHA-256 of a file, or of all files in a folder with their names."""
    digest = hashlib.sha256()
    if not path.exists():
        raise MissingData(f"There is no {path}: expected a file or a folder that this run needs.")
    for file in sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]:
        if path.is_dir():
            digest.update(f"{file.relative_to(path).as_posix()}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as content:
            while block := content.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def keep_metrics_until(folder: Path, step: int | None) -> int | None:
    """Cut off what was logged and evaluated after the step from which the run goes on (None: from its beginning).

    What is logged next then stands where it would stand had nothing happened. Returns the last step that is logged: it
    is less than `step` if the process was killed between saving and logging. To be called before the loggers open.
    """
    last = _cut(folder / METRICS, -1 if step is None else step)
    for path in (folder / EVALS).glob("step-*"):
        # The evaluation before the first step is of a model that is still the same.
        if (found := _EVAL.fullmatch(path.name)) and int(found[1]) > (step or 0):
            shutil.rmtree(path)
    return last


def _cut(path: Path, step: int) -> int | None:
    """Cut a file before its first line of a later step, and before a torn one."""
    if not path.exists():
        return None
    last = None
    with path.open("r+b") as file:
        end = 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            logged = _step_of(line, path, number)
            if logged > step:
                break
            last, end = logged, end + len(line)
        if file.seek(0, os.SEEK_END) > end:
            file.truncate(end)
            file.flush()
            os.fsync(file.fileno())
    return last


def _step_of(line: bytes, path: Path, number: int) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise OtherRun(
            f"{path}, line {number}: expected a JSON object with a step, got {line!r:.80}. Mend the line, or remove it."
        ) from error


# The record


def _record(config: TrainConfig, env_facts: Mapping[str, Any]) -> dict[str, Any]:
    data = {name: hash_data(Path(name)) for name in _data_of(config)}
    return {
        "format": 1,
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "config": _settings_of(config),
        "env": plain(without_secrets(env_facts)),
        "data": data,
        "versions": versions(),
        "platform": platform.platform(),
    }


def _data_of(config: TrainConfig) -> Iterator[str]:
    """What decides a run beside its settings: data, and a model that is a folder here."""
    yield from config.sft_data
    if Path(config.model).is_dir():
        yield config.model


def _take_up(config: TrainConfig, folder: Path, now: Mapping[str, Any]) -> None:
    before = read_record(folder)
    changed = check_same(config, folder)
    _refuse(folder, dict(_among(("env", "data"), before, now)))
    sitting = {name: now[name] for name in ("begun", "versions", "platform")}
    used = [each["versions"] for each in (before, *before.get("resumed", []))]
    if now["versions"] != used[-1]:
        listed = "; ".join(f"{name} was {old}, is {new}" for name, old, new in differences(used[-1], now["versions"]))
        _log.warning("The run goes on with other versions, and is no longer the same to the bit: %s.", listed)
    for name in changed.keys() & MAY_DIFFER_IN_BITS.keys():
        _log.warning("%s was %s, is %s: the run is no longer the same to the bit.", name, *changed[name])
    if changed or now["versions"] != used[-1]:
        written = _read_json(folder / CONFIG)
        written["resumed"] = [*written.get("resumed", []), {**sitting, "changed": changed}]
        _write_json(folder / CONFIG, written)


def _among(
    parts: Iterable[str], before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for part in parts:
        for name, old, new in differences(before.get(part), now[part], part):
            yield name, (old, new)


def _refuse(folder: Path, differing: Mapping[str, tuple[Any, Any]]) -> None:
    if differing:
        listed = "; ".join(f"{name} was {old!r:.200}, and is {new!r:.200}" for name, (old, new) in differing.items())
        raise OtherRun(
            f"{folder} holds another run: {listed}. Take it up as it was begun, or choose another folder. (What may "
            f"differ: {', '.join([*MAY_DIFFER, *MAY_DIFFER_IN_BITS])}; steps with a constant schedule only.)"
        )


def _settings_of(config: TrainConfig) -> dict[str, Any]:
    settings: dict[str, Any] = plain(without_secrets(config.to_json()))
    return settings


def _defaults() -> dict[str, Any]:
    """What a run of an earlier version had of the settings that it did not know."""
    return _settings_of(TrainConfig())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise OtherRun(f"{path.parent} is no training run: there is no {path.name} in it.") from None
    except (ValueError, RecursionError) as error:
        raise OtherRun(f"{path} cannot be read: {error}.") from error
    if not isinstance(content, dict):
        raise OtherRun(f"{path}: expected a JSON object, got {type(content).__name__}.")
    return content


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(json_ready(content), indent=1) + "\n")
