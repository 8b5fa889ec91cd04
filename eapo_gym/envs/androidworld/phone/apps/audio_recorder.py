"""Audio Recorder: records what the microphone hears, and keeps, plays, renames and deletes the recordings."""

from __future__ import annotations

import math
import posixpath
from dataclasses import dataclass, replace

from eapo_gym.envs.androidworld.phone.app import OVER, App, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.chooser import chooser, hand, to_send_file, to_view
from eapo_gym.envs.androidworld.phone.databases import Database
from eapo_gym.envs.androidworld.phone.file_kinds import changed, file_name, free_path, said_size, said_time, size_of
from eapo_gym.envs.androidworld.phone.files import SDCARD
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, set_preference, without_preferences
from eapo_gym.envs.androidworld.phone.recordings import container, seconds_of, wave
from eapo_gym.envs.androidworld.phone.state import State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    IMAGE_BUTTON,
    button,
    checkbox,
    column,
    dialog,
    field,
    icon,
    icon_button,
    item,
    menu,
    nothing_yet,
    page,
    radio,
    row,
    slider,
    space,
    switch_item,
    text,
)

PACKAGE = "com.dimowner.audiorecorder"
RECORDS = f"{SDCARD}/Android/data/{PACKAGE}/files/Music/records"
DOWNLOADS = f"{SDCARD}/Download"
DATABASE = f"/data/data/{PACKAGE}/databases/records.db"
DELETED = ".del"
"""At the end of the name of a file that is in the trash."""

ON, OFF = "on", "off"
RECORD = ("Record", "Start recording")
STOP = ("Stop recording", "Finish recording")
SAVE = ("Save", "OK", "Done")
"""What buttons are called, here and there."""

SAMPLES = 48
"""Of the wave that is drawn."""

_TABLE = """CREATE TABLE records (_id INTEGER PRIMARY KEY AUTOINCREMENT, record_name TEXT, duration LONG NOT NULL,
creation_date LONG NOT NULL, date_added LONG NOT NULL, date_removed LONG NOT NULL, path TEXT NOT NULL, format TEXT,
size LONG NOT NULL, sample_rate INTEGER NOT NULL, channel_count INTEGER NOT NULL, bitrate INTEGER NOT NULL,
bookmark INTEGER NOT NULL DEFAULT 0)"""

_CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "format": ("Recording format", ("M4a", "Wav", "3gp")),
    "sample_rate": ("Sample rate", ("44.1 kHz", "48 kHz", "32 kHz", "22 kHz", "16 kHz", "8 kHz")),
    "bitrate": ("Bitrate", ("128 kbps", "256 kbps", "192 kbps", "96 kbps", "48 kbps")),
    "channels": ("Channels", ("Stereo", "Mono")),
    "naming": ("Naming format", ("Record-1", "20231015-153400", "1697384040000")),
}
"""Title of a setting, and what it can be; the first is the usual one."""

_ORDERS = {"date": "By date", "date_up": "By date (oldest first)", "name": "By name", "longest": "By duration"}


@dataclass(frozen=True)
class Record:
    """A recording that is there."""

    path: str
    seconds: float
    made: float
    bookmarked: bool

    @property
    def name(self) -> str:
        return posixpath.splitext(posixpath.basename(self.path.removesuffix(DELETED)))[0]

    @property
    def format(self) -> str:
        return posixpath.splitext(self.path.removesuffix(DELETED))[1][1:]


def records(at: Scene, *, deleted: bool = False) -> list[Record]:
    """All recordings, the newest first; or those in the trash."""
    found = []
    names = at.files.names(RECORDS) if at.files.is_folder(RECORDS) else []
    marked = {row["path"] for row in at.rows(DATABASE, "records") if row["bookmark"]}
    for name in names:
        path = posixpath.join(RECORDS, name)
        if name.endswith(DELETED) == deleted and not at.files.is_folder(path):
            length = seconds_of(at.files.read(path))
            if length is not None:
                found.append(Record(path, length, changed(at.files, path), path in marked))
    return sorted(found, key=lambda record: (record.made, record.name), reverse=True)


