"""The reward model, with real tiny models: what it reads, what it pays, and what it learns."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")
pytest.importorskip("accelerate")

from eapo_gym.agents.eapo import EAPOAgent  # noqa: E402
from eapo_gym.agents.pictures import PackedImages  # noqa: E402
from eapo_gym.engines.base import Sampling  # noqa: E402
from eapo_gym.protocol import parse, render  # noqa: E402
from eapo_gym.schema import Trajectory, Transition, Turn  # noqa: E402
from eapo_gym.trainers.batch import Attempt, Batch, make_batch  # noqa: E402
from eapo_gym.trainers.config import TrainConfig  # noqa: E402
from eapo_gym.trainers.policy import Policy  # noqa: E402
from eapo_gym.trainers.qphi import PATIENCE, RewardModel, Scored, _Lessons  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402

GOAL = "Your task is to: put some apple in fridge."
STATES = (
    "You arrive at cabinet 1. The cabinet 1 is closed.",
    "You arrive at countertop 2. On the countertop 2, you see a mug 1, and a knife 2.",
    "You open drawer 3. In it, you see nothing.",
)
NEXT = "You arrive at fridge 1. The fridge 1 is closed."


def config_for(**settings: Any) -> TrainConfig:
    values: dict[str, Any] = {"model": str(tiny_model("qwen3")), "tuning": "full", "q_learning_rate": 3e-3}
    return TrainConfig.make(**{**values, "max_tokens": 128, "grad_clip": 1.0, **settings})


@dataclass
class Bench:
    """A reward model with what it takes; `tell` writes a batch in the tokens of its model."""

    config: TrainConfig
    policy: Any
    agent: EAPOAgent

    @property
    def model(self) -> RewardModel:
        return RewardModel(self.policy, self.config, self.agent)

    def step(self, explore: str, memory: str, state: str = STATES[0], **changes: Any) -> Transition:
        turn = Turn(explore=explore, memory=memory, action="look")
        chat = self.policy.chat
        ids = (*chat.encode(render(turn)), chat.stop_ids[0])
        made = Transition(
            task="", trajectory="", t=0, goal=GOAL, state=state, fingerprint=state, depth=0, explore_in="",
            memory_in="", explore=explore, memory=memory, action="look", format_ok=True, reward=0.0, terminated=False,
            truncated=False, next_state=NEXT, next_fingerprint=NEXT, prompt_ids=(1,), response_ids=ids,
            response_logprobs=tuple(-1.0 for _ in ids),
        )  # fmt: skip
        return replace(made, **changes)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """Nobody may train this one."""
    yield from opened(config_for())


def opened(config: TrainConfig, **options: Any) -> Iterator[Bench]:
    policy = Policy.load(config)
    engine = policy.open_engine()
    agent = EAPOAgent(engine, Sampling(max_tokens=config.max_tokens), env=config.env, compact=True, **options)
    yield Bench(config, policy, agent)
    asyncio.run(engine.close())


def batch_of(*episodes: tuple[Sequence[Transition], bool], tasks: Sequence[int] | None = None) -> Batch:
    """Episodes with whether they succeeded; all of one task unless `tasks` says otherwise."""
    groups: dict[int, list[Attempt]] = {}
    for i, (steps, success) in enumerate(episodes):
        numbered = [replace(step, t=t) for t, step in enumerate(steps)]
        trajectory = Trajectory(f"task {i}", "test", numbered, success)
        groups.setdefault(tasks[i] if tasks else 0, []).append(Attempt((trajectory,)))
    return make_batch([(f"task {task}", members) for task, members in groups.items()])


def scored_by(bench: Bench, batch: Batch, **settings: Any) -> Scored:
    model = RewardModel(bench.policy, bench.config if not settings else config_for(**settings), bench.agent)
    scored = model.prepare(batch)
    model.score(scored)
    return scored


# What is read


def test_the_prompt_has_goal_and_state_and_neither_exploration_nor_memory(bench: Bench) -> None:
    step = bench.step("Look there.", "It is dark.", explore_in="an earlier idea", memory_in="an earlier memory")
    [row] = bench.model.prepare(batch_of(([step], True))).rows
    prompt = bench.policy.chat.decode(row.prompt)
    assert GOAL in prompt
    assert STATES[0] in prompt
    assert "earlier" not in prompt
    assert "dark" not in prompt
    first, second = map(bench.policy.chat.decode, row.targets)
    assert first.strip() == "<explore> Look there. </explore>\n<memory> It is dark. </memory>"
    assert parse(second).memory == f"It is dark.\n{NEXT}"


def test_equal_rows_are_scored_once_and_counted_for_all(bench: Bench) -> None:
    one, other = bench.step("Look.", "A mug."), bench.step("Look.", "A knife.")
    scored = scored_by(bench, batch_of(([one], True), ([other], False), ([one], False), ([one], True)))
    assert len(scored.rows) == 2
    assert scored.row.tolist() == [0, 1, 0, 0]
    assert scored.log_q[0, 0] == scored.log_q[2, 0] == scored.log_q[3, 0] != scored.log_q[1, 0]


def test_the_input_score_reads_what_the_prompt_was_given_in_the_tokens_of_the_response_before(bench: Bench) -> None:
    first = bench.step("Look.", "A mug.")
    second = bench.step("Go on.", "A knife.", STATES[1], explore_in="Look.", memory_in="A mug.")
    model = RewardModel(bench.policy, config_for(score="input"), bench.agent)
    scored = model.prepare(batch_of(([first, second], True)))
    texts = [bench.policy.chat.decode(scored.rows[row].targets[0]) for row in scored.row]
    assert [parse(text).explore for text in texts] == ["", "Look."]
    assert [parse(text).memory for text in texts] == ["", "A mug."]
    assert scored.sampled[0] is None
    assert scored.sampled[1] is not None
    assert scored.rows[1].targets[0] == bench.model.prepare(batch_of(([first], True))).rows[0].targets[0]


def test_reflections_and_pairs_that_do_not_fit_are_not_scored(bench: Bench) -> None:
    reflection = bench.step("", "", action=None)
    failed = Trajectory("t", "test", [bench.step("Look.", "A mug.")], False)
    solved = Trajectory("t", "test", [bench.step("Look.", "word " * 5000)], True)
    batch = make_batch([("t", [Attempt((failed, solved), (reflection,))])])
    for density in ("lift", "log_prob"):
        scored = scored_by(bench, batch, density=density)
        assert scored.known.tolist() == [True, False, False]
        # Nothing is earned; where all rewards are negative, nothing better than the others.
        assert (scored.explore[1:] <= max(0.0, scored.explore[0])).all()
        assert np.isnan(scored.log_q[1:]).all()
    assert not np.isnan(scored.explore).any()


def test_where_only_the_first_pair_fits_it_decides(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of(([bench.step("Look.", "A mug.")], True))
    [row] = bench.model.prepare(batch).rows
    monkeypatch.setattr(bench.policy, "context", len(row.prompt) + len(row.targets[0]))
    scored = scored_by(bench, batch)
    assert len(scored.rows[0].targets) == 1
    assert scored.explore[0] == scored.densities["lift"][0, 0]
    assert not scored.second[0]
    assert np.isnan(scored.densities["lift"][0, 1])


# What it pays


@pytest.mark.parametrize("score", ["output", "input"])
def test_one_at_a_time_gives_the_same_numbers(bench: Bench, score: str) -> None:
    steps = [
        bench.step(explore, memory, state, explore_in=memory, memory_in=explore)
        for state in STATES
        for explore, memory in [("Look.", "A mug."), ("", ""), ("Open cabinet 1.", "Cabinet 1 is closed. " * 8)]
    ]
    together = scored_by(bench, batch_of(*(([step], True) for step in steps)), score=score)
    for i, step in enumerate(steps):
        alone = scored_by(bench, batch_of(([step], True)), score=score)
        np.testing.assert_allclose(together.log_q[i], alone.log_q[0], atol=1e-4)
        np.testing.assert_allclose(together.log_p[i], alone.log_p[0], atol=1e-4)
        np.testing.assert_allclose(together.explore[i], alone.explore[0], atol=1e-4)


def test_the_log_probs_are_those_of_a_plain_forward_pass(bench: Bench) -> None:
    scored = scored_by(bench, batch_of(([bench.step("Look.", "A mug.")], True)))
    [row] = scored.rows
    for j, target in enumerate(row.targets):
        with torch.no_grad():
            logits = bench.policy.model(torch.tensor([[*row.prompt, *target]])).logits[0].log_softmax(-1)
        places = torch.arange(len(row.prompt) - 1, len(row.prompt) + len(target) - 1)
        assert logits[places, torch.tensor(target)].sum().item() == pytest.approx(scored.log_p[0, j], abs=1e-3)
        assert scored.tokens[0, j] == len(target)


def test_an_untrained_model_is_its_own_prior(bench: Bench) -> None:
    scored = scored_by(bench, batch_of(([bench.step("Look.", "A mug.")], True)))
    np.testing.assert_allclose(scored.densities["lift"], 0.5, atol=1e-5)
    assert scored.explore[0] == pytest.approx(0.5, abs=1e-5)  # the second pair is discounted
    assert not scored.second[0]


def test_training_needs_the_scoring(bench: Bench) -> None:
    model = bench.model
    with pytest.raises(ValueError, match="expected transitions that `score` was given"):
        model.train(model.prepare(batch_of(([bench.step("Look.", "A mug.")], True))))


# What it learns

SEEN = [
    f"{place} {i} holds {thing}." for i in (1, 2) for place in ("Fridge", "Cabinet") for thing in ("a mug", "an egg")
]
HELD_OUT = ["Fridge 2 holds an apple.", "Drawer 1 holds a mug.", "Cabinet 1 holds an apple."]
USELESS = {"empty": "", "boilerplate": "I should keep going and do my best.", "copied": None}


def memory_of(kind: str, state: str) -> str:
    text = USELESS[kind]
    return state if text is None else text


@pytest.fixture(scope="module")
def trained() -> Iterator[tuple[Bench, list[float]]]:
    """A reward model that has seen informative memories succeed, and the others fail, in the same states."""
    for bench in opened(config_for()):
        dice = np.random.default_rng(0)
        model, aucs = bench.model, []
        for _ in range(24):
            episodes: list[tuple[list[Transition], bool]] = []
            tasks: list[int] = []
            for task, state in enumerate(STATES):
                good = [(str(memory), True) for memory in dice.choice(SEEN, 4, replace=False)]
                bad = [(memory_of(kind, state), False) for kind in USELESS]
                episodes += [([bench.step("Look on.", memory, state)], success) for memory, success in good + bad]
                tasks += [task] * len(good + bad)
            scored = model.prepare(batch_of(*episodes, tasks=tasks))
            model.score(scored)
            health = model.health(scored, model.train(scored))
            aucs.append(health.metrics["q/auc_lift"])
        yield bench, aucs


def test_it_learns_to_tell_good_memories_from_bad_ones(trained: tuple[Bench, list[float]]) -> None:
    _, aucs = trained
    assert np.mean(aucs[-3:]) > 0.8
    assert np.mean(aucs[-3:]) > aucs[0]


@pytest.mark.parametrize("kind", USELESS)
def test_useless_memories_do_not_outscore_informative_ones(trained: tuple[Bench, list[float]], kind: str) -> None:
    bench, _ = trained
    good = [([bench.step("Look on.", memory, state)], True) for state in STATES for memory in HELD_OUT]
    bad = [([bench.step("Look on.", memory_of(kind, state), state)], False) for state in STATES]
    lift = scored_by(bench, batch_of(*good, *bad)).densities["lift"][:, 0]
    assert lift[: len(good)].min() > lift[len(good) :].max()


def test_the_reward_varies_with_the_response_that_it_credits(trained: tuple[Bench, list[float]]) -> None:
    bench, _ = trained
    given = {"explore_in": "Look.", "memory_in": "A mug."}
    steps = [bench.step("Look on.", memory, **given) for memory in (HELD_OUT[0], USELESS["boilerplate"], "")]
    batch = batch_of(*(([step], True) for step in steps))
    output = scored_by(bench, batch).densities["lift"][:, 0]
    assert len(set(output.tolist())) == len(steps)
    # The equation of the paper scores what the prompt was given: no choice at t changes its first term.
    assert len(set(scored_by(bench, batch, score="input").densities["lift"][:, 0].tolist())) == 1


def test_the_density_of_a_sequence_is_dead_and_the_lift_is_not(trained: tuple[Bench, list[float]]) -> None:
    bench, _ = trained
    long = " ".join(SEEN)
    scored = scored_by(bench, batch_of(([bench.step("Look on.", long)], True), ([bench.step("Look on.", "")], True)))
    assert scored.densities["sequence"][0].max() < 1e-6
    assert 0.01 < scored.densities["lift"][0, 0] < 1


def test_training_leaves_prior_and_policy_alone(trained: tuple[Bench, list[float]], bench: Bench) -> None:
    done, _ = trained
    batch = batch_of(([bench.step("Look on.", SEEN[0])], True))
    rows = bench.model.prepare(batch).rows
    fresh = bench.policy.score(rows, "reference")
    for role in ("reference", "policy"):
        np.testing.assert_array_equal(done.policy.score(rows, role)[0][0], fresh[0][0])
    assert np.abs(done.policy.score(rows, "q")[0][0] - fresh[0][0]).max() > 0.1


def test_lessons_of_one_prompt_share_a_row_that_is_no_wider_than_the_widest(bench: Bench) -> None:
    memories = [
        "A mug.",
        "A knife.",
        "A fork.",
        "A plate, and a long list of other things that stand on the countertop.",
    ]
    steps = [bench.step("Look.", memory, state) for state in STATES[:2] for memory in memories]
    scored = scored_by(bench, batch_of(*(([step], True) for step in steps)))
    lessons = _Lessons.of(scored)
    taught = {(row.prompt, target) for row in lessons.rows for target in row.targets}
    assert taught == {(row.prompt, row.targets[0]) for row in scored.rows}
    assert len(lessons.rows) < len(taught)
    widest = max(len(prompt) + len(target) for prompt, target in taught)
    assert all(len(row.prompt) + sum(map(len, row.targets)) <= widest for row in lessons.rows)
    owners = [who for members in lessons.members for of_target in members for who in of_target]
    assert sorted(owners) == list(range(len(steps)))


@pytest.mark.parametrize("microbatch_tokens", [1, 16384])
@pytest.mark.parametrize("objective", ["reinforce", "weighted_mle"])
def test_the_update_is_that_of_a_plain_loop_over_transitions(objective: str, microbatch_tokens: int) -> None:
    """Rows are shared by the transitions that have them, and padded; the gradient must not know."""
    config = config_for(q_objective=objective, microbatch_tokens=microbatch_tokens, q_kl=0.5, q_beta=2.0)
    for bench in opened(config):
        rng = np.random.default_rng(1)
        memories = ["A mug.", "A mug.", "A mug.", "A knife lies on the countertop.", ""]
        successes = [True, False, True, False, True]
        steps = [bench.step("Look.", memory) for memory in memories]
        steps[1] = replace(steps[1], next_state="You see nothing.")  # another second pair, and the same lesson
        for i, step in enumerate(steps):
            logprobs = rng.normal(-7, 1, len(step.response_ids))
            steps[i] = replace(step, response_logprobs=() if i == 3 else tuple(logprobs.tolist()))
        model = bench.model
        scored = model.prepare(batch_of(*([[step], won] for step, won in zip(steps, successes, strict=True))))
        assert len(scored.rows) == 4
        model.score(scored)
        stats = model.train(scored)

        plain = bench.policy.model  # q was the same as the policy before the update
        weights = np.exp(2.0 * np.array(successes))
        losses = []
        for i, won in enumerate(successes):
            row = scored.rows[scored.row[i]]
            target = torch.tensor(row.targets[0])
            logits = plain(torch.tensor([[*row.prompt, *row.targets[0]]])).logits[0].log_softmax(-1)
            log_q = logits[len(row.prompt) - 1 : -1].gather(1, target[:, None]).mean()
            log_p = log_q.item()  # untrained
            gain = 2.0 * (won - np.mean(successes)) if objective == "reinforce" else weights[i] / weights.mean()
            old = scored.sampled[i]
            ratio = 1.0 if old is None else float(np.exp(log_p - old.mean()))
            losses.append(-gain * min(max(ratio, 0.8), 1.2) * log_q / len(successes))
        loss = sum(losses)
        plain.zero_grad()
        loss.backward()
        norm = torch.nn.utils.get_total_norm([one.grad for one in plain.parameters() if one.grad is not None])
        assert stats["q/loss"] == pytest.approx(loss.item(), abs=1e-4)
        assert stats["q/grad_norm"] == pytest.approx(float(norm), rel=1e-3)


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_weighted_mle_moves_towards_the_prior_times_the_exponential_of_the_return(beta: float) -> None:
    """Two pairs of one length in one state, sampled alike: their odds become exp(beta · (Q1 - Q2))."""
    for bench in opened(config_for(q_objective="weighted_mle", q_learning_rate=2e-3, q_clip=0.0, q_beta=beta)):
        batch = batch_of(([bench.step("A", "mug")], True), ([bench.step("A", "egg")], False))
        model = bench.model
        odds = []
        for _ in range(80):
            scored = model.prepare(batch)
            model.score(scored)
            odds.append(float(scored.log_q[0, 0] - scored.log_q[1, 0]))
            model.train(scored)
        assert scored.tokens[0, 0] == scored.tokens[1, 0]
        assert odds[-1] == pytest.approx(beta, abs=0.1)
        assert abs(odds[0] - beta) > 0.1


def test_lora_shares_one_model_and_learns_as_well() -> None:
    for bench in opened(config_for(tuning="lora", lora_rank=8, lora_alpha=16, q_learning_rate=1e-2)):
        model = bench.model
        batch = batch_of(([bench.step("A", "mug")], True), ([bench.step("A", "")], False))
        lifts = []
        for _ in range(8):
            scored = model.prepare(batch)
            model.score(scored)
            lifts.append(scored.densities["lift"][:, 0])
            stats = model.train(scored)
        np.testing.assert_allclose(lifts[0], 0.5, atol=1e-5)
        assert lifts[-1][0] > 0.55 > 0.45 > lifts[-1][1]
        assert stats["q/kl"] > -1
        assert stats["q/grad_norm"] > 0


def test_images_are_part_of_the_prompt() -> None:
    pytest.importorskip("PIL")
    rng = np.random.default_rng(3)
    red, blue = (rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(2))
    for bench in opened(config_for(model=str(tiny_model("qwen3-vl")))):
        steps = [bench.step("Look.", "A mug.", images=images) for images in ((red,), (red.copy(),), (blue,), ())]
        model = bench.model
        scored = model.prepare(batch_of(*(([step], True) for step in steps)))
        assert scored.row.tolist() == [0, 0, 1, 2]  # equal pictures are one prompt
        assert scored.rows[0].images[0] is red
        assert len(scored.rows[0].prompt) > len(scored.rows[2].prompt)
        model.score(scored)
        assert abs(scored.log_q[0, 0] - scored.log_q[2, 0]) > 1e-3  # they are looked at
        assert np.isfinite(model.train(scored)["q/grad_norm"])


def test_elements_of_a_screen_are_part_of_the_prompt() -> None:
    """In text they are all that there is of a screen: without them two screens of an app would be the same."""
    for bench in opened(config_for()):
        steps = [bench.step("Look.", "In front: Notes") for _ in range(3)]
        for step, elements in zip(steps, ("0: Button Save", "0: Button Save", "0: Button Delete"), strict=True):
            step.elements = elements
        scored = bench.model.prepare(batch_of(*(([step], True) for step in steps)))
        assert scored.row.tolist() == [0, 0, 1]
        texts = [bench.policy.chat.decode(row.prompt) for row in scored.rows]
        assert ["Button Save" in text for text in texts] == [True, False]


def test_the_reward_model_sees_the_pictures_that_the_policy_saw() -> None:
    pytest.importorskip("PIL")
    picture = np.random.default_rng(3).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    options = {"images": "marked", "image_pixels": 4096}
    for bench in opened(config_for(model=str(tiny_model("qwen3-vl"))), **options):
        step = bench.step("Look.", "In front: Notes", images=PackedImages([picture]))
        step.elements = "0: Button Save"
        [row] = bench.model.prepare(batch_of(([step], True))).rows
        assert np.array_equal(row.images[0], picture)
        assert "Button Save" not in bench.policy.chat.decode(row.prompt), "the boxes have the numbers"
        assert len(row.prompt) > 4


def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    """Each has a part of the transitions: 3 and 1 of them, so that neither can take its own mean for the whole."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.trainers.test_qphi", str(tmp_path)],
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=Path(__file__).parents[2],
        )
        for rank in range(2)
    ]
    try:
        alone = learn_shares([0, 1, 2, 3], None)
        assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    finally:
        for worker in workers:
            worker.kill()
    for rank in range(2):
        found = json.loads((tmp_path / f"{rank}.json").read_text())
        assert found == pytest.approx(alone, rel=1e-4, abs=1e-6)


