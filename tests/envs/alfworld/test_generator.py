"""The generator: the same games everywhere, like the real ones, always to be won, and worth exploring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.envs.alfworld import pddl
from eapo_gym.envs.alfworld.experts.explorer import Explorer
from eapo_gym.envs.alfworld.experts.oracle import plan
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.envs.alfworld.generator import (
    EMBEDDED_SPLITS,
    HELD_OUT_SEEDS,
    PRESETS,
    Difficulty,
    GeneratedGame,
    embedded_game,
    embedded_tasks,
    game_by_id,
    generate,
)
from eapo_gym.envs.alfworld.generator.dice import Dice
from eapo_gym.envs.alfworld.generator.embedded import manifest
from eapo_gym.envs.alfworld.generator.files import problem_text
from eapo_gym.envs.alfworld.generator.household import household
from eapo_gym.envs.alfworld.task_types import TASK_TYPES
from eapo_gym.errors import UnknownName

seeds = st.integers(0, 10**6) | st.integers(HELD_OUT_SEEDS, HELD_OUT_SEEDS + 10**6)
knobs = st.sampled_from(list(PRESETS.values())) | st.builds(
    Difficulty,
    receptacles=st.floats(0, 2),
    hidden=st.floats(0, 10),
    surprise=st.floats(0, 1),
    distractors=st.floats(0, 2),
    spare=st.floats(0, 5),
)


# Every game


@settings(max_examples=150, deadline=None)
@given(seeds, knobs, st.sampled_from(TASK_TYPES))
def test_every_game_is_sound_and_its_plan_wins(seed: int, knobs: Difficulty, task_type: str) -> None:
    made = generate(seed, knobs=knobs, task_type=task_type)
    assert made.task_type == task_type
    assert made.plan
    game = made.compile()  # plays the plan: it wins, and not before it begins

    facts = defaultdict(list)
    for predicate, *args in made.problem.init:
        facts[predicate].append(args)
    assert len(set(made.problem.init)) == len(made.problem.init)
    assert {arg for args in facts.values() for fact in args for arg in fact} <= made.problem.objects.keys()
    reach = dict(facts["receptacleatlocation"])
    at = dict(facts["objectatlocation"])
    places = dict(facts["inreceptacle"])
    assert len(places) == len(facts["inreceptacle"]), "nothing lies in two places"
    assert all(at[thing] == reach[place] for thing, place in places.items())
    assert facts["atlocation"][0][1] not in reach.values(), "the agent starts in the middle of the room"
    names = [entity.name for entity in game.entities.values()]
    assert len(set(names)) == len(names)

    copies = [thing for thing in made.scene.things if thing.type == made.task.object]
    within_reach = [thing for thing in copies if thing.place is not None]
    assert len(within_reach) >= made.task.needed
    if made.task.from_elsewhere:
        assert all(thing.place.type != made.task.receptacle for thing in within_reach)
    if knobs.spare == 0:
        assert len(copies) == made.task.needed


@settings(max_examples=40, deadline=None)
@given(seeds, knobs)
def test_plans_are_as_short_as_those_of_the_oracle(seed: int, knobs: Difficulty) -> None:
    made = generate(seed, knobs=knobs)
    game = made.compile()
    assert len(made.plan) == len(plan(game, game.start()))


@settings(max_examples=20, deadline=None)
@given(seeds, knobs)
def test_the_written_problem_is_the_one_that_is_played(seed: int, knobs: Difficulty) -> None:
    made = generate(seed, knobs=knobs)
    assert pddl.parse_problem(problem_text(made), made.task.sentence) == made.problem


def test_a_written_game_plays_like_the_one_in_memory(tmp_path: Path) -> None:
    for task_type in TASK_TYPES:
        made = generate(7, task_type=task_type)
        path = made.write(tmp_path)
        assert path == tmp_path / made.id / "game.tw-pddl"
        written, native = Game.from_file(path), made.compile()
        assert written.intro == native.intro
        here = there = native.start()
        for command in made.plan:
            assert written.commands(there) == native.commands(here)
            here, text, _ = native.step(here, command)
            there, same, _ = written.step(there, command)
            assert same == text
        assert written.won(there)
        trajectory = json.loads((path.parent / "traj_data.json").read_text())
        assert trajectory["task_type"] == task_type
        wanted = {"object_target": made.task.object, "object_sliced": False, "mrecep_target": ""}
        assert wanted.items() <= trajectory["pddl_params"].items()


# The same games everywhere


def test_a_seed_gives_the_same_game_in_every_process() -> None:
    """In one with another hash seed, too, and whatever was made before."""
    code = (
        "from eapo_gym.envs.alfworld.generator import generate, PRESETS\n"
        "print(*[generate(s, knobs=k).digest for k in PRESETS.values() for s in (11, 3, 5)])"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "123", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    for seed in range(3, 12):
        generate(seed)
    assert there.stdout.split() == [generate(s, knobs=k).digest for k in PRESETS.values() for s in (11, 3, 5)]


def test_chance_is_what_it_always_was() -> None:
    """These numbers must come out in every version of Python; a new one of them would be another generator."""
    dice = Dice("test")
    assert [dice.below(1000) for _ in range(5)] == [498, 399, 159, 457, 441]
    assert dice.shuffled("abcdefgh") == list("cgbaefhd")


def test_dice_keep_to_weights() -> None:
    dice = Dice("weights")
    counts = Counter(dice.weighted({"a": 1, "b": 0, "c": 3}) for _ in range(4000))
    assert counts["b"] == 0
    assert counts["a"] == pytest.approx(1000, abs=120)
    assert fmean(dice.scaled(3, 0.5) for _ in range(2000)) == pytest.approx(1.5, abs=0.1)
    assert {dice.amount([5, 5, 0, 5], least=1) for _ in range(100)} == {1, 3}
    assert dice.amount([5], least=2) == 2


def test_streams_of_chance_do_not_touch_each_other() -> None:
    """What a knob changes is what it is about: the room, the task and its words stay."""
    for seed in range(20):
        default, spare = generate(seed), generate(seed, knobs=Difficulty(spare=3.0))
        assert spare.scene.room == default.scene.room
        assert spare.task == default.task


# The embedded games


def test_the_manifest_is_small_and_split_by_rooms() -> None:
    assert {split: len(embedded_tasks(split)) for split in EMBEDDED_SPLITS} == {"train": 1000, "valid": 140}
    rooms = {split: {rooms_of(id_) for id_ in embedded_tasks(split)} for split in EMBEDDED_SPLITS}
    assert not rooms["train"] & rooms["valid"]
    path = Path(sys.modules[embedded_tasks.__module__].__file__).with_name("manifest.json")
    assert path.stat().st_size <= 100_000


def test_task_types_are_as_frequent_as_in_the_benchmark() -> None:
    real = {task: row["games"] for task, row in household().measured["tasks"].items()}
    for split, tolerance in (("train", 0.04), ("valid", 0.1)):
        made = Counter(id_.partition("-")[0] for id_ in embedded_tasks(split))
        assert made.keys() == set(TASK_TYPES)
        for task in TASK_TYPES:
            assert made[task] / made.total() == pytest.approx(real[task] / sum(real.values()), abs=tolerance)


def test_embedded_games_are_what_they_were() -> None:
    """A failure means that the generator's version must be counted up, and the manifest be made again."""
    moved = [id_ for ids in manifest().values() for id_, digest in ids.items() if game_by_id(id_).digest != digest]
    assert not moved


