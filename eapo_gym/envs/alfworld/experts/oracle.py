"""The expert that knows everything: a shortest plan from any state of a game."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count

from eapo_gym.envs.alfworld.experts.decision import Decision
from eapo_gym.envs.alfworld.experts.goal import read_goal
from eapo_gym.envs.alfworld.experts.puzzle import IMPOSSIBLE, Act, Puzzle, Situation
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.errors import EapoError

_KNOWN = "Nothing to find out: I know where everything is."


class NoPlan(EapoError):
    """A game that cannot be won from where it stands."""


class PlanError(EapoError):
    """A game whose rules or goal are not those of the household that the planner knows."""


class Oracle:
    """Takes the first step of a shortest plan, from whatever state the game is in."""

    def act(self, game: Game, state: int) -> Decision:
        commands = plan(game, state)
        goal = read_goal(game.problem.goal)
        if not commands:
            return Decision("look", f"The task, to {goal}, is done.", _KNOWN, "The task is done.")
        think = f"To {goal} takes {len(commands)} more commands at the least. The first of them is: {commands[0]}."
        return Decision(commands[0], think, _KNOWN, f"Plan: {'; '.join(commands)}.")


def plan(game: Game, state: int) -> list[str]:
    """The shortest sequence of commands that wins the game from `state`; none are needed where it is won.

    Raises `NoPlan` where it cannot be won any more. The game itself has the last word: a plan is played through before
    it is handed out.
    """
    if game.won(state):
        return []
    puzzle = Puzzle(read_goal(game.problem.goal), [*game.static_facts, *game.true_facts(state)])
    commands = _spell(game, _search(puzzle))
    reached = state
    for command in commands:
        reached, _, valid = game.step(reached, command)
        if not valid:
            raise PlanError(
                f"Planner: expected {command!r} to be possible here, but the rules of this game are others."
            )
    if not game.won(reached):
        raise PlanError(f"Planner: expected to win this game with {commands}, but its rules or its goal are others.")
    return commands


def _search(puzzle: Puzzle) -> list[Act]:
    """A*. Among equally promising situations the furthest comes first, so that a good bound leads straight down."""
    start = puzzle.start
    order = count()
    walked = {start: 0}
    came: dict[Situation, tuple[Situation, Act]] = {}
    frontier = [(puzzle.bound(start), 0, next(order), start)]
    while frontier:
        total, minus_steps, _, now = heappop(frontier)
        if total >= IMPOSSIBLE:
            break
        if -minus_steps > walked[now]:
            continue
        if puzzle.reached(now):
            acts = []
            while now in came:
                now, act = came[now]
                acts.append(act)
            return acts[::-1]
        steps = 1 - minus_steps
        for act, after in puzzle.successors(now):
            if steps < walked.get(after, IMPOSSIBLE):
                walked[after] = steps
                came[after] = (now, act)
                heappush(frontier, (steps + puzzle.bound(after), -steps, next(order), after))
    raise NoPlan(f"This game cannot be won from here: there is no way left to {puzzle.goal}.")


def _spell(game: Game, acts: Sequence[Act]) -> list[str]:
    """The commands for the acts; a walk is named after the receptacle that is dealt with on arrival."""
    names = {id_: entity.name for id_, entity in game.entities.items()}
    location = {fact[1]: fact[2] for fact in sorted(game.static_facts) if fact[0] == "receptacleatlocation"}
    commands = []
    for i, act in enumerate(acts):
        verb, thing, receptacle = act.verb, names.get(act.object), names.get(act.receptacle)
        if verb == "go to":
            here = [r for r, where in location.items() if where == act.location]
            meant = next((later.receptacle for later in acts[i + 1 :] if later.receptacle in here), here[0])
            commands.append(f"go to {names[meant]}")
        elif verb == "open":
            commands.append(f"open {receptacle}")
        elif verb == "use":
            commands.append(f"use {thing}")
        else:
            commands.append(f"{verb} {thing} {_PREPOSITION[verb]} {receptacle}")
    return commands


_PREPOSITION = {"take": "from", "move": "to", "clean": "with", "heat": "with", "cool": "with"}
