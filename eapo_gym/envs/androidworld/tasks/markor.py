"""Tasks about notes in Markor: to write, to change, to move, to merge, to delete them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.elements import Element
from eapo_gym.envs.androidworld.phone.apps import clipper, gallery, messages_storage, sms_messenger
from eapo_gym.envs.androidworld.phone.apps.folder_dialog import PARENT, PICK
from eapo_gym.envs.androidworld.phone.apps.markor.browser import (
    DELETE,
    MAKE_FOLDER,
    MORE,
    MOVE,
    NEW,
    OK,
    ORDER_NAMES,
    RENAME,
    SELECT_ALL,
    SHARE,
    SORT,
)
from eapo_gym.envs.androidworld.phone.apps.markor.editor import EDITOR_ID, SAVE
from eapo_gym.envs.androidworld.phone.apps.markor.storage import NOTEBOOK, PACKAGE
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.files import judge_move, prepare_move
from eapo_gym.envs.androidworld.tasks.finger import Finger, NotOnScreen, any_of
from eapo_gym.envs.androidworld.tasks.papers import (
    LAST_DAY,
    NOTE_NAMES,
    RECEIPT_HEADER,
    clear_files,
    clear_folder,
    draw_letters,
    draw_name,
    draw_note_name,
    draw_others,
    draw_receipt,
    draw_sentence,
    is_there,
    put,
    put_picture,
    receipt_picture,
    written,
)
from eapo_gym.envs.androidworld.tasks.people import draw_number
from eapo_gym.envs.androidworld.tasks.rows import are_alike
from eapo_gym.envs.androidworld.tasks.sms import SimpleSmsSend

APP = "Markor"
RECEIPT = "receipt.png"
FOLDERS = (
    "BandPractice", "BirdWatching", "BudgetPlans", "ClimbingRoutes", "DreamDiary", "GardenLog", "HouseRepairs",
    "LectureNotes", "PartyIdeas", "SongLyrics",
)  # fmt: skip


class _Markor(Task):
    apps: ClassVar[tuple[str, ...]] = (PACKAGE,)


class _Create(_Markor):
    """A note is to be there, with a text."""

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_folder(phone, NOTEBOOK)
        clear_files(phone, SDCARD)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return judge_note(phone, params["file_name"], params["text"])


class MarkorCreateNote(_Create):
    template = "Create a new note in Markor named {file_name} with the following text: {text}"
    complexity = 1.6
    difficulty = "medium"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"file_name": draw_note_name(dice), "text": draw_sentence(dice)}

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from new_note(finger, params["file_name"])
        yield write_note(finger, params["text"])
        yield finger.tap(any_of(SAVE))
        yield finger.done()


class MarkorCreateNoteFromClipboard(_Create):
    template = "Create a note in Markor named {file_name}. Perform a paste operation in the note and save the note."
    complexity = 1.4
    difficulty = "medium"
    apps = (PACKAGE, clipper.PACKAGE)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"file_name": draw_note_name(dice), "file_content": draw_letters(dice, 10)}

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        phone.state = replace(phone.state, clipboard=params["file_content"])

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return judge_note(phone, params["file_name"], params["file_content"])

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from new_note(finger, params["file_name"])
        yield Action("long_press", index=editor(finger).index)
        yield finger.tap("Paste")
        yield finger.tap(any_of(SAVE))
        yield finger.done()


class MarkorTranscribeReceipt(_Create):
    template = (
        "Create a file in Markor, called receipt.md with the transactions from the receipt.png. Use Simple Gallery to"
        ' view the receipt. Please enter transactions in csv format including the header "Date, Item, Amount".'
    )
    complexity = 1.8
    difficulty = "medium"
    apps = (gallery.PACKAGE, PACKAGE)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        receipt = draw_receipt(dice, dice.between(1, 5))
        return {
            "file_name": "receipt.md",
            "text": "\n".join([RECEIPT_HEADER, *receipt["lines"]]),
            "receipt": receipt,
        }

    def adopted(self, theirs: Params) -> Params:
        return {name: theirs[name] for name in ("file_name", "text")}

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_files(phone, SDCARD)
        put_picture(phone, f"{SDCARD}/DCIM/{RECEIPT}", receipt_picture(params["receipt"], "PNG"))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin("Simple Gallery Pro")
        yield finger.tap("DCIM")
        yield finger.tap(RECEIPT)
        # What is read there.
        text = params["text"]
        yield from new_note(finger, params["file_name"])
        yield write_note(finger, text)
        yield finger.tap(any_of(SAVE))
        yield finger.done()


class MarkorMergeNotes(_Create):
    template = (
        "Merge the contents of Markor notes {file1_name}, {file2_name} and {file3_name} (in the same order) into a new"
        " Markor note named {new_file_name} and save it. Add a new line between the content of each note."
    )
    complexity = 7.8
    difficulty = "hard"

    _NUMBERS = (1, 2, 3)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        names = {f"file{number}_name": draw_note_name(dice) for number in self._NUMBERS}
        contents = {f"file{number}_content": draw_letters(dice, 20) for number in self._NUMBERS}
        return {**names, **contents, "new_file_name": draw_letters(dice, 8)}

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        for number in self._NUMBERS:
            put(phone, NOTEBOOK, {params[f"file{number}_name"]: params[f"file{number}_content"]})

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        name = params["new_file_name"]
        text = "\n\n".join(params[f"file{number}_content"] for number in self._NUMBERS) + "\n"
        lines = written(phone, posixpath.join(NOTEBOOK, name)).strip().split("\n")
        has_blanks = len(lines) == 5 and not lines[1] and not lines[3]
        return float(bool(judge_note(phone, name, text)) and has_blanks)

    def plan(self, finger: Finger, params: Params) -> Plan:
        texts = []
        for number in self._NUMBERS:
            yield from open_note(finger, params[f"file{number}_name"])
            texts.append(editor(finger).text.strip())
        yield from new_note(finger, params["new_file_name"])
        yield write_note(finger, "\n\n".join(texts))
        yield finger.tap(any_of(SAVE))
        yield finger.done()


class MarkorCreateNoteAndSms(_Create):
    template = (
        "Create a new note in Markor named {file_name} with the following text: {text}. Share the entire content of"
        " the note with the phone number {number} via SMS using Simple SMS Messenger"
    )
    complexity = 1.8
    difficulty = "hard"
    apps = (PACKAGE, sms_messenger.PACKAGE)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"file_name": draw_note_name(dice), "text": draw_sentence(dice), "number": draw_number(dice)}

    def prepare(self, phone: Phone, params: Params) -> None:
        super().prepare(phone, params)
        phone.state = phone.state.with_setting("global", "airplane_mode_on", "0")
        phone.clear(messages_storage.PACKAGE)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        message = {"number": params["number"], "message": params["text"]}
        return (super().judge(phone, params, answer) + SimpleSmsSend().judge(phone, message, answer)) / 2

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from new_note(finger, params["file_name"])
        yield write_note(finger, params["text"])
        yield finger.tap(any_of(SAVE))
        yield finger.tap(any_of(MORE))
        yield finger.tap(any_of(SHARE))
        yield finger.tap("Simple SMS Messenger")
        yield finger.write(params["number"], into=any_of(sms_messenger.NUMBER_HINTS))
        yield finger.tap("OK")
        yield finger.tap(sms_messenger.SEND)
        yield finger.done()


class MarkorCreateFolder(_Markor):
    template = "Create a new folder in Markor named {folder_name}."
    complexity = 1
    difficulty = "easy"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        day = LAST_DAY - timedelta(days=dice.below(365))
        time = f"{dice.below(24):02}{dice.below(60):02}{dice.below(60):02}"
        return {"folder_name": f"folder_{day:%Y%m%d}_{time}", "others": draw_others(dice, "file", NOTE_NAMES)}

    def prepare(self, phone: Phone, params: Params) -> None:
        _prepare_notes(phone, params["others"])

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return float(is_there(phone, NOTEBOOK, params["folder_name"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin(APP)
        yield finger.tap(any_of(NEW))
        yield finger.write(params["folder_name"], into="Name")
        yield finger.tap(any_of(MAKE_FOLDER))
        yield finger.done()


class MarkorDeleteNote(_Markor):
    template = "Delete the note in Markor named {file_name}."
    complexity = 1
    difficulty = "easy"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        name = draw_name(dice)
        return {
            "file_name": name,
            "content": draw_letters(dice, 20),
            "others": draw_others(dice, name, NOTE_NAMES),
        }

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_files(phone, SDCARD)
        _prepare_notes(phone, {params["file_name"]: params["content"], **params["others"]})

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return float(not is_there(phone, NOTEBOOK, params["file_name"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin(APP)
        yield from finger.scroll_to(params["file_name"])
        yield finger.hold(params["file_name"])
        yield from _delete_selected(finger)


class MarkorDeleteNewestNote(_Markor):
    template = "Delete the newest note in Markor."
    complexity = 1
    difficulty = "easy"

    _MOST_MINUTES = 500

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        notes = [
            (draw_note_name(dice), draw_sentence(dice), dice.between(-self._MOST_MINUTES, self._MOST_MINUTES))
            for _ in range(dice.between(2, 6))
        ]
        return {"notes": notes}

    def prepare(self, phone: Phone, params: Params) -> None:
        """The clock is set forward or back after each note, so that their names do not tell which came last."""
        clear_folder(phone, NOTEBOOK)
        for name, sentence, minutes in params["notes"]:
            put(phone, NOTEBOOK, {name: sentence})
            phone.state = replace(phone.state, now=phone.state.now + 60 * minutes)

    def begun(self, phone: Phone, params: Params) -> Params:
        return {**params, "before": _notes_by_time(phone)}

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        """The newest is gone, and no other has been touched."""
        return float(_notes_by_time(phone) == params["before"][:-1])

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin(APP)
        yield finger.tap(any_of(SORT))
        yield finger.tap(any_of(ORDER_NAMES["date"]))
        yield Action("long_press", index=_first_note(finger).index)
        yield from _delete_selected(finger)


class MarkorDeleteAllNotes(_Markor):
    template = "Delete all my notes in Markor."
    complexity = 1.4
    difficulty = "easy"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        most = dice.between(2, 6)
        return {"others": draw_others(dice, draw_letters(dice, 5), NOTE_NAMES, most)}

    def prepare(self, phone: Phone, params: Params) -> None:
        _prepare_notes(phone, params["others"])

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return float(phone.state.files.is_folder(NOTEBOOK) and not _notes_by_time(phone))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin(APP)
        yield Action("long_press", index=_first_note(finger).index)
        yield finger.tap(any_of(MORE))
        yield finger.tap(any_of(SELECT_ALL))
        yield from _delete_selected(finger)


class MarkorMoveNote(_Markor):
    template = "In Markor, move the note {file_name} from {source_folder} to {destination_folder}."
    complexity = 1.4
    difficulty = "medium"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        source, destination = dice.sample(FOLDERS, 2)
        name = draw_note_name(dice)
        return {
            "file_name": name,
            "source_folder": source,
            "destination_folder": destination,
            "content": draw_letters(dice, 20),
            "others": draw_others(dice, name, NOTE_NAMES),
        }

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_folder(phone, NOTEBOOK)
        prepare_move(phone, NOTEBOOK, params)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return judge_move(phone, NOTEBOOK, params)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin(APP)
        yield finger.tap(params["source_folder"])
        yield from finger.scroll_to(params["file_name"])
        yield finger.hold(params["file_name"])
        yield finger.tap(any_of(MORE))
        yield finger.tap(any_of(MOVE))
        yield finger.tap(PARENT)
        yield finger.tap(params["destination_folder"])
        yield finger.tap(any_of(PICK))
        yield finger.done()


class MarkorEditNote(_Markor):
    template = "Edit {file_name} in Markor. {change}"
    complexity = 1.2
    difficulty = "easy"

    _CHANGES: Mapping[str, str] = {
        "header": "Add to the top of the note {header}",
        "footer": "Add to the bottom of the note {footer}",
        "replace": "Replace the text with {replace_text}",
    }

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        name = f"note_{draw_letters(dice, 5)}{dice.pick(('.md', '.txt'))}"
        kind = dice.pick(tuple(self._CHANGES))
        params = {
            "file_name": name,
            "edit_type": kind,
            "content": draw_sentence(dice),
            "others": draw_others(dice, name, NOTE_NAMES),
        }
        if kind == "replace":
            return {**params, "replace_text": "\n".join(draw_sentence(dice) for _ in range(3))}
        return {**params, kind: draw_sentence(dice)}

    def goal(self, params: Params) -> str:
        return self.template.format(**params, change=self._CHANGES[params["edit_type"]].format(**params))

    def prepare(self, phone: Phone, params: Params) -> None:
        _prepare_notes(phone, {**params["others"], params["file_name"]: params["content"]})

    def begun(self, phone: Phone, params: Params) -> Params:
        content = written(phone, posixpath.join(NOTEBOOK, params["file_name"])).removesuffix("\n")
        # The benchmark looks for the text as it wrote it into a shell, where a quote is five letters.
        return {**params, "content": content.replace("'", "'\"'\"'")}

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        kind = params["edit_type"]
        wanted = {
            "header": f"{params.get('header')}\n{params['content']}",
            "footer": f"{params['content']}\n{params.get('footer')}",
            "replace": params.get("replace_text"),
        }[kind]
        found = written(phone, posixpath.join(NOTEBOOK, params["file_name"])).strip()
        return float(are_alike(found, wanted))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from open_note(finger, params["file_name"])
        kind = params["edit_type"]
        if kind == "header":
            yield _write_before(finger, params["header"])
        elif kind == "footer":
            yield write_note(finger, params["footer"])
        else:
            yield write_note(finger, params["replace_text"], clear=True)
        yield finger.tap(any_of(SAVE))
        yield finger.done()


class MarkorChangeNoteContent(_Markor):
    template = (
        'Update the content of {original_name} to "{updated_content}" in Markor and change its name to {new_name}.'
    )
    complexity = 1.2
    difficulty = "medium"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        name = draw_note_name(dice)
        return {
            "original_name": name,
            "new_name": draw_note_name(dice),
            "updated_content": draw_letters(dice, 20),
            "content": draw_letters(dice, 20),
            "others": draw_others(dice, name, NOTE_NAMES),
        }

    def prepare(self, phone: Phone, params: Params) -> None:
        _prepare_notes(phone, {params["original_name"]: params["content"], **params["others"]})

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        if not _was_renamed(phone, params):
            return 0.0
        return float(are_alike(_note(phone, params["new_name"]).strip(), params["updated_content"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from open_note(finger, params["original_name"])
        yield write_note(finger, params["updated_content"], clear=True)
        yield from _save_and_rename(finger, params["original_name"], params["new_name"])


class MarkorAddNoteHeader(_Markor):
    template = (
        "Update the Markor note {original_name} by adding the following text, along with a new blank line before the"
        ' existing content: "{header}", and rename it to {new_name}.'
    )
    complexity = 1.2
    difficulty = "medium"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        name = draw_note_name(dice)
        return {
            "original_name": name,
            "original_content": draw_sentence(dice),
            "new_name": draw_note_name(dice),
            "header": draw_letters(dice, 20),
            "others": draw_others(dice, name, NOTE_NAMES),
        }

    def prepare(self, phone: Phone, params: Params) -> None:
        _prepare_notes(phone, {params["original_name"]: params["original_content"], **params["others"]})

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        if not _was_renamed(phone, params):
            return 0.0
        return float(_note(phone, params["new_name"]) == f"{params['header']}\n\n{params['original_content']}\n")

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from open_note(finger, params["original_name"])
        # Enter, which follows what is written, makes the second new line.
        yield _write_before(finger, params["header"] + "\n")
        yield from _save_and_rename(finger, params["original_name"], params["new_name"])


# On the phone


def judge_note(phone: Phone, name: str, text: str) -> float:
    """Whether a note is there and its text is nearly that one."""
    return float(is_there(phone, NOTEBOOK, name) and are_alike(_note(phone, name).strip(), text))


def _note(phone: Phone, name: str) -> str:
    return written(phone, posixpath.join(NOTEBOOK, name))


def _was_renamed(phone: Phone, params: Params) -> bool:
    old, new = params["original_name"], params["new_name"]
    return is_there(phone, NOTEBOOK, new) and not is_there(phone, NOTEBOOK, old)


def _prepare_notes(phone: Phone, contents: Mapping[str, str]) -> None:
    """These notes and no others."""
    clear_folder(phone, NOTEBOOK)
    put(phone, NOTEBOOK, contents)


def _notes_by_time(phone: Phone) -> list[tuple[str, float]]:
    """The notes of the first folder, the newest last."""
    files = phone.state.files
    paths = [posixpath.join(NOTEBOOK, name) for name in (files.names(NOTEBOOK) if files.is_folder(NOTEBOOK) else ())]
    notes = [(posixpath.basename(path), files.get(path).changed) for path in paths if not files.is_folder(path)]
    return sorted(notes, key=lambda note: note[1])


# How somebody does it


def open_note(finger: Finger, name: str) -> Plan:
    yield from finger.begin(APP)
    yield from finger.scroll_to(name)
    yield finger.tap(name)


def new_note(finger: Finger, name: str) -> Plan:
    """An empty note is open after that."""
    stem, extension = posixpath.splitext(name)
    yield from finger.begin(APP)
    yield finger.tap(any_of(NEW))
    yield finger.write(stem, into="Name")
    if extension == ".txt":
        yield finger.tap("Plain text")
    elif not extension:
        yield Action("long_press", index=finger.fields("Extension")[0].index)
        yield finger.tap("Select all")
        yield Action("press_keyboard", keycode="KEYCODE_DEL")
    yield finger.tap(any_of(OK))


def editor(finger: Finger) -> Element:
    """The field of the note that is open."""
    return _with_id(finger.look(), EDITOR_ID)


def write_note(finger: Finger, text: str, *, clear: bool = False) -> Action:
    """Write at the end of the note that is open, or in the place of all that is there."""
    return Action("input_text", text=text, index=editor(finger).index, clear_text=True if clear else None)


def _write_before(finger: Finger, text: str) -> Action:
    """Touch the corner where the note begins, and write there."""
    left, top, _, _ = editor(finger).bounds
    return Action("input_text", text=text, x=left + 2, y=top + 50)


def _save_and_rename(finger: Finger, name: str, new_name: str) -> Plan:
    """A note is saved when it is left."""
    yield finger.tap("Navigate up")
    yield finger.hold(name)
    yield finger.tap(any_of(MORE))
    yield finger.tap(any_of(RENAME))
    yield finger.write(new_name, into=name, clear=True)
    yield finger.tap(any_of(OK))
    yield finger.done()


def _delete_selected(finger: Finger) -> Plan:
    if not finger.sees(any_of(DELETE)):
        yield finger.tap(any_of(MORE))
    yield finger.tap(any_of(DELETE))
    yield finger.tap(any_of(OK))
    yield finger.done()


def _first_note(finger: Finger) -> Element:
    return _with_id(finger.look(), "note_title")


def _with_id(elements: Iterable[Element], name: str) -> Element:
    found = next((each for each in elements if each.resource.endswith(f":id/{name}")), None)
    if found is None:
        raise NotOnScreen(f"Expected {name!r} on the screen, got {[each.line() for each in elements][:40]}.")
    return found


TASKS = (
    MarkorAddNoteHeader,
    MarkorChangeNoteContent,
    MarkorCreateFolder,
    MarkorCreateNote,
    MarkorCreateNoteAndSms,
    MarkorCreateNoteFromClipboard,
    MarkorDeleteAllNotes,
    MarkorDeleteNewestNote,
    MarkorDeleteNote,
    MarkorEditNote,
    MarkorMergeNotes,
    MarkorMoveNote,
    MarkorTranscribeReceipt,
)
