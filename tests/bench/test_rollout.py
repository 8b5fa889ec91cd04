import asyncio
import threading
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

from eapo_gym.agents.base import Agent, Response
from eapo_gym.bench.pictures import Pictures
from eapo_gym.bench.records import Episode
from eapo_gym.bench.rollout import Limits, play, seed_of
from eapo_gym.bench.setting import open_env
from eapo_gym.engines.base import EngineError, EngineUnavailable, PromptTooLong
from eapo_gym.envs.branching import branch, resume
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import ContractError, HostingError
from eapo_gym.wrappers import Rollback, SetOfMarks, apply_schema
from tests.bench.players import (
    WAY,
    Crashing,
    Drawing,
    Failing,
    Hanging,
    Quick,
    Scripted,
    Sleepy,
    Threaded,
    Waiting,
    comparable,
    explore,
)
from tests.toys import Corridor
from tests.toys_gui import EXAMPLES, Pages

TASK = "train/key-in-0"


def played(env: Any, agent: Agent, task: str = TASK, **options: Any) -> Episode:
    return asyncio.run(play(env, agent, task=task, seed=options.pop("seed", 0), **options))


def test_an_episode_is_recorded_as_it_was_played() -> None:
    agent = Scripted("look", *WAY)
    episode = played(explore(Corridor()), agent, repeat=2, env_id="toy")
    steps = episode.trajectory.transitions
    assert episode.success
    assert (episode.outcome, episode.repeat, episode.agent) == ("solved", 2, "scripted")
    assert [step.action for step in steps] == ["look", *WAY]
    assert [step.t for step in steps] == list(range(7))
    assert [step.depth for step in steps] == [0, 1, 0, 0, 0, 0, 0]  # the look left the state as it was
    assert all(a.next_fingerprint == b.fingerprint for a, b in pairwise(steps))
    assert all(a.next_state == b.state for a, b in pairwise(steps))
    assert [step.reward for step in steps] == [0.0] * 6 + [1.0]
    assert (steps[-1].terminated, steps[-1].truncated) == (True, False)
    assert [(step.explore_in, step.memory_in) for step in steps[:3]] == [("", ""), ("e0", "m0"), ("e1", "m1")]
    assert all(step.format_ok for step in steps)
    assert episode.notes[0].offered == ("light lamp", "look", "right", "take key")
    assert episode.trajectory.info == {"split": "train", "rollback_mode": "inverse", "seed": 0}
    assert episode.trajectory.exploration_degree() == pytest.approx(1 / 7)
    contexts = [observation.context for observation in agent.seen]
    assert [(here.env, here.task, here.episode, here.t) for here in contexts][:2] == [
        ("toy", TASK, f"{TASK}#2", 0),
        ("toy", TASK, f"{TASK}#2", 1),
    ]
    assert len({here.seed for here in contexts}) == len(contexts)
    assert [observation.valid_actions for observation in agent.seen] == [note.offered for note in episode.notes]


def test_what_the_engine_was_fed_and_sampled_is_kept_exactly() -> None:
    response = Response(
        "<memory>x</memory>", prompt_ids=(5, 6), ids=(7, 8, 9), logprobs=(-0.1, -0.2, -0.3), finish="length", calls=2
    )
    episode = played(explore(Corridor(), 1), Scripted(response))
    (step,), (note,) = episode.trajectory.transitions, episode.notes
    assert (step.prompt_ids, step.response_ids, step.response_logprobs) == ((5, 6), (7, 8, 9), (-0.1, -0.2, -0.3))
    assert (note.response, note.finish, note.calls) == ("<memory>x</memory>", "length", 2)
    assert (note.prompt_tokens, note.response_tokens) == (2, 3)
    assert step.action is None
    assert (step.memory, note.invalid, step.format_ok) == ("x", True, False)
    assert note.problems
    assert "Nothing was executed" in note.notice


def test_an_episode_may_begin_elsewhere() -> None:
    env = explore(Corridor())
    env.reset(options={"task": TASK})
    env.step("right")
    middle = branch(env)
    episode = played(env, Scripted("left", *WAY), begin=lambda env: resume(env, middle))
    assert episode.success
    assert episode.trajectory.transitions[0].state.startswith("You are in room 1.")
    assert [step.depth for step in episode.trajectory.transitions][:2] == [0, 1]  # room 0 was visited before


def test_outcomes() -> None:
    assert played(explore(Corridor(), 3), Scripted("look")).outcome == "steps"
    endless = apply_schema(Corridor(), "explore", None)
    short = played(endless, Scripted("look"), limits=Limits(steps=4))
    assert (short.outcome, len(short), short.trajectory.transitions[-1].truncated) == ("steps", 4, True)

    class Telling(Corridor):
        def step(self, action: str) -> Any:
            invalid = action not in self.valid_actions()
            *seen, info = super().step(action)
            return *seen, info | {"invalid_action": invalid}

    answers = "take key", "no action at all", "look", "take key"
    idle = played(explore(Telling()), Scripted(*answers), limits=Limits(idle=3))
    assert (idle.outcome, len(idle), idle.trajectory.transitions[-1].truncated) == ("steps", 6, True)

    class Lost(Corridor):
        def step(self, action: str) -> Any:
            obs, _, _, _, info = super().step(action)
            return obs, 0.0, True, False, info

    assert played(explore(Lost()), Scripted("look")).outcome == "ended"


