"""A person plays in the browser, in the agent's place; what they play is kept as the episodes of agents are.

`game` plays one episode after the other, `server` lets a browser at it, `page` is what the browser gets.
"""

from __future__ import annotations

from eapo_gym.bench.live.game import Game, GameError
from eapo_gym.bench.live.server import PlayServer

__all__ = ["Game", "GameError", "PlayServer"]
