import csv
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer import Typer
from typer.testing import CliRunner

from eapo_gym.bench.statistics import Share
from eapo_gym.cli.training_report import SweepCommand
from eapo_gym.cli.training_report import sweep as sweep_command
from eapo_gym.errors import EapoError, UnknownName
from eapo_gym.trainers.config import BadConfig, TrainConfig
from eapo_gym.trainers.sweep import SweepError, last_words, make_sweep, parse_grid, run_sweep, train_in_process
from tests.trainers.training_runs import write_run

pytest.importorskip("yaml", reason="PyYAML is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from eapo_gym.trainers.sweep_results import draw_sweep, rows_of, write_results

MODEL = "model=models/sft"


class Recorder:
    """Trains by writing the folder of a run; fails where it is told to."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.calls: list[str] = []

    def __call__(
        self, config: Path | None, folder: Path, overrides: Sequence[str], log: Path, stop: threading.Event
    ) -> int:
        self.calls.append(folder.name)
        if any(part in folder.name for part in self.failing):
            return 1
        if not folder.exists():
            settings = TrainConfig.load(config, overrides)
            given = {name: getattr(settings, name) for name in ("seed", "gamma_explore", "group_size", "algorithm")}
            write_run(folder, steps=4, eval_every=2, speed=1 + settings.gamma_explore, **given)
        return 0


def test_a_grid_is_values_with_commas_or_in_brackets() -> None:
    grid, seeds = parse_grid(["gamma_explore=0.5,0.9", "algorithm=[eapo, grpo]", "tuning=lora", "seeds=0,2"])
    assert grid == {"gamma_explore": [0.5, 0.9], "algorithm": ["eapo", "grpo"], "tuning": ["lora"]}
    assert seeds == [0, 2]
    assert parse_grid(["agent_options.compact=true,false"])[0] == {"agent_options.compact": [True, False]}
    assert parse_grid(["agent_options={compact: true, budget: 5},{}"])[0]["agent_options"] == [
        {"compact": True, "budget": 5},
        {},
    ]
    assert parse_grid(["sft_data=[a, b],[c]"])[0] == {"sft_data": [["a", "b"], ["c"]]}
    assert parse_grid(["max_tasks=null,3"])[1] == [0]


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["gama_explore=0.5"], UnknownName, "gamma_explore"),
        (["gamma_explore"], SweepError, "field=a,b,c"),
        (["gamma_explore="], SweepError, "field=a,b,c"),
        (["gamma_explore=[]"], SweepError, "got none"),
        (["gamma_explore=0.5", "gamma_explore=0.9"], SweepError, "twice"),
        (["seeds=1", "seeds=2"], SweepError, "twice"),
        (["gamma_explore=0.5,0.5"], SweepError, "twice"),
        (["seeds=a"], SweepError, "whole numbers"),
        (["seeds=-1"], SweepError, "whole numbers"),
        (["gamma_explore=[0.5"], BadConfig, "YAML"),
    ],
)
def test_a_grid_that_is_none_is_one_sentence(texts: list[str], error: type[EapoError], message: str) -> None:
    with pytest.raises(error, match=message):
        parse_grid(texts)


def test_every_combination_is_a_run_with_a_name_and_a_checked_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("steps: 7\nalgorithm: gigpo\nmodel: m\n")
    sweep = make_sweep(config, ["gamma_explore=0.5,0.9", "group_size=4,8", "seeds=0,1"], ["max_steps=9"])
    assert len(sweep.points) == len({point.name for point in sweep.points}) == 8
    point = sweep.points[-1]
    assert point.name == "gamma_explore=0.9,group_size=8,seed=1"
    chosen = {name: point.config[name] for name in ("gamma_explore", "group_size", "seed", "steps", "max_steps")}
    assert chosen == {"gamma_explore": 0.9, "group_size": 8, "seed": 1, "steps": 7, "max_steps": 9}
    assert point.config["grouping"] == "gigpo"
    assert TrainConfig.load(config, point.overrides).to_json() == point.config


@pytest.mark.parametrize(
    ("grid", "fixed", "message"),
    [
        (["gamma_explore=0.5,2"], [], "gamma_explore"),
        (["seed=1,2"], [], "seeds=0,1,2"),
        (["gamma_explore=0.5"], ["seed=1"], "seeds=0,1,2"),
        (["gamma_explore=0.5"], ["gamma_explore=0.9"], "both"),
        (["group_size=many"], [], "group_size"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is(grid: list[str], fixed: list[str], message: str) -> None:
    with pytest.raises(EapoError, match=message):
        make_sweep(None, grid, [MODEL, *fixed])


def test_a_sweep_needs_a_model_from_wherever_it_comes(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("steps: 7\n")
    with pytest.raises(SweepError, match="model: expected a folder or a hub's id to train, got none: add model="):
        make_sweep(config, ["gamma_explore=0.5"])
    with pytest.raises(SweepError, match="model: expected"):
        make_sweep(config, ["model=['', m]"])
    assert len(make_sweep(config, ["model=m,n"]).points) == 2


def test_one_entry_of_a_mapping_is_swept_over_and_fixed_beside_those_of_the_file(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("model: m\nenv_kwargs: {difficulty: toy, games: 12000}\n")
    sweep = make_sweep(config, ["env_kwargs.games=10,20"], ["env_kwargs.rooms=kitchen"])
    assert [point.config["env_kwargs"] for point in sweep.points] == [
        {"difficulty": "toy", "games": games, "rooms": "kitchen"} for games in (10, 20)
    ]
    assert TrainConfig.load(config, sweep.points[1].overrides).to_json() == sweep.points[1].config


@pytest.mark.parametrize("value", ["../../etc", "a/b", "", "x" * 300, "naïve", "a,b=c", "."])
def test_names_of_folders_are_harmless_and_their_own(value: str) -> None:
    sweep = make_sweep(None, [f"split={json.dumps([value, 'other', value + '!'])}"], [MODEL])
    names = [point.name for point in sweep.points]
    assert len(set(names)) == 3
    for name in names:
        assert "/" not in name
        assert len(name) < 100
        assert name.startswith("split=")


def test_a_sweep_goes_on_where_it_was_and_trains_what_is_new(tmp_path: Path) -> None:
    train = Recorder("gamma_explore=0.9,seed=1")
    small = make_sweep(None, ["gamma_explore=0.5,0.9", "seeds=0,1"], [MODEL])
    states = run_sweep(small, tmp_path, train=train)
    assert len(train.calls) == 4, "a failure ends no other run"
    assert [name for name, state in states.items() if state == "failed"] == ["gamma_explore=0.9,seed=1"]

    train = Recorder()
    more = make_sweep(None, ["gamma_explore=0.5,0.9,0.7", "seeds=0,1"], [MODEL])
    states = run_sweep(more, tmp_path, train=train)
    assert sorted(train.calls) == [
        "gamma_explore=0.7,seed=0",
        "gamma_explore=0.7,seed=1",
        "gamma_explore=0.9,seed=1",
    ]
    assert set(states.values()) == {"finished"}

    again = Recorder()
    run_sweep(small, tmp_path, train=again)
    assert again.calls == []
    kept = json.loads((tmp_path / "sweep.json").read_text())["runs"]
    assert len(kept) == 6, "what an earlier sweep trained here is not forgotten"


def test_another_sweep_in_the_folder_is_refused_by_name(tmp_path: Path) -> None:
    run_sweep(make_sweep(None, ["gamma_explore=0.5"], [MODEL, "steps=5"]), tmp_path, train=Recorder())
    with pytest.raises(SweepError, match="another steps than now"):
        run_sweep(make_sweep(None, ["gamma_explore=0.5"], [MODEL, "steps=6"]), tmp_path, train=Recorder())


def test_a_sweep_whose_runs_could_not_begin_is_mended_by_the_right_setting(tmp_path: Path) -> None:
    def train(config: Path | None, folder: Path, overrides: Sequence[str], log: Path, stop: threading.Event) -> int:
        folder.mkdir(exist_ok=True)
        (folder / ".lock").touch()
        if "model=models/sfd" in overrides:
            return 2
        (folder / "config.json").write_text("{}")
        return 0

    def swept(model: str) -> dict[str, str]:
        return run_sweep(make_sweep(None, ["gamma_explore=0.5", "seeds=0,1"], [model]), tmp_path, train=train)

    assert set(swept("model=models/sfd").values()) == {"failed"}
    assert set(swept(MODEL).values()) == {"finished"}
    kept = json.loads((tmp_path / "sweep.json").read_text())["runs"]
    assert {run["config"]["model"] for run in kept.values()} == {"models/sft"}
    with pytest.raises(SweepError, match="another model than now"):
        swept("model=models/other")


def test_a_broken_record_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text("{}")
    with pytest.raises(SweepError, match=r"sweep\.json cannot be read"):
        run_sweep(make_sweep(None, ["gamma_explore=0.5"], [MODEL]), tmp_path, train=Recorder())


def test_jobs_run_at_the_same_time(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=20)

    def train(config: Path | None, folder: Path, overrides: Sequence[str], log: Path, stop: threading.Event) -> int:
        both.wait()
        return 0

    run_sweep(make_sweep(None, ["gamma_explore=0.5,0.9"], [MODEL]), tmp_path, jobs=2, train=train)


def test_a_sweep_that_is_stopped_stops_its_runs_and_forgets_nothing(tmp_path: Path) -> None:
    stopped = []

    def train(config: Path | None, folder: Path, overrides: Sequence[str], log: Path, stop: threading.Event) -> int:
        if folder.name.endswith("seed=0"):
            return Recorder()(config, folder, overrides, log, stop)
        if folder.name.endswith("seed=1"):
            raise KeyboardInterrupt
        stopped.append(stop.wait(20))
        return -15

    sweep = make_sweep(None, ["gamma_explore=0.5", "seeds=0,1,2"], [MODEL])
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, tmp_path, jobs=3, train=train)
    assert stopped == [True]
    left = Recorder()
    run_sweep(sweep, tmp_path, train=left)
    assert "gamma_explore=0.5,seed=2" in left.calls
    assert "gamma_explore=0.5,seed=1" in left.calls


def test_a_process_that_fails_leaves_its_words_and_its_status(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "x.log"
    status = train_in_process(None, tmp_path / "x", ["gama=1"], log, threading.Event())
    assert status != 0
    assert last_words(tmp_path, "x")


def test_a_process_is_asked_to_stop_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\n"
        "import signal, sys, time\n"
        "def leave(*_):\n    print('saved', flush=True)\n    sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, leave)\n"
        "print('begun', sys.argv[1:], flush=True)\ntime.sleep(60)\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    log, stop = tmp_path / "logs" / "x.log", threading.Event()
    found: list[int] = []
    arguments = (Path("c.yaml"), tmp_path / "x", ["seed=1"], log, stop)
    thread = threading.Thread(target=lambda: found.append(train_in_process(*arguments)))
    thread.start()
    while not log.exists() or "begun" not in log.read_text():
        time.sleep(0.02)
    stop.set()
    thread.join(30)
    assert found == [3]
    said = log.read_text()
    command = ["-m", "eapo_gym.cli", "train", "--config", "c.yaml", "--out", str(tmp_path / "x"), "seed=1"]
    assert str(command) in said
    assert "saved" in said


def test_the_table_has_a_row_for_each_combination(tmp_path: Path) -> None:
    sweep = make_sweep(None, ["gamma_explore=0.5,0.9", "seeds=0,1"], [MODEL])
    states = run_sweep(sweep, tmp_path, train=Recorder("gamma_explore=0.9,seed=1"))
    paths = write_results(sweep, tmp_path, states)
    assert {path.name for path in paths} == {"table.md", "table.csv", "table.json", "figure.svg", "figure.png"}
    first, second = rows_of(sweep, tmp_path, states)
    runs = [run.final_eval() for run in first.line.runs]
    rates = [run["success"] for run in runs]
    assert first.success.mean == pytest.approx(sum(rates) / 2)
    assert first.interval == Share(round(sum(rates) * 64), 128)
    assert first.degree.mean == pytest.approx(sum(run["degree"] for run in runs) / 2)
    assert len(second.line.runs) == 1
    assert "| 1 of 2 |" in (tmp_path / "table.md").read_text()
    data = json.loads((tmp_path / "table.json").read_text())
    assert [row["values"] for row in data] == [{"gamma_explore": 0.5}, {"gamma_explore": 0.9}]
    assert data[1]["success"]["std"] is None
    with (tmp_path / "table.csv").open(newline="") as file:
        [row, _] = csv.DictReader(file)
    assert float(row["success_mean"]) == pytest.approx(first.success.mean)
    assert (row["gamma_explore"], row["episodes"], row["runs"]) == ("0.5", "128", "2")


def test_a_table_of_nothing_has_no_figure(tmp_path: Path) -> None:
    sweep = make_sweep(None, ["algorithm=eapo,grpo"], [MODEL])
    paths = write_results(sweep, tmp_path, run_sweep(sweep, tmp_path, train=Recorder("seed")))
    assert [path.suffix for path in paths] == [".md", ".csv", ".json"]
    assert "0 of 1" in paths[0].read_text()


@pytest.mark.parametrize(
    ("grid", "shown"),
    [
        (["gamma_explore=0.5,0.9"], {"gamma_explore", "success in evaluation, %"}),
        (["algorithm=eapo,grpo"], {"algorithm", "eapo", "grpo", "success in evaluation, %"}),
        (
            ["gamma_explore=0.5,0.9", "algorithm=eapo,grpo"],
            {"gamma_explore", "0.5", "0.9", "algorithm", "eapo", "grpo"},
        ),
        (
            ["gamma_explore=0.5,0.9", "algorithm=eapo,grpo", "group_size=2,4"],
            {"gamma_explore=0.5 algorithm=eapo group_size=2"},
        ),
        (["gamma_explore=0.5"], {"success in evaluation, %"}),
    ],
)
def test_the_figure_fits_the_fields(tmp_path: Path, grid: list[str], shown: set[str]) -> None:
    from eapo_gym.trainers.figures import svg_of

    sweep = make_sweep(None, [*grid, "seeds=0,1"], [MODEL])
    rows = rows_of(sweep, tmp_path, run_sweep(sweep, tmp_path, train=Recorder()))
    svg = svg_of(draw_sweep(rows))
    texts = {element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")}
    assert shown <= texts


def test_the_command_keeps_apart_what_is_swept_and_what_is_fixed(tmp_path: Path) -> None:
    app = Typer()
    app.callback()(lambda: None)
    app.command("sweep", cls=SweepCommand)(sweep_command)
    arguments = [
        "sweep",
        "--out",
        str(tmp_path),
        "gamma_explore=0.5,0.9",
        "--",
        "steps=2",
        "env=nowhere",
        "model=/none",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1, "there is no such model, so that every run failed"
    assert "2 of 2 runs failed" in result.output
    kept = json.loads((tmp_path / "sweep.json").read_text())["runs"]
    assert set(kept) == {"gamma_explore=0.5,seed=0", "gamma_explore=0.9,seed=0"}
    assert {run["config"]["steps"] for run in kept.values()} == {2}
    assert (tmp_path / "table.md").exists()


def test_looking_for_help_brings_nothing_heavy() -> None:
    code = (
        "import sys, eapo_gym.cli.training_report\n"
        "print([name for name in ('torch', 'matplotlib', 'yaml') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


def test_a_sweep_that_is_terminated_takes_its_runs_along(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import sys, time\n"
        "from pathlib import Path\n"
        "from eapo_gym.cli import training_report\n"
        "from eapo_gym.trainers import sweep\n"
        "def train(config, folder, overrides, log, stop):\n"
        f"    sys.executable = {str(tmp_path / 'slow')!r}\n"
        "    return sweep_train(config, folder, overrides, log, stop)\n"
        "sweep_train, sweep.train_in_process = sweep.train_in_process, train\n"
        "training_report.run_sweep_command(None, ['gamma_explore=0.5'], ['model=m'], Path(sys.argv[1]))\n"
    )
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\necho $$\nexec sleep 60\n")
    slow.chmod(0o755)
    process = subprocess.Popen([sys.executable, str(program), str(tmp_path / "out")], stderr=subprocess.PIPE, text=True)
    log = tmp_path / "out" / "logs" / "gamma_explore=0.5,seed=0.log"
    while not log.exists() or not log.read_text().strip():
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    said = process.communicate(timeout=60)[1]
    assert "The same command goes on" in said
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)
