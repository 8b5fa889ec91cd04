import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import eapo_gym
from eapo_gym.bench.store import load_run
from eapo_gym.cli.targets import BadTarget, find_spec, make_env, parse_kwargs
from eapo_gym.errors import UnknownName
from tests.command_line import ROOT, run, run_apart, set_up_machine


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    set_up_machine(monkeypatch, tmp_path)


# The door


def test_help_names_every_command() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in (
        "envs",
        "play",
        "eval",
        "baselines",
        "compare",
        "report",
        "check",
        "new-env",
        "demo",
        "data",
        "models",
    ):
        assert command in result.output


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from eapo_gym.cli.app import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'textworld', 'alfworld', 'transformers', 'eapo_gym.envs.alfworld',\n"
        "         'eapo_gym.envs.checker', 'eapo_gym.envs.hosting', 'eapo_gym.bench.evaluate'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr


def test_version() -> None:
    assert run("--version").output.strip() == f"eapo-gym {eapo_gym.__version__}"


def test_an_error_is_one_sentence_on_stderr() -> None:
    result = run_apart("play", "eapo/ALFWord-v0")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Did you mean 'eapo/ALFWorld-v0'?" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_debug_shows_where_an_error_came_from() -> None:
    result = run_apart("--debug", "play", "eapo/ALFWord-v0")
    assert result.returncode not in (0, 2)
    assert "Traceback" in result.stderr
    assert "UnknownName" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("play", "alfworld", "--split", "valdi"), "Did you mean 'valid'?"),
        (("play", "alfworld", "--source", "official"), "eapo-gym data alfworld"),
        (("play", "alfworld", "--engine", "nativ"), "Did you mean 'native'?"),
        (("play", "alfworld", "--engine", "textworld"), "pip install 'eapo-gym[alfworld]'"),
        (("play", "alfworld", "--task", "none"), "Unknown task"),
        (("play", "alfworld", "--rollback", "undo"), "Unknown rollback mode"),
        (("play", "alfworld", "--kwargs", "games=0"), "expected a number from 1"),
        (("play", "alfworld", "--kwargs", "colour=red"), "colour"),
        (("play", "alfworld", "--kwargs", "split"), "expected key=value"),
        (("play", "no_such_module:Env"), "cannot be imported"),
        (("play", "tests.toys:Nothing"), "has no 'Nothing'"),
        (("play", "/no/such/file.py:Env"), "there is no file"),
        (("check", "CartPole-v1"), "Expected an AgentEnv"),
        (("check", "alfworld", "--skip", "fingerprnt"), "Did you mean 'fingerprint'?"),
        (("new-env", "class"), "class"),
        (("demo", "--games", "141"), "140"),
        (("data", "alfworld", "--generate", "1", "--into", "x", "--difficulty", "mild"), "Unknown difficulty"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert "Traceback" not in result.output


# Targets


@pytest.mark.parametrize("name", ["eapo/ALFWorld-v0", "ALFWorld-v0", "alfworld", "ALFWORLD", "EAPO/alfworld-V0"])
def test_ids_of_the_suite_may_be_short(name: str) -> None:
    assert find_spec(name).id == "eapo/ALFWorld-v0"


def test_targets_may_be_classes_in_modules_and_files() -> None:
    for target in ("tests.toys:Corridor", f"{ROOT}/tests/toys.py:Corridor"):
        env = make_env(target, {"rooms": 2})
        assert type(env).__name__ == "Corridor"
        assert env.get_wrapper_attr("rooms") == 2


@pytest.mark.parametrize(("target", "argument"), [("tests.toys:Corridor", "room"), ("eapo/ALFWorld-v0", "game")])
def test_an_argument_that_there_is_not_is_told_with_one_that_there_is(target: str, argument: str) -> None:
    with pytest.raises(UnknownName, match=rf"Unknown argument of {target} '{argument}': .* Did you mean '{argument}s'"):
        make_env(target, {argument: 3})


@pytest.mark.parametrize("target", ["tests.toys:COMMANDS", "builtins:dict"])
def test_targets_that_make_no_environment_are_refused(target: str) -> None:
    with pytest.raises(BadTarget, match="expected"):
        make_env(target, {})


def test_unknown_ids_name_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"module:Class"):
        find_spec("nonsense")


def test_kwargs_are_read_as_yaml_scalars() -> None:
    pairs = ["a=1", "b=1.5", "c=true", "d=null", "e=text", 'f="1"', "g=[1, 2]", "h=a=b", "i=", "j=-3"]
    assert parse_kwargs(pairs) == {
        "a": 1, "b": 1.5, "c": True, "d": None, "e": "text", "f": "1", "g": [1, 2], "h": "a=b", "i": "", "j": -3,
    }  # fmt: skip


# envs


def test_envs_says_what_works_and_what_brings_the_rest() -> None:
    result = run("envs")
    assert result.exit_code == 0
    for said in ("eapo/ALFWorld-v0", "works", "1,000", "→ eapo-gym data alfworld"):
        assert said in result.output


def test_envs_as_json() -> None:
    alfworld, _, _, webshop = json.loads(run("envs", "--json").output)["environments"]
    assert webshop["works"] is True
    needs = {need["name"]: need for need in alfworld["needs"]}
    assert alfworld["works"] is True
    assert needs["embedded games"]["ok"] is True
    assert needs["official games"]["ok"] is False
    assert needs["official games"]["optional"] is True
    assert needs["official games"]["fix"] == "eapo-gym data alfworld"


