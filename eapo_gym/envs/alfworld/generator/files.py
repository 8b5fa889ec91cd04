"""A scene and a task as a PDDL problem, and as the files that the official environment loads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from eapo_gym.envs.alfworld import pddl, rules
from eapo_gym.envs.alfworld.generator.household import household
from eapo_gym.envs.alfworld.generator.scenes import Scene
from eapo_gym.envs.alfworld.generator.tasks import Task

if TYPE_CHECKING:
    from eapo_gym.envs.alfworld.generator.games import GeneratedGame

AGENT = "agent1"

_NAMED_IN_RULES = ("SinkBasin", "Microwave", "Fridge"), ("Sink", "Knife", "ButterKnife")
"""Types of receptacles and of objects that the rules name: every problem must know them, there or not."""

_PROPERTIES = {
    "pickupable": "pickupable",
    "cleanable": "cleanable",
    "heatable": "heatable",
    "coolable": "coolable",
    "sliceable": "sliceable",
    "toggleable": "toggleable",
    "isreceptacleobject": "isReceptacleObject",
}


def objects_of(scene: Scene) -> dict[str, str]:
    """Everything that the problem declares, with its PDDL type."""
    receptacles, things = scene.room.receptacles, scene.things
    rtypes = {receptacle.type for receptacle in receptacles} | set(_NAMED_IN_RULES[0])
    otypes = {thing.type for thing in things} | set(_NAMED_IN_RULES[1])
    spots = {r.spot for r in receptacles} | {thing.spot for thing in things}
    return {
        AGENT: "agent",
        **{f"{type_}Type": "otype" for type_ in sorted(otypes)},
        **{f"{type_}Type": "rtype" for type_ in sorted(rtypes)},
        **{thing.id: "object" for thing in things},
        **{receptacle.id: "receptacle" for receptacle in receptacles},
        **dict.fromkeys(sorted(spots), "location"),
        scene.start: "location",
    }


def facts_of(scene: Scene) -> Iterator[pddl.Fact]:
    """What holds at the start."""
    known = household()
    yield "atLocation", AGENT, scene.start
    for receptacle in scene.room.receptacles:
        yield "receptacleType", receptacle.id, f"{receptacle.type}Type"
        yield "receptacleAtLocation", receptacle.id, receptacle.spot
        if receptacle.openable:
            yield "openable", receptacle.id
    for thing in scene.things:
        yield "objectType", thing.id, f"{thing.type}Type"
        yield "objectAtLocation", thing.id, thing.spot
        if thing.place is not None:
            yield "inReceptacle", thing.id, thing.place.id
        if thing.cool:
            yield "isCool", thing.id
        for quality, predicate in _PROPERTIES.items():
            if known.is_(quality, thing.type):
                yield predicate, thing.id
    for inner, outer in scene.nested:
        yield "inReceptacleObject", inner.id, outer.id
    types = sorted({thing.type for thing in scene.things})
    for receptacle_type in sorted(scene.room.types()):
        held = known.can_contain.get(receptacle_type, frozenset())
        for type_ in types:
            if type_ in held:
                yield "canContain", f"{receptacle_type}Type", f"{type_}Type"


def problem_of(scene: Scene, task: Task) -> pddl.Problem:
    """The problem as the native engine takes it: what reading `problem_text` would give."""
    return pddl.Problem(
        {name.lower(): type_ for name, type_ in objects_of(scene).items()},
        [tuple(word.lower() for word in fact) for fact in facts_of(scene)],
        _condition(task.goal()),
        task.sentence,
    )


_condition = lru_cache(maxsize=1024)(pddl.parse_condition)


def problem_text(game: GeneratedGame) -> str:
    """The problem in PDDL."""
    objects = "\n".join(f"    {name} - {type_}" for name, type_ in objects_of(game.scene).items())
    facts = "\n".join(f"    ({' '.join(fact)})" for fact in facts_of(game.scene))
    name = game.id.rpartition("/")[2]
    return (
        f"(define (problem {name})\n  (:domain alfred)\n  (:objects\n{objects}\n  )\n"
        f"  (:init\n{facts}\n  )\n  (:goal {game.task.goal()})\n)\n"
    )


def write_game(game: GeneratedGame, folder: Path) -> Path:
    """Write `<task>/<trial>/game.tw-pddl` and `traj_data.json` below `folder`; returns the path of the game file."""
    place = folder / game.id
    place.mkdir(parents=True, exist_ok=True)
    path = place / "game.tw-pddl"
    path.write_text(
        json.dumps(
            {
                "pddl_domain": rules.domain_text(),
                "grammar": rules.grammar_for(game.task.sentence),
                "pddl_problem": problem_text(game),
                "solvable": True,
                "walkthrough": list(game.plan),
            }
        ),
        encoding="utf-8",
    )
    (place / "traj_data.json").write_text(json.dumps(_trajectory(game), indent=1), encoding="utf-8")
    return path


def _trajectory(game: GeneratedGame) -> dict[str, object]:
    """What the official environment and its experts read of a `traj_data.json`."""
    task, number = game.task, game.scene.room.number
    under_lamp = task.type == "look_at_obj_in_light"
    return {
        "task_id": game.id.rpartition("/")[2],
        "task_type": task.type,
        "pddl_params": {
            "object_target": task.object,
            "parent_target": "" if under_lamp else task.receptacle,
            "toggle_target": task.receptacle if under_lamp else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
        "scene": {"floor_plan": f"FloorPlan{number}", "scene_num": number},
        "turk_annotations": {"anns": [{"task_desc": task.sentence[:1].upper() + task.sentence[1:], "high_descs": []}]},
    }
