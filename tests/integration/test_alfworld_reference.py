"""The native engine against the reference: stored transcripts always, the real thing where it is installed."""

from __future__ import annotations

import json
import lzma
import os
import tarfile
from pathlib import Path
from random import Random

import pytest

from eapo_gym.envs.alfworld.agreement import Transcript, plan_of, record, replay
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.generator import generate
from eapo_gym.envs.alfworld.reference import PYTHON_VARIABLE, hosted_reference, is_installed
from eapo_gym.envs.alfworld.task_types import TASK_TYPES, task_type
from eapo_gym.errors import MissingExtra

from .record_transcripts import FILE

TRANSCRIPTS = [Transcript.from_json(line) for line in lzma.decompress(FILE.read_bytes()).decode().splitlines()]

needs_reference = pytest.mark.skipif(
    not (is_installed() or os.environ.get(PYTHON_VARIABLE)),
    reason=f"the reference engine is not here: pip install 'eapo-gym[alfworld]', or set {PYTHON_VARIABLE}",
)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=[transcript.task.split("/")[1] for transcript in TRANSCRIPTS])
def test_the_native_engine_says_what_the_reference_said(transcript):
    assert replay(ALFWorldEnv(games=[transcript.task]), transcript) == []


def test_the_transcripts_cover_what_there_is():
    assert {task_type(transcript.task) for transcript in TRANSCRIPTS} == set(TASK_TYPES)
    verbs = {step.command.split()[0] for transcript in TRANSCRIPTS for step in transcript.steps if step.command.split()}
    every = "go open close take move examine use heat clean cool slice look inventory help xyzzy"
    assert verbs >= set(every.split(" "))
    said = {step.state for transcript in TRANSCRIPTS for step in transcript.steps}
    assert any("Next to it, you see a" in text for text in said), "receptacles that share a location"
    assert any("sliced" in text for text in said)
    assert any(step.won for transcript in TRANSCRIPTS for step in transcript.steps)
    assert sum(len(transcript.steps) for transcript in TRANSCRIPTS) > 1000


def test_a_transcript_survives_being_written():
    for transcript in TRANSCRIPTS[:3]:
        assert Transcript.from_json(transcript.to_json()) == transcript


def test_a_difference_is_noticed():
    transcript = Transcript.from_json(TRANSCRIPTS[0].to_json())
    transcript.steps[5].state += " "
    transcript.steps[6].commands.append("fly")
    transcript.steps[7].fingerprint = "0"
    differences = replay(ALFWorldEnv(games=[transcript.task]), transcript)
    assert [difference.split(": ")[1].split(" ")[0] for difference in differences] == [
        "state",
        "commands",
        "fingerprint",
    ]


@needs_reference
@pytest.mark.slow
@pytest.mark.parametrize("kind", TASK_TYPES)
def test_the_engines_agree_live(kind):
    task = generate(5000, task_type=kind).id
    native, reference = ALFWorldEnv(games=[task]), hosted_reference(games=[task])
    try:
        plan = plan_of(native, task)
        straight = record(reference, task, [], 0, Random(kind), first=plan)
        assert straight.steps[-1].won
        for transcript in (straight, record(reference, task, plan, 15, Random(kind))):
            assert replay(native, transcript) == []
    finally:
        reference.close()


@needs_reference
@pytest.mark.slow
def test_the_reference_keeps_the_contract():
    """Snapshots by replay, inverses, restarts after its process was killed."""
    task = generate(5001, task_type="pick_cool_then_place_in_recep").id
    env = hosted_reference(games=[task])
    try:
        env.reset(seed=0)
        env.step("go to fridge 1")
        saved, seen = env.snapshot(), env.fingerprint()
        assert env.inverse("open fridge 1") == ["close fridge 1"]
        env.step("open fridge 1")
        assert env.fingerprint() != seen
        observation, _ = env.restore(saved)
        assert env.fingerprint() == seen
        assert observation["state"].startswith("You arrive at fridge 1.")

        os.kill(env.tenant["pid"], 9)
        _, reward, terminated, truncated, info = env.step("look")
        assert (reward, terminated, truncated, info["failure"]["cause"]) == (0.0, False, True, "died")
        observation, _ = env.reset(seed=0)
        assert "You are in the middle of a room" in observation["state"]
        assert env.restarts["died"] == 1
    finally:
        env.close()


@pytest.mark.skipif(is_installed() or bool(os.environ.get(PYTHON_VARIABLE)), reason="the reference engine is here")
def test_without_the_reference_one_sentence_says_how_to_get_it():
    with pytest.raises(MissingExtra, match=r"pip install 'eapo-gym\[alfworld\]'"):
        hosted_reference()


def real_games(folder: Path) -> Path:
    """A few games of the real data, unpacked, or a skip that says what is missing."""
    shared = Path(os.environ.get("EAPO_GYM_SHARED") or Path(__file__).parents[3] / "shared")
    archive = shared / "data" / "alfworld" / "json_2.1.1_games.tar.xz"
    if not archive.exists():
        pytest.skip(f"the real ALFWorld games are not at {archive}: set EAPO_GYM_SHARED to the folder above data/")
    with tarfile.open(archive) as tar:
        members = (member for member in tar if member.isfile() and member.name.endswith("game.tw-pddl"))
        for _, member in zip(range(24), members, strict=False):
            target = folder / Path(member.name).parent.parent.name / Path(member.name).parent.name
            target.mkdir(parents=True)
            content = tar.extractfile(member)
            assert content is not None
            (target / "game.tw-pddl").write_bytes(content.read())
    return folder


def test_real_games_are_won_by_their_walkthroughs(tmp_path):
    env = ALFWorldEnv(games=real_games(tmp_path))
    for task in env.tasks():
        _, info = env.reset(options={"task": task})
        assert not info["won"]
        walkthrough = json.loads((tmp_path / task / "game.tw-pddl").read_text(encoding="utf-8"))["walkthrough"]
        for command in walkthrough:
            _, _, terminated, _, info = env.step(command)
            assert not info["invalid_action"], (task, command)
        assert info["won"] == terminated is True, task
