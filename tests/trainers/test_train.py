"""The loop: every algorithm runs, the engine samples with what was learned, and the folder has what it should."""

from __future__ import annotations

import json
import logging
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("peft")

from eapo_gym.bench.store import load_run  # noqa: E402
from eapo_gym.engines.base import Prompt  # noqa: E402
from eapo_gym.loggers import read_metrics  # noqa: E402
from eapo_gym.trainers import train as training  # noqa: E402
from eapo_gym.trainers.config import BadConfig, TrainConfig  # noqa: E402
from eapo_gym.trainers.failures import SuccessWatch  # noqa: E402
from eapo_gym.trainers.logprobs import Row  # noqa: E402
from eapo_gym.trainers.presets import PRESETS  # noqa: E402
from eapo_gym.trainers.processes import Processes  # noqa: E402
from eapo_gym.trainers.records import OtherRun  # noqa: E402
from eapo_gym.trainers.train import Progress, train  # noqa: E402
from tests.bench.players import explore  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402
from tests.toys import Corridor  # noqa: E402
from tests.toys_gui import Pages  # noqa: E402
from tests.trainers import short_runs  # noqa: E402
from tests.trainers.short_runs import blank_model, metrics, player, same_weights, settings  # noqa: E402


def names_of(**parts: str) -> list[str]:
    return [f"{part}/{name}" for part, names in parts.items() for name in names.split()]


ALWAYS = names_of(
    train="success steps episodes",
    reward="total task format explore",
    reward_variance="task format explore",
    group="size_mean singletons size_1 size_2 size_3_4 size_5_8 size_9_16 size_17_up",
    explore="degree degree_no_loops",
    rollback="rate",
    format="rate",
    invalid="rate",
    policy="loss entropy clip_share ratio grad_norm learning_rate",
    time="rollout env grouping logprobs update sync step",
    tokens="prompt response",
    tokens_per_second="rollout update",
    failures="infrastructure timeout agent skipped_updates",
    memory="peak_mb",
)
OF_Q = names_of(
    density="lift token_mean sequence log_prob second_share",
    q="loss kl ratio grad_norm",
    time="q_train q_score",
)
OF_EVAL = names_of(eval="success low high steps degree format_rate invalid_rate")


def finite(row: dict[str, Any], names: list[str]) -> None:
    missing = [name for name in names if not math.isfinite(row.get(name, math.nan))]
    assert not missing, missing


# Every algorithm


@pytest.mark.parametrize("algorithm", PRESETS)
def test_every_algorithm_runs_and_learns_something(algorithm: str, tmp_path: Path) -> None:
    tuning = "full" if algorithm in ("gigpo", "eapo-release") else "lora"
    config = settings(algorithm=algorithm, tuning=tuning, eval_every=0)
    result = train(config, tmp_path)
    first, last = [row for row in read_metrics(tmp_path) if row["step"]]
    assert (first["step"], last["step"]) == (1, 2)
    for row in (first, last):
        finite(row, ["env_steps", *ALWAYS])
        finite(row, OF_Q if config.explore_reward == "q_phi" else [])
        assert math.isfinite(row.get("policy/kl", math.nan)) == (config.kl_weight > 0)
    assert ("q/loss" in last) == (config.explore_reward == "q_phi")
    assert last["env_steps"] > first["env_steps"] > 0
    assert any(row["policy/grad_norm"] > 0 for row in (first, last))
    assert not same_weights(result.model, player())
    transformers.AutoModelForCausalLM.from_pretrained(result.model)


def test_what_tells_the_algorithms_apart_is_seen_in_what_they_do(tmp_path: Path) -> None:
    """DAPO throws groups away and draws others; LaMer plays again after a failure; online rollouts are counted."""
    ran = {}
    for name, values in (
        ("grpo", {}),
        ("dapo", {"overlong_buffer": 0, "group_size": 2, "tasks_per_step": 4, "format_weight": 0.0}),
        ("lamer", {"max_steps": 3}),
        ("eapo-online", {}),
    ):
        train(settings(algorithm=name, eval_every=0, steps=1, **values), tmp_path / name)
        ran[name] = read_metrics(tmp_path / name)[-1]
    grpo, dapo, lamer, online = ran.values()
    assert grpo["train/episodes"] == 8
    assert dapo["failures/uninformative_groups"] > 0
    assert dapo["train/episodes"] > 8
    assert 8 < lamer["train/episodes"] <= 24
    assert online["env_steps"] > grpo["env_steps"]
    assert online["time/online"] > 0


def test_a_run_with_another_engine_weighs_tokens_by_the_ratio_of_the_two(tmp_path: Path) -> None:
    for tuning in ("lora", "full"):
        out = tmp_path / tuning
        train(settings(sampler="transformers", tuning=tuning, eval_every=0, seed=1), out)
        for row in read_metrics(out)[1:]:
            # Had the engine other weights than the trainer, this would not be 1 in the second step.
            assert row["tis/mean"] == pytest.approx(1, abs=1e-3)
            assert row["tis/capped"] == 0
        assert not same_weights(out / "model", player())


# The policy that samples is the policy that trains


