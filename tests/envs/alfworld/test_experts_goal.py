"""Goals are read from sentences and from PDDL, and the two agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.alfworld.experts.goal import Goal, GoalError, parse_goal, read_goal
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.envs.alfworld.generator.tasks import SENTENCES, Task
from eapo_gym.envs.alfworld.pddl import parse_condition
from eapo_gym.envs.alfworld.task_types import TASK_TYPES
from tests.envs.alfworld.real_games import real_games

GOALS = {
    "put a mug in desk.": Goal("pick_and_place_simple", "mug", "desk"),
    "put some spraybottle on garbagecan.": Goal("pick_and_place_simple", "spraybottle", "garbagecan"),
    "put a clean fork in drawer.": Goal("pick_clean_then_place_in_recep", "fork", "drawer", "sinkbasin"),
    "clean some fork and put it in drawer.": Goal("pick_clean_then_place_in_recep", "fork", "drawer", "sinkbasin"),
    "put a hot egg in fridge.": Goal("pick_heat_then_place_in_recep", "egg", "fridge", "microwave"),
    "heat some egg and put it in fridge.": Goal("pick_heat_then_place_in_recep", "egg", "fridge", "microwave"),
    "put a cool pan in countertop.": Goal("pick_cool_then_place_in_recep", "pan", "countertop", "fridge"),
    "cool some pan and put it in countertop.": Goal("pick_cool_then_place_in_recep", "pan", "countertop", "fridge"),
    "put two cd in safe.": Goal("pick_two_obj_and_place", "cd", "safe", count=2),
    "find two cd and put them in safe.": Goal("pick_two_obj_and_place", "cd", "safe", count=2),
    "look at vase under the desklamp.": Goal("look_at_obj_in_light", "vase", tool="desklamp"),
    "examine the vase with the desklamp.": Goal("look_at_obj_in_light", "vase", tool="desklamp"),
}


@pytest.mark.parametrize("sentence", GOALS)
def test_reads_every_template(sentence: str) -> None:
    assert parse_goal(sentence) == GOALS[sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Your task is to: put a clean fork in drawer.",
        "put a clean fork in drawer",
        "  Put a clean\n fork in drawer. ",
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are … Your task is to: put a clean fork in drawer.",
    ],
)
def test_what_stands_around_the_sentence_does_not_matter(sentence: str) -> None:
    assert parse_goal(sentence) == GOALS["put a clean fork in drawer."]


@given(st.text(max_size=60) | st.sampled_from(["put a hot", "wash the dishes.", "put two in desk", "put a mug in"]))
def test_another_sentence_is_refused_with_an_example(sentence: str) -> None:
    with pytest.raises(GoalError, match="such as 'put a clean mug in desk"):
        parse_goal(sentence)


def test_knows_what_to_do_with_the_object_and_under_which_lamp() -> None:
    assert [goal.treatment for goal in GOALS.values()] == [None] * 2 + ["clean"] * 2 + ["heat"] * 2 + [
        "cool",
        "cool",
    ] + [None] * 4
    assert [goal.lamp for goal in GOALS.values() if goal.lamp] == ["desklamp", "desklamp"]
    assert set(TASK_TYPES) == {goal.task_type for goal in GOALS.values()}


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_a_sentence_and_its_pddl_state_the_same_goal(task_type: str) -> None:
    place = "DeskLamp" if task_type == "look_at_obj_in_light" else "Desk"
    pddl = read_goal(parse_condition(Task(task_type, "Mug", place, "").goal()))
    for sentence in SENTENCES[task_type]:
        assert parse_goal(sentence.format(o="mug", r=place.lower())) == pddl


@pytest.mark.parametrize(
    "condition",
    [
        "(and)",
        "(opened fridge1)",
        "(exists (?o - object) (and (objectType ?o MugType) (isSliced ?o)))",
        "(exists (?o - object ?r - receptacle) (and (objectType ?o MugType) (not (inReceptacle ?o ?r))))",
        "(exists (?o - object ?r - receptacle) (or (objectType ?o MugType) (receptacleType ?r DeskType)))",
        "(exists (?o ?p - object ?r - receptacle) (and (objectType ?o MugType) (objectType ?p PenType)"
        " (receptacleType ?r DeskType) (inReceptacle ?o ?r) (inReceptacle ?p ?r)))",
    ],
)
def test_another_pddl_goal_is_refused(condition: str) -> None:
    with pytest.raises(GoalError, match="expected one of the six household tasks"):
        read_goal(parse_condition(condition))


def test_sentence_pddl_and_task_id_of_real_games_agree() -> None:
    for task, data in real_games("valid_seen", 140).items():
        game = Game.from_data(data)
        goal = parse_goal(game.goal_text)
        assert goal == read_goal(game.problem.goal)
        task_type, thing, _, place = task.split("/")[0].split("-")[:4]
        assert (goal.task_type, goal.object, goal.receptacle or goal.tool) == (task_type, thing.lower(), place.lower())
