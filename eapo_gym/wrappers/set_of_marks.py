"""`SetOfMarks`: the elements of a GUI, boxed and numbered on the screenshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from eapo_gym.envs.base import Info, Obs
from eapo_gym.errors import ContractError, MissingExtra
from eapo_gym.wrappers.base import AgentWrapper, StepResult

# Dark enough for white digits on them, bright enough to be seen on a dark screen.
_COLOURS = np.array(
    [
        (0xD4, 0x35, 0x1C),
        (0x1D, 0x70, 0xB8),
        (0x00, 0x70, 0x3C),
        (0x6F, 0x4B, 0xB2),
        (0xB8, 0x00, 0x2E),
        (0x00, 0x65, 0x6B),
        (0x8A, 0x4B, 0x08),
        (0xC2, 0x18, 0x6B),
    ],
    np.uint8,
)

_Box = tuple[int, int, int, int]


class SetOfMarks(AgentWrapper, gym.utils.RecordConstructorArgs):
    """Adds `marked` to the observation: the screenshot with a numbered box around every element of `info["elements"]`.

    An element is a dict with at least `index` and `bounds` (x0, y0, x1, y1), in pixels of the screenshot. What lies
    outside of the screen is cut off, and what has no area left on it gets no box.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        AgentWrapper.__init__(self, env)
        screenshot = self.shown.spaces.get("screenshot")
        if not isinstance(screenshot, spaces.Box) or len(screenshot.shape) != 3 or screenshot.shape[2] != 3:
            raise ContractError(
                f"SetOfMarks draws on screenshots, and {type(self.unwrapped).__name__} shows none: "
                "expected a GUI environment with a Box 'screenshot' of shape (height, width, 3) in its observation."
            )
        self.observation_space = spaces.Dict(
            {**self.shown.spaces, "marked": spaces.Box(0, 255, screenshot.shape, np.uint8)}
        )
        self._draw = MarkPainter(screenshot.shape[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        obs, info = self.env.reset(seed=seed, options=options)
        return self.show(obs, info)

    def step(self, action: str) -> StepResult:
        obs, reward, terminated, truncated, info = self.env.step(action)
        obs, info = self.show(obs, info)
        return obs, float(reward), terminated, truncated, info

    def show(self, obs: Obs, info: Info) -> tuple[Obs, Info]:
        if "elements" not in info:
            raise ContractError(
                f"SetOfMarks marks what info['elements'] lists, and {type(self.unwrapped).__name__} has no such list: "
                "expected dicts with 'index' and 'bounds' there after every reset, step and restore."
            )
        return {**obs, "marked": self._draw(obs["screenshot"], info["elements"])}, info


class MarkPainter:
    """Draws the boxes, in sizes that follow from the height of the screen: labels stay legible when it is scaled.

    Only the digits need a font, and each label is drawn once; the rest is slices of an array, which is many times as
    fast as to have the whole screen turned into an image and back.
    """

    def __init__(self, height: int) -> None:
        try:
            from PIL import Image, ImageDraw, ImageFont
        except ImportError as error:
            raise MissingExtra.of("SetOfMarks", "gui") from error
        self._image, self._pen = Image, ImageDraw
        self._line = max(1, round(height / 540))
        self._font = ImageFont.load_default(max(10, round(height / 54)))
        self._labels: dict[int, np.ndarray] = {}

    def __call__(self, screenshot: np.ndarray, elements: Sequence[Mapping[str, Any]]) -> np.ndarray:
        marked: np.ndarray = screenshot.copy()
        height, width = screenshot.shape[:2]
        marks = [(e["index"], box) for e in elements if (box := _on_screen(e["bounds"], width, height)) is not None]
        for index, (x0, y0, x1, y1) in marks:
            colour = _colour(index)
            marked[y0 : min(y0 + self._line, y1), x0:x1] = colour
            marked[max(y1 - self._line, y0) : y1, x0:x1] = colour
            marked[y0:y1, x0 : min(x0 + self._line, x1)] = colour
            marked[y0:y1, max(x1 - self._line, x0) : x1] = colour
        # Labels after all boxes, so that no box is drawn over the label of another.
        taken: list[_Box] = []
        for index, box in marks:
            label = self._label(index)[:height, :width]
            place = _place(label.shape[1], label.shape[0], box, width, height, taken)
            marked[place[1] : place[3], place[0] : place[2]] = label
            taken.append(place)
        return marked

    def _label(self, index: int) -> np.ndarray:
        if index not in self._labels:
            left, top, right, bottom = self._font.getbbox(str(index))
            width, height = round(right - left) + 6, round(bottom - top) + 6
            image = self._image.new("RGB", (width, height), tuple(_colour(index).tolist()))
            pen = self._pen.Draw(image)
            pen.rectangle((0, 0, width - 1, height - 1), outline="white")
            pen.text((3 - left, 3 - top), str(index), fill="white", font=self._font)
            self._labels[index] = np.array(image)
        return self._labels[index]


def _place(width: int, height: int, box: _Box, screen_width: int, screen_height: int, taken: Sequence[_Box]) -> _Box:
    """A place for a label at its box, where it hides no other label if there is one; outside of the box first."""
    x0, y0, x1, y1 = box
    corners = [(x, y) for y in (y0 - height, y1, y0, y1 - height) for x in (x0, x1 - width)]
    places = [
        (x, y, x + width, y + height)
        for x, y in corners
        if x >= 0 and y >= 0 and x + width <= screen_width and y + height <= screen_height
    ]
    if not places:
        x, y = min(x0, screen_width - width), min(y0, screen_height - height)
        places = [(x, y, x + width, y + height)]
    return next((place for place in places if not any(_overlap(place, other) for other in taken)), places[0])


def _on_screen(bounds: Sequence[float], width: int, height: int) -> _Box | None:
    x0, y0, x1, y1 = (round(edge) for edge in bounds)
    x0, y0, x1, y1 = max(0, x0), max(0, y0), min(width, x1), min(height, y1)
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _colour(index: int) -> np.ndarray:
    colour: np.ndarray = _COLOURS[index % len(_COLOURS)]
    return colour
