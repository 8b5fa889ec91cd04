"""Camera: photos to Pictures, videos to Movies, and a look at what was taken."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from eapo_gym.envs.androidworld.phone.app import OVER, App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.camera_scene import photo, scene_at
from eapo_gym.envs.androidworld.phone.apps.chooser import chooser, hand, to_send_file, to_view
from eapo_gym.envs.androidworld.phone.file_kinds import changed, kind_of, said_size, said_time, size_of
from eapo_gym.envs.androidworld.phone.files import SDCARD, FileError
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, set_preference, without_preferences
from eapo_gym.envs.androidworld.phone.recordings import container, seconds_of
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    FRAME,
    IMAGE_BUTTON,
    LINEAR,
    button,
    column,
    dialog,
    icon,
    icon_button,
    item,
    page,
    radio,
    row,
    snackbar,
    space,
    switch_item,
    text,
)

PACKAGE = "com.android.camera2"
PHOTOS, VIDEOS = f"{SDCARD}/Pictures", f"{SDCARD}/Movies"
ALBUM = f"{SDCARD}/DCIM/Camera"
"""Where other cameras put their photos; they are shown too."""

PHOTO, VIDEO = "Camera", "Video"
MODE_LIST, SHUTTER = "Mode list", "Shutter"
_MODES = {PHOTO: "camera", VIDEO: "video"}
_WHITE, _BLACK = "#ffffff", "#000000"

_TIMERS = ("off", "3", "10")
_FLASHES = ("auto", "on", "off")
_CHOICES = {
    "picture_size": ("Back camera photo", ("(4:3) 8.0 megapixels", "(4:3) 5.0 megapixels", "(16:9) 2.1 megapixels")),
    "selfie_size": ("Front camera photo", ("(4:3) 5.0 megapixels", "(4:3) 2.0 megapixels")),
    "video_quality": ("Back camera video", ("HD 1080p", "HD 720p", "SD 480p")),
}
"""Title of a setting and what it can be; the first is the usual one."""


class Finder(Screen):
    """The viewfinder, and to the right of it what was taken before."""

    name = "com.android.camera.CameraLauncher"

    def view(self, at: Scene) -> View:
        taken = media(at)
        shown = at.get("shown")
        if shown is not None and taken:
            return _filmstrip(at, taken, min(shown, len(taken) - 1))
        layers = [_finder(at, taken)]
        if at.get(OVER) == "modes":
            layers.append(_mode_list(at))
        return View(kind=FRAME, flow="stack", children=tuple(layers))

    def on(self, turn: Turn, event: Event) -> None:
        if "undo" in turn.kept and event != ("undo",):
            turn.drop("undo")
        match event:
            case ("shutter",):
                _shutter(turn)
            case ("modes",):
                turn.keep(**{OVER: "modes"})
            case ("close",):
                turn.drop(OVER)
            case ("mode", mode):
                turn.drop(OVER, "due")
                turn.keep(mode=mode)
            case ("options",):
                turn.keep(options=not turn.get("options"))
            case ("next", name, *choices):
                place = choices.index(_option(turn, name, choices[0])) + 1
                set_preference(turn, PACKAGE, name, choices[place % len(choices)])
            case ("settings",):
                turn.drop(OVER)
                turn.open(Settings.name)
            case ("swipe", "left") if not turn.get("recording"):
                _show(turn, (-1 if turn.get("shown") is None else turn.get("shown")) + 1)
            case ("swipe", "right") if turn.get("shown") is not None:
                _show(turn, turn.get("shown") - 1)
            case ("swipe", "right") if not turn.get("recording"):
                turn.keep(**{OVER: "modes"})
            case ("show", place):
                _show(turn, place)
            case _:
                _on_filmstrip(turn, event)

    def left(self, turn: Turn) -> None:
        """A video ends when the camera is left."""
        if turn.get("recording"):
            _end_video(turn)
        turn.drop("due")

    def back(self, turn: Turn) -> None:
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.get("recording"):
            _end_video(turn)
        elif turn.get("shown") is not None:
            turn.drop("shown", "undo")
        else:
            turn.close()


def media(at: Scene) -> list[str]:
    """The paths of all photos and videos, the newest first."""
    found = []
    for folder in (PHOTOS, VIDEOS, ALBUM):
        if at.files.is_folder(folder):
            paths = [posixpath.join(folder, name) for name in at.files.names(folder)]
            found += [path for path in paths if kind_of(path).partition("/")[0] in ("image", "video")]
    return sorted(found, key=lambda path: (changed(at.files, path), path), reverse=True)


def _mode(at: Scene) -> str:
    return str(at.get("mode", PHOTO))


def _option(at: Scene, name: str, first: str) -> str:
    return preference(at, PACKAGE, name, first)


def _is_front(at: Scene) -> bool:
    return _option(at, "lens", "back") == "front"


# The viewfinder


def _finder(at: Scene, taken: list[str]) -> View:
    recording = at.get("recording")
    seen = photo(scene_at(at.state.now), front=_is_front(at), grid=_option(at, "grid", "off") == "on")
    layers = [View(kind="android.view.TextureView", id="preview_content", desc="", look=Look(pixels=seen))]
    if recording is not None:
        time = text(_clock(at.state.now - recording), color=_WHITE, size=16, across="center", id="recording_time")
        sign = View(width=12, height=12, across="center", look=Look(fill="#e53935", round=6))
        layers.append(column(row(sign, time, gap=8, along="center", pad=(0, 16, 0, 0))))
    if (due := at.get("due")) is not None:
        left = max(1, round(due - at.state.now))
        layers.append(text(str(left), color=_WHITE, size=96, along="center", across="center", id="countdown"))
    return column(
        _top(at, recording is not None),
        *([_options(at)] if at.get("options") and recording is None else []),
        View(flow="stack", grow=1, children=tuple(layers)),
        *([_mode_strip(at)] if _has_strip(at) and recording is None else []),
        _controls(at, taken, recording is not None),
        fill=_BLACK,
    )


def _has_strip(at: Scene) -> bool:
    """Some cameras show their modes in a line, others in a list behind a button."""
    return bool(at.taste.choose("camera modes", False, True))


def _top(at: Scene, recording: bool) -> View:
    if recording:
        return space(height=56)
    options = icon_button(
        "more", at.taste.choose("camera options", "Options", "Mode options"), ("options",), color=_WHITE
    )
    modes = icon_button("menu", MODE_LIST, ("modes",), color=_WHITE)
    gear = icon_button("settings", "Settings", ("settings",), color=_WHITE)
    start = gear if _has_strip(at) else modes
    name = text(_mode(at), color=_WHITE, size=16, along="center", across="center", grow=1, id="mode_name")
    return row(start, name, options, height=56, pad=(4, 0, 4, 0))


def _options(at: Scene) -> View:
    front = _is_front(at)
    flash, timer = _option(at, "flash", _FLASHES[0]), _option(at, "timer", _TIMERS[0])
    lines: list[tuple[str, str, Event]] = [
        ("refresh", f"{'Front' if front else 'Back'} camera", ("next", "lens", "back", "front")),
        ("timer", "Countdown timer is off" if timer == "off" else f"Countdown timer is {timer} seconds",
         ("next", "timer", *_TIMERS)),
        ("apps", f"Grid lines {_option(at, 'grid', 'off')}", ("next", "grid", "off", "on")),
        ("star", f"HDR {_option(at, 'hdr', 'off')}", ("next", "hdr", "off", "on")),
        ("brightness", f"Flash {flash}", ("next", "flash", *_FLASHES)),
    ]  # fmt: skip
    lines = at.taste.order("camera options", lines)
    return row(*(icon_button(picture, desc, tap, color=_WHITE) for picture, desc, tap in lines), along="center", gap=20)


def _controls(at: Scene, taken: list[str], recording: bool) -> View:
    thumb = _thumbnail(at, taken) if taken and not recording else space(width=56)
    video = _mode(at) == VIDEO
    fill = "#e53935" if video else _WHITE
    shape = Look(fill=fill, round=36, icon="stop" if recording else "video" if video else "camera", size=30,
                 color=_WHITE if video else _BLACK)  # fmt: skip
    shutter = View(kind=IMAGE_BUTTON, desc=SHUTTER, id="shutter_button", tap=("shutter",), width=72, height=72,
                   across="center", look=shape)  # fmt: skip
    flip = icon_button("refresh", "Switch camera", ("next", "lens", "back", "front"), color=_WHITE)
    end = space(width=56) if recording else replace(flip, width=56)
    sides = at.taste.choose("camera sides", (thumb, end), (end, thumb))
    return row(sides[0], space(grow=1), shutter, space(grow=1), sides[1], height=128, pad=(32, 0, 32, 0))


def _thumbnail(at: Scene, taken: list[str]) -> View:
    desc = at.taste.choose("camera thumbnail", "Most recent photo", "Open filmstrip", "Last capture")
    look = Look(fill="#444444", border=_WHITE, round=28)
    pixels = _pixels(at, taken[0])
    inside = (View(width=40, height=40, across="center", look=Look(pixels=pixels)) if pixels
              else icon("video", color=_WHITE))  # fmt: skip
    return View(kind=IMAGE_BUTTON, desc=desc, id="rounded_thumbnail_view", tap=("show", 0), width=56, height=56,
                across="center", flow="stack", look=look, children=(replace(inside, across="center"),))  # fmt: skip


def _mode_list(at: Scene) -> View:
    names = at.taste.order("camera modes", list(_MODES))
    lines = [_mode_line(_MODES[name], name, ("mode", name)) for name in names]
    lines.append(_mode_line("settings", "Settings", ("settings",)))
    panel = column(*lines, fill="#202124", along="center", tap=("nothing",), gap=8, pad=(8, 8, 8, 8))
    return View(tap=("close",), flow="stack", look=Look(fill="shade"), children=(replace(panel, width=260,
                across="fill"),))  # fmt: skip


def _mode_line(picture: str, name: str, tap: Event) -> View:
    words = text(name, color=_WHITE, size=18, across="center", id="selector_text")
    return View(kind=LINEAR, flow="row", tap=tap, height=64, gap=20, pad=(20, 0, 16, 0),
                children=(icon(picture, color=_WHITE), words))  # fmt: skip


def _mode_strip(at: Scene) -> View:
    names = at.taste.order("camera modes", list(_MODES))
    lines = [
        replace(text(name, color=_WHITE if name != _mode(at) else "#8ab4f8", bold=name == _mode(at), along="center",
                     tap=("mode", name)), width=112, height=48, selected=name == _mode(at))
        for name in names
    ]  # fmt: skip
    return row(*lines, along="center")


def _shutter(turn: Turn) -> None:
    if turn.get("recording") is not None:
        _end_video(turn)
    elif _mode(turn) == VIDEO:
        turn.keep(recording=turn.state.now)
    elif turn.get("due") is not None:
        turn.drop("due")
    elif (seconds := _option(turn, "timer", _TIMERS[0])) != "off":
        turn.keep(due=turn.state.now + int(seconds))
    else:
        _take_photo(turn)


def _take_photo(turn: Turn) -> None:
    turn.write(_new_path(turn, PHOTOS, "IMG", "jpg"), photo(scene_at(turn.state.now), front=_is_front(turn)))


def _end_video(turn: Turn) -> None:
    began = turn.kept["recording"]
    turn.drop("recording")
    turn.write(_new_path(turn, VIDEOS, "VID", "mp4"), container(turn.state.now - began, "mp42"))


def _new_path(at: Scene, folder: str, head: str, extension: str) -> str:
    """Named after the time; what was taken within the same second gets a number."""
    stem = f"{folder}/{head}_{at.now:%Y%m%d_%H%M%S}"
    number, path = 0, f"{stem}.{extension}"
    while path in at.files:
        number += 1
        path = f"{stem}_{number}.{extension}"
    return path


# What was taken


def _show(turn: Turn, place: int) -> None:
    taken = media(turn)
    if place < 0 or not taken:
        turn.drop("shown")
    else:
        turn.keep(shown=min(place, len(taken) - 1))


def _filmstrip(at: Scene, taken: list[str], place: int) -> View:
    path = taken[place]
    pixels = _pixels(at, path)
    if pixels:
        picture = View(kind="android.widget.ImageView", desc=f"Photo taken {_taken(at, path)}", grow=1,
                       look=Look(pixels=pixels))  # fmt: skip
    else:
        look = Look(fill="#444444", round=36, icon="play", size=36, color=_WHITE)
        play = View(
            kind=IMAGE_BUTTON, desc="Play video", id="play_button", tap=("play",), width=72, height=72, across="center",
            look=look,
        )  # fmt: skip
        length = seconds_of(at.files.read(path))
        under = text(_clock(length) if length is not None else "Video", color=_WHITE, along="center")
        picture = column(play, under, grow=1, along="center", gap=12, desc=f"Video taken {_taken(at, path)}")
    top = row(
        icon_button("back", "Back to camera", ("leave",), color=_WHITE),
        text(posixpath.basename(path), color=_WHITE, size=15, grow=1, across="center", lines=1, id="title"),
        icon_button("info", "Details", ("details",), color=_WHITE),
        height=56, pad=(4, 0, 4, 0),
    )  # fmt: skip
    names = [("share", "Share", ("share",)), ("delete", "Delete", ("delete",))]
    bottom = row(*(icon_button(picture_name, desc, tap, color=_WHITE) for picture_name, desc, tap in names),
                 along="center", gap=72, height=72)  # fmt: skip
    undo = [snackbar("Deleted", "Undo", ("undo",))] if "undo" in at.kept else []
    layers = [column(top, picture, *undo, bottom, fill=_BLACK)]
    if at.get(OVER) == "details":
        layers.append(_details(at, path))
    elif at.get(OVER) == "share":
        layers.append(chooser(at, "Share", to_send_file(path), ("close",)))
    elif at.get(OVER) == "play":
        layers.append(chooser(at, "Open with", to_view(path), ("close",)))
    return View(kind=FRAME, flow="stack", children=tuple(layers))


def _pixels(at: Scene, path: str) -> bytes:
    """The file, if it is a picture that can be shown."""
    content = at.files.read(path)
    is_picture = content[:3] == b"\xff\xd8\xff" or content[:8] == b"\x89PNG\r\n\x1a\n"
    return content if is_picture else b""


def _details(at: Scene, path: str) -> View:
    facts = {
        "Title": posixpath.basename(path),
        "Time": _taken(at, path),
        "File size": said_size(size_of(at.files, path)),
        "Path": path,
    }
    lines = [column(text(name, size=13, color="faint"), text(value, size=15), pad=(0, 4, 0, 4))
             for name, value in facts.items()]  # fmt: skip
    return dialog("Details", lines, [button("Close", ("close",))], dismiss=("close",))


def _taken(at: Scene, path: str) -> str:
    return said_time(changed(at.files, path))


def _on_filmstrip(turn: Turn, event: Event) -> None:
    taken = media(turn)
    shown = turn.get("shown")
    path = taken[min(shown, len(taken) - 1)] if taken and shown is not None else ""
    match event:
        case ("leave",):
            turn.drop("shown", "undo")
        case ("details" | "share" | "play" as what,):
            turn.keep(**{OVER: what})
        case ("hand", package):
            over = turn.get(OVER)
            turn.drop(OVER)
            hand(turn, to_view(path) if over == "play" else to_send_file(path), package)
        case ("delete",) if path:
            turn.keep(undo=(path, turn.files.read(path)))
            turn.change_files(lambda files, now: files.remove(path, now))
            if len(taken) == 1:
                turn.drop("shown")
        case ("undo",) if "undo" in turn.kept:
            gone, content = turn.kept["undo"]
            turn.write(gone, content)
            turn.drop("undo")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes:02d}:{seconds:02d}"


class Settings(Screen):
    name = "com.android.camera.settings.CameraSettingsActivity"

    def view(self, at: Scene) -> View:
        body = [
            text("Resolution & quality", size=14, color="primary", pad=(16, 12, 16, 0)),
            *(
                item(title, _option(at, name, choices[0]), tap=("ask", name))
                for name, (title, choices) in _CHOICES.items()
            ),
            text("General", size=14, color="primary", pad=(16, 12, 16, 0)),
            switch_item("Save location", _option(at, "location", "off") == "on", ("flip", "location")),
            switch_item("Grid lines", _option(at, "grid", "off") == "on", ("flip", "grid")),
        ]
        over = []
        if asked := at.get(OVER):
            title, choices = _CHOICES[asked]
            chosen = _option(at, asked, choices[0])
            lines = [radio(choice, choice == chosen, ("answer", choice)) for choice in choices]
            over = [dialog(title, lines, [button("Cancel", ("close",))], dismiss=("close",))]
        return page("Settings", body, up=("up",), over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("ask", name):
                turn.keep(**{OVER: name})
            case ("close",):
                turn.drop(OVER)
            case ("answer", choice):
                set_preference(turn, PACKAGE, turn.kept[OVER], choice)
                turn.drop(OVER)
            case ("flip", "location"):
                prefer(turn, PACKAGE, location="off" if _option(turn, "location", "off") == "on" else "on")
            case ("flip", "grid"):
                prefer(turn, PACKAGE, grid="off" if _option(turn, "grid", "off") == "on" else "on")


class Camera(App):
    package = PACKAGE
    label = "Camera"
    icon = "camera"
    colour = "#455a64"
    screens = (Finder, Settings)
    aliases = {"com.android.camera.CameraActivity": Finder.name}
    permissions = ("CAMERA", "RECORD_AUDIO")

    def install(self, state: State) -> State:
        files = state.files
        for folder in (PHOTOS, VIDEOS):
            files = files.make_folder(folder, state.now)
        return without_preferences(replace(state, files=files), PACKAGE)

    def tick(self, turn: Turn, before: float) -> None:
        """The countdown of the self-timer ends."""
        front = turn.state.front
        if front.package == PACKAGE and front.kept.get("due", turn.state.now + 1) <= turn.state.now:
            turn.activity = front
            turn.drop("due")
            try:
                _take_photo(turn)
            except FileError as problem:
                turn.toast(str(problem))

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        modes = {
            "android.media.action.STILL_IMAGE_CAMERA": PHOTO,
            "android.media.action.IMAGE_CAPTURE": PHOTO,
            "android.media.action.VIDEO_CAMERA": VIDEO,
            "android.media.action.VIDEO_CAPTURE": VIDEO,
        }
        if intent.action in modes:
            return Activity(PACKAGE, Finder.name, {"mode": modes[intent.action]})
        return None
