import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.store import EPISODES_FILE, Run, RunError, RunFolder, episode_line, load_run, plain, save_run
from eapo_gym.schema import Trajectory
from tests.bench.episodes import texts
from tests.bench.test_records import STEP

STAMP = {"config": {"env": "toy", "max_steps": 5, "parallel": 2}, "versions": {"python": "3"}, "begun": "today"}
PLAN = [(task, repeat) for repeat in range(2) for task in ("a", "b", "c")]


def episode(task: str, repeat: int = 0, text: str = "") -> Episode:
    made = Episode("x", Trajectory(task, "embedded", [STEP]), repeat=repeat)
    made.trajectory.transitions, made.goal = [STEP], STEP.goal
    made.error = text
    return made


def with_config(**changes: Any) -> dict[str, Any]:
    return {**STAMP, "config": {**STAMP["config"], **changes}}  # type: ignore[dict-item]


def keys(run: Run) -> list[tuple[str, int]]:
    return [(each.trajectory.task, each.repeat) for each in run.episodes]


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        assert out.missing == PLAN
        for key in reversed(PLAN[1:]):
            out.append(episode(*key))
        run = load_run(tmp_path)
        assert run.missing == PLAN[:1], "also while it is going on"
        out.append(episode(*PLAN[0]))
    run = load_run(tmp_path)
    assert (run.stamp, run.planned, keys(run), run.missing, run.folder) == (STAMP, PLAN, PLAN, [], tmp_path)
    assert run.episodes[0] == episode(*PLAN[0])


def test_a_run_without_a_plan_is_what_was_played(tmp_path: Path) -> None:
    run = save_run(Run(STAMP, [("b", 0), ("a", 0)], [episode("a")]), tmp_path / "planned")
    assert run.missing == [("b", 0)]
    with RunFolder.open(tmp_path / "free", STAMP) as out:
        out.append(episode("z"))
    assert load_run(tmp_path / "free").planned == [("z", 0)]


def test_an_episode_is_taken_once_and_only_if_it_was_planned(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        out.append(episode("a"))
        with pytest.raises(RunError, match="already"):
            out.append(episode("a"))
        with pytest.raises(RunError, match="not in the plan"):
            out.append(episode("nowhere"))
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        assert out.missing == PLAN[1:]
        assert out.take_finished() == [episode("a")]
        with pytest.raises(RunError, match="already"):
            out.append(episode("a"))


@given(texts)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives(tmp_path: Path, text: str) -> None:
    folder = tmp_path / os.urandom(6).hex()
    with RunFolder.open(folder, STAMP, PLAN) as out:
        out.append(episode("a", text=text))
    assert load_run(folder).episodes[0].error == text


# A process that is killed


def test_a_torn_line_is_cut_off_wherever_it_was_torn(tmp_path: Path) -> None:
    lines = [episode_line(episode(*key, text="…\n\0" * 3)) for key in PLAN[:3]]
    whole = b"".join(lines[:2])
    path = tmp_path / EPISODES_FILE
    for end in range(len(lines[2])):
        with RunFolder.open(tmp_path, STAMP, PLAN):
            pass
        path.write_bytes(whole + lines[2][:end])
        assert keys(load_run(tmp_path)) == PLAN[:2], f"readers pass over it, torn at {end}"
        with RunFolder.open(tmp_path, STAMP, PLAN) as out:
            assert out.missing == PLAN[2:], f"torn at {end}"
            assert path.read_bytes() == whole
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        out.append(episode(*PLAN[2]))
    assert keys(load_run(tmp_path)) == PLAN[:3]


@given(junk=st.binary(max_size=60))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_crash_leaves_at_the_end_costs_one_line(tmp_path: Path, junk: bytes) -> None:
    """A machine that goes down may leave blocks of anything behind the last line that was written."""
    path = tmp_path / EPISODES_FILE
    with RunFolder.open(tmp_path, STAMP, PLAN):
        path.write_bytes(episode_line(episode("a")) + junk.replace(b"\n", b" "))
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        assert out.missing == PLAN[1:]
    assert path.read_bytes() == episode_line(episode("a"))


def test_damage_is_no_torn_line(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        for key in PLAN[:3]:
            out.append(episode(*key))
    path = tmp_path / EPISODES_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:-20] + b"\n" + lines[2])
    for attempt in (lambda: load_run(tmp_path), lambda: RunFolder.open(tmp_path, STAMP, PLAN)):
        with pytest.raises(RunError, match=r"is damaged: line 2 is no episode"):
            attempt()
    path.write_bytes(lines[0] * 2)
    with pytest.raises(RunError, match=r"twice, line 2 is the second"):
        load_run(tmp_path)


def test_a_full_disk_takes_nothing_by_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        out.append(episode("a"))
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
        with pytest.raises(RunError, match="only 10 of"):
            out.append(episode("b"))
        monkeypatch.undo()
        out.append(episode("b"))
    assert keys(load_run(tmp_path)) == PLAN[:2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"calls":2', b'"calls":null'),
        (b'"calls":2', b'"calls":"2"'),
        (b'"offered":[0]', b'"offered":[7]'),
        (b'"repeat":0', b'"repeat":[]'),
        (b'"t":0', b'"t":' + b"[" * 100_000),
        (b'"format":1', b'"format":99'),
    ],
)
def test_a_line_that_is_no_episode_is_named(tmp_path: Path, before: bytes, after: bytes) -> None:
    made = episode("a")
    made.trajectory.transitions = [replace(STEP, task="a", t=7)]
    made.notes = [StepNote(calls=2, offered=("look",))]
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        out.append(made)
    path = tmp_path / EPISODES_FILE
    line = path.read_bytes().replace(b'"t":7', b'"t":0')
    assert before in line
    path.write_bytes(line.replace(before, after))
    for attempt in (lambda: load_run(tmp_path), lambda: RunFolder.open(tmp_path, STAMP, PLAN)):
        with pytest.raises(RunError, match=r"is damaged: line 1 is no episode"):
            attempt()


