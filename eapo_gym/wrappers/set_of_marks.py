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

# Dark enough for white digits on them, bright enough for a white or a dark screen behind them, and told apart by people
# who see red and green alike.
_COLOURS = ("#d4351c", "#1d70b8", "#00703c", "#6f4bb2", "#b8002e", "#00656b", "#8a4b08", "#c2186b")

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
        if not isinstance(screenshot, spaces.Box):
            raise ContractError(
                f"SetOfMarks draws on screenshots, and {type(self.unwrapped).__name__} shows none: "
                "expected a GUI environment with a Box 'screenshot' in its observation."
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
    """Draws the boxes, in sizes that follow from the height of the screen: labels stay legible when it is scaled."""

    def __init__(self, height: int) -> None:
        try:
            from PIL import Image, ImageDraw, ImageFont
        except ImportError as error:
            raise MissingExtra.of("SetOfMarks", "gui") from error
        self._image, self._pen = Image, ImageDraw
        self._line = max(1, round(height / 540))
        self._font = ImageFont.load_default(max(10, round(height / 54)))

    def __call__(self, screenshot: np.ndarray, elements: Sequence[Mapping[str, Any]]) -> np.ndarray:
        image = self._image.fromarray(screenshot)
        pen = self._pen.Draw(image)
        pen.fontmode = "L"
        marks = [(element["index"], box) for element in elements if (box := _on_screen(element["bounds"], image.size))]
        for index, (x0, y0, x1, y1) in marks:
            pen.rectangle((x0, y0, x1 - 1, y1 - 1), outline=_colour(index), width=self._line)
        # Labels after all boxes, so that no box is drawn over the label of another.
        taken: list[_Box] = []
        for index, box in marks:
            label = self._place(str(index), box, image.size, taken)
            taken.append(label)
            pen.rectangle((label[0], label[1], label[2] - 1, label[3] - 1), fill=_colour(index), outline="white")
            middle = (label[0] + label[2] - 1) / 2, (label[1] + label[3] - 1) / 2
            pen.text(middle, str(index), fill="white", font=self._font, anchor="mm")
        return np.array(image)

    def _place(self, text: str, box: _Box, size: tuple[int, int], taken: Sequence[_Box]) -> _Box:
        """A place for the label at its box, where it hides no other label if there is one: outside before inside."""
        left, top, right, bottom = self._font.getbbox(text, anchor="mm")
        width, height = round(right - left) + 6, round(bottom - top) + 6
        x0, y0, x1, y1 = box
        corners = (
            (x0, y0 - height),
            (x1 - width, y0 - height),
            (x0, y1),
            (x1 - width, y1),
            (x0, y0),
            (x1 - width, y0),
            (x0, y1 - height),
            (x1 - width, y1 - height),
        )
        labels = [(x, y, x + width, y + height) for x, y in corners if _inside(x, y, width, height, size)]
        for label in labels:
            if not any(_overlap(label, other) for other in taken):
                return label
        if labels:
            return labels[0]
        x, y = max(0, min(x0, size[0] - width)), max(0, min(y0, size[1] - height))
        return x, y, x + width, y + height


def _on_screen(bounds: Sequence[float], size: tuple[int, int]) -> _Box | None:
    x0, y0, x1, y1 = (round(edge) for edge in bounds)
    x0, y0, x1, y1 = max(0, x0), max(0, y0), min(size[0], x1), min(size[1], y1)
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _inside(x: int, y: int, width: int, height: int, size: tuple[int, int]) -> bool:
    return x >= 0 and y >= 0 and x + width <= size[0] and y + height <= size[1]


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _colour(index: int) -> str:
    return _COLOURS[index % len(_COLOURS)]