# What is being recorded, and what is being played, is known as long as the app runs


def recorded_seconds(at: Scene) -> float | None:
    """How long the recording has gone on; None if there is none."""
    going = at.memory.get("recording")
    if going is None:
        return None
    since, before = going
    return float(before if since is None else before + at.state.now - since)


def _begin_recording(turn: Turn) -> None:
    turn.remember(playing=None, recording=(turn.state.now, 0.0))


def _pause_recording(turn: Turn) -> None:
    since, _ = turn.memory["recording"]
    turn.remember(recording=(None if since is not None else turn.state.now, recorded_seconds(turn)))


def _end_recording(turn: Turn) -> str:
    """Write the recording down; its path."""
    seconds = recorded_seconds(turn) or 0.0
    form = _set(turn, "format").lower()
    brands = {"m4a": "M4A ", "3gp": "3gp4"}
    path = free_path(turn.files, posixpath.join(RECORDS, f"{_next_name(turn)}.{form}"))
    turn.write(path, wave(seconds) if form == "wav" else container(seconds, brands[form]))
    turn.remember(recording=None)
    turn.insert(
        DATABASE, "records", record_name=posixpath.basename(path), duration=round(seconds * 1_000_000),
        creation_date=_ms(turn), date_added=_ms(turn), date_removed=0, path=path, format=form,
        size=size_of(turn.files, path), sample_rate=44_100, channel_count=2, bitrate=128_000,
    )  # fmt: skip
    number = int(preference(turn, PACKAGE, "counter", "1"))
    prefer(turn, PACKAGE, counter=str(number + 1))
    return path


def _next_name(at: Scene) -> str:
    naming = _set(at, "naming")
    if naming.startswith("Record"):
        return f"Record-{preference(at, PACKAGE, 'counter', '1')}"
    return f"{at.now:%Y%m%d-%H%M%S}" if "-" in naming else str(_ms(at))


def played(at: Scene) -> tuple[Record, float, bool] | None:
    """The recording that was chosen, how far it has been played, and whether it plays."""
    playing = at.memory.get("playing")
    if playing is None:
        return None
    path, since, before = playing
    record = next((each for each in records(at) if each.path == path), None)
    if record is None:
        return None
    position = before if since is None else before + at.state.now - since
    if position >= record.seconds and since is not None:
        return record, 0.0, False
    return record, min(position, record.seconds), since is not None


def _play(turn: Turn, path: str, position: float = 0.0, *, going: bool = True) -> None:
    turn.remember(playing=(path, turn.state.now if going else None, position))


def _rename(turn: Turn, path: str, written: str) -> str:
    """Give a recording another name; what is wrong with it, if it cannot be called so."""
    name = file_name(written)
    if not name:
        return "The name cannot be empty"
    target = posixpath.join(RECORDS, name + posixpath.splitext(path)[1])
    if len(posixpath.basename(target).encode()) > 255:
        return "The name is too long"
    if target == path:
        return ""
    if target in turn.files:
        return "A record with that name already exists"
    turn.change_files(lambda files, now: files.move(path, target, now))
    turn.update(DATABASE, "records", lambda row: row["path"] == path, path=target,
                record_name=posixpath.basename(target))  # fmt: skip
    if turn.memory.get("playing") and turn.memory["playing"][0] == path:
        turn.remember(playing=(target, *turn.memory["playing"][1:]))
    return ""


def _move_to_trash(turn: Turn, path: str) -> None:
    turn.change_files(lambda files, now: files.move(path, free_path(files, path + DELETED), now))
    turn.update(DATABASE, "records", lambda row: row["path"] == path, date_removed=_ms(turn))


def _restore(turn: Turn, path: str) -> None:
    target = free_path(turn.files, path.removesuffix(DELETED))
    turn.change_files(lambda files, now: files.move(path, target, now))
    turn.update(DATABASE, "records", lambda row: row["path"] == path.removesuffix(DELETED), date_removed=0, path=target)


