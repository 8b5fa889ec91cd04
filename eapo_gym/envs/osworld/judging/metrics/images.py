"""Pictures: their size, brightness, colours, structure; most are GIMP's work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eapo_gym.envs.osworld.judging.metrics.structure import WINDOW, same_structure, similarity_of
from eapo_gym.envs.osworld.judging.office.guard import opened_image
from eapo_gym.envs.osworld.judging.registry import Unreadable
from eapo_gym.envs.osworld.judging.safe_files import existing, image

if TYPE_CHECKING:
    from PIL.Image import Image

NORMAL_BRIGHTNESS = 128
DARK = 128
LEFT_SIDE = 0.05
MIDDLE = 0.05
BETTER_BY = 0.01
"""By so much a picture must be more alike than the one that the task began with."""


def compare_images(result: Path | None, expected: Path | None, *, reference_base_result: float | None = None) -> float:
    """How alike two pictures are in grey; with a base, how far beyond that of the picture as it was given."""
    if result is None or expected is None:
        return 0.0
    from PIL import Image

    greys = [image(path).convert("L") for path in (result, expected)]
    smaller: tuple[int, int] = min(grey.size for grey in greys)
    if min(smaller) < WINDOW:
        raise Unreadable(f"Pictures of {smaller[0]}×{smaller[1]} pixels are too small to compare.")
    alike = similarity_of(*(np.array(grey.resize(smaller, Image.Resampling.LANCZOS)) for grey in greys))
    if reference_base_result is None:
        return alike
    if alike < reference_base_result + BETTER_BY:
        return 0.0
    return (alike - reference_base_result) / (1 - reference_base_result)


def compare_image_list(result: Any, expected: Any) -> float:
    """Whether pictures are the same, pixel by pixel, once they have the size and the mode of what is expected."""
    from PIL import Image, ImageChops

    results, wanted = (result, expected) if isinstance(result, list) else ([result], [expected])
    for one, other in zip(results, wanted, strict=False):
        if one is None or other is None:
            return 0.0
        found, gold = image(one), image(other)
        if found.size != gold.size:
            found = found.resize(gold.size, Image.Resampling.LANCZOS)
        if found.mode != gold.mode:
            found = found.convert(gold.mode)
        if ImageChops.difference(found, gold).getbbox():
            return 0.0
    return 1.0


def check_brightness_decrease_and_structure_sim(
    result: Path | None, before: Path | None, *, threshold: float = 0.03
) -> float:
    """Whether a picture is darker than before, and the same once both are made equally bright."""
    if result is None or before is None:
        return 0.0
    dark, bright = image(result), image(before)
    darker = brightness(bright) > brightness(dark)
    return float(darker and _nearly_equal(_normalised(dark), _normalised(bright), threshold))


def check_saturation_increase_and_structure_sim(result: Path | None, before: Path | None) -> float:
    """Whether colours are stronger than before, hues and values alike."""
    if result is None or before is None:
        return 0.0
    after, earlier = (image(path).convert("HSV").split() for path in (result, before))
    stronger = np.mean(np.array(earlier[1])) < np.mean(np.array(after[1]))
    return float(bool(stronger) and same_structure(after[0], earlier[0]) and same_structure(after[2], earlier[2]))


def check_contrast_increase_and_structure_sim(result: Path | None, before: Path | None) -> float:
    """Whether the values are further apart than before, and the picture is alike."""
    if result is None or before is None:
        return 0.0
    after, earlier = image(result), image(before)
    stronger = np.std(np.asarray(earlier, dtype=np.float32)) < np.std(np.asarray(after, dtype=np.float32))
    return float(bool(stronger) and same_structure(after, earlier, 0.65))


def check_structure_sim(result: Path | None, expected: Path | None) -> float:
    """Whether two pictures show the same; `check_file_exists_and_structure_sim` is the same question."""
    if result is None or expected is None:
        return 0.0
    return float(same_structure(image(result), image(expected)))


def check_structure_sim_resized(result: Path | None, expected: Path | None) -> float:
    """Whether what is seen of a picture shows the same, once it has the size of the other."""
    if result is None or expected is None:
        return 0.0
    picture, wanted = image(result), image(expected)
    if picture.mode in ("RGBA", "LA") or "transparency" in picture.info:
        seen = picture.convert("RGBA")
        box = seen.getchannel("A").getbbox()
        if box is None:
            return 0.0
        picture = seen.crop(box).convert("RGB")
    return float(same_structure(picture.resize(wanted.size), wanted))


def check_palette_and_structure_sim(result: Path | None, expected: Path | None) -> float:
    """Whether a picture has a palette, and shows the same."""
    if result is None or expected is None:
        return 0.0
    picture = image(result)
    return float(picture.mode == "P" and same_structure(picture.convert("RGB"), image(expected)))


def check_image_mirror(result: Path | None, before: Path | None) -> float:
    """Whether a picture is what the other was, left and right exchanged."""
    if result is None or before is None:
        return 0.0
    from PIL import Image

    return float(same_structure(image(result).transpose(Image.Transpose.FLIP_LEFT_RIGHT), image(before), 0.99))


def check_image_size(result: Path | None, rules: Mapping[str, Any]) -> float:
    """Whether a picture is so wide and so high, with what is transparent around it or without."""
    if result is None:
        return 0.0
    picture = opened_image(existing(result), result.name)
    width, height = picture.size
    hides = rules.get("ignore_transparent", False) and picture.mode in ("RGBA", "LA")
    if hides or "transparency" in picture.info:
        left, top, right, bottom = image(result).convert("RGBA").getchannel("A").getbbox() or (0, 0, 0, 0)
        width, height = right - left, bottom - top
    return float(rules.get("width") in (None, width) and rules.get("height") in (None, height))


def check_image_file_size(result: Path | None, rules: Mapping[str, Any]) -> float:
    return float(result is not None and existing(result).stat().st_size < rules["max_size"])


def check_triangle_position(result: Path | None) -> float:
    """Whether the middle of one colour, the second rarest of all, is the middle of the picture."""
    if result is None:
        return 0.0
    pixels = np.array(image(result))
    if pixels.ndim != 3:
        raise Unreadable(f"The picture {result.name!r} has no colours.")
    packed = np.zeros(pixels.shape[:2], dtype=np.int64)
    for channel in range(pixels.shape[2]):
        packed = packed << 8 | pixels[:, :, channel]
    colours, counts = np.unique(packed, return_counts=True)
    if len(colours) < 2:
        return 0.0
    triangle = np.argwhere(packed == colours[np.argsort(counts)][1])
    size: np.ndarray = np.array(packed.shape)
    return float(np.all(np.abs(triangle.mean(axis=0) - size / 2) < MIDDLE * size))


def check_textbox_on_leftside(result: Path | None) -> float:
    """Whether the first dark pixel from the left is nearly at the left."""
    if result is None:
        return 0.0
    dark = np.array(image(result).convert("L")) < DARK
    width = dark.shape[1]
    columns = np.flatnonzero(dark.any(axis=0))
    return float((columns[0] if columns.size else width) < width * LEFT_SIDE)


def check_green_background(result: Path | None, shape: Path | None) -> float:
    """Whether a picture is more green than red or blue wherever the other is not black."""
    if result is None or shape is None:
        return 0.0
    mask, pixels = np.array(image(shape)), np.array(image(result))
    if mask.ndim != 3 or pixels.ndim != 3 or any(a < b for a, b in zip(pixels.shape, mask.shape[:2], strict=False)):
        return 0.0
    behind = (mask[:, :, :3] != 0).any(axis=2)
    seen = pixels[: mask.shape[0], : mask.shape[1]][behind]
    return float(np.all((seen[:, 1] > seen[:, 0]) & (seen[:, 1] > seen[:, 2])))


def check_sharper(result: Path | None, before: Path | None) -> float:
    """Whether a picture has harder edges than the other."""
    return float(result is not None and before is not None and _sharpness(result) > _sharpness(before))


def increase_saturation(before: Path, result: Path) -> float:
    """Whether the second picture's colours are stronger."""
    return float(_saturation(before) < _saturation(result))


