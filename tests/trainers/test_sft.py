"""Fine-tuning: the prompts of RL, the loss of a plain loop, and a run that is broken off and comes to the same."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("peft")

from eapo_gym.agents.loading import make_agent  # noqa: E402
from eapo_gym.bench.pictures import Pictures  # noqa: E402
from eapo_gym.bench.setting import open_env  # noqa: E402
from eapo_gym.engines.base import Sampling  # noqa: E402
from eapo_gym.engines.transformers import TransformersEngine  # noqa: E402
from eapo_gym.loggers import read_metrics  # noqa: E402
from eapo_gym.protocol import parse  # noqa: E402
from eapo_gym.schema import Turn  # noqa: E402
from eapo_gym.trainers.checkpoint import CheckpointError  # noqa: E402
from eapo_gym.trainers.collecting import Walks  # noqa: E402
from eapo_gym.trainers.config import BadConfig, TrainConfig  # noqa: E402
from eapo_gym.trainers.demonstrations import Demonstrations, collect_demonstrations  # noqa: E402
from eapo_gym.trainers.encoding import Encoder, TextSide, target_text  # noqa: E402
from eapo_gym.trainers.examples import BadExamples, Example, read_examples, write_examples  # noqa: E402
from eapo_gym.trainers.rollback import Rollbacks, collect_rollbacks  # noqa: E402
from eapo_gym.trainers.sft import SftError, held_out_tasks, sft  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Demonstrations, and rollback pairs of the same tasks."""
    out = tmp_path_factory.mktemp("data")
    walks = Walks(max_tasks=6, max_steps=12)
    asyncio.run(collect_demonstrations(Demonstrations(think=False, only_solved=False), walks, out / "d"))
    asyncio.run(collect_rollbacks(Rollbacks(think=False, entry=80), walks, out / "r"))
    return out / "d" / "demonstrations.jsonl", out / "r" / "rollback.jsonl"


@pytest.fixture(scope="module")
def short(data: tuple[Path, Path]) -> list[Example]:
    """Forty examples of both kinds, with short texts, for tests that only train."""
    both = [*read_examples(data[0])[:20], *read_examples(data[1])[:20]]
    texts = {"explore": "Where?", "memory": "Notes."}
    return [
        replace(each, state=each.state[-80:], **texts, turn=replace(each.turn, explore="Here.", memory="Notes."))
        for each in both
    ]


def settings(**values: Any) -> TrainConfig:
    usual = {
        "tuning": "full", "agent_options": {"compact": True}, "sft_learning_rate": 3e-3, "sft_batch": 8,
        "max_tokens": 256, "eval_every": 2, "save_every": 2, "lora_rank": 4, "lora_alpha": 8,
        "microbatch_tokens": 1024, "warmup": 2, "schedule": "cosine", "sft_held_out": 0.2,
    }  # fmt: skip
    return TrainConfig.make(**{"model": str(tiny_model()), **usual, **values})


# Prompts and targets


@pytest.mark.parametrize("compact", [True, False])
def test_prompts_are_those_of_rl(data: tuple[Path, Path], compact: bool) -> None:
    """Made as the training loop makes them: with the environment itself, and the engine that samples."""
    config = settings(agent_options={"compact": compact})
    env = open_env(config.env, {"split": "train"}, rollback="inverse", max_steps=5)
    engine = TransformersEngine(config.model)
    sampling = Sampling(max_tokens=256)
    agent: Any = make_agent("eapo", engine=engine, env=env, sampling=sampling, options=config.agent_options)
    examples = [*read_examples(data[0])[:5], *read_examples(data[1])[:5]]
    encoded = Encoder(config, config.model)(examples)
    assert len(encoded) == len(examples)
    for each in encoded:
        assert tuple(each.prompt) == agent.prompt(each.example.observation()).ids
        assert each.target[-1] in engine._ends()
        assert parse(engine.decode(each.target.tolist())) == each.example.turn
    asyncio.run(engine.close())


