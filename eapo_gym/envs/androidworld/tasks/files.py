"""Tasks about the files of the phone: to delete one, to move one."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from eapo_gym.envs.androidworld.phone.apps.files import DELETE, DRAWER, MORE, MOVE, MOVE_HERE, OK, PACKAGE, STORAGE
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, any_of
from eapo_gym.envs.androidworld.tasks.papers import clear_files, draw_letters, draw_name, draw_others, is_there, put

NAMES: Mapping[str, tuple[str, ...]] = {
    "Alarms": ("first_light.mp3", "rooster.mp3", "get_up_now.mp3", "soft_chimes.mp3", "sunday_late.mp3"),
    "Audiobooks": ("sea_voyage.mp3", "old_fairy_tales.mp3", "life_of_a_painter.mp3", "space_station.mp3"),
    "DCIM": ("lake_in_may.jpg", "grandma_80.jpg", "market_hall.jpg", "first_snow.jpg", "moving_day.jpg"),
    "Documents": ("rental_contract.pdf", "tax_form.pdf", "certificate.pdf", "user_manual.pdf", "floor_plan.pdf"),
    "Download": ("driver_update.exe", "timetable.pdf", "fonts.zip", "wallpaper.png", "trailer_hd.mp4"),
    "Movies": ("silent_classic.mp4", "train_heist.mp4", "ocean_life.mp4", "cartoon_bears.mp4", "village_play.mp4"),
    "Music": ("waltz_in_c.mp3", "garage_band.mp3", "harp_solo.mp3", "march.mp3", "summer_hit.mp3"),
    "Notifications": ("short_ping.mp3", "two_bells.mp3", "water_drop.mp3", "knock.mp3", "whistle.mp3"),
    "Pictures": ("cat_on_sofa.jpg", "balcony_tomatoes.jpg", "old_bridge.jpg", "fog.jpg", "team_photo.jpg"),
    "Podcasts": ("history_hour.mp3", "garden_chat.mp3", "code_and_coffee.mp3", "football_week.mp3"),
    "Recordings": ("voice_memo_car.mp3", "piano_lesson.mp3", "birdsong.mp3", "board_meeting.mp3"),
    "Ringtones": ("old_phone.mp3", "marimba_loop.mp3", "fanfare.mp3", "cuckoo.mp3", "rain_stick.mp3"),
}
"""Folders of the storage, with names of what one would find there."""


class FilesDeleteFile(Task):
    template = (
        "Delete the file {file_name} from the Android filesystem located in the {subfolder} folder within the"
        " sdk_gphone_x86_64 storage area."
    )
    complexity = 2.2
    difficulty = "medium"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        folder = dice.pick(tuple(NAMES))
        name = draw_name(dice) + posixpath.splitext(NAMES[folder][0])[1]
        return {
            "file_name": name,
            "subfolder": folder,
            "content": draw_letters(dice, 20),
            "others": draw_others(dice, name, NAMES[folder]),
        }

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_files(phone, SDCARD)
        contents = {params["file_name"]: params["content"], **params["others"]}
        put(phone, posixpath.join(SDCARD, params["subfolder"]), contents)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return float(not is_there(phone, posixpath.join(SDCARD, params["subfolder"]), params["file_name"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from open_folder(finger, params["subfolder"])
        yield from finger.scroll_to(params["file_name"])
        yield finger.hold(params["file_name"])
        yield finger.tap(any_of(DELETE))
        yield finger.tap(any_of(OK))
        yield finger.done()


class FilesMoveFile(Task):
    template = (
        "Move the file {file_name} from {source_folder} within the sdk_gphone_x86_64 storage area to the"
        " {destination_folder} within the same sdk_gphone_x86_64 storage area in the Android filesystem."
    )
    complexity = 2
    difficulty = "medium"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        source, destination = dice.sample(tuple(NAMES), 2)
        name = dice.pick(NAMES[destination])
        return {
            "file_name": name,
            "source_folder": source,
            "destination_folder": destination,
            "content": draw_letters(dice, 20),
            "others": draw_others(dice, name, NAMES[source]),
        }

    def prepare(self, phone: Phone, params: Params) -> None:
        prepare_move(phone, SDCARD, params)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return judge_move(phone, SDCARD, params)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from open_folder(finger, params["source_folder"])
        yield from finger.scroll_to(params["file_name"])
        yield finger.hold(params["file_name"])
        yield finger.tap(any_of(MORE))
        yield finger.tap(any_of(MOVE))
        yield finger.tap(STORAGE)
        yield from finger.scroll_to(params["destination_folder"])
        yield finger.tap(params["destination_folder"])
        yield finger.tap(any_of(MOVE_HERE))
        yield finger.done()


def prepare_move(phone: Phone, base: str, params: Params) -> None:
    """A file among others in one folder below `base`, and another folder that is to have it."""
    clear_files(phone, SDCARD)
    contents = {**params["others"], params["file_name"]: params["content"]}
    put(phone, posixpath.join(base, params["source_folder"]), contents)
    put(phone, posixpath.join(base, params["destination_folder"]), {})


def judge_move(phone: Phone, base: str, params: Params) -> float:
    source, destination = (posixpath.join(base, params[name]) for name in ("source_folder", "destination_folder"))
    name = params["file_name"]
    return float(is_there(phone, destination, name) and not is_there(phone, source, name))


def open_folder(finger: Finger, name: str) -> Plan:
    """A folder of the storage, in Files."""
    yield finger.open("Files")
    yield finger.tap(any_of(DRAWER))
    yield finger.tap(STORAGE)
    yield from finger.scroll_to(name)
    yield finger.tap(name)


TASKS = (FilesDeleteFile, FilesMoveFile)
