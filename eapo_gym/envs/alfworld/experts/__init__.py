"""Two experts for ALFWorld: one that knows everything, one that knows only what it has seen."""

from eapo_gym.envs.alfworld.experts.decision import Decision
from eapo_gym.envs.alfworld.experts.explorer import Explorer
from eapo_gym.envs.alfworld.experts.goal import Goal, parse_goal
