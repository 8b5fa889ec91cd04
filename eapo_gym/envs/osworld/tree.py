"""The accessibility tree of a desktop, and how it travels: the benchmark's XML, and the JSON of our own server.

Both come from a machine on which anything may have run, so they are read as such: with bounds, without entities, and
what is no place or no text is left out rather than believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

Box = tuple[int, int, int, int]

MOST_NODES = 100_000
MOST_DEEP = 200
_FARTHEST = 1_000_000
"""Pixels; what is not on any screen says numbers beyond it."""

_NAMESPACE = "https://accessibility.ubuntu.example.org/ns/"
_SPACES = {
    "st": "state",
    "attr": "attributes",
    "cp": "component",
    "doc": "document",
    "docattr": "document/attributes",
    "txt": "text",
    "val": "value",
    "act": "action",
}
_OTHERS = frozenset(_SPACES) - {"st", "attr", "cp"}
"""Those that no field of a node stands for."""

_TAKEN = {":name", ":xmlns"}
_PREFIXES = {part: prefix for prefix, part in _SPACES.items()}

_PAIR = re.compile(r"\(\s*(-?\d{1,12})\s*,\s*(-?\d{1,12})\s*\)")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class TreeError(ValueError):
    """What came is no tree, or too much of one."""


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that accessibility knows of."""

    role: str
    """With hyphens, such as "push-button"."""

    name: str = ""
    text: str = ""
    value: str = ""
    description: str = ""
    box: Box | None = None
    """Left, top, right, bottom on the screen; None for what has no place there."""

    states: frozenset[str] = frozenset()
    """Such as "showing", "visible", "enabled", "focused", "checked"."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    """What the toolkit says besides, such as "toolkit"; what the benchmark writes into other namespaces has their
    prefix ("act:click_kb"), and none (":image") where it stands in no namespace."""

    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """This node and all below, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


# The benchmark's XML


def from_xml(text: str | bytes) -> Node:
    """The tree that the benchmark's server writes."""
    reader = _XmlReader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.say
    # Without a document type there are no entities, and so nothing that grows while it is read.
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeError) as error:
        raise TreeError(f"expected the XML of an accessibility tree, got something else: {error}") from error
    assert reader.root is not None  # expat takes no document without an element
    return reader.root


def to_xml(node: Node) -> str:
    """As the benchmark's server would write it; what XML has no way to say (control characters) is left out."""
    parts: list[str] = []
    _write(node, parts, {f"xmlns:{prefix}": _NAMESPACE + part for prefix, part in _SPACES.items()})
    return "".join(parts)


# The JSON of our own server


def from_json(said: object) -> Node:
    """The tree that our own server says, as JSON's reader made it: every field but the role may be missing."""
    return _JsonReader().node(said, 0)


def to_json(node: Node) -> dict[str, Any]:
    """As our own server would say it."""
    said: dict[str, Any] = {"role": node.role}
    for name in _JSON_TEXTS:
        if text := getattr(node, name):
            said[name] = text
    if node.box is not None:
        said["box"] = list(node.box)
    if node.states:
        said["states"] = sorted(node.states)
    if node.attributes:
        said["attributes"] = dict(node.attributes)
    if node.children:
        said["children"] = [to_json(child) for child in node.children]
    return said


_JSON_TEXTS = ("name", "text", "value", "description")


class _JsonReader:
    """Counts the nodes while it reads them."""

    def __init__(self) -> None:
        self._count = 0

    def node(self, said: object, deep: int) -> Node:
        self._count += 1
        _check_bounds(self._count, deep)
        fields = _expected(said, dict, "a node")
        texts = {name: _text(fields[name]) for name in _JSON_TEXTS if name in fields}
        attributes = _expected(fields.get("attributes", {}), dict, "attributes")
        return Node(
            role=_text(fields.get("role")),
            box=_sides(fields["box"]) if fields.get("box") is not None else None,
            states=frozenset(map(_text, _expected(fields.get("states", []), list, "states"))),
            attributes={_text(name): _text(value) for name, value in attributes.items()},
            children=tuple(
                self.node(child, deep + 1) for child in _expected(fields.get("children", []), list, "children")
            ),
            **texts,
        )


def _expected(said: object, kind: type[Any], what: str) -> Any:
    if not isinstance(said, kind):
        raise TreeError(f"expected {what} of an accessibility tree as {kind.__name__}, got {type(said).__name__}.")
    return said


