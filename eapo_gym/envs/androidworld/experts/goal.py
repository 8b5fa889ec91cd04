"""A goal in parts, each of them something that people do on phones: switch something, delete, create, send, tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from eapo_gym.envs.androidworld.experts.words import plain, says

APPS = {
    "pro expense": "Pro Expense",
    "broccoli": "Broccoli",
    "simple calendar pro": "Simple Calendar Pro",
    "simple sms messenger": "Simple SMS Messenger",
    "simple gallery": "Simple Gallery Pro",
    "audio recorder": "Audio Recorder",
    "markor": "Markor",
    "expense": "Pro Expense",
    "recipe": "Broccoli",
    "calendar": "Simple Calendar Pro",
    "sms": "Simple SMS Messenger",
    "gallery": "Simple Gallery Pro",
    "audio": "Audio Recorder",
    "contact": "Contacts",
    "contacts": "Contacts",
    "file": "Files",
    "files": "Files",
}
"""In which app something is likely to be found: names come before what they are about."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something to be done in one app."""

    kind: str
    app: str = ""
    what: str = ""
    """What it is about: "wifi", "stopwatch", the name of a file."""

    value: str = ""
    """How it should be: "on", "max", a text."""

    names: tuple[str, ...] = ()
    """The things to be deleted, or read."""

    fields: tuple[tuple[str, str], ...] = ()
    """What is to be entered, and where."""

    folder: str = ""
    """Where it is."""

    to: str = ""
    """Where it goes, or to whom."""

    day: str = ""
    time: str = ""
    until: str = ""
    minutes: int = 0
    repeat: str = ""
    save: bool = True


@lru_cache(maxsize=1024)
def read_goal(goal: str) -> tuple[Part, ...]:
    """What is to be done, one thing after the other; nothing where it is not understood.

    >>> [(part.kind, part.what, part.value) for part in read_goal("Turn off WiFi, then enable bluetooth")]
    [('switch', 'wifi', 'off'), ('switch', 'bluetooth', 'on')]
    """
    for reader in _READERS:
        parts = tuple(reader(goal.strip()))
        if parts:
            app = likely_app(goal)
            return tuple(part if part.app else replace(part, app=app) for part in parts)
    return ()


def likely_app(text: str) -> str:
    return next((app for word, app in APPS.items() if says(text, word)), "")


def with_rows(parts: tuple[Part, ...], read: str) -> tuple[Part, ...]:
    """The parts, once it has been read what is to be added."""
    if not read:
        return parts
    groups = (read_rows(read, part.app) if part.kind == "rows" else (part,) for part in parts)
    return tuple(part for group in groups for part in group)


# What a goal can look like


def _deleting(goal: str) -> Iterator[Part]:
    if not (re.match(r"(in .+?, )?delete\b", goal, re.IGNORECASE)):
        return
    day = re.search(r"(?:events (?:on|scheduled for)|event on) (?P<day>[\w-]+(?: [a-z]+day)?)", goal, re.IGNORECASE)
    title = re.search(r"title '(?P<title>.+)'", goal)
    if day:
        time = re.search(r" at (?P<time>\d+)h", goal)
        names = (title["title"],) if title else ()
        yield Part(
            "delete", day=day["day"], names=names, value="" if names else "all", time=time["time"] if time else ""
        )
    elif found := re.search(
        r"the file (?P<name>\S+) .*located in the (?P<folder>\w+) folder within the (?P<area>\w+)", goal
    ):
        yield Part("delete", app="Files", names=(found["name"],), folder=found["folder"], what=found["area"])
    elif found := re.search(r"\bnamed (?P<name>\S+?)\.?$", goal):
        yield Part("delete", names=(found["name"],))
    elif re.search(r"delete all but one .* duplicates", goal, re.IGNORECASE):
        yield Part("delete", value="duplicates")
    elif re.search(r"delete the newest", goal, re.IGNORECASE):
        yield Part("delete", value="newest")
    elif re.search(r"delete all", goal, re.IGNORECASE):
        yield Part("delete", value="all")
    elif found := re.search(r"following .+? from .+?: (?P<names>.+?)\.?$", goal, re.DOTALL):
        yield Part("delete", names=tuple(found["names"].split(", ")))


