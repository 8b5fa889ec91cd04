import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eapo_gym.bench.records import Episode
from eapo_gym.bench.store import EPISODES_FILE, Run, RunError, RunFolder, episode_line, load_run, save_run
from eapo_gym.schema import Trajectory
from tests.bench.episodes import texts
from tests.bench.test_records import STEP

STAMP = {"config": {"env": "toy", "max_steps": 5, "parallel": 2}, "versions": {"python": "3"}, "begun": "today"}
PLAN = [(task, repeat) for repeat in range(2) for task in ("a", "b", "c")]


def episode(task: str, repeat: int = 0, text: str = "") -> Episode:
    made = Episode("x", Trajectory(task, "embedded", [STEP]), repeat=repeat)
    made.trajectory.transitions = [STEP]
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


def test_damage_in_the_middle_is_no_torn_line(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, STAMP, PLAN) as out:
        for key in PLAN[:3]:
            out.append(episode(*key))
    path = tmp_path / EPISODES_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:-20] + b"\n" + lines[2])
    for attempt in (lambda: load_run(tmp_path), lambda: RunFolder.open(tmp_path, STAMP, PLAN)):
        with pytest.raises(RunError, match=r"damaged in the middle: line 2 is no episode"):
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


def test_folders_that_are_no_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run: there is no run.json"):
        load_run(tmp_path)
    (tmp_path / EPISODES_FILE).write_bytes(episode_line(episode("a")))
    with pytest.raises(RunError, match=r"episodes and no run\.json"):
        RunFolder.open(tmp_path, STAMP, PLAN)
    for content in ("[]", "{", json.dumps({"planned": []})):
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(RunError, match=r"run\.json"):
            load_run(tmp_path)