def test_what_does_not_fit_is_left_out_and_counted(short: list[Example]) -> None:
    config = settings()
    encoder = Encoder(config, config.model)
    assert not encoder.left_out()
    long_ = replace(short[0], turn=replace(short[0].turn, memory="mug " * 400))
    assert len(encoder([*short, long_])) == len(short)
    assert (encoder.over_max_tokens, encoder.too_long) == (1, 0)
    assert re.fullmatch(
        r"1 have a target that is longer than max_tokens \(it is 256, and the longest target has \d+ tokens\): raise "
        r"max_tokens\.",
        encoder.left_out(),
    )


def test_what_does_not_fit_into_the_window_is_told_apart(short: list[Example]) -> None:
    config = settings(max_tokens=4096)
    encoder = Encoder(config, config.model)
    [one] = encoder([short[0]])
    context = TextSide(config.model).context
    longer = replace(short[0], turn=replace(short[0].turn, memory="~" * (context - len(one.target))))
    assert not encoder([longer])
    assert (encoder.over_max_tokens, encoder.too_long) == (0, 1)
    said = encoder.left_out()
    assert f"1 do not fit into the window of {config.model} ({context:,} tokens): take a model with a longer" in said
    assert "lower max_tokens (it is 4,096)" in said
    assert "compact" not in said  # it is on


def test_the_plain_agent_is_taught_what_it_is_asked_for() -> None:
    turn = Turn("See <explore></explore>\n.", "e", "m", "look", format_ok=True)
    text = target_text(turn, "plain")
    assert parse(text).think == turn.think
    assert parse(text).action == "look"
    assert not {"<explore>", "<memory>"} & set(text.replace("\n", " ").split())


# The loss