def _set(at: Scene, name: str) -> str:
    return preference(at, PACKAGE, name, _CHOICES[name][1][0])


def _asks(at: Scene) -> bool:
    return preference(at, PACKAGE, "ask_name", ON) == ON


# Where one records


class Main(Screen):
    name = "com.dimowner.audiorecorder.app.main.MainActivity"

    def view(self, at: Scene) -> View:
        recorded = recorded_seconds(at)
        title = at.taste.choose("recorder title", "Audio Recorder", "Recorder", "New recording")
        frame = page(
            title, [_stage(at, recorded)], scrolls=False, below=[_controls(at, recorded)],
            actions=[] if recorded is not None else [icon_button("more", "More options", ("menu",))],
        )  # fmt: skip
        return replace(frame, children=(*frame.children, *_record_over(at), *_main_over(at)))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("record",):
                _begin_recording(turn)
            case ("pause_recording",):
                _pause_recording(turn)
            case ("stop",):
                _stop(turn)
            case ("discard",):
                turn.keep(**{OVER: ("discard",)})
            case ("really_discard",):
                turn.remember(recording=None)
                turn.drop(OVER)
            case ("saved",):
                _saved(turn)
            case ("do_not_ask",):
                turn.keep(do_not_ask=not turn.get("do_not_ask"))
            case ("menu",):
                turn.keep(**{OVER: ("menu",)})
            case ("go", screen):
                turn.drop(OVER)
                turn.open(screen)
            case _:
                _on_record(turn, event)

    def entered(self, turn: Turn, field: str) -> None:
        # The keyboard goes; the name is taken when one says so.
        turn.focus("")


class Records(Screen):
    name = "com.dimowner.audiorecorder.app.records.RecordsActivity"

    def view(self, at: Scene) -> View:
        only_marked, order = bool(at.get("marked")), str(at.get("order", "date"))
        found = [each for each in records(at) if each.bookmarked or not only_marked]
        keys = {
            "date_up": lambda each: (each.made, each.name),
            "name": lambda each: each.name.lower(),
            "longest": lambda each: -each.seconds,
        }
        if order in keys:
            found = sorted(found, key=keys[order])
        body = [_record_line(at, each) for each in found] or [
            nothing_yet("mic", "No bookmarks" if only_marked else "There are no records yet")
        ]
        player = played(at)
        actions = [
            icon_button("bookmark", "Bookmarks", ("marked",), color="primary" if only_marked else "text"),
            icon_button("sort", "Sort", ("sort",)),
            icon_button("more", "More options", ("menu",)),
        ]
        over = []
        if at.get(OVER) == ("sort",):
            over = [menu([(name, ("order", order)) for order, name in _ORDERS.items()], ("close",))]
        elif at.get(OVER) == ("menu",):
            over = [menu([("Trash", ("go", Trash.name)), ("Settings", ("go", Settings.name))], ("close",))]
        return page(
            at.taste.choose("recorder list", "Records", "My records", "All recordings"), body, up=("up",),
            under=_said_count(len(found)), actions=at.taste.order("recorder actions", actions),
            below=[_player(player)] if player else [], over=[*over, *_record_over(at)],
        )  # fmt: skip

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("marked",):
                turn.keep(marked=not turn.get("marked"))
            case ("sort" | "menu" as what,):
                turn.keep(**{OVER: (what,)})
            case ("order", order):
                turn.keep(order=order)
                turn.drop(OVER)
            case ("go", screen):
                turn.drop(OVER)
                turn.open(screen)
            case _:
                _on_record(turn, event)

    def entered(self, turn: Turn, field: str) -> None:
        turn.focus("")


def _said_count(count: int) -> str:
    return f"{count} record{'' if count == 1 else 's'}"