def _rows(goal: str) -> Iterator[Part]:
    first, _, rest = goal.partition("\n")
    if says(first, "add") and rest:
        yield from read_rows(rest)


def read_rows(text: str, app: str = "") -> Iterator[Part]:
    """What is to be added, as a table with a line of headings, or in blocks of lines with a name and a value each."""
    headings, *lines = text.strip().split("\n")
    if "|" in headings:
        for line in lines:
            values = line.split("|")
            if len(values) == len(headings.split("|")):
                yield Part("create", app=app, fields=tuple(zip(headings.split("|"), values, strict=True)))
        return
    for block in re.split(r"\n\s*\n", text.strip()):
        pairs = [line.strip().partition(": ") for line in block.split("\n")]
        if len(pairs) > 1 and all(name and value for name, _, value in pairs):
            others = tuple((name, value) for name, _, value in pairs[1:])
            yield Part("create", app=app, fields=(("name", pairs[0][2]), *others))


def matching_rows(text: str, which: str) -> str:
    """The rows of such a text that say this. A single word marks a row, and is none of what it says."""
    table = "|" in text.split("\n")[0]
    first, *rest = text.split("\n") if table else ["", *re.split(r"\n\s*\n", text)]
    found = [row for row in rest if says(row, which)]
    if which.isalpha():
        found = [re.sub(rf"[.,;]? *\(?\b{which}\b\)?\.?", "", row, flags=re.IGNORECASE) for row in found]
    return "\n".join((first, *found)) if table else "\n\n".join(found)


def _rows_of_a_note(goal: str) -> Iterator[Part]:
    """The table stands in a note, and all of its lines are to be added, or those that say something."""
    if found := re.match(
        r"Add the \w+ from (?P<name>\S+) in Markor (?:that take (?P<which>.+) to prepare )?"
        r"(?:in)?to the (?P<app>.+?) app",
        goal,
    ) or re.match(
        r"Go through the \w+ in (?P<name>\S+) in Markor\. Log the (?P<which>\w+) \w+ in the (?P<app>.+?)\.?$", goal
    ):
        yield Part("read note", app="Markor", what=found["name"], value=found["which"] or "")
        yield Part("rows", app=likely_app(found["app"]))


def _contact(goal: str) -> Iterator[Part]:
    if found := re.match(
        r"Create a new contact for (?P<first>\S+) (?P<last>.+)\. Their number is (?P<number>\S+?)\.?$", goal
    ):
        names = (("First name", found["first"]), ("Last name", found["last"]), ("Phone", found["number"]))
        yield Part("create", app="Contacts", what="contact", fields=names)
    elif found := re.search(r"new (?P<what>\w+) screen and enter the following details: (?P<details>.+?)\. ", goal):
        pairs = (pair.partition(": ") for pair in found["details"].split(", "))
        fields = tuple((name, value) for name, _, value in pairs)
        unsaved = re.search(r"not (hit|press|tap)? ?save", goal, re.IGNORECASE)
        yield Part("create", what=found["what"], fields=fields, save=unsaved is None)


def _event(goal: str) -> Iterator[Part]:
    if "calendar event" not in goal or not says(goal, "create"):
        return
    day = re.search(r"event (?:for |on )?(?P<day>(?:this )?[\w-]+(?: two weeks from today)?) at", goal) or re.search(
        r"starting on (?P<day>[\d-]+) at", goal
    )
    time = re.search(r" at (?P<time>\d+)h", goal)
    title = re.search(r"(?:title|titled) '(?P<title>.+?)'(?= and the description| starting)", goal)
    about = re.search(r"description (?:should be )?'(?P<about>.+?)'\.", goal)
    lasts = re.search(r"lasts? for (?P<minutes>\d+) min", goal)
    repeat = re.search(r"recurs (?P<repeat>\w+)", goal)
    if day and time and title and about:
        yield Part(
            "event",
            fields=(("Title", title["title"]), ("Description", about["about"])),
            day=day["day"],
            time=time["time"],
            minutes=int(lasts["minutes"]) if lasts else 0,
            repeat=repeat["repeat"] if repeat else "",
        )


