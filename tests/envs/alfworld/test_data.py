"""Where games come from."""

from __future__ import annotations

import json

import pytest

from eapo_gym.envs.alfworld.data import OFFICIAL_COUNTS, FolderLibrary, OfficialLibrary, data_folder, shelf
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.generator import generate
from eapo_gym.envs.alfworld.task_types import task_type
from eapo_gym.errors import GameFileError, MissingData


@pytest.fixture
def folder(tmp_path):
    for seed in range(3):
        generate(seed).write(tmp_path)
    return tmp_path


def test_a_folder_of_games_is_played(folder):
    env = ALFWorldEnv(games=folder)
    assert (env.source, env.split, len(env.tasks())) == ("folder", "all", 3)
    _, info = env.reset(seed=0)
    assert (info["source"], info["task"]) == ("folder", env.task)
    assert task_type(info["task"]) in info["task"]


def test_a_generated_game_is_the_same_from_its_file(folder):
    made = generate(0)
    from_file, direct = ALFWorldEnv(games=folder), ALFWorldEnv(games=[made.id])
    observation, _ = from_file.reset(options={"task": next(t for t in from_file.tasks() if t.startswith(made.id[:40]))})
    assert observation == direct.reset(options={"task": made.id})[0]
    for command in made.plan:
        assert from_file.step(command)[0] == direct.step(command)[0]
        assert from_file.fingerprint() == direct.fingerprint()


def test_a_broken_game_is_named_when_it_is_played(folder):
    env = ALFWorldEnv(games=folder)
    file = env.library.file("all", env.tasks()[1])
    file.write_text(file.read_text(encoding="utf-8")[:4000], encoding="utf-8")
    env.reset(options={"task": env.tasks()[0]})
    with pytest.raises(GameFileError, match="broken or cut off"):
        env.reset(options={"task": env.tasks()[1]})
    observation, _ = env.reset(options={"task": env.tasks()[2]})
    assert observation["goal"], "the environment goes on"


def test_a_folder_without_games_is_said_so(tmp_path):
    with pytest.raises(MissingData, match=r"there is no game.tw-pddl below"):
        FolderLibrary(tmp_path).tasks("all")
    with pytest.raises(MissingData, match="is no folder"):
        FolderLibrary(tmp_path / "nowhere")


def test_official_splits_without_data_say_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    for split in OFFICIAL_COUNTS:
        with pytest.raises(MissingData, match="eapo-gym data alfworld"):
            ALFWorldEnv(source="official", split=split)


def test_an_incomplete_official_split_is_not_passed_off_as_one(tmp_path, monkeypatch):
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    generate(0).write(tmp_path / "json_2.1.1" / "valid_seen")
    with pytest.raises(MissingData, match=r"has 140 games, .* has 1"):
        ALFWorldEnv(source="official", split="valid_seen")


def test_data_that_was_completed_is_found(tmp_path):
    empty = FolderLibrary(tmp_path)
    with pytest.raises(MissingData):
        empty.tasks("all")
    generate(0).write(tmp_path)
    assert len(empty.tasks("all")) == 1


def test_a_game_that_is_gone_is_one_sentence(folder):
    env = ALFWorldEnv(games=folder)
    task = env.tasks()[0]
    env.library.file("all", task).unlink()
    with pytest.raises(GameFileError, match="cannot be read: No such file"):
        env.reset(options={"task": task})


def test_what_the_official_loader_passes_over_is_no_game(tmp_path):
    root = tmp_path / "json_2.1.1" / "valid_unseen"
    for seed in range(4):
        generate(seed).write(root)
    games = sorted(root.glob("*/*/game.tw-pddl"))
    unsolvable = json.loads(games[0].read_text(encoding="utf-8"))
    games[0].write_text(json.dumps({**unsolvable, "solvable": False}), encoding="utf-8")
    games[1].parent.rename(games[1].parent.with_name("movable-trial"))
    with pytest.raises(MissingData, match=r"has 134 games, .* has 2"):
        OfficialLibrary(tmp_path).tasks("valid_unseen")


def test_the_data_folder_is_that_of_alfworld(monkeypatch):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    assert data_folder().parts[-2:] == (".cache", "alfworld")
    monkeypatch.setenv("ALFWORLD_DATA", "~/games")
    assert "~" not in str(data_folder())


def test_compiled_games_are_shared_and_make_room(monkeypatch):
    shelf.clear()
    monkeypatch.setattr(shelf, "capacity", 2)
    one, two = ALFWorldEnv(games=5), ALFWorldEnv(games=5)
    tasks = one.tasks()
    one.reset(options={"task": tasks[0]})
    two.reset(options={"task": tasks[0]})
    assert one.game is two.game
    for task in tasks[1:]:
        two.reset(options={"task": task})
    one.step("look")
    two.reset(options={"task": tasks[0]})
    assert one.game is not two.game, "it has left the shelf, and is still played"
    assert one.fingerprint() == two.fingerprint()
