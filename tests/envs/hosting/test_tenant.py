"""The tenant under other interpreters, with environments that know nothing of eapo_gym."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from eapo_gym.envs.hosting import HostedEnv, codec, tenant
from eapo_gym.errors import ContractError, HostingError
from eapo_gym.schema import AnyText, observation_space

HERE = Path(__file__).parent
BARE = f"{HERE / 'bare.py'}:Bare"


@pytest.fixture(scope="module")
def empty_venv(tmp_path_factory):
    """An interpreter with nothing installed: not eapo_gym, not Gymnasium, not NumPy, not even pip."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


def test_an_environment_in_an_empty_interpreter(empty_venv, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE.parents[2]))  # the host's, of no concern to another interpreter
    with HostedEnv(BARE, {"start": 5000}, python=empty_venv) as env:
        assert env.tenant["numpy"] is None
        assert env.tenant["eapo_gym"] is None
        assert {"numpy", "gymnasium", "eapo_gym"}.isdisjoint(env.call("modules"))
        assert env.observation_space == observation_space()
        assert env.action_space == AnyText()
        assert (env.source, env.split) == ("official", "test")
        obs, info = env.reset(seed=3)
        assert env.observation_space.contains(obs)
        assert env.task == info["task"] == "count"
        again, _ = env.reset(seed=3)
        assert again == obs
        state = env.snapshot()
        env.step("count")
        restored, _ = env.restore(state)
        assert restored == obs
        # What it lacks has a meaning.
        assert env.inverse("count") == []
        assert env.valid_actions() is None


def test_the_folder_of_the_tenant_is_not_on_the_childs_path(empty_venv):
    with HostedEnv(BARE, python=empty_venv, path=[HERE]) as env:
        found = env.call("search_path")
        assert str(Path(tenant.__file__).parent) not in found
        assert found[0] == str(HERE)


def test_no_file_beside_the_tenant_has_the_name_of_a_standard_module():
    # Until its main function runs, the tenant's folder is the first that Python searches.
    names = {file.stem for file in Path(tenant.__file__).parent.glob("*.py")}
    assert names.isdisjoint(sys.stdlib_module_names)


@pytest.mark.parametrize("module", [codec, tenant])
def test_the_tenants_files_are_python_3_8_and_import_nothing_but_the_standard_library(module):
    tree = ast.parse(Path(module.__file__).read_text(), feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
    }
    # NumPy where there is an array; eapo_gym where the tenant is imported by the package and not run by a child.
    assert imported - sys.stdlib_module_names <= {"numpy", "eapo_gym"}


def test_a_target_that_is_missing_or_fails_says_so_at_once():
    for target, kind, message in [
        ("no_such_module:Env", ModuleNotFoundError, "no_such_module"),
        ("/no/such/file.py:Env", FileNotFoundError, "/no/such/file.py"),
        (f"{HERE / 'bare.py'}:Nobody", AttributeError, "Nobody"),
        (f"{HERE / 'bare.py'}:broken", FileNotFoundError, "the games are not here"),
        ("just_a_module", HostingError, "expected 'module:Class' or '/folder/file.py:Class', got 'just_a_module'"),
    ]:
        with pytest.raises(kind, match=message):
            HostedEnv(target)


def test_unknown_arguments_of_the_target_are_its_own_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        HostedEnv(BARE, {"colour": "red"})


def test_what_breaks_the_contract_is_named():
    with HostedEnv(f"{HERE / 'bare.py'}:not_an_environment") as env:
        with pytest.raises(ContractError, match="hosted object has no method 'reset'"):
            env.reset()
        with pytest.raises(ContractError, match="has no method '__reduce__'"):
            env.call("__reduce__")


def test_results_of_a_wrong_shape_are_named(tmp_path):
    file = tmp_path / "old.py"
    file.write_text(
        "class Old:\n"
        "    def reset(self, seed=None, options=None):\n        return 'obs' if options is None else ('obs', None)\n"
        "    def step(self, action):\n        return 'obs', 0.0, False, {}\n"
    )
    with HostedEnv(f"{file}:Old") as env:
        with pytest.raises(ContractError, match=r"reset of the hosted Old: expected \(observation, info\), got a str"):
            env.reset()
        with pytest.raises(ContractError, match="expected a dict as info, got a NoneType"):
            env.reset(options={})
        with pytest.raises(ContractError, match=r"expected \(observation, reward, .*\), got 4 values"):
            env.step("x")
