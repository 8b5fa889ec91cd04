import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.bench.statistics import Share, wilson
from eapo_gym.trainers.runs import (
    Line,
    TrainingRun,
    TrainingRunError,
    as_number,
    differing,
    is_training_run,
    lines_of,
    load_training_run,
    load_training_runs,
    pooled,
    trials,
)
from tests.trainers.training_runs import write_rows, write_run


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_trials_are_what_a_wilson_interval_was_made_of(counts: tuple[int, int]) -> None:
    successes, n = counts
    found = trials(successes / n, *wilson(successes, n))
    assert found == n
    assert pooled([(successes / n, *wilson(successes, n))] * 3) == Share(3 * successes, 3 * n)


@pytest.mark.parametrize(
    "share",
    [
        (0.5, 0.4, 0.7),
        (math.nan, 0.1, 0.2),
        (0.5, math.nan, math.nan),
        (0.3, 0.3, 0.3),
        (0.5, 0.0, 1.0),
        (2.0, 0.1, 0.2),
    ],
)
def test_what_is_no_wilson_interval_is_of_no_number_of_trials(share: tuple[float, float, float]) -> None:
    assert trials(*share) is None
    assert pooled([(0.5, *wilson(5, 10)), share]) is None


def test_a_run_is_read_as_far_as_it_has_come(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", steps=12, eval_every=5)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 13, "train/succ')
    run = load_training_run(folder)
    assert run.name == "run"
    assert run.steps.tolist() == list(range(1, 13))
    assert run.finished
    assert math.isnan(run.column("rollback/held")[6]), "NaN is read back as such"
    assert run.final_eval()["step"] == 10
    assert set(run.final_eval()) >= {"success", "low", "high", "degree"}
    assert run.config["algorithm"] == "eapo"


def test_steps_that_were_trained_again_replace_what_came_from_there_on(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", metrics=False)
    first = [{"step": step, "x": 1.0} for step in (1, 2, 3, 4, 5)]
    again = [{"step": step, "x": 2.0} for step in (3, 4)]
    write_rows(folder, [*first, *again])
    run = load_training_run(folder)
    assert [(row["step"], row["x"]) for row in run.rows] == [(1, 1.0), (2, 1.0), (3, 2.0), (4, 2.0)]


def test_a_run_without_a_step_is_a_run(tmp_path: Path) -> None:
    run = load_training_run(write_run(tmp_path / "run", metrics=False))
    assert run.rows == []
    assert not run.finished
    assert math.isnan(run.last("train/success"))


def test_only_training_runs_are_taken_for_such(tmp_path: Path) -> None:
    assert is_training_run(write_run(tmp_path / "run", metrics=False))
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"architectures": ["Qwen3ForCausalLM"]}')
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text('{"algorithm": ')
    for folder in (model, broken, tmp_path, tmp_path / "nowhere"):
        assert not is_training_run(folder)
        with pytest.raises(TrainingRunError):
            load_training_run(folder)


def test_a_record_that_is_damaged_is_one_sentence(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", metrics=False)
    record = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**record, "resumed": 5}))
    assert is_training_run(folder)
    with pytest.raises(TrainingRunError, match=r"config\.json cannot be read: expected a list as resumed, got 5\."):
        load_training_run(folder)


def test_metrics_that_are_none_say_where(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", metrics=False)
    (folder / "metrics.jsonl").write_text('{"step": 1}\nnonsense\n{"step": 3}\n')
    with pytest.raises(TrainingRunError, match="line 2"):
        load_training_run(folder)


def test_numbers_that_cannot_be_drawn_are_nan() -> None:
    for value in (None, True, "1", [], math.inf, 10**400):
        assert math.isnan(as_number(value))
    assert as_number(3) == 3.0


def run_of(name: str, **config: object) -> TrainingRun:
    return TrainingRun(name, {"algorithm": "eapo", "seed": 0, **config}, [])


def test_runs_that_differ_in_their_seed_alone_are_one_line() -> None:
    runs = [
        run_of("a", seed=0),
        run_of("b", algorithm="grpo"),
        run_of("c", seed=1),
        run_of("d", algorithm="grpo", seed=2),
    ]
    lines = lines_of(runs)
    assert [(line.name, [run.name for run in line.runs]) for line in lines] == [
        ("eapo", ["a", "c"]),
        ("grpo", ["b", "d"]),
    ]


def test_lines_of_one_algorithm_are_named_by_what_differs() -> None:
    runs = [
        run_of("a", gamma_explore=0.5, lr=1),
        run_of("b", gamma_explore=0.9, lr=1),
        run_of("c", algorithm="grpo", lr=2),
    ]
    assert [line.name for line in lines_of(runs)] == ["eapo gamma_explore=0.5", "eapo gamma_explore=0.9", "grpo"]
    assert differing(runs) == {
        "algorithm": ["eapo", "eapo", "grpo"],
        "gamma_explore": [0.5, 0.9, None],
        "lr": [1, 1, 2],
    }


def test_names_of_lines_are_never_the_same() -> None:
    runs = [run_of(str(i), model=f"/a/very/long/path/that/is/cut/off/{i}") for i in range(4)]
    names = [line.name for line in lines_of(runs)]
    assert len(set(names)) == 4


def test_runs_are_named_by_as_much_of_their_paths_as_tells_them_apart(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / parent / "run", metrics=False) for parent in ("a", "b")]
    assert [run.name for run in load_training_runs(folders)] == ["a/run", "b/run"]
    with pytest.raises(TrainingRunError, match="twice"):
        load_training_runs([folders[0], folders[0]])


def test_the_success_of_a_line_is_of_the_episodes_of_all_its_seeds(tmp_path: Path) -> None:
    runs = load_training_runs(
        [write_run(tmp_path / str(seed), seed=seed, steps=10, eval_tasks=40) for seed in range(3)]
    )
    solved = [json.loads(line)["eval/success"] * 40 for run in runs for line in [json.dumps(run.rows[-1])]]
    share = Line("eapo", tuple(runs)).final_success()
    assert share == Share(round(sum(solved)), 120)


def test_settings_are_those_that_were_last_in_force(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", metrics=False, steps=10)
    record = json.loads((folder / "config.json").read_text())
    record["resumed"] = [{"changed": {"steps": [10, 20]}}, {"changed": {"steps": [20, 30], "parallel": [256, 8]}}]
    (folder / "config.json").write_text(json.dumps(record))
    run = load_training_run(folder)
    assert (run.planned, run.config["parallel"]) == (30, 8)
    assert len(lines_of([run, load_training_run(write_run(tmp_path / "b", metrics=False, steps=30))])) == 1
