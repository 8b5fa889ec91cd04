"""The tokenizers of tiny models can say anything, and say what their environment says in few tokens."""

from __future__ import annotations

import random

import pytest

from eapo_gym.engines.tiny_text import CONTROL_TOKENS, WORDS_OF_THEIR_OWN, environment_texts, train_tokenizer
from eapo_gym.protocol import parse
from tests.toys import Corridor

TEXTS = environment_texts(episodes=12)


def test_texts_are_those_of_the_environment():
    assert any("You arrive at" in text for text in TEXTS)
    assert any("go to" in text for text in TEXTS)
    responses = [text for text in TEXTS if text.startswith("<think>")]
    assert len(responses) > 50
    assert all(parse(response).format_ok for response in responses)
    assert len(set(TEXTS)) == len(TEXTS)


def test_the_same_seed_the_same_texts():
    random.seed(1)
    assert environment_texts(episodes=12) == TEXTS
    assert environment_texts(episodes=12, seed=1) != TEXTS


def test_any_environment_has_texts():
    texts = environment_texts(Corridor(), episodes=3, steps=6)
    assert any("Unlock the door." in text for text in texts)
    assert any("light lamp" in text for text in texts)


def test_the_shop_has_the_texts_of_its_explorer():
    texts = environment_texts("eapo/WebShop-v0", episodes=3)
    assert any("[SEP]" in text for text in texts)
    responses = [text for text in texts if text.startswith("<think>")]
    assert any("<memory> Step 2. Search 1." in text for text in responses)
    assert all(parse(response).format_ok for response in responses)


@pytest.mark.parametrize("family", ["qwen", "gemma"])
def test_tokenizers(family: str):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    tokenizer = train_tokenizer(family, TEXTS, 2048)  # type: ignore[arg-type]
    control, own = CONTROL_TOKENS[family], WORDS_OF_THEIR_OWN[family]  # type: ignore[index]
    assert tokenizer.convert_tokens_to_ids(list(control)) == list(range(len(control)))
    assert set(tokenizer.all_special_tokens) == set(control)
    assert [len(tokenizer.encode(word, add_special_tokens=False)) for word in own] == [1] * len(own)
    assert len(tokenizer) <= 2048
    assert sorted(tokenizer.get_vocab().values()) == list(range(len(tokenizer)))
    for text in TEXTS[::50]:
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert tokenizer.decode(ids) == text
        assert len(ids) < len(text) / 2
    assert (
        tokenizer.decode(tokenizer.encode("日本 \x00 🦜 \u200d é", add_special_tokens=False)) == "日本 \x00 🦜 \u200d é"
    )
    few = train_tokenizer(family, TEXTS, 600)  # type: ignore[arg-type]
    assert len(few) <= 600
