from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.errors import ActionError
from eapo_gym.json_action import parse_json_action
from tests.hostile import hostile_text

CLICK = {"action_type": "click", "index": 5}


@pytest.mark.parametrize(
    "text",
    [
        '{"action_type": "click", "index": 5}',
        '{{"action_type": "click", "index": 5}}',
        '{ {"action_type": "click", "index": 5} }',
        "{action_type: click, index: 5}",
        "{{action_type: click, index: 5}}",
        "{'action_type': 'click', 'index': 5}",
        '{action_type: "click", index: 5}',
        '{"action_type": click, "index": 5}',
        '  {"action_type": "click", "index": 5,}\n',
        "{ action_type : click ,\n  index : 5 }",
    ],
)
def test_the_ways_to_write_one_action(text: str) -> None:
    assert parse_json_action(text) == CLICK


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{action_type: input_text, text: a, b and c, index: 2}", {"text": "a, b and c", "index": 2}),
        ("{action_type: input_text, text: at 10:30}", {"text": "at 10:30"}),
        ("{action_type: input_text, text: 0042}", {"text": "0042"}),
        ("{action_type: input_text, text: it's}", {"text": "it's"}),
        ("{action_type: input_text, text: 'it\\'s'}", {"text": "it's"}),
        ('{action_type: input_text, text: "caf\\u00e9, {x}\\n"}', {"text": "café, {x}\n"}),
        ("{action_type: input_text, clear_text: true}", {"clear_text": True}),
        ("{action_type: input_text, clear_text: False, x: None}", {"clear_text": False, "x": None}),
        ("{action_type: input_text, x: 0.5, y: -3}", {"x": 0.5, "y": -3}),
        ("{action_type: input_text, at: [10, 20]}", {"at": [10, 20]}),
        ("{action_type: input_text, x: NaN, y: Infinity}", {"x": "NaN", "y": "Infinity"}),
    ],
)
def test_relaxed_values(text: str, fields: dict[str, Any]) -> None:
    assert parse_json_action(text) == {"action_type": "input_text", **fields}


def test_nested_objects_keep_their_closing_braces() -> None:
    assert parse_json_action('{"a": {"b": 1}}') == {"a": {"b": 1}}
    assert parse_json_action('{{"a": {"b": 1}}}') == {"a": {"b": 1}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "click",
        "{",
        "[1, 2]",
        '"text"',
        "{click}",
        "{action_type: }",
        "{action_type: click index: 5} {}",
        '{"x": {"y": NaN}}',
        '{"a": "b" "c": "d"}',
        "{action_type: wait} {action_type: click}",
    ],
)
def test_what_is_no_action_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ActionError) as error:
        parse_json_action(text)
    assert error.value.example is not None
    assert parse_json_action(error.value.example) == CLICK
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "text", ["{" * 60_000 + "}" * 5_000, '{"a":' * 10_000 + "1" + "}" * 10_000, "{" + "x" * 1_000_000]
)
def test_monstrous_text_is_refused(text: str) -> None:
    with pytest.raises(ActionError):
        parse_json_action(text)


@given(
    st.dictionaries(st.text(max_size=5), st.one_of(st.text(), st.integers(-(10**9), 10**9), st.booleans(), st.none()))
)
def test_json_is_read_as_json(fields: dict[str, Any]) -> None:
    assert parse_json_action(json.dumps(fields)) == fields
    assert parse_json_action("{" + json.dumps(fields) + "}") == fields


@given(hostile_text)
def test_any_text_is_an_object_or_refused(text: str) -> None:
    for candidate in (text, "{" + text + "}", "{action_type: input_text, text: " + text + "}"):
        with contextlib.suppress(ActionError):
            assert isinstance(parse_json_action(candidate), dict)


def test_deep_brackets_are_refused_before_anybody_goes_down() -> None:
    with pytest.raises(ActionError, match="expected at most 2000"):
        parse_json_action('{"action_type": ' + "[" * 3_000 + "]" * 3_000 + "}")
