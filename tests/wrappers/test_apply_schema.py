"""The usual stacks, as a whole: what they are made of, that Gymnasium accepts them, and that they run in numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import CustomSpaceError
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from eapo_gym.errors import UnknownName
from eapo_gym.wrappers import ExploreMemory, FormatReward, Rollback, SetOfMarks, VisitationDepth, apply_schema
from tests.toys import Corridor
from tests.toys_gui import Pages
from tests.wrappers.stacks import CORRIDOR, PAGES, corridor, pages, say


def names(env: Any) -> list[str]:
    found = []
    while isinstance(env, gym.Wrapper):
        found.append(type(env).__name__)
        env = env.env
    return found


@pytest.mark.parametrize(
    ("schema", "rollback", "expected"),
    [
        ("explore", "inverse", ["VisitationDepth", "ExploreMemory", "Rollback"]),
        ("explore", None, ["VisitationDepth", "ExploreMemory"]),
        ("native", "restore", ["Rollback"]),
        ("native", None, []),
    ],
)
def test_what_a_schema_is_made_of(schema: Any, rollback: Any, expected: list[str]) -> None:
    env = apply_schema(Corridor(), schema, rollback)
    assert names(env) == expected
    env.reset(seed=0)
    if rollback is not None:
        assert env.step("look")[4]["rollback_mode"] == rollback


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"Unknown schema 'explor'.*Did you mean 'explore'"):
        apply_schema(Corridor(), "explor", None)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="Unknown rollback mode 'undo'"):
        apply_schema(Corridor(), "native", "undo")  # type: ignore[arg-type]


STACKS: dict[str, Callable[..., Any]] = {
    "rollback": lambda **kw: Rollback(Corridor(**kw)),
    "restore": lambda **kw: Rollback(Corridor(**kw), "restore"),
    "depth": lambda **kw: VisitationDepth(Corridor(**kw)),
    "depth of rollback": lambda **kw: VisitationDepth(Rollback(Corridor(**kw))),
    "explore": lambda **kw: ExploreMemory(Corridor(**kw), max_text=100),
    "reward": lambda **kw: FormatReward(ExploreMemory(Corridor(**kw))),
    "reward inside": lambda **kw: VisitationDepth(FormatReward(ExploreMemory(Rollback(Corridor(**kw))))),
    "usual": corridor,
    "marks": lambda **kw: SetOfMarks(Pages(**kw)),
    "marks outside": lambda **kw: SetOfMarks(FormatReward(apply_schema(Pages(**kw), "explore", "restore"))),
    "everything": pages,
}


@pytest.mark.parametrize("name", STACKS)
def test_gymnasium_accepts_every_combination(name: str) -> None:
    spec = gym.envs.registration.EnvSpec("eapo-test/Stack-v0", entry_point=STACKS[name])
    env = gym.make(spec, render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # That there are wrappers, and that a text has no frames per second, is known.
        warnings.filterwarnings("ignore", ".*different from the unwrapped version.*")
        warnings.filterwarnings("ignore", ".*No render fps.*")
        check_env(env)
    env.reset(seed=0)
    assert isinstance(env.render(), str)


@pytest.mark.parametrize("id_", [CORRIDOR, PAGES])
def test_the_spec_shows_the_wrappers_and_makes_them_again(id_: str) -> None:
    env = gym.make(id_, rollback="restore")
    assert env.spec is not None
    inner = [wrapper.name for wrapper in env.spec.additional_wrappers]
    assert inner == names(env)[:2:-1]
    assert env.spec.additional_wrappers[inner.index("Rollback")].kwargs == {"mode": "restore"}

    twin = gym.make(env.spec)
    assert names(twin) == names(env)
    assert data_equivalence(twin.reset(seed=4), env.reset(seed=4))
    assert data_equivalence(twin.step("rollback"), env.step("rollback"))


def test_wrappers_that_a_user_put_around_are_made_again_too() -> None:
    env = ExploreMemory(gym.make(CORRIDOR, schema="native", rollback=None), max_text=123)
    env = FormatReward(env, weight=0.125)  # type: ignore[assignment]
    assert env.spec is not None
    twin = gym.make(env.spec)
    assert names(twin) == names(env)
    assert twin.observation_space["memory"].max_length == 123  # type: ignore[index]
    twin.reset(seed=0)
    assert twin.step(say("look"))[1] == 0.125


RESPONSES = [
    (say("right", memory="r"), say("look"), "garbage"),
    (say("rollback", memory=None), say("right"), say("take key")),
    ("rollback", say("rollback"), "light lamp"),
    (say("fly"), say("left", explore="</memory>"), say("rollback")),
] * 4


def play_vector(env: gym.vector.VectorEnv[Any, Any, Any]) -> list[Any]:
    try:
        return [env.reset(seed=[1, 2, 3]), *(env.step(responses) for responses in RESPONSES)]
    finally:
        env.close()


def makers() -> list[Callable[[], Any]]:
    return [lambda: gym.make(CORRIDOR, rollback="inverse")] * 3


def test_sync_and_async_vectors_give_what_the_environments_alone_give() -> None:
    alone = [make() for make in makers()]
    for seed, env in enumerate(alone, start=1):
        env.reset(seed=seed)
    expected = [[env.step(response) for env, response in zip(alone, row, strict=True)] for row in RESPONSES[:11]]

    in_step = play_vector(SyncVectorEnv(makers()))
    in_processes = play_vector(AsyncVectorEnv(makers(), shared_memory=False))

    assert data_equivalence(in_step, in_processes, exact=True)
    for (obs, rewards, terminated, truncated, infos), steps in zip(in_step[1:], expected, strict=False):
        for i, step in enumerate(steps):
            assert {key: value[i] for key, value in obs.items()} == step[0]
            assert (rewards[i], terminated[i], truncated[i]) == step[1:4]
            assert infos["turn"][i] == step[4]["turn"]
            assert infos["visits"][i] == step[4]["visits"]
            if "rollback" in step[4]:
                assert infos["rollback"]["held"][i] == step[4]["rollback"]["held"]
    assert any(truncated.any() for _, _, _, truncated, _ in in_step[1:]), "an episode ended and another one began"


def test_make_vec_works_with_the_one_setting_that_text_needs() -> None:
    env = gym.make_vec(CORRIDOR, 2, "async", vector_kwargs={"shared_memory": False})
    obs, _ = env.reset(seed=0)
    assert all(isinstance(text, str) for text in obs["memory"])
    env.close()


def test_text_in_shared_memory_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match="shared_memory") as error:
        AsyncVectorEnv(makers())
    assert isinstance(error.value.__cause__, CustomSpaceError)
    assert "vector_kwargs={'shared_memory': False}" in str(error.value.__cause__)


def test_gui_stacks_run_in_numbers_too() -> None:
    env = SyncVectorEnv([lambda: gym.make(PAGES)] * 2)
    obs, _ = env.reset(seed=0)
    assert obs["marked"].shape == (2, 120, 160, 3)
    obs, _, _, _, infos = env.step(("rollback", '{"action_type": "click", "index": 0}'))
    assert obs["marked"].dtype == np.uint8
    assert list(infos["action"]) == ["rollback", '{"action_type": "click", "index": 0}']
    env.close()
