"""Make a prompt fit: what may be left out, in which order, and what is said about it.

Nothing is left out silently. The order is: the oldest steps of a history; the middle of the state and of the list of
elements, down to a floor; valid actions; the middle of what was written after earlier episodes; the rest of the state
and the elements; the middle of `explore`; and, only when nothing else is left, the middle of the memory. Goal and
instructions stay whole: where they alone are too long there is no prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from eapo_gym.agents.prompts.sections import REFLECTIONS, Section
from eapo_gym.engines.base import Engine, Message, Prompt, PromptTooLong

Sizes = dict[str, int]
"""How much of each section is shown: characters of a text, or items of a list."""

_FLOOR = 600
"""Characters of the state that stay for as long as there is something else to leave out."""

_ORDER = (
    ("history", 0),
    ("state", _FLOOR),
    ("elements", _FLOOR),
    ("valid_actions", 0),
    (REFLECTIONS, 0),
    ("state", 0),
    ("elements", 0),
    ("explore", 0),
    ("memory", 0),
)
_TRIES = 8
"""Prompts that are measured to find how much of a section fits."""

_CHARACTERS_PER_TOKEN = 16
"""Hardly any text has more. What is longer than that is cut before anything is measured: a megabyte takes its time."""


def fit(engine: Engine, compose: Callable[[Sizes], list[Message]], sections: Sequence[Section], budget: int) -> Prompt:
    """The prompt that `compose` makes of as much as fits into `budget` tokens, images not counted.

    Raises `PromptTooLong` where no prompt does.
    """
    longest = budget * _CHARACTERS_PER_TOKEN
    sizes = {section.name: min(section.size, longest) for section in sections}
    best = _measure(engine, compose, sizes)
    for name, floor in _ORDER:
        if best.tokens <= budget:
            return best.prompt
        if sizes.get(name, 0) > floor:
            best = _shorten(engine, compose, best, name, floor, budget)
            sizes = best.sizes
    if best.tokens <= budget:
        return best.prompt
    raise PromptTooLong(
        f"With everything left out that may be, the prompt still takes {best.tokens} tokens, and its budget is "
        f"{budget}: raise the budget, take a model with a longer context, or use the compact prompt."
    )


class _Measured(NamedTuple):
    prompt: Prompt
    tokens: int
    sizes: Sizes


def _measure(engine: Engine, compose: Callable[[Sizes], list[Message]], sizes: Sizes) -> _Measured:
    messages = compose(sizes)
    prompt = engine.prompt(messages)
    return _Measured(prompt, len(prompt.ids) or estimate(messages), sizes)


def _shorten(
    engine: Engine,
    compose: Callable[[Sizes], list[Message]],
    too_long: _Measured,
    name: str,
    floor: int,
    budget: int,
) -> _Measured:
    """Show as much of a section as fits, and no less than the floor."""

    def with_size(size: int) -> _Measured:
        return _measure(engine, compose, {**too_long.sizes, name: size})

    low, high, best = floor, too_long.sizes[name], with_size(floor)
    if best.tokens > budget:
        # What is said in the place of a short text may be longer than the text.
        return min(best, too_long, key=lambda measured: measured.tokens)
    tokens_high = too_long.tokens
    for _ in range(_TRIES):
        # Tokens grow about evenly with the text, so the place to look at next can be reckoned.
        share = (budget - best.tokens) / max(1, tokens_high - best.tokens)
        size = min(high - 1, max(low + 1, low + int((high - low) * share)))
        if not low < size < high:
            break
        tried = with_size(size)
        if tried.tokens <= budget:
            low, best = size, tried
        else:
            high, tokens_high = size, tried.tokens
    return best


def estimate(messages: Sequence[Message]) -> int:
    """Tokens of messages for an engine without a tokenizer: rather too many than too few.

    English has about four characters to a token; three bytes are what a token of other scripts takes, too.
    """
    return sum(len(message.text.encode("utf-8", "replace")) // 3 + 8 for message in messages)
