"""Agents: what answers an observation. `Agent` in `base` is the interface, `make_agent` in `loading` the door."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eapo_gym.agents.arms import ARMS, Arm
    from eapo_gym.agents.base import Agent, AgentError, Response, as_response
    from eapo_gym.agents.eapo import EAPOAgent
    from eapo_gym.agents.experts import ExplorerAgent, OracleAgent
    from eapo_gym.agents.human import HumanAgent
    from eapo_gym.agents.lamer import LaMerAgent
    from eapo_gym.agents.loading import agent_names, make_agent, needs_engine
    from eapo_gym.agents.model import ModelAgent
    from eapo_gym.agents.plain import NaiveExplorationAgent, PlainAgent
    from eapo_gym.agents.random import RandomAgent
    from eapo_gym.agents.react import ReActAgent
    from eapo_gym.agents.tot import ToTAgent

__all__ = [
    "ARMS",
    "Agent",
    "AgentError",
    "Arm",
    "EAPOAgent",
    "ExplorerAgent",
    "HumanAgent",
    "LaMerAgent",
    "ModelAgent",
    "NaiveExplorationAgent",
    "OracleAgent",
    "PlainAgent",
    "RandomAgent",
    "ReActAgent",
    "Response",
    "ToTAgent",
    "agent_names",
    "as_response",
    "make_agent",
    "needs_engine",
]

_WHERE = {
    "arms": ("ARMS", "Arm"),
    "base": ("Agent", "AgentError", "Response", "as_response"),
    "eapo": ("EAPOAgent",),
    "experts": ("ExplorerAgent", "OracleAgent"),
    "human": ("HumanAgent",),
    "lamer": ("LaMerAgent",),
    "loading": ("agent_names", "make_agent", "needs_engine"),
    "model": ("ModelAgent",),
    "plain": ("NaiveExplorationAgent", "PlainAgent"),
    "random": ("RandomAgent",),
    "react": ("ReActAgent",),
    "tot": ("ToTAgent",),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> Any:
    # Imported when asked for: listing the agents must not import all that they stand on.
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"eapo_gym.agents.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'eapo_gym.agents' has no attribute {name!r}")
