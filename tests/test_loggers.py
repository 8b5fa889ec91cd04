from __future__ import annotations

import json
import logging
import math
import resource
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.errors import MissingExtra, UnknownName
from eapo_gym.loggers import LOGGERS, METRICS, LoggerError, Loggers, Tracker, open_loggers, read_metrics
from eapo_gym.loggers.json_lines import JsonLines

ROOT = Path(__file__).parents[1]


def values_of(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in row.items() if name not in ("step", "time")}


# JSON lines


def test_numbers_stand_in_the_folder_as_soon_as_they_are_logged(tmp_path: Path) -> None:
    loggers = open_loggers("", tmp_path / "run")
    loggers.log({"loss": 0.5, "reward": {"task": 1, "format": {"strict": True}}, "skipped": None}, step=3)
    rows = read_metrics(tmp_path / "run")
    assert [values_of(row) for row in rows] == [{"loss": 0.5, "reward/task": 1.0, "reward/format/strict": 1.0}]
    assert rows[0]["step"] == 3
    loggers.close()


def test_values_that_are_not_finite_survive_as_json(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with open_loggers("", tmp_path) as loggers:
        loggers.log({"nan": math.nan, "inf": math.inf, "low": -math.inf, "one": 1.0}, step=0)
        loggers.log({"nan": math.nan}, step=1)
    first, second = read_metrics(tmp_path)
    assert math.isnan(first["nan"])
    assert (first["inf"], first["low"], first["one"]) == (math.inf, -math.inf, 1.0)
    assert math.isnan(second["nan"])
    for line in (tmp_path / METRICS).read_text().splitlines():
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert sum("nan is nan at step 0" in message for message in caplog.messages) == 1
    assert not any("at step 1" in message for message in caplog.messages), "each name is reported once"


@given(torn=st.binary(max_size=300).filter(lambda data: b"\n" not in data), whole=st.integers(0, 3))
def test_a_run_goes_on_behind_a_line_that_a_kill_has_torn(
    tmp_path_factory: pytest.TempPathFactory, torn: bytes, whole: int
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    with open_loggers("", folder) as loggers:
        for step in range(whole):
            loggers.log({"a": step}, step)
    with (folder / METRICS).open("ab") as file:
        file.write(torn)
    assert [row["a"] for row in read_metrics(folder)] == list(range(whole)), "a reader does not see the torn line"
    with open_loggers("", folder) as loggers:
        loggers.log({"a": 99.0}, 99)
    assert [row["a"] for row in read_metrics(folder)] == [*range(whole), 99.0]


def test_a_torn_line_longer_than_what_is_read_at_a_time_is_cut_off(tmp_path: Path) -> None:
    with open_loggers("", tmp_path) as loggers:
        loggers.log({"a": 1.0}, 0)
    with (tmp_path / METRICS).open("ab") as file:
        file.write(b"x" * 200_000)
    open_loggers("", tmp_path).close()
    assert len(read_metrics(tmp_path)) == 1


def test_what_is_broken_in_the_middle_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text('{"a": 1, "step": 0}\nnonsense\n{"a": 2, "step": 1}\n')
    with pytest.raises(ValueError, match="line 2"):
        read_metrics(tmp_path)


def test_what_is_no_number_is_refused(tmp_path: Path) -> None:
    with open_loggers("", tmp_path) as loggers, pytest.raises(TypeError, match=r"reward/task: expected a number"):
        loggers.log({"reward": {"task": "much"}}, 0)


# Failing


class Breaking(Tracker):
    name = "breaking"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def log(self, values: Mapping[str, float], step: int) -> None:
        self.calls.append("log")
        if step == 1:
            raise ConnectionError("the network is down")

    def close(self, failed: bool) -> None:
        self.calls.append("close")


def test_a_logger_that_fails_is_reported_once_and_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    breaking = Breaking()
    with Loggers([breaking, JsonLines(tmp_path)]) as loggers:
        for step in range(4):
            loggers.log({"a": step}, step)
        assert loggers.active == ["json"]
    assert breaking.calls == ["log", "log"], "once switched off, it is left alone"
    assert len(read_metrics(tmp_path)) == 4
    [message] = caplog.messages
    assert message == "The logger breaking failed and is switched off: ConnectionError: the network is down"


@pytest.mark.parametrize("names", ["", pytest.param("tensorboard", id="tensorboard")])
def test_a_full_disk_does_not_end_a_run(tmp_path: Path, names: str) -> None:
    """A limit on the size of files stands for the disk: writes behind it fail in the same way."""
    if names:
        pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    program = f"""
        import resource
        from eapo_gym.loggers import open_loggers
        loggers = open_loggers({names!r}, {str(tmp_path)!r})
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        for step in range(600):
            loggers.log({{"a_number_with_a_name": step}}, step)
        loggers.close()
        print("the run has ended", loggers.active)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=100, cwd=ROOT
    )
    assert done.stdout == "the run has ended []\n", done.stderr
    assert done.stderr.count("The logger json failed and is switched off") == 1
    assert done.stderr.count("is switched off") == 1 + bool(names)
    assert read_metrics(tmp_path)[-1]["step"] > 50, "what was written before is whole"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_names_that_are_unknown_and_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'tensorboard'"):
        open_loggers("tensorbord", tmp_path)
    assert not (tmp_path / METRICS).exists()
    with open_loggers("json", tmp_path) as loggers, pytest.raises(FileNotFoundError, match=r"report\.html"):
        loggers.artifact(tmp_path / "report.html")


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("tensorboard", "tensorboardX", "tensorboard"), ("wandb", "wandb", "wandb"), ("mlflow", "mlflow", "mlflow")],
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str, extra: str
) -> None:
    for known in [known for known in sys.modules if known.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'eapo-gym\[{extra}\]'"):
        open_loggers(name, tmp_path)


def test_nothing_heavy_is_imported_before_it_is_asked_for() -> None:
    program = (
        "import eapo_gym.loggers, sys; print(sorted({'wandb', 'mlflow', 'tensorboardX', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[]\n"
    assert LOGGERS[0] == "json"


# The real trackers


def test_tensorboard_reads_what_was_logged_before_and_after_a_resume(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="tensorboard is not installed"
    )
    for steps in (range(3), range(3, 5)):
        with open_loggers("tensorboard", tmp_path, config={"model": {"name": "tiny"}}) as loggers:
            for step in steps:
                loggers.log({"train": {"loss κ": step / 2, "bad": math.nan}}, step)
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("train/loss κ")] == [
        (step, step / 2) for step in range(5)
    ]
    assert events.Tags()["scalars"] == ["train/loss κ"], "what is not finite is left out"
    [config, _] = events.Tensors("config/text_summary")
    assert b'"name": "tiny"' in config.tensor_proto.string_val[0]


def test_wandb_offline_has_config_history_and_the_same_run_after_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    report = tmp_path / "report.html"
    report.write_text("<p>done</p>")
    for steps in ((5, 6), (2, 7)):
        with open_loggers("wandb", tmp_path, run_name="a run", config={"model": {"name": "tiny"}}) as loggers:
            for step in steps:
                loggers.log({"train": {"loss": step / 2}}, step)
            loggers.artifact(report)
            assert loggers.active == ["json", "wandb"]
    files = sorted((tmp_path / "wandb").glob("offline-run-*/run-*.wandb"))
    records = [record for file in files for record in read_wandb(file)]
    runs = [record.run for record in records if record.WhichOneof("record_type") == "run"]
    assert {run.display_name for run in runs} == {"a run"}
    assert len({run.run_id for run in runs}) == 1, "a run that is resumed is the same one"
    config = {item.key: item.value_json for run in runs for item in run.config.update}
    assert json.loads(config["model"]) == {"name": "tiny"}
    history = [
        {(item.key or "/".join(item.nested_key)): json.loads(item.value_json) for item in record.history.item}
        for record in records
        if record.WhichOneof("record_type") == "history"
    ]
    logged = [(row["step"], row["train/loss"]) for row in history]
    assert sorted(logged) == [(2, 1.0), (5, 2.5), (6, 3.0), (7, 3.5)], "steps that go back are kept too"
    assert wandb.run is None, "the run of the process is left alone"


def read_wandb(path: Path) -> list[Any]:
    """The records of a run's file, which is a log of LevelDB's kind: records in pieces, in blocks of 32 kB."""
    from wandb.proto import wandb_internal_pb2

    data, at, records, pieces = path.read_bytes(), 7, [], b""
    whole, last = 1, 4
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:  # the rest of the block has no room for a head
            at += 32768 - at % 32768
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        pieces += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (whole, last):
            records.append(wandb_internal_pb2.Record.FromString(pieces))
            pieces = b""
    return records


def test_mlflow_keeps_numbers_settings_and_files_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = mlflow_client(tmp_path, monkeypatch)
    report = tmp_path / "report.html"
    report.write_text("<p>done</p>")
    config = {"model": {"name": "tiny", "long": "x" * 9000}}
    with open_loggers("mlflow", tmp_path, run_name="a run", config=config) as loggers:
        loggers.log({"train": {"loss": 0.5, "accuracy@1": 1.0, "bad": math.nan}}, 0)
        loggers.artifact(report)
        loggers.artifact(tmp_path / METRICS)
    loggers = open_loggers("mlflow", tmp_path, run_name="a run", config=config)
    loggers.log({"train": {"loss": 0.25}}, 1)
    loggers.close(failed=True)
    [run] = client.search_runs([client.get_experiment_by_name("eapo-gym").experiment_id])
    assert run.info.run_name == "a run"
    assert run.info.status == "FAILED", "a run that ended with an error says so"
    history = client.get_metric_history(run.info.run_id, "train/loss")
    assert [(metric.step, metric.value) for metric in history] == [(0, 0.5), (1, 0.25)]
    assert set(run.data.metrics) == {"train/loss", "train/accuracy_1"}
    assert run.data.params["model/name"] == "tiny"
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"report.html", METRICS}
    assert [message for message in caplog.messages if "switched off" in message] == []


def test_mlflow_that_cannot_be_reached_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow_client(tmp_path, monkeypatch)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(LoggerError, match=r"MLflow could not be opened at http://127\.0\.0\.1:9"):
        open_loggers("mlflow", tmp_path)


def mlflow_client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for package in ("mlflow", "sqlalchemy", "alembic"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from mlflow.tracking import MlflowClient

    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    return MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
