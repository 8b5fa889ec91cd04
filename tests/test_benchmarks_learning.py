"""The learning experiment: what it plans, what it makes of results, and, shrunk, all of it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.bench.statistics import newcombe, wilson
from eapo_gym.bench.store import load_run, save_run
from tests.bench.test_compare import run
from tests.trainers.training_runs import write_run

for package in ("torch", "transformers", "peft", "yaml", "matplotlib"):
    pytest.importorskip(package)

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "benchmarks" / "learning" / "run.py"
FILE = SCRIPT.with_name("experiment.yaml")

ARMS = ("eapo", "gigpo", "grpo", "eapo-no-explore", "eapo-no-grouping", "eapo-no-format", "eapo-no-sft")
SWITCHES = {
    "eapo-singleton-zero": "singleton",
    "eapo-singleton-raw": "singleton",
    "eapo-token-mean": "density",
    "eapo-episodic": "task_credit",
    "eapo-std-floor": "std_floor",
}


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts import each other from where they stand."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def experiment(out: Path, *, quick: bool = False) -> Any:
    from learning.run import Experiment

    return Experiment.read(FILE, out, quick=quick)


# What is planned


def test_arms_differ_in_their_algorithm_and_start_alone(tmp_path: Path) -> None:
    from eapo_gym.trainers.presets import PRESETS

    plan = experiment(tmp_path)
    points = plan.points()
    assert [(point.values["arm"], point.seed) for point in points] == [
        (arm, seed) for arm in (*ARMS, *SWITCHES) for seed in (0, 1, 2)
    ]
    of_presets = {name for arm in ARMS for name in PRESETS[arm]} | set(SWITCHES.values())
    shared = [
        {name: value for name, value in point.config.items() if name not in of_presets | {"algorithm", "seed", "model"}}
        for point in points
    ]
    assert all(each == shared[0] for each in shared)
    assert shared[0]["env_steps"] == plan["train"]["env_steps"], "all of them have the same budget"
    models = {point.values["arm"]: Path(point.config["model"]) for point in points}
    without = models.pop("eapo-no-sft")
    assert len(set(models.values())) == 1
    assert without not in models.values()
    assert (plan.model("sft"), plan.model("sft-without-rollback")) == (models["eapo"], without)


def test_what_an_arm_sets_is_its_own(tmp_path: Path) -> None:
    plan = experiment(tmp_path)
    plan["arms"]["eapo-zero"] = {"algorithm": "eapo", "singleton": "zero"}
    configs = {point.name: point.config for point in plan.points()}
    assert configs["eapo-zero-seed1"]["singleton"] == "zero"
    assert configs["eapo-seed1"]["singleton"] != "zero"
    assert configs["eapo-zero-seed1"]["model"] == configs["eapo-seed1"]["model"]


@pytest.mark.parametrize(("only", "count"), [(["grpo"], 3), (["grpo,1"], 1), (["grpo,1", "eapo"], 4)])
def test_only_some_runs(tmp_path: Path, only: Sequence[str], count: int) -> None:
    assert len(experiment(tmp_path).points(only)) == count


def test_a_run_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"grpo,7.*no such run"):
        experiment(tmp_path).points(["grpo,7"])


def test_a_setting_that_there_is_not_is_refused(tmp_path: Path) -> None:
    from learning.run import Experiment

    from eapo_gym.errors import UnknownName

    broken = tmp_path / "broken.yaml"
    broken.write_text(FILE.read_text(encoding="utf-8").replace("group_size: 8", "groupsize: 8"), encoding="utf-8")
    with pytest.raises(UnknownName, match="group_size"):
        Experiment.read(broken, tmp_path, quick=False)


def test_quick_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    whole, quick = experiment(tmp_path), experiment(tmp_path, quick=True)
    assert quick["train"]["group_size"] < whole["train"]["group_size"]
    assert quick["train"]["learning_rate"] == whole["train"]["learning_rate"]
    assert set(quick["arms"]) < set(whole["arms"])


# What is made of results


STARTS = {"eapo": "sft", "grpo": "sft", "eapo-no-sft": "sft-without-rollback"}


def outcome(folder: Path, seeds: Sequence[int] = (0, 1)) -> dict[str, Any]:
    from learning.outcome import outcome_of

    return outcome_of(folder / "runs", folder / "evals", STARTS, seeds)


def keep(folder: Path, **evaluations: dict[str, str]) -> None:
    """Evaluations by name, with what the repeats of each task came to."""
    for name, results in evaluations.items():
        save_run(run(results), folder / "evals" / name.replace("__", "-"))


def test_success_is_over_seeds_and_over_all_episodes(tmp_path: Path) -> None:
    keep(
        tmp_path,
        sft__sampled={"t0": "su", "t1": "uu"},
        eapo__seed0__sampled={"t0": "ss", "t1": "us"},
        eapo__seed1__sampled={"t0": "su", "t1": "us"},
    )
    found = outcome(tmp_path)
    assert found["start"]["sft"]["sampled"]["pooled"]["successes"] == 1
    eapo = found["arms"]["eapo"]["sampled"]
    assert eapo["success_by_run"] == [0.75, 0.5]
    assert eapo["success"] == pytest.approx({"mean": 0.625, "std": 0.25 / math.sqrt(2), "n": 2})
    low, high = wilson(5, 8)
    assert eapo["pooled"] == {"successes": 5, "n": 8, "rate": 0.625, "low": low, "high": high}
    low, high = newcombe((1, 4), (5, 8))
    assert eapo["minus_start"] == {"difference": 0.375, "low": low, "high": high}
    assert "sampled" not in found["arms"]["grpo"], "what is not there is left out"


def test_the_method_is_compared_by_game(tmp_path: Path) -> None:
    """Games that both win, or both lose, say nothing of the difference: it is known better than from the shares."""
    easy, hard = {f"e{i}": "s" for i in range(20)}, {f"h{i}": "u" for i in range(20)}
    both = {**easy, **hard}
    keep(
        tmp_path,
        grpo__seed0__greedy={**both, "x0": "u", "x1": "u", "x2": "u", "x3": "u"},
        eapo__seed0__greedy={**both, "x0": "s", "x1": "s", "x2": "s", "x3": "s"},
    )
    [success] = [each["differences"]["success"] for each in outcome(tmp_path)["method_minus_other"]["greedy"].values()]
    assert success["difference"] == pytest.approx(4 / 44)
    low, high = newcombe((20, 44), (24, 44))
    assert low < success["low"] < success["high"] < high
    assert success["low"] >= 0


def test_arms_with_more_seeds_weigh_each_game_alike(tmp_path: Path) -> None:
    """An arm of which one run is missing is compared as well as can be: by the shares of each game."""
    keep(
        tmp_path,
        grpo__seed0__sampled={"a": "ss", "b": "uu"},
        eapo__seed0__sampled={"a": "ss", "b": "uu"},
        eapo__seed1__sampled={"a": "ss", "b": "us"},
    )
    comparison = outcome(tmp_path)["method_minus_other"]["sampled"]["grpo"]
    assert comparison["paired"]
    assert comparison["differences"]["success"]["difference"] == pytest.approx(5 / 8 - 1 / 2)


def test_half_an_evaluation_is_none(tmp_path: Path) -> None:
    keep(tmp_path, eapo__seed0__sampled={"t0": "ss"}, eapo__seed1__sampled={"t0": "s "})
    assert outcome(tmp_path)["arms"]["eapo"]["sampled"]["success_by_run"] == [1.0]


def test_pooled_runs_are_repeats(tmp_path: Path) -> None:
    from learning.outcome import pooled

    together = pooled([run({"a": "su", "b": "ss"}), run({"a": "uu", "b": "us"})])
    assert len(set(together.planned)) == 8
    assert {(episode.trajectory.task, episode.repeat): episode.success for episode in together.episodes} == {
        ("a", 0): True, ("a", 1): False, ("a", 2): False, ("a", 3): False,
        ("b", 0): True, ("b", 1): True, ("b", 2): False, ("b", 3): True,
    }  # fmt: skip


def test_how_the_training_went(tmp_path: Path) -> None:
    for seed in (0, 1):
        write_run(tmp_path / "runs" / f"eapo-seed{seed}", algorithm="eapo", seed=seed, steps=30, eval_every=10)
    write_run(tmp_path / "runs" / "grpo-seed0", algorithm="grpo", steps=30, eval_every=10)
    eapo, grpo = (outcome(tmp_path)["arms"][arm]["training"] for arm in ("eapo", "grpo"))
    assert (eapo["runs"], eapo["finished"], grpo["runs"]) == (2, 2, 1)
    assert [point["step"] for point in eapo["curves"][0]] == [10, 20, 30]
    rows = [
        [json.loads(line) for line in (tmp_path / "runs" / f"eapo-seed{seed}" / "metrics.jsonl").open()]
        for seed in (0, 1)
    ]
    middle = [row["q/auc"] for run in rows for row in run[10:20]]
    assert eapo["thirds"]["q/auc"][1] == pytest.approx(sum(middle) / 20)
    assert "q/auc" not in grpo["thirds"]
    assert grpo["dead_share"]["n"] == 0, "an arm without an exploratory reward has none that could be dead"


def test_dead_rewards_are_counted(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "eapo-seed0", algorithm="eapo", steps=8, metrics=False)
    variances = [0.0, 1e-9, 0.01, 0.0, 0.2, 0.0, 0.0, 0.0]
    rows = [{"step": i + 1, "reward_variance/explore": value} for i, value in enumerate(variances)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert outcome(tmp_path)["arms"]["eapo"]["training"]["dead_share"]["mean"] == 0.75


def test_the_table_says_what_is_there(tmp_path: Path) -> None:
    from learning.outcome import table_of

    assert "eapo" in table_of(outcome(tmp_path)), "nothing yet, and yet no error"
    write_run(tmp_path / "runs" / "eapo-seed0", algorithm="eapo", steps=9)
    keep(tmp_path, sft__sampled={"t0": "u"}, eapo__seed0__sampled={"t0": "s"}, grpo__seed0__sampled={"t0": "u"})
    found = outcome(tmp_path)
    table = table_of(found)
    [row] = [line for line in table.splitlines() if line.startswith("| eapo |")]
    assert "100.0" in row
    assert "+100.0" in row
    [row] = [line for line in table.splitlines() if line.startswith("| eapo (")]
    assert "1 of 2" in row
    assert len({line.count("|") for line in table.splitlines() if line.startswith("| eapo |")}) == 1
    json.dumps(found, allow_nan=False)


def test_what_other_weights_have_played_is_played_again(tmp_path: Path) -> None:
    from learning.run import forget_others

    model, folder = tmp_path / "model", tmp_path / "evals" / "eapo-seed0-greedy"
    model.mkdir()
    (model / "weights").write_text("one")
    forget_others(folder, model)
    save_run(run({"t0": "s"}), folder)
    forget_others(folder, model)
    assert load_run(folder).episodes
    (model / "weights").write_text("other")
    forget_others(folder, model)
    assert not folder.exists()


# All of it


def all_of_it(out: Path) -> str:
    command = [sys.executable, str(SCRIPT), "--quick", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=out.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_whole_experiment(tmp_path: Path) -> None:
    out = tmp_path / "learning"
    said = all_of_it(out)
    assert "[4 of 4]" in said
    record = json.loads((out / "learning.json").read_text(encoding="utf-8"))
    assert record["command"].startswith("python benchmarks/learning/run.py --quick")
    result = record["result"]
    budget = result["experiment"]["train"]["env_steps"]
    for arm in ("eapo", "eapo-no-sft"):
        found = result["arms"][arm]
        assert found["sampled"]["pooled"]["n"] == 2 * 2 * 3
        assert found["greedy"]["pooled"]["n"] == 2 * 3
        assert all(budget <= spent <= budget + 6 for spent in found["training"]["env_steps"])
    tuned = result["data"]["sft"]
    assert tuned["sft"]["examples"] > tuned["sft-without-rollback"]["examples"], "the pairs are trained on"
    assert set(result["data"]["rollback_success"]) == {"untrained", "sft", "sft-without-rollback"}
    assert "<svg" in (out / "report.html").read_text(encoding="utf-8")
    assert "eapo-no-sft" in (out / "table.md").read_text(encoding="utf-8")
    metrics = {path: path.read_bytes() for path in out.glob("runs/*/metrics.jsonl")}
    assert len(metrics) == 4
    all_of_it(out)  # there is nothing left to do
    assert {path: path.read_bytes() for path in metrics} == metrics
    again = json.loads((out / "learning.json").read_text(encoding="utf-8"))["result"]
    assert again == result
