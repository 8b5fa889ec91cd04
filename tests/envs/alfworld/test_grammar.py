"""The reader of text grammars."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.alfworld import rules
from eapo_gym.envs.alfworld.grammar import (
    Each,
    Entity,
    Literal,
    Symbol,
    parse_expression,
    parse_grammar,
    parse_query,
    parse_text,
)
from eapo_gym.errors import GameFileError

DESK = {"r": Entity("desk_7", "desk 1", "receptacle"), "o": Entity("mug_2", "", "object")}


def test_a_text_is_read_in_parts():
    hello, each, symbol, listed = parse_text("Hi {r.name}#look#[{o.name | on(o:object, r:receptacle)}]")
    assert hello == "Hi "
    assert isinstance(each, Each)
    assert each.query == ()
    assert not each.listed
    assert symbol == Symbol("look")
    assert isinstance(listed, Each)
    assert listed.query == (Literal("on", (("o", "object"), ("r", "receptacle"))),)
    assert listed.listed


def test_blank_space_where_a_line_begins_is_dropped_and_the_unreadable_ends_a_text():
    assert parse_text("\n  Help:\n  look") == ("Help:\n  look",)
    assert parse_text("a }b") == ("a ",)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("r.name", "desk 1"),
        ("r.indefinite + ' ' + r.name", "a desk 1"),
        ("o.name or o.id", "mug_2"),
        ("r", "desk 1"),
        ("'x'", "x"),
    ],
)
def test_expressions(expression, says):
    assert parse_expression(expression)(DESK) == says


@pytest.mark.parametrize(
    "expression",
    ["__import__('os').system('true')", "r.__class__", "r.name.upper()", "[r][0]", "1", "lambda: r", "(", "r.name * 9"],
)
def test_nothing_else_is_an_expression(expression):
    with pytest.raises(GameFileError, match="expression"):
        parse_expression(expression)


def test_a_grammar_has_actions_and_symbols():
    grammar = parse_grammar("""
        # a comment
        grammar :: \"\"\"{"task": [{"rhs": "Do it."}], "seen": [{"condition": "on(o:object)", "rhs": "#task#"}]}\"\"\";
        action Use { template :: "use {o}"; feedback :: "You use {o.name}. #seen#";
                     grammar :: \"\"\"{"more": [{"rhs": ""}]}\"\"\"; }
    """)
    assert set(grammar.symbols) == {"task", "seen", "more"}
    assert list(grammar.actions) == ["use"]
    assert [query for query in grammar.queries(grammar.actions["use"].feedback) if query] == [
        parse_query("on(o:object)")
    ]


@pytest.mark.parametrize(
    "text",
    ["action {", "action A { template :: }", 'grammar :: """{"a": 1}""";', 'grammar :: """{""";', "nonsense"],
)
def test_a_broken_grammar_is_one_sentence(text):
    with pytest.raises(GameFileError, match="Text grammar"):
        parse_grammar(text)


@given(st.integers(min_value=1, max_value=12_000))
def test_a_truncated_grammar_is_read_or_refused(length):
    with suppress(GameFileError):
        parse_grammar(rules.grammar_text()[:length])


@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    with suppress(GameFileError):
        parse_text(text)