def learn_shares(share: list[int], accelerator: Any) -> dict[str, float]:
    """One update on these of four transitions, each of a task of its own pair of trajectories."""
    config = config_for(sampler="transformers", q_baseline="none", microbatch_tokens=150)
    policy = Policy.load(config, accelerator=accelerator)
    engine = policy.open_engine()
    agent = EAPOAgent(engine, Sampling(max_tokens=config.max_tokens), env=config.env, compact=True)
    bench = Bench(config, policy, agent)
    episodes = [([bench.step("Look.", f"Mug {i}. " * (1 + i), STATES[i % 3])], i % 2 == 0) for i in range(4)]
    model = bench.model
    scored = model.prepare(batch_of(*(episodes[i] for i in share)))
    model.score(scored)
    stats = model.train(scored)
    asyncio.run(engine.close())
    return stats


# How it does


def test_blindness_is_told_once_and_after_a_while(bench: Bench) -> None:
    model = bench.model
    batch = batch_of(([bench.step("Look.", "A mug.")], True), ([bench.step("Look.", "A mug.")], False))
    scored = model.prepare(batch)
    model.score(scored)
    warnings = [model.health(scored).warning for _ in range(PATIENCE + 3)]
    [said] = [warning for warning in warnings if warning]
    assert warnings[PATIENCE - 1] == said
    assert "q/auc_lift" in said
    assert "q_learning_rate" in said
    # A run that goes on from a checkpoint does not say it again.
    other = bench.model
    other.load_state(model.state())
    assert all(other.health(scored).warning is None for _ in range(PATIENCE + 1))


