"""The tenant's random generator, as the host sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from eapo_gym.errors import HostingError


@dataclass
class Loan:
    """A copy of a generator, handed out by `np_random`: its state goes back to the tenant with the next call."""

    generator: np.random.Generator
    seed: int

    @classmethod
    def of(cls, data: dict[str, Any]) -> Loan:
        """From what `tenant.generator` sends."""
        state = data["state"]
        kind = getattr(np.random, state["bit_generator"], None)
        if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
            raise HostingError(
                f"np_random: expected one of NumPy's bit generators, got {state['bit_generator']!r:.40}."
            )
        source = kind()
        source.state = state
        return cls(np.random.Generator(source), -1 if data["seed"] is None else data["seed"])

    @classmethod
    def fresh(cls, seed: int | None = None) -> Loan:
        return cls(*seeding.np_random(seed))

    def data(self) -> dict[str, Any]:
        return {"state": self.generator.bit_generator.state, "seed": self.seed}