def _note(goal: str) -> Iterator[Part]:
    if found := re.search(r"[Cc]reate a new folder in .+ named (?P<name>\S+?)\.?$", goal):
        yield Part("new file", what=found["name"], value="folder")
    elif found := re.match(
        r"Merge the contents of .*?notes (?P<names>.+) \(in .* note named (?P<to>\S+) and save", goal
    ):
        for name in re.split(r", | and ", found["names"]):
            yield Part("read note", app="Markor", what=name)
        yield Part("new file", app="Markor", what=found["to"])
        yield Part("write", app="Markor", what=found["to"], value="read")
    elif found := re.search(
        r"new note in \w+ named (?P<name>\S+) with the following text: (?P<text>.+?)\. Share .* number (?P<to>\+?\d+)",
        goal,
    ):
        yield Part("new file", app="Markor", what=found["name"])
        yield Part("write", app="Markor", what=found["name"], value=found["text"])
        yield Part("send", app="Simple SMS Messenger", to=found["to"], value=found["text"])
    elif found := re.search(
        r"new note in .+ named (?P<name>\S+) with the following text: (?P<text>.+)$", goal, re.DOTALL
    ):
        yield Part("new file", what=found["name"])
        yield Part("write", what=found["name"], value=found["text"])
    elif found := re.search(r"note in .+ named (?P<name>\S+)\. Perform a paste", goal):
        yield Part("new file", what=found["name"])
        yield Part("paste", what=found["name"])
    elif found := re.search(
        r"Update the content of (?P<name>\S+) to \"(?P<text>.+)\" in .* name to (?P<to>\S+?)\.?$", goal
    ):
        yield Part("write", what=found["name"], value=found["text"])
        yield Part("rename", what=found["name"], to=found["to"])
    elif found := re.search(
        r"Update the .+ note (?P<name>\S+) .*before .*\"(?P<text>.+)\", and rename it to (?P<to>\S+?)\.?$", goal
    ):
        yield Part("write", what=found["name"], value=found["text"] + "\n\n", time="top")
        yield Part("rename", what=found["name"], to=found["to"])
    elif found := re.match(
        r"Edit (?P<name>\S+) in \w+\. (?P<how>Replace the text with|Add to the \w+ of the note) (?P<text>.+)",
        goal,
        re.DOTALL,
    ):
        where = "top" if says(found["how"], "top") else "bottom" if says(found["how"], "bottom") else ""
        yield Part("write", what=found["name"], value=found["text"], time=where)
    elif found := re.search(
        r"move the (?:note|file) (?P<name>\S+) from (?P<folder>\w+)\b"
        r"(?: within the (?P<area>\w+))?.*? to (?:the )?(?P<to>\w+)",
        goal,
        re.IGNORECASE,
    ):
        yield Part("move", what=found["name"], folder=found["folder"], to=found["to"], value=found["area"] or "")
    elif found := re.search(r"copy (?P<name>\S+) in (?P<folder>\w+) and save a copy .* in (?P<to>\w+)", goal):
        yield Part("copy", what=found["name"], folder=found["folder"], to=found["to"])


def _message(goal: str) -> Iterator[Part]:
    app = "Simple SMS Messenger"
    if found := re.match(
        r"Send a text message using .+? to (?P<to>\+?\d+) with message: (?P<text>.+)", goal, re.DOTALL
    ):
        yield Part("send", app=app, to=found["to"], value=found["text"])
    elif found := re.match(r"Reply to (?P<to>.+?) with message: (?P<text>.+?)(?: in [\w ]+)?$", goal, re.DOTALL):
        recent = says(found["to"], "most recent")
        yield Part("reply", app=app, to="" if recent else found["to"], value=found["text"])
    elif found := re.match(r"Resend the message I just sent to (?P<to>.+?) in", goal):
        yield Part("read message", app=app, to=found["to"], value="mine")
        yield Part("reply", app=app, to=found["to"], value="read")
    elif found := re.match(r"Send a message to (?P<to>.+?) with the clipboard content", goal):
        yield Part("send", app=app, to=found["to"], value="paste")
    elif found := re.match(r"Text the (?P<what>.+?) to (?P<to>.+?) that (?P<source>.+?) just sent me", goal):
        yield Part("read message", app=app, to=found["source"], what=found["what"])
        yield Part("send", app=app, to=found["to"], value="read")