def _stage(at: Scene, recorded: float | None) -> View:
    """The wave and the time, of what is recorded or played."""
    player = played(at)
    if recorded is not None:
        name, seconds, share = _next_name(at), recorded, 1.0
        under = "Recording paused" if at.memory["recording"][0] is None else "Recording…"
    elif player is not None:
        name, seconds = player[0].name, player[1]
        share = seconds / player[0].seconds if player[0].seconds else 0.0
        under = _clock(player[0].seconds)
    else:
        name, seconds, share, under = "", 0.0, 0.0, "Press the button to record"
    title = text(name, along="center", lines=1, id="txt_name", pad=(24, 0, 24, 0))
    if player is not None and recorded is None:
        title = replace(title, tap=("rename", player[0].path))
    return column(
        space(grow=1),
        title,
        _wave(seconds if recorded is not None else (player[0].seconds if player else 0.0), share),
        text(_clock(seconds), size=52, along="center", id="txt_progress"),
        text(under, size=14, color="faint", along="center", id="txt_duration"),
        *([_play_buttons(player)] if player is not None and recorded is None else []),
        space(grow=1),
        grow=1, gap=16,
    )  # fmt: skip


def _wave(seconds: float, share: float) -> View:
    """Bars as high as it was loud; those that were played are coloured."""
    bars = []
    for place in range(SAMPLES):
        loud = abs(math.sin(place * 1.7 + seconds) * math.sin(place * 0.37)) if seconds else 0.0
        color = "primary" if place < share * SAMPLES else "line"
        bars.append(View(width=4, height=4 + round(96 * loud), across="center", look=Look(fill=color, round=2)))
    return row(*bars, gap=3, height=120, along="center", fill="card")


def _play_buttons(player: tuple[Record, float, bool]) -> View:
    record, position, plays = player
    toggle = ("pause", "Pause", ("pause",)) if plays else ("play", "Play", ("resume",))
    slide = slider("seek", position / record.seconds if record.seconds else 0.0, desc="Position", grow=1)
    buttons = [icon_button("undo", "Rewind", ("rewind",)), icon_button(*toggle), icon_button("stop", "Stop playing",
               ("end",)), icon_button("more", f"Options of {record.name}", ("options", record.path))]  # fmt: skip
    return column(row(slide, pad=(32, 0, 32, 0)), row(*buttons, along="center", gap=16), gap=4)


def _controls(at: Scene, recorded: float | None) -> View:
    """Seeds move the list and the settings; what one does to a recording stays beside it."""
    if recorded is None:
        settings = _side("settings", at.taste.choose("recorder gear", "Settings", "Preferences"), ("go", Settings.name))
        listed = _side("list", at.taste.choose("recorder records", "Records list", "All records"), ("go", Records.name))
        left, right = at.taste.choose("recorder sides", (settings, listed), (listed, settings))
        middle = _big("mic", at.taste.choose("recorder start", *RECORD), ("record",))
    else:
        left = _side("close", at.taste.choose("recorder discard", "Delete recording", "Discard"), ("discard",))
        right = _side("check", at.taste.choose("recorder stop", *STOP), ("stop",))
        paused = at.memory["recording"][0] is None
        middle = _big("mic" if paused else "pause", "Resume recording" if paused else "Pause recording",
                      ("pause_recording",))  # fmt: skip
    return row(left, space(grow=1), middle, space(grow=1), right, pad=(40, 16, 40, 32))


def _big(picture: str, desc: str, tap: Event) -> View:
    return View(kind=IMAGE_BUTTON, desc=desc, id="btn_record", tap=tap, width=80, height=80, across="center",
                look=Look(fill="#d32f2f", round=40, icon=picture, size=36, color="#ffffff"))  # fmt: skip


def _side(picture: str, desc: str, tap: Event) -> View:
    return View(kind=IMAGE_BUTTON, desc=desc, tap=tap, width=56, height=56, across="center",
                look=Look(fill="card", round=28, icon=picture, size=26, color="text"))  # fmt: skip


