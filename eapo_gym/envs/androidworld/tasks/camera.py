"""Tasks about the camera."""

from __future__ import annotations

from typing import Any, ClassVar

from eapo_gym.envs.androidworld.phone.apps.camera import MODE_LIST, PACKAGE, PHOTO, PHOTOS, SHUTTER, VIDEO, VIDEOS
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.tasks.base import Params, Plan, Task, TaskDice
from eapo_gym.envs.androidworld.tasks.finger import Finger
from eapo_gym.envs.androidworld.tasks.papers import clear_folder


class _Camera(Task):
    """One file is to be there, where none was."""

    complexity = 1
    apps = (PACKAGE,)

    folder: ClassVar[str]
    mode: ClassVar[str]

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {}

    def prepare(self, phone: Phone, params: Params) -> None:
        clear_folder(phone, PHOTOS)
        clear_folder(phone, VIDEOS)

    def judge(self, phone: Phone, params: Params, answer: str) -> float:
        files = phone.state.files
        names = files.names(self.folder) if files.is_folder(self.folder) else []
        return float(sum(not name.startswith(".") for name in names) == 1)

    def plan(self, finger: Finger, params: Params) -> Plan:
        yield from finger.begin("Camera")
        if finger.sees(MODE_LIST):
            yield finger.tap(MODE_LIST)
        yield finger.tap(self.mode, number=-1)
        yield finger.tap(SHUTTER)
        if self.mode == VIDEO:
            yield finger.tap(SHUTTER)
        yield finger.done()


class CameraTakePhoto(_Camera):
    template = "Take one photo."
    difficulty = "easy"
    folder, mode = PHOTOS, PHOTO


class CameraTakeVideo(_Camera):
    template = "Take one video."
    difficulty = "medium"
    folder, mode = VIDEOS, VIDEO


TASKS = (CameraTakePhoto, CameraTakeVideo)
