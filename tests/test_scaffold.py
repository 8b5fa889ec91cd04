"""`new_env` writes an environment that passes its own test, the checker and the linter, and overwrites nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eapo_gym.envs.checker import check_agent_env
from eapo_gym.errors import EapoError
from eapo_gym.scaffold import AlreadyThere, BadName, new_env
from eapo_gym.templates.my_env import MyEnv

ROOT = Path(__file__).parents[1]


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, timeout=120)


def test_what_it_writes_passes_its_own_test_and_the_linter(tmp_path: Path) -> None:
    paths = new_env("tea-shop", tmp_path / "made" / "here")
    assert [path.name for path in paths] == ["tea_shop.py", "test_tea_shop.py", "tea_shop.md"]
    assert all(path.is_file() for path in paths)
    folder = paths[0].parent
    tested = run("pytest", "-q", "-p", "no:cacheprovider", "-W", "error", cwd=folder)
    assert tested.returncode == 0, tested.stdout
    assert "12 passed" in tested.stdout
    for command in (("check",), ("format", "--check")):
        config = ("--no-cache", "--config", str(ROOT / "pyproject.toml"))
        linted = run("ruff", *command, *config, ".", cwd=folder)
        assert linted.returncode == 0, linted.stdout


def test_it_leaves_nothing_of_the_template_behind(tmp_path: Path) -> None:
    for path in new_env("TeaShop", tmp_path):
        text = path.read_text(encoding="utf-8")
        assert "my_env" not in text
        assert "MyEnv" not in text
        assert "TeaShop" in text


def test_the_template_keeps_the_contract_where_it_stands() -> None:
    report = check_agent_env(MyEnv(render_mode="ansi"), make=MyEnv, make_kwargs={"render_mode": "ansi"})
    assert [o.name for o in report.outcomes if o.status == "skipped"] == ["wrappers"]


@pytest.mark.parametrize(
    ("name", "module", "class_name"),
    [
        ("tea_shop", "tea_shop", "TeaShop"),
        ("Tea Shop", "tea_shop", "TeaShop"),
        ("TeaShop2", "tea_shop_2", "TeaShop2"),
        ("GUIEnv", "gui_env", "GUIEnv"),
        ("change", "change", "Change"),
        ("MyEnv", "my_env", "MyEnv"),
    ],
)
def test_a_name_may_be_written_in_any_style(tmp_path: Path, name: str, module: str, class_name: str) -> None:
    path = new_env(name, tmp_path)[0]
    assert path.name == f"{module}.py"
    assert f"\nclass {class_name}(AgentEnv):\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["", "2048", "tea/shop", "../shop", "shop.py", "tea--shop", "Ünion", "a" * 41, "shop\n", "my env!"]
)
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadName, match="expected letters and digits"):
        new_env(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["json", "class", "gymnasium", "AgentEnv", "action-error", "state", "KeyError", "lambda"]
)
def test_a_name_that_means_something_else_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadName, match="has a meaning in Python or in eapo-gym already: try"):
        new_env(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["tea_shop.py", "test_tea_shop.py", "tea_shop.md"])
def test_it_never_overwrites(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(AlreadyThere, match="is there already: choose another name or folder") as raised:
        new_env("tea_shop", tmp_path)
    assert isinstance(raised.value, EapoError)
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"
