"""What pages show, in every mode. (That they are the original's is for test_original.py to say.)"""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from eapo_gym.envs.webshop.pages import MODES, page, show
from eapo_gym.envs.webshop.products import Product
from eapo_gym.envs.webshop.session import START, Session, State
from tests.envs.webshop.small_shops import PRODUCTS
from tests.envs.webshop.test_session import session_of, walk

ODD = replace(
    PRODUCTS[1],
    name='<b>New</b> & "odd" Lamp',
    options={"Größe <x>": ("a&b", "日本", 'say "x"', ""), "color": ("red", "color")},
    bullet_points=("", " ", "\n", "\xa0", " two\nlines "),
    description="",
    image='https://example.org/"x".jpg',
)


@pytest.fixture
def session() -> Session:
    return session_of([PRODUCTS[0], ODD], show_attributes=True)


ITEM = ("search[red lamp chair]", f"click[{ODD.asin}]")
WALKS = [
    (),
    ITEM[:1],
    (ITEM[0], "click[next >]"),
    ITEM,
    (*ITEM, "click[red]", "click[a&b]"),
    *((*ITEM, f"click[{name}]") for name in ("description", "features", "reviews", "attributes")),
    (*ITEM, "click[color]", "click[buy now]"),
]


class Reader(HTMLParser):
    """Reads a page as tools for the benchmark do: its texts, and what can be clicked."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.buttons: list[str] = []
        self.links: list[str] = []
        self.radios: list[str] = []
        self.checked: list[str] = []
        self.ids: list[str] = []
        self._inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        classes = (given.get("class") or "").split()
        self.ids += [given["id"] or ""] if "id" in given else []
        self._inside = "button" if "btn" in classes else "link" if "product-link" in classes else ""
        if given.get("type") == "radio":
            self.radios.append(given["value"] or "")
            self.checked += [given["value"] or ""] if "checked" in given else []

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._inside:
            (self.buttons if self._inside == "button" else self.links).append(data.lower())


@pytest.mark.parametrize("actions", WALKS)
def test_the_html_has_the_texts_and_the_clickables(session, actions):
    state = walk(session, *actions)
    read = Reader(show("html", session, state, "Find <this> & that", 0.5))
    assert read.texts == [piece.text for piece in page(session, state, "Find <this> & that", 0.5) if piece.text]
    assert list(dict.fromkeys([*read.buttons, *read.links, *read.radios])) == session.clickables(state)
    assert ("search_input" in read.ids) == (state.kind == "search")
    assert ("instruction-text" in read.ids) == (state.kind != "done")
    assert ("product-image" in read.ids) == (state.kind == "item")
    if state.kind == "item":
        assert read.checked == [value for _, value in sorted(state.options, reverse=True)]


def features(session: Session) -> State:
    return walk(session, *ITEM, "click[features]")


def test_blanks_alone_shrink_or_vanish(session):
    assert show("text", session, features(session), "Go") == (
        "Instruction: [SEP] Go [SEP] Back to Search [SEP] < Prev [SEP]  [SEP]  [SEP]  [SEP] two\nlines"
    )
    assert show("text_rich", session, features(session), "Go").endswith(
        "< Prev [button_]\n \n \n \xa0\n  two\nlines \n"
    )


def test_an_empty_text_is_not_there(session):
    state = walk(session, *ITEM, "click[description]")
    assert show("text", session, state, "") == "Instruction: [SEP] Back to Search [SEP] < Prev"


def test_what_was_clicked_is_marked(session):
    shown = show("text_rich", session, walk(session, *ITEM, "click[red]"), "Go")
    assert shown.startswith("You have clicked color.\nYou have clicked red.\nInstruction:\nGo\n")
    assert "  [clicked button] red [clicked button_]\n" in shown
    again = show("text_rich", session, walk(session, *ITEM, "click[< prev]"), "Go")
    assert f"\n[clicked button] {ODD.asin} [clicked button_]\n" in again
    assert f"\n[button] {PRODUCTS[0].asin} [button_]\n" in again


def test_letters_beyond_ascii_are_never_marked_as_in_the_original(session):
    assert "clicked button" not in show("text_rich", session, walk(session, *ITEM, "click[日本]"), "Go")


def test_the_address_says_all_of_the_state(session):
    state = walk(session, *ITEM, "click[red]", "click[日本]")
    asin = ODD.asin
    start = "http://127.0.0.1:3000"
    query = "red+lamp+chair/1"
    assert show("url", session, START, "Go") == f"{start}/7"
    assert show("url", session, walk(session, ITEM[0]), "Go") == f"{start}/search_results/7/{query}"
    chosen = '{"color": "red", "gr\\u00f6\\u00dfe <x>": "\\u65e5\\u672c"}'
    assert show("url", session, state, "Go") == f"{start}/item_page/7/{asin}/{query}/{chosen}"
    below = walk(session, "click[features]", state=state)
    written = "{'color': 'red', 'größe <x>': '日本'}"
    assert show("url", session, below, "Go") == f"{start}/item_sub_page/7/{asin}/{query}/Features/{written}"
    bought = walk(session, "click[buy now]", state=state)
    assert show("url", session, bought, "Go") == f"{start}/done/7/{asin}/{written}"


def test_the_receipt_names_options_and_score(session):
    shown = show("text", session, walk(session, *ITEM, "click[a&b]", "click[buy now]"), "Go", 0.75)
    assert 'options [SEP] {"gr\\u00f6\\u00dfe \\u003cx\\u003e": "a\\u0026b"} [SEP]' in shown
    assert "Your score (min 0.0, max 1.0) [SEP] 0.75 [SEP]" in shown


def test_a_million_letters_fit_on_a_page():
    product = Product(PRODUCTS[0].asin, "lamp " * 200_000, "garden", "lamp", "Home")
    session = session_of([product])
    for actions in (("search[lamp]",), ("search[lamp]", f"click[{product.asin}]")):
        assert all(len(show(mode, session, walk(session, *actions), "Go")) < 1_100_000 for mode in MODES)
