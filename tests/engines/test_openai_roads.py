from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.engines.base import Message, Prompt
from eapo_gym.engines.openai_roads import Answer, Road, read_prompt_logprobs

NAMES = (
    *("text", "message", "content", "logprobs", "token_logprobs", "tokens", "token", "logprob", "bytes"),
    *("token_ids", "prompt_token_ids", "prompt_tokens", "completion_tokens", "finish_reason", "prompt_logprobs", "1"),
)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=400)
@given(st.dictionaries(st.sampled_from(NAMES), json_values), json_values, json_values)
def test_foreign_data_is_read_whatever_it_is(choice: dict[str, Any], usage: Any, ids: Any) -> None:
    raw = {"choices": [choice], "usage": usage, "prompt_token_ids": ids}
    for road in (Road("ids"), Road("chat")):
        answer = road.read(raw)
        assert isinstance(answer.text, str)
        assert all(type(one) is int and one >= 0 for one in (*answer.ids, *answer.prompt_ids))
        assert all(type(one) is float and one == one for one in answer.logprobs or ())
        assert answer.prompt_tokens >= 0
        assert answer.response_tokens >= 0
        assert len(answer.cut(["a"]).text) <= len(answer.text)
    found = read_prompt_logprobs(raw, [1, 2, 3], 1)
    assert found is None or len(found) == 2


@given(st.lists(st.text(min_size=1, max_size=3), max_size=8), st.lists(st.text(min_size=1, max_size=4), max_size=3))
def test_a_response_is_cut_behind_the_first_stop_between_tokens(pieces: list[str], stops: list[str]) -> None:
    spelt = tuple(piece.encode("utf-8", "surrogatepass") for piece in pieces)
    text, values = "".join(pieces), tuple(map(float, range(len(pieces))))
    answer = Answer((), (), text, values, spelt, "length", 0, 0).cut(stops)
    ends = [end for end in range(len(text) + 1) if any(text[:end].endswith(stop) for stop in stops)]
    if not ends or ends[0] == len(text):
        assert answer.text == text
        return
    # The stop text that begins first; of two that begin at one place the shorter one.
    assert any(answer.text.endswith(stop) for stop in stops)
    kept = b"".join(answer.pieces).decode("utf-8", "surrogatepass")
    assert kept.startswith(answer.text)
    assert len(answer.logprobs or ()) == len(answer.pieces)
    assert not "".join(pieces[: len(answer.pieces) - 1]).startswith(answer.text)


def test_prompts() -> None:
    prompt = Prompt((1, 2), messages=(Message("user", "Hello."),))
    assert Road("ids").ask(prompt) == {"prompt": [1, 2]}
    assert Road("chat").ask(prompt) == {"messages": [{"role": "user", "content": "Hello."}]}


@pytest.mark.parametrize("values", [[0.5, None], [float("nan")], ["0.5"], [True], None, "0.5", {}])
def test_log_probs_that_are_none(values: Any) -> None:
    answer = {"choices": [{"text": "ab", "logprobs": {"token_logprobs": values, "tokens": ["a", "b"]}}]}
    assert Road("ids").read(answer).logprobs is None


def test_half_characters_have_bytes_and_no_text() -> None:
    tokens = [
        {"token": "\\xe2\\x82", "bytes": [0xE2, 0x82], "logprob": -1.0},
        {"token": "\\xac", "bytes": [0xAC], "logprob": -2.0},
        {"token": "!", "bytes": None, "logprob": -3.0},
    ]
    raw = {"choices": [{"message": {"content": "€!"}, "logprobs": {"content": tokens}}]}
    cut = Road("chat").read(raw).cut(["€"])
    assert (cut.text, cut.logprobs) == ("€", (-1.0, -2.0))
