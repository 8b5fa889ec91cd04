import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import psutil
import pytest

from eapo_gym.agents.base import Agent, Response
from eapo_gym.bench.evaluate import METRICS_FILE, Evaluation, NoModel, Progress, Result, evaluate
from eapo_gym.bench.rollout import Limits
from eapo_gym.bench.seat import TooLate
from eapo_gym.bench.setting import NothingToPlay
from eapo_gym.bench.store import RunError, load_run
from eapo_gym.engines.base import EngineUnavailable
from eapo_gym.envs.hosting import HostedEnv
from eapo_gym.errors import ContractError, UnknownName
from tests.bench.players import WAY, Crashing, Drawing, Failing, Hanging, Scripted, Slow, Threaded, comparable, wrapped
from tests.toys import Corridor

ROOT = Path(__file__).resolve().parents[2]
TOY = "tests.toys:Corridor"


def run(
    agent: Agent | None = None,
    out: Path | None = None,
    kind: Callable[[], Any] = Corridor,
    make: Callable[[], gym.Env[Any, Any]] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    **config: Any,
) -> Result:
    config = {"env": TOY, "agent": "given", **config}
    make = make or wrapped(kind)
    return asyncio.run(evaluate(Evaluation(**config), out, agent=agent, make_env=make, on_progress=on_progress))


def contents(result: Result) -> list[dict[str, Any]]:
    return [comparable(episode.to_json()) for episode in result.run().episodes]


def test_every_task_of_every_seed_is_played_and_counted(tmp_path: Path) -> None:
    result = run(Scripted(*WAY), tmp_path, seeds=(5, 6, 7), parallel=3)
    assert [row.key for row in result.rows] == result.planned
    assert result.planned == [(f"train/key-in-{room}", repeat) for repeat in range(3) for room in range(4)]
    assert [row.seed for row in result.rows] == [5] * 4 + [6] * 4 + [7] * 4
    assert (result.metrics.success.successes, result.metrics.success.n) == (3, 12)
    read = load_run(tmp_path)
    assert (read.stamp, read.planned, read.missing) == (result.stamp, result.planned, [])
    assert json.loads((tmp_path / METRICS_FILE).read_text())["success"]["successes"] == 3
    assert (tmp_path / "episodes.csv").read_text().count("\n") == 13
    assert read.stamp["environment"] == {
        "id": TOY,
        "source": "embedded",
        "split": "train",
        "catalogue": read.stamp["environment"]["catalogue"],
        "engine": None,
        "step_limit": 20,
        "rollback_mode": "inverse",
    }


@pytest.mark.parametrize("kind", [Corridor, Slow, Threaded])
def test_results_depend_on_neither_the_number_of_workers_nor_on_their_order(kind: Any) -> None:
    alone, crowd = (run(Drawing(), kind=kind, seeds=(0, 1), parallel=parallel) for parallel in (1, 7))
    assert contents(alone) == contents(crowd)
    assert contents(alone) != contents(run(Drawing(), kind=kind, seeds=(2, 3)))


def test_a_slow_environment_blocks_nobody() -> None:
    """One task hangs until all others are done: only without lock-step does this come to an end."""
    done = threading.Event()

    class Patient(Corridor):
        def step(self, action: str) -> Any:
            if self.task.endswith("key-in-0"):
                assert done.wait(20), "the others never came to their end"
            return super().step(action)

    def watch(now: Progress) -> None:
        if now.done == 3:
            done.set()

    result = run(Scripted("look"), kind=Patient, parallel=2, on_progress=watch)
    assert result.metrics.outcomes["steps"] == 4


def test_progress_is_told() -> None:
    told: list[Progress] = []
    run(Scripted(*WAY), on_progress=told.append, seeds=(0, 1))
    assert [now.done for now in told if now.done] == sorted(now.done for now in told if now.done)
    last = told[-1]
    assert (last.planned, last.done, last.successes, last.success) == (8, 8, 2, 0.25)
    assert last.outcomes == {"solved": 2, "ended": 0, "steps": 6, "timeout": 0, "agent": 0, "infrastructure": 0}
    assert last.steps == 2 * 6 + 6 * 20
    assert last.steps_per_second > 0