def test_embedded_games_can_be_won() -> None:
    for split in EMBEDDED_SPLITS:
        for id_ in embedded_tasks(split)[::20]:
            embedded_game(id_).compile()


@pytest.mark.slow
def test_all_embedded_games_can_be_won() -> None:
    for split in EMBEDDED_SPLITS:
        for id_ in embedded_tasks(split):
            game_by_id(id_).compile()


def test_any_id_of_the_generator_can_be_loaded() -> None:
    for made in (
        generate(123_456),
        generate(5, knobs=PRESETS["hard"]),
        generate(6, task_type="look_at_obj_in_light"),
        generate(HELD_OUT_SEEDS + 999),
    ):
        assert embedded_game(made.id).digest == made.digest


@pytest.mark.parametrize(
    ("id_", "says"),
    [
        ("", "expected an id like"),
        ("pick_and_place_simple-Mug-None-Shelf-301", "expected an id like"),
        ("pick_and_place_simple-Mug-None-Shelf-301/trial_T20190909_085137_911990", "expected an id like"),
        ("pick_and_place_simple-Mug-None-Shelf-301/gen0-000042", "version"),
        ("pick_and_place_simple-Mug-None-Shelf-301/gen1-000042", "give 'pick_and_place_simple-"),
        ("pick_and_place_simpel-Mug-None-Shelf-301/gen1-000042", "Did you mean 'pick_and_place_simple'"),
        ("pick_and_place_simple-Mug-None-Shelf-301/gen1-herd-000042", "Did you mean 'hard'"),
        ("x" * 1_000_000, "expected an id like"),
        ("pick_and_place_simple-Mug-None-Shelf-301/gen1-" + "9" * 5000, "expected an id like"),
        ("pick_and_place_simple-Mug-None-Shelf-301/gen1-٠٠٠٠٤٢", "expected an id like"),
    ],
)
def test_ids_of_no_game_are_refused(id_: str, says: str) -> None:
    with pytest.raises(UnknownName, match=says) as raised:
        embedded_game(id_)
    assert len(str(raised.value)) < 500


