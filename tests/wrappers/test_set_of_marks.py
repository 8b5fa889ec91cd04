from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from eapo_gym.envs.base import Info
from eapo_gym.errors import ContractError, MissingExtra
from eapo_gym.wrappers import ExploreMemory, Rollback, SetOfMarks, VisitationDepth
from eapo_gym.wrappers.set_of_marks import MarkPainter
from tests.toys import Corridor
from tests.toys_gui import EXAMPLES, Pages

GREY = np.full((200, 300, 3), 128, np.uint8)


def mark(*bounds: tuple[float, float, float, float], screen: np.ndarray = GREY) -> np.ndarray:
    elements = [{"index": index, "bounds": box, "text": ""} for index, box in enumerate(bounds)]
    return MarkPainter(screen.shape[0])(screen, elements)


def touched(marked: np.ndarray, screen: np.ndarray = GREY) -> np.ndarray:
    return np.argwhere((marked != screen).any(axis=2))


def test_marked_is_the_screenshot_with_boxes_around_the_elements() -> None:
    env = SetOfMarks(Pages())
    obs, info = env.reset(options={"task": "train/button-0"})
    for _ in range(2):
        assert obs in env.observation_space
        assert obs["marked"].shape == obs["screenshot"].shape
        for element in info["elements"]:
            x0, y0, _, y1 = element["bounds"]
            outline = obs["marked"][y0:y1, x0]
            assert (outline != obs["screenshot"][y0:y1, x0]).any(axis=1).all()
        obs, _, _, _, info = env.step(EXAMPLES[0])


def test_the_screenshot_itself_stays_clean() -> None:
    screen = GREY.copy()
    marked = mark((50, 50, 100, 100), screen=screen)
    assert (screen == GREY).all()
    assert not np.shares_memory(marked, screen)
    marked[:] = 0


def test_every_number_is_another_picture() -> None:
    """A label is drawn next to its box, and it can be told which one it is."""
    labels = []
    for index in range(20):
        marked = MarkPainter(200)(GREY, [{"index": index, "bounds": (100, 100, 200, 150)}])
        labels.append(marked[60:100, 100:140].tobytes())
        assert (marked[60:100, 100:140] == 255).all(axis=2).any(), "white digits"
    assert len(set(labels)) == 20


@pytest.mark.parametrize("shade", [0, 60, 128, 200, 255])
def test_labels_stand_out_on_any_screen(shade: int) -> None:
    screen = np.full((200, 300, 3), shade, np.uint8)
    marked = mark((50, 50, 120, 100), (150, 50, 220, 100), screen=screen).astype(int)
    contrast = np.abs(marked - shade).max(axis=2)
    assert (contrast[50:100, 50] > 60).all()
    assert (contrast[50:100, 219] > 60).all()


@pytest.mark.parametrize(
    "box",
    [
        (-50, -50, 20, 20),
        (290, 190, 400, 400),
        (-10, -10, 310, 210),
        (0, 0, 300, 200),
        (0, 0, 1, 1),
        (299, 199, 300, 200),
        (10.4, 10.6, 99.5, 50.5),
        (-1e9, 5, 1e9, 6),
    ],
)
def test_what_reaches_over_the_edge_is_cut_off_and_still_labelled(box: tuple[float, float, float, float]) -> None:
    marked = mark(box)
    assert marked.shape == GREY.shape
    assert len(touched(marked)) > 30


@pytest.mark.parametrize(
    "box", [(400, 10, 500, 50), (10, -50, 20, -10), (50, 50, 50, 90), (50, 50, 90, 50), (90, 90, 50, 50), (0, 0, 0, 0)]
)
def test_what_has_no_area_on_the_screen_gets_no_box(box: tuple[float, float, float, float]) -> None:
    assert (mark(box) == GREY).all()
    assert (mark(box, (10, 60, 90, 90)) != GREY).any()


def test_no_elements_no_marks() -> None:
    assert (mark() == GREY).all()


def test_labels_of_boxes_that_share_a_corner_do_not_hide_each_other() -> None:
    painter = MarkPainter(200)
    alone = [painter(GREY, [{"index": index, "bounds": (60, 60, 220, 150)}]) for index in range(4)]
    white = sum(int((picture == 255).all(axis=2).sum()) for picture in alone)
    together = mark(*[(60, 60, 220, 150)] * 4)
    assert int((together == 255).all(axis=2).sum()) == white


@pytest.mark.parametrize("order", ["inside", "outside"])
@pytest.mark.parametrize("mode", ["inverse", "restore"])
def test_marks_are_there_whatever_made_the_observation(order: str, mode: Any) -> None:
    def stack(env: Any) -> Any:
        return VisitationDepth(ExploreMemory(Rollback(env, mode)))

    env = stack(SetOfMarks(Pages())) if order == "inside" else SetOfMarks(stack(Pages()))
    first, _ = env.reset(options={"task": "train/button-0"})
    snapshot = env.snapshot()
    second = env.step(EXAMPLES[0])[0]
    unchanged = env.step("garbage")[0]
    assert (unchanged["marked"] == second["marked"]).all()
    assert not np.shares_memory(unchanged["marked"], second["marked"])
    assert (env.step("rollback")[0]["marked"] == first["marked"]).all()
    assert (env.step("rollback")[0]["marked"] == first["marked"]).all()
    assert (env.restore(snapshot)[0]["marked"] == first["marked"]).all()
    assert (second["marked"] != first["marked"]).any()


def test_environments_without_a_screenshot_are_refused() -> None:
    with pytest.raises(ContractError, match="Corridor shows none"):
        SetOfMarks(ExploreMemory(Corridor()))


def test_environments_that_list_no_elements_are_told_so() -> None:
    class Mute(Pages):
        def _info(self) -> Info:
            return {key: value for key, value in super()._info().items() if key != "elements"}

    with pytest.raises(ContractError, match=r"info\['elements'\]"):
        SetOfMarks(Mute()).reset()


def test_without_pillow_there_is_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def no_pillow(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("PIL"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_pillow)
    with pytest.raises(MissingExtra, match=r"pip install 'eapo-gym\[gui\]'"):
        SetOfMarks(Pages())