def test_an_update_is_that_of_a_plain_loop(short: list[Example], tmp_path: Path) -> None:
    """The loss that is logged, and the weights afterwards, against transformers and AdamW by themselves."""
    plain = {"sft_held_out": 0.0, "warmup": 0, "schedule": "constant", "grad_clip": 1e9}
    config = settings(sft_batch=len(short), sft_max_steps=1, **plain)
    result = sft(config, short, tmp_path / "out")
    encoded = Encoder(config, config.model)(short)
    model = transformers.AutoModelForCausalLM.from_pretrained(config.model, dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    count = sum(len(each.target) for each in encoded)
    total = 0.0
    for each in encoded:
        ids = torch.tensor([[*each.prompt.tolist(), *each.target.tolist()]])
        logits = model(ids).logits[0, len(each.prompt) - 1 : -1]
        loss = torch.nn.functional.cross_entropy(logits, ids[0, len(each.prompt) :], reduction="sum") / count
        loss.backward()
        total += float(loss.detach())
    optimizer.step()
    assert result.loss == pytest.approx(total, rel=1e-5)
    trained = transformers.AutoModelForCausalLM.from_pretrained(result.model, dtype=torch.float32).state_dict()
    start = transformers.AutoModelForCausalLM.from_pretrained(config.model, dtype=torch.float32).state_dict()
    # Adam's first step is about the sign of the gradient, which is noise where that is about zero.
    agree = [
        torch.isclose(weight - start[name], trained[name] - start[name], rtol=1e-2, atol=1e-5).float().mean()
        for name, weight in model.state_dict().items()
    ]
    assert min(agree) > 0.97


@pytest.mark.parametrize("tuning", ["full", "lora"])
def test_it_learns(short: list[Example], tmp_path: Path, tuning: str) -> None:
    progress: list[Any] = []
    config = settings(tuning=tuning, sft_epochs=6.0, sft_learning_rate=1e-2, model=str(tiny_model()))
    result = sft(config, short, tmp_path / "out", on_progress=progress.append)
    assert result.valid_after < result.valid_before - (1.0 if tuning == "full" else 0.3)
    assert progress[-1].loss < progress[0].loss - (1.0 if tuning == "full" else 0.3)
    assert (progress[-1].step, progress[-1].seconds_left) == (result.steps, 0)
    rows = read_metrics(tmp_path / "out")
    rates = [row["sft/learning_rate"] for row in rows if "sft/learning_rate" in row]
    assert rates[:2] == pytest.approx([5e-3, 1e-2])
    assert rates[-1] < 2e-3
    assert {"sft/valid_loss", "sft/valid_loss_rollback", "sft/valid_loss_demonstration"} <= set().union(*rows)
    # What was exported is what was measured, and needs nothing of ours.
    model = transformers.AutoModelForCausalLM.from_pretrained(result.model, dtype=torch.float32)
    held = [each for each in short if each.task in result.held_out_tasks]
    assert len(held) == result.held_out
    encoded = Encoder(config, result.model)(held)
    total = 0.0
    for each in encoded:
        ids = torch.tensor([[*each.prompt.tolist(), *each.target.tolist()]])
        with torch.no_grad():
            logits = model(ids).logits[0, len(each.prompt) - 1 : -1]
        total += float(torch.nn.functional.cross_entropy(logits, ids[0, len(each.prompt) :], reduction="sum"))
    assert total / sum(len(each.target) for each in encoded) == pytest.approx(result.valid_after, rel=1e-4)


def test_images_are_seen(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    pictures = Pictures(tmp_path / "images")
    rng = np.random.default_rng(0)
    examples = [
        Example(
            kind="demonstration", env="eapo/ALFWorld-v0", task=f"t{i}", goal="g", state="A page.", elements="button",
            screenshot=pictures.save(rng.integers(0, 255, (64, 96, 3), dtype=np.uint8)),
            turn=Turn(explore="e", memory="m", action="look", format_ok=True),
        )
        for i in range(4)
    ]  # fmt: skip
    path = write_examples(examples, tmp_path / "data.jsonl")
    config = settings(model=str(tiny_model("qwen3-vl", "0.3m")), sft_epochs=3.0, sft_batch=2)
    result = sft(config, [path], tmp_path / "out")
    assert result.valid_after < result.valid_before
    encoded = Encoder(config, config.model)(read_examples(path))
    assert len({len(each.prompt) for each in encoded}) == 1
    [blind] = Encoder(config, config.model)([replace(examples[0], screenshot=None)])
    assert len(encoded[0].prompt) > len(blind.prompt)


# Data


tasks = st.lists(st.integers(0, 30).map(str), min_size=0, max_size=60)


@given(tasks, st.sampled_from([0.0, 0.05, 0.3, 0.9]), st.integers(0, 3))
def test_held_out_tasks(names: list[str], share: float, seed: int) -> None:
    one = Example(kind="rollback", env="e", task="", goal="", state="", turn=Turn(action="a"))
    examples = [replace(one, task=name) for name in names]
    held = held_out_tasks(examples, share, seed)
    assert held == held_out_tasks(examples[::-1], share, seed)
    different = set(names)
    assert held <= different
    if share and len(different) > 1:
        assert 1 <= len(held) < len(different)
        assert abs(len(held) - share * len(different)) <= 1
    else:
        assert not held


@pytest.mark.parametrize(("count", "size", "epochs"), [(10, 4, 1.0), (10, 3, 2.5), (7, 16, 0.5), (5, 2, 0.01)])
def test_every_epoch_has_every_example_once(
    short: list[Example], tmp_path: Path, count: int, size: int, epochs: float
) -> None:
    from eapo_gym.trainers.sft import _Run

    config = settings(sft_batch=size, sft_epochs=epochs)
    encoder = Encoder(config, config.model)
    running = _Run(config, encoder(short[:count]), [], encoder, tmp_path, None, None)
    batches = [running.batch(step) for step in range(1, running.steps + 1)]
    seen = [i for batch in batches for i in batch]
    assert len(seen) == max(1, round(epochs * count))
    assert all(len(batch) == size for batch in batches[:-1])
    for start in range(0, len(seen), count):
        part = seen[start : start + count]
        assert len(set(part)) == len(part)
    if len(seen) >= 2 * count:
        assert seen[:count] != seen[count : 2 * count]


def test_rollback_pairs_can_be_left_out(data: tuple[Path, Path], short: list[Example], tmp_path: Path) -> None:
    shown = [each for each in short if each.kind == "demonstration"]
    result = sft(settings(rollback_sft=False, sft_max_steps=1, sft_held_out=0.0), short, tmp_path / "a")
    assert result.examples == len(shown)
    with pytest.raises(BadExamples, match=r"All .* are rollback pairs, and rollback_sft is false"):
        sft(settings(rollback_sft=False), [data[1]], tmp_path / "b")
    with pytest.raises(BadExamples, match="nothing to fine-tune on"):
        sft(settings(), [], tmp_path / "c")


def test_what_could_not_begin_is_not_in_the_way(
    short: list[Example], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(SftError, match=r"None of 40 examples can be trained on\. 40 have .* max_tokens \(it is 4, "):
        sft(settings(max_tokens=4), short, tmp_path)
    with pytest.raises(BadConfig, match="lora_targets"):
        sft(settings(tuning="lora", lora_targets="nose"), short, tmp_path)
    long_ = replace(short[0], turn=replace(short[0].turn, memory="mug " * 400))
    result = sft(settings(sft_max_steps=1), [*short, long_], tmp_path)
    assert (result.over_max_tokens, result.too_long) == (1, 0)
    assert "Some of 41 examples are left out. 1 have a target that is longer than max_tokens" in caplog.text


def test_two_processes_do_not_fine_tune_in_one_folder(short: list[Example], tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from eapo_gym.trainers.config import TrainConfig\n"
        "from eapo_gym.trainers.sft import sft\n"
        "def wait(now):\n"
        "    print('begun', flush=True)\n"
        "    sys.stdin.read()\n"
        "sft(TrainConfig(**eval(sys.argv[1])), [sys.argv[2]], sys.argv[3], on_progress=wait)\n"
    )
    path, out = write_examples(short, tmp_path / "data.jsonl"), tmp_path / "out"
    config = settings(sft_max_steps=1)
    arguments = [repr(config.to_json() | {"sft_data": ()}), str(path), str(out)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, *arguments], **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        with pytest.raises(CheckpointError, match=r"Another process is fine-tuning in .*: wait for it, or choose"):
            sft(config, [path], out)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert sft(config, [path], out).steps == 1


# Broken off


def weights(folder: Path) -> bytes:
    return (folder / "model" / "model.safetensors").read_bytes()


def metrics(folder: Path) -> list[dict[str, Any]]:
    clock = ("time", "sft/tokens_per_second")
    return [{name: value for name, value in row.items() if name not in clock} for row in read_metrics(folder)]


@pytest.mark.parametrize("tuning", ["full", "lora"])
def test_a_run_that_was_broken_off_comes_to_the_same(short: list[Example], tmp_path: Path, tuning: str) -> None:
    config = settings(tuning=tuning, sft_epochs=2.0)
    whole = sft(config, short, tmp_path / "whole")

    class Stop(Exception):
        pass

    for last in (1, 3, 6):

        def stop(now: Any, last: int = last) -> None:
            if now.step >= last:
                raise Stop

        with pytest.raises(Stop):
            sft(config, short, tmp_path / "parts", on_progress=stop)
    (tmp_path / "parts" / ".model.0a1b2c3d").mkdir()  # by a process that was killed in the middle of an export
    steps: list[int] = []
    result = sft(config, short, tmp_path / "parts", on_progress=lambda now: steps.append(now.step))
    assert steps[0] == 7
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    assert metrics(tmp_path / "parts") == metrics(tmp_path / "whole")
    assert replace(result, model=whole.model) == whole
    assert not list((tmp_path / "parts").glob(".model*"))
    # Finished, it is not begun again.
    assert sft(config, short, tmp_path / "parts", on_progress=lambda now: pytest.fail("trained again")) == result


def test_a_killed_run_comes_to_the_same(short: list[Example], tmp_path: Path) -> None:
    path = write_examples(short, tmp_path / "data.jsonl")
    config = settings(sft_epochs=2.0)
    sft(config, [path], tmp_path / "whole")
    code = (
        "import sys\n"
        "from eapo_gym.trainers.config import TrainConfig\n"
        "from eapo_gym.trainers.sft import sft\n"
        "sft(TrainConfig(**eval(sys.argv[1])), [sys.argv[2]], sys.argv[3])\n"
    )
    arguments = [repr(config.to_json() | {"sft_data": ()}), str(path), str(tmp_path / "killed")]
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.DEVNULL)
    while process.poll() is None and not (tmp_path / "killed" / "checkpoints" / "step-000002").exists():
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    sft(config, [path], tmp_path / "killed")
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    assert metrics(tmp_path / "killed") == metrics(tmp_path / "whole")


def test_other_settings_or_data_are_refused(short: list[Example], tmp_path: Path) -> None:
    sft(settings(sft_max_steps=1), short, tmp_path)
    with pytest.raises(SftError, match=r"config\.sft_batch \(there 8, here 9\)"):
        sft(settings(sft_max_steps=1, sft_batch=9), short, tmp_path)
    with pytest.raises(SftError, match=r"data\.examples"):
        sft(settings(sft_max_steps=1), short[::-1], tmp_path)
    files = [
        write_examples(part, tmp_path / name / "data.jsonl") for name, part in (("a", short[:8]), ("b", short[8:]))
    ]
    sft(settings(sft_max_steps=1), files, tmp_path / "out")
    write_examples(short[:9], files[0])
    with pytest.raises(SftError, match=r"data\.0 data\.jsonl"):
        sft(settings(sft_max_steps=1), files, tmp_path / "out")
    # What decides nothing here may be another.
    sft(settings(sft_max_steps=1, group_size=4, steps=7), short, tmp_path)


def test_microbatches_may_be_smaller_when_it_goes_on(short: list[Example], tmp_path: Path) -> None:
    """What the error says to lower where memory runs out."""

    def full(now: Any) -> None:
        if now.step == 2:
            raise MemoryError

    with pytest.raises(MemoryError):
        sft(settings(), short, tmp_path, on_progress=full)
    steps: list[int] = []
    result = sft(settings(microbatch_tokens=256), short, tmp_path, on_progress=lambda now: steps.append(now.step))
    assert steps[0] == 3
    # Finished, it is taken as it is.
    assert sft(settings(microbatch_tokens=512), short, tmp_path, on_progress=lambda now: steps.append(0)) == result
    assert 0 not in steps
    # The record of an earlier version named it among what matters.
    stamp = json.loads((tmp_path / "sft.json").read_text())
    stamp["config"]["microbatch_tokens"] = 1024
    (tmp_path / "sft.json").write_text(json.dumps(stamp))
    assert sft(settings(microbatch_tokens=512), short, tmp_path) == result


# Several processes


def test_two_processes_come_to_what_one_does(short: list[Example], tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    path = write_examples(short[:13], tmp_path / "data.jsonl")
    config = settings(sft_max_steps=3, sft_batch=5)  # unequal shares, and in the last batch one process has less
    one = sft(config, [path], tmp_path / "one")
    code = (
        "import sys, accelerate\n"
        "from eapo_gym.trainers.config import TrainConfig\n"
        "from eapo_gym.trainers.sft import sft\n"
        "accelerator = accelerate.Accelerator(cpu=True)\n"
        "assert accelerator.num_processes == 2\n"
        "sft(TrainConfig(**eval(sys.argv[1])), [sys.argv[2]], sys.argv[3], accelerator=accelerator)\n"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "ACCELERATE_USE_CPU": "true"}
    arguments = [repr(config.to_json() | {"sft_data": ()}), str(path), str(tmp_path / "two")]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, **where, "RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    two = json.loads((tmp_path / "two" / "result.json").read_text())
    assert two["loss"] == pytest.approx(one.loss, rel=1e-4)
    assert two["valid_after"] == pytest.approx(one.valid_after, rel=1e-3)


def test_the_command(short: list[Example], tmp_path: Path) -> None:
    import typer
    from typer.testing import CliRunner

    from eapo_gym.cli.training_data import register

    pytest.importorskip("yaml")
    app = typer.Typer()
    register(app)
    path = write_examples(short, tmp_path / "data.jsonl")
    given = [
        f"model={tiny_model()}",
        "tuning=full",
        "agent_options={compact: true}",
        "sft_max_steps=2",
        "max_tokens=256",
    ]
    answer = CliRunner().invoke(app, ["sft", "--out", str(tmp_path / "out"), "--data", str(path), *given])
    assert answer.exit_code == 0, answer.output
    assert "1 updates" in answer.stdout
    assert "held out" in answer.stdout
    assert (tmp_path / "out" / "model" / "config.json").exists()
