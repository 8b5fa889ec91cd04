"""Weights & Biases, whose own variables say where to: WANDB_MODE (online, offline), WANDB_PROJECT, WANDB_ENTITY, …"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eapo_gym.errors import MissingExtra
from eapo_gym.loggers.base import LoggerError, Tracker, remember, remembered


class WeightsAndBiases(Tracker):
    """A run of the project `eapo-gym`, or of $WANDB_PROJECT.

    Steps are a metric of their own: W&B's own must never go back, and those of a run that is resumed from an earlier
    checkpoint do.
    """

    name = "wandb"

    def __init__(self, folder: Path, run_name: str, config: Mapping[str, Any]) -> None:
        try:
            import wandb
        except ImportError as error:
            raise MissingExtra.of("Logging to Weights & Biases", "wandb") from error
        identity = remembered(folder, self.name) or secrets.token_hex(4)
        try:
            self._run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", "eapo-gym"),
                name=run_name,
                id=identity,
                resume="allow",
                dir=str(folder),
                config=dict(config),
                reinit="create_new",
            )
        except Exception as error:  # of wandb, of the network, of its service process: all are told in one sentence
            raise LoggerError(
                f"Weights & Biases could not be opened: {error} (WANDB_MODE=offline needs neither network nor account.)"
            ) from error
        remember(folder, self.name, identity)
        self._new_artifact = wandb.Artifact
        self._run.define_metric("step")
        self._run.define_metric("*", step_metric="step")

    def log(self, values: Mapping[str, float], step: int) -> None:
        self._run.log({**values, "step": step})

    def artifact(self, path: Path) -> None:
        name = re.sub(r"[^\w.-]", "-", f"{self._run.id}-{path.name}", flags=re.ASCII)
        artifact = self._new_artifact(name, type="file")
        if path.is_dir():
            artifact.add_dir(str(path))
        else:
            artifact.add_file(str(path))
        self._run.log_artifact(artifact)

    def close(self, failed: bool) -> None:
        self._run.finish(exit_code=int(failed))