# What goes wrong


def test_infrastructure_is_tried_again_and_then_counted() -> None:
    made = []

    def make() -> gym.Env[Any, Any]:
        made.append(1)
        return wrapped(Crashing)()

    result = run(Scripted("light lamp"), make=make, retries=2, parallel=1, max_tasks=2)
    assert [(row.outcome, row.tries) for row in result.rows] == [("infrastructure", 3)] * 2
    assert len(made) == 6, "a broken environment is replaced, the last one only if it is needed"
    assert (result.metrics.success.n, result.metrics.outcomes["infrastructure"]) == (2, 2)


def test_what_fails_once_is_no_outcome() -> None:
    failures = [True, False]

    class Once(Corridor):
        def reset(self, **kwargs: Any) -> Any:
            if failures and failures.pop(0):
                raise OSError("The device is busy.")
            return super().reset(**kwargs)

    result = run(Scripted(*WAY), kind=Once, parallel=1)
    assert [(row.outcome, row.tries) for row in result.rows] == [("solved", 2), *[("steps", 1)] * 3]


def test_an_environment_that_can_no_longer_be_made_is_infrastructure() -> None:
    first = [wrapped(Crashing)()]

    def make() -> gym.Env[Any, Any]:
        if not first:
            raise OSError("No more devices.")
        return first.pop()

    result = run(Scripted("light lamp"), make=make, retries=1, parallel=1, max_tasks=1)
    assert (result.rows[0].outcome, result.rows[0].tries) == ("infrastructure", 2)
    assert "No more devices." in result.rows[0].error


def test_the_agents_failures_are_its_own() -> None:
    result = run(Failing(lambda: ValueError("no"), t=1, tasks=("train/key-in-2",)))
    assert [row.outcome for row in result.rows] == ["solved", "steps", "agent", "steps"]
    assert [row.tries for row in result.rows] == [1] * 4


def test_an_environment_that_hangs_is_left_behind() -> None:
    made = []

    def make() -> gym.Env[Any, Any]:
        made.append(1)
        return wrapped(Hanging)()

    Hanging.gate.clear()
    result = run(Scripted("light lamp", "look"), make=make, limits=Limits(step=0.1), parallel=1)
    assert not Hanging.gate.is_set()
    Hanging.gate.set()
    assert [(row.outcome, row.tries) for row in result.rows] == [("timeout", 1)] * 4
    assert len(made) == 4, "nobody waited for the one that hung"


def test_a_hosted_environment_whose_process_dies_is_replaced() -> None:
    def make() -> gym.Env[Any, Any]:
        return wrapped(lambda: HostedEnv("tests.bench.players:Dying", retries=0))()

    answers = ("look", "light lamp")
    result = run(Scripted(*answers), make=make, retries=1, parallel=2, max_tasks=2)
    assert [(row.outcome, row.tries, row.steps) for row in result.rows] == [("infrastructure", 2, 1)] * 2
    assert "died" in result.rows[0].error


def test_an_environment_that_takes_too_long_to_make_is_an_outcome() -> None:
    made, gate, closed = [], threading.Event(), threading.Event()

    class Late(Corridor):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)
            self.late = len(made) == 2
            if self.late:
                gate.wait(30)

        def close(self) -> None:
            if self.late:
                closed.set()

    result = run(Scripted("look"), kind=Late, limits=Limits(reset=0.2), parallel=2)
    late = [row for row in result.rows if row.outcome == "timeout"]
    assert [(row.error, row.tries) for row in late] == [
        ("Making the environment took longer than its 0.2 s (limits.reset).", 1)
    ]
    assert [row.outcome for row in result.rows].count("steps") == 3
    assert not closed.is_set()
    gate.set()
    assert closed.wait(10), "it is closed all the same, once it is there"


def test_a_first_environment_that_takes_too_long_is_said() -> None:
    gate = threading.Event()

    def make() -> gym.Env[Any, Any]:
        gate.wait(30)
        return wrapped(Corridor)()

    with pytest.raises(TooLate, match=r"Making the environment took longer than its 0.1 s"):
        run(Scripted("look"), make=make, limits=Limits(reset=0.1))
    gate.set()


