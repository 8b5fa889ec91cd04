"""The messenger: conversations, drafts, blocked numbers, and messages that come and go."""

from __future__ import annotations

from functools import partial

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.embedded import Hands
from eapo_gym.envs.androidworld.phone.apps import contacts_storage
from eapo_gym.envs.androidworld.phone.apps import messages_storage as storage
from eapo_gym.envs.androidworld.phone.apps import sms_messenger as messenger
from eapo_gym.envs.androidworld.phone.apps.contacts_storage import Contact
from eapo_gym.envs.androidworld.phone.databases import Row
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.tasks.finger import Finger

APP = "Simple SMS Messenger"


class Player:
    """Somebody with a phone in hand."""

    def __init__(self) -> None:
        self.phone = new_phone()
        self.hands = Hands(self.phone)
        self.finger = Finger(self.hands.elements)

    def tap(self, *names: str) -> None:
        for name in names:
            self.hands.act(self.finger.tap(name))

    def hold(self, name: str) -> None:
        self.hands.act(self.finger.hold(name))

    def write(self, text: str, into: str = "Type a message…") -> None:
        self.hands.act(self.finger.write(text, into=into))

    def back(self) -> None:
        self.hands.act(self.finger.back())

    def shell(self, line: str) -> str:
        return self.hands.adb.run(["shell", line]).decode()

    def hear(self, sender: str, message: str) -> None:
        self.hands.adb.run(["emu", "sms", "send", sender, message])
        self.phone.wait(60)

    def messages(self) -> tuple[Row, ...]:
        found: tuple[Row, ...] = self.phone.change(lambda turn: storage.messages(turn))
        return found

    def listed(self) -> list[str]:
        return [each.text for each in self.hands.elements() if each.resource.endswith("conversation_address")]


@pytest.fixture
def player() -> Player:
    player = Player()
    player.phone.change(
        partial(contacts_storage.save, new=Contact(first="Bo", last="Li", phones=(("555-010-0142", "Mobile"),)))
    )
    player.hear("+15550100142", "Are you there?")
    player.hear("+15550109999", "Your parcel is late, sorry")
    player.hands.act(Finger.open(APP))
    return player


@pytest.mark.parametrize(
    "said", ['It\'s a "test"', "emoji 🎂", "a; rm -rf / | $(id) `id` && x", "=a, body=b", "x" * 400]
)
def test_any_text_is_sent_as_it_was_written(player: Player, said: str) -> None:
    player.tap("Bo Li")
    player.write(said)
    player.tap("SMS")
    latest = player.messages()[0]
    assert (latest["body"], latest["address"], latest["type"]) == (said, "+15550100142", storage.SENT)
    assert f"body={said}, " in player.shell("content query --uri content://sms/sent")


def test_an_empty_message_cannot_be_sent(player: Player) -> None:
    player.tap("Bo Li", "SMS")
    player.write("   ")
    player.tap("SMS")
    assert len(player.messages()) == 2


def test_conversations_stand_with_the_latest_first_and_names_of_contacts(player: Player) -> None:
    assert player.listed() == ["+15550109999", "Bo Li"]
    player.hear("5550100142", "Hello?")
    assert player.listed() == ["Bo Li", "+15550109999"], "with or without the country it is the same number"
    assert len({row["thread_id"] for row in player.messages()}) == 2


def test_who_deletes_the_rows_sees_no_conversation(player: Player) -> None:
    database = "/data/data/com.android.providers.telephony/databases/mmssms.db"
    player.shell(f'sqlite3 {database} "DELETE FROM sms;"')
    player.shell(f'sqlite3 {database} "DELETE FROM threads;"')
    assert player.listed() == []
    assert player.finger.sees("No conversations yet")
    assert player.shell("content query --uri content://sms/inbox") == "No result found.\n"
    player.hear("+15550100142", "Back again")
    assert player.listed() == ["Bo Li"]


def test_to_open_a_conversation_is_to_read_it(player: Player) -> None:
    assert [row["read"] for row in player.messages()] == [0, 0]
    player.tap("Bo Li", "Navigate up")
    assert [row["read"] for row in player.messages()] == [0, 1]
    player.tap("Bo Li", "More options", "Mark as unread")
    assert [row["read"] for row in player.messages()] == [0, 0]


def test_what_was_begun_is_kept_as_a_draft(player: Player) -> None:
    player.tap("Bo Li")
    player.write("I am nearly")
    player.hands.act(Action("navigate_home"))
    assert player.messages()[0]["type"] == storage.DRAFT
    player.hands.act(Finger.open(APP))
    player.back()
    if player.phone.state.front.name == messenger.THREAD:
        player.back()
    assert player.finger.sees("Draft: I am nearly")
    player.tap("Bo Li", "SMS")
    assert [row["type"] for row in player.messages()] == [storage.SENT, storage.RECEIVED, storage.RECEIVED]
    assert player.messages()[0]["body"] == "I am nearly"