def _record_line(at: Scene, record: Record) -> View:
    player = played(at)
    chosen = player is not None and player[0].path == record.path
    plays = chosen and player is not None and player[2]
    under = f"{_clock(record.seconds)} · {said_time(record.made)} · {record.format}"
    end = row(
        *([icon("bookmark", size=20, color="primary", desc="Bookmarked")] if record.bookmarked else []),
        icon_button("more", f"Options of {record.name}", ("options", record.path)),
    )
    return item(
        record.name, under, tap=("play", record.path), hold=("options", record.path), selected=chosen, end=end,
        start=icon("pause" if plays else "play", color="primary"), id="list_item_name",
    )  # fmt: skip


def _player(player: tuple[Record, float, bool]) -> View:
    record, position, _ = player
    head = row(text(record.name, bold=True, lines=1, grow=1), text(f"{_clock(position)} / {_clock(record.seconds)}",
               size=14, color="faint"), pad=(20, 12, 20, 4), gap=8)  # fmt: skip
    return column(head, _play_buttons(player), fill="bar", pad=(0, 0, 0, 8))


def _main_over(at: Scene) -> list[View]:
    match at.get(OVER):
        case ("menu",):
            entries: list[tuple[str, Event]] = [
                ("Records", ("go", Records.name)), ("Trash", ("go", Trash.name)), ("Settings", ("go", Settings.name)),
            ]  # fmt: skip
            return [menu(at.taste.order("recorder menu", entries), ("close",))]
        case ("discard",):
            return [_question("Stop and delete the recording?", ("really_discard",), "Delete")]
        case ("save", _):
            ask = row(
                checkbox(bool(at.get("do_not_ask")), ("do_not_ask",), desc="Don't ask again"),
                text("Don't ask again", across="center"), tap=("do_not_ask",),
            )  # fmt: skip
            save = at.taste.choose("recorder save", *SAVE)
            title = at.taste.choose("recorder name", "Save record", "Name the record")
            return [dialog(title, [_name_field(at), ask], [button("Cancel", ("close",)), button(save, ("saved",))])]
    return []


def _name_field(at: Scene) -> View:
    written = field("name", str(at.get("name", "")), hint="Name", id="input_name", focused=bool(at.activity.focus))
    problem = at.get("problem")
    return column(written, *([text(problem, size=13, color="danger", pad=(0, 4, 0, 0))] if problem else []))


def _question(said: str, yes: Event, does: str) -> View:
    return dialog("", [text(said, size=18)], [button("Cancel", ("close",)), button(does, yes)], dismiss=("close",))


def _record_over(at: Scene) -> list[View]:
    """Menus and questions about one recording."""
    match at.get(OVER):
        case ("options", path):
            marked = any(each.path == path and each.bookmarked for each in records(at))
            entries: list[tuple[str, Event]] = [
                ("Share", ("share", path)),
                ("Information", ("information", path)),
                ("Rename", ("rename", path)),
                ("Open with", ("open_with", path)),
                ("Save to Downloads", ("download", path)),
                ("Remove bookmark" if marked else "Add bookmark", ("mark", path)),
                ("Delete", ("delete", path)),
            ]
            return [menu(at.taste.order("recorder options", entries), ("close",))]
        case ("rename", _):
            buttons = [button("Cancel", ("close",)), button("Save", ("renamed",))]
            return [dialog("Rename record", [_name_field(at)], buttons, dismiss=("close",))]
        case ("delete", path):
            name = posixpath.splitext(posixpath.basename(path))[0]
            return [_question(f"Delete the record “{name}”? It moves to the trash.", ("deleted", path), "Delete")]
        case ("information", path):
            return [_information(at, path)]
        case ("share", path):
            return [chooser(at, "Share", to_send_file(path), ("close",))]
        case ("open_with", path):
            return [chooser(at, "Open with", to_view(path), ("close",))]
    return []


def _information(at: Scene, path: str) -> View:
    record = next((each for each in records(at) if each.path == path), None)
    if record is None:
        return _question("The file is gone.", ("close",), "OK")
    facts = {
        "Name": record.name,
        "Format": record.format,
        "Duration": _clock(record.seconds),
        "Size": said_size(size_of(at.files, path)),
        "Created": said_time(record.made),
        "Location": path,
    }
    lines = [column(text(name, size=13, color="faint"), text(value, size=15), pad=(0, 4, 0, 4))
             for name, value in facts.items()]  # fmt: skip
    return dialog("Record information", lines, [button("OK", ("close",))], dismiss=("close",))


