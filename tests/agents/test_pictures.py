"""Pictures: scaled for a model, and packed for the trainer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.agents.base import Response, as_response
from eapo_gym.agents.pictures import PackedImages, digest, digests, scaled
from eapo_gym.agents.prompts import EAPO, PromptBuilder
from eapo_gym.engines.base import Unsupported
from eapo_gym.errors import UnknownName
from eapo_gym.schema import Observation
from tests.agents.scripted import ScriptedEngine

pytest.importorskip("PIL", reason="needs Pillow (pip install 'eapo-gym[gui]')")

SCREEN, MARKED = (np.full((240, 108, 3), shade, np.uint8) for shade in (10, 20))
SEEN = Observation("Save.", "In front: Notes", screenshot=SCREEN, marked=MARKED, elements="0: Button Save")


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 50_000))
def test_a_picture_has_at_most_so_many_pixels_and_its_own_proportions(height: int, width: int, most: int) -> None:
    picture = noise(height, width)
    small = scaled(picture, most)
    new_height, new_width = small.shape[:2]
    assert small.dtype == np.uint8
    assert new_height * new_width <= most
    if height * width <= most:
        assert small is picture
    elif new_height > 1 and new_width > 1:
        scale = (most / (height * width)) ** 0.5
        assert abs(new_height - height * scale) <= 1
        assert abs(new_width - width * scale) <= 1


def test_a_scaled_picture_is_scaled_no_further() -> None:
    """A prompt that is built again from the pictures of the first one has the very same."""
    small = scaled(noise(2400, 1080), 600_000)
    assert scaled(small, 600_000) is small


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=3))
def test_packed_pictures_come_back_without_loss(sizes: list[tuple[int, int]]) -> None:
    pictures = [noise(*size, seed=i) for i, size in enumerate(sizes)]
    packed = PackedImages(pictures)
    assert len(packed) == len(pictures)
    assert all(np.array_equal(*pair) for pair in zip(packed, pictures, strict=True))
    assert digests(packed) == digests(pictures)


def test_pictures_of_another_shape_are_others() -> None:
    assert digest(noise(4, 6)) == digest(noise(4, 6))
    assert digest(noise(4, 6)) != digest(noise(4, 6).reshape(6, 4, 3))


def test_even_areas_take_a_fraction_of_their_memory() -> None:
    assert PackedImages([SCREEN]).bytes < SCREEN.nbytes / 50


def test_a_response_may_have_packed_pictures() -> None:
    packed = PackedImages([SCREEN])
    assert as_response(Response("x", images=packed, calls=True)).images is packed


@pytest.mark.parametrize(
    ("images", "shown", "lists_elements"),
    [("all", [10, 20], False), ("marked", [20], False), ("screenshot", [10], True)],
)
def test_which_pictures_are_shown_is_a_choice(images: str, shown: list[int], lists_elements: bool) -> None:
    build = PromptBuilder(ScriptedEngine(images=True), EAPO, images=images, image_pixels=8000)
    prompt = build(SEEN)
    assert [int(image[0, 0, 0]) for image in prompt.images] == shown
    assert all(image.shape == (133, 60, 3) for image in prompt.images)
    assert ("0: Button Save" in prompt.messages[-1].text) == lists_elements


def test_pictures_that_are_not_there_cannot_be_chosen() -> None:
    build = PromptBuilder(ScriptedEngine(images=True), EAPO, images="marked")
    with pytest.raises(Unsupported, match=r"shows only screenshot: choose those, or give it marks"):
        build(replace(SEEN, marked=None))
    assert build(replace(SEEN, marked=None, screenshot=None)).images == ()


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'marked'"):
        PromptBuilder(ScriptedEngine(), EAPO, images="marks")  # type: ignore[arg-type]
    for wrong in (0, True, "many"):
        with pytest.raises(ValueError, match="image_pixels: expected 4,096 or more"):
            PromptBuilder(ScriptedEngine(), EAPO, image_pixels=wrong)  # type: ignore[arg-type]
