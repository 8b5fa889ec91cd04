from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.actions import EXAMPLES, parse_action
from eapo_gym.errors import ActionError


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_are_actions_and_are_written_as_they_are_read(text: str) -> None:
    assert json.loads(parse_action(text).command()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"action_type": "clik", "index": 1}', "action_type: expected one of click, .*got 'clik'"),
        ('{"action_type": ["click"]}', "action_type: expected one of"),
        ('{"index": 1}', "got None"),
        ('{"action_type": "click"}', "click needs either an index, or x and y"),
        ('{"action_type": "click", "x": 1}', "click needs either an index, or x and y"),
        ('{"action_type": "click", "index": 1, "x": 1, "y": 2}', "click needs either an index, or x and y"),
        ('{"action_type": "click", "index": -1}', "index: expected a number from 0 on, got -1"),
        ('{"action_type": "click", "index": true}', "index: expected a number"),
        ('{"action_type": "click", "x": 1e999, "y": 1}', "expected"),
        ('{"action_type": "scroll", "direction": "sideways"}', "direction: expected one of up, down, left, right"),
        ('{"action_type": "scroll"}', "scroll needs direction"),
        ('{"action_type": "status", "goal_status": "done"}', "goal_status: expected one of complete, infeasible"),
        ('{"action_type": "open_app"}', "open_app needs app_name"),
        ('{"action_type": "wait", "index": 3}', "wait says nothing else, and got 'index'"),
        ('{"action_type": "press_keyboard", "keycode": "rm -rf /"}', "keycode: expected a name such as KEYCODE_ENTER"),
    ],
)
def test_what_is_no_action_is_told(text: str, said: str) -> None:
    with pytest.raises(ActionError, match=said) as found:
        parse_action(text)
    assert parse_action(found.value.example)


PLAIN = st.none() | st.booleans() | st.floats() | st.integers() | st.text()
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3), max_leaves=5)


@given(
    st.dictionaries(
        st.sampled_from(["action_type", "index", "x", "y", "text", "direction", "goal_status", "app_name", "keycode"]),
        JSON,
    ),
    st.sampled_from(["click", "input_text", "scroll", "open_app", "status", "answer", None]),
)
def test_anything_else_is_refused_in_words(fields: dict[str, Any], kind: str | None) -> None:
    if kind is not None:
        fields["action_type"] = kind
    try:
        action = parse_action(json.dumps(fields))
    except ActionError:
        return
    assert parse_action(action.command()) == action
