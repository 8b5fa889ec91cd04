"""Tasks about mail, in a program that has only folders of its own and no account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.base import Params, Step, TaskDice, Template, launched, step
from eapo_gym.envs.osworld.own.checks import Part, check, includes, on_machine, rule, writes
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.mail import MAIL, PROFILE, Letter, profile
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

CLOSED: tuple[Step, ...] = (
    step("close_window", window_name="thunderbird", by_class=True),
    step("execute", command=["sleep", "4"]),
)
"""The program writes its settings and its folders when it is closed, at the latest."""

SPECIAL = ("Archive", "Drafts")
"""Names of folders by which the program means something."""


class MailTask(Template):
    """Begins with the program open; there are letters in the folder `inbox`."""

    domain: ClassVar[str] = "thunderbird"
    apps: ClassVar[tuple[str, ...]] = ("thunderbird",)
    ready = ("/Local Folders.*/", "")

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        people = [f"{dice.own(words.FIRST_NAMES)} {last}" for last in dice.some(words.LAST_NAMES, 3)]
        letters = [
            [dice.pick(people), f"{topic} in {dice.own(words.CITIES)}", dice.sample(words.SENTENCES, 3)]
            for topic in dice.some(words.TOPICS, 6)
        ]
        folders = [folder for folder in dice.share(words.FOLDERS) if folder not in SPECIAL]
        inbox, other = dice.sample(folders, 2)
        return {"inbox": inbox, "other": other, "letters": letters, "people": people}

    def letters(self, params: Params) -> list[Letter]:
        return [
            Letter(sender, subject, tuple(lines), number)
            for number, (sender, subject, lines) in enumerate(params["letters"])
        ]

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return profile({params["inbox"]: self.letters(params), params["other"]: [], "Trash": [], "Unsent Messages": []})

    def start(self, params: Params) -> Sequence[Step]:
        return launched("Mozilla Thunderbird", "thunderbird", "-profile", PROFILE)


def to_folder(hands: Seeing, name: str) -> Plan:
    """Show a mail folder; those below Local Folders are folded in at first."""
    if not hands.sees(name, "tree-item"):
        yield from hands.tap("Local Folders", "tree-item")
        yield hands.press("right")
    yield from hands.tap(name, "tree-item")


def from_menu_bar(hands: Seeing, *names: str) -> Plan:
    """Choose from the menu bar, which shows itself while its key is pressed."""
    yield hands.press("alt")
    yield from hands.menu(*names)


class MailPreference(MailTask):
    """A value of the preferences is to be another."""

    key: ClassVar[str]
    wanted: ClassVar[object]
    page: ClassVar[str]
    control: ClassVar[str]
    other: ClassVar[str]
    """A control that stands near it."""

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        expected = rule(expect={self.key: {"method": "eq", "ref": self.wanted}})
        return check("check_thunderbird_prefs", on_machine(f"{PROFILE}/prefs.js"), expected, before=CLOSED)

    def _switch(self, hands: Seeing, control: str) -> Plan:
        yield from hands.tap("Settings", "push-button")
        yield from hands.tap(self.page, "list-item")
        yield from hands.tap(control, "check-box")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._switch(hands, self.control)

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._switch(hands, self.other)


class MailSpellCheck(MailPreference):
    wordings = (
        "Let Thunderbird check the spelling before a message is sent.",
        "I make too many typing errors: turn on that the spelling is checked before sending, in Thunderbird.",
        "Turn on the spell check before sending in Thunderbird's settings.",
    )
    key = "mail.SpellCheckBeforeSend"
    wanted = True
    page = "Composition"
    control = "/Check spelling before sending/"
    other = "Enable spellcheck as you type"


class MailNoHistory(MailPreference):
    wordings = (
        "Thunderbird must not remember the websites and links that I have visited.",
        "For privacy, turn off that Thunderbird remembers visited websites and links.",
        "Change Thunderbird's privacy settings: visited websites and links are not to be remembered.",
    )
    key = "places.history.enabled"
    wanted = False
    page = "/Privacy.*/"
    control = "/Remember websites and links I.ve visited/"
    other = "/Allow remote content in messages/"


class MailNewFolder(MailTask):
    wordings = (
        'Create a mail folder called "{new}" under Local Folders in Thunderbird.',
        'I need a new folder "{new}" in Thunderbird, below "Local Folders".',
        'Make the folder "{new}" in Local Folders of Thunderbird.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"new": f"{dice.own(words.NOUNS)}{dice.between(10, 99)}"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return writes(["ls", f"{MAIL}/{params['new']}"], f"{MAIL}/{params['new']}\n")

    def _create(self, hands: Seeing, name: str) -> Plan:
        yield from from_menu_bar(hands, "File", "New", "Folder…")
        yield from hands.until("Name:", "entry")
        yield from hands.refill(name)
        yield from hands.tap("Create Folder", "push-button")
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["new"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["new"][:-1])


class OneLetterTask(MailTask):
    """About one of the letters."""

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        number = dice.below(len(params["letters"]))
        return params | {
            "number": number,
            "sender": params["letters"][number][0],
            "subject": params["letters"][number][1],
        }

    def choose(self, hands: Seeing, params: Params, number: int) -> Plan:
        """Select a letter in the list."""
        yield from to_folder(hands, params["inbox"])
        yield from hands.tap(f"/.*, {params['letters'][number][1]}, .*/", "list-item")

    def neighbor(self, params: Params) -> int:
        number: int = params["number"]
        return number - 1 if number else 1


class MailMove(OneLetterTask):
    wordings = (
        'Move the message "{subject}" from the folder {inbox} to the folder {other}.',
        'The letter "{subject}" belongs into {other}, not into {inbox}. Move it in Thunderbird.',
        'In Thunderbird, put the message with the subject "{subject}" into the folder {other}.',
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted, stays = (params["letters"][number][1] for number in (params["number"], self.neighbor(params)))
        return includes(["cat", f"{MAIL}/{params['other']}"], [f"Subject: {wanted}\n"], [f"Subject: {stays}\n"], CLOSED)

    def _move(self, hands: Seeing, params: Params, number: int) -> Plan:
        yield from self.choose(hands, params, number)
        yield from from_menu_bar(hands, "Message", "Move To", "Local Folders", params["other"])
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._move(hands, params, params["number"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._move(hands, params, self.neighbor(params))


class MailTag(OneLetterTask):
    wordings = (
        'Give the message "{subject}" in the folder {inbox} the tag {tag}.',
        'Tag the letter "{subject}" as {tag} in Thunderbird (it is in {inbox}).',
        'Mark the message with the subject "{subject}" with the tag "{tag}".',
    )
    tags: ClassVar[tuple[str, ...]] = ("Important", "Work", "Personal", "To Do", "Later")

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"tag": dice.pick(self.tags)}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        label = f"$label{self.tags.index(params['tag']) + 1}"
        command = f"grep -A 8 'X-Mozilla-Keys: {label}' '{MAIL}/{params['inbox']}'"
        return includes(["bash", "-c", command], [f"Subject: {params['subject']}\n"], before=CLOSED)

    def _tag(self, hands: Seeing, params: Params, key: int) -> Plan:
        yield from self.choose(hands, params, params["number"])
        yield hands.press(str(key))
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._tag(hands, params, self.tags.index(params["tag"]) + 1)

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._tag(hands, params, (self.tags.index(params["tag"]) + 1) % 5 + 1)


class MailDelete(OneLetterTask):
    wordings = (
        'Delete the message "{subject}" from the folder {inbox}.',
        'Throw away the letter "{subject}" that is in the folder {inbox} of Thunderbird.',
        'Put the message with the subject "{subject}" into the trash.',
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted, stays = (params["letters"][number][1] for number in (params["number"], self.neighbor(params)))
        return includes(["cat", f"{MAIL}/Trash"], [f"Subject: {wanted}\n"], [f"Subject: {stays}\n"], CLOSED)

    def _delete(self, hands: Seeing, params: Params, number: int) -> Plan:
        yield from self.choose(hands, params, number)
        yield hands.press("delete")
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params, params["number"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params, self.neighbor(params))


class MailSaveAs(OneLetterTask):
    wordings = (
        'Save the message "{subject}" from the folder {inbox} as the file {target}.',
        'I need the letter "{subject}" (in {inbox}) as a file: {target}.',
        'Export the message with the subject "{subject}" to {target}.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"target": f"/home/user/Documents/{dice.own(words.NOUNS)}.eml"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return includes(["cat", params["target"]], [f"Subject: {params['subject']}"])

    def _save(self, hands: Seeing, params: Params, number: int) -> Plan:
        yield from self.choose(hands, params, number)
        yield hands.press("ctrl", "s")
        yield from hands.name_file(params["target"])
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._save(hands, params, params["number"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._save(hands, params, self.neighbor(params))


class MailFilter(MailTask):
    wordings = (
        'Make a message filter called "{name}" for Local Folders: if the subject contains "{word}", star the message.',
        'In Thunderbird, add the filter "{name}": messages whose subject contains "{word}" get a star.',
        'A filter named "{name}" should add a star to every message with "{word}" in its subject. Create it.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {
            "name": f"{dice.own(words.NOUNS)}{dice.between(10, 99)}",
            "word": dice.own(words.CITIES),
        }

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = {
            "name": params["name"], "enabled": "yes", "action": "Mark flagged",
            "condition": [f"AND (subject,contains,{params['word']})"],
        }  # fmt: skip
        rules: Part = on_machine(f"{MAIL}/msgFilterRules.dat")
        return check("check_thunderbird_filter", rules, rule(expect=[wanted]), before=CLOSED)

    def _create(self, hands: Seeing, name: str, word: str) -> Plan:
        yield from hands.tap("Manage message filters", "push-button")
        yield from hands.tap("New…", "push-button")
        yield from hands.until("Filter name:", "entry")
        yield hands.write(name)
        yield from hands.tap("/Subject contains.*/", "entry")
        yield hands.write(word)
        yield from hands.tap("/Move Message to.*/", "combo-box")
        yield from hands.tap("Add Star", "/menu-item|list-item/")
        yield from hands.tap("OK", "push-button")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["name"], params["word"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["name"], params["word"].lower()[:-1])


TEMPLATES = (
    MailSpellCheck, MailNoHistory, MailNewFolder, MailMove, MailTag, MailDelete, MailSaveAs, MailFilter,
)  # fmt: skip