def test_without_a_network_a_message_waits_to_be_sent_again(player: Player) -> None:
    player.shell("settings put global airplane_mode_on 1")
    player.tap("Bo Li")
    player.write("Now?")
    player.tap("SMS")
    assert player.messages()[0]["type"] == storage.FAILED
    player.back()
    player.tap("Now?")
    assert player.messages()[0]["type"] == storage.FAILED
    player.shell("settings put global airplane_mode_on 0")
    player.tap("Now?")
    assert player.messages()[0]["type"] == storage.SENT


def test_a_message_is_copied_forwarded_and_deleted(player: Player) -> None:
    player.tap("+15550109999")
    player.hold("Your parcel is late, sorry")
    player.tap("Copy to clipboard")
    assert player.phone.state.clipboard == "Your parcel is late, sorry"
    player.hold("Your parcel is late, sorry")
    player.tap("More options", "Forward message", "Bo Li", "SMS")
    assert (player.messages()[0]["address"], player.messages()[0]["body"]) == (
        "555-010-0142",
        "Your parcel is late, sorry",
    )
    player.back()
    player.hold("Your parcel is late, sorry")
    player.tap("Delete", "No")
    assert len(player.messages()) == 3
    player.tap("Delete", "Yes")
    assert len(player.messages()) == 2


def test_conversations_are_pinned_archived_and_deleted(player: Player) -> None:
    player.hold("Bo Li")
    player.tap("More options", "Pin conversation")
    assert player.listed() == ["Bo Li", "+15550109999"]
    player.hold("+15550109999")
    player.tap("Archive")
    assert player.listed() == ["Bo Li"]
    player.tap("More options", "Archived conversations")
    assert player.listed() == ["+15550109999"]
    player.back()
    player.hear("+15550109999", "It has come")
    assert player.listed() == ["Bo Li", "+15550109999"], "a new message brings it back"
    player.hold("Bo Li")
    player.tap("More options", "Select all", "Delete", "Yes")
    assert player.messages() == ()
    assert player.listed() == []


def test_from_a_blocked_number_nothing_comes(player: Player) -> None:
    player.tap("+15550109999", "More options", "Block number")
    player.hear("+15550109999", "Still me")
    assert len(player.messages()) == 2
    player.tap("More options", "Unblock number")
    player.hear("+15550109999", "And again")
    assert len(player.messages()) == 3


def test_search_finds_names_and_messages(player: Player) -> None:
    player.write("parcel", into="Search")
    assert player.finger.sees("Your parcel is late, sorry")
    assert not player.finger.sees("Bo Li")
    player.back()
    player.write("bo l", into="Search")
    assert player.listed() == ["Bo Li"]


@pytest.mark.parametrize(("written", "address"), [("555-010-0777", "555-010-0777"), ("bo li", "555-010-0142")])
def test_one_writes_to_a_number_or_a_name(player: Player, written: str, address: str) -> None:
    player.tap("Start conversation")
    player.write(written, into="Name or number")
    player.tap("OK")
    player.write("Hi")
    player.tap("SMS")
    assert player.messages()[0]["address"] == address
    player.tap("Navigate up")
    assert player.phone.state.front.name == messenger.MAIN


@pytest.mark.parametrize("written", ["", "mum", "!!!"])
def test_what_is_no_number_is_not_written_to(player: Player, written: str) -> None:
    player.tap("Start conversation")
    if written:
        player.write(written, into="Name or number")
    player.tap("OK")
    assert player.phone.state.front.name == messenger.NEW


def test_an_intent_opens_a_conversation_with_the_message_begun(player: Player) -> None:
    player.shell('am start -a android.intent.action.SENDTO -d sms:+15551234567 --es sms_body "Hello, World!"')
    assert player.phone.state.front.name == messenger.THREAD
    assert player.finger.fields("Hello, World!")
    player.tap("SMS")
    assert player.messages()[0]["body"] == "Hello, World!"
    player.tap("Navigate up")
    assert player.phone.state.front.name == messenger.MAIN


def test_a_long_conversation_is_shown_from_its_end(player: Player) -> None:
    for number in range(40):
        player.hear("+15550100142", f"Message number {number}")
    player.tap("Bo Li")
    assert player.finger.sees("Message number 39")
    assert not player.finger.sees("Message number 2")
    player.write("The last word")
    player.tap("SMS")
    assert player.finger.sees("The last word")


def test_the_enter_key_sends_if_it_is_set_to(player: Player) -> None:
    player.tap("More options", "Settings", "Send with the Enter key", "Navigate up", "Bo Li")
    player.write("Sent by Enter")
    assert player.messages()[0]["body"] == "Sent by Enter"


def test_an_unknown_screen_without_its_number_does_no_harm(player: Player) -> None:
    player.shell(f"am start -n {messenger.PACKAGE}/{messenger.THREAD}")
    assert player.hands.elements()
    player.back()
