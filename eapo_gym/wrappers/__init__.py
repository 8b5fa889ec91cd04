"""The wrappers: explore and memory, rollback, visitation depth, format reward, set of marks; and their usual stack."""

from __future__ import annotations

from typing import Any, Literal, get_args

import gymnasium as gym

from eapo_gym.errors import UnknownName
from eapo_gym.wrappers.base import AgentWrapper, AnsweringWrapper
from eapo_gym.wrappers.explore_memory import ExploreMemory
from eapo_gym.wrappers.format_reward import FormatReward
from eapo_gym.wrappers.rollback import Rollback, RollbackMode
from eapo_gym.wrappers.set_of_marks import SetOfMarks
from eapo_gym.wrappers.visitation_depth import VisitationDepth

Schema = Literal["explore", "native"]

__all__ = [
    "AgentWrapper",
    "AnsweringWrapper",
    "ExploreMemory",
    "FormatReward",
    "Rollback",
    "RollbackMode",
    "Schema",
    "SetOfMarks",
    "VisitationDepth",
    "apply_schema",
]


def apply_schema(env: gym.Env[Any, Any], schema: Schema, rollback: RollbackMode | None) -> gym.Env[Any, Any]:
    """The usual stack: with "explore" the action is the model's whole response, with "native" one command.

    `rollback` adds the command of that name, None leaves it out.
    """
    if schema not in get_args(Schema):
        raise UnknownName.of("schema", schema, get_args(Schema))
    if rollback is not None:
        env = Rollback(env, rollback)
    return VisitationDepth(ExploreMemory(env)) if schema == "explore" else env
