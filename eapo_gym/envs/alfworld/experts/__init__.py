"""Two experts for ALFWorld, teachers and yardsticks: one that knows everything, one that knows what it has seen.

    state, text, explore, memory = game.start(), game.intro, "", ""
    while not game.won(state):
        decision = Explorer().act(game.goal_text, text, game.commands(state), explore, memory)
        state, text, _ = game.step(state, decision.command)
        explore, memory = decision.explore, decision.memory

plays a game as the explorer; `Oracle().act(game, state)` takes the place of `Explorer().act(…)` for the oracle.
"""

from eapo_gym.envs.alfworld.experts.decision import Decision
from eapo_gym.envs.alfworld.experts.explorer import Explorer, doubtful
from eapo_gym.envs.alfworld.experts.goal import Goal, GoalError, parse_goal
from eapo_gym.envs.alfworld.experts.oracle import NoPlan, Oracle, plan

__all__ = ["Decision", "Explorer", "Goal", "GoalError", "NoPlan", "Oracle", "doubtful", "parse_goal", "plan"]
