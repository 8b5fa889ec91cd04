"""A small GUI `AgentEnv` for tests: pages with buttons, one of which leads on; the last one saves."""

from __future__ import annotations

from typing import Any

import numpy as np

from eapo_gym.envs.base import AgentEnv, Info, Obs
from eapo_gym.errors import ActionError
from eapo_gym.protocol import parse_json_action
from eapo_gym.schema import MAX_TEXT, AnyText, observation_space

EXAMPLES = (
    '{"action_type": "click", "index": 0}',
    '{"action_type": "click", "index": 1}',
    '{"action_type": "navigate_back"}',
)


class Pages(AgentEnv):
    """Every page has a button that leads on and one that does nothing; `navigate_back` leads to the page before."""

    def __init__(self, pages: int = 3, size: tuple[int, int] = (120, 160), render_mode: str | None = None) -> None:
        self.pages = pages
        self.size = size
        self.split = "train"
        self.render_mode = render_mode
        self.observation_space = observation_space(screenshot=size, elements=True)
        self.action_space = AnyText(MAX_TEXT, examples=EXAMPLES)
        self._page, self._text = 0, ""

    def tasks(self, split: str | None = None) -> list[str]:
        return [f"{split or self.split}/button-{button}" for button in range(2)]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed)
        self.task = self.choose_task(options)
        self._page = 0
        self._text = self.describe()
        return self._obs(), self._info()

    def step(self, action: str) -> tuple[Obs, float, bool, bool, Info]:
        if not isinstance(action, str):
            raise TypeError(f"expected an action (str), got {type(action).__name__}")
        try:
            self._page = self._after(parse_json_action(self.parse_action(action)))
            self._text = self.describe()
        except ActionError as error:
            self._text = str(error)
        won = self._page == self.pages - 1
        return self._obs(), float(won), won, False, self._info()

    def _after(self, fields: dict[str, Any]) -> int:
        if fields["action_type"] == "navigate_back":
            return max(0, self._page - 1)
        return min(self.pages - 1, self._page + 1) if self.task.endswith(f"button-{fields['index']}") else self._page

    def parse_action(self, text: str) -> str:
        fields = parse_json_action(text)
        if fields == {"action_type": "navigate_back"}:
            return EXAMPLES[2]
        if fields.keys() == {"action_type", "index"} and fields["action_type"] == "click":
            return f'{{"action_type": "click", "index": {int(fields["index"])}}}'
        raise ActionError(f"{text!r:.80} is no action here: expected one like {EXAMPLES[0]}.", EXAMPLES[0])

    def valid_actions(self) -> list[str] | None:
        return None

    def inverse(self, action: str) -> list[str]:
        leads_on = self._after(parse_json_action(action)) > self._page
        return [EXAMPLES[2]] if leads_on else []

    def fingerprint(self) -> str:
        return f"{self.task}|{self._page}"

    def snapshot(self) -> Any:
        return self.task, self._page, self._text

    def restore(self, snapshot: Any) -> tuple[Obs, Info]:
        self.task, self._page, self._text = snapshot
        return self._obs(), self._info()

    def describe(self) -> str:
        return f"Page {self._page} of {self.pages}."

    def render(self) -> str | None:
        return self._text if self.render_mode == "ansi" else None

    def _obs(self) -> Obs:
        screenshot = np.full((*self.size, 3), 60 * self._page, np.uint8)
        listed = "\n".join(f"{element['index']}: {element['text']}" for element in self._elements())
        return {"goal": "Save.", "state": self._text, "screenshot": screenshot, "elements": listed}

    def _info(self) -> Info:
        won = self._page == self.pages - 1
        info = {"task": self.task, "source": self.source, "split": self.split, "won": won}
        return {**info, "elements": self._elements()}

    def _elements(self) -> list[dict[str, Any]]:
        height, width = self.size
        return [
            {"index": 0, "bounds": (10, 10, width // 2 - 5, height - 10), "text": "On"},
            {"index": 1, "bounds": (width // 2 + 5, 10, width - 10, height - 10), "text": "Off"},
        ]
