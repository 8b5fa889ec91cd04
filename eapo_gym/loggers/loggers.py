"""`open_loggers` and `Loggers`: all trackers of a run behind one `log`."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from eapo_gym.errors import UnknownName
from eapo_gym.loggers.base import Tracker, flatten
from eapo_gym.loggers.json_lines import JsonLines

LOGGERS = ("json", "tensorboard", "wandb", "mlflow")
"""What can be asked for; JSON lines are written in any case."""

_log = logging.getLogger(__name__)


def open_loggers(
    names: str | Iterable[str],
    folder: Path | str,
    *,
    run_name: str = "",
    config: Mapping[str, Any] | None = None,
) -> Loggers:
    """Open `metrics.jsonl` in the folder, and the trackers named.

    Args:
        names: some of `LOGGERS`, as one text with commas or one by one; an empty text for JSON lines alone.
        folder: where the run's files go. A run that is resumed in the same folder goes on in the same places.
        run_name: what the trackers call the run; by default the name of the folder.
        config: the settings of the run, for trackers that show them; it may be nested.
    """
    folder = Path(folder)
    wanted = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    wanted = list(dict.fromkeys(name for name in wanted if name and name != "json"))
    for name in wanted:
        if name not in LOGGERS:
            raise UnknownName.of("logger", name, LOGGERS)
    with ExitStack() as opened:
        trackers: list[Tracker] = [JsonLines(folder)]
        opened.callback(trackers[0].close, True)
        for name in wanted:
            trackers.append(_open(name, folder, run_name or folder.resolve().name, config or {}))
            opened.callback(trackers[-1].close, True)
        opened.pop_all()  # all of them are open, and theirs to close who asked for them
    return Loggers(trackers)


def _open(name: str, folder: Path, run_name: str, config: Mapping[str, Any]) -> Tracker:
    if name == "tensorboard":
        from eapo_gym.loggers.tensorboard import TensorBoard

        return TensorBoard(folder, config)
    if name == "wandb":
        from eapo_gym.loggers.weights_and_biases import WeightsAndBiases

        return WeightsAndBiases(folder, run_name, config)
    from eapo_gym.loggers.mlflow import MLflow

    return MLflow(folder, run_name, config)


class Loggers:
    """What a run logs to. A tracker that fails is reported once and switched off; the others, and the run, go on."""

    def __init__(self, trackers: Iterable[Tracker]) -> None:
        self._trackers = list(trackers)
        self._reported: set[str] = set()

    @property
    def active(self) -> list[str]:
        """The names of the trackers that still work."""
        return [tracker.name for tracker in self._trackers]

    def log(self, values: Mapping[str, Any], step: int) -> None:
        """Log the numbers of a step. Nested names are joined by slashes, and what is None is left out.

        NaN and infinities stand in `metrics.jsonl` (as text, since JSON has none); the other trackers, which could not
        draw them, do not get them, and the first of each name is reported.
        """
        flat = dict(flatten(values))
        finite = {name: value for name, value in flat.items() if math.isfinite(value)}
        for name in flat.keys() - finite.keys() - self._reported:
            self._reported.add(name)
            _log.warning(
                "%s is %s at step %d: only metrics.jsonl has values that are not finite.", name, flat[name], step
            )

        def to(tracker: Tracker) -> None:
            given = flat if tracker.keeps_non_finite else finite
            if given:
                tracker.log(given, step)

        self._each(to)

    def sync(self) -> None:
        """What was logged survives a power cut from here on: to be called before a checkpoint that goes on from it."""
        self._each(lambda tracker: tracker.sync())

    def artifact(self, path: Path | str) -> None:
        """Hand a file or a folder to the trackers that keep such."""
        path = Path(path)
        if not path.exists():
            raise FileNotFoundError(f"{path}: expected a file or a folder to hand to the loggers, and there is none.")
        self._each(lambda tracker: tracker.artifact(path))

    def close(self, failed: bool = False) -> None:
        """Write what is still to be written; `failed` if the run did not come to its end. Twice does no harm."""
        self._each(lambda tracker: tracker.close(failed))
        self._trackers = []

    def __enter__(self) -> Loggers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close(failed=kind is not None)

    def _each(self, do: Callable[[Tracker], None]) -> None:
        self._trackers = [tracker for tracker in self._trackers if _works(tracker, do)]


def _works(tracker: Tracker, do: Callable[[Tracker], None]) -> bool:
    try:
        do(tracker)
    except Exception as error:  # whatever it is: a run does not end because somebody could not watch it
        _log.warning("The logger %s failed and is switched off: %s: %s", tracker.name, type(error).__name__, error)
        return False
    return True
