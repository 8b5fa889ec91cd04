"""Contacts and Phone: people that are added, found, edited, thrown away, and called."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.apps import contacts, dialer
from eapo_gym.envs.androidworld.phone.apps import contacts_storage as storage
from eapo_gym.envs.androidworld.phone.apps.contacts_storage import Contact
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.tasks.finger import Finger

PHONES = "content query --uri content://contacts/phones/ --projection display_name:number"


class Player:
    """Somebody with a phone in hand."""

    def __init__(self) -> None:
        self.phone = new_phone()
        self.hands = Hands(self.phone)
        self.finger = Finger(self.hands.elements)

    def add(self, new: Contact) -> int:
        number = self.phone.change(partial(storage.save, new=new))
        assert isinstance(number, int)
        return number

    def tap(self, *names: str) -> None:
        for name in names:
            self.hands.act(self.finger.tap(name))

    def write(self, text: str, into: str) -> None:
        self.hands.act(self.finger.write(text, into=into))

    def back(self) -> None:
        self.hands.act(self.finger.back())

    def shell(self, line: str) -> str:
        return self.hands.adb.run(["shell", line]).decode()

    def names(self) -> list[str]:
        return [each.name for each in self.phone.change(lambda turn: storage.contacts(turn))]


@pytest.fixture
def player() -> Player:
    player = Player()
    player.add(Contact(first="Bo", last="Li", phones=(("+1 555-010-0142", "Mobile"),)))
    player.add(Contact(first="Édith", last="Zorn", emails=(("ed@example.org", "Work"),)))
    player.add(Contact(company="Pizza 24/7", phones=(("555-7777", "Main"),)))
    return player


@pytest.mark.parametrize("name", ["O'Hara", 'The "Duke"', "Zoë 🎉", "x" * 300, "; rm -rf /", "$(id)"])
def test_any_name_is_kept_as_it_was_written(player: Player, name: str) -> None:
    player.hands.act(Finger.open("Contacts"))
    player.tap("Create contact")
    player.write(name, into="First name")
    player.write("555-0100", into="Phone")
    player.tap("Save")
    assert name in player.names()
    assert f"display_name={name}, number=555-0100\n" in player.shell(PHONES)


def test_the_order_knows_accents_and_companies(player: Player) -> None:
    assert player.names() == ["Bo Li", "Édith Zorn", "Pizza 24/7"]


def test_the_provider_tells_numbers_and_is_cleared_with_its_package(player: Player) -> None:
    assert "display_name=Bo Li, number=+1 555-010-0142" in player.shell(PHONES)
    player.shell("pm clear com.google.android.contacts")
    assert len(player.names()) == 3, "the app itself keeps no contacts"
    player.shell("pm clear com.android.providers.contacts")
    assert player.shell(PHONES) == "No result found.\n"
    player.hands.act(Finger.open("Contacts"))
    assert player.finger.sees("No contacts yet")


def test_another_app_fills_the_form_in_and_the_way_back_asks(player: Player) -> None:
    player.shell(
        'am start -a android.intent.action.INSERT -t vnd.android.cursor.dir/contact -e name "Ann Mae Bell" -e phone +15'
    )
    assert player.phone.state.front.name == contacts.EDITOR
    assert player.finger.sees("Ann")
    assert player.finger.sees("Bell")
    player.back()
    assert player.phone.state.at_home, "what was filled in by another app is not written by anybody yet"
    player.shell("am start -a android.intent.action.INSERT -t vnd.android.cursor.dir/contact -e phone +15")
    player.write("Ann", into="First name")
    player.back()
    assert not player.finger.sees("Space"), "at first the keyboard goes"
    player.back()
    assert player.finger.sees("Your changes have not been saved.")
    player.tap("Keep editing", "Save")
    assert "Ann" in player.names()


def test_nothing_written_is_not_saved(player: Player) -> None:
    player.hands.act(Finger.open("Contacts"))
    player.tap("Create contact", "Save")
    assert len(player.names()) == 3
    assert player.phone.state.front.name == contacts.PEOPLE


def test_a_contact_has_several_numbers_each_with_a_label(player: Player) -> None:
    player.hands.act(Finger.open("Contacts"))
    player.tap("Bo Li", "Edit contact")
    player.hands.act(player.finger.write("555-0101", into="Phone", number=1))
    player.tap("Mobile Phone")
    player.hands.act(player.finger.tap("Work", kind="RadioButton"))
    player.tap("Save")
    [bo] = [each for each in player.phone.change(lambda turn: storage.contacts(turn)) if each.first == "Bo"]
    assert bo.phones == (("+1 555-010-0142", "Work"), ("555-0101", "Mobile"))


def test_search_finds_names_numbers_and_addresses(player: Player) -> None:
    for wanted, found in (("zorn", "Édith Zorn"), ("0142", "Bo Li"), ("ed@ex", "Édith Zorn")):
        player.hands.act(Finger.open("Contacts"))
        player.write(wanted, into="Search contacts")
        shown = [each.text for each in player.hands.elements() if each.resource.endswith("cliv_name_textview")]
        assert shown == [found]
        player.back()
    player.write("nobody", into="Search contacts")
    assert player.finger.sees("No results")
    player.back()
    assert player.finger.sees("Bo Li")
    assert not player.phone.state.at_home


def test_what_is_deleted_lies_in_the_trash_until_it_is_emptied(player: Player) -> None:
    player.hands.act(Finger.open("Contacts"))
    player.hands.act(player.finger.hold("Bo Li"))
    player.tap("Pizza 24/7", "Delete")
    assert player.finger.sees("Delete 2 contacts?")
    player.tap("Delete")
    assert player.names() == ["Édith Zorn"]
    player.tap("Organize", "Trash", "Bo Li")
    assert player.names() == ["Bo Li", "Édith Zorn"]
    player.tap("Empty", "Delete forever")
    assert player.finger.sees("Trash is empty")
    assert len(player.phone.state.files.database(storage.CONTACTS)["raw_contacts"]) == 2


def test_the_database_can_be_pulled_changed_and_pushed(player: Player, tmp_path: Path) -> None:
    copy = tmp_path / "contacts2.db"
    player.hands.adb.run(["pull", storage.CONTACTS, str(copy)])
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE data SET data1 = 'Bob Lee', data2 = 'Bob', data3 = 'Lee' WHERE data2 = 'Bo'")
    connection.close()
    player.hands.adb.run(["push", str(copy), storage.CONTACTS])
    assert "Bob Lee" in player.names()


def test_a_field_under_the_keyboard_comes_into_sight(player: Player) -> None:
    player.hands.act(Finger.open("Contacts"))
    player.tap("Create contact", "More fields")
    player.hands.act(Action("click", index=player.finger.fields("Company")[0].index))
    for _ in range(4):
        player.hands.act(Action("keyboard_enter"))
    player.phone.type("By the door")
    assert player.finger.fields("By the door"), "the enter key leads on to fields that are out of sight"


# Phone


def test_a_call_is_dialled_held_ended_and_noted(player: Player) -> None:
    player.hands.act(Finger.open("Phone"))
    player.tap("key pad", "5,JKL", "1", "0,+", "dial")
    assert player.phone.state.front.name == dialer.IN_CALL
    assert "mCallState=2" in player.shell("dumpsys telephony.registry")
    assert player.finger.sees("510")
    assert player.finger.sees("Hold")
    player.phone.wait(64)
    player.tap("End call")
    assert "mCallState=0" in player.shell("dumpsys telephony.registry")
    [call] = player.phone.state.files.database(storage.CALLS)["calls"]
    assert (call["number"], call["type"]) == ("510", storage.OUTGOING)
    assert 60 <= int(str(call["duration"])) <= 64


def test_a_call_that_comes_in_is_answered_or_missed(player: Player) -> None:
    player.hands.adb.run(["emu", "gsm", "call", "+15550100142"])
    assert "mCallState=1" in player.shell("dumpsys telephony.registry")
    assert player.finger.sees("Bo Li"), "who calls is known by the end of the number"
    player.shell("input keyevent KEYCODE_ENDCALL")
    player.hands.adb.run(["emu", "gsm", "call", "+15550100142"])
    player.tap("Answer")
    assert "mCallState=2" in player.shell("dumpsys telephony.registry")
    player.shell("input keyevent KEYCODE_ENDCALL")
    kinds = [call["type"] for call in player.phone.state.files.database(storage.CALLS)["calls"]]
    assert kinds == [storage.MISSED, storage.INCOMING]
    player.shell("content delete --uri content://call_log/calls")
    player.hands.act(Finger.open("Phone"))
    assert player.finger.sees("Your call log is empty")


def test_the_screen_of_a_call_can_be_left_and_found_again(player: Player) -> None:
    player.shell("am start -a android.intent.action.CALL -d tel:5550199")
    assert player.phone.state.front.name == dialer.IN_CALL
    player.back()
    player.hands.act(Finger.open("Phone"))
    player.tap("Return to call with 5550199", "End call")
    assert player.phone.state.call is None
    player.shell("settings put global airplane_mode_on 1")
    player.shell("am start -a android.intent.action.CALL -d tel:5550199")
    assert player.phone.state.call is None
    assert player.phone.state.front.name == dialer.MAIN


def test_from_a_contact_one_calls_and_writes(player: Player) -> None:
    player.hands.act(Finger.open("Contacts"))
    player.tap("Bo Li", "Text")
    assert player.phone.state.front.package == "com.simplemobiletools.smsmessenger"
    player.tap("Navigate up")
    assert player.phone.state.front.name == contacts.CARD
    player.tap("Call")
    assert player.phone.state.front.name == dialer.IN_CALL
    assert player.phone.state.call is not None


def test_without_screens_a_provider_is_no_app_to_open(player: Player) -> None:
    assert not any("Storage" in each.label for each in player.hands._apps())
    assert "package:com.android.providers.contacts" in player.shell("pm list packages")
