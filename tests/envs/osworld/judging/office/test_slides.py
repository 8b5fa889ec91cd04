"""Presentations: what the comparison sees by itself and with each option, and the checks of one thing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pptx")

from eapo_gym.envs.osworld.judging.registry import metric
from eapo_gym.envs.osworld.tree import Node
from tests.envs.osworld.judging.office.deck_files import CHANGES, DRAWING, make_deck
from tests.envs.osworld.judging.office.workbook_files import rewrite

NOT_SEEN = {
    "nothing", "a blank", "an empty run more", "not bold", "italic not said", "not underlined", "underlined twice",
    "not struck through", "a theme's colour", "no colour", "a blank note", "the picture a thousandth off",
    "a cell that is not bold", "a cell of another size", "a red cell", "an upright slide",
}  # fmt: skip
"""What the comparison does not see with no options, as in the benchmark."""

NO_SHAPE: Mapping[str, Any] = {"examine_shape": False}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_deck(tmp_path_factory.mktemp("base") / "base.pptx")


@pytest.fixture
def verdict(base: Path, tmp_path: Path) -> Any:
    def judge(change: str, **options: Any) -> float:
        return metric("compare_pptx_files")(make_deck(tmp_path / "mine.pptx", CHANGES[change]), base, **options)

    return judge


@pytest.mark.parametrize(
    "change", sorted(set(CHANGES) - NOT_SEEN - {"not bold", "an empty run more", "a theme's background"})
)
def test_changes_are_seen(change: str, verdict: Any) -> None:
    assert verdict(change) == 0.0


@pytest.mark.parametrize(
    "change",
    ["nothing", "a cell of another size", "a theme's colour", "the picture a thousandth off", "not struck through"],
)
def test_what_is_not_compared_is_not_seen(change: str, verdict: Any) -> None:
    assert verdict(change) == 1.0


@pytest.mark.parametrize(
    ("option", "change"),
    [
        ("examine_number_of_slides", "a slide more"),
        ("examine_shape", "the oval higher"),
        ("examine_indent", "a level"),
        ("examine_font_name", "a font"),
        ("examine_font_size", "a size"),
        ("examine_font_bold", "not bold"),
        ("examine_font_italic", "italic"),
        ("examine_color_rgb", "a colour"),
        ("examine_font_underline", "underlined"),
        ("examine_strike_through", "struck through"),
        ("examine_alignment", "a side in a group"),
        ("examine_bullets", "a bullet"),
        ("examine_background_color", "a background"),
        ("examine_note", "a note"),
    ],
)
def test_what_is_not_examined_may_differ(option: str, change: str, verdict: Any) -> None:
    bullets = {"examine_bullets": False} if option in ("examine_alignment", "examine_indent") else {}
    assert verdict(change) == 0.0
    assert verdict(change, **{option: False}, **bullets) == 1.0


@pytest.mark.parametrize(
    ("option", "right", "wrong"),
    [
        ("examine_title_bottom_position", "the title lower", "the title a little lower"),
        ("examine_table_bottom_position", "the table lower", "the table a little lower"),
        ("examine_right_position", "the picture at the right", "the picture a little to the right"),
        ("examine_shape_for_shift_size", "the discussion moved", "the oval higher"),
        ("examine_modify_height", "the picture of another height", "the discussion moved"),
        ("examine_image_size", "the picture higher", "the picture wider"),
    ],
)
def test_what_was_to_be_moved(option: str, right: str, wrong: str, tmp_path: Path) -> None:
    """The expected file of these tasks is the one from before, or says nothing of what is moved."""
    compare = metric("compare_pptx_files")
    before = (CHANGES["no group"],) if option == "examine_right_position" else ()  # all without text has to move
    mine = make_deck(tmp_path / "right.pptx", CHANGES[right], *before)
    other = make_deck(tmp_path / "wrong.pptx", CHANGES[wrong], *before)
    expected = make_deck(tmp_path / "before.pptx", *before)
    if option in ("examine_title_bottom_position", "examine_table_bottom_position", "examine_right_position"):
        assert compare(expected, expected, **NO_SHAPE, **{option: True}) == 0.0, "nothing was moved"
    if option == "examine_modify_height":
        expected = make_deck(tmp_path / "expected.pptx", CHANGES[right])
    assert compare(mine, expected, **NO_SHAPE, **{option: True}) == 1.0
    assert compare(other, expected, **NO_SHAPE, **{option: True}) == 0.0


def test_the_picture_on_top(tmp_path: Path) -> None:
    """The picture of the second slide must be higher than it was, and high."""
    compare, options = metric("compare_pptx_files"), {**NO_SHAPE, "examine_top_position": True}
    lower = make_deck(tmp_path / "lower.pptx", CHANGES["the picture lower"])
    higher = make_deck(tmp_path / "higher.pptx", CHANGES["the picture higher"])
    assert compare(higher, lower, **options) == 1.0
    assert compare(lower, higher, **options) == 0.0
    assert compare(lower, lower, **options) == 0.0


def test_a_picture_that_fills_the_slide(base: Path, tmp_path: Path) -> None:
    check = metric("check_image_stretch_and_center")
    full = make_deck(tmp_path / "full.pptx", CHANGES["the first picture on all of the slide"])
    nearly = make_deck(tmp_path / "nearly.pptx", CHANGES["the first picture on nearly all of it"])
    none = make_deck(tmp_path / "none.pptx", CHANGES["a shape less"])
    assert [check(path, base) for path in (full, nearly, base, none)] == [1.0, 1.0, 0.0, 0.0]
    assert check(full, none) == 0.0


def test_upright_slides(base: Path, tmp_path: Path) -> None:
    check = metric("check_slide_orientation_Portrait")
    assert check(base) == 0.0
    assert check(make_deck(tmp_path / "upright.pptx", CHANGES["an upright slide"])) == 1.0


def test_backgrounds(tmp_path: Path) -> None:
    def paint(deck: Any) -> None:
        for number in range(3):
            fill = deck.slides[number].background.fill
            fill.solid()
            fill.fore_color.rgb = type(deck.slides[0].background.fill.fore_color.rgb)(0, 0, 255)

    blue, plain = make_deck(tmp_path / "blue.pptx", paint), make_deck(tmp_path / "plain.pptx")
    check = metric("evaluate_presentation_fill_to_rgb_distance")
    assert check(blue, {"rgb": [0, 0, 255]}) == pytest.approx(1.0)
    assert check(blue, {"rgb": [0, 0, 200]}) == pytest.approx(1 - 55 / (255 * 3**0.5))
    assert check(blue, {"rgb": [0, 0, 255], "original_rgb": [0, 0, 255]}) == 0.0
    assert check(plain, {"rgb": [255, 255, 255]}) < 0.3


def test_struck_through(base: Path, tmp_path: Path) -> None:
    check = metric("check_strikethrough")
    rules = {"slide_index_s": [0], "shape_index_s": [1], "paragraph_index_s": [0]}
    assert check(make_deck(tmp_path / "struck.pptx", CHANGES["struck through"]), rules) == 1.0
    assert check(base, rules) == 0.0
    assert check(base, {**rules, "paragraph_index_s": [9]}) == 0.0


def test_transitions(tmp_path: Path) -> None:
    path = make_deck(tmp_path / "transition.pptx")
    rewrite(
        path,
        "ppt/slides/slide2.xml",
        lambda xml: xml.replace("</p:sld>", "<p:transition><p:dissolve/></p:transition></p:sld>"),
    )
    check = metric("check_transition")
    rules = ((1, "dissolve"), (1, "fade"), (0, "dissolve"), (7, "dissolve"))
    found = [check(path, {"slide_idx": place, "transition_type": kind}) for place, kind in rules]
    assert found == [1.0, 0.0, 0.0, 0.0]


def test_colours_of_page_numbers(tmp_path: Path) -> None:
    path = make_deck(tmp_path / "numbers.pptx")
    fill = f'<a:solidFill xmlns:a="{DRAWING}"><a:srgbClr val="FF0000"/></a:solidFill>'
    rewrite(
        path, "ppt/slideMasters/slideMaster1.xml", lambda xml: xml.replace("<p:txStyles>", f"{fill * 2}<p:txStyles>")
    )
    check = metric("check_page_number_colors")
    assert [check(path, {"color": color}) for color in ("red", "blue", "black")] == [1.0, 0.0, 0.0]


def test_the_panel_of_slides() -> None:
    panel = Node("document-frame", "Slides View")
    check = metric("check_left_panel")
    assert check(Node("frame", children=(Node("panel", children=(panel,)),))) == 1.0
    assert check(Node("frame", children=(Node("panel", "Slides View"),))) == 0.0
    assert check(None) == 0.0


def test_videos(base: Path, tmp_path: Path) -> None:
    check = metric("contains_mp4_video")
    assert check(base) == 0.0
    assert check(make_deck(tmp_path / "video.pptx", CHANGES["a video"])) == 1.0