def test_what_is_written_is_json_whatever_an_environment_says(tmp_path: Path) -> None:
    made = episode("a")
    loop: list[Any] = []
    loop.append(loop)
    made.trajectory.info = {"task_type": math.nan, "odd": {(1, 2): {3}}, "loop": loop, "one": np.int64(1)}
    made.notes = [StepNote(rollback={"held": True, "cost": math.inf}, agent_seconds=math.nan)]
    made.seconds = math.inf
    line = episode_line(made)
    assert b"NaN" not in line
    assert b"Infinity" not in line
    read = Episode.from_json(json.loads(line))
    assert read.trajectory.info["task_type"] == "nan"
    assert (read.trajectory.info["odd"], read.trajectory.info["one"]) == ({"(1, 2)": [3]}, 1)
    assert read.notes[0].rollback == {"held": True, "cost": "inf"}
    assert (read.seconds, math.isnan(read.notes[0].agent_seconds)) == (math.inf, True)
    assert plain({"x": math.nan}) == {"x": "nan"}, "equal to itself when the run is taken up again"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_keep_the_folder(tmp_path: Path) -> None:
    out = RunFolder.open(tmp_path, STAMP, PLAN)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, b"x")
        time.sleep(60)
        os._exit(0)
    try:
        os.read(reading, 1)
        with pytest.raises(RunError, match="Another process"):
            RunFolder.open(tmp_path, STAMP, PLAN)
        out.close()
        RunFolder.open(tmp_path, STAMP, PLAN).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def test_what_killed_writers_leave_is_swept_up(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    drafts = [".episodes.parquet.0123abcd", ".run.json.0123abcd", "images/.0f.webp.12.34"]
    others = [".episodes.parquet", ".mine.0123abcd", "images/0f.webp"]
    for name in drafts + others:
        (tmp_path / name).write_text("x")
    RunFolder.open(tmp_path, STAMP, PLAN).close()
    assert [name for name in drafts + others if (tmp_path / name).exists()] == others


# Which run it is


def test_two_processes_in_one_folder_are_refused(tmp_path: Path) -> None:
    holder = (
        "import sys, time; from eapo_gym.bench.store import RunFolder\n"
        "out = RunFolder.open(sys.argv[1], {'config': {}}, [('a', 0)]); print('open', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(RunError, match="Another process is at work"):
            RunFolder.open(tmp_path, {"config": {}}, [("a", 0)])
        assert load_run(tmp_path).planned == [("a", 0)], "reading is for everybody"
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None
            pipe.close()
    RunFolder.open(tmp_path, {"config": {}}, [("a", 0)]).close()


def test_another_run_is_refused_with_the_first_difference(tmp_path: Path) -> None:
    RunFolder.open(tmp_path, STAMP, PLAN).close()
    with pytest.raises(RunError, match=r"its config.max_steps is 5, and here it is 9\."):
        RunFolder.open(tmp_path, with_config(max_steps=9), PLAN)
    with pytest.raises(RunError, match=r"its config.model is None, and here it is 'm'"):
        RunFolder.open(tmp_path, with_config(model="m"), PLAN)
    with pytest.raises(RunError, match=r"it plans 6 episodes, here 5"):
        RunFolder.open(tmp_path, STAMP, PLAN[1:])
    RunFolder.open(tmp_path, with_config(parallel=64), PLAN).close()
    assert load_run(tmp_path).stamp == STAMP


def test_other_versions_are_noted_once(tmp_path: Path) -> None:
    newer = {**STAMP, "versions": {"python": "4"}, "begun": "tomorrow"}
    for stamp in (STAMP, newer, newer, STAMP):
        RunFolder.open(tmp_path, stamp, PLAN).close()
    stamp = load_run(tmp_path).stamp
    assert stamp["versions"] == {"python": "3"}
    assert stamp["resumed"] == [{"begun": "tomorrow", "versions": {"python": "4"}, "platform": None}]


def test_other_versions_in_the_stamps_of_engines_are_no_other_run(tmp_path: Path) -> None:
    def stamp(versions: dict[str, str], dtype: str = "float32") -> dict[str, Any]:
        engine = {"torch_dtype": dtype, **versions}
        return {**STAMP, "engine": engine, "agent": {"name": "x", "engine": engine}}

    RunFolder.open(tmp_path, stamp({"torch": "2.1", "transformers": "4.0", "vllm": "0.1"}), PLAN).close()
    RunFolder.open(tmp_path, stamp({"torch": "2.2", "transformers": "5.0"}), PLAN).close()
    with pytest.raises(RunError, match=r"its engine.torch_dtype is 'float32'"):
        RunFolder.open(tmp_path, stamp({}, "float16"), PLAN)


def test_folders_that_are_no_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        RunError, match=r"no run: there is no run\.json .*eapo-gym eval .*config\.json of eapo-gym train"
    ):
        load_run(tmp_path)
    (tmp_path / EPISODES_FILE).write_bytes(episode_line(episode("a")))
    with pytest.raises(RunError, match=r"episodes and no run\.json"):
        RunFolder.open(tmp_path, STAMP, PLAN)
    for content in (
        *("[]", "{", json.dumps({"planned": []}), json.dumps({"config": {}, "planned": [1]})),
        *(json.dumps({"config": {}, "planned": [["b", 0]]}), "[" * 100_000),
    ):
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(RunError, match=r"run\.json|was not planned"):
            load_run(tmp_path)
