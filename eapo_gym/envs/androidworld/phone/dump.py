"""The elements of the screen as `uiautomator dump` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from eapo_gym.envs.androidworld.phone.phone import Node

_CONTROLS = {code: None for code in range(32) if code not in (9, 10, 13)}


def to_xml(nodes: Iterable[Node]) -> str:
    """One hierarchy, with the windows of the screen in it from the lowest to the uppermost."""
    parts = ["<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"]
    open_depths: list[int] = []
    for index, node in enumerate(nodes):
        while open_depths and open_depths[-1] >= node.depth:
            parts.append("</node>")
            open_depths.pop()
        parts.append(f"<node {_attributes(node, index)}>")
        open_depths.append(node.depth)
    parts += ["</node>" for _ in open_depths]
    parts.append("</hierarchy>")
    return "".join(parts)


def _attributes(node: Node, index: int) -> str:
    view = node.view
    left, top, right, bottom = node.bounds
    values: dict[str, str | bool] = {
        "index": str(index),
        "text": node.text or (view.hint if view.field else ""),
        "resource-id": resource_id(node),
        "class": view.kind,
        "package": node.package,
        "content-desc": view.desc,
        "checkable": view.checked is not None,
        "checked": bool(view.checked),
        "clickable": is_clickable(node),
        "enabled": view.enabled,
        "focusable": bool(view.field) or is_clickable(node),
        "focused": node.focused,
        "scrollable": bool(view.scroll),
        "long-clickable": view.hold is not None or bool(view.field),
        "password": view.secret,
        "selected": view.selected and not view.field,
        "bounds": f"[{left},{top}][{right},{bottom}]",
    }
    return " ".join(f"{name}={quoteattr(_said(value))}" for name, value in values.items())


def _said(value: str | bool) -> str:
    return value.translate(_CONTROLS) if isinstance(value, str) else str(value).lower()


def resource_id(node: Node) -> str:
    """With the package, as Android writes it."""
    return f"{node.package}:id/{node.view.id}" if node.view.id else ""


def is_clickable(node: Node) -> bool:
    view = node.view
    return bool(view.field or view.slide or (view.tap and view.tap[0] != "nothing"))
