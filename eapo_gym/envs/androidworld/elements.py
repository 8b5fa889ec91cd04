"""The elements of a screen, numbered as the benchmark does, and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Element:
    """What an agent can see, and point to by its number."""

    index: int
    bounds: Box
    kind: str
    """The class, without its package."""

    package: str = ""
    text: str = ""
    desc: str = ""
    hint: str = ""
    resource: str = ""
    clickable: bool = False
    long_clickable: bool = False
    editable: bool = False
    scrollable: bool = False
    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    focused: bool = False
    selected: bool = False

    @property
    def center(self) -> tuple[int, int]:
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2

    def line(self) -> str:
        """In a line of text: number, kind, what it says, and what it is."""
        parts = [f"{self.index}: {self.kind}"]
        if self.text:
            parts.append(_quoted(self.text))
        if self.desc and self.desc != self.text:
            parts.append(f"({_one_line(self.desc)})")
        if self.hint and not self.text:
            parts.append(f"hint {_quoted(self.hint)}")
        states = [name for name in ("editable", "scrollable", "focused", "selected") if getattr(self, name)]
        if self.checkable:
            states.append("on" if self.checked else "off")
        if not self.enabled:
            states.append("disabled")
        if states:
            parts.append(f"[{', '.join(states)}]")
        return " ".join(parts)

    def info(self) -> dict[str, Any]:
        """As `info["elements"]` has it."""
        states = {name: True for name in ("editable", "scrollable", "focused") if getattr(self, name)}
        said = self.text or self.desc or (self.hint if self.editable else "")
        return {"index": self.index, "bounds": self.bounds, "text": said, "kind": self.kind, **states}


def as_text(elements: Sequence[Element]) -> str:
    return "\n".join(element.line() for element in elements)


def _quoted(text: str) -> str:
    return f'"{_one_line(text)}"'


def _one_line(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