def test_ids_of_games_with_knobs_of_ones_own_are_refused() -> None:
    made = generate(1, knobs=Difficulty(hidden=2.5))
    assert made.id != generate(1).id
    with pytest.raises(UnknownName, match="knobs"):
        embedded_game(made.id)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'train'"):
        embedded_tasks("trian")
    with pytest.raises(UnknownName, match="pick_two_obj_and_place"):
        generate(1, task_type="pick_two_objects")
    for seed in (-1, 1.5, "1", True, None, 10**18):
        with pytest.raises(ValueError, match="whole number"):
            generate(seed)
    for wrong in ({"surprise": 1.5}, {"hidden": -1}, {"receptacles": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Difficulty(**wrong)


# Like the real ones


def test_rooms_are_furnished_like_real_ones() -> None:
    """Means per kind of room, with the benchmark's knobs; the rooms are few, so their own means spread a little."""
    rows = defaultdict(list)
    for seed in range(500):
        made = generate(seed, knobs=PRESETS["benchmark"])
        rows[made.scene.room.kind].append(made)
    for kind, real in household().measured["rooms"].items():
        games = rows[kind]
        pickupable = household().properties["pickupable"]
        measured = {
            "receptacles": fmean(len(game.scene.room.receptacles) for game in games),
            "spots": fmean(len({r.spot for r in game.scene.room.receptacles}) for game in games),
            "objects": fmean(len(game.scene.things) for game in games),
            "pickupable": fmean(sum(thing.type in pickupable for thing in game.scene.things) for game in games),
        }
        for number, value in measured.items():
            assert value == pytest.approx(real[number][0], rel=0.15), (kind, number)
        assert hidden_share(games) == pytest.approx(real["hidden"], abs=0.06), kind


def test_knobs_do_what_they_say() -> None:
    def games(**knobs: float) -> list[GeneratedGame]:
        return [generate(seed, knobs=Difficulty(**knobs)) for seed in range(80)]

    def amount(games: list[GeneratedGame]) -> float:
        return fmean(len(game.scene.room.receptacles) for game in games)

    def others(games: list[GeneratedGame]) -> float:
        return fmean(sum(thing.type != game.task.object for thing in game.scene.things) for game in games)

    def copies(games: list[GeneratedGame]) -> float:
        return fmean(sum(thing.type == game.task.object for thing in game.scene.things) for game in games)

    default = games()
    assert amount(games(receptacles=0.5)) < 0.75 * amount(default) < 0.5 * amount(games(receptacles=2))
    assert hidden_share(games(hidden=0, surprise=0)) < 0.005  # some things lie nowhere else
    assert hidden_share(default) * 1.5 < hidden_share(games(hidden=4))
    assert others(games(distractors=0.5)) < 0.8 * others(default) < 0.7 * others(games(distractors=1.7))
    assert copies(games(spare=0)) < copies(default) < copies(games(spare=2))
    assert plausibility(games(surprise=1)) < plausibility(default) < plausibility(games(surprise=0))


def hidden_share(games: list[GeneratedGame]) -> float:
    movable = household().properties["pickupable"]
    things = [thing for game in games for thing in game.scene.things if thing.type in movable]
    return fmean(thing.place is not None and thing.place.openable for thing in things)


def plausibility(games: list[GeneratedGame]) -> float:
    """How likely the goal objects' places are in real rooms of the kind."""
    return fmean(
        household().rooms[game.scene.room.kind].places[thing.type].get(thing.place.type, 0)
        for game in games
        for thing in game.scene.things
        if thing.type == game.task.object and thing.place is not None
    )


def rooms_of(id_: str) -> str:
    return id_.partition("/")[0].rpartition("-")[2]


# Exploration pays


def test_searching_costs_and_memory_helps() -> None:
    """The same expert, which knows where things mostly are, with its memory and without; fifty steps at most."""
    games = [generate(seed) for seed in range(100)]
    oracle = fmean(len(game.plan) for game in games)
    remembering = [explore(game, Explorer()) for game in games]
    forgetting = [explore(game, Explorer(memoryless=True, seed=1)) for game in games]
    assert fmean(remembering) >= 1.5 * oracle
    assert fmean(forgetting) >= 1.25 * fmean(remembering)
    won = sum(steps < 50 for steps in remembering)
    assert won >= 98
    assert sum(steps < 50 for steps in forgetting) < won


def explore(made: GeneratedGame, explorer: Explorer) -> int:
    """How many steps the explorer takes."""
    game = made.compile()
    state, text, thought, memory = game.start(), game.intro, "", ""
    for step in range(1, 50):
        decision = explorer.act(made.task.sentence, text, game.commands(state), thought, memory)
        thought, memory = decision.explore, decision.memory
        state, text, _ = game.step(state, decision.command)
        if game.won(state):
            return step
    return 50


# The official environment


def reference_python() -> str:
    reference = os.environ.get("EAPO_REFERENCE_PYTHON")
    if reference:
        return reference
    if all(find_spec(package) for package in ("alfworld", "textworld", "fast_downward")):
        return sys.executable
    pytest.skip("alfworld is not installed: pip install 'eapo-gym[alfworld]', or set EAPO_REFERENCE_PYTHON")


@pytest.mark.timeout(600)
def test_the_official_environment_plays_written_games_to_the_win(tmp_path: Path) -> None:
    python = reference_python()
    made = {game.id: game for game in (generate(2, task_type=task_type) for task_type in TASK_TYPES)}
    for game in made.values():
        game.write(tmp_path)
    script = Path(__file__).with_name("play_officially.py")
    played = subprocess.run([python, str(script), str(tmp_path)], capture_output=True, text=True, timeout=500)
    assert played.returncode == 0, played.stderr[-2000:]
    records = {record["game"]: record for record in json.loads(played.stdout.splitlines()[-1])}
    assert records.keys() == made.keys()
    for id_, record in records.items():
        native = made[id_].compile()
        state, texts, commands = native.start(), [native.intro], []
        for command in made[id_].plan:
            commands.append(list(native.commands(state)))
            state, text, _ = native.step(state, command)
            texts.append(text)
        assert record["won"], id_
        assert record["texts"] == texts
        assert record["commands"] == commands
