"""Fingers, keys, lists, fields and the system around the apps, on an app that is made for it."""

from __future__ import annotations

import pickle

import pytest

from eapo_gym.envs.androidworld.phone.app import OVER, App, PhoneError, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.launcher import Launcher
from eapo_gym.envs.androidworld.phone.phone import KEY_BACK, KEY_DELETE, KEY_ENTER, KEY_HOME, KEY_OVERVIEW, Node, Phone
from eapo_gym.envs.androidworld.phone.ui.view import Event, View
from eapo_gym.envs.androidworld.phone.ui.widgets import button, dialog, field, icon_button, item, page, slider
from eapo_gym.envs.androidworld.phone.windows import HEIGHT, WIDTH

NOON = 1_697_371_200.0


class Front(Screen):
    name = ".Front"

    def view(self, at: Scene) -> View:
        entries = [item(f"Entry {n}", tap=("open", n), hold=("held", n)) for n in range(40)]
        over = [dialog("Sure?", [], [button("Yes", ("yes",))], dismiss=("no",))] if at.get(OVER) else []
        body = [
            field("line", at.get("line", ""), hint="One line"),
            field("text", at.get("text", ""), hint="Many lines", lines=0),
            slider("level", at.get("level", 0.0), desc="Level"),
            button("Off", ("never",), enabled=False),
            *entries,
        ]
        return page("Front", body, actions=[icon_button("delete", "Ask", ("ask",))], over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("open", number):
                turn.open(".Second", number=number)
            case ("held", number):
                turn.keep(held=number)
            case ("ask",):
                turn.keep(**{OVER: "ask"})
            case ("yes",):
                turn.drop(OVER)
                turn.keep(sure=True)
            case ("no",):
                turn.drop(OVER)
            case ("level", share):
                turn.keep(level=share)
            case ("swipe", direction):
                turn.keep(swiped=direction)

    def entered(self, turn: Turn, field: str) -> None:
        turn.keep(entered=turn.get(field, ""))
        turn.focus("")


class Second(Screen):
    name = ".Second"

    def view(self, at: Scene) -> View:
        return page(f"Number {at.extras['number']}", [], up=("up",))

    def on(self, turn: Turn, event: Event) -> None:
        turn.close(came_back=turn.extras["number"])


class Tester(App):
    package = "org.example.tester"
    label = "Tester"
    icon = "star"
    colour = "#336699"
    screens = (Front, Second)


class Nosy(Tester):
    package = "org.example.nosy"
    label = "Nosy"
    permissions = ("CAMERA", "RECORD_AUDIO")


@pytest.fixture
def phone() -> Phone:
    made = Phone([Launcher(), Tester(), Nosy()], now=NOON)
    made.open(Tester.package)
    return made


def node(phone: Phone, said: str) -> Node:
    return next(each for each in phone.nodes() if said in (each.text, each.view.desc, each.view.hint))


def middle(found: Node) -> tuple[int, int]:
    left, top, right, bottom = found.bounds
    return (left + right) // 2, (top + bottom) // 2


def tap(phone: Phone, said: str) -> None:
    phone.tap(*middle(node(phone, said)))


def kept(phone: Phone, name: str) -> object:
    return phone.state.front.kept.get(name)


def sees(phone: Phone, said: str) -> bool:
    return any(said in (each.text, each.view.desc) for each in phone.nodes())


def test_a_touch_goes_to_what_is_under_it(phone: Phone) -> None:
    tap(phone, "Entry 2")
    assert phone.state.front.name == ".Second"
    assert sees(phone, "Number 2")
    tap(phone, "Navigate up")
    assert kept(phone, "came_back") == 2


def test_a_finger_that_rests_holds(phone: Phone) -> None:
    phone.hold(*middle(node(phone, "Entry 1")))
    assert kept(phone, "held") == 1
    x, y = middle(node(phone, "Entry 3"))
    phone.swipe(x, y, x + 3, y + 2, seconds=1.0)
    assert kept(phone, "held") == 3
    assert phone.state.front.name == ".Front"


def test_a_dialog_takes_all_touches(phone: Phone) -> None:
    tap(phone, "Ask")
    x, y = middle(node(phone, "Sure?"))
    phone.tap(x, y)
    assert sees(phone, "Sure?"), "a touch on the dialog itself is not one beside it"
    phone.tap(20, HEIGHT - 200)
    assert not sees(phone, "Sure?")
    tap(phone, "Ask")
    tap(phone, "Yes")
    assert kept(phone, "sure") is True
    tap(phone, "Ask")
    phone.key(KEY_BACK)
    assert not sees(phone, "Sure?")
    assert phone.state.front.name == ".Front"


def test_what_is_off_cannot_be_touched(phone: Phone) -> None:
    before = phone.state.front
    tap(phone, "Off")
    assert phone.state.front == before


def test_lists_move_with_the_finger_and_end_where_they_end(phone: Phone) -> None:
    assert not sees(phone, "Entry 39")
    for _ in range(9):
        phone.swipe(540, 1800, 540, 600)
    assert sees(phone, "Entry 39")
    at_the_end = phone.state.front.scrolled
    phone.swipe(540, 1800, 540, 600)
    assert phone.state.front.scrolled == at_the_end
    for _ in range(9):
        phone.swipe(540, 600, 540, 1800)
    assert phone.state.front.scrolled == {"page": 0}
    assert sees(phone, "Entry 0")


def test_what_is_told_lies_on_the_screen(phone: Phone) -> None:
    for _ in range(3):
        for each in phone.nodes():
            left, top, right, bottom = each.bounds
            assert 0 <= left < right <= WIDTH
            assert 0 <= top < bottom <= HEIGHT
        phone.swipe(540, 1800, 540, 1300)


def test_writing(phone: Phone) -> None:
    tap(phone, "One line")
    assert phone.state.keyboard
    phone.type("Zoë's “list” 🙂")
    assert kept(phone, "line") == "Zoë's “list” 🙂"
    phone.key(KEY_DELETE)
    phone.key(KEY_ENTER)
    assert kept(phone, "entered") == "Zoë's “list” "
    assert not phone.state.keyboard
    tap(phone, "Many lines")
    phone.type("one\ntwo")
    phone.key(KEY_ENTER)
    phone.type("three")
    assert kept(phone, "text") == "one\ntwo\nthree"


def test_the_keyboard_on_the_screen(phone: Phone) -> None:
    tap(phone, "One line")
    for key in ("h", "Shift", "I", "Space", "?123", "7", "Delete", "ABC", "a"):
        tap(phone, key)
    assert kept(phone, "line") == "hI a"
    tap(phone, "Enter")
    assert kept(phone, "entered") == "hI a"


def test_back_hides_the_keyboard_first(phone: Phone) -> None:
    tap(phone, "One line")
    phone.key(KEY_BACK)
    assert not phone.state.keyboard
    assert phone.state.front.package == Tester.package
    phone.key(KEY_BACK)
    assert phone.state.at_home


def test_selecting_copying_and_pasting(phone: Phone) -> None:
    tap(phone, "One line")
    phone.type("apples")
    phone.hold(*middle(node(phone, "apples")))
    tap(phone, "Select all")
    tap(phone, "Cut")
    assert (kept(phone, "line"), phone.state.clipboard) == ("", "apples")
    phone.hold(*middle(node(phone, "One line")))
    tap(phone, "Paste")
    phone.select_all()
    phone.type("pears")
    assert kept(phone, "line") == "pears"


def test_sliders_say_where_they_are_touched(phone: Phone) -> None:
    left, top, right, bottom = node(phone, "Level").bounds
    phone.tap(left + (right - left) // 4, (top + bottom) // 2)
    assert kept(phone, "level") == pytest.approx(0.25, abs=0.01)
    phone.swipe(left + 50, (top + bottom) // 2, right - 1, (top + bottom) // 2)
    assert kept(phone, "level") == pytest.approx(1.0, abs=0.01)


def test_home_and_overview(phone: Phone) -> None:
    tap(phone, "Entry 2")
    phone.key(KEY_HOME)
    assert phone.state.at_home
    phone.open(Tester.package)
    assert phone.state.front.name == ".Second", "an app is as it was left"
    phone.key(KEY_OVERVIEW)
    tap(phone, "Tester")
    assert phone.state.front.name == ".Second"
    phone.stop(Tester.package)
    assert phone.state.at_home
    phone.open(Tester.package)
    assert phone.state.front.name == ".Front", "an app that was ended begins anew"


def test_the_shade(phone: Phone) -> None:
    phone.swipe(540, 0, 540, 1200)
    assert sees(phone, "Bluetooth")
    tap(phone, "Bluetooth")
    assert phone.state.setting("global", "bluetooth_on") == "1"
    phone.key(KEY_BACK)
    assert not phone.state.shade
    assert phone.state.front.package == Tester.package


def test_permissions_are_asked_for_one_by_one(phone: Phone) -> None:
    phone.open(Nosy.package)
    assert sees(phone, "Allow Nosy to take pictures and record video?")
    assert not sees(phone, "Entry 0"), "what is under the question is not told"
    tap(phone, "Allow")
    assert sees(phone, "Allow Nosy to record audio?")
    tap(phone, "Allow")
    tap(phone, "Entry 0")
    assert phone.state.front.name == ".Second"


def test_refused_permissions_lead_home(phone: Phone) -> None:
    phone.open(Nosy.package)
    tap(phone, "Don't allow")
    assert phone.state.at_home


def test_a_toast_goes_away(phone: Phone) -> None:
    phone.change(lambda turn: turn.toast("Saved"))
    assert sees(phone, "Saved")
    phone.wait(10)
    assert not sees(phone, "Saved")


def test_every_state_can_be_put_back_and_sent_elsewhere(phone: Phone) -> None:
    tap(phone, "One line")
    phone.type("kept")
    saved, shown = phone.state, [(each.text, each.bounds) for each in phone.nodes()]
    phone.key(KEY_HOME)
    phone.open(Nosy.package)
    phone.state = pickle.loads(pickle.dumps(saved))
    assert [(each.text, each.bounds) for each in phone.nodes()] == shown


def test_the_same_state_is_the_same_picture(phone: Phone) -> None:
    first = phone.picture().tobytes()
    other = Phone([Launcher(), Tester(), Nosy()], now=NOON)
    other.open(Tester.package)
    other.state = phone.state
    assert other.picture().tobytes() == first
    tap(phone, "Ask")
    assert phone.picture().tobytes() != first


def test_apps_that_there_are_not(phone: Phone) -> None:
    with pytest.raises(PhoneError, match=r"org\.example\.none: no such app"):
        phone.open("org.example.none")
    with pytest.raises(PhoneError, match=r"Activity class \{org\.example\.tester/\.Third\} does not exist"):
        phone.start(Tester.package, ".Third")