def test_rollbacks_are_told_from_other_steps() -> None:
    episode = played(explore(Corridor(), 5), Scripted("right", "rollback", "rollback", "light lamp", "rollback"))
    assert [step.rollback for step in episode.trajectory.transitions] == [False, True, True, False, True]
    assert (episode.rollbacks, episode.rollbacks_held) == (3, 1)
    assert [note.invalid for note in episode.notes] == [False, False, True, False, True]
    assert "rollback" in (episode.notes[1].offered or ())


def test_steps_that_did_nothing_are_invalid() -> None:
    env = open_env("eapo/ALFWorld-v0", {"split": "valid"}, rollback="inverse", max_steps=4)
    task = env.unwrapped.tasks()[0]  # type: ignore[attr-defined]
    answers = Scripted("look", "take mug 99 from shelf 99", "rollback", Response("no action"))
    assert [note.invalid for note in played(env, answers, task=task).notes] == [False, True, True, True]


def test_history_is_for_those_who_want_it() -> None:
    class Historian(Scripted):
        wants_history = True

    with_history, without = Historian(*WAY), Scripted(*WAY)
    played(explore(Corridor()), with_history)
    played(explore(Corridor()), without)
    assert [len(observation.history) for observation in with_history.seen] == list(range(6))
    assert [exchange.action for exchange in with_history.seen[-1].history] == list(WAY[:5])
    assert with_history.seen[-1].history[0].state == with_history.seen[0].state
    assert not without.seen[-1].history


def test_a_privileged_agent_sees_the_environment() -> None:
    class Cheat(Agent):
        privileged = True

        def act_in(self, env: Any, observation: Any) -> str:
            assert env.unwrapped.fingerprint()
            return f"\\boxed{{{WAY[observation.context.t]}}}"

    assert played(explore(Threaded()), Cheat()).outcome == "infrastructure", "made in this thread, stepped in another"
    assert played(explore(Corridor()), Cheat()).success


# Seeds


def test_seeds_depend_on_all_that_names_a_moment_and_on_nothing_else() -> None:
    assert seed_of(0, "a", 0, 0) == seed_of(0, "a", 0, 0) == 385042347699019709
    others = {seed_of(*moment) for moment in [(1, "a", 0, 0), (0, "b", 0, 0), (0, "a", 1, 0), (0, "a", 0, 1)]}
    assert len({*others, seed_of(0, "a", 0, 0)}) == 5
    assert all(0 <= seed < 2**63 for seed in others)


def test_the_same_seed_plays_the_same_episode() -> None:
    first, again, other = (
        comparable(played(explore(Corridor()), Drawing(), seed=seed).to_json()) for seed in (3, 3, 4)
    )
    assert first == again
    assert first["steps"] != other["steps"]


# What goes wrong


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (lambda: ValueError("I do not know."), "agent"),
        (lambda: PromptTooLong("Too long."), "agent"),
        (lambda: EngineError("The server is busy."), "infrastructure"),
        (lambda: HostingError("The device is gone."), "infrastructure"),
        (lambda: StopIteration("no more lines"), "agent"),
    ],
)
def test_an_agent_that_raises_ends_the_episode_and_what_was_played_is_kept(error: Any, outcome: str) -> None:
    episode = played(explore(Corridor()), Failing(error, t=2))
    assert (episode.outcome, len(episode), episode.success) == (outcome, 2, False)
    assert str(error().args[0]) in episode.error
    at_once = played(explore(Corridor()), Failing(error, t=0))
    assert (len(at_once), at_once.goal) == (0, episode.goal), "known from the reset on"
    assert at_once.goal


def test_an_answer_that_is_none_is_the_agents_fault() -> None:
    assert "returned int" in played(explore(Corridor()), Scripted(7)).error  # type: ignore[arg-type]
    episode = played(explore(Corridor()), Scripted(Response(b"look")))  # type: ignore[arg-type]
    assert episode.outcome == "agent"
    assert "bytes" in episode.error


def test_leaving_the_program_is_an_error_like_any_other() -> None:
    class Leaving(Agent):
        async def act_async(self, observation: Any) -> Any:
            raise SystemExit(3)

    class QuickLeaving(Leaving):
        quick = True

    class Left(Corridor):
        def step(self, action: str) -> Any:
            raise SystemExit(3)

    for agent in (Leaving(), QuickLeaving(), Failing(lambda: SystemExit(3))):
        episode = played(explore(Corridor()), agent)
        assert (episode.outcome, "SystemExit: 3" in episode.error) == ("agent", True)
    for kind in (Left, type("QuickLeft", (Left,), {"quick": True})):
        episode = played(explore(kind()), Scripted("look"))
        assert (episode.outcome, "SystemExit: 3" in episode.error) == ("infrastructure", True)