def _text(said: object) -> str:
    text: str = _expected(said, str, "a text")
    # Half a character, which JSON can say and no file can hold.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _sides(said: object) -> Box | None:
    sides = _expected(said, list, "a box")
    if len(sides) != 4 or not all(type(side) is int for side in sides):
        raise TreeError(f"expected a box of four whole numbers in the accessibility tree, got {sides!r:.80}")
    left, top, right, bottom = sides
    return _box((left, top), (right - left, bottom - top))


def _refuse(*_: Any) -> None:
    raise TreeError("expected the XML of an accessibility tree, got one with a document type, which none has.")


class _XmlReader:
    """Puts nodes together from what expat tells, from the leaves up."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._open: list[tuple[str, dict[str, str], list[str], list[Node]]] = []
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        _check_bounds(self._count, len(self._open))
        self._open.append((tag.rpartition(" ")[2], attributes, [], []))

    def say(self, text: str) -> None:
        # As in lxml, a node's text is what stands before its first child.
        if self._open and not self._open[-1][3]:
            self._open[-1][2].append(text)

    def end(self, _: str) -> None:
        role, attributes, said, children = self._open.pop()
        node = _node_of_xml(role, attributes, "".join(said), tuple(children))
        if self._open:
            self._open[-1][3].append(node)
        else:
            self.root = node


def _node_of_xml(role: str, given: Mapping[str, str], text: str, children: tuple[Node, ...]) -> Node:
    states: list[str] = []
    attributes: dict[str, str] = {}
    place: dict[str, str] = {}
    for full, value in given.items():
        space, _, name = full.rpartition(" ")
        # By what stands behind "/ns/", since the benchmark's own readers mix up the platforms before it.
        prefix = _PREFIXES.get(space.rpartition("/ns/")[2], "") if space else ""
        if prefix == "st":
            if value == "true":
                states.append(name)
        elif prefix == "cp":
            place[name] = value
        elif prefix == "attr":
            attributes[name] = value
        elif prefix or full != "name":
            attributes[f"{prefix}:{name}"] = value
    return Node(
        role=role,
        name=given.get("name", ""),
        text=text,
        value=attributes.pop("val:value", ""),
        description=attributes.pop("description", ""),
        box=_box(_pair(place.get("screencoord", "")), _pair(place.get("size", ""))),
        states=frozenset(states),
        attributes=attributes,
        children=children,
    )


def _pair(text: str) -> tuple[int, int] | None:
    found = _PAIR.fullmatch(text.strip())
    return (int(found[1]), int(found[2])) if found else None


def _box(corner: tuple[int, int] | None, size: tuple[int, int] | None) -> Box | None:
    if corner is None or size is None or min(size) < 0 or max(map(abs, corner + size)) > _FARTHEST:
        return None
    return corner[0], corner[1], corner[0] + size[0], corner[1] + size[1]


def _write(node: Node, parts: list[str], attributes: dict[str, str]) -> None:
    attributes["name"] = node.name
    attributes.update({f"st:{state}": "true" for state in sorted(node.states)})
    attributes.update({_in_xml(name): value for name, value in node.attributes.items()})
    attributes.update({"attr:description": node.description} if node.description else {})
    attributes.update({"val:value": node.value} if node.value else {})
    if node.box is not None:
        left, top, right, bottom = node.box
        attributes["cp:screencoord"] = f"({left}, {top})"
        attributes["cp:size"] = f"({right - left}, {bottom - top})"
    role = node.role if _XML_NAME.fullmatch(node.role) else "unknown"
    parts.append(f"<{role}")
    parts.extend(f" {name}={_quoted(value)}" for name, value in attributes.items() if name)
    parts.append(">" + escape(_NO_XML.sub("", node.text), {"\r": "&#13;"}))
    for child in node.children:
        _write(child, parts, {})
    parts.append(f"</{role}>")


def _quoted(value: str) -> str:
    return quoteattr(_NO_XML.sub("", value))


def _in_xml(name: str) -> str:
    """What an attribute is called in XML; empty for what cannot be said there."""
    prefix, colon, rest = name.rpartition(":")
    if not _XML_NAME.fullmatch(rest) or (prefix and prefix not in _OTHERS) or name in _TAKEN:
        return ""
    if not colon:
        return f"attr:{rest}"
    return f"{prefix}:{rest}" if prefix else rest


def _check_bounds(count: int, deep: int) -> None:
    if count > MOST_NODES:
        raise TreeError(f"expected an accessibility tree of at most {MOST_NODES} nodes, got more.")
    if deep > MOST_DEEP:
        raise TreeError(f"expected an accessibility tree of at most {MOST_DEEP} levels, got more.")
