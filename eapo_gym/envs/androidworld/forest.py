"""The elements of the screen as android-env's accessibility service sends them from a device.

It needs the package android-env (the extra `androidworld`).
"""

from __future__ import annotations

from collections.abc import Iterable

from android_env.proto.a11y import android_accessibility_forest_pb2, android_accessibility_node_info_pb2

from eapo_gym.envs.androidworld.phone.dump import is_clickable, resource_id
from eapo_gym.envs.androidworld.phone.phone import Node


def to_forest(nodes: Iterable[Node]) -> android_accessibility_forest_pb2.AndroidAccessibilityForest:
    """One window with everything in it, from the lowest layer to the uppermost."""
    forest = android_accessibility_forest_pb2.AndroidAccessibilityForest()
    told = forest.windows.add().tree.nodes
    above: list[tuple[int, android_accessibility_node_info_pb2.AndroidAccessibilityNodeInfo]] = []
    for number, node in enumerate(nodes):
        while above and above[-1][0] >= node.depth:
            above.pop()
        if above:
            above[-1][1].child_ids.append(number)
        info = told.add(unique_id=number, depth=node.depth)
        _describe(info, node)
        above.append((node.depth, info))
    return forest


def _describe(info: android_accessibility_node_info_pb2.AndroidAccessibilityNodeInfo, node: Node) -> None:
    view = node.view
    bounds = info.bounds_in_screen
    bounds.left, bounds.top, bounds.right, bounds.bottom = node.bounds
    info.text = node.text or (view.hint if view.field else "")
    info.hint_text = view.hint
    info.content_description = view.desc
    info.class_name = view.kind
    info.package_name = node.package
    info.view_id_resource_name = resource_id(node)
    info.is_checkable = view.checked is not None
    info.is_checked = bool(view.checked)
    info.is_clickable = is_clickable(node)
    info.is_editable = bool(view.field)
    info.is_enabled = view.enabled
    info.is_focusable = bool(view.field) or is_clickable(node)
    info.is_focused = node.focused
    info.is_long_clickable = view.hold is not None or bool(view.field)
    info.is_password = view.secret
    info.is_scrollable = bool(view.scroll)
    info.is_selected = view.selected and not view.field
    info.is_visible_to_user = True
