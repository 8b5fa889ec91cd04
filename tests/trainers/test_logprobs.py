"""Log-probs of rows against the plain forward pass of transformers, one text at a time."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("hypothesis")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from eapo_gym.engines.base import EngineError, Message, Unsupported  # noqa: E402
from eapo_gym.engines.images import ImageReader  # noqa: E402
from eapo_gym.trainers import logprobs  # noqa: E402
from eapo_gym.trainers.logprobs import BadRow, LogProbs, Row, microbatches  # noqa: E402
from tests.engines.running import TOLERANCE, livelier, text_model  # noqa: E402
from tests.engines.tiny_models import tiny_model  # noqa: E402

RANDOM = np.random.default_rng(0)


def ids(count: int) -> tuple[int, ...]:
    return tuple(RANDOM.integers(20, 400, count).tolist())


SHARED = ids(9)

ROWS = [
    Row(ids(40), (ids(12),)),  # one target
    Row(ids(30), (ids(20), ids(14))),
    Row(ids(21), (SHARED + ids(20), SHARED + ids(13), SHARED + ids(1))),  # a beginning of their own
    Row(ids(60), (SHARED, SHARED + ids(2), SHARED + ids(30))),  # one is the beginning of the others
    Row(ids(60), (SHARED, SHARED + ids(20))),
    Row(ids(3), (SHARED, SHARED)),  # the same twice
    Row(ids(3), ((5,), (6,))),
    Row(ids(1), ((5,),)),
    Row(ids(4), ((), ids(3))),
    Row(ids(4), ((),)),
    Row(ids(4), ()),
]


@pytest.fixture(scope="module", params=["qwen3", "gemma3", "llama"])
def model(request):
    """gemma3's window is shorter than the prompts."""
    return text_model(request.param)[0]


def plainly(model, rows, **inputs):
    """Log-probs with a gradient, from one whole forward pass for each target."""
    found = []
    for row in rows:
        for target in row.targets:
            text = torch.tensor([[*row.prompt, *target]])
            logits = model(input_ids=text, use_cache=False, **inputs).logits[0, len(row.prompt) - 1 : -1].float()
            found.append(logits.log_softmax(-1).gather(1, torch.tensor(target, dtype=torch.long)[:, None])[:, 0])
    return torch.cat(found)


def gradients(model, values, weights):
    model.zero_grad()
    (values * weights).sum().backward()
    return {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}


def assert_same_gradients(own, plain):
    assert own.keys() == plain.keys()
    for name in plain:
        size = plain[name].abs().max()
        assert torch.allclose(own[name], plain[name], atol=1e-4 * float(size) + 1e-7), name


def test_log_probs_and_gradients_are_those_of_a_plain_pass(model):
    module = LogProbs(model)
    batch = module.collate(ROWS)
    values, expected = module(batch), plainly(model, ROWS)
    assert values.dtype == torch.float32
    assert torch.allclose(values, expected, atol=TOLERANCE)
    weights = torch.from_numpy(np.random.default_rng(1).normal(size=len(expected)).astype(np.float32))
    assert_same_gradients(gradients(model, values, weights), gradients(model, expected, weights))
    places = [(i, j) for i, row in enumerate(ROWS) for j, target in enumerate(row.targets) for _ in target]
    assert list(zip(batch.row.tolist(), batch.target.tolist(), strict=True)) == places


def test_neither_padding_nor_order_nor_company_changes_a_row(model):
    module = LogProbs(model)
    with torch.no_grad():
        alone = [module(module.collate([row])) for row in ROWS]
        for order in (list(range(len(ROWS))), list(reversed(range(len(ROWS)))), [2, 0, 6]):
            together = module(module.collate([ROWS[i] for i in order]))
            assert torch.allclose(together, torch.cat([alone[i] for i in order]), atol=TOLERANCE)


def test_the_prompt_and_what_targets_share_are_computed_once(model):
    module = LogProbs(model)
    width = module.collate([Row(ids(100), (SHARED + ids(11), SHARED + ids(21)))]).ids.shape[1]
    assert width == 100 + len(SHARED) + 10 + 20
    assert module.collate([Row(ids(50), (SHARED, SHARED))]).ids.shape[1] == 50 + len(SHARED) - 1
    assert module.collate([Row(ids(50), (SHARED,))]).branch is None  # an ordinary text, which needs no mask of ours


def test_the_output_layer_in_chunks_gives_the_same(model, monkeypatch):
    module = LogProbs(model)
    batch = module.collate(ROWS)
    weights = torch.linspace(-1, 1, len(batch.row))
    whole = module(batch).detach()
    before = gradients(model, module(batch), weights)
    seen = []
    head = model.get_output_embeddings().register_forward_hook(lambda _, given, out: seen.append(len(out)))
    monkeypatch.setattr(logprobs, "_CHUNK", 17 * model.config.vocab_size)
    values = module(batch)
    assert max(seen) == 17
    assert torch.allclose(values, whole, atol=1e-6)
    once = len(seen)
    assert_same_gradients(gradients(model, values, weights), before)
    assert len(seen) == 2 * once  # computed again, not kept
    with torch.no_grad():
        assert torch.allclose(module(batch), whole, atol=1e-6)
    head.remove()


def test_logits_are_capped_where_the_model_caps_them():
    model, _ = text_model("gemma3")
    free = plainly(model, ROWS[:3]).detach()
    model.config.final_logit_softcapping = 2.0
    values = LogProbs(model)(LogProbs(model).collate(ROWS[:3])).detach()
    assert torch.allclose(values, plainly(model, ROWS[:3]), atol=TOLERANCE)
    assert not torch.allclose(values, free, atol=0.01)


