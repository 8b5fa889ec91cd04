"""From an observation to the prompt of an engine.

Parts come in the order of how seldom they change, since engines keep the prefixes that prompts share: the instructions
are those of the whole run, the goal is the task's, and only then comes what is new at every step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from eapo_gym.agents.pictures import scaled
from eapo_gym.agents.prompts.fitting import Sizes, fit
from eapo_gym.agents.prompts.guides import Guide, guide_for
from eapo_gym.agents.prompts.sections import (
    REFLECTIONS,
    Section,
    history_section,
    list_section,
    numbered,
    tagged,
    text_section,
)
from eapo_gym.agents.prompts.templates import Style, system_message, user_preamble
from eapo_gym.engines.base import Engine, Message, Prompt, Unsupported
from eapo_gym.errors import UnknownName
from eapo_gym.schema import Observation

Images = Literal["all", "screenshot", "marked"]
_FIELDS = ("screenshot", "marked")
"""Of an observation: its pictures, in the order in which they are shown."""

_OF_IMAGES = ("use_images", "images", "image_pixels")

_FEWEST_PIXELS = 4096
"""Less than this no image processor takes."""

_PIXELS_PER_TOKEN = 28
"""Edge of the square of pixels that an image-text model is taken to make one token of, if its engine cannot tell."""


@dataclass(frozen=True)
class PromptBuilder:
    """Builds the prompts of one agent."""

    engine: Engine
    style: Style
    guide: Guide | None = None
    """None takes the guide of the environment that the observation names."""

    rollback: bool | None = None
    """Whether the run has that command, for guides that are looked up by name; see `guide_for`."""

    explore_hint: bool = False
    budget: int | None = None
    """Most tokens of a prompt, images not counted; None is what the engine's context leaves beside `room`."""

    room: int = 0
    """Tokens that the response may take."""

    show_valid_actions: bool = True
    with_history: bool = False
    use_images: bool = True
    """Show the screen, if the engine takes images; else the list of elements stands for it."""

    images: Images = "all"
    """Which pictures: the screen as it is, the one with a numbered box around each element, or all that there are."""

    image_pixels: int | None = None
    """Most pixels of a picture, larger ones are scaled down; None leaves that to the model."""

    reflections: tuple[str, ...] = ()
    """What the agent wrote after earlier episodes of the same task."""

    _constant: dict[str, tuple[str, str]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.images not in get_args(Images):
            raise UnknownName.of("images", self.images, get_args(Images))
        pixels = self.image_pixels
        if pixels is not None and (not isinstance(pixels, int) or isinstance(pixels, bool) or pixels < _FEWEST_PIXELS):
            raise ValueError(f"image_pixels: expected {_FEWEST_PIXELS:,} or more of them, or None, got {pixels!r:.40}.")

    def __call__(self, observation: Observation, question: str = "") -> Prompt:
        """The prompt of an observation; `question` is one more text for its end, which is never shortened."""
        images = self._images(observation)
        marks_are_seen = bool(images) and observation.marked is not None and self.images != "screenshot"
        sections = self._sections(observation, with_elements=not marks_are_seen)
        system, preamble = self._instructions(observation.context.env)
        head = f"{preamble}\n\n{tagged('goal', observation.goal)}"

        written: dict[tuple[str, int], str] = {}  # to make a prompt fit, one section at a time changes

        def write(section: Section, size: int) -> str:
            key = section.name, size
            if key not in written:
                written[key] = section.write(size)
            return written[key]

        def compose(sizes: Sizes) -> list[Message]:
            parts = [head, *(write(section, sizes[section.name]) for section in sections)]
            if question:
                parts.append(question)
            user = Message("user", "\n".join(parts), images)
            return [Message("system", system), user] if system else [user]

        return fit(self.engine, compose, sections, self._tokens(images))

    def instructions(self, env: str = "") -> str:
        """What every prompt of a run begins with, for results to be stamped with."""
        return "\n\n".join(filter(None, self._instructions(env)))

    def options(self) -> dict[str, Any]:
        """What was chosen, for results to be stamped with."""
        names = ("explore_hint", "budget", "show_valid_actions", "with_history", *_OF_IMAGES)
        return {name: getattr(self, name) for name in names}

    def _instructions(self, env: str) -> tuple[str, str]:
        texts = self._constant.get(env)
        if texts is None:
            guide = self.guide or guide_for(env, self.rollback)
            texts = system_message(self.style, self.explore_hint), user_preamble(self.style, guide)
            self._constant[env] = texts
        return texts

    def _images(self, observation: Observation) -> tuple[np.ndarray, ...]:
        if not (self.use_images and self.engine.capabilities.images):
            return ()
        there = {name: image for name in _FIELDS if (image := getattr(observation, name)) is not None}
        shown = tuple(there[name] for name in self.image_fields if name in there)
        if there and not shown:
            raise Unsupported(
                f"images: expected pictures of the kind {self.images!r}, and this environment shows only "
                f"{', '.join(there)}: choose those, or give it marks (env_kwargs.marks=true)."
            )
        pixels = self.image_pixels
        return shown if pixels is None else tuple(scaled(image, pixels) for image in shown)

    @property
    def image_fields(self) -> tuple[str, ...]:
        """The fields of an observation whose pictures are shown, in their order."""
        return _FIELDS if self.images == "all" else (self.images,)

    def _sections(self, observation: Observation, with_elements: bool) -> list[Section]:
        """Those that are not empty."""
        sections = []
        if self.reflections:
            sections.append(text_section(REFLECTIONS, numbered(self.reflections)))
        if self.with_history and observation.history:
            sections.append(history_section(observation.history))
        texts = {"state": observation.state, "elements": observation.elements if with_elements else None}
        if self.style.uses_memory:
            texts |= {"explore": observation.explore, "memory": observation.memory}
        sections += [text_section(name, text) for name, text in texts.items() if text]
        if self.show_valid_actions and observation.valid_actions:
            sections.append(list_section("valid_actions", observation.valid_actions))
        return sections

    def _tokens(self, images: tuple[np.ndarray, ...]) -> int:
        if self.budget is not None:
            return self.budget
        context = self.engine.context
        room = max(context - self.room, context // 2)
        return max(0, room - sum(map(self._image_tokens, images)))

    def _image_tokens(self, image: np.ndarray) -> int:
        told = self.engine.image_tokens(image)
        return _estimate(image) if told is None else told


def _estimate(image: np.ndarray) -> int:
    height, width = map(int, image.shape[:2])
    return -(-height // _PIXELS_PER_TOKEN) * -(-width // _PIXELS_PER_TOKEN)
