"""What an expert says in one turn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """One turn of an expert, in the parts of the explore / memory schema; `command` is the game's own."""

    command: str
    think: str
    explore: str
    memory: str
