import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.store import episode_line
from eapo_gym.schema import Trajectory, Transition
from tests.bench.episodes import episodes

STEP = Transition(
    task="x",
    trajectory="x#0",
    t=0,
    goal="g",
    state="s",
    fingerprint="f",
    depth=0,
    explore_in="",
    memory_in="",
    explore="e",
    memory="m",
    action="look",
    format_ok=True,
    reward=0.0,
    terminated=False,
    truncated=False,
    next_state="s2",
    next_fingerprint="f2",
)


@given(episodes())
@settings(max_examples=200)
def test_json_loses_nothing(episode: Episode) -> None:
    assert Episode.from_json(episode.to_json()) == episode
    line = episode_line(episode)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert Episode.from_json(json.loads(line)) == episode


def test_what_is_not_finite_survives() -> None:
    step = replace(STEP, reward=-math.inf, response_logprobs=(-math.inf, -0.5, math.nan))
    episode = Episode("a", Trajectory("x", "embedded", [step]), [StepNote(reward_parts={"task": math.nan})])
    data = json.loads(episode_line(episode), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    back = Episode.from_json(data)
    (again,) = back.trajectory.transitions
    assert again.reward == -math.inf
    assert again.response_logprobs[:2] == (-math.inf, -0.5)
    assert math.isnan(again.response_logprobs[2])
    assert math.isnan(back.notes[0].reward_parts["task"])


def test_numbers_of_numpy_are_numbers() -> None:
    step = replace(STEP, prompt_ids=np.array([1, 2]), response_logprobs=np.array([-0.5]), reward=np.float32(0.5))
    episode = Episode("a", Trajectory("x", "embedded", [step], info={"seed": np.int64(3)}))
    back = Episode.from_json(json.loads(episode_line(episode)))
    (again,) = back.trajectory.transitions
    assert (again.prompt_ids, again.response_logprobs, again.reward) == ((1, 2), (-0.5,), 0.5)
    assert back.trajectory.info == {"seed": 3}


def test_states_stand_there_once() -> None:
    states = [f"a state that is like no other, {t}" for t in range(6)]
    steps = [replace(STEP, t=t, state=states[t], next_state=states[t + 1]) for t in range(5)]
    text = episode_line(Episode("a", Trajectory("x", "embedded", steps))).decode()
    assert [text.count(state) for state in states] == [1] * 6


def test_pictures_of_prompts_are_kept_by_name() -> None:
    picture = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
    episode = Episode("a", Trajectory("x", "embedded", [replace(STEP, images=(picture, picture))]))
    with pytest.raises(ValueError, match="pass to_json a function"):
        episode.to_json()
    data = episode.to_json(lambda image: f"{image.sum()}.webp")
    assert data["steps"][0]["images"] == ["351.webp"] * 2
    assert Episode.from_json(data).trajectory.transitions[0].images == ()
    loaded = Episode.from_json(data, lambda name: picture).trajectory.transitions[0].images
    assert [image is picture for image in loaded] == [True, True]


def test_other_formats_and_too_many_notes_are_refused() -> None:
    episode = Episode("a", Trajectory("x", "embedded", [STEP]), [StepNote()] * 2)
    with pytest.raises(ValueError, match="at most one note for each of the 1 steps, got 2"):
        episode.to_json()
    with pytest.raises(ValueError, match="format 1, got format 7"):
        Episode.from_json({"format": 7})
