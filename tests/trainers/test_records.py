from __future__ import annotations

import json
import logging
import os
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch: pip install 'eapo-gym[train]'")

from eapo_gym.errors import MissingData
from eapo_gym.loggers import METRICS, open_loggers, read_metrics
from eapo_gym.trainers import records
from eapo_gym.trainers.checkpoint import CheckpointError
from eapo_gym.trainers.config import TrainConfig
from eapo_gym.trainers.records import (
    CONFIG,
    MAY_DIFFER,
    MAY_DIFFER_IN_BITS,
    OtherRun,
    check_same,
    hash_data,
    keep_metrics_until,
    open_run,
    read_record,
    write_done,
)
from eapo_gym.trainers.runs import load_training_run

ENV = {"id": "eapo/ALFWorld-v0", "source": "embedded", "catalogue": "abc"}


def config(**values: Any) -> TrainConfig:
    return TrainConfig.make(**{"model": "some/model", "steps": 10, **values})


def begin(folder: Path, env: dict[str, Any] = ENV, **values: Any) -> dict[str, float] | None:
    with ExitStack() as held:
        return open_run(config(**values), folder, env, writes=True, held=held)


# Beginning and going on


def test_the_record_says_what_the_run_is(tmp_path: Path) -> None:
    data = tmp_path / "sft.jsonl"
    data.write_text("{}\n")
    begin(tmp_path / "run", sft_data=(str(data),), env_kwargs={"api_key": "sesame"})
    record = read_record(tmp_path / "run")
    assert record["config"]["steps"] == 10
    assert record["config"]["sft_data"] == [str(data)]
    assert record["env"] == ENV
    assert record["data"] == {str(data): hash_data(data)}
    assert {"eapo_gym", "python", "numpy"} <= record["versions"].keys()
    assert record["begun"].endswith("Z")
    assert "sesame" not in (tmp_path / "run" / CONFIG).read_text()
    assert load_training_run(tmp_path / "run").config == record["config"]  # the reports read it


def test_taken_up_as_it_was_it_stays_as_it_is(tmp_path: Path) -> None:
    begin(tmp_path)
    before = (tmp_path / CONFIG).read_bytes()
    begin(tmp_path)
    assert (tmp_path / CONFIG).read_bytes() == before


def test_another_configuration_is_refused_with_the_fields_and_both_values(tmp_path: Path) -> None:
    begin(tmp_path, agent_options={"compact": True})
    with pytest.raises(OtherRun) as caught:
        begin(tmp_path, group_size=4, density="sequence", agent_options={"compact": False}, save_every=3)
    said = str(caught.value).split("Take it up")[0]
    assert "group_size was 16, and is 4" in said
    assert "density was 'lift', and is 'sequence'" in said
    assert "agent_options.compact was True, and is False" in said
    assert "save_every" not in said


def test_every_setting_is_decided(tmp_path: Path) -> None:
    assert {*MAY_DIFFER, *MAY_DIFFER_IN_BITS} <= {item.name for item in fields(TrainConfig)}
    begin(tmp_path)
    same = {"seed": 1, "model": "other/model", "learning_rate": 1.0, "temperature": 0.5, "eval_split": "test"}
    for name, value in same.items():
        with pytest.raises(OtherRun, match=f"{name} was"):
            check_same(config(**{name: value}), tmp_path)


def test_what_may_differ_is_noted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    begin(tmp_path)
    with caplog.at_level(logging.WARNING):
        begin(tmp_path, steps=20, keep_last=5)
    assert not caplog.text
    with caplog.at_level(logging.WARNING):
        begin(tmp_path, steps=30, keep_last=5, microbatch_tokens=100)
    assert "microbatch_tokens was 16384, is 100" in caplog.text
    record = read_record(tmp_path)
    assert (record["config"]["steps"], record["config"]["keep_last"]) == (30, 5)
    assert [each["changed"] for each in record["resumed"]] == [
        {"steps": [10, 20], "keep_last": [2, 5]},
        {"steps": [20, 30], "microbatch_tokens": [16384, 100]},
    ]
    assert json.loads((tmp_path / CONFIG).read_text())["config"]["steps"] == 10  # what it was begun as


def test_a_schedule_is_laid_out_for_its_steps(tmp_path: Path) -> None:
    begin(tmp_path, schedule="cosine")
    with pytest.raises(OtherRun, match="steps was 10, and is 20"):
        begin(tmp_path, schedule="cosine", steps=20)


def test_another_environment_is_refused(tmp_path: Path) -> None:
    begin(tmp_path)
    with pytest.raises(OtherRun, match=r"env\.catalogue was 'abc', and is 'xyz'"):
        begin(tmp_path, {**ENV, "catalogue": "xyz"})


@pytest.mark.parametrize("which", ["sft_data", "model"])
def test_data_that_has_changed_is_refused(tmp_path: Path, which: str) -> None:
    model, data = tmp_path / "model", tmp_path / "data.jsonl"
    model.mkdir()
    (model / "config.json").write_text("{}")
    data.write_text("{}\n")
    begin(tmp_path / "run", model=str(model), sft_data=[str(data)])
    begin(tmp_path / "run", model=str(model), sft_data=[str(data)])
    ((model / "config.json") if which == "model" else data).write_text("{ }\n")
    with pytest.raises(OtherRun, match="holds another run: data"):
        begin(tmp_path / "run", model=str(model), sft_data=[str(data)])