def decrease_brightness(before: Path, result: Path) -> float:
    """Whether the second picture is darker."""
    return float(brightness(image(before)) > brightness(image(result)))


def brightness(picture: Image) -> float:
    """The mean of a picture in grey."""
    from PIL import ImageStat

    return float(ImageStat.Stat(picture.convert("L")).mean[0])


def _normalised(picture: Image) -> Image:
    now = brightness(picture)
    if not now:
        raise Unreadable("A picture is all black, so that its brightness cannot be compared.")
    factor = NORMAL_BRIGHTNESS / now
    return picture.point(lambda value: min(255, max(0, int(value * factor))))


def _nearly_equal(one: Image, other: Image, threshold: float) -> bool:
    """Whether the mean of the squared differences, of values from 0 to 1, is below a threshold."""
    from PIL import Image

    if one.size != other.size:
        one = one.resize(other.size, Image.Resampling.LANCZOS)
    values = [np.array(picture.convert("RGB"), dtype=np.float32) / 255 for picture in (one, other)]
    return bool(np.mean((values[0] - values[1]) ** 2) < threshold)


def _saturation(path: Path) -> float:
    return float(np.mean(np.array(image(path).convert("HSV").getchannel("S"))))


def _sharpness(path: Path) -> float:
    """The variance of the second derivative."""
    grey = np.pad(np.array(image(path).convert("L"), dtype=np.float64), 1, mode="reflect")
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float(np.var(around - 4 * grey[1:-1, 1:-1]))


METRICS = {
    one.__name__: one
    for one in (
        compare_images,
        compare_image_list,
        check_brightness_decrease_and_structure_sim,
        check_saturation_increase_and_structure_sim,
        check_contrast_increase_and_structure_sim,
        check_structure_sim,
        check_structure_sim_resized,
        check_palette_and_structure_sim,
        check_image_mirror,
        check_image_size,
        check_image_file_size,
        check_triangle_position,
        check_textbox_on_leftside,
        check_green_background,
        check_sharper,
        increase_saturation,
        decrease_brightness,
    )
} | {"check_file_exists_and_structure_sim": check_structure_sim}
