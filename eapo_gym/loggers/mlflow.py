"""MLflow: the server that $MLFLOW_TRACKING_URI names, else a database in the run's folder (`mlflow.db`)."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eapo_gym.errors import MissingExtra
from eapo_gym.loggers.base import LoggerError, Tracker, remember, remembered

_EXPERIMENT = "eapo-gym"

_LONGEST_VALUE = 6000
"""What MLflow takes as the value of a setting."""

_AT_ONCE = 100
"""Settings, or numbers, in one request: MLflow takes no more of the former."""


class MLflow(Tracker):
    """A run of the experiment `eapo-gym`, or of $MLFLOW_EXPERIMENT_NAME.

    The client is used rather than MLflow's module-level functions, whose current run belongs to the whole process.
    """

    name = "mlflow"

    def __init__(self, folder: Path, run_name: str, config: Mapping[str, Any]) -> None:
        uri = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{folder.resolve() / 'mlflow.db'}"
        try:
            from mlflow.entities import Metric, Param
            from mlflow.tracking import MlflowClient

            if uri.startswith("sqlite"):
                import alembic  # noqa: F401
                import sqlalchemy  # noqa: F401
        except ImportError as error:
            raise MissingExtra.of("Logging to MLflow", "mlflow") from error
        self._metric = Metric
        try:
            self._client = MlflowClient(tracking_uri=uri)
            known = remembered(folder, self.name)
            self._run: str = (
                known or self._client.create_run(self._experiment(folder, uri), run_name=run_name).info.run_id
            )
            if known:
                self._client.update_run(known, status="RUNNING")
            else:
                settings = [Param(name, value[:_LONGEST_VALUE]) for name, value in _settings(config)]
                for start in range(0, len(settings), _AT_ONCE):
                    self._client.log_batch(self._run, params=settings[start : start + _AT_ONCE])
        except Exception as error:  # of MLflow, of the network, of the database: all are told in one sentence
            raise LoggerError(f"MLflow could not be opened at {uri}: {error}") from error
        remember(folder, self.name, self._run)

    def log(self, values: Mapping[str, float], step: int) -> None:
        now = int(1000 * time.time())
        metrics = [self._metric(_spelt(name), value, now, step) for name, value in values.items()]
        for start in range(0, len(metrics), _AT_ONCE):
            self._client.log_batch(self._run, metrics=metrics[start : start + _AT_ONCE])

    def artifact(self, path: Path) -> None:
        if path.is_dir():
            self._client.log_artifacts(self._run, str(path), path.name)
        else:
            self._client.log_artifact(self._run, str(path))

    def close(self, failed: bool) -> None:
        self._client.set_terminated(self._run, "FAILED" if failed else "FINISHED")

    def _experiment(self, folder: Path, uri: str) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", _EXPERIMENT)
        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        # Beside the database, and not in the folder where somebody happened to start.
        files = (folder.resolve() / "mlflow-files").as_uri() if uri.startswith("sqlite") else None
        return str(self._client.create_experiment(name, artifact_location=files))


def _settings(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{prefix}{key}/")
        else:
            yield _spelt(f"{prefix}{key}"), str(value)


def _spelt(name: str) -> str:
    """MLflow has letters, digits and these few in its names."""
    return re.sub(r"[^\w./: -]", "_", name)