def _stop(turn: Turn) -> None:
    path = _end_recording(turn)
    _play(turn, path, going=False)
    if _asks(turn):
        turn.keep(**{OVER: ("save", path), "name": Record(path, 0, 0, False).name, "problem": "", "do_not_ask": False})
        turn.focus("name")
    else:
        turn.toast("Record saved")


def _saved(turn: Turn) -> None:
    _, path = turn.kept[OVER]
    problem = _rename(turn, path, str(turn.get("name", "")))
    if problem:
        turn.keep(problem=problem)
        return
    if turn.get("do_not_ask"):
        prefer(turn, PACKAGE, ask_name=OFF)
    turn.focus("")
    turn.drop(OVER, "name", "problem", "do_not_ask")


def _on_record(turn: Turn, event: Event) -> None:
    """What can be done with a recording, from the list and from where one records."""
    player = played(turn)
    match event:
        case ("close",):
            turn.focus("")
            turn.drop(OVER, "name", "problem")
        case ("play", path) if player is not None and player[0].path == path:
            _play(turn, path, player[1], going=not player[2])
        case ("play", path):
            _play(turn, path)
        case ("pause" | "resume" as does,) if player is not None:
            _play(turn, player[0].path, player[1], going=does == "resume")
        case ("rewind",) if player is not None:
            _play(turn, player[0].path, max(player[1] - 10, 0.0), going=player[2])
        case ("end",):
            turn.remember(playing=None)
        case ("seek", share) if player is not None:
            _play(turn, player[0].path, share * player[0].seconds, going=player[2])
        case ("options" | "delete" | "information" | "share" | "open_with" as what, path):
            turn.keep(**{OVER: (what, path)})
        case ("hand", package):
            what, path = turn.kept[OVER]
            turn.drop(OVER)
            hand(turn, to_send_file(path) if what == "share" else to_view(path), package)
        case ("rename", path):
            turn.keep(**{OVER: ("rename", path), "name": Record(path, 0, 0, False).name, "problem": ""})
            turn.focus("name")
        case ("renamed",):
            problem = _rename(turn, turn.kept[OVER][1], str(turn.get("name", "")))
            if problem:
                turn.keep(problem=problem)
            else:
                turn.focus("")
                turn.drop(OVER, "name", "problem")
        case ("deleted", path):
            turn.drop(OVER)
            _move_to_trash(turn, path)
            turn.toast("Moved to the trash")
        case ("mark", path):
            turn.drop(OVER)
            _mark(turn, path)
        case ("download", path):
            turn.drop(OVER)
            turn.change_files(lambda files, now: files.make_folder(DOWNLOADS, now))
            target = free_path(turn.files, posixpath.join(DOWNLOADS, posixpath.basename(path)))
            turn.change_files(lambda files, now: files.copy(path, target, now))
            turn.toast("Saved to Downloads")


def _mark(turn: Turn, path: str) -> None:
    known = [row for row in turn.rows(DATABASE, "records") if row["path"] == path]
    if known:
        marked = bool(known[0]["bookmark"])
        turn.update(DATABASE, "records", lambda row: row["path"] == path, bookmark=int(not marked))
        return
    turn.insert(
        DATABASE, "records", record_name=posixpath.basename(path), duration=0, creation_date=_ms(turn),
        date_added=_ms(turn), date_removed=0, path=path, format=posixpath.splitext(path)[1][1:], size=0,
        sample_rate=0, channel_count=0, bitrate=0, bookmark=1,
    )  # fmt: skip


