"""Tasks about pictures."""

from __future__ import annotations

from typing import Any

from eapo_gym.envs.androidworld.phone.apps.folder_dialog import PICK
from eapo_gym.envs.androidworld.phone.apps.gallery import COPY, MORE, OTHER_FOLDER, PACKAGE
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, any_of
from eapo_gym.envs.androidworld.tasks.papers import (
    clear_files,
    draw_name,
    draw_receipt,
    is_there,
    put_picture,
    receipt_picture,
)

APP = "Simple Gallery Pro"
DCIM, DOWNLOAD = f"{SDCARD}/DCIM", f"{SDCARD}/Download"


class SaveCopyOfReceiptTaskEval(Task):
    template = "In Simple Gallery Pro, copy {file_name} in DCIM and save a copy with the same name in Download"
    complexity = 1.6
    difficulty = "hard"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"file_name": f"receipt_{draw_name(dice)}.jpg", "receipt": draw_receipt(dice, 1)}

    def adopted(self, theirs: Params) -> Params:
        return {"file_name": theirs["file_name"]}

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_files(phone, SDCARD)
        put_picture(phone, f"{DCIM}/{params['file_name']}", receipt_picture(params["receipt"], "JPEG"))

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        return float(is_there(phone, DOWNLOAD, params["file_name"]))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin(APP)
        yield finger.tap("DCIM")
        yield finger.hold(params["file_name"])
        yield finger.tap(any_of(MORE))
        yield finger.tap(any_of(COPY))
        yield finger.tap(any_of(OTHER_FOLDER))
        yield from finger.scroll_to("Download")
        yield finger.tap("Download")
        yield finger.tap(any_of(PICK))
        yield finger.done()


TASKS = (SaveCopyOfReceiptTaskEval,)
