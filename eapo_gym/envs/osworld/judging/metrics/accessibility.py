"""What accessibility knows, asked with the selectors of CSS or with XPath."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from eapo_gym.envs.osworld.judging.office.similarity import similarity
from eapo_gym.envs.osworld.tasks import TaskFileError
from eapo_gym.envs.osworld.tree import Node
from eapo_gym.errors import MissingExtra

SPACES = {
    "st": "https://accessibility.ubuntu.example.org/ns/state",
    "attr": "https://accessibility.ubuntu.example.org/ns/attributes",
    "cp": "https://accessibility.ubuntu.example.org/ns/component",
    "doc": "https://accessibility.ubuntu.example.org/ns/document",
    "docattr": "https://accessibility.ubuntu.example.org/ns/document/attributes",
    "txt": "https://accessibility.ubuntu.example.org/ns/text",
    "val": "https://accessibility.ubuntu.example.org/ns/value",
    "act": "https://accessibility.ubuntu.example.org/ns/action",
}
"""The XML namespaces of the benchmark's machines, which the tasks' selectors use by these names."""

NOT_IN_NAMES = re.compile(r"[^\w.-]", re.ASCII)
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_accessibility_tree(result: Node, rules: Sequence[Mapping[str, Any]], *, osname: str = "ubuntu") -> float:
    """Whether everything that the rules select is there; where they tell a text, how alike it is, all multiplied."""
    if osname != "ubuntu":
        raise TaskFileError(f"The accessibility of {osname!r} is not known here: expected 'ubuntu'.")
    root = as_xml(result)
    score = 1.0
    for rule in rules:
        found = _selected(root, rule)
        if not found:
            return 0.0
        if "text" in rule:
            texts = [element.text or None for element in found]
            if rule["exact"]:
                score *= float(rule["text"] in texts)
            else:
                score *= max(similarity(rule["text"], one) if one is not None else 0.0 for one in texts)
    return score


def as_xml(node: Node) -> Any:
    """The tree as the benchmark's server writes it, as far as `Node` keeps it, for lxml."""
    try:
        from lxml import etree
    except ImportError:
        raise MissingExtra.of("Asking the accessibility tree", "osworld") from None

    def below(one: Node) -> Any:
        element = etree.Element(_xml_name(one.role), nsmap=SPACES)
        element.set("name", NO_XML.sub("", one.name))
        for state in one.states:
            element.set(f"{{{SPACES['st']}}}{_xml_name(state)}", "true")
        for name, value in one.attributes.items():
            element.set(f"{{{SPACES['attr']}}}{_xml_name(name)}", NO_XML.sub("", value))
        if one.box is not None:
            left, top, right, bottom = one.box
            element.set(f"{{{SPACES['cp']}}}screencoord", f"({left}, {top})")
            element.set(f"{{{SPACES['cp']}}}size", f"({right - left}, {bottom - top})")
        if one.value:
            element.set(f"{{{SPACES['val']}}}value", NO_XML.sub("", one.value))
        if one.text:
            element.text = NO_XML.sub("", one.text)
        element.extend([below(child) for child in one.children])
        return element

    return below(node)


def _xml_name(name: str) -> str:
    """A name as XML may have it; programs call their things what they like."""
    plain = NOT_IN_NAMES.sub("-", name)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"


def _selected(root: Any, rule: Mapping[str, Any]) -> list[Any]:
    if "xpath" in rule:
        found = root.xpath(rule["xpath"], namespaces=SPACES)
        return found if isinstance(found, list) else []
    if "selectors" not in rule:
        raise TaskFileError("A rule for the accessibility tree has neither an xpath nor selectors.")
    try:
        from lxml.cssselect import CSSSelector
    except ImportError:
        raise MissingExtra.of("Asking the accessibility tree", "osworld") from None
    selector = CSSSelector(", ".join(rule["selectors"]), namespaces=SPACES)
    return list(selector(root))


METRICS = {"check_accessibility_tree": check_accessibility_tree}
