"""Expert episodes as examples."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from eapo_gym.agents.base import Agent
from eapo_gym.agents.experts import ExplorerAgent
from eapo_gym.bench.rollout import Limits, play
from eapo_gym.bench.setting import open_env
from eapo_gym.cli.training_data import register
from eapo_gym.protocol import parse, render
from eapo_gym.schema import Observation, Turn
from eapo_gym.trainers.collecting import Walks
from eapo_gym.trainers.demonstrations import Collected, Demonstrations, collect_demonstrations
from eapo_gym.trainers.journal import CollectError
from tests.toys import Corridor

CORRIDOR = "tests.toys:Corridor"


def collect(out: Path, walks: Walks | None = None, **what: Any) -> Collected:
    return asyncio.run(collect_demonstrations(Demonstrations(**what), walks or Walks(max_tasks=4, parallel=2), out))


class Finder(Agent):
    """Solves the corridor from what it sees; gives up in the last task."""

    name = "finder"

    def act(self, observation: Observation) -> Turn:
        valid = observation.valid_actions or ()
        wanted = (
            ["unlock door", "take key", "right"] if "You hold" in observation.state else ["take key", "right", "left"]
        )
        action = next(each for each in wanted if each in valid)
        if observation.context.task.endswith("3"):
            action = "look"
        return Turn("I think.", "Where is the key?", f"{observation.memory}. Did {action}", action)


CORRIDOR_WALKS = Walks(env=CORRIDOR, max_steps=12, parallel=3)
FINDER = f"python:{__name__}:Finder"


def test_the_examples_are_what_the_expert_saw_and_said(tmp_path: Path) -> None:
    """Against an episode that is played by itself."""
    done = collect(tmp_path / "out", Walks(max_tasks=2))
    env = open_env("eapo/ALFWorld-v0", {"split": "train"}, rollback="inverse", max_steps=50)
    from eapo_gym.agents.experts import ExplorerAgent

    expected = []
    tasks = env.unwrapped.tasks()  # type: ignore[attr-defined]
    for task in (tasks[0], tasks[len(tasks) // 2]):
        episode = asyncio.run(play(env, ExplorerAgent(), task=task, seed=0, env_id="eapo/ALFWorld-v0"))
        assert episode.success
        for step, note in zip(episode.trajectory.transitions, episode.notes, strict=True):
            expected.append(
                (step.state, step.explore_in, step.memory_in, note.response, note.offered, step.next_fingerprint)
            )
    found = [(e.state, e.explore, e.memory, render(e.turn), e.valid_actions, e.target) for e in done.examples]
    assert found == expected
    assert [len(example.actions) for example in done.examples[:3]] == [0, 1, 2]
    assert all(parse(render(example.turn)) == example.turn for example in done.examples)


def test_only_solved_episodes_unless_asked_otherwise(tmp_path: Path) -> None:
    solved = collect(tmp_path / "solved", CORRIDOR_WALKS, agent=FINDER)
    assert {example.task for example in solved.examples} == {f"train/key-in-{room}" for room in range(3)}
    assert solved.summary["left_out"] == {"unsolved": 12}
    every = collect(tmp_path / "all", CORRIDOR_WALKS, agent=FINDER, only_solved=False)
    assert len(every.examples) == len(solved.examples) + 12


def test_think_may_be_left_out(tmp_path: Path) -> None:
    with_, without = (
        collect(tmp_path / str(think), CORRIDOR_WALKS, agent=FINDER, think=think) for think in (True, False)
    )
    assert all(example.turn.think == "I think." for example in with_.examples)
    assert all(example.turn.think == "" for example in without.examples)
    assert [example.turn.action for example in with_.examples] == [example.turn.action for example in without.examples]


def test_noise_disturbs_the_environment_and_not_the_targets(tmp_path: Path) -> None:
    calm = collect(tmp_path / "calm", agent="explorer")
    noisy = collect(tmp_path / "noisy", agent="explorer", noise=0.4)
    again = collect(tmp_path / "again", agent="explorer", noise=0.4)
    assert noisy.examples == again.examples != calm.examples
    # Targets stay the expert's: the same expert, shown the same observation, says the same.
    for example in noisy.examples:
        said = ExplorerAgent().act(example.observation())
        assert isinstance(said, Turn)
        assert (said.action, said.memory) == (example.turn.action, example.turn.memory)
    # Of an action that was not carried out nobody knows where it leads.
    undone = [example for example in noisy.examples if not example.target]
    assert 0.2 < len(undone) / len(noisy.examples) < 0.6
    assert all(example.target for example in calm.examples)
    # What was carried out instead is what the memory says was done last.
    states = {(example.task, example.actions): example for example in noisy.examples}
    followed = 0
    for example in undone:
        for later in states.values():
            if later.task == example.task and later.actions[:-1] == example.actions and later.actions:
                assert later.memory.endswith(f"Last: {later.actions[-1]}.")
                followed += 1
    assert followed > 3


def test_a_beginners_wrong_note_is_unlearned(tmp_path: Path) -> None:
    """It believes to see what it looks for, and reaches for it; the expert finds out that there is no such thing."""
    done = collect(
        tmp_path, Walks(max_tasks=12, parallel=4), noise=0.3, agent_options={"use_valid_actions": False}, brief=True
    )
    unlearned = 0
    for example in done.examples:
        taken = example.memory.rpartition("did take ")[2]
        thing, _, place = taken.partition(" from ")
        if f"{thing} at {place}; " not in example.memory or example.state != "Nothing happens.":
            continue
        assert example.actions[-1] == f"take {taken}"
        assert f"{thing} at {place}; " not in (example.turn.memory or "")
        assert example.turn.action != f"take {taken}"
        unlearned += 1
    assert unlearned > 3


def test_doubt_is_shown_and_done(tmp_path: Path) -> None:
    sure = collect(tmp_path / "sure", agent="explorer")
    doubting = collect(tmp_path / "doubting", agent="explorer", doubt=0.5)
    again = collect(tmp_path / "again", agent="explorer", doubt=0.5)
    assert doubting.examples == again.examples
    assert {example.task for example in doubting.examples} == {example.task for example in sure.examples}
    # What is shown was carried out: all targets are known, and the next turn goes on from there.
    assert all(example.target for example in doubting.examples)
    by_place = {(example.task, example.actions): example for example in doubting.examples}
    for example in doubting.examples:
        later = by_place.get((example.task, (*example.actions, example.turn.action)))
        assert later is None or later.memory == example.turn.memory

    known, doubts = 0, 0
    for example in doubting.examples:
        said = ExplorerAgent().act(example.observation())
        assert isinstance(said, Turn)
        if not said.explore.startswith("Where"):
            known += 1
            if example.turn != said:
                doubts += 1
                assert example.turn.explore.startswith("Where is ")
                assert example.turn.action.startswith(("go to ", "look"))
                assert example.turn.memory == said.memory.replace(
                    f"Last: {said.action}", f"Last: {example.turn.action}"
                )
        else:
            assert example.turn == said  # who explores has no doubts
    assert known > 20
    assert 0.25 < doubts / known < 0.75


def test_who_cannot_doubt_is_not_asked_to(tmp_path: Path) -> None:
    with pytest.raises(CollectError, match=r"doubt: expected an agent that can be in doubt.*finder cannot"):
        collect(tmp_path, CORRIDOR_WALKS, agent=FINDER, doubt=0.5)


def test_broken_form_is_no_demonstration(tmp_path: Path) -> None:
    done = collect(tmp_path, CORRIDOR_WALKS, agent=f"python:{__name__}:Sloppy", only_solved=False)
    assert done.examples == []
    assert set(done.summary["left_out"]) == {"broken form"}


class Sloppy(Agent):
    name = "sloppy"

    def act(self, observation: Observation) -> str:
        return r"I will \boxed{right}"


def test_the_number_of_workers_does_not_show(tmp_path: Path) -> None:
    files = []
    for parallel in (1, 3):
        collect(tmp_path / str(parallel), Walks(max_tasks=6, seeds=2, parallel=parallel), agent="explorer")
        files.append((tmp_path / str(parallel) / "demonstrations.jsonl").read_bytes())
    assert files[0] == files[1]


def test_a_finished_folder_is_read_and_another_request_refused(tmp_path: Path) -> None:
    first = collect(tmp_path, CORRIDOR_WALKS, agent=FINDER)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert collect(tmp_path, CORRIDOR_WALKS, agent=FINDER).examples == first.examples
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    with pytest.raises(CollectError, match=r"demonstrations\.think is True there, and here it is False"):
        collect(tmp_path, CORRIDOR_WALKS, agent=FINDER, think=False)


def test_failures_are_told(tmp_path: Path) -> None:
    with pytest.raises(CollectError, match="needs a model"):
        collect(tmp_path / "a", agent="eapo")
    with pytest.raises(CollectError, match="noise: expected a share"):
        Demonstrations(noise=1.0)
    with pytest.raises(CollectError, match="doubt: expected a share"):
        Demonstrations(doubt=-0.1)
    with pytest.raises(CollectError, match="parallel: expected 1 or more, got 0"):
        Walks(parallel=0)
    with pytest.raises(CollectError, match="brief: expected an episode of ALFWorld"):
        collect(tmp_path / "brief", Walks(env="eapo/WebShop-v0", max_tasks=2), agent="explorer", brief=True)
    with pytest.raises(CollectError, match=r"Every walk failed.*knows ALFWorld's household tasks"):
        collect(tmp_path / "b", CORRIDOR_WALKS, agent="explorer")
    assert collect(tmp_path / "b", CORRIDOR_WALKS, agent=FINDER).examples  # nothing stands in the way


def test_a_shopper_shows_how_with_mistakes_and_doubts(tmp_path: Path) -> None:
    walks = Walks(env="eapo/WebShop-v0", max_tasks=12)
    calm = collect(tmp_path / "calm", walks, agent="explorer")
    assert calm.summary["solved"] >= 9
    assert {"click", "search"} == set(calm.summary["by_action"])
    for example in calm.examples:
        assert ExplorerAgent().act(example.observation()).action == example.turn.action
    doubting = collect(tmp_path / "doubting", walks, agent="explorer", doubt=0.5, noise=0.1)
    assert doubting.summary["steps"] > calm.summary["steps"]
    assert doubting.examples


def test_a_walk_that_hangs_costs_itself_alone(tmp_path: Path) -> None:
    walks = Walks(env=f"{__name__}:SometimesHangs", max_steps=12, parallel=2, limits=Limits(step=0.3))
    done = collect(tmp_path, walks, agent=FINDER)
    assert done.summary["outcomes"] == {"solved": 2, "timeout": 1, "steps": 1}
    assert {example.task for example in done.examples} == {"train/key-in-0", "train/key-in-2"}


class SometimesHangs(Corridor):
    def step(self, action: str) -> Any:
        if self.task.endswith("1"):
            import time

            time.sleep(1.5)
        return super().step(action)


def run_command(*args: str) -> Result:
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, args)


def test_the_command(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "d"), "--tasks", "3", "--json"]
    answer = run_command("demonstrations", *out)
    assert answer.exit_code == 0, answer.output
    told = json.loads(answer.stdout)
    assert told["solved"] == 3
    assert sum(told["by_action"].values()) == told["examples"]
    assert Path(told["path"]).read_bytes().count(b"\n") == told["examples"]


def test_without_the_extra_that_reads_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no file with settings is named, none has to be read."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    answer = run_command("demonstrations", "--out", str(tmp_path / "d"), "--tasks", "1", "--json")
    assert answer.exit_code == 0, answer.output


def test_on_the_command_line_with_the_environment_of_a_training(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads training configurations (extra train)")
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"env_kwargs": {"difficulty": "toy", "rooms": "bathroom"}, "split": "valid"}))
    command = ["demonstrations", "--config", str(config), "--tasks", "2", "--doubt", "0.5", "--out"]
    answer = run_command(*command, str(tmp_path / "a"))
    assert answer.exit_code == 0, answer.output
    stamp = json.loads((tmp_path / "a" / "collect.json").read_text())
    assert stamp["walks"]["env_kwargs"] == {"difficulty": "toy", "rooms": "bathroom"}
    assert (stamp["walks"]["split"], stamp["demonstrations"]["doubt"]) == ("valid", 0.5)
    # What the command line names comes first.
    answer = run_command(*command, str(tmp_path / "b"), "--split", "train", "--env-kwarg", "rooms=kitchen")
    assert answer.exit_code == 0, answer.output
    stamp = json.loads((tmp_path / "b" / "collect.json").read_text())
    assert stamp["walks"]["env_kwargs"] == {"difficulty": "toy", "rooms": "kitchen"}
    assert stamp["walks"]["split"] == "train"
