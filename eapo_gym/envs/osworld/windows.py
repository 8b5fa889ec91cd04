"""Which windows a tree has, the one in front first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eapo_gym.envs.osworld.tree import Box, Node

_APPLICATION = "application"
_TIPS = {"tool-tip", "notification"}


@dataclass(frozen=True, slots=True)
class Window:
    """A window of an application."""

    node: Node
    title: str
    active: bool
    modal: bool
    popup: bool
    """A menu or list that is open over a window, and has no title of its own."""

    blocked: bool = False
    """Whether a dialog in front must be answered before this can be used."""

    @property
    def box(self) -> Box | None:
        return self.node.box


def windows_of(tree: Node) -> list[Window]:
    """Those that show: open menus first, then the active window, then the others as the tree has them."""
    found: list[tuple[int, Window]] = []
    for number, application in enumerate(_applications(tree)):
        showing = [node for node in application.children if is_shown(node)]
        named = next((node.name for node in showing if "active" in node.states and node.name), "")
        named = named or next((node.name for node in showing if node.name), application.name)
        found += [(number, _window(node, named)) for node in showing if node.role not in _TIPS]
    # By stable sorting, so that windows behind keep their order from step to step.
    found.sort(key=lambda each: (not (each[1].popup and each[1].active), not each[1].active, not each[1].popup))
    if not found:
        return []
    first, front = found[0]
    blocker = first if front.active and front.modal else None
    behind = [replace(window, blocked=number == blocker and not window.popup) for number, window in found[1:]]
    return [front, *behind]


def is_shown(node: Node) -> bool:
    return "showing" in node.states


def _applications(tree: Node) -> list[Node]:
    if tree.role == _APPLICATION:
        return [tree]
    return [child for child in tree.children if child.role == _APPLICATION]


def _window(node: Node, named: str) -> Window:
    kind = node.attributes.get("window-type", "")
    popup = node.role in ("popup-menu", "menu") or "menu" in kind or "combo" in kind or kind == "tooltip"
    return Window(
        node=node,
        title=node.name or (f"a menu of {named}" if popup else named),
        active="active" in node.states,
        modal="modal" in node.states,
        popup=popup,
    )