@pytest.mark.parametrize(("sampler", "tuning"), [("shared", "lora"), ("shared", "full"), ("transformers", "lora")])
def test_after_each_update_the_engine_samples_with_the_new_weights(
    sampler: str, tuning: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[list[Any], list[Any], list[Any]]] = []
    step = training._Run._step

    async def and_compare(run: Any, number: int) -> Any:
        batches: list[Any] = []
        learn = run.learner.learn
        run.learner.learn = lambda batch, *rest: (batches.append(batch), learn(batch, *rest))[1]
        found = await step(run, number)
        run.learner.learn = learn
        rows = [Row(tuple(one.prompt_ids), (tuple(one.response_ids),)) for one in batches[0].transitions]
        prompts, targets = [Prompt(row.prompt) for row in rows], [row.targets[0] for row in rows]
        engine = await run.engine.score(prompts, targets, adapter=run.policy.adapter)
        async with run.policy.paused(run.engine):
            trainer = [each for [each] in run.policy.score(rows, "policy")]
        seen.append((engine, trainer, [one.response_logprobs for one in batches[0].transitions]))
        return found

    monkeypatch.setattr(training._Run, "_step", and_compare)
    train(settings(sampler=sampler, tuning=tuning, eval_every=0, algorithm="eapo-no-explore"), tmp_path)
    moved = 0.0
    for engine, trainer, sampled in seen:
        for one, other, before in zip(engine, trainer, sampled, strict=True):
            assert one == pytest.approx(other.tolist(), abs=1e-4)
            moved = max([moved, *(abs(a - b) for a, b in zip(one, before, strict=True))])
    assert moved > 1e-2  # what was sampled was sampled with other weights


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_the_ratio_to_the_sampler_is_one_until_the_first_update(temperature: float, tmp_path: Path) -> None:
    train(settings(eval_every=0, temperature=temperature, algorithm="grpo"), tmp_path)
    for row in read_metrics(tmp_path)[1:]:
        assert row["policy/ratio"] == pytest.approx(1, abs=1e-3)
        assert row["policy/kl_old"] == pytest.approx(0, abs=1e-6)
        assert row["policy/clip_share"] == 0


# The folder


def test_a_run_leaves_what_it_says(tmp_path: Path) -> None:
    told: list[Progress] = []
    config = settings(steps=3, eval_every=2, save_every=2, eval_tasks=1)
    result = train(config, tmp_path, on_progress=told.append)
    rows = read_metrics(tmp_path)
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    for row in rows:
        assert ("eval/success" in row) == (row["step"] != 1)
    finite(rows[3], OF_EVAL)
    assert [path.name for path in sorted((tmp_path / "evals").iterdir())] == [f"step-{i:06d}" for i in (0, 2, 3)]
    for number in (0, 2, 3):
        run = load_run(tmp_path / "evals" / f"step-{number:06d}")
        assert [episode.trajectory.task for episode in run.episodes] == ["valid/key-in-0"]
    assert {path.name for path in (tmp_path / "checkpoints").iterdir() if path.name[0] != "."} >= {"step-000003"}
    record = json.loads((tmp_path / "config.json").read_text())
    assert record["config"] == json.loads(json.dumps(config.to_json()))
    assert {"torch", "transformers"} <= record["versions"].keys()
    assert record["data"][config.model]
    assert result.metrics["eval/success"] == rows[3]["eval/success"]
    # After the second step and the third; the next step tells what it took.
    assert [row["step"] for row in rows if "time/save" in row] == [3]
    assert rows[3]["time/save"] > 0
    assert [now.step for now in told if now.metrics is not None] == [0, 1, 2, 3]
    assert {now.doing for now in told} == {"play", "learn", "evaluate", "save", "log"}


def test_a_finished_run_does_nothing_and_more_steps_go_on(tmp_path: Path) -> None:
    config = settings(eval_every=0)
    train(config, tmp_path)
    before = metrics(tmp_path)
    told: list[Progress] = []
    again = train(config, tmp_path, on_progress=told.append)
    assert not told
    assert metrics(tmp_path) == before
    assert again.metrics["env_steps"] == read_metrics(tmp_path)[-1]["env_steps"]
    longer = replace(config, steps=4)
    train(longer, tmp_path)
    assert metrics(tmp_path)[:3] == before
    train(longer, tmp_path / "at once")
    assert metrics(tmp_path) == metrics(tmp_path / "at once")
    assert same_weights(tmp_path / "model", tmp_path / "at once" / "model")


def test_another_configuration_is_refused_by_the_names_of_what_differs(tmp_path: Path) -> None:
    train(settings(eval_every=0, steps=1), tmp_path)
    with pytest.raises(OtherRun, match=r"group_size was 4, and is 3; .*kl_weight was 0.01, and is 0.1"):
        train(settings(eval_every=0, steps=1, group_size=3, kl_weight=0.1), tmp_path)
    train(settings(eval_every=0, steps=1, save_every=5, keep_last=1), tmp_path)


