"""TensorBoard's event files, in the run's folder `tensorboard`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from eapo_gym.errors import MissingExtra
from eapo_gym.loggers.base import Tracker

_OPENED = count()


class TensorBoard(Tracker):
    """Writes with tensorboardX, which needs neither TensorBoard nor TensorFlow.

    Its `SummaryWriter` hands events to a thread through a bounded queue; on a full disk that thread dies, and whoever
    logs next waits for ever. So events are written here and now, and an error is an exception.
    """

    name = "tensorboard"

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        try:
            from tensorboardX.event_file_writer import EventsWriter
            from tensorboardX.proto.event_pb2 import Event
            from tensorboardX.proto.summary_pb2 import Summary
            from tensorboardX.summary import text
        except ImportError as error:
            raise MissingExtra.of("Logging to TensorBoard", "tensorboard") from error
        logs = folder / "tensorboard"
        logs.mkdir(parents=True, exist_ok=True)
        self._event, self._summary = Event, Summary
        # Files are named after the second, which two processes, or two runs of one, can share.
        self._writer = EventsWriter(str(logs / "events"), f".{os.getpid()}.{next(_OPENED)}")
        if config:
            listed = "\n".join(f"    {line}" for line in json.dumps(config, indent=2, default=str).splitlines())
            self._write(text("config", listed), 0)
            self._writer.flush()

    def log(self, values: Mapping[str, float], step: int) -> None:
        scalars = [self._summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._write(self._summary(value=scalars), step)
        self._writer.flush()

    def close(self, failed: bool) -> None:
        self._writer.close()

    def _write(self, summary: Any, step: int) -> None:
        self._writer.write_event(self._event(wall_time=time.time(), step=step, summary=summary))
