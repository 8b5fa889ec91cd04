from __future__ import annotations

import pytest

from eapo_gym.errors import ContractError
from eapo_gym.wrappers import FormatReward, Rollback
from tests.toys import Corridor
from tests.wrappers.stacks import corridor, say

WAY_TO_SUCCESS = ("take key", "right", "right", "right", "unlock door")


def test_well_formed_responses_earn_the_weight() -> None:
    env = FormatReward(corridor(), weight=0.25)
    env.reset(options={"task": "train/key-in-0"})
    rewards = [env.step(response)[1] for response in (say("look"), "look", "garbage", say("fly"))]
    assert rewards == [0.25, 0.0, 0.0, 0.0]


def test_what_the_environment_gave_is_kept() -> None:
    env = FormatReward(corridor())
    env.reset(options={"task": "train/key-in-0"})
    for action in WAY_TO_SUCCESS:
        _, reward, terminated, _, info = env.step(say(action))
    assert terminated
    assert (reward, info["task_reward"], info["format_reward"]) == (1.5, 1.0, 0.5)
    env.reset(options={"task": "train/key-in-0"})
    for action in WAY_TO_SUCCESS:
        _, reward, _, _, info = env.step(action)
    assert (reward, info["task_reward"], info["format_reward"]) == (1.0, 1.0, 0.0)


def test_without_responses_there_is_no_form_to_judge() -> None:
    with pytest.raises(ContractError, match=r"expected FormatReward\(ExploreMemory\(env\)\)"):
        FormatReward(Rollback(Corridor()))
