"""The accessibility tree, asked with selectors and with XPath."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from eapo_gym.envs.osworld.judging.metrics.accessibility import as_xml, check_accessibility_tree
from eapo_gym.envs.osworld.tree import Node
from tests.envs.osworld.trees import nodes

TABS = Node(
    "page-tab-list",
    attributes={"id": "tabmail-tabs"},
    children=(Node("page-tab", "About Profiles", states=frozenset({"selected"})), Node("label", "To", "fox@a.org")),
)
TREE = Node("desktop-frame", children=(Node("application", "Thunderbird", children=(TABS,)),))


def check(*rules: dict[str, Any]) -> float:
    pytest.importorskip("lxml", reason="lxml asks the tree, and is not installed")
    return check_accessibility_tree(TREE, rules)


def test_selectors_of_css_find_what_is_there() -> None:
    pytest.importorskip("cssselect", reason="cssselect understands selectors, and is not installed")
    tab = 'application[name=Thunderbird] page-tab-list[attr|id="tabmail-tabs"]>page-tab[name="About Profiles"]'
    assert check({"selectors": [tab]}) == 1.0
    assert check({"selectors": [tab.replace("Profiles", "Us")]}) == 0.0
    assert check({"selectors": ["frame", tab]}) == 1.0
    assert check({"selectors": ['page-tab[st|selected="true"]~label']}, {"selectors": ["frame"]}) == 0.0


def test_xpath_finds_what_is_there_and_texts_count() -> None:
    assert check({"xpath": "//page-tab[@st:selected='true']"}) == 1.0
    assert check({"xpath": "//label", "text": "fox@a.org", "exact": True}) == 1.0
    assert check({"xpath": "//label", "text": "fox@b.org", "exact": True}) == 0.0
    assert 0.8 < check({"xpath": "//label", "text": "fox@b.org", "exact": False}) < 1.0
    assert check({"xpath": "//page-tab", "text": "x", "exact": False}) == 0.0


@settings(max_examples=25, deadline=None)
@given(nodes)
def test_every_tree_can_be_written(node: Node) -> None:
    pytest.importorskip("lxml", reason="lxml asks the tree, and is not installed")
    assert sum(1 for _ in as_xml(node).iter()) == sum(1 for _ in node.walk())
