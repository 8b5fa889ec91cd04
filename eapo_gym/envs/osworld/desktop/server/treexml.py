"""The accessibility tree as the benchmark's Ubuntu machines write it: XML, in its names and namespaces."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from .nodes import Node

_PLACE = "https://accessibility.ubuntu.example.org/ns/"
_SPACES = {"st": "state", "attr": "attributes", "cp": "component", "val": "value"}


def write(root: Node) -> str:
    """The whole document."""
    names = "".join(f' xmlns:{short}="{_PLACE}{long}"' for short, long in _SPACES.items())
    return _element(root, names)


def _element(node: Node, extra: str = "") -> str:
    tag = "".join(character if character.isalnum() or character in "-_" else "-" for character in node.role)
    if not tag or not (tag[0].isalpha() or tag[0] == "_"):
        tag = "unknown"
    parts = [f"<{tag}{extra} name={quoteattr(_clean(node.name))}"]
    parts += [f' st:{state}="true"' for state in sorted(node.states)]
    parts += [
        f" attr:{name}={quoteattr(_clean(value))}" for name, value in node.attributes.items() if name.isidentifier()
    ]
    if node.box is not None:
        left, top, right, bottom = node.box
        parts.append(f' cp:screencoord="({left}, {top})" cp:size="({right - left}, {bottom - top})"')
    if node.value:
        parts.append(f" val:value={quoteattr(_clean(node.value))}")
    if node.description:
        parts.append(f" description={quoteattr(_clean(node.description))}")
    content = escape(_clean(node.text)) + "".join(_element(child) for child in node.children)
    return "".join(parts) + (f">{content}</{tag}>" if content else "/>")


def _clean(text: str) -> str:
    """XML has no way to write control characters."""
    return "".join(
        c for c in text if c in "\t\n\r" or (" " <= c <= "\ufffd" and not "\ud800" <= c <= "\udfff") or c > "\uffff"
    )
