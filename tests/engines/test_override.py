"""OverRIDE: repeated samples differ more, valid ones stay valid, and everything else stays as it is."""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs torch")

torch.set_num_threads(1)  # what is here is small, and shares its machine

from eapo_gym.engines.base import Override  # noqa: E402
from eapo_gym.engines.override import OverrideHeads  # noqa: E402

PLACES = ("drawer", "shelf", "fridge", "desk", "sink")
THINGS = ("mug", "apple", "book", "pen", "knife")
VERBS = ("go", "walk", "run")
SKEWED = (0.8, 0.1, 0.05, 0.03, 0.02)
VALID = re.compile(
    f"({'|'.join(VERBS)}) to ({'|'.join(PLACES)})( open \\2)? take ({'|'.join(THINGS)}) from \\2 "
    f"and (put|place) \\4 (in|on) ({'|'.join(PLACES)}) end"
)
WORDS = ["<start>", *PLACES, *THINGS, *VERBS, "to", "open", "take", "from", "and", "put", "place", "in", "on", "end"]
NUMBER = {word: number for number, word in enumerate(WORDS)}
LONGEST = 20


def a_sentence(rng: random.Random) -> list[str]:
    """Words of a small language in which later words must agree with earlier ones, and most say the same."""
    start, goal = rng.choices(PLACES, SKEWED, k=2)
    thing = rng.choices(THINGS, SKEWED)[0]
    verb = rng.choices(VERBS, (0.85, 0.1, 0.05))[0]
    opened = ["open", start] if rng.random() < 0.15 else []
    put, where = rng.choices(("put", "place"), (0.8, 0.2))[0], rng.choices(("in", "on"), (0.6, 0.4))[0]
    return [verb, "to", start, *opened, "take", thing, "from", start, "and", put, thing, where, goal, "end"]