def test_a_hosted_environment_that_hangs_is_ended_at_once() -> None:
    hosted = []

    def make() -> gym.Env[Any, Any]:
        hosted.append(HostedEnv("tests.bench.players:Hanging"))
        return wrapped(lambda: hosted[-1])()

    result = run(Scripted("light lamp"), make=make, limits=Limits(step=0.3), parallel=1, max_tasks=1)
    assert result.rows[0].outcome == "timeout"
    deadline = time.monotonic() + 10
    while any(psutil.pid_exists(env.tenant["pid"]) for env in hosted) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(psutil.pid_exists(env.tenant["pid"]) for env in hosted)


def test_what_an_agent_answers_cannot_spoil_a_run(tmp_path: Path) -> None:
    wrong = Response("look", calls=None)  # type: ignore[arg-type]
    assert [row.outcome for row in run(Scripted(wrong), tmp_path).rows] == ["agent"] * 4
    assert len(load_run(tmp_path).episodes) == 4


def test_tasks_that_cannot_be_played_are_refused_before_anything_is_played() -> None:
    with pytest.raises(UnknownName, match="Unknown task 'nope': expected one of 'train/key-in-0'"):
        run(Scripted("look"), tasks=("nope",))
    twice = type("Twice", (Corridor,), {"tasks": lambda self, split=None: ["train/key-in-0"] * 2})
    with pytest.raises(ContractError, match="more than once"):
        run(Scripted("look"), kind=twice)
    nobody = Scripted("look")
    nobody.max_parallel = 0
    with pytest.raises(ContractError, match="max_parallel of scripted: expected a positive number or None, got 0"):
        run(nobody)


@pytest.mark.parametrize("error", [EngineUnavailable("The engine is gone."), KeyboardInterrupt()])
def test_what_ends_the_run_leaves_it_to_be_taken_up(tmp_path: Path, error: BaseException) -> None:
    class Gone(Drawing):
        async def act_async(self, observation: Any) -> Any:
            if observation.context.task.endswith("key-in-3") and observation.context.t == 2:
                raise error
            return await super().act_async(observation)

    config = {"seeds": (0, 1), "parallel": 1}
    with pytest.raises(type(error)):
        run(Gone(), tmp_path, **config)
    kept = load_run(tmp_path)
    assert len(kept.episodes) == 3
    result = run(Drawing(), tmp_path, **config)
    assert contents(result) == contents(run(Drawing(), **config))
    assert load_run(tmp_path).episodes[:3] == kept.episodes, "what was kept is not played again"


def test_a_run_that_is_complete_is_not_played_again(tmp_path: Path) -> None:
    first = run(Drawing(), tmp_path)
    before = (tmp_path / "episodes.jsonl").read_bytes()
    again = run(Drawing(), tmp_path, parallel=3)
    assert (tmp_path / "episodes.jsonl").read_bytes() == before
    assert again.metrics == first.metrics


# What is asked for


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    run(Drawing(), tmp_path)
    with pytest.raises(RunError, match=r"its config.seeds is \[0\], and here it is \[1\]"):
        run(Drawing(), tmp_path, seeds=(1,))
    with pytest.raises(RunError, match=r"its agent.agent is 'drawing', and here it is 'scripted'"):
        run(Scripted("look"), tmp_path)


def test_tasks_are_taken_evenly(tmp_path: Path) -> None:
    assert [row.task[-1] for row in run(Scripted("look"), max_tasks=2).rows] == ["0", "2"]
    assert [row.task[-1] for row in run(Scripted("look"), tasks=("train/key-in-3", "train/key-in-1")).rows] == [
        "3",
        "1",
    ]
    assert len(run(Scripted("look"), max_tasks=99).rows) == 4
    with pytest.raises(NothingToPlay, match="at least one"):
        run(Scripted("look"), max_tasks=0)