def _capturing(goal: str) -> Iterator[Part]:
    if found := re.match(r"(?:Take|Record|Shoot) (?:one|a) (?P<what>photo|picture|video)\b", goal):
        yield Part("capture", app="Camera", what=found["what"])
    elif re.match(r"Record an audio", goal):
        name = re.search(r'name "(?P<name>.+?)"', goal)
        yield Part("record", what="audio", value=name["name"] if name else "")


def _clock(goal: str) -> Iterator[Part]:
    if found := re.match(r"(?P<value>Run|Start|Pause|Stop) the stopwatch", goal):
        yield Part("stopwatch", app="Clock", value="run" if found["value"] in ("Run", "Start") else "pause")
    elif found := re.search(r"timer with (?P<h>\d+) hours?, (?P<m>\d+) minutes?,? and (?P<s>\d+) seconds?", goal):
        digits = f"{int(found['h']):02}{int(found['m']):02}{int(found['s']):02}"
        yield Part("timer", app="Clock", value=digits)


def _clipboard(goal: str) -> Iterator[Part]:
    if found := re.match(r"Copy the following text to the clipboard: (?P<text>.+)", goal, re.DOTALL):
        yield Part("clipboard", app="Clipper", value=found["text"])


_DAY = r"(?P<day>(?:the \w+day after next|(?:this )?\w+day|[A-Z][a-z]+ \d+(?: \d{4})?|today|tomorrow))"
_TIME = r"(?P<time>\d+(?::\d+)?(?:am|pm|h)?)"


def _asking(goal: str) -> Iterator[Part]:
    if found := re.search(r"location of my (?P<what>.+?) event", goal):
        yield Part("ask", what="location", names=(found["what"],))
    elif found := re.search(r"next meeting with (?P<what>.+?) in", goal):
        yield Part("ask", what="meeting", names=(found["what"],))
    elif re.search(r"next upcoming event", goal):
        yield Part("ask", what="next")
    elif re.search(r"in the next week", goal):
        yield Part("ask", what="week")
    elif found := re.search(rf"between {_TIME} and (?P<until>\S+) {_DAY}", goal):
        yield Part("ask", what="events", day=found["day"], time=found["time"], until=found["until"])
    elif found := re.search(rf"first event after {_TIME} {_DAY}", goal):
        yield Part("ask", what="first", day=found["day"], time=found["time"])
    elif found := re.search(rf"schedule for {_DAY} at {_TIME}", goal):
        yield Part("ask", what="events", day=found["day"], time=found["time"])
    elif found := re.search(rf"events? do I have {_DAY}|any events {_DAY.replace('day>', 'other>')}", goal):
        yield Part("ask", what="events", day=found["day"] or found["other"])


_ON = re.compile(
    r"(?:turn|switch) (?:(?P<value>on|off) (?P<what>[\w -]+)|(?P<thing>[\w -]+?) (?P<state>on|off))$", re.I
)
_ENABLE = re.compile(r"(?P<value>enable|disable) (?P<what>[\w -]+)$", re.IGNORECASE)
_SLIDE = re.compile(r"(?:turn|set) (?:the )?(?P<what>\w+) to (?:the |its )?(?P<value>max|min)", re.IGNORECASE)
_OPEN = re.compile(r"open the (?P<what>[\w ]+?) app", re.IGNORECASE)


def _simple(goal: str) -> Iterator[Part]:
    """Sentences such as "turn this on, then open that"."""
    for sentence in re.split(r",? then |\. |,? and (?=turn|enable|disable)", goal.strip().rstrip(".")):
        if found := _ON.match(sentence):
            what, value = found["what"] or found["thing"], found["value"] or found["state"]
            yield Part("switch", app="Settings", what=plain(what), value=value.lower())
        elif found := _ENABLE.match(sentence):
            value = "on" if found["value"].lower() == "enable" else "off"
            yield Part("switch", app="Settings", what=plain(found["what"]), value=value)
        elif found := _SLIDE.match(sentence):
            yield Part("slide", app="Settings", what=plain(found["what"]), value=found["value"].lower())
        elif found := _OPEN.match(sentence):
            yield Part("open", app=found["what"])


_READERS: tuple[Callable[[str], Iterator[Part]], ...] = (
    _rows,
    _rows_of_a_note,
    _deleting,
    _contact,
    _event,
    _note,
    _message,
    _capturing,
    _clock,
    _clipboard,
    _asking,
    _simple,
)
