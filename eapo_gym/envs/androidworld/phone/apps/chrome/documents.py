"""Pages as text: what of an HTML file can be read without its scripts and styles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from html.parser import HTMLParser

HEADINGS = {"h1": 28, "h2": 24, "h3": 20, "h4": 18, "h5": 16, "h6": 14}
_BLOCKS = {
    *HEADINGS, "address", "article", "blockquote", "body", "br", "dd", "div", "dt", "figure", "footer", "form",
    "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
}  # fmt: skip
_HIDDEN = {"head", "noscript", "script", "style", "template"}


@dataclass(frozen=True)
class Block:
    """A paragraph, a heading, an entry of a list, or a link."""

    said: str
    size: int = 16
    link: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Document:
    title: str
    blocks: tuple[Block, ...]


@lru_cache(maxsize=32)
def read_html(page: str) -> Document:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    reader.end()
    return Document(reader.title.strip(), tuple(reader.blocks))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.blocks: list[Block] = []
        self._hidden = 0
        self._in_title = False
        self._next = Block("")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        elif tag in _HIDDEN:
            self._hidden += 1
        elif tag == "a":
            self.end()
            self._next = Block("", link=dict(attrs).get("href") or "")
        elif tag in _BLOCKS:
            self.end()
            if tag in HEADINGS:
                self._next = Block("", HEADINGS[tag], bold=True)
            elif tag == "li":
                self._next = Block("• ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in _HIDDEN:
            self._hidden = max(self._hidden - 1, 0)
        elif tag in _BLOCKS or tag == "a":
            self.end()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._hidden:
            self._next = replace(self._next, said=self._next.said + data)

    def end(self) -> None:
        """What was read so far is a block."""
        said = " ".join(self._next.said.split())
        if said not in ("", "•"):
            self.blocks.append(replace(self._next, said=said))
        self._next = Block("")