class Trash(Screen):
    """What was deleted, until it is deleted for good."""

    name = "com.dimowner.audiorecorder.app.trash.TrashActivity"

    def view(self, at: Scene) -> View:
        found = records(at, deleted=True)
        body = [
            item(each.name, f"{_clock(each.seconds)} · {said_time(each.made)}", tap=("ask", each.path),
                 start=icon("delete"), id="list_item_name")
            for each in found
        ] or [nothing_yet("delete", "The trash is empty")]  # fmt: skip
        over = []
        match at.get(OVER):
            case ("ask", path):
                over = [menu([("Restore", ("restore", path)), ("Delete forever", ("forever", path))], ("close",))]
            case ("empty",):
                over = [_question("Delete all records in the trash forever?", ("really_empty",), "Delete")]
        actions = [button("Delete all", ("empty",))] if found else []
        return page("Trash", body, up=("up",), actions=actions, over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("ask", path):
                turn.keep(**{OVER: ("ask", path)})
            case ("empty",):
                turn.keep(**{OVER: ("empty",)})
            case ("close",):
                turn.drop(OVER)
            case ("restore", path):
                turn.drop(OVER)
                _restore(turn, path)
            case ("forever", path):
                turn.drop(OVER)
                self._delete(turn, path)
            case ("really_empty",):
                turn.drop(OVER)
                for each in records(turn, deleted=True):
                    self._delete(turn, each.path)

    @staticmethod
    def _delete(turn: Turn, path: str) -> None:
        turn.change_files(lambda files, now: files.remove(path, now))
        turn.delete(DATABASE, "records", lambda row: row["path"] == path.removesuffix(DELETED))


class Settings(Screen):
    name = "com.dimowner.audiorecorder.app.settings.SettingsActivity"

    def view(self, at: Scene) -> View:
        choices = [item(title, _set(at, name), tap=("ask", name)) for name, (title, _) in _CHOICES.items()]
        awake = preference(at, PACKAGE, "awake", OFF) == ON
        body = [
            switch_item("Ask for a name after recording", _asks(at), ("flip", "ask_name", ON)),
            switch_item("Keep the screen on", awake, ("flip", "awake", OFF)),
            *at.taste.order("recorder settings", choices),
            item("Trash", _said_count(len(records(at, deleted=True))), tap=("trash",), start=icon("delete")),
            item("Reset settings", tap=("reset",), start=icon("refresh")),
            text(f"Records: {len(records(at))}", size=14, color="faint", pad=(16, 16, 16, 4)),
            text(f"Total duration: {_clock(sum(each.seconds for each in records(at)))}", size=14, color="faint",
                 pad=(16, 0, 16, 16)),
        ]  # fmt: skip
        over = []
        if asked := at.get(OVER):
            title, options = _CHOICES[asked]
            lines = [radio(option, option == _set(at, asked), ("answer", option)) for option in options]
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
            case ("answer", option):
                set_preference(turn, PACKAGE, turn.kept[OVER], option)
                turn.drop(OVER)
            case ("flip", name, first):
                on = preference(turn, PACKAGE, name, first) == ON
                set_preference(turn, PACKAGE, name, OFF if on else ON)
            case ("trash",):
                turn.open(Trash.name)
            case ("reset",):
                for name, (_, options) in _CHOICES.items():
                    set_preference(turn, PACKAGE, name, options[0])
                prefer(turn, PACKAGE, ask_name=ON, awake=OFF)
                turn.toast("Settings were reset")


class AudioRecorder(App):
    package = PACKAGE
    label = "Audio Recorder"
    icon = "mic"
    colour = "#c62828"
    screens = (Main, Records, Trash, Settings)
    aliases = {"com.dimowner.audiorecorder.app.welcome.WelcomeActivity": Main.name}
    permissions = ("RECORD_AUDIO",)

    def install(self, state: State) -> State:
        files = state.files.make_folder(RECORDS, state.now).write(DATABASE, Database.make(_TABLE), state.now)
        return without_preferences(replace(state, files=files), PACKAGE)


def _clock(seconds: float) -> str:
    minutes, whole = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{whole:02d}" if hours else f"{minutes:02d}:{whole:02d}"


def _ms(at: Scene) -> int:
    return round(at.state.now * 1000)
