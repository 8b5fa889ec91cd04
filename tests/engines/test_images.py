"""Images become the pixels and the tokens that the models' own processors make of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.engines.base import EngineError, Message, Prompt, Unsupported
from eapo_gym.engines.images import ImageReader
from tests.engines.tiny_models import tiny_model

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

EVERY_MODEL = pytest.mark.parametrize("architecture", ["qwen3-vl", "gemma3"])
DICE = np.random.default_rng(0)


@cache
def reader(architecture: str) -> ImageReader:
    return ImageReader(tiny_model(architecture))


def image(height: int = 64, width: int = 96) -> np.ndarray:
    return DICE.integers(0, 256, (height, width, 3), dtype=np.uint8)


def look(architecture: str, *images: np.ndarray, text: str = "What is it?") -> Prompt:
    return reader(architecture).chat.prompt([Message("system", "Look.\n"), Message("user", text, images)])


@EVERY_MODEL
def test_without_images_nothing_changes(architecture: str):
    prompt = look(architecture)
    seen = reader(architecture).read(prompt)
    assert seen.ids == prompt.ids
    assert not any(seen.is_image)
    assert seen.arrays == {}


@pytest.mark.parametrize("text", ["What?", "\nWhat?", "\n\nWhat?\n\n\n", " What?"])
@pytest.mark.parametrize("count", [1, 2])
def test_gemma_is_fed_what_its_processor_makes(text: str, count: int):
    ours = reader("gemma3")
    processor = transformers.AutoProcessor.from_pretrained(tiny_model("gemma3"))
    images = [image() for _ in range(count)]
    prompt = look("gemma3", *images, text=text)
    seen = ours.read(prompt)
    theirs = processor(
        text=[ours.chat.render(prompt.messages)], images=[images], add_special_tokens=False, return_tensors="np"
    )
    assert list(seen.ids) == theirs["input_ids"][0].tolist()
    assert list(seen.is_image) == theirs["token_type_ids"][0].astype(bool).tolist()
    np.testing.assert_array_equal(seen.arrays["pixel_values"], theirs["pixel_values"])


@settings(max_examples=25, deadline=None)
@given(sizes=st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=1, max_size=3))
def test_qwen_takes_a_token_for_every_patch_that_it_merges(sizes: list[tuple[int, int]]):
    sizes = [size for size in sizes if max(size) / min(size) <= 200] or [(1, 1)]
    prompt = look("qwen3-vl", *(image(*size) for size in sizes))
    ours = reader("qwen3-vl")
    seen = ours.read(prompt)
    # Those are what its processor asks, when it puts texts and images together.
    patches = [ours.processor.get_number_of_image_patches(*size) for size in sizes]
    assert sum(seen.is_image) == sum(count // 4 for count in patches)
    assert len(seen.arrays["pixel_values"]) == sum(patches)
    assert seen.arrays["image_grid_thw"].prod(axis=1).tolist() == patches
    token = ours.chat.image_id
    assert [id_ for id_ in seen.ids if id_ != token] == [id_ for id_ in prompt.ids if id_ != token]


@EVERY_MODEL
@pytest.mark.parametrize("size", [(1, 1), (28, 28), (56, 90), (1080, 1920)])
def test_an_image_takes_the_tokens_that_it_is_said_to(architecture: str, size: tuple[int, int]):
    ours, shown = reader(architecture), image(*size)
    prompt = look(architecture, shown)
    # One token stood for the image; a line break of Gemma's frame may be joined with one of the text.
    assert 0 <= ours.tokens(shown) - (len(ours.read(prompt).ids) - len(prompt.ids) + 1) <= 1


def test_an_image_that_is_refused_takes_no_number_of_tokens():
    with pytest.raises(EngineError, match=r"refuses an image: .*aspect ratio"):
        reader("qwen3-vl").tokens(image(1, 250))


@EVERY_MODEL
def test_the_model_takes_it_and_sees_the_difference(architecture: str):
    model = transformers.AutoModelForImageTextToText.from_pretrained(tiny_model(architecture)).eval()
    kinds = "mm_token_type_ids" if architecture == "qwen3-vl" else "token_type_ids"

    def last(shown: np.ndarray) -> np.ndarray:
        seen = reader(architecture).read(look(architecture, shown))
        arrays = {name: torch.from_numpy(array) for name, array in seen.arrays.items()}
        with torch.no_grad():
            out = model(input_ids=torch.tensor([seen.ids]), **{kinds: torch.tensor([seen.is_image]).long()}, **arrays)
        return out.logits[0, -1].numpy()

    black, white = (np.full((64, 64, 3), shade, np.uint8) for shade in (0, 255))
    assert np.isfinite(last(black)).all()
    assert np.abs(last(black) - last(white)).max() > 1e-4
    np.testing.assert_allclose(last(black), last(black.copy()))


@EVERY_MODEL
def test_the_first_axis_is_the_height(architecture: str):
    """Pictures as narrow as a colour has channels are not turned around."""
    seen = reader(architecture).read(look(architecture, image(3, 30)))
    assert all(np.isfinite(array).all() for array in seen.arrays.values())
    if architecture == "qwen3-vl":
        _, height, width = seen.arrays["image_grid_thw"][0]
        assert width > height


@EVERY_MODEL
@pytest.mark.parametrize(
    "wrong",
    [image().astype(np.float32), image()[..., :1], image()[0], image()[:0]],
    ids=["float", "grey", "2d", "empty"],
)
def test_what_is_no_image_is_refused(architecture: str, wrong: np.ndarray):
    with pytest.raises(EngineError, match=r"expected uint8 of \(height, width, 3\)"):
        reader(architecture).read(look(architecture, wrong))


def test_an_image_that_the_processor_refuses():
    with pytest.raises(EngineError, match=r"refuses an image: .*aspect ratio"):
        reader("qwen3-vl").read(look("qwen3-vl", image(1, 250)))


@EVERY_MODEL
def test_places_and_images_must_agree(architecture: str):
    prompt = look(architecture, image())
    with pytest.raises(EngineError, match="1 places for images: expected 2"):
        reader(architecture).read(Prompt(prompt.ids, (image(), image())))


@pytest.mark.parametrize("architecture", ["qwen3", "gemma3-text"])
def test_a_text_model_reads_none(architecture: str):
    with pytest.raises(Unsupported, match="sees no images"):
        ImageReader(tiny_model(architecture))