class SmallModel(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(len(WORDS), 32)
        self.memory = torch.nn.GRU(32, 96, batch_first=True)
        self.head = torch.nn.Linear(96, len(WORDS))

    def forward(self, ids: Any, state: Any = None) -> tuple[Any, Any]:
        hidden, state = self.memory(self.embedding(ids), state)
        return self.head(hidden), state


@pytest.fixture(scope="module")
def model() -> SmallModel:
    torch.manual_seed(0)
    rng = random.Random(0)
    model = SmallModel()
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(600):
        batch = [[0] + [NUMBER[word] for word in a_sentence(rng)] for _ in range(64)]
        ids = torch.full((len(batch), max(map(len, batch))), -100)
        for row, sentence in zip(ids, batch, strict=True):
            row[: len(sentence)] = torch.tensor(sentence)
        logits, _ = model(ids[:, :-1].clamp_min(0))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()
    return model


@torch.no_grad()
def sample(model: SmallModel, heads: OverrideHeads, override: Override | None, generator: Any) -> list[str]:
    ids, state, drawn = torch.tensor([[0]]), None, []
    trace = heads.begin(override) if override else None
    while len(drawn) < LONGEST and (not drawn or WORDS[drawn[-1]] != "end"):
        logits, state = model(ids, state)
        logits = heads.reweight(logits[:, -1], [trace])
        drawn.append(int(torch.multinomial(logits[0].softmax(-1), 1, generator=generator)))
        ids = torch.tensor([drawn[-1:]])
    if trace:
        heads.learn(trace, drawn)
    return [WORDS[id_] for id_ in drawn]


def similarity(sentences: list[list[str]]) -> float:
    """Mean overlap of the word triples of each pair."""
    triples = [set(zip(words, words[1:], words[2:], strict=False)) for words in sentences]
    overlaps = [len(a & b) / len(a | b) for a, b in itertools.combinations(triples, 2)]
    return sum(overlaps) / len(overlaps)


def eight_times(model: SmallModel, override: Override | None, tasks: int = 60) -> tuple[float, float, list[list[str]]]:
    """Similarity of eight samples of each task, share of valid ones, and the samples."""
    generator, heads = torch.Generator().manual_seed(0), OverrideHeads()
    groups = [
        [sample(model, heads, override and replace(override, key=f"task {task}"), generator) for _ in range(8)]
        for task in range(tasks)
    ]
    everything = [words for group in groups for words in group]
    valid = sum(VALID.fullmatch(" ".join(words)) is not None for words in everything) / len(everything)
    return sum(map(similarity, groups)) / tasks, valid, everything


def test_repeated_samples_differ_and_stay_valid(model: SmallModel) -> None:
    alike, valid, _ = eight_times(model, None)
    less_alike, still_valid, _ = eight_times(model, Override("", strength=0.5))
    assert valid > 0.95
    assert less_alike < 0.7 * alike
    assert still_valid > valid - 0.03


def test_more_strength_makes_more_difference(model: SmallModel) -> None:
    found = [eight_times(model, Override("", strength=strength), tasks=30)[0] for strength in (0.0, 0.25, 1.0)]
    assert found == sorted(found, reverse=True)
    assert found[2] < 0.8 * found[1] < 0.8 * found[0]


def test_without_strength_nothing_changes(model: SmallModel) -> None:
    assert eight_times(model, Override("", strength=0.0), tasks=3)[2] == eight_times(model, None, tasks=3)[2]


def taught(override: Override, logits: Any, sampled: list[int], times: int = 1) -> OverrideHeads:
    """Heads that have seen `sampled`, a response whose steps had these logits."""
    heads = OverrideHeads()
    for _ in range(times):
        trace = heads.begin(override)
        for row in logits:
            heads.reweight(row[None], [trace])
        heads.learn(trace, sampled)
    return heads


def random_logits(steps: int, vocabulary: int = 50, seed: int = 0) -> Any:
    return 2 * torch.randn(steps, vocabulary, generator=torch.Generator().manual_seed(seed))


def test_the_first_response_of_a_key_is_plain() -> None:
    heads, logits = OverrideHeads(), random_logits(3)
    assert torch.equal(heads.reweight(logits, [heads.begin(Override("a"))] * 3), logits)


def test_what_was_sampled_becomes_less_likely_where_it_was_sampled() -> None:
    override, logits = Override("a"), random_logits(12)
    sampled = logits.topk(3).indices[:, 2].tolist()
    heads = taught(override, logits, sampled)
    after = heads.reweight(logits, [heads.begin(override) for _ in logits]).softmax(-1)
    before, steps = logits.softmax(-1), torch.arange(len(logits))
    assert torch.all(after[steps, sampled] < before[steps, sampled])
    assert torch.equal(after.argmax(-1), before.argmax(-1))  # and the likeliest were not sampled


def test_keys_do_not_influence_each_other() -> None:
    override, logits = Override("a"), random_logits(6)
    sampled = logits.argmax(-1).tolist()
    heads = taught(override, logits, sampled)
    other = replace(override, key="b")
    traces = [heads.begin(override if row % 2 else other) for row in range(6)]
    mixed = heads.reweight(logits, traces)
    assert torch.equal(mixed[::2], logits[::2])
    alone = heads.reweight(logits, [heads.begin(override) for _ in range(6)])
    assert torch.allclose(mixed[1::2], alone[1::2], atol=1e-6)
    heads.learn(traces[0], sampled[:1])
    again = heads.reweight(logits, [heads.begin(override) for _ in range(6)])
    assert torch.equal(again, alone)


def test_rows_without_a_trace_and_the_callers_logits_stay() -> None:
    override, logits = Override("a"), random_logits(4)
    heads = taught(override, logits, logits.argmax(-1).tolist())
    given_, kept = logits.clone(), logits.clone()
    result = heads.reweight(given_, [None, heads.begin(override), None, None])
    assert torch.equal(given_, kept)
    assert torch.equal(result[[0, 2, 3]], kept[[0, 2, 3]])
    assert not torch.equal(result[1], kept[1])


def test_the_ratio_respects_the_floor() -> None:
    logits = random_logits(8)
    for floor in (1e-4, 1e-2, 0.3):
        override = Override("a", strength=1.0, floor=floor)
        heads = taught(override, logits, logits.argmax(-1).tolist(), times=5)
        shift = heads.reweight(logits, [heads.begin(override) for _ in logits]) - logits
        assert torch.all(shift <= logits.log_softmax(-1) - math.log(floor) + 1e-4)


def test_a_head_approaches_what_was_sampled() -> None:
    """At one context, q tends to the shares of the tokens: the reweighting is (p / shares)^λ then."""
    override, logits = Override("a", strength=1.0), random_logits(1).expand(10, -1)
    first, second = logits[0].topk(2).indices.tolist()
    heads = taught(override, logits, [first] * 7 + [second] * 3, times=40)
    shift = heads.reweight(logits[:1], [heads.begin(override)]) - logits[:1]
    q = (logits[0].log_softmax(-1) - shift[0]).exp()
    assert q[first] == pytest.approx(0.7, abs=0.02)
    assert q[second] == pytest.approx(0.3, abs=0.02)


def test_positions_that_come_twice_or_were_never_answered() -> None:
    """A server computes some rows twice, and does not tell the last token of what it threw away."""
    override, logits = Override("a"), random_logits(4)
    sampled = logits.argmax(-1).tolist()
    heads = OverrideHeads()
    trace = heads.begin(override)
    heads.reweight(random_logits(1, seed=5), [trace], [0])
    for position, row in enumerate(logits):
        heads.reweight(row[None], [trace], [position])
    heads.learn(trace, sampled[:3])
    expected = taught(override, logits[:3], sampled[:3])
    found, wanted = (h.reweight(logits, [h.begin(override) for _ in logits]) for h in (heads, expected))
    assert torch.allclose(found, wanted, atol=1e-6)


def test_heads_that_were_not_used_for_long_are_forgotten() -> None:
    heads, logits = OverrideHeads(capacity=2), random_logits(1)
    for key in ("a", "b", "a", "c"):
        trace = heads.begin(Override(key))
        heads.reweight(logits, [trace])
        heads.learn(trace, [3])
    assert len(heads) == 2
    plain = {key: torch.equal(heads.reweight(logits, [heads.begin(Override(key))]), logits) for key in "abc"}
    assert plain == {"a": False, "b": True, "c": False}
    heads.clear()
    assert len(heads) == 0


def test_a_large_vocabulary_takes_little_memory() -> None:
    """A head holds rows for what was sampled, and a response under way some numbers for each step."""
    override, vocabulary = Override("a"), 151_936
    heads = OverrideHeads()
    trace = heads.begin(override)
    for seed in range(3):
        heads.reweight(random_logits(1, vocabulary, seed), [trace])
    kept = [part for step in trace.steps.values() for part in (step.features, step.ids, step.logprobs)]
    assert sum(part.untyped_storage().nbytes() for part in kept) < 3 * 2048
    heads.learn(trace, [7, 151_935, 7])
    [head] = heads._heads.values()
    assert head.rows.shape == (2, override.rank)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.0, 1e-3, 1.0, 50.0, 1e4]),
    strength=st.floats(0, 50),
    rate=st.floats(0.01, 1.5),
    ruled_out=st.integers(0, 18),
    half=st.booleans(),
)
def test_numbers_stay_finite(seed: int, scale: float, strength: float, rate: float, ruled_out: int, half: bool) -> None:
    override = Override("a", strength=strength, learning_rate=rate, rank=4)
    logits = scale * random_logits(6, 20, seed)
    logits[:, :ruled_out] = -math.inf
    if half:
        logits = logits.bfloat16()
    heads = taught(override, logits, [19] * 6, times=4)
    result = heads.reweight(logits, [heads.begin(override) for _ in logits])
    assert torch.all(result[:, :ruled_out] == -math.inf)
    assert torch.all(result[:, ruled_out:].isfinite())
    assert torch.allclose(result.softmax(-1).sum(-1), torch.ones(6), atol=1e-5)