# Images


@pytest.fixture(scope="module", params=["qwen3-vl", "gemma3"])
def seeing(request):
    """Gemma's window is shorter than an image."""
    pytest.importorskip("PIL")
    folder = tiny_model(request.param)
    config = transformers.AutoConfig.from_pretrained(folder)
    if request.param == "gemma3":
        config.text_config.sliding_window = 12
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, config=config, attn_implementation="sdpa")
    reader = ImageReader(folder)
    return livelier(model), reader


def row_with(reader, words, sizes, targets) -> tuple[Row, dict]:
    """A row whose prompt has images, and what the whole model wants besides its ids."""
    images = tuple(RANDOM.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes)
    prompt = reader.chat.prompt([Message("user", "What do you see? " * words, images)])
    seen = reader.read(prompt)
    inputs = {name: torch.from_numpy(np.asarray(array)) for name, array in seen.arrays.items()}
    return Row(seen.ids, targets, images), inputs


def plainly_with_images(model, row, inputs):
    token = model.config.image_token_id
    found = []
    for target in row.targets:
        kinds = torch.tensor([[*(int(id_ == token) for id_ in row.prompt), *[0] * len(target)]])
        name = "mm_token_type_ids" if "image_grid_thw" in inputs else "token_type_ids"
        found.append(plainly(model, [Row(row.prompt, (target,))], **inputs, **{name: kinds}))
    return torch.cat(found)


def test_images_give_what_the_whole_model_says(seeing):
    model, reader = seeing
    first, second = ids(6), ids(9)
    given = [
        row_with(reader, 9, [(64, 64)], (ids(12),)),
        row_with(reader, 2, [(96, 160), (64, 64)], (SHARED + first, SHARED + second)),
        (Row(ids(30), (ids(7),)), {}),
    ]
    rows = [row for row, _ in given]
    module = LogProbs(model, lambda: reader)
    expected = torch.cat([plainly_with_images(model, *one) if one[1] else plainly(model, [one[0]]) for one in given])
    values = module(module.collate(rows))
    assert torch.allclose(values, expected, atol=TOLERANCE)
    weights = torch.linspace(-1, 1, len(expected))
    assert_same_gradients(gradients(model, values, weights), gradients(model, expected, weights))
    # Other weights may look at the same rows: nothing is kept of what was seen.
    batch = module.collate(rows)
    module(batch).sum().backward()
    assert torch.allclose(module(batch), expected, atol=TOLERANCE)


def test_rows_of_text_alone_need_no_reader_of_images(seeing):
    model, _ = seeing
    module = LogProbs(model)
    assert torch.allclose(module(module.collate(ROWS)), plainly(model, ROWS), atol=TOLERANCE)
    with pytest.raises(Unsupported, match="sees no images"):
        module.collate([Row(ids(3), (ids(3),), (np.zeros((64, 64, 3), np.uint8),))])


def test_images_that_are_none_are_refused(seeing):
    model, reader = seeing
    with pytest.raises(EngineError, match="expected uint8"):
        LogProbs(model, lambda: reader).collate([Row(ids(3), (ids(3),), (np.zeros((64, 64, 3)),))])


# Rows and batches


def test_rows_that_nobody_could_read_are_refused():
    with pytest.raises(BadRow, match="A prompt without tokens"):
        microbatches([Row((), ((1,),))], 10)
    assert Row((1, 2), ((3,), (4, 5))).length == 4


def test_layers_of_other_kinds_are_refused_only_where_a_mask_is_needed():
    model, _ = text_model("qwen3")
    module = LogProbs(model)
    module._windows = {"linear_attention": None}
    assert len(module(module.collate(ROWS[:1]))) == 12
    with pytest.raises(Unsupported, match=r"kind 'linear_attention'.*Give each target a row of its own"):
        module(module.collate(ROWS[1:2]))


texts = st.lists(st.integers(0, 3), max_size=12).map(tuple)
some_rows = st.lists(st.builds(Row, st.lists(st.just(7), min_size=1, max_size=30).map(tuple), st.tuples(texts) | st.tuples(texts, texts)), max_size=30)  # fmt: skip  # noqa: E501


@settings(deadline=None, max_examples=40)
@given(some_rows, st.integers(1, 200))
def test_each_row_is_in_one_micro_batch_and_the_budget_is_kept(rows, tokens):
    module = LogProbs(text_model_once())
    groups = microbatches(rows, tokens)
    assert sorted(i for group in groups for i in group) == list(range(len(rows)))
    widths = []
    for group in groups:
        taken = module.collate([rows[i] for i in group]).ids.numel()
        assert taken <= tokens or len(group) == 1
        widths.append(taken // len(group))
    assert widths == sorted(widths, reverse=True)
    # No two neighbours would have gone together.
    for one, other, width in zip(groups, groups[1:], widths, strict=False):
        assert (len(one) + 1) * width > tokens or not other


@settings(deadline=None, max_examples=40)
@given(some_rows.filter(len))
def test_any_rows_give_what_a_plain_pass_gives(rows):
    model = text_model_once()
    module = LogProbs(model)
    rows = [Row(tuple(20 + id_ for id_ in row.prompt), row.targets) for row in rows[:4]]
    with torch.no_grad():
        assert torch.allclose(module(module.collate(rows)), plainly(model, rows), atol=TOLERANCE)


_models = []


def text_model_once():
    if not _models:
        _models.append(text_model("gemma3")[0])
    return _models[0]
