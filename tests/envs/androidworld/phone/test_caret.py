"""Where a finger puts the cursor, where the cursor is drawn, and how keys move it."""

from __future__ import annotations

import pytest

from eapo_gym.envs.androidworld.phone.app import App, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.launcher import Launcher
from eapo_gym.envs.androidworld.phone.phone import KEY_HOME, KEY_LEFT, KEY_MOVE_END, KEY_MOVE_HOME, KEY_RIGHT, Phone
from eapo_gym.envs.androidworld.phone.ui.caret import caret, letter_at
from eapo_gym.envs.androidworld.phone.ui.layout import Placed, lay_out
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.ui.widgets import dialog, field, listing, page, space

WRITTEN = "The quick brown fox jumps over the lazy dog.\n\nanewwordthatisfartoolongforoneline" + "x" * 60 + "\nend"


class Paper(Screen):
    name = ".Paper"

    def view(self, at: Scene) -> View:
        over = [dialog("Over it", [], [])] if at.get("asks") else []
        return page("Paper", [field("text", at.get("text", ""), lines=0)], over=over)

    def on(self, turn: Turn, event: Event) -> None:
        """Nothing else can be touched."""

    def left(self, turn: Turn) -> None:
        turn.remember(was_left=True)


class Papers(App):
    package = "org.example.papers"
    label = "Papers"
    icon = "document"
    colour = "#336699"
    screens = (Paper,)


@pytest.fixture
def phone() -> Phone:
    phone = Phone([Launcher(), Papers()], now=0.0)
    phone.open("org.example.papers")
    return phone


def placed(written: str, lines: int = 0) -> Placed:
    return lay_out(field("text", written, lines=lines), (0, 0, 600, 800), {})


@pytest.mark.parametrize("written", [WRITTEN, "", "one", "\n\n", "ends with a line\n"])
def test_a_finger_on_the_caret_points_before_the_same_letter(written: str) -> None:
    area = placed(written)
    for letter in range(len(written) + 1):
        left, top, _, bottom = caret(area, letter)
        found = letter_at(area, left, (top + bottom) // 2)
        # A blank at which a line is broken ends one line and begins the next: both are the same place.
        assert found == letter or written[min(found, letter) : max(found, letter)] == " ", (letter, found)


def test_beyond_the_text_is_behind_its_last_letter() -> None:
    area = placed("one\ntwo")
    assert letter_at(area, 590, 20) == 3
    assert letter_at(area, 590, 790) == 7
    assert letter_at(area, 0, 0) == 0


def test_the_text_of_a_field_of_one_line_stands_in_its_middle() -> None:
    _, top, _, bottom = caret(placed("one", lines=1), 0)
    assert abs((top + bottom) // 2 - 400) < 20


def test_a_finger_puts_the_cursor_into_the_text(phone: Phone) -> None:
    [node] = [each for each in phone.nodes() if each.view.field]
    phone.tap(node.bounds[0] + 300, node.bounds[1] + 30)
    phone.type("one\ntwo")
    [node] = [each for each in phone.nodes() if each.view.field]
    phone.tap(node.bounds[0], node.bounds[1] + 40)
    phone.type("before ")
    assert phone.state.front.kept["text"] == "before one\ntwo"
    phone.key(KEY_MOVE_END)
    phone.type("!")
    phone.key(KEY_RIGHT)
    phone.key(KEY_MOVE_HOME)
    phone.type("> ")
    phone.key(KEY_LEFT)
    phone.type("-")
    assert phone.state.front.kept["text"] == "before one!\n>- two"


def test_a_screen_is_told_when_it_is_left(phone: Phone) -> None:
    phone.key(KEY_HOME)
    assert phone.state.memory["org.example.papers"] == {"was_left": True}


def test_what_a_dialog_covers_is_neither_told_nor_touched(phone: Phone) -> None:
    phone.change(lambda turn: turn.keep(asks=True))
    assert [each.text for each in phone.nodes() if each.package == "org.example.papers" and each.text] == ["Over it"]
    for y in range(300, 2200, 100):
        phone.tap(30, y)
    assert not phone.state.front.focus


@pytest.mark.parametrize(("others", "high"), [(100, 700), (900, 53)])
def test_what_grows_in_a_list_takes_the_room_that_is_left(others: int, high: int) -> None:
    view = listing([field("text", "", height=None, lines=0, grow=1), space(height=round(others * 160 / 420))])
    area = lay_out(view, (0, 0, 600, 800), {}).children[0]
    assert abs(area.box[3] - area.box[1] - high) < 12