@pytest.mark.parametrize(
    "odd",
    [
        {"task_reward": None},
        {"rollback": True},
        {"rollback": {}},
        {"notice": {1}},
        {"won": np.zeros(2)},
        {"invalid_action": np.zeros(2)},
        {"turn": None},
        {"fingerprint": 5},
        {"goal": None},
        {"state": 5},
        {"elements": {(1, 2): 3}},
    ],
)
def test_an_environment_that_says_something_odd_is_the_infrastructures_fault(odd: dict[str, Any]) -> None:
    class Odd(gym.Wrapper[Any, Any, Any, Any]):
        def step(self, action: str) -> Any:
            obs, reward, terminated, truncated, info = self.env.step(action)
            place = obs if odd.keys() & {"goal", "state", "elements"} else info
            place.update(odd)
            return obs, reward, terminated, truncated, info

    episode = played(Odd(explore(Corridor())), Scripted("look"))
    assert (episode.outcome, len(episode)) == ("infrastructure", 0)
    assert episode.error.startswith("step: ")


@pytest.mark.parametrize("offered", [[["x"]], "look", [None], 5])
def test_valid_actions_are_texts(offered: Any) -> None:
    kind = type("Odd", (Corridor,), {"valid_actions": lambda self: offered})
    assert played(explore(kind()), Scripted("look")).outcome == "infrastructure"


@pytest.mark.parametrize("error", [EngineUnavailable("The engine is gone."), KeyboardInterrupt()])
def test_what_makes_every_episode_pointless_is_raised(error: BaseException) -> None:
    with pytest.raises(type(error)):
        played(explore(Corridor()), Failing(lambda: error))


def test_an_environment_that_raises_is_the_infrastructures_fault() -> None:
    episode = played(explore(Crashing()), Scripted("look", "light lamp"))
    assert (episode.outcome, len(episode)) == ("infrastructure", 1)
    assert "The lamp exploded." in episode.error
    episode = played(explore(Corridor()), Scripted("look"), task="train/nowhere")
    assert (episode.outcome, len(episode)) == ("infrastructure", 0)
    assert "Unknown task" in episode.error


def test_a_process_that_dies_in_the_middle_is_the_infrastructures_fault() -> None:
    with HostedEnv("tests.bench.players:Dying", retries=0) as hosted:
        episode = played(explore(hosted), Scripted("look", "light lamp", "look"))
        assert (episode.outcome, len(episode)) == ("infrastructure", 1)
        assert "died" in episode.error
        again = played(explore(hosted), Scripted("look"))
        assert (again.outcome, len(again)) == ("steps", 20), "the next episode has a new process"


def test_time_outs() -> None:
    sleepy = Sleepy()
    for agent in (sleepy, Waiting()):
        episode = played(explore(Corridor()), agent, limits=Limits(agent=0.05))
        assert (episode.outcome, len(episode)) == ("timeout", 0)
        assert episode.error == "The agent took longer than its 0.05 s."
    sleepy.gate.set()
    Hanging.gate.clear()
    episode = played(explore(Hanging()), Scripted("look", "light lamp"), limits=Limits(step=0.05))
    assert (episode.outcome, len(episode)) == ("timeout", 1)
    assert episode.error == "The environment's step took longer than its 0.05 s."
    episode = played(explore(Hanging()), Scripted("look", "light lamp"), limits=Limits(episode=0.2))
    assert episode.error == "The episode took longer than its 0.2 s, waiting for the environment's step."
    Hanging.gate.set()
    endless = apply_schema(Quick(), "explore", None)
    assert played(endless, Scripted("look"), limits=Limits(episode=0.1)).outcome == "timeout"


def test_quick_environments_are_stepped_in_the_loop_and_others_in_a_thread_of_their_own() -> None:
    Quick.threads.clear()
    played(explore(Quick()), Scripted(*WAY))
    assert Quick.threads == {threading.get_ident()}
    Quick.threads.clear()
    slow = type("Slow", (Quick,), {"quick": False})
    played(explore(slow()), Scripted(*WAY))
    assert len(Quick.threads) == 1
    assert Quick.threads != {threading.get_ident()}


def test_a_stack_that_does_not_read_responses_is_refused() -> None:
    with pytest.raises(ContractError, match="no ExploreMemory"):
        played(TimeLimit(Rollback(Corridor()), 5), Scripted("look"))


def test_pictures_are_kept_by_name(tmp_path: Any) -> None:
    pytest.importorskip("PIL", reason="needs Pillow")
    pictures = Pictures(tmp_path)
    core = Pages()
    env = TimeLimit(apply_schema(SetOfMarks(core), "explore", None), 3)  # type: ignore[arg-type]
    agent = Scripted(EXAMPLES[1])
    episode = played(env, agent, task=core.tasks()[0], pictures=pictures)
    assert episode.outcome == "steps", episode.error
    note = episode.notes[0]
    assert note.screenshot is not None
    assert note.marked is not None
    assert (pictures.load(note.screenshot) == agent.seen[0].screenshot).all(), "without loss"
    assert (pictures.load(note.marked) == agent.seen[0].marked).all()
    assert note.elements == agent.seen[0].elements
    assert episode.last_screenshot is not None
