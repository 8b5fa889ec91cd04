"""How hard a generated game is: how much there is to search, and how far plausible places can be relied on."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from hashlib import sha256

from eapo_gym.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Difficulty:
    """The knobs of the generator.

    As they stand here, rooms and what lies about in them are as in the real games, while the goal objects are fewer and
    less predictable, so that whoever searches well and remembers gains by it.
    """

    receptacles: float = 1.0
    """How many receptacles of each type, as a factor; each type that a room has keeps one at least."""

    hidden: float = 1.0
    """How much likelier than in real games a thing lies in a given receptacle that is shut, as a factor."""

    surprise: float = 0.25
    """Share of the goal objects that lie just anywhere that can hold them, instead of where such things mostly are."""

    distractors: float = 1.0
    """How many other things lie about, as a factor."""

    spare: float = 0.4
    """How many goal objects there are beyond those that the task needs, as a factor: 0 leaves just enough."""

    def __post_init__(self) -> None:
        for name in ("receptacles", "hidden", "distractors", "spare"):
            value = getattr(self, name)
            if not 0 <= value <= 10:
                raise ValueError(f"Difficulty.{name}: expected a factor from 0 to 10, got {value}")
        if not 0 <= self.surprise <= 1:
            raise ValueError(f"Difficulty.surprise: expected a share from 0 to 1, got {self.surprise}")

    @property
    def name(self) -> str:
        """A preset's name (empty for the default), or one made from the knobs."""
        for name, preset in PRESETS.items():
            if preset == self:
                return "" if name == "default" else name
        return "x" + sha256(repr(astuple(self)).encode()).hexdigest()[:8]


PRESETS = {
    "toy": Difficulty(receptacles=0.3, hidden=0.5, surprise=0.0, distractors=0.2, spare=1.5),
    "easy": Difficulty(receptacles=0.6, hidden=0.5, surprise=0.0, distractors=0.6, spare=1.5),
    "benchmark": Difficulty(surprise=0.0, spare=1.0),
    "default": Difficulty(),
    "hard": Difficulty(hidden=3.0, surprise=0.6, distractors=1.3, spare=0.0),
}
"""`benchmark` has every knob where the real games have it."""


def preset(name: str) -> Difficulty:
    """A preset by its name; the empty name is the default."""
    try:
        return PRESETS[name or "default"]
    except KeyError:
        hint = "Games with knobs of one's own cannot be told from their ids: pass the knobs to generate()."
        raise UnknownName.of("difficulty", name, PRESETS, hint) from None
