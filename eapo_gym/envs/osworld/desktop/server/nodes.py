"""The nodes of the accessibility tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""


@dataclass
class Node:
    role: str
    name: str = ""
    text: str = ""
    value: str = ""
    description: str = ""
    box: Box | None = None
    states: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    parent: Node | None = field(default=None, repr=False)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"role": self.role}
        for name in ("name", "text", "value", "description"):
            if getattr(self, name):
                found[name] = getattr(self, name)
        if self.box is not None:
            found["box"] = list(self.box)
        if self.states:
            found["states"] = list(self.states)
        if self.children:
            found["children"] = [child.as_json() for child in self.children]
        return found
