"""Tasks about the media player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.base import HOME, Params, Step, TaskDice, Template, launched
from eapo_gym.envs.osworld.own.checks import Part, check, includes, rule
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.media import film
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

VIDEOS = f"{HOME}/Videos"
SETTINGS = f"{HOME}/.config/vlc/vlcrc"
CONFIG: Part = {"type": "vlc_config", "dest": "vlcrc"}


class VlcTask(Template):
    """Begins with the player open, and nothing in it."""

    domain: ClassVar[str] = "vlc"
    apps: ClassVar[tuple[str, ...]] = ("vlc",)
    ready = ("Media", "/menu.*/")

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return {
            "film": f"{dice.own(words.NOUNS)}_{dice.between(10, 99)}",
            "color": list(dice.pick(list(words.COLORS.values()))),
        }

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        red, green, blue = params["color"]
        return {f"{VIDEOS}/{params['film']}.avi": film((red, green, blue), 2)}

    def start(self, params: Params) -> Sequence[Step]:
        return launched("VLC media player", "vlc")


class VlcSwitch(VlcTask):
    """A box on a page of the simple preferences is to be off, or on."""

    page: ClassVar[str]
    box: ClassVar[str]
    other_box: ClassVar[str]
    """One that sounds alike, or stands beside."""

    def expected_line(self, params: Params) -> str:
        """What the file of settings then says."""
        raise NotImplementedError

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return includes(["cat", SETTINGS], [f"\n{self.expected_line(params)}\n"])

    def _switch(self, hands: Seeing, box: str, button: str = "Save") -> Plan:
        yield from preferences(hands, self.page)
        yield from hands.tap(box, "check-box")
        yield from hands.tap(button, "push-button")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._switch(hands, self.box)

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._switch(hands, self.other_box)


def preferences(hands: Seeing, page: str) -> Plan:
    """Open a page of the simple preferences."""
    yield hands.press("ctrl", "p")
    yield from hands.until("Save", "push-button")
    yield from hands.tap(page, "check-box")


class VlcTitleOff(VlcSwitch):
    wordings = (
        "VLC writes the title of a film over the picture when it starts. Turn that off for good.",
        "Stop VLC from showing the media title on video start, in its preferences.",
        "When I start a video, no title should be displayed over it. Change VLC's settings.",
    )
    page = "Subtitles / OSD"
    box = "/Show media title on video start/"
    other_box = "/Enable subtitles/"

    def expected_line(self, params: Params) -> str:
        return "video-title-show=0"


class VlcOneInstance(VlcSwitch):
    wordings = (
        "When I open a second file from the file manager, VLC takes it into the window that is open. "
        "I want a window for each: change the preferences.",
        "Let VLC use more than one instance when files are opened from the file manager.",
        "Turn off VLC's setting that only one instance is used when it is started from the file manager.",
    )
    page = "Interface"
    box = "/Use only one instance when started from file manager/"
    other_box = "/Allow only one instance/"

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = rule(expected_one_instance_when_started_from_file=0)
        return check("check_one_instance_when_started_from_file", CONFIG, wanted)


class VlcMinimalView(VlcSwitch):
    wordings = (
        "VLC should start in its minimal view, without menus and buttons. Set that in the preferences.",
        "Turn on the setting by which VLC starts with the minimal interface.",
        "From the next start on I want to see VLC in minimal view mode. Change its preferences.",
    )
    page = "Interface"
    box = "/Start in minimal view mode/"
    other_box = "/Resize interface to video size/"

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("check_qt_minimal_view", CONFIG, rule(expected_qt_minimal_view=1))


class VlcPauseMinimized(VlcSwitch):
    wordings = (
        "Let VLC pause whenever its window is minimized.",
        "When I minimize VLC the film should stop until I come back. There is a setting for it: turn it on.",
        "Turn on the pausing of playback when VLC is minimized, in the preferences.",
    )
    page = "Interface"
    box = "/Pause (the )?playback when minimized/"
    other_box = "/Show controls in full screen mode/"

    def expected_line(self, params: Params) -> str:
        return "qt-pause-minimized=1"


class VlcNoSound(VlcSwitch):
    wordings = (
        "Turn off the sound altogether in VLC's preferences (disable audio).",
        "VLC must never play any sound on this computer: disable audio in its settings.",
        "Disable audio output in the preferences of VLC.",
    )
    page = "Audio"
    box = "/Enable audio/"
    other_box = "/Normalize volume to.*|Always reset audio start level to.*/"

    def expected_line(self, params: Params) -> str:
        return "audio=0"


class VlcSnapshots(VlcTask):
    wordings = (
        "VLC's snapshots should go to {folder} and be called {prefix}… Set directory and prefix in the preferences.",
        "Change where VLC puts video snapshots: into {folder}, with the prefix {prefix}",
        'Set the snapshot directory of VLC to {folder}, and the prefix of the snapshots to "{prefix}".',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        folder = f"{HOME}/Pictures/{dice.own(words.FOLDERS)}"
        return super().draw(dice) | {"folder": folder, "prefix": f"{dice.own(words.NOUNS)}{dice.between(1, 99)}-"}

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {**super().uploads(params), f"{params['folder']}/about.txt": b"Pictures taken from films.\n"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        lines = (f"\nsnapshot-path={params['folder']}\n", f"\nsnapshot-prefix={params['prefix']}\n")
        return includes(["cat", SETTINGS], lines)

    def _set(self, hands: Seeing, folder: str, prefix: str) -> Plan:
        yield from preferences(hands, "Video")
        yield from hands.tap("/Directory.*/", "entry")
        yield from hands.refill(folder)
        yield from hands.tap("/Prefix.*/", "entry")
        yield from hands.refill(prefix)
        yield from hands.tap("Save", "push-button")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, params["folder"], params["prefix"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, f"{HOME}/Pictures", params["prefix"])


class VlcRecordFolder(VlcTask):
    wordings = (
        "Let VLC record into the folder {folder}. Set it in the preferences.",
        "Recordings made with VLC should land in {folder}: change the record directory.",
        "Set the record directory of VLC to {folder}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"folder": f"{VIDEOS}/{dice.own(words.FOLDERS)}"}

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {**super().uploads(params), f"{params['folder']}/about.txt": b"Recordings.\n"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("is_vlc_recordings_folder", CONFIG, rule(recording_file_path=params["folder"]))

    def _set(self, hands: Seeing, folder: str) -> Plan:
        yield from preferences(hands, "Input / Codecs")
        yield from hands.tap("/Record directory.*/", "entry")
        yield from hands.refill(folder)
        yield from hands.tap("Save", "push-button")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, params["folder"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, VIDEOS)


class VlcPlaylist(VlcTask):
    wordings = (
        "Make a playlist of the files {first}.avi and {second}.avi in {videos}, and save it as {target}.",
        "Put {first}.avi and {second}.avi (in {videos}) into VLC's playlist, then save the playlist to {target}.",
        "I need the playlist file {target} with the two films {first}.avi and {second}.avi from {videos}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        first, second, third = dice.some(words.NOUNS, 3)
        target = f"{VIDEOS}/{dice.own(words.CITIES).lower()}.m3u"
        return super().draw(dice) | {
            "first": first, "second": second, "third": third, "target": target, "videos": VIDEOS,
        }  # fmt: skip

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        names = (params["first"], params["second"], params["third"])
        red, green, blue = params["color"]
        return {f"{VIDEOS}/{name}.avi": film((red, green, blue), 1) for name in names}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        inside = [f"{params[name]}.avi" for name in ("first", "second")]
        return includes(["cat", params["target"]], ["#EXTM3U", *inside], [f"{params['third']}.avi"])

    def _save(self, hands: Seeing, params: Params, names: Sequence[str]) -> Plan:
        for name in names:
            yield hands.press("ctrl", "o")
            yield from hands.name_file(f"{VIDEOS}/{name}.avi")
            yield hands.wait()
        yield hands.press("ctrl", "y")
        yield from hands.name_file(params["target"])
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._save(hands, params, (params["first"], params["second"]))

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._save(hands, params, (params["first"],))


TEMPLATES = (
    VlcTitleOff, VlcOneInstance, VlcMinimalView, VlcPauseMinimized, VlcNoSound, VlcSnapshots, VlcRecordFolder,
    VlcPlaylist,
)  # fmt: skip
