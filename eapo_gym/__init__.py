"""eapo-gym: environments and agents for LLM agents that learn when to explore."""

from typing import TYPE_CHECKING, Any

from eapo_gym.envs.base import AgentEnv
from eapo_gym.envs.branching import Branch, branch, resume
from eapo_gym.registration import register_envs
from eapo_gym.schema import AnyText, Observation, Trajectory, Transition, Turn
from eapo_gym.vector import make_vec

if TYPE_CHECKING:
    from eapo_gym.envs.checker import check_agent_env

__version__ = "0.1.0"

__all__ = [
    "AgentEnv",
    "AnyText",
    "Branch",
    "Observation",
    "Trajectory",
    "Transition",
    "Turn",
    "branch",
    "check_agent_env",
    "make_vec",
    "resume",
]

register_envs()


def __getattr__(name: str) -> Any:
    # The checker brings process hosting with it, which most programs never need: it is imported when it is asked for.
    if name == "check_agent_env":
        from eapo_gym.envs.checker import check_agent_env

        return check_agent_env
    raise AttributeError(f"module 'eapo_gym' has no attribute {name!r}")
