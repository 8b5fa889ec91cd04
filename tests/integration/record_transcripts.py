"""Makes tests/integration/transcripts.jsonl.xz: what the reference engine says on games of our own generator.

EAPO_REFERENCE_PYTHON=… python -m tests.integration.record_transcripts
"""

from __future__ import annotations

import lzma
from pathlib import Path
from random import Random

from rich.progress import track

from eapo_gym.envs.alfworld.agreement import plan_of, record
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.generator import generate
from eapo_gym.envs.alfworld.reference import hosted_reference
from eapo_gym.envs.alfworld.task_types import TASK_TYPES

FILE = Path(__file__).parent / "transcripts.jsonl.xz"
GAMES_OF_A_TYPE = 5
STEPS = 50


def detour(env: ALFWorldEnv, task: str) -> list[str]:
    """What random walks hardly ever do: slice something; move a thing between receptacles that share a location."""
    env.reset(options={"task": task})
    game = env.game
    name = {id_: entity.name for id_, entity in game.entities.items()}
    facts = {*game.static_facts, *game.true_facts(game.start())}
    where = {fact[1]: fact[2] for fact in facts if fact[0] == "receptacleatlocation"}
    inside = {fact[1]: fact[2] for fact in facts if fact[0] == "inreceptacle"}

    def take(thing: str) -> list[str]:
        place = name[inside[thing]]
        return [f"go to {place}", f"open {place}", f"take {name[thing]} from {place}", "inventory"]

    commands: list[str] = []
    knives = [thing for thing in inside if game.entities[thing].name.startswith(("knife", "butterknife"))]
    food = [thing for thing in inside if ("sliceable", thing) in facts]
    if knives and food:
        knife, target = knives[0], food[0]
        place = name[inside[target]]
        cut = f"slice {name[target]} with {name[knife]}"
        commands += [
            *take(knife),
            f"go to {place}",
            f"open {place}",
            cut,
            "look",
            cut,
            f"move {name[knife]} to {place}",
        ]
        commands += [f"take {name[target]} from {place}", f"examine {name[target]}", f"move {name[target]} to {place}"]
    for thing, place in inside.items():
        others = [other for other in where if other != place and where[other] == where.get(place)]
        if others and ("pickupable", thing) in facts:
            there, here = name[others[0]], name[place]
            commands += [*take(thing), f"open {there}", f"move {name[thing]} to {there}", "look"]
            commands += [f"take {name[thing]} from {there}", "look", f"move {name[thing]} to {here}", "look"]
            break
    return commands


def main() -> None:
    tasks = [
        generate(seed, task_type=kind).id
        for number, kind in enumerate(TASK_TYPES)
        for seed in range(2000 + 10 * number, 2000 + 10 * number + GAMES_OF_A_TYPE)
    ]
    reference = hosted_reference(games=tasks)
    native = ALFWorldEnv(games=tasks)
    lines = [
        record(reference, task, plan_of(native, task), STEPS, Random(task), detour(native, task)).to_json()
        for task in track(tasks, "reference engine")
    ]
    reference.close()
    FILE.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))
    print(f"{len(lines)} transcripts in {FILE}, {FILE.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
