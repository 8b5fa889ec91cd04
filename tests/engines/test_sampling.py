"""From logits to tokens: against the library's own warpers, and against the definitions."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from transformers.generation.logits_process import (  # noqa: E402
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from eapo_gym.engines.base import Sampling  # noqa: E402
from eapo_gym.engines.sampling import RowSettings, draw, truncate  # noqa: E402

VOCABULARY = 40

samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.1, 0.7, 1.0, 1.3, 4.0]),
    top_k=st.sampled_from([0, 1, 2, 7, VOCABULARY, 10 * VOCABULARY]),
    top_p=st.sampled_from([0.01, 0.3, 0.9, 0.999, 1.0]),
    min_p=st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]),
)


def logits_of(seed: int, rows: int, spread: float = 3.0) -> torch.Tensor:
    return spread * torch.randn(rows, VOCABULARY, generator=torch.Generator().manual_seed(seed))


def warped(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """The distribution of transformers for one row."""
    scores = logits[None]
    warpers = [TemperatureLogitsWarper(sampling.temperature)]
    warpers += [TopKLogitsWarper(sampling.top_k)] if sampling.top_k else []
    warpers += [TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []
    warpers += [MinPLogitsWarper(sampling.min_p)] if sampling.min_p else []
    for warper in warpers:
        scores = warper(None, scores)
    return scores.softmax(dim=-1)[0]


@settings(deadline=None, max_examples=150)
@given(
    rows=st.lists(samplings, min_size=1, max_size=5), seed=st.integers(0, 2**31), spread=st.sampled_from([0.1, 3, 30])
)
def test_each_row_has_the_distribution_that_transformers_gives_it(rows, seed, spread):
    logits = logits_of(seed, len(rows), spread)
    ours = truncate(logits, RowSettings.of(rows)).exp()
    for row, sampling in enumerate(rows):
        torch.testing.assert_close(ours[row], warped(logits[row], sampling), atol=1e-6, rtol=1e-5)


@settings(deadline=None, max_examples=100)
@given(min_p=st.floats(0.001, 1), temperature=st.floats(0.2, 5), seed=st.integers(0, 2**31))
def test_min_p_keeps_what_has_a_share_of_the_likeliest(min_p, temperature, seed):
    logits = logits_of(seed, 1).double()
    probabilities = (logits / temperature).softmax(dim=-1)[0]
    kept = truncate(logits, RowSettings.of([Sampling(min_p=min_p, temperature=temperature)]))[0].exp()
    for ours, theirs in zip(kept.tolist(), probabilities.tolist(), strict=True):
        share = theirs / float(probabilities.max())
        if abs(share - min_p) > 1e-6:  # nearer than that, rounding decides
            assert (ours > 0) == (share > min_p)
    assert kept.sum() == pytest.approx(1)


@settings(deadline=None, max_examples=100)
@given(top_p=st.floats(0.01, 0.99), seed=st.integers(0, 2**31))
def test_top_p_keeps_the_fewest_that_have_the_share(top_p, seed):
    logits = logits_of(seed, 1)
    probabilities = logits.softmax(dim=-1)[0]
    kept = truncate(logits, RowSettings.of([Sampling(top_p=top_p)]))[0] > -math.inf
    share = float(probabilities[kept].sum())
    assert share >= top_p - 1e-5
    assert share - float(probabilities[kept].min()) <= top_p + 1e-5


def test_temperature_zero_is_certain_of_the_likeliest_whatever_else_is_set():
    logits = logits_of(3, 4)
    rows = [
        Sampling(temperature=0, top_k=3, top_p=0.5, min_p=0.3),
        Sampling(),
        Sampling(temperature=0),
        Sampling(top_k=2),
    ]
    logprobs = truncate(logits, RowSettings.of(rows))
    for row in (0, 2):
        assert draw(logprobs, [0.99] * 4)[row] == logits[row].argmax()
        assert logprobs[row].max() == 0
        assert logprobs[row].exp().sum() == 1
    torch.testing.assert_close(logprobs[1], logits[1].log_softmax(-1))
    assert (logprobs[3] > -math.inf).sum() == 2


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(samplings, min_size=2, max_size=6), seed=st.integers(0, 2**31))
def test_a_row_does_not_depend_on_its_neighbours(rows, seed):
    logits = logits_of(seed, len(rows))
    uniforms = torch.rand(len(rows), generator=torch.Generator().manual_seed(seed)).tolist()
    together = truncate(logits, RowSettings.of(rows))
    tokens = draw(together, uniforms)
    for row, sampling in enumerate(rows):
        alone = truncate(logits[row : row + 1], RowSettings.of([sampling]))
        assert torch.equal(alone[0], together[row])
        assert draw(alone, uniforms[row : row + 1])[0] == tokens[row]


def test_draws_follow_the_distribution_and_never_hit_the_impossible():
    logprobs = truncate(logits_of(5, 1), RowSettings.of([Sampling(top_k=6)]))
    count = 20_000
    uniforms = torch.rand(count, generator=torch.Generator().manual_seed(0)).tolist()
    tokens = draw(logprobs.expand(count, -1), uniforms)
    shares = torch.bincount(tokens, minlength=VOCABULARY) / count
    # Five standard deviations of a share.
    assert ((shares - logprobs[0].exp()).abs() < 5 * 0.5 / math.sqrt(count)).all()
    assert (shares[logprobs[0] == -math.inf] == 0).all()


def test_the_ends_of_the_range_are_drawn_right():
    logprobs = torch.tensor([[0.0, 0.25, 0.0, 0.75, 0.0]]).log()
    for uniform, token in ((0.0, 1), (0.2499, 1), (0.25, 3), (1 - 2**-53, 3)):
        assert draw(logprobs, [uniform]).tolist() == [token]


def test_rare_tokens_of_a_large_vocabulary_are_not_lost():
    """In single precision the sums would stand still where each term is 1e-8 of the total."""
    size = 200_000
    probabilities = torch.full((1, size), 1e-9, dtype=torch.float64)
    probabilities[0, 0] = 1 - probabilities[0, 1:].sum()
    uniform = float(probabilities[0, :150_000].sum() + 5e-10)
    assert draw(probabilities.log(), [uniform]).tolist() == [150_000]


def test_no_distribution_is_no_id_out_of_range():
    assert draw(torch.full((1, 5), math.nan), [0.5])[0] < 5


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "max_tokens": (0, 2.5, True, "5"),
        "temperature": (-1, 1e-40, math.nan, math.inf, "1", None),
        "top_p": (0, 1.1, math.nan, None),
        "top_k": (-1, 1.5, 2**31, 10**30, None),
        "min_p": (-0.1, 1.1, math.nan),
        "stop": ("abc", ["a"], ("",), (5,), None),
        "seed": (1.5, "1", True),
        "override": ("key", {}),
        "adapter": (1,),
    }.items(),
)
def test_settings_that_would_fail_in_the_middle_of_a_batch_are_refused(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"^{name}: expected .*, got"):
            Sampling(**{name: value})


def test_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    Sampling(max_tokens=numpy.int64(3), temperature=numpy.float32(0.5), seed=numpy.int64(7))
