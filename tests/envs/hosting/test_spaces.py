"""A space that went to another process and back is the same space."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence

from eapo_gym.envs.hosting import codec
from eapo_gym.envs.hosting.spaces import space_from
from eapo_gym.envs.hosting.tenant import HostingError as TenantError
from eapo_gym.envs.hosting.tenant import space_data
from eapo_gym.errors import HostingError
from eapo_gym.schema import AnyText, observation_space

SPACES = [
    observation_space(),
    observation_space(max_text=99, screenshot=(3, 4), elements=True),
    AnyText(7, examples=["go", "look"]),
    spaces.Box(0, 255, (2, 3), np.uint8),
    spaces.Box(-np.inf, np.inf, (), np.float64),
    spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([1.0, np.inf], np.float32)),
    spaces.Box(0, 1, (0, 3)),
    spaces.Discrete(5, start=-2),
    spaces.MultiDiscrete([[2, 3], [4, 5]], start=[[1, 1], [0, 0]]),
    spaces.MultiDiscrete([2, 3], dtype=np.int32),
    spaces.MultiBinary(3),
    spaces.MultiBinary([2, 2]),
    spaces.Text(5, min_length=2, charset="zyx"),
    spaces.Tuple([spaces.Discrete(2), spaces.Tuple([])]),
    spaces.Dict({"b": spaces.Discrete(2), "a": spaces.Dict({"c": AnyText()})}),
    spaces.Sequence(spaces.Discrete(3)),
    spaces.Sequence(spaces.Box(0, 1, (2,)), stack=True),
]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_a_space_arrives_equal_and_draws_the_same(space):
    body = codec.encode(space_data(space))
    assert len(body) < 1000, "bounds that are all equal travel as one number"
    back = space_from(codec.decode(body))
    assert type(back) is type(space)
    assert back == space
    assert back.dtype == space.dtype
    space.seed(3)
    back.seed(3)
    for _ in range(3):
        sample = back.sample()
        assert space.contains(sample)
        assert data_equivalence(sample, space.sample(), exact=True)


def test_an_environment_without_gymnasium_may_state_its_spaces_as_data():
    stated = {"space": "Dict", "spaces": {"goal": {"space": "AnyText"}, "n": {"space": "Discrete", "n": 3}}}
    assert space_from(space_data(stated)) == spaces.Dict({"goal": AnyText(), "n": spaces.Discrete(3)})


def test_a_space_that_cannot_travel_is_named():
    with pytest.raises(TenantError, match="A space of type Graph cannot be hosted: expected one of Dict, Tuple"):
        space_data(spaces.Graph(spaces.Discrete(2), None))
    with pytest.raises(TenantError, match="A space of type str cannot be hosted"):
        space_data("anything goes")


def test_data_that_describe_no_space_are_named():
    with pytest.raises(HostingError, match=r"space: expected one of Dict, Tuple, .*, got 'Sphere'"):
        space_from({"space": "Sphere"})
    with pytest.raises(HostingError, match=r"does not describe a Box \(KeyError: 'low'\)"):
        space_from({"space": "Box"})
