"""Two experts for ALFWorld, teachers and yardsticks: one that knows everything, one that knows what it has seen."""

from eapo_gym.envs.alfworld.experts.decision import Decision
from eapo_gym.envs.alfworld.experts.explorer import Explorer
from eapo_gym.envs.alfworld.experts.goal import Goal, GoalError, parse_goal
from eapo_gym.envs.alfworld.experts.oracle import NoPlan, Oracle, plan

__all__ = ["Decision", "Explorer", "Goal", "GoalError", "NoPlan", "Oracle", "parse_goal", "plan"]
