"""The experts as agents: the oracle, which looks into the environment, and the explorer, which does not."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import gymnasium as gym

from eapo_gym.agents.base import Agent, AgentError
from eapo_gym.envs.base import AgentEnv
from eapo_gym.errors import ContractError
from eapo_gym.schema import Observation, Turn

_ROLLBACK = "rollback"


class OracleAgent(Agent):
    """Does what somebody does who knows the environment: the upper bound, and stamped as privileged.

    In ALFWorld it takes the first step of a shortest plan from the true state; elsewhere it asks `AgentEnv.oracle`.
    """

    name = "oracle"
    privileged = True

    def act_in(self, env: gym.Env[Any, Any], observation: Observation) -> Turn:
        from eapo_gym.envs.alfworld.env import ALFWorldEnv
        from eapo_gym.envs.alfworld.experts import Oracle

        core = env.unwrapped
        if isinstance(core, ALFWorldEnv):
            return _turn(Oracle().act(core.game, core.state))
        action = _told(core)
        if action is None:
            raise AgentError(
                "The oracle plays ALFWorld's native engine and environments that have an oracle of their own, and "
                f"{type(core).__name__} is neither: take another agent for this environment."
            )
        return Turn(think="This is the next step of the plan.", memory="", action=action, format_ok=True)

    def act(self, observation: Observation) -> Turn:
        raise AgentError("The oracle looks into the environment: call act_in(env, observation) instead of act.")


def _told(core: object) -> str | None:
    if not isinstance(core, AgentEnv):
        return None
    try:
        return core.oracle()
    except ContractError as lost:
        raise AgentError(str(lost)) from lost


class ExplorerAgent(Agent):
    """The explorer of whatever is played: it knows only what it has seen, and its notes are the observation's memory.

    Every environment may bring one of its own (`register_explorer`); which one plays is seen from the observation.

    Args:
        memoryless: withhold its memory from it. It then draws where to look, with the seed of the observation.
        use_valid_actions: look at the commands that are offered, which show more than the text does.
    """

    name = "explorer"
    quick = True

    def __init__(self, *, memoryless: bool = False, use_valid_actions: bool = True) -> None:
        self.memoryless = memoryless
        self.use_valid_actions = use_valid_actions
        if memoryless:
            self.name = "explorer-memoryless"
        self._made: dict[str, Explorer] = {}

    def act(self, observation: Observation) -> Turn:
        return self._for(observation).act(observation)

    def mistake(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a beginner would answer instead of `turn`; None where it would answer the same, or none is known."""
        explorer = self._for(observation)
        return explorer.mistake(observation, turn) if isinstance(explorer, Beginner) else None

    def doubt(self, observation: Observation, turn: Turn) -> Turn | None:
        """What a worrier would answer instead of `turn`: it knows what to do, and explores all the same."""
        explorer = self._for(observation)
        if not isinstance(explorer, Doubter):
            raise AgentError(f"The explorer of {explorer.about} cannot be in doubt: leave doubt out.")
        return explorer.doubt(observation, turn)

    def stamp(self) -> dict[str, Any]:
        options = {"memoryless": self.memoryless, "use_valid_actions": self.use_valid_actions}
        return {**super().stamp(), "options": options}

    def _for(self, observation: Observation) -> Explorer:
        asked = []
        for explorer in map(self._explorer, _EXPLORERS):
            if explorer.knows(observation):
                return explorer
            asked.append(explorer.about)
        known = " and ".join(asked)
        raise AgentError(
            f"The explorer knows {known}, and no others; this is none of them: {observation.goal!r:.80}. Take another "
            "agent, or give the environment an explorer (register_explorer)."
        )

    def _explorer(self, address: str) -> Explorer:
        if address not in self._made:
            module, _, name = address.partition(":")
            try:
                make = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError) as error:
                raise AgentError(
                    f"The explorer {address!r} that was registered cannot be imported: {error}."
                ) from error
            self._made[address] = make(memoryless=self.memoryless, use_valid_actions=self.use_valid_actions)
        return self._made[address]


class Explorer(Protocol):
    """What an environment brings: made with `memoryless` and `use_valid_actions`, and asked at every step.

    It keeps nothing between calls. One that can also err or hesitate has `mistake` and `doubt` (`Beginner`, `Doubter`).
    """

    about: str
    """What it knows, as in "ALFWorld's household tasks"."""

    def knows(self, observation: Observation) -> bool:
        """Whether this is an observation of its environment."""

    def act(self, observation: Observation) -> Turn: ...


@runtime_checkable
class Beginner(Protocol):
    """An explorer that can err."""

    def mistake(self, observation: Observation, turn: Turn) -> Turn | None: ...


@runtime_checkable
class Doubter(Protocol):
    """An explorer that can hesitate."""

    def doubt(self, observation: Observation, turn: Turn) -> Turn | None: ...


class ALFWorldExplorer:
    """Searches likely places first."""

    about = "ALFWorld's household tasks"

    def __init__(self, *, memoryless: bool, use_valid_actions: bool) -> None:
        self.memoryless = memoryless
        self.use_valid_actions = use_valid_actions

    def knows(self, observation: Observation) -> bool:
        from eapo_gym.envs.alfworld.experts import GoalError, parse_goal

        try:
            parse_goal(observation.goal)
        except GoalError:
            return False
        return True

    def act(self, observation: Observation) -> Turn:
        from eapo_gym.envs.alfworld.experts import Explorer

        offered = observation.valid_actions if self.use_valid_actions else None
        commands = None if offered is None else [command for command in offered if command != _ROLLBACK]
        # One explorer for each step: it draws with the seed of the step, and has nothing else to keep.
        expert = Explorer(memoryless=self.memoryless, seed=observation.context.seed)
        return _turn(expert.act(observation.goal, observation.state, commands, observation.explore, observation.memory))

    def mistake(self, observation: Observation, turn: Turn) -> Turn | None:
        """It believes to see what it looks for, and reaches for it."""
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
        """It knows what to do, and looks elsewhere all the same."""
        from eapo_gym.envs.alfworld.experts import Decision, doubtful, parse_goal

        decided = Decision(turn.action or "", turn.think or "", turn.explore or "", turn.memory or "")
        decision = doubtful(parse_goal(observation.goal), decided, observation.context.seed)
        return None if decision is None else _turn(decision)


_EXPLORERS = [
    f"{__name__}:ALFWorldExplorer",
    "eapo_gym.envs.webshop.experts:Explorer",
    "eapo_gym.envs.androidworld.experts:Explorer",
]
"""Asked in this order."""


def register_explorer(address: str) -> None:
    """Let the agent "explorer" play another environment too, with the class at `address` ("my_env:MyExplorer").

    The module is imported when an observation comes that none of the explorers before knows; twice does no harm.
    """
    module, colon, name = address.partition(":")
    if not (module and colon and name.isidentifier()):
        raise ValueError(f"address: expected module:Class, as in 'my_env:MyExplorer', got {address!r:.80}")
    if address not in _EXPLORERS:
        _EXPLORERS.append(address)


def _turn(decision: Any) -> Turn:
    return Turn(decision.think, decision.explore, decision.memory, decision.command, format_ok=True)