def test_the_same_seed_gives_the_same_run_and_another_seed_another(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train(settings(seed=seed, eval_every=0), tmp_path / name)
    assert metrics(tmp_path / "a") == metrics(tmp_path / "b")
    assert same_weights(tmp_path / "a" / "model", tmp_path / "b" / "model")
    assert metrics(tmp_path / "a") != metrics(tmp_path / "c")


def test_fine_tuning_comes_first_and_what_it_made_is_the_reference(tmp_path: Path) -> None:
    data = short_runs.write_data(tmp_path)
    config = settings(
        model=str(blank_model()), sft_data=(data,), sft_batch=16, sft_learning_rate=3e-3, eval_every=0, steps=1
    )
    told: list[Progress] = []
    train(config, tmp_path / "run", on_progress=told.append)
    tuning = [(now.doing, now.tuning.step, now.tuning.steps) for now in told if now.tuning is not None]
    assert tuning == [("fine-tune", step, 3) for step in (1, 2, 3)]
    [row] = read_metrics(tmp_path / "run")[1:]
    assert row["policy/kl"] == pytest.approx(0, abs=1e-6)
    assert (
        read_metrics(tmp_path / "run" / "sft")[-1]["sft/loss"] < read_metrics(tmp_path / "run" / "sft")[0]["sft/loss"]
    )
    assert not same_weights(tmp_path / "run" / "sft" / "model", blank_model())


def test_an_environment_of_ones_own_takes_the_place_of_the_named_one(tmp_path: Path) -> None:
    made: list[Corridor] = []

    def make_env() -> Any:
        made.append(Corridor(rooms=2))
        return explore(made[-1], 5)

    train(settings(env="my corridor", steps=1, eval_every=1), tmp_path, make_env=make_env)
    assert len(made) > 1
    assert read_metrics(tmp_path)[-1]["eval/steps"] > 0


def test_tasks_come_once_before_any_comes_again_whoever_draws_them() -> None:
    class Two:
        count = 2

        def __init__(self, rank: int) -> None:
            self.rank = rank

    names = [str(i) for i in range(7)]
    pair: Any = [training._Tasks(names, 3, Two(rank)) for rank in (0, 1)]  # type: ignore[arg-type]
    order = [task for _ in range(14) for each in pair for task in each.draw(1)]
    for begin in range(0, 28, 7):
        assert sorted(order[begin : begin + 7]) == names
    assert order[:7] != order[7:14]
    alone = training._Tasks(names, 3, Processes(TrainConfig()))
    assert alone.draw(28) == order
    alone.take_up([5, 6])  # by two processes
    assert alone.draw(1) == order[11:12]
    pair[1].take_up([5, 6])
    assert pair[1].draw(1) == order[13:14]


def test_a_model_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="model: expected a folder or a hub's id to train, got none"):
        train(TrainConfig(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_no_success_is_warned_of_and_is_no_reason_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "SuccessWatch", lambda: SuccessWatch(2))
    config = settings(max_steps=1, steps=3, eval_every=0, algorithm="grpo")
    with caplog.at_level(logging.WARNING):
        train(config, tmp_path)
    assert [row["train/success"] for row in read_metrics(tmp_path)[1:]] == [0, 0, 0]
    assert "No episode has succeeded for 2 steps" in caplog.text


# Screens


def test_an_image_text_model_learns_from_the_screen_of_a_phone(tmp_path: Path) -> None:
    """The road of configs/androidworld_vision_eapo.yaml with a tiny model: marks, and pictures that are scaled."""
    pytest.importorskip("PIL", reason="needs Pillow (pip install 'eapo-gym[gui]')")
    model = tiny_model("qwen3-vl", "0.3m", compact=True, context=2048)
    config = settings(
        model=str(model), env="eapo/AndroidWorld-v0", steps=2, group_size=2, tasks_per_step=1, max_tokens=8,
        max_steps=2, eval_every=2, eval_tasks=1, env_kwargs={"marks": True, "tasks": ["SystemWifiTurnOff"]},
        agent_options={"compact": True, "images": "marked", "image_pixels": 40_000},
    )  # fmt: skip
    train(config, tmp_path)
    row = read_metrics(tmp_path)[-1]
    finite(row, ["policy/loss", "policy/kl", "q/loss", "density/lift", "policy/entropy", "eval/steps"])
    tokens = row["tokens/prompt"] / 4  # a prompt of each of two attempts, of two steps
    assert tokens < 250, "a whole screen takes as many alone"


def test_an_image_text_model_learns_from_screens(tmp_path: Path) -> None:
    model = tiny_model("qwen3-vl", "0.3m", compact=True, context=2048)
    config = settings(
        model=str(model), env="pages", steps=1, group_size=2, tasks_per_step=1, eval_every=0, max_tokens=16,
        agent_options={},
    )  # fmt: skip
    result = train(config, tmp_path, make_env=lambda: explore(Pages(pages=2, size=(64, 96)), 2))
    row = read_metrics(tmp_path)[-1]
    finite(row, ["policy/loss", "policy/kl", "q/loss", "density/lift", "policy/entropy"])
    assert row["tokens/prompt"] > 0
    assert (result.model / "preprocessor_config.json").is_file()
    assert "vision_config" in json.loads((result.model / "config.json").read_text())
