"""The parts of a prompt that hold foreign text: each between tags, and each able to be shortened.

Whatever an environment or a model wrote is escaped here, after it was shortened, so that nothing in it can end its
section. What is left out is said in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eapo_gym.protocol import escape, parse
from eapo_gym.schema import Exchange

REFLECTIONS = "past_reflections"
"""The section with what an agent wrote after earlier episodes."""


@dataclass(frozen=True, slots=True)
class Section:
    """`write(size)` is the section with so many of its `size` characters (of a text) or items (of a list) shown."""

    name: str
    size: int
    write: Callable[[int], str]


def tagged(name: str, text: str) -> str:
    """Foreign text between tags, as `render_observation` writes it.

    Names other than the protocol's own have an underscore: `escape` disarms such tags as it does control tokens.
    """
    return f"<{name}>\n{escape(text)}\n</{name}>"


def text_section(name: str, text: str) -> Section:
    """A text that loses its middle."""

    def write(size: int) -> str:
        if size >= len(text):
            return tagged(name, text)
        tail = size // 2
        return tagged(name, f"{text[: size - tail]}\n{_gap(name, len(text) - size)}\n{text[len(text) - tail :]}")

    return Section(name, len(text), write)


def numbered(texts: Sequence[str]) -> str:
    """One paragraph for each text, by the number of the episode that it was written after."""
    return "\n".join(f"After episode {i}: {text}" for i, text in enumerate(texts, 1))


def _gap(name: str, characters: int) -> str:
    if name == "memory":
        return f"[Memory too long: {characters} characters left out. Write a shorter one.]"
    return f"[{characters} characters left out]"


def list_section(name: str, items: Sequence[str]) -> Section:
    """Lines of which the first ones stay."""

    def write(size: int) -> str:
        left_out = len(items) - size
        lines = (" ".join(item.split()) for item in items[:size])
        return tagged(name, "\n".join([*lines, *([f"[{left_out} more left out]"] if left_out else [])]))

    return Section(name, len(items), write)


def history_section(history: Sequence[Exchange]) -> Section:
    """The steps before, of which the last ones stay."""

    def write(size: int) -> str:
        left_out = len(history) - size
        note = [f"[First {left_out} steps left out]"] if left_out else []
        return "\n".join([*note, *map(_past_step, history[left_out:])])

    return Section("history", len(history), write)


def _past_step(step: Exchange) -> str:
    # Not the response as it stands: escaped tags and boxes are a form that a model should not learn to imitate.
    thought = _thought(step.response)
    parts = {
        "past_state": step.state,
        "past_thought": thought,
        "past_action": "(nothing that could be carried out)" if step.action is None else step.action,
    }
    return "\n".join(tagged(name, text) for name, text in parts.items() if text)


_LABEL = re.compile(r"\s*thought\s*:\s*", re.IGNORECASE)
_ACTION_LABEL = re.compile(r"\s*\**action\**\s*:?\s*\**\s*\Z", re.IGNORECASE)


def _thought(response: str) -> str:
    """What the response says before it comes to the action."""
    think = parse(response).think
    if think:
        return think
    before = response.partition("\\boxed{")[0]
    return _LABEL.sub("", _ACTION_LABEL.sub("", before), count=1).strip()