def test_responses_of_other_weights_have_heads_of_their_own() -> None:
    override, logits = Override("a", strength=1.0), random_logits(3)
    heads = OverrideHeads()
    trace = heads.begin(override, "adapter")
    heads.reweight(logits[:1], [trace])
    heads.learn(trace, [1])
    traces = [heads.begin(override), heads.begin(override, "adapter"), heads.begin(override, "another")]
    same = [torch.equal(*rows) for rows in zip(heads.reweight(logits, traces), logits, strict=True)]
    assert same == [True, False, True]


def test_a_head_that_diverges_is_forgotten() -> None:
    override, logits = Override("a", learning_rate=3e38), random_logits(8)
    heads = OverrideHeads()
    for _ in range(2):
        trace = heads.begin(override)
        for i in range(8):
            heads.reweight(logits[i : i + 1], [trace])
        heads.learn(trace, [1, 2, 3, 4, 1, 2, 3, 4])
    assert not len(heads)
    assert torch.equal(heads.reweight(logits[:1], [heads.begin(override)]), logits[:1])


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "key": (None, 1),
        "strength": (-0.1, math.nan, math.inf, "1", None, True),
        "rank": (0, -1, 2.5, True),
        "learning_rate": (0, -1.0, math.nan, math.inf, "1"),
        "floor": (0, -1.0, 1.0, math.nan),
    }.items(),
)
def test_settings_that_would_fail_later_are_refused(name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"^{name}: expected .*, got"):
            replace(Override("a"), **{name: value})