def test_an_environment_by_address_gets_the_stack_and_a_step_limit() -> None:
    config = Evaluation(env=TOY, env_kwargs={"rooms": 2}, split="valid", agent="given", max_steps=3, rollback=None)
    result = asyncio.run(evaluate(config, agent=Scripted("look")))
    assert [(row.task, row.steps) for row in result.rows] == [("valid/key-in-0", 3), ("valid/key-in-1", 3)]
    assert result.stamp["environment"]["rollback_mode"] is None
    with pytest.raises(ContractError, match="expected an AgentEnv"):
        asyncio.run(evaluate(Evaluation(env="CartPole-v1"), agent=Scripted("look")))


def test_alfworld_by_its_id_and_agents_by_their_names() -> None:
    config = Evaluation(env="eapo/ALFWorld-v0", split="valid", agent="oracle", max_tasks=3, max_steps=30)
    result = asyncio.run(evaluate(config))
    assert result.metrics.success.rate == 1
    assert result.stamp["agent"]["privileged"] is True
    assert result.stamp["environment"]["catalogue"].startswith("140 games of generator version ")
    assert (result.stamp["environment"]["source"], result.stamp["environment"]["engine"]) == ("embedded", "native")
    with pytest.raises(UnknownName, match="Did you mean 'oracle'"):
        asyncio.run(evaluate(Evaluation(env="eapo/ALFWorld-v0", agent="orakle", split="valid", max_tasks=1)))
    with pytest.raises(UnknownName, match="Unknown split"):
        asyncio.run(evaluate(Evaluation(env="eapo/ALFWorld-v0", agent="random", split="test")))
    with pytest.raises(NoModel, match="needs a model"):
        asyncio.run(evaluate(Evaluation(env="eapo/ALFWorld-v0", agent="eapo", split="valid")))


def test_keys_and_passwords_are_not_kept(tmp_path: Path) -> None:
    options = {
        "api_key": "sk-1234",
        "base_url": "https://me:hunter2@host/v1",
        "headers": {"x": "hunter2"},
        "max_tokens": 7,
    }
    run(Scripted("look"), tmp_path, engine_options=options, max_tasks=1)
    text = (tmp_path / "run.json").read_text()
    assert "sk-1234" not in text
    assert "hunter2" not in text
    assert load_run(tmp_path).stamp["config"]["engine_options"]["max_tokens"] == 7


@pytest.mark.parametrize(
    "wrong", [{"parallel": 0}, {"retries": -1}, {"seeds": ()}, {"seeds": (1, 1)}, {"max_steps": 0}]
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected"):
        Evaluation(env=TOY, **wrong)


# A process that is killed


CHILD = """
import asyncio, sys
from eapo_gym.bench.evaluate import Evaluation, evaluate
from tests.bench.players import Drawing, wrapped
from tests.toys import Corridor
config = Evaluation(env="toy", agent="given", seeds=tuple(range(10)), parallel=4)
asyncio.run(evaluate(config, sys.argv[1], agent=Drawing(), make_env=wrapped(Corridor)))
"""


def test_a_run_that_is_killed_three_times_ends_as_if_it_had_never_been(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    child = [sys.executable, "-c", CHILD]
    subprocess.run([*child, str(whole)], check=True, cwd=ROOT, timeout=60)
    dice, kills = random.Random(0), 0
    while kills < 3:
        process = subprocess.Popen([*child, str(killed)], cwd=ROOT)
        lines = killed / "episodes.jsonl"
        before = lines.stat().st_size if lines.exists() else 0
        # Not by the clock, so that it strikes on a slow machine too: once some more has been written.
        while process.poll() is None and (not lines.exists() or lines.stat().st_size <= before + dice.randrange(9000)):
            time.sleep(0.001)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it came to its end before it was killed"
        kills += 1
    assert 0 < len(load_run(killed).episodes) < 40
    subprocess.run([*child, str(killed)], check=True, cwd=ROOT, timeout=60)
    runs = [load_run(folder) for folder in (whole, killed)]
    assert [comparable(e.to_json()) for e in runs[0].episodes] == [comparable(e.to_json()) for e in runs[1].episodes]
    assert len(runs[0].episodes) == 40
