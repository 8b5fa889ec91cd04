"""Metrics of one thing in a presentation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eapo_gym.envs.osworld.judging.office.guard import FilePath, archive_part, parsed_xml
from eapo_gym.envs.osworld.judging.office.slides import INHERITED, PICTURE, SOLID, presentation
from eapo_gym.envs.osworld.tree import Node

PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
HALF_INCH = 457_200
FARTHEST = math.dist((0, 0, 0), (255, 255, 255))
CLEARLY = 50
"""By how much one part of a colour stands out where one calls the colour by its name."""

Rules = Mapping[str, Any]


def check_image_stretch_and_center(result: FilePath | None, original: FilePath | None) -> float:
    """1 if the picture of the first slide fills the slide, to half an inch."""
    if result is None or original is None:
        return 0.0
    before = presentation(original)
    pictures = _pictures(before.slides[0])
    if not pictures:
        return 0.0
    same = [each for each in _pictures(presentation(result).slides[0]) if each.image.blob == pictures[0].image.blob]
    if not same:
        return 0.0
    width, height, picture = before.slide_width, before.slide_height, same[-1]
    off = (
        picture.width - width,
        picture.height - height,
        picture.left - (width - picture.width) / 2,
        picture.top - (height - picture.height) / 2,
    )
    return float(all(abs(each) <= HALF_INCH for each in off))


def _pictures(slide: Any) -> list[Any]:
    return [shape for shape in slide.shapes if shape.shape_type == PICTURE]


def check_slide_numbers_color(result: FilePath | None) -> float:
    """1 if some slide has a number, and the master writes numbers in red."""
    if result is None:
        return 0.0
    deck = presentation(result)
    texts = [shape.text for slide in deck.slides for shape in slide.shapes if hasattr(shape, "text")]
    if not any(text.isdigit() for text in texts):
        return 0.0
    for master in deck.slide_masters:
        for placeholder in master.placeholders:
            if placeholder.has_text_frame and placeholder.text == "<number>":
                return float(getattr(placeholder.text_frame.paragraphs[0].font.color, "rgb", None) == (255, 0, 0))
    return 0.0


def check_strikethrough(result: FilePath | None, rules: Rules) -> float:
    """1 if the first run of each of these paragraphs says whether it is struck through."""
    if result is None:
        return 0.0
    slides = presentation(result).slides
    try:
        runs = [
            slides[slide].shapes[shape].text_frame.paragraphs[paragraph].runs[0]
            for slide in rules["slide_index_s"]
            for shape in rules["shape_index_s"]
            for paragraph in rules["paragraph_index_s"]
        ]
    except (AttributeError, IndexError):
        return 0.0
    return float(all("strike" in run.font._element.attrib for run in runs))


def check_slide_orientation_portrait(result: FilePath | None) -> float:
    """1 if slides are higher than wide."""
    if result is None:
        return 0.0
    deck = presentation(result)
    return float(deck.slide_width < deck.slide_height)


def evaluate_presentation_fill_to_rgb_distance(result: FilePath | None, rules: Rules) -> float:
    """How close the backgrounds are to a colour; one that is still the original colour is as far as can be."""
    if result is None:
        return 0.0
    slides = list(presentation(result).slides)
    if not slides:
        return 0.0
    return 1 - sum(_distance(slide, rules["rgb"], rules.get("original_rgb")) for slide in slides) / len(slides)


def _distance(slide: Any, wanted: Sequence[int], original: Sequence[int] | None) -> float:
    fill = slide.background.fill
    if fill.type == INHERITED:
        fill = slide.slide_layout.slide_master.background.fill
    color = getattr(fill.fore_color, "rgb", None) if fill.type == SOLID else None
    if color is None or (original is not None and tuple(color) == tuple(original)):
        return 1.0
    return math.dist(color, wanted) / FARTHEST


def check_left_panel(tree: Node | None) -> float:
    """1 if the panel of slides is there."""
    if tree is None:
        return 0.0
    return float(any(node.role == "document-frame" and node.name == "Slides View" for node in tree.walk()))


def check_transition(result: FilePath | None, rules: Rules) -> float:
    """1 if a slide comes with this transition."""
    if result is None:
        return 0.0
    name = f"ppt/slides/slide{rules['slide_idx'] + 1}.xml"
    content = archive_part(result, name)
    if content is None:
        return 0.0
    transition = next(parsed_xml(content, name).iter(f"{PRESENTATION}transition"), None)
    return float(transition is not None and next(_inside(transition, rules["transition_type"]), None) is not None)


def _inside(transition: Any, kind: str) -> Any:
    return transition.iterfind(f".//{PRESENTATION}{kind}")


def check_page_number_colors(result: FilePath | None, rules: Rules) -> float:
    """1 if the last but one colour of the first master, which is that of the page numbers, has this name."""
    if result is None:
        return 0.0
    name = "ppt/slideMasters/slideMaster1.xml"
    root = parsed_xml(archive_part(result, name) or b"", name)
    colors = root.findall(f".//{DRAWING}solidFill//{DRAWING}srgbClr")
    if len(colors) < 2 or colors[-2].get("val") is None:
        return 0.0
    value = colors[-2].get("val", "")
    # The benchmark takes the value for one with a number sign in front, so it leaves the first digit out. So must we.
    red, green, blue = (int(value[place : place + 2], 16) for place in (1, 3, 5))
    looks_so = NAMED.get(rules["color"])
    return float(looks_so is None or looks_so(red, green, blue))


NAMED: Mapping[str, Callable[[int, int, int], bool]] = {
    "red": lambda red, green, blue: red > max(green, blue) + CLEARLY,
    "green": lambda red, green, blue: green > max(red, blue) + CLEARLY,
    "blue": lambda red, green, blue: blue > max(red, green) + CLEARLY,
    "black": lambda red, green, blue: max(red, green, blue) < CLEARLY,
}


def contains_mp4_video(result: FilePath | None) -> float:
    """1 if a slide refers to an MP4 video that is in the presentation."""
    if result is None:
        return 0.0
    targets = [
        relation.target_part.partname
        for slide in presentation(result).slides
        for relation in slide.part.rels.values()
        if not relation.is_external
    ]
    return float(any(target.lower().endswith(".mp4") for target in targets))


METRICS = {
    "check_image_stretch_and_center": check_image_stretch_and_center,
    "check_slide_numbers_color": check_slide_numbers_color,
    "check_strikethrough": check_strikethrough,
    "check_slide_orientation_Portrait": check_slide_orientation_portrait,
    "evaluate_presentation_fill_to_rgb_distance": evaluate_presentation_fill_to_rgb_distance,
    "check_left_panel": check_left_panel,
    "check_transition": check_transition,
    "check_page_number_colors": check_page_number_colors,
    "contains_mp4_video": contains_mp4_video,
}
