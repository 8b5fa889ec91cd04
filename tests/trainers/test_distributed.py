"""Training in two processes against training in one: the same batch, the same weights afterwards.

Each process is this file run as a script, since processes that are forked from a test would share its threads.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
accelerate = pytest.importorskip("accelerate")
pytest.importorskip("transformers")
pytest.importorskip("peft")

from accelerate.state import AcceleratorState  # noqa: E402
from torch.distributed.tensor import DTensor  # noqa: E402

from eapo_gym.engines.base import Prompt  # noqa: E402
from eapo_gym.trainers.config import BadConfig, TrainConfig  # noqa: E402
from eapo_gym.trainers.logprobs import Row  # noqa: E402
from eapo_gym.trainers.policy import Policy  # noqa: E402
from tests.engines.running import run  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402

KINDS = {"ddp-full": "full", "ddp-lora": "lora", "fsdp-full": "full"}
PROCESSES = 2
PROMPT, TARGET = Prompt(tuple(range(100, 140))), tuple(range(200, 212))


def rows() -> list[Row]:
    rng = np.random.default_rng(0)

    def ids(most):
        return tuple(rng.integers(20, 300, rng.integers(2, most)).tolist())

    return [Row(ids(40), (ids(20), ids(20))) for _ in range(9)]


def share(rank: int) -> list[Row]:
    """Unequal shares, so that one of them has more micro-batches."""
    return rows()[:7] if rank == 0 else rows()[7:]


def settings(kind: str) -> TrainConfig:
    return TrainConfig.make(
        tuning=KINDS[kind], lora_rank=4, lora_alpha=8, learning_rate=1e-3, microbatch_tokens=128, grad_clip=1e3,
        gradient_checkpointing=kind == "fsdp-full", sampler="transformers",
    )  # fmt: skip


def train(policy: Policy, batches: list[list[Row]]) -> list[float]:
    """One update of each role on each batch; the sum of all log-probs, over what both processes have, is the aim."""
    tokens = sum(len(target) for row in rows() for target in row.targets)
    norms = []
    for batch in batches:
        for role in ("policy", "q"):
            for part in policy.passes(batch, role):
                policy.backward(-part.logprobs.sum() / tokens)
            norms.append(policy.update(role))
    return norms


def accelerator_of(kind: str):
    if kind != "fsdp-full":
        return accelerate.Accelerator(cpu=True)
    accelerator = accelerate.Accelerator(cpu=True)
    # accelerate takes up the plugin on accelerators alone, and passes over it on CPUs: so it is put where it would be.
    accelerator.state.fsdp_plugin = accelerate.FullyShardedDataParallelPlugin(fsdp_version=2)
    accelerator.state.distributed_type = accelerate.DistributedType.FSDP
    assert accelerator.is_fsdp2
    return accelerator


def worker(folder: Path) -> None:
    """All kinds one after the other: what takes time is to begin."""
    for kind in KINDS:
        accelerator = accelerator_of(kind)
        torch.save(attempt(kind, accelerator, folder), folder / f"{kind}-{accelerator.process_index}.pt")
        accelerator.wait_for_everyone()
        AcceleratorState._reset_state()
    torch.distributed.destroy_process_group()


def attempt(kind: str, accelerator, folder: Path) -> dict:
    rank = accelerator.process_index
    policy = Policy.load(settings(kind), tiny_model(), accelerator=accelerator)
    # The second time one process has nothing at all.
    norms = train(policy, [share(rank), rows() if rank == 0 else []])
    state = policy.state()
    scores = {role: policy.score(share(rank), role) for role in ("policy", "reference", "q")}
    again = Policy.load(settings(kind), tiny_model(), accelerator=accelerator)
    again.load_state(state)
    train(again, [share(rank)])
    train(policy, [share(rank)])

    async def sampled():
        engine = policy.open_engine()
        try:
            return (await engine.score([PROMPT], [TARGET], adapter=policy.adapter))[0]
        finally:
            await engine.close()

    engine_says = run(sampled())
    trainer_says = policy.score([Row(PROMPT.ids, (TARGET,))], "policy")[0][0]
    policy.export(folder / f"{kind}-model")
    weights = list(policy.model.parameters())
    return {
        "processes": accelerator.num_processes,
        "sharded": sum(isinstance(one, DTensor) for one in weights) / len(weights),
        "norms": norms,
        "state": state,
        "engine": [engine_says, trainer_says.tolist()],
        "scores": {role: [[one.tolist() for one in row] for row in of_role] for role, of_role in scores.items()},
        "went on": [policy.state(), again.state()],
    }


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where two processes have written what they came to."""
    folder = tmp_path_factory.mktemp("processes")
    tiny_model()
    shared = {
        **os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(PROCESSES),
        "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.trainers.test_distributed", str(folder)]
    root = Path(__file__).parents[2]
    processes = [
        subprocess.Popen(
            command, cwd=root, env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for rank in range(PROCESSES)
    ]  # fmt: skip
    try:
        said = [process.communicate(timeout=200)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, text in zip(processes, said, strict=True):
        assert process.returncode == 0, text[-4000:]
    return folder


@pytest.fixture(scope="module", params=list(KINDS))
def ran(request, folder):
    """What two processes came to, and what one does."""
    kind = request.param
    results = [torch.load(folder / f"{kind}-{rank}.pt", weights_only=True) for rank in range(PROCESSES)]
    alone = Policy.load(settings(kind), tiny_model())
    norms = train(alone, [rows(), rows()])
    for result in results:
        assert result["processes"] == PROCESSES
        assert result["sharded"] == (1 if kind == "fsdp-full" else 0)
    return results, alone, norms, folder / f"{kind}-model"


def tensors(state, role):
    weights = state[role]["weights"]
    moments = state[role]["optimizer"]["state"]
    return {**weights, **{f"{i}.{key}": value for i, one in moments.items() for key, value in one.items()}}


@pytest.mark.parametrize("role", ["policy", "q"])
def test_two_processes_learn_what_one_learns(ran, role):
    results, alone, norms, _ = ran
    expected = tensors(alone.state(), role)
    first, second = (tensors(result["state"], role) for result in results)
    assert first.keys() == second.keys()
    for own, name in zip(first, expected, strict=True):
        assert torch.equal(first[own], second[own]), own
        scale = float(expected[name].abs().max())
        # Adam turns the rounding of gradients that are next to nothing into steps, which are of the size of the rate.
        assert torch.allclose(first[own], expected[name], atol=1e-3 * scale + 2e-5), own
    for result in results:
        assert result["norms"] == pytest.approx(norms, rel=1e-3)


def test_scores_are_those_of_one_process(ran):
    results, alone, _, _ = ran
    for role in ("policy", "reference", "q"):
        expected = alone.score(rows(), role)
        together = [row for rank in range(PROCESSES) for row in results[rank]["scores"][role]]
        for own, plain in zip(together, expected, strict=True):
            for one, other in zip(own, plain, strict=True):
                assert one == pytest.approx(other.tolist(), abs=3e-3)


def test_a_state_goes_on_and_engines_and_folders_have_the_weights(ran):
    results, _, _, folder = ran
    for result in results:
        went_on, again = result["went on"]
        for role in ("policy", "q"):
            one, other = tensors(went_on, role), tensors(again, role)
            assert all(torch.equal(one[name], other[name]) for name in one)
        engine_says, trainer_says = result["engine"]
        assert engine_says == pytest.approx(trainer_says, abs=1e-4)
    written = Policy.load(settings("ddp-full"), folder, roles=("policy",))
    [[scores]] = written.score([Row(PROMPT.ids, (TARGET,))], "policy")
    assert scores == pytest.approx(results[0]["engine"][1], abs=1e-4)


class Sharding:
    """What `Policy.load` asks an accelerator that shards the weights before anything else."""

    distributed_type, is_fsdp2, mixed_precision = "FSDP", True, "no"


def test_what_does_not_go_together_is_refused():
    for values, expected in (
        ({"tuning": "lora"}, "tuning: expected full where FSDP shards"),
        ({"tuning": "full", "sampler": "shared"}, "sampler: expected transformers or vllm where FSDP shards"),
    ):
        with pytest.raises(BadConfig, match=expected):
            Policy.load(TrainConfig.make(**values), tiny_model(), accelerator=Sharding())
    for name, value, expected in (
        ("is_fsdp2", False, "set up for FSDP: expected one process, DDP"),
        ("mixed_precision", "fp16", "fp16, whose gradients overflow"),
        ("distributed_type", "MULTI_CPU", "bf16, in which the policy alone would compute.*set precision instead"),
    ):
        other = Sharding()
        setattr(other, name, value)
        if name == "distributed_type":
            other.is_fsdp2, other.mixed_precision = False, "bf16"
        with pytest.raises(BadConfig, match=expected):
            Policy.load(TrainConfig.make(tuning="full", sampler="vllm"), tiny_model(), accelerator=other)


if __name__ == "__main__":
    worker(Path(sys.argv[1]))
