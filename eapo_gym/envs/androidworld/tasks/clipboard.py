"""The task about the clipboard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eapo_gym.envs.androidworld.phone.apps.clipper import COPY_NAMES, PACKAGE
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger, any_of
from eapo_gym.envs.androidworld.tasks.rows import are_alike

BEFORE = "~~~RESET~~~"
CONTENTS = (
    "Gate code 4471, ring twice",
    "27 Willow Terrace, Dayton, OH",
    "marta.klein@example.org",
    "Oliver's Bike Repair",
    "Ring me at 555-0142",
    "Booking ref: K7QZ2M",
    "Table for: Ingrid",
    "Voucher: SPRING15",
    "Locker number: B-209",
    "Bill #40417",
    "Parcel no: 7731 0482 9915",
    "Payment ID: qx81rt",
    "810 Canyon Rd, Santa Fe, NM",
    "Northwind Labs, 4th floor",
    "theo.brandt@example.com",
    "Priya's Tea House",
    "Message me at 555-0177",
    "Purchase order: R20938",
    "Library card: 00-58214",
    "Wi-Fi guest key: maple-river-6",
    "Seat 14C, coach 8",
    "Case number: LX-3302",
)


class SystemCopyToClipboard(Task):
    template = "Copy the following text to the clipboard: {clipboard_content}"
    complexity = 1
    difficulty = "easy"
    apps = (PACKAGE,)

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {"clipboard_content": dice.pick(CONTENTS)}

    def prepare(self, phone: Phone, params: Params) -> None:
        phone.state = replace(phone.state, clipboard=BEFORE)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        # The benchmark reads the clipboard through a broadcast, which takes quotes and breaks off its ends.
        told = phone.state.clipboard.strip('"\r\n')
        return float(are_alike(params["clipboard_content"], told))

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield finger.open("Clipper")
        yield finger.write(params["clipboard_content"], into="Text to copy")
        if finger.sees(any_of(COPY_NAMES)):
            yield finger.tap(any_of(COPY_NAMES))
        yield finger.done()


TASKS = (SystemCopyToClipboard,)
