"""Tasks about recordings."""

from __future__ import annotations

from typing import Any

from eapo_gym.envs.androidworld.phone.apps.audio_recorder import PACKAGE, RECORD, RECORDS, SAVE, STOP
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, any_of
from eapo_gym.envs.androidworld.tasks.papers import clear_files, clear_folder, draw_changed, is_there

OCCASIONS = (
    "audition", "birthday_toast", "bookclub", "choir_practice", "committee", "dictation", "fieldwork", "hearing",
    "homework", "humming", "idea", "keynote", "lesson", "monologue", "oral_history", "panel", "podcast_draft",
    "rehearsal", "sermon", "shopping_list", "standup", "testimony", "tour", "travelogue", "tutorial",
)  # fmt: skip
"""What is worth being recorded."""

EXTENSION = ".m4a"


class AudioRecorderRecordAudio(Task):
    template = "Record an audio clip using Audio Recorder app and save it."
    complexity = 1.2
    difficulty = "easy"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {}

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        """One recording with something in it; in the beginning there is none."""
        files = phone.state.files
        paths = [f"{RECORDS}/{name}" for name in files.names(RECORDS)] if files.is_folder(RECORDS) else []
        recorded = [path for path in paths if not files.is_folder(path) and files.read(path)]
        return float(len(recorded) == 1)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _record(finger)
        yield finger.tap(any_of(SAVE), kind="Button")
        yield finger.done()


class AudioRecorderRecordAudioWithFileName(Task):
    template = 'Record an audio clip and save it with name "{file_name}" using Audio Recorder app.'
    complexity = 2
    difficulty = "easy"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"file_name": draw_changed(dice, dice.pick(OCCASIONS) + EXTENSION)}

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_files(phone, SDCARD)
        clear_folder(phone, RECORDS)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        # The app adds the extension to whatever name is written, even to one that has it.
        return float(is_there(phone, RECORDS, params["file_name"] + EXTENSION))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from _record(finger)
        yield finger.write(params["file_name"], clear=True)
        yield finger.tap(any_of(SAVE), kind="Button")
        yield finger.done()


def _record(finger: Finger) -> Plan:
    """A short recording, up to the question for its name."""
    yield from finger.begin("Audio Recorder")
    yield finger.tap(any_of(RECORD))
    yield finger.wait()
    yield finger.tap(any_of(STOP))


TASKS = (AudioRecorderRecordAudio, AudioRecorderRecordAudioWithFileName)
