"""Trees that hypothesis draws."""

from __future__ import annotations

from hypothesis import strategies as st

from eapo_gym.envs.osworld.tree import Box, Node

# What XML can say: no control characters, no halves of characters.
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
    | st.sampled_from("\n\t\r<>&\"'"),
    max_size=12,
)
NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
ROLES = st.sampled_from(
    (
        *("application", "frame", "dialog", "panel", "push-button", "label", "table-cell", "menu", "menu-item", "text"),
        *("scroll-pane", "document-spreadsheet", "table", "page-tab", "check-box", "filler", "window", "list-item"),
    )
)
STATES = st.frozensets(
    st.sampled_from(("showing", "visible", "enabled", "active", "modal", "focused", "focusable", "checked", "editable"))
)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    left, top = draw(st.integers(-500, 2500)), draw(st.integers(-500, 2500))
    return left, top, left + draw(st.integers(0, 2000)), top + draw(st.integers(0, 2000))


def _nodes(children: st.SearchStrategy[tuple[Node, ...]]) -> st.SearchStrategy[Node]:
    return st.builds(
        Node,
        role=ROLES | NAMES,
        name=WORDS,
        text=WORDS,
        value=WORDS,
        description=WORDS,
        box=st.none() | boxes(),
        states=STATES | st.frozensets(NAMES, max_size=3),
        attributes=st.dictionaries(
            # Not those that have a field of their own.
            NAMES.filter(lambda name: name != "description")
            | st.sampled_from(("act:click_kb", "val:min", ":image", "docattr:lang")),
            WORDS,
            max_size=3,
        ),
        children=children,
    )


nodes = st.recursive(_nodes(st.just(())), lambda inner: _nodes(st.lists(inner, max_size=4).map(tuple)), max_leaves=12)
