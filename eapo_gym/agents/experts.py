"""The experts of ALFWorld as agents: the oracle, which looks into the game, and the explorer, which does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym

from eapo_gym.agents.base import Agent, AgentError
from eapo_gym.schema import Observation, Turn

_ROLLBACK = "rollback"


class OracleAgent(Agent):
    """Takes the first step of a shortest plan from the true state: the upper bound, and stamped as privileged."""

    name = "oracle"
    privileged = True

    def act_in(self, env: gym.Env[Any, Any], observation: Observation) -> Turn:
        from eapo_gym.envs.alfworld.env import ALFWorldEnv
        from eapo_gym.envs.alfworld.experts import Oracle

        core = env.unwrapped
        if not isinstance(core, ALFWorldEnv):
            raise AgentError(
                f"The oracle plans in ALFWorld's native engine, and {type(core).__name__} is not that: take another "
                "agent for this environment."
            )
        return _turn(Oracle().act(core.game, core.state))

    def act(self, observation: Observation) -> Turn:
        raise AgentError("The oracle looks into the environment: call act_in(env, observation) instead of act.")


class ExplorerAgent(Agent):
    """Searches likely places first, and knows only what it has seen: its notes are the memory of the observation.

    Args:
        memoryless: withhold its memory from it. It then draws where to look, with the seed of the observation.
        use_valid_actions: look at the commands that the game offers, which show more than its text does.
    """

    name = "explorer"
    quick = True

    def __init__(self, *, memoryless: bool = False, use_valid_actions: bool = True) -> None:
        self.memoryless = memoryless
        self.use_valid_actions = use_valid_actions
        if memoryless:
            self.name = "explorer-memoryless"

    def act(self, observation: Observation) -> Turn:
        from eapo_gym.envs.alfworld.experts import Explorer, GoalError

        offered = observation.valid_actions if self.use_valid_actions else None
        commands = None if offered is None else [command for command in offered if command != _ROLLBACK]
        # One explorer for each step: it draws with the seed of the step, and has nothing else to keep.
        expert = Explorer(memoryless=self.memoryless, seed=observation.context.seed)
        try:
            decision = expert.act(
                observation.goal, observation.state, commands, observation.explore, observation.memory
            )
        except GoalError as error:
            raise AgentError(f"The explorer knows ALFWorld's household tasks and no others. {error}") from error
        return _turn(decision)

    def mistake(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a beginner would answer instead of `turn`: it believes to see what it looks for, and reaches for it."""
        from eapo_gym.envs.alfworld.experts import parse_goal
        from eapo_gym.envs.alfworld.experts.memory import Memory

        notes = Memory.read(turn.memory or "")
        if notes is None or not notes.at or notes.carrying:
            return None
        thing = f"{parse_goal(observation.goal).object} 1"
        notes.found.add((thing, notes.at))
        notes.last = f"take {thing} from {notes.at}"
        return None if notes.last == turn.action else replace(turn, memory=str(notes), action=notes.last)

    def doubt(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a worrier would answer instead of `turn`: it knows what to do, and looks elsewhere all the same."""
        from eapo_gym.envs.alfworld.experts import Decision, doubtful, parse_goal

        decided = Decision(turn.action or "", turn.think or "", turn.explore or "", turn.memory or "")
        decision = doubtful(parse_goal(observation.goal), decided, observation.context.seed)
        return None if decision is None else _turn(decision)

    def stamp(self) -> dict[str, Any]:
        options = {"memoryless": self.memoryless, "use_valid_actions": self.use_valid_actions}
        return {**super().stamp(), "options": options}


def _turn(decision: Any) -> Turn:
    return Turn(decision.think, decision.explore, decision.memory, decision.command, format_ok=True)
