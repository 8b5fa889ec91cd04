from __future__ import annotations

from typing import Any

import pytest
from gymnasium import wrappers as gym_wrappers

from eapo_gym.envs.base import Info
from eapo_gym.visitation import exploration_degree
from eapo_gym.wrappers import ExploreMemory, Rollback, VisitationDepth
from tests.toys import Corridor
from tests.wrappers.stacks import corridor, say


class Liar(Corridor):
    """Says something else under the name that Rollback uses."""

    def _info(self) -> Info:
        return {**super()._info(), "fingerprint": "always the same"}


class Counting(Corridor):
    asked = 0

    def fingerprint(self) -> str:
        self.asked += 1
        return super().fingerprint()


def walk(env: Any, actions: list[str]) -> list[Info]:
    infos = [env.reset(seed=0, options={"task": "train/key-in-2"})[1]]
    return infos + [env.step(action)[4] for action in actions]


@pytest.mark.parametrize("make", [Corridor, Liar])
@pytest.mark.parametrize("rollback", [True, False])
def test_visits_of_the_state_now_reached(make: type[Corridor], rollback: bool) -> None:
    env = VisitationDepth(Rollback(make()) if rollback else make())
    infos = walk(env, ["right", "left", "left", "right", "light lamp"])
    assert [info["visits"] for info in infos] == [0, 0, 1, 2, 1, 0]
    assert infos[-1]["fingerprint"] == env.fingerprint()
    walked = [info["fingerprint"] for info in infos]
    assert len(set(walked)) == 3
    assert infos[-1]["exploration_degree"] == exploration_degree(walked) == 2 / 3
    assert infos[-1]["exploration_degree_no_self_loops"] == exploration_degree(walked, self_loops=False) == 2 / 3


def test_self_loops_count_only_in_one_of_the_degrees() -> None:
    infos = walk(VisitationDepth(Corridor()), ["look", "look"])
    assert [info["visits"] for info in infos] == [0, 1, 2]
    assert infos[-1]["exploration_degree"] == 1.0
    assert infos[-1]["exploration_degree_no_self_loops"] == 0.0


@pytest.mark.parametrize("rollback", ["inverse", "restore", None])
def test_a_response_with_nothing_to_execute_is_a_visit(rollback: Any) -> None:
    env = corridor("explore", rollback)
    infos = walk(env, [say("right"), "garbage", say("fly"), say("left")])
    assert [info["visits"] for info in infos] == [0, 0, 1, 2, 1]
    assert infos[2]["fingerprint"] == infos[1]["fingerprint"]


def test_a_rollback_is_a_visit_too() -> None:
    infos = walk(corridor("explore", "inverse"), [say("right"), say("rollback"), say("rollback"), say("right")])
    assert [info["visits"] for info in infos] == [0, 0, 1, 2, 1]


def test_a_new_episode_starts_from_nothing() -> None:
    env = VisitationDepth(Corridor())
    walk(env, ["look"])
    assert [info["visits"] for info in walk(env, ["look"])] == [0, 1]


def test_a_state_that_somebody_else_changed_is_seen_for_what_it_is() -> None:
    """Nothing of what was known before a step is taken for what holds after it."""
    env = corridor("explore", "inverse")
    walk(env, [say("right")])
    env.unwrapped._at = 3  # type: ignore[attr-defined]
    for response in ("garbage", say("look")):
        info = env.step(response)[4]
        assert info["fingerprint"] == env.unwrapped.fingerprint()  # type: ignore[attr-defined]


def test_the_fingerprint_is_taken_once_per_step() -> None:
    bare = Counting()
    env = VisitationDepth(gym_wrappers.OrderEnforcing(ExploreMemory(Rollback(bare))))
    walk(env, [say("right"), say("left"), say("look")])
    assert bare.asked == 4


def test_observations_are_not_touched() -> None:
    env, bare = VisitationDepth(Corridor()), Corridor()
    assert env.reset(seed=1)[0] == bare.reset(seed=1)[0]
    assert env.step("right")[:4] == bare.step("right")[:4]
