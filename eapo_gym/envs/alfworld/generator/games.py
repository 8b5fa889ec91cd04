"""`generate(seed)`: one game from one number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from eapo_gym.envs.alfworld import pddl, rules
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.envs.alfworld.generator import files, plans
from eapo_gym.envs.alfworld.generator.dice import VERSION, Dice
from eapo_gym.envs.alfworld.generator.difficulty import Difficulty, preset
from eapo_gym.envs.alfworld.generator.rooms import HELD_OUT_ROOMS, SEEN_ROOMS, Room, room
from eapo_gym.envs.alfworld.generator.scenes import Scene, furnish
from eapo_gym.envs.alfworld.generator.tasks import Task, draw_room_kind, draw_task, draw_type
from eapo_gym.envs.alfworld.names import entity_names
from eapo_gym.envs.alfworld.rulebook import Rulebook
from eapo_gym.envs.alfworld.task_types import ROOMS, TASK_TYPES
from eapo_gym.errors import ContractError, UnknownName

HELD_OUT_SEEDS = 1_000_000_000
"""Seeds from here on play in rooms that no smaller seed enters: for validation, as endless as the others."""


@dataclass(frozen=True)
class GeneratedGame:
    """A game that the generator made: the scene, the task, and a shortest plan that wins it."""

    id: str
    scene: Scene
    task: Task
    plan: tuple[str, ...]

    @property
    def task_type(self) -> str:
        return self.task.type

    @cached_property
    def problem(self) -> pddl.Problem:
        """For the native engine: `Game.compile(rulebook(), game.problem)`."""
        return files.problem_of(self.scene, self.task)

    @property
    def digest(self) -> str:
        """A short mark of everything that a player could notice, by which drift of the generator is found out."""
        text = "\n".join((files.problem_text(self), self.task.sentence, *self.plan))
        return sha256(text.encode()).hexdigest()[:8]

    def compile(self) -> Game:
        """The game on the native engine, after its plan has been played there and has won."""
        game = Game.compile(rulebook(), self.problem)
        state = game.start()
        if game.won(state):
            raise ContractError(f"The generated game {self.id!r} is won before it begins.")
        for command in self.plan:
            state, text, valid = game.step(state, command)
            if not valid:
                raise ContractError(f"The plan of the generated game {self.id!r} fails at {command!r}: {text}")
        if not game.won(state):
            raise ContractError(f"The plan of the generated game {self.id!r} does not win it: {list(self.plan)}")
        return game

    def write(self, folder: str | Path) -> Path:
        """Write it below `folder` as the official environment wants it; returns the path of its game.tw-pddl."""
        return files.write_game(self, Path(folder))


def rulebook() -> Rulebook:
    """The rules of all generated games."""
    return Rulebook.parse(rules.domain_text(), rules.grammar_for(""))


def generate(seed: int, *, knobs: Difficulty | None = None, task_type: str | None = None) -> GeneratedGame:
    """The game with this seed; the same one everywhere and always, for one version of the generator.

    Without `task_type`, the seed draws one, as often as the benchmark has it. Seeds from `HELD_OUT_SEEDS` on are for
    validation.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 10**18:
        raise ValueError(f"seed: expected a whole number from 0 to 10**18 - 1, got {seed!r:.40}")
    knobs = knobs or Difficulty()
    if task_type is None:
        task_type = draw_type(Dice("type", seed))
    elif task_type not in TASK_TYPES:
        raise UnknownName.of("task type", task_type, TASK_TYPES)
    where, task = _draw_task(Dice("task", seed), task_type, seed >= HELD_OUT_SEEDS, knobs)
    scene = furnish(where, task, knobs, Dice("things", seed))
    ids = [files.AGENT, *(r.id for r in scene.room.receptacles), *(thing.id for thing in scene.things)]
    names = entity_names(map(str.lower, ids))
    plan = plans.shortest_plan(scene, task, {id_: names[id_.lower()] for id_ in ids})
    return GeneratedGame(_game_id(task, where, seed, knobs), scene, task, plan)


def _draw_task(dice: Dice, task_type: str, held_out: bool, knobs: Difficulty) -> tuple[Room, Task]:
    while True:  # some rooms lack what the task type takes, but most do not
        kind = draw_room_kind(dice, task_type)
        number = ROOMS[kind] + dice.pick(HELD_OUT_ROOMS if held_out else SEEN_ROOMS)
        where = room(number, knobs.receptacles)
        task = draw_task(dice, task_type, where)
        if task is not None:
            return where, task


def _game_id(task: Task, where: Room, seed: int, knobs: Difficulty) -> str:
    version = "-".join(filter(None, (f"gen{VERSION}", knobs.name, f"{seed:06d}")))
    return f"{task.type}-{task.object}-None-{task.receptacle}-{where.number}/{version}"


_ID = re.compile(
    r"(?P<type>[a-z_]{1,40})-[A-Za-z]{1,40}-None-[A-Za-z]{1,40}-[0-9]{1,4}"
    r"/gen(?P<version>[0-9]{1,4})(?:-(?P<knobs>[a-z][a-z0-9]{0,20}))?-(?P<seed>[0-9]{6,18})"
)


def game_by_id(id_: str) -> GeneratedGame:
    """Make the game with this id again."""
    match = _ID.fullmatch(id_)
    if match is None:
        example = f"pick_and_place_simple-Mug-None-Shelf-301/gen{VERSION}-000042"
        raise UnknownName(f"Unknown generated game {id_!r:.120}: expected an id like {example!r}.")
    if int(match["version"]) != VERSION:
        raise UnknownName(
            f"The game {id_!r} is of version {match['version']} of the generator, and this is version {VERSION}: "
            "install the release of eapo-gym that made it."
        )
    game = generate(int(match["seed"]), knobs=preset(match["knobs"] or ""), task_type=match["type"])
    if game.id != id_:
        raise UnknownName(f"Unknown generated game {id_!r}: that seed and type of task give {game.id!r}.")
    return game
