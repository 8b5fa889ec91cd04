from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import TimeLimit

import eapo_gym
from eapo_gym.bench.evaluate import Evaluation
from eapo_gym.bench.setting import (
    DEFAULT_STEPS,
    NothingToPlay,
    describe_env,
    find_layer,
    open_env,
    select_tasks,
    versions,
    without_secrets,
)
from eapo_gym.engines.base import Override, Sampling
from eapo_gym.errors import ContractError, UnknownName
from eapo_gym.wrappers import ExploreMemory, Rollback
from tests.toys import Corridor

ALFWORLD = "eapo/ALFWorld-v0"


@pytest.mark.parametrize("target", [ALFWORLD, "eapo_gym.envs.alfworld.env:ALFWorldEnv"])
def test_ids_and_addresses_give_the_same_stack(target: str) -> None:
    env = open_env(target, {"split": "valid"}, rollback="inverse", max_steps=7)
    assert find_layer(env, ExploreMemory) is not None
    described = describe_env(env, "x")
    assert (described["step_limit"], described["rollback_mode"]) == (7, "inverse")
    assert (described["source"], described["split"], described["engine"]) == ("embedded", "valid", "native")
    without = open_env(target, {"split": "valid"}, rollback=None, max_steps=None)
    assert find_layer(without, Rollback) is None
    assert describe_env(without, "x")["step_limit"] == 100 == DEFAULT_STEPS


def test_an_environment_that_brings_its_own_stack_keeps_it() -> None:
    env = open_env(f"{__name__}:wrapped", {}, rollback="inverse", max_steps=50)
    layers = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        layers.append(type(layer).__name__)
        layer = layer.env
    assert layers == ["TimeLimit", "VisitationDepth", "ExploreMemory"]
    assert describe_env(env, "x")["step_limit"] == 9


def wrapped() -> Any:
    from eapo_gym.wrappers import apply_schema

    return TimeLimit(apply_schema(Corridor(), "explore", None), 9)


class Lit(Corridor):
    def __init__(self, lamps: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)


def fitted(**kwargs: Any) -> Any:
    return Lit(**kwargs)


@pytest.mark.parametrize(
    ("target", "argument", "others"),
    [
        (ALFWORLD, "game", {"engine", "split", "games", "difficulty", "rooms"}),
        ("tests.toys:Corridor", "room", {"rooms", "split"}),
        (f"{__name__}:fitted", "lamb", {"lamps", "rooms", "split"}),
    ],
)
def test_an_argument_that_there_is_not_is_told_with_those_that_there_are(
    target: str, argument: str, others: set[str]
) -> None:
    with pytest.raises(UnknownName) as found:
        open_env(target, {"split": "train", argument: 1}, rollback="inverse", max_steps=5)
    said = str(found.value)
    assert said.startswith(f"Unknown argument of {target} {argument!r}: expected one of ")
    assert all(repr(name) in said for name in others)
    assert said.endswith(f"Did you mean {next(name for name in sorted(others) if name[:3] == argument[:3])!r}?")
    assert "schema" not in said


def confused(rooms: int = 3) -> Any:
    return Corridor(romms=rooms)  # type: ignore[call-arg]


def test_what_else_is_wrong_is_told_once() -> None:
    with pytest.raises(ContractError, match=r"could not be made with \{'rooms': 3\}: .* argument 'romms'"):
        open_env(f"{__name__}:confused", {"rooms": 3}, rollback=None, max_steps=5)
    with pytest.raises(ContractError) as found:
        open_env(ALFWORLD, {"task_types": 5}, rollback=None, max_steps=5)
    assert str(found.value).count("task_types") == 1


def test_the_catalogue_tells_which_tasks_they_are() -> None:
    def catalogue(**kwargs: Any) -> str:
        return str(describe_env(open_env(ALFWORLD, kwargs, rollback=None, max_steps=5), "x")["catalogue"])

    assert catalogue(split="valid") == catalogue(split="valid")
    others = {catalogue(split="valid"), catalogue(split="train"), catalogue(split="valid", games=3)}
    assert len(others) == 3


def test_secrets_are_left_out_and_nothing_else() -> None:
    config = Evaluation(
        env="x",
        engine_options={"api_key": "s3", "nested": {"password": "s3", "hf_token": "s3"}, "urls": ["http://a:s3@h/v1"]},
        sampling=Sampling(max_tokens=5, override=Override(key="task")),
    )
    kept = without_secrets(config)
    assert "s3" not in str(kept)
    assert kept["sampling"]["max_tokens"] == 5
    assert kept["sampling"]["override"]["key"] == "task"
    assert kept["engine_options"]["urls"] == ["http://h/v1"]
    assert without_secrets({"api_key": None}) == {"api_key": None}


@pytest.mark.parametrize(
    "name", ["cookie", "Set-Cookie", "openai_key", "credentials", "bearer", "api_key_2", "apiKey", "auth", "hf_token"]
)
def test_secrets_have_many_names(name: str) -> None:
    assert "s3" not in str(without_secrets({name: "s3", "nested": [{name: ["s3"]}]}))
    kept = f"https://h/v1?{name}=(not kept)&model=m"
    assert without_secrets({"url": f"https://h/v1?{name}=s3&model=m"}) == {"url": kept}


def test_what_is_no_secret_is_kept() -> None:
    options = {"key": "task", "max_tokens": 5, "author": "x", "compact": True, "url": "http://h/v1?model=m#key=x"}
    assert without_secrets(options) == options


def test_versions_name_what_is_installed() -> None:
    found = versions()
    assert found["eapo_gym"] == eapo_gym.__version__
    assert found["gymnasium"] == gym.__version__


def test_tasks_are_selected_evenly() -> None:
    tasks = [f"t{i}" for i in range(10)]
    assert select_tasks(tasks, None, None) == tasks
    assert select_tasks(tasks, None, 3) == ["t0", "t3", "t6"]
    assert select_tasks(tasks, ("t5", "t5", "t1"), None) == ["t5", "t1"]
    with pytest.raises(UnknownName, match=r"Unknown task 'nope': expected one of 't0', .* \(10 in all\)"):
        select_tasks(tasks, ("t1", "nope"), None)
    with pytest.raises(ContractError, match="'t3' more than once"):
        select_tasks([*tasks, "t3"], None, None)
    for wanted, most in (((), None), (None, 0)):
        with pytest.raises(NothingToPlay):
            select_tasks(tasks, wanted, most)