def test_envs_names_a_reference_interpreter_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for python, fault in (("/no/such/python", "cannot be run"), ("/bin/false", "lacks")):
        monkeypatch.setenv("EAPO_REFERENCE_PYTHON", python)
        alfworld, *_ = json.loads(run("envs", "--json").output)["environments"]
        (engine,) = [need for need in alfworld["needs"] if need["name"] == "reference engine"]
        assert not engine["ok"]
        assert fault in engine["detail"]


# check


def test_check_passes_a_good_environment() -> None:
    result = run("check", "tests.toys:Corridor", "--kwargs", "rooms=3", "--budget", "5")
    assert result.exit_code == 0, result.output
    assert "keeps the contract" in result.output
    assert "other-process" in result.output


def test_check_fails_a_broken_environment_and_says_what_to_change() -> None:
    result = run("check", f"{ROOT}/tests/broken_envs.py:FingerprintCountsSteps", "--budget", "5")
    assert result.exit_code == 1, result.output
    assert "breaks the contract" in result.output
    assert "[fingerprint]" in result.output
    assert "change" in result.output


def test_check_as_json_is_only_json() -> None:
    result = run_apart("check", "tests.toys:Corridor", "--budget", "3", "--json")
    assert result.returncode == 0
    report = json.loads(result.stdout)
    assert report["ok"] is True
    assert {"spaces", "fingerprint"} <= {outcome["name"] for outcome in report["outcomes"]}


def test_check_leaves_out_what_is_skipped() -> None:
    result = run("check", "tests.toys:Corridor", "--budget", "3", "--skip", "other-process", "--json")
    outcomes = {outcome["name"]: outcome for outcome in json.loads(result.output)["outcomes"]}
    assert outcomes["other-process"]["status"] == "skipped"


# new-env


def test_a_new_environment_passes_the_check_as_it_is(tmp_path: Path) -> None:
    result = run("new-env", "tea-shop", "--into", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "test_tea_shop.py").exists()
    (target,) = {word for word in result.output.split() if word.endswith("tea_shop.py:TeaShop")}
    checked = run_apart("check", "tea_shop:TeaShop", "--budget", "5", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    played = run_apart("play", target, input="quit\n", cwd=tmp_path)
    assert played.returncode == 0, played.stderr


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    run("new-env", "tea-shop", "--into", str(tmp_path))
    again = run("new-env", "tea-shop", "--into", str(tmp_path))
    assert again.exit_code == 2
    assert "is there already" in again.output


# demo


def test_demo_plays_and_reports(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run_apart("demo", "--games", "4", "--out", str(out), "--seed", "1", "--no-train", "--no-open")
    assert result.returncode == 0, result.stderr
    rows = json.loads((out / "baselines.json").read_text())
    assert list(rows) == ["oracle", "explorer", "no memory", "random"]
    assert all(agent in result.stdout for agent in rows)
    assert rows["oracle"]["success"]["rate"] == 1
    assert rows["oracle"]["steps"]["mean"] <= rows["explorer"]["steps"]["mean"] <= rows["random"]["steps"]["mean"]
    runs = {name: load_run(out / name.replace(" ", "-")) for name in rows}
    assert {run.stamp["environment"]["source"] for run in runs.values()} == {"embedded"}
    assert len({tuple(run.planned) for run in runs.values()}) == 1, "every agent plays the same games"
    assert all(len(run.episodes) == 4 for run in runs.values())
    assert str(out / "report.html") in result.stdout
    assert "generated tasks" in (out / "report.html").read_text(encoding="utf-8")
    shoppers = json.loads((out / "webshop" / "baselines.json").read_text())
    assert list(shoppers) == ["explorer", "no memory", "random"]
    assert shoppers["explorer"]["score"]["mean"] > shoppers["random"]["score"]["mean"]
    assert "score" in result.stdout
    if importlib.util.find_spec("PIL"):
        phone = json.loads((out / "phone" / "baselines.json").read_text())
        assert phone["oracle"]["success"]["rate"] == 1
    else:
        assert "pip install 'eapo-gym[gui]'" in result.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_demo_trains_what_it_then_lets_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("torch", "transformers", "peft", "matplotlib", "yaml"):
        pytest.importorskip(package, reason="the demo trains with the extra train")
    from eapo_gym.cli.demo import demo
    from eapo_gym.cli.learning import STAGES, Size, learn

    size = Size(games=60, rollbacks=2, updates=2, steps=1, tasks=1, members=2)
    demo(2, tmp_path, seed=0, open_report=False, size=size)
    shown = capsys.readouterr().out
    assert all(stage in shown for stage in STAGES)
    runs = [load_run(tmp_path / stage.replace(" ", "-")) for stage in STAGES]
    assert [len(run.episodes) for run in runs] == [4, 4, 4], "two games, each twice"
    assert len({run.stamp["config"]["model"] for run in runs}) == 3
    assert (tmp_path / "training.html").is_file()
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(stage.replace(" ", "-") in report for stage in STAGES)
    begun = (tmp_path / "learning" / "eapo" / "config.json").stat().st_mtime_ns
    learn(tmp_path / "learning", 0, size)
    assert (tmp_path / "learning" / "eapo" / "config.json").stat().st_mtime_ns == begun, "taken up, not begun again"
