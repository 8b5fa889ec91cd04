"""An endless, seeded supply of household games like those of ALFWorld.

>>> game = generate(42, task_type="pick_heat_then_place_in_recep")
>>> game.task.type, game.compile().won(0)
('pick_heat_then_place_in_recep', False)
>>> embedded_game(game.id).plan == game.plan
True
"""

from eapo_gym.envs.alfworld.generator.dice import VERSION
from eapo_gym.envs.alfworld.generator.difficulty import PRESETS, Difficulty, preset
from eapo_gym.envs.alfworld.generator.embedded import EMBEDDED_SPLITS, embedded_game, embedded_tasks
from eapo_gym.envs.alfworld.generator.games import HELD_OUT_SEEDS, GeneratedGame, game_by_id, generate, rulebook

__all__ = [
    "EMBEDDED_SPLITS",
    "HELD_OUT_SEEDS",
    "PRESETS",
    "VERSION",
    "Difficulty",
    "GeneratedGame",
    "embedded_game",
    "embedded_tasks",
    "game_by_id",
    "generate",
    "preset",
    "rulebook",
]