def test_worse_than_chance_is_blind_too(bench: Bench) -> None:
    model = bench.model
    scored = model.prepare(
        batch_of(([bench.step("Look.", "A mug.")], True), ([bench.step("Look.", "A knife lies here.")], False))
    )
    model.score(scored)
    auc = model.health(scored).metrics["q/auc"]
    won = int(auc == 0)  # whichever order it is that q gets wrong
    wrong = model.prepare(
        batch_of(*(([bench.step("Look.", text)], i == won) for i, text in enumerate(("A knife lies here.", "A mug."))))
    )
    model.config = replace(model.config, density="token_mean")
    model.score(wrong)
    said = [model.health(wrong) for _ in range(PATIENCE)]
    assert {health.metrics["q/auc"] for health in said} == {0.0}
    assert any(health.warning for health in said)


def test_the_second_pair_has_what_the_environment_says_of_the_next_state(bench: Bench) -> None:
    model = bench.model
    steps = [
        bench.step("Look.", "A mug.", next_state=f"You try for the {i}. time.", next_description="You face the fridge.")
        for i in range(2)
    ]
    scored = model.prepare(batch_of((steps, True)))
    assert len(scored.rows) == 1, "one state, however one came there"
    _, second = scored.rows[0].targets
    assert "You face the fridge." in bench.policy.chat.decode(second)
    scored = model.prepare(batch_of(([replace(step, next_description="") for step in steps], True)))
    assert len(scored.rows) == 2


def test_steps_with_one_outcome_say_nothing_of_blindness(bench: Bench) -> None:
    model = bench.model
    scored = model.prepare(batch_of(([bench.step("Look.", "A mug.")], False)))
    model.score(scored)
    health = [model.health(scored) for _ in range(PATIENCE + 1)]
    assert all(one.warning is None for one in health)
    assert np.isnan(health[0].metrics["q/auc"])


def test_an_empty_batch_is_no_trouble(bench: Bench) -> None:
    model = bench.model
    scored = model.prepare(make_batch([]))
    assert model.score(scored).shape == (0,)
    assert model.train(scored) == {}
    assert np.isnan(model.health(scored).metrics["density/lift"])


def worker(folder: Path) -> None:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    stats = learn_shares([[0, 1, 2], [3]][accelerator.process_index], accelerator)
    (folder / f"{accelerator.process_index}.json").write_text(json.dumps(stats))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    worker(Path(sys.argv[1]))
