from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import CustomSpaceError
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, create_shared_memory, iterate
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.schema import AnyText, Observation, Turn, observation_space


class TestAnyText:
    @given(st.text(st.characters(exclude_categories=()), max_size=20))
    def test_contains_any_text_up_to_its_length(self, text: str) -> None:
        assert (text in AnyText(10)) == (len(text) <= 10)

    @pytest.mark.parametrize("thing", [None, 3, b"text", ["text"], np.str_])
    def test_contains_nothing_else(self, thing: Any) -> None:
        assert thing not in AnyText()

    def test_samples_are_contained_and_follow_from_the_seed(self) -> None:
        for space in (AnyText(5), AnyText(), AnyText(examples=["left", "right"])):
            space.seed(7)
            first = [space.sample() for _ in range(50)]
            space.seed(7)
            assert [space.sample() for _ in range(50)] == first
            assert all(sample in space for sample in first)
            assert len(set(first)) > 1
            assert all(sample.encode() is not None for sample in first)

    def test_samples_are_examples_where_there_are_some(self) -> None:
        space = AnyText(examples=["left", "right"], seed=0)
        assert {space.sample() for _ in range(50)} == {"left", "right"}

    def test_no_masks(self) -> None:
        with pytest.raises(ValueError, match="no mask"):
            AnyText().sample(mask=(1, None))

    @pytest.mark.parametrize(("arguments", "message"), [((0, ()), "max_length"), ((3, ("four",)), "examples")])
    def test_what_cannot_be_a_space(self, arguments: tuple[int, tuple[str, ...]], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            AnyText(arguments[0], examples=arguments[1])

    def test_equality_copies_and_pickles(self) -> None:
        space = AnyText(9, examples=["a"])
        for twin in (copy.deepcopy(space), pickle.loads(pickle.dumps(space)), AnyText(9, examples=("a",))):
            assert twin == space
            assert hash(twin) == hash(space)
        assert space != AnyText(9)
        assert space != AnyText(8, examples=["a"])
        assert AnyText(9) != spaces.Text(9)

    def test_batches_are_tuples_of_str(self) -> None:
        space = AnyText(5)
        batched = batch_space(space, 2)
        assert ("a", "é") in batched
        assert list(iterate(batched, ("a", "é"))) == ["a", "é"]
        assert concatenate(space, ("a", "é"), create_empty_array(space, 2)) == ("a", "é")

    def test_shared_memory_is_refused_with_the_way_out(self) -> None:
        with pytest.raises(CustomSpaceError, match="'shared_memory': False"):
            create_shared_memory(AnyText(), 2)
        with pytest.raises(CustomSpaceError, match="'shared_memory': False"):
            create_shared_memory(observation_space(), 2)


class TestObservation:
    def test_text_environments_show_goal_and_state(self) -> None:
        assert set(observation_space().spaces) == {"goal", "state"}

    def test_gui_environments_show_more(self) -> None:
        space = observation_space(max_text=10, screenshot=(4, 6), elements=True)
        screenshot = np.zeros((4, 6, 3), np.uint8)
        assert {"goal": "", "state": "", "elements": "", "screenshot": screenshot} in space
        assert {"goal": "x" * 11, "state": "", "elements": "", "screenshot": screenshot} not in space

    def test_from_an_observation_with_and_without_wrappers(self) -> None:
        assert Observation.from_dict({"goal": "g", "state": "s"}) == Observation("g", "s")
        wrapped = {"goal": "g", "state": "s", "explore": "e", "memory": "m", "something_else": 1}
        assert Observation.from_dict(wrapped) == Observation("g", "s", "e", "m")
        with pytest.raises(TypeError, match="goal"):
            Observation.from_dict({"state": "s"})


def test_a_turn_travels_between_processes() -> None:
    turn = Turn("t", "e", "m", "a", True, ("p",))
    assert pickle.loads(pickle.dumps(turn)) == turn
