"""eapo-gym: environments and agents for LLM agents that learn when to explore."""

from eapo_gym.envs.base import AgentEnv
from eapo_gym.envs.branching import Branch, branch, resume
from eapo_gym.registration import register_envs
from eapo_gym.schema import AnyText, Observation, Trajectory, Transition, Turn
from eapo_gym.vector import make_vec

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
    "make_vec",
    "resume",
]

register_envs()