def test_data_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"none\.jsonl"):
        begin(tmp_path / "run", sft_data=[str(tmp_path / "none.jsonl")])


def test_other_versions_are_told_and_noted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path)
    monkeypatch.setattr(records, "versions", lambda: {"torch": "99"})
    with caplog.at_level(logging.WARNING):
        begin(tmp_path)
    assert "is 99" in caplog.text
    caplog.clear()
    begin(tmp_path)
    assert not caplog.text
    assert [each["versions"] for each in read_record(tmp_path)["resumed"]] == [{"torch": "99"}]


def test_a_record_that_somebody_has_spoilt(tmp_path: Path) -> None:
    begin(tmp_path)
    record = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**record, "resumed": 5}))
    with pytest.raises(OtherRun, match="expected a list as resumed, got 5"):
        read_record(tmp_path)


def test_a_setting_that_an_earlier_version_did_not_know_has_its_default(tmp_path: Path) -> None:
    begin(tmp_path)
    record = json.loads((tmp_path / CONFIG).read_text())
    del record["config"]["q_clip"]
    (tmp_path / CONFIG).write_text(json.dumps(record))
    assert check_same(config(), tmp_path) == {}
    with pytest.raises(OtherRun, match=r"q_clip was 0\.2, and is 0\.3"):
        check_same(config(q_clip=0.3), tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"config": 3}', "[" * 100_000])
def test_a_record_that_cannot_be_read_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(OtherRun, match=r"config\.json"):
        begin(tmp_path)


def test_a_folder_with_a_run_and_no_record_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text('{"step": 1}\n')
    with pytest.raises(OtherRun, match=r"no config\.json"):
        begin(tmp_path)
    assert (tmp_path / METRICS).read_text() == '{"step": 1}\n'


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    with ExitStack() as held:
        open_run(config(), tmp_path, ENV, writes=True, held=held)
        child = os.fork()
        if child == 0:
            try:
                begin(tmp_path)
            except CheckpointError as error:
                os._exit(3 if "Another process is training" in str(error) else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    begin(tmp_path)


def test_others_of_several_processes_only_look(tmp_path: Path) -> None:
    with ExitStack() as held:
        assert open_run(config(), tmp_path / "run", ENV, writes=False, held=held) is None
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_done_is_done_unless_there_is_more_to_do(tmp_path: Path) -> None:
    assert begin(tmp_path) is None
    write_done(tmp_path, {"eval/success": 0.5, "q/auc": float("nan")})
    done = begin(tmp_path)
    assert done is not None
    assert done["eval/success"] == 0.5
    assert done["q/auc"] != done["q/auc"]
    assert begin(tmp_path, steps=20) is None
    write_done(tmp_path, {"eval/success": 0.6})
    assert begin(tmp_path, steps=20) == {"eval/success": 0.6}


# Metrics


def log(folder: Path, steps: range) -> None:
    with open_loggers("", folder) as loggers:
        for step in steps:
            loggers.log({"loss": 1 / (step + 1)}, step)
            if step % 2 == 0:
                loggers.log({"eval/success": 0.1 * step}, step)


def without_time(folder: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "time"} for row in read_metrics(folder)]


@pytest.mark.parametrize("torn", [b"", b'{"loss": 0.', b'{"loss": 0.1, "step": 3}'])
def test_the_log_of_a_resumed_run_is_that_of_an_uninterrupted_one(tmp_path: Path, torn: bytes) -> None:
    log(tmp_path / "whole", range(10))
    for saved in (None, *range(10)):
        part = tmp_path / f"part-{saved}"
        log(part, range(8))
        with (part / METRICS).open("ab") as file:
            file.write(torn)
        last = keep_metrics_until(part, saved)
        assert last == (None if saved is None else min(saved, 7))
        log(part, range(0 if last is None else last + 1, 10))
        assert without_time(part) == without_time(tmp_path / "whole")


def test_a_step_that_was_saved_and_not_logged_is_seen(tmp_path: Path) -> None:
    log(tmp_path, range(4))
    assert keep_metrics_until(tmp_path, 5) == 3
    assert keep_metrics_until(tmp_path / "nothing", 5) is None


def test_a_log_that_somebody_has_spoilt_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text('{"step": 1}\nhello\n{"step": 2}\n')
    with pytest.raises(OtherRun, match="line 2: expected a JSON object with a step, got b'hello"):
        keep_metrics_until(tmp_path, 2)


def test_evaluations_of_a_past_that_is_gone_are_removed(tmp_path: Path) -> None:
    for step in (0, 10, 20):
        (tmp_path / "evals" / f"step-{step:06d}").mkdir(parents=True)
    (tmp_path / "evals" / "mine").mkdir()
    keep_metrics_until(tmp_path, 10)
    assert sorted(path.name for path in (tmp_path / "evals").iterdir()) == ["mine", "step-000000", "step-000010"]
    keep_metrics_until(tmp_path, None)
    assert sorted(path.name for path in (tmp_path / "evals").iterdir()) == ["mine", "step-000000"]


# Hashes


def test_a_hash_is_of_names_and_contents(tmp_path: Path) -> None:
    def made(files: dict[str, str]) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return hash_data(folder)

    assert made({"a": "1", "b/c": "2"}) == made({"b/c": "2", "a": "1"})
    others = [
        made(files) for files in ({"a": "1", "b/c": "3"}, {"a": "1", "c": "2"}, {"a": "12", "b/c": ""}, {"a": "1"})
    ]
    assert len({*others, made({"a": "1", "b/c": "2"})}) == 5
