"""What LibreOffice tells wrong of its windows, set right."""

from __future__ import annotations

from .nodes import Box, Node


def moved(box: Box, dx: int, dy: int) -> Box:
    return (box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy)


def wrong_by(node: Node) -> tuple[int, int]:
    """How far a node's box is from where the node is (`set_right` says why)."""
    line = [node]
    while line[-1].parent is not None:
        line.append(line[-1].parent)
    if not any(misplaces(above) for above in line):
        return (0, 0)
    shift = (0, 0)
    for child, parent in zip(line[-2::-1], line[:0:-1], strict=True):
        shift = _shift_below(parent, child, shift)
    return shift


def set_right(program: Node, shift: tuple[int, int] = (0, 0)) -> None:
    """Move the boxes that are wrong to where things are.

    LibreOffice forgets its menu bar when it tells where the content of its windows is; the toolkit, which draws what is
    around and in parts inside of it, does not. What fills all of its surroundings is where they are.
    """
    for child in program.children:
        below = _shift_below(program, child, shift)
        set_right(child, below)
        if child.box is not None:
            child.box = moved(child.box, *below)


def _shift_below(parent: Node, child: Node, shift: tuple[int, int]) -> tuple[int, int]:
    if parent.box is None or child.box is None:
        return shift
    (left, top, right, bottom), (x, y, x2, y2) = parent.box, child.box
    if (right - left, bottom - top) != (x2 - x, y2 - y):
        return shift
    return (left + shift[0] - x, top + shift[1] - y)


def misplaces(program: Node) -> bool:
    return program.role == "application" and program.name == "soffice"


def is_second_menu_bar(node: Node) -> bool:
    """LibreOffice lists its menus a second time, where they are not."""
    return node.role == "menu-bar" and node.parent is not None and node.parent.role == "root-pane"


def without_second_menus(node: Node) -> None:
    node.children = [child for child in node.children if not is_second_menu_bar(child)]
    for child in node.children:
        without_second_menus(child)
