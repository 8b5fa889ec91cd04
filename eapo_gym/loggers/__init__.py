"""Where numbers go while something runs: JSON lines always, and the trackers that were asked for.

    with open_loggers("tensorboard,wandb", folder, run_name="eapo-1.7b", config={…}) as loggers:
        loggers.log({"reward": {"task": 0.4, "format": 1.0}, "loss": 0.1}, step=10)   # reward/task, reward/format, loss
        loggers.artifact(folder / "report.html")

Watching a run must never end it: a tracker that fails while the run goes on is reported once and switched off. One that
cannot even be opened is an error, since then there is still somebody there to read it.
"""

from __future__ import annotations

from eapo_gym.loggers.base import LoggerError, Tracker
from eapo_gym.loggers.json_lines import METRICS, read_metrics
from eapo_gym.loggers.loggers import LOGGERS, Loggers, open_loggers

__all__ = ["LOGGERS", "METRICS", "LoggerError", "Loggers", "Tracker", "open_loggers", "read_metrics"]
