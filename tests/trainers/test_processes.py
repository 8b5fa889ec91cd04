"""Two processes that train one model, as `torchrun` starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")
pytest.importorskip("accelerate")

from eapo_gym.loggers import read_metrics  # noqa: E402
from eapo_gym.trainers import train as training  # noqa: E402
from eapo_gym.trainers.config import BadConfig, TrainConfig  # noqa: E402
from eapo_gym.trainers.policy import Policy  # noqa: E402
from eapo_gym.trainers.processes import Processes  # noqa: E402
from tests.trainers.short_runs import arguments, player, same_weights, settings  # noqa: E402

ROOT = Path(__file__).parents[2]
RUN: dict[str, Any] = {"eval_tasks": 1, "eval_every": 2, "minibatches": 2}


def torchrun(*command: str) -> None:
    """In two processes, with a port that is free."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    ran = subprocess.run(
        [*launcher, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]


def worker(out: Path) -> None:
    """One of two processes: goes on with a run, and keeps the weights that it has come to."""
    export = Policy.export

    def and_keep(self: Policy, folder: Any) -> Any:
        torch.save(self.state(), out / f"rank{os.environ['RANK']}.pt")
        return export(self, folder)

    Policy.export = and_keep  # type: ignore[method-assign]
    training.train(settings(**RUN, steps=3), out / "run")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two steps from the command line, and a third step later."""
    folder = tmp_path_factory.mktemp("two")
    player()
    torchrun("eapo_gym.cli", "train", *arguments(**RUN), "--out", str(folder / "run"), "--no-report")
    torchrun("tests.trainers.test_processes", str(folder))
    return folder


def test_they_write_once_and_go_on_together(out: Path) -> None:
    rows = read_metrics(out / "run")
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert [("eval/success" in row) for row in rows] == [True, False, True, True]
    for row in rows[1:]:
        # Two tasks of four attempts each, one task in each process.
        assert row["train/episodes"] == 8
        assert row["policy/grad_norm"] > 0
    first, second, third = (row["env_steps"] for row in rows[1:])
    assert 8 <= first < second < third
    record = json.loads((out / "run" / "config.json").read_text())
    assert record["resumed"][0]["changed"] == {"steps": [2, 3]}
    assert (out / "run" / "done.json").is_file()


def test_both_have_the_same_weights_and_the_model_is_written_from_them(out: Path) -> None:
    one, other = (torch.load(out / f"rank{rank}.pt", weights_only=True) for rank in (0, 1))
    for role in ("policy", "q"):
        assert one[role]["weights"].keys() == other[role]["weights"].keys()
        for name, value in one[role]["weights"].items():
            assert torch.equal(value, other[role]["weights"][name]), name
    assert not same_weights(out / "run" / "model", player())


def test_one_process_is_all_of_them() -> None:
    alone = Processes(TrainConfig())
    assert (alone.count, alone.rank, alone.is_first) == (1, 0, True)
    assert alone.share([1, 2, 3]) == [1, 2, 3]
    assert alone.sums([1.5, 2]) == [1.5, 2]
    assert alone.gather("own") == ["own"]
    alone.wait()
    alone.close()


def test_each_has_as_many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    three = SimpleNamespace(num_processes=3, process_index=1)
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setattr("eapo_gym.trainers.processes._accelerator", lambda config: three)
    with pytest.raises(BadConfig, match="tasks_per_step: expected a multiple of the 3 processes, got 8"):
        Processes(TrainConfig(tasks_per_step=8))
    one = Processes(TrainConfig(tasks_per_step=9))
    assert one.share(range(7)) == [1, 4]
    assert not one.is_first


if __name__ == "__main__":
    worker(Path(sys.argv[1]))
