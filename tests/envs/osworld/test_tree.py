"""Trees on the wire: what is written can be read again, and what nobody should have written is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eapo_gym.envs.osworld import tree as trees
from eapo_gym.envs.osworld.tree import Node, TreeError, from_json, from_xml, to_json, to_xml
from tests.envs.osworld.trees import nodes

AS_THE_SERVER_WRITES = """<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"
 xmlns:attr="https://accessibility.ubuntu.example.org/ns/attributes"
 xmlns:cp="https://accessibility.ubuntu.example.org/ns/component"
 xmlns:val="https://accessibility.ubuntu.example.org/ns/value"
 xmlns:act="https://accessibility.ubuntu.example.org/ns/action"
><application name="soffice"><frame name="A &amp; B" st:showing="true" st:visible="true" st:modal="false"
 cp:screencoord="(10, 20)" cp:size="(300, 400)" attr:toolkit="gtk" image="true"><text name="" st:editable="true"
 cp:screencoord="(-2147483648, -2147483648)" cp:size="(5, 5)" val:value="3.5" val:min="0.0"
 act:activate_kb="Return">Grüße
你好</text><label name="wrong" cp:screencoord="(1, 2)" cp:size="(-1, -1)"/></frame></application></desktop-frame>"""


def test_the_benchmarks_xml():
    (frame,) = from_xml(AS_THE_SERVER_WRITES).children[0].children
    assert (frame.role, frame.name, frame.box) == ("frame", "A & B", (10, 20, 310, 420))
    assert frame.states == {"showing", "visible"}
    assert frame.attributes == {"toolkit": "gtk", ":image": "true"}
    text, label = frame.children
    assert (text.text, text.value) == ("Grüße\n你好", "3.5")
    assert text.attributes == {"val:min": "0.0", "act:activate_kb": "Return"}
    assert text.box is None, "what is not shown is at a place that is none"
    assert label.box is None


def test_the_namespaces_of_other_platforms_mean_the_same():
    ours = from_xml(AS_THE_SERVER_WRITES)
    assert from_xml(AS_THE_SERVER_WRITES.replace("ubuntu.example", "windows.example")) == ours


@settings(max_examples=50)
@given(nodes)
@example(Node("text", text="\r\n", name="\r\n\t"))
def test_xml_round_trip(node):
    assert from_xml(to_xml(node)) == node


@settings(max_examples=50)
@given(nodes)
def test_json_round_trip(node):
    assert from_json(json.loads(json.dumps(to_json(node)))) == node


@given(st.text(), st.dictionaries(st.text(), st.text(), max_size=3))
@example("²", {":name": "x", "xmlns:st": "y", "st:showing": "true", "cp:size": "1", "a b": "", "attr:a": "z", "²": ""})
def test_whatever_a_program_says_is_written_as_xml(words, attributes):
    written = to_xml(Node(words or "x", name=words, text=words, attributes=attributes))
    read = from_xml(written)
    kept = "".join(letter for letter in words if letter in "\t\n\r" or letter >= " ")
    assert (read.states, read.box) == (frozenset(), None)
    assert read.name == read.text == kept.replace("\ufffe", "").replace("\uffff", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no element"),
        ("<a", "unclosed"),
        ("<a></b>", "mismatched"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type"),
        ("<a>&b;</a>", "undefined entity"),
        ("<a>" * 300 + "</a>" * 300, "at most 200 levels"),
        ("<a><b x='1' x='2'/></a>", "duplicate"),
    ],
)
def test_xml_that_is_no_tree(text, why):
    with pytest.raises(TreeError, match=why):
        from_xml(text)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "a node of an accessibility tree as dict"),
        ({}, "a text of an accessibility tree as str, got NoneType"),
        ({"role": "a", "name": 1}, "got int"),
        ({"role": "a", "states": "showing"}, "states of an accessibility tree as list"),
        ({"role": "a", "children": {}}, "children of an accessibility tree as list"),
        ({"role": "a", "children": [[]]}, "a node .* got list"),
        ({"role": "a", "attributes": {"b": None}}, "got NoneType"),
        ({"role": "a", "box": [1, 2, 3]}, "four whole numbers"),
        ({"role": "a", "box": [1, 2, True, 4]}, "four whole numbers"),
        ({"role": "a", "box": "1,2,3,4"}, "a box .* as list"),
    ],
)
def test_json_that_is_no_tree(said, why):
    with pytest.raises(TreeError, match=why):
        from_json(said)


def test_trees_without_end(monkeypatch):
    deep = {"role": "a"}
    for _ in range(300):
        deep = {"role": "a", "children": [deep]}
    with pytest.raises(TreeError, match="at most 200 levels"):
        from_json(deep)
    monkeypatch.setattr(trees, "MOST_NODES", 50)
    with pytest.raises(TreeError, match="at most 50 nodes"):
        from_json({"role": "a", "children": [{"role": "b"}] * 60})
    with pytest.raises(TreeError, match="at most 50 nodes"):
        from_xml("<a>" + "<b/>" * 60 + "</a>")


def test_half_a_character_is_none():
    name = from_json(json.loads(r'{"role": "a", "name": "x\ud800"}')).name
    assert name.encode("utf-8") == b"x?"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(("role", "name", "box", "states", "children", "attributes")), inner, max_size=5
            )
        ),
    )
)
@settings(max_examples=100)
def test_any_json_is_a_tree_or_refused(said):
    try:
        node = from_json(said)
    except TreeError:
        return
    assert from_json(to_json(node)) == node
