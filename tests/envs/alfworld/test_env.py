"""`ALFWorldEnv` on the native engine."""

from __future__ import annotations

import pickle
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from eapo_gym.envs.alfworld.commands import parse_command
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.generator import generate
from eapo_gym.errors import ActionError, ContractError, SnapshotError, UnknownName


@pytest.fixture
def env() -> ALFWorldEnv:
    return ALFWorldEnv(games=20)


def test_gymnasium_accepts_it(env):
    check_env(env, skip_render_check=True)


def test_an_episode_is_won_by_its_plan(env):
    task = env.tasks()[3]
    observation, info = env.reset(options={"task": task})
    assert info["task"] == env.task == task
    assert (info["source"], info["split"], info["engine"]) == ("embedded", "train", "native")
    assert observation["goal"] == env.game.goal_text
    assert observation["state"].endswith(observation["goal"])
    from eapo_gym.envs.alfworld.generator import embedded_game

    for command in embedded_game(task).plan:
        observation, reward, terminated, truncated, info = env.step(command)
        assert not info["invalid_action"]
    assert (reward, terminated, truncated, info["won"]) == (1.0, True, False, True)


def test_a_bad_command_is_an_observation(env):
    env.reset(seed=0)
    before = env.fingerprint()
    for command in ("", "fly", "x" * 1_000_000, "go to mars 1"):
        observation, reward, terminated, _, info = env.step(command)
        assert (observation["state"], reward, terminated, info["invalid_action"]) == (
            "Nothing happens.",
            0.0,
            False,
            True,
        )
    assert env.fingerprint() == before


@pytest.mark.parametrize("action", [3, None, b"look", ["look"]])
def test_what_is_no_text_is_an_error(env, action):
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"expected a command \(str\) such as 'go to desk 1', got"):
        env.step(action)


def test_the_seed_decides_the_episode_in_every_process(env):
    program = (
        "from eapo_gym.envs.alfworld.env import ALFWorldEnv\n"
        "env = ALFWorldEnv(games=20)\n"
        "for seed in range(5):\n"
        "    _, info = env.reset(seed=seed)\n"
        "    for command in info['admissible_commands'][:4]: env.step(command)\n"
        "    print(info['task'], env.fingerprint())\n"
    )
    here = []
    for seed in range(5):
        _, info = env.reset(seed=seed)
        for command in info["admissible_commands"][:4]:
            env.step(command)
        here.append(f"{info['task']} {env.fingerprint()}")
    for hash_seed in ("0", "77"):
        there = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": hash_seed},
        )
        assert there.stdout.split("\n")[:-1] == here


def test_a_snapshot_holds_while_the_game_goes_on_and_in_another_process(env):
    rng = Random(0)
    env.reset(seed=4)
    for _ in range(20):
        env.step(rng.choice(env.valid_actions()))
    saved, seen = env.snapshot(), (env.fingerprint(), env.valid_actions(), env.describe())
    sent = pickle.loads(pickle.dumps(saved))
    for _ in range(20):
        env.step(rng.choice(env.valid_actions()))
    env.reset(seed=5)
    for snapshot in (saved, sent, saved):
        observation, info = env.restore(snapshot)
        assert (env.fingerprint(), env.valid_actions(), env.describe()) == seen
        assert info["admissible_commands"] == seen[1]
        assert observation["state"] == saved.text
    other = ALFWorldEnv(games=20)
    other.restore(sent)
    assert other.fingerprint() == seen[0]


def test_a_foreign_snapshot_is_refused(env):
    with pytest.raises(SnapshotError, match="expected a snapshot of an ALFWorld environment, got dict"):
        env.restore({})


def test_a_snapshot_of_another_split_is_refused(env):
    other = ALFWorldEnv(split="valid", games=2)
    other.reset(seed=0)
    for snapshot in (other.snapshot(), pickle.loads(pickle.dumps(other.snapshot()))):
        with pytest.raises(SnapshotError, match="split='valid', and this environment plays source='embedded'"):
            env.restore(snapshot)


def test_before_the_first_reset_there_is_no_game(env):
    with pytest.raises(ContractError, match="call reset"):
        env.valid_actions()


def test_what_there_is_not_is_named(env):
    with pytest.raises(UnknownName, match=r"'valid_seen'.*'train', 'valid'.*source='official'"):
        ALFWorldEnv(split="valid_seen")
    with pytest.raises(UnknownName, match="Did you mean 'valid'"):
        ALFWorldEnv(split="vaild")
    with pytest.raises(UnknownName, match=r"source 'offical'.*'official'"):
        ALFWorldEnv(source="offical")
    with pytest.raises(UnknownName, match="task"):
        env.reset(options={"task": "tidy-up"})
    with pytest.raises(TypeError, match=r"options\['task'\]: expected the id"):
        env.reset(options={"task": 3})


def test_games_selects(env):
    assert len(env.tasks()) == 20
    assert env.tasks() == ALFWorldEnv().tasks()[:20]
    assert len(env.tasks("valid")) == 140
    hard = generate(77, knobs=None).id
    assert ALFWorldEnv(games=[hard]).tasks() == [hard], "any game that the generator can make"
    for count in (0, 10**6 + 1):
        with pytest.raises(ValueError, match=f"from 1 to 1,000,000, got {count}"):
            ALFWorldEnv(games=count)
    with pytest.raises(UnknownName, match="generated game"):
        ALFWorldEnv(games=["nonsense"])
    assert len(ALFWorldEnv(games=np.int64(3)).tasks()) == 3
    assert ALFWorldEnv(games=[hard, hard]).tasks() == [hard]
    with pytest.raises(UnknownName, match="is of split 'valid', not of 'train'"):
        ALFWorldEnv(games=env.tasks("valid")[:1])
    for games in ([], [1], b"x", True):
        with pytest.raises(TypeError, match="games: expected"):
            ALFWorldEnv(games=games)


def test_a_split_has_as_many_embedded_games_as_one_asks_for():
    every, more = ALFWorldEnv(), ALFWorldEnv(games=1003)
    assert more.tasks() == [*every.tasks(), *(generate(seed).id for seed in (1000, 1001, 1002))]
    assert more.catalogue() != every.catalogue()
    assert more.reset(options={"task": more.tasks()[-1]})[1]["task"] == more.tasks()[-1]
    held_out = ALFWorldEnv(split="valid", games=150)
    assert len(set(held_out.tasks())) == 150
    assert {generate_room(task) for task in held_out.tasks()}.isdisjoint(map(generate_room, more.tasks()))


def generate_room(task: str) -> str:
    return task.partition("/")[0].rpartition("-")[2]


def test_embedded_games_can_be_easier_or_harder():
    same, easy, hard = (ALFWorldEnv(games=30, difficulty=difficulty) for difficulty in ("default", "easy", "hard"))
    assert same.tasks() == ALFWorldEnv(games=30).tasks()
    assert [task.partition("/")[0] for task in easy.tasks()] == [task.partition("/")[0] for task in same.tasks()]
    assert len(easy.tasks("valid")) == 140
    offered = [sum(map(len, (commands(env, task) for task in env.tasks()))) for env in (easy, same, hard)]
    assert offered[0] < offered[1], "an easy game has fewer places to go to"
    assert len({env.catalogue() for env in (same, easy, hard)}) == 3
    with pytest.raises(UnknownName, match="Did you mean 'easy'"):
        ALFWorldEnv(difficulty="esy")
    with pytest.raises(ValueError, match="games of source='official' are as they are"):
        ALFWorldEnv(source="official", difficulty="easy")


def commands(env, task):
    env.reset(options={"task": task})
    return env.valid_actions()


def test_the_list_of_tasks_is_the_callers_own(env):
    env.tasks().clear()
    assert len(env.tasks()) == 20


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("look", "look"),
        ("  Go to  Desk 1. ", "go to desk 1"),
        ("put mug 1 in/on desk 1", "move mug 1 to desk 1"),
        ("PUT the mug in cabinet 2", "move the mug to cabinet 2"),
        ("heat apple 1 with microwave 1", "heat apple 1 with microwave 1"),
    ],
)
def test_commands_are_read_kindly(text, command):
    assert parse_command(text) == command


@pytest.mark.parametrize(
    "text", ["", "fly", "take mug 1", "look at it", "go to", "\x00", "x" * 1_000_000, "go to\udfff " * 99]
)
def test_what_is_no_command_says_what_is(env, text):
    with pytest.raises(ActionError) as caught:
        env.parse_action(text)
    assert env.parse_action(caught.value.example) == caught.value.example


def test_every_valid_action_is_a_command(env):
    rng = Random(1)
    for seed in range(5):
        env.reset(seed=seed)
        for _ in range(30):
            for command in env.valid_actions():
                assert env.parse_action(command) == command
            env.step(rng.choice(env.valid_actions()))


def test_a_description_tells_where_and_with_what(env):
    env.reset(options={"task": env.tasks()[0]})
    place = next(command for command in env.valid_actions() if command.startswith("go to "))
    env.step(place)
    said = env.describe()
    assert place.removeprefix("go to ") in said
    assert "You are not carrying anything." in said


def test_rendering(env):
    assert env.render() is None
    shown = ALFWorldEnv(games=3, render_mode="ansi")
    observation, _ = shown.reset(seed=0)
    assert shown.render() == observation["state"]


def test_only_some_kinds_of_tasks() -> None:
    kinds = ["pick_and_place_simple", "pick_heat_then_place_in_recep"]
    env = ALFWorldEnv(task_types=kinds)
    every = ALFWorldEnv()
    for split in ("train", "valid"):
        assert env.tasks(split) == [task for task in every.tasks(split) if task.split("-")[0] in kinds]
        assert {task.split("-")[0] for task in env.tasks(split)} == set(kinds)
    assert env.reset(seed=3)[1]["task_type"] in kinds
    assert env.catalogue() != every.catalogue(), "a result says of which games it is"
    assert ALFWorldEnv(task_types="look_at_obj_in_light").tasks()
    with pytest.raises(UnknownName, match="Did you mean 'pick_and_place_simple'"):
        ALFWorldEnv(task_types=["pick_and_place"])
    with pytest.raises(UnknownName, match="kinds that the games have"):
        ALFWorldEnv(games=[every.tasks()[0]], task_types=["look_at_obj_in_light"])


def test_only_some_kinds_of_rooms() -> None:
    env, every = ALFWorldEnv(rooms=["bathroom", "kitchen"], games=300), ALFWorldEnv(games=300)
    numbers = {task: int(generate_room(task)) for task in every.tasks()}
    assert env.tasks() == [task for task in every.tasks() if numbers[task] < 200 or numbers[task] > 400]
    assert env.catalogue() != every.catalogue()
    both = ALFWorldEnv(rooms="bathroom", task_types="pick_and_place_simple")
    assert {task.split("-")[0] for task in both.tasks("valid")} == {"pick_and_place_simple"}
    assert {int(generate_room(task)) // 100 for task in both.tasks()} == {4}
    with pytest.raises(UnknownName, match="Did you mean 'bathroom'"):
        ALFWorldEnv(rooms="bath")
    with pytest.raises(UnknownName, match=r"task_types=\['pick_heat.*rooms=\['bathroom'\]: expected kinds"):
        ALFWorldEnv(rooms="bathroom", task_types="pick_heat_then_place_in_recep")
