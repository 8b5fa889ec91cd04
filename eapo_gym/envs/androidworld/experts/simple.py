"""Things that take a few touches: switches, sliders, the clock, the camera, the recorder."""

from __future__ import annotations

import re

from eapo_gym.envs.androidworld.experts.screen import Item, Screen
from eapo_gym.envs.androidworld.experts.visit import Decision, Visit
from eapo_gym.envs.androidworld.experts.words import RECORD, SAVE, STOP, fit, plain, says

_NEAR = {
    "wifi": ("wifi", "internet", "network internet", "network", "connections", "wireless"),
    "bluetooth": ("bluetooth", "connection preferences", "connected devices", "connections", "devices"),
    "brightness": ("brightness level", "brightness", "display", "screen"),
}
"""Under what phones have it, the closest first."""

_SHOWN_IN_BAR = ("wifi", "bluetooth")


def switch(visit: Visit) -> Decision | None:
    what, value = visit.part.what, visit.part.value
    if what in _SHOWN_IN_BAR and visit.screen.in_bar(what) == (value == "on"):
        return None
    found = _switch_of(visit.screen, what)
    if found is not None and found.switch == value:
        return None
    if (way := visit.enter()) is not None:
        return way
    if found is not None:
        return visit.tap(found, f"Here {what} is switched: it is {found.switch}, and should be {value}.")
    return visit.seek(f"the switch for {what}", _NEAR.get(what, (what,)), wander=True)


def _switch_of(screen: Screen, what: str) -> Item | None:
    """The switch that stands beside these words."""
    best, most, label = None, 0, ""
    for item in screen.items:
        if item.switch:
            score = fit(item.said or label, (what, f"use {what}"))
            best, most = (item, score) if score > most else (best, most)
        elif item.text:
            label = item.text
    return best


def slide(visit: Visit) -> Decision | None:
    what, value = visit.part.what, visit.part.value
    if visit.notes.last.startswith("drag"):
        return None
    if (way := visit.enter()) is not None:
        return way
    for item in visit.screen.items:
        if item.kind == "SeekBar" and says(item.desc, what):
            return visit.drag(item, "left" if value == "max" else "right", f"I draw the slider to its {value}.")
    return visit.seek(f"the slider for {what}", _NEAR.get(what, (what,)), wander=True)


def open_app(visit: Visit) -> Decision | None:
    return visit.enter()


def stopwatch(visit: Visit) -> Decision | None:
    if (way := visit.enter() or _tab(visit, "stopwatch")) is not None:
        return way
    runs = visit.screen.find(("pause", "stop"))
    if (runs is not None) == (visit.part.value == "run"):
        return None
    button = runs or visit.screen.find(("start", "resume", "play"))
    if button is None:
        return visit.seek("the button to start", ("start", "play"))
    return visit.tap(button, f"The stopwatch should {visit.part.value}.")


def timer(visit: Visit) -> Decision | None:
    if (way := visit.enter() or _tab(visit, "timer")) is not None:
        return way
    shown = next((item.text for item in visit.screen.items if re.fullmatch(r"\d+h \d+m \d+s", item.text)), None)
    if shown is None:
        return visit.seek("the keys to enter a time", ("add timer", "new timer", "add"))
    wanted, entered = visit.part.value.lstrip("0"), re.sub(r"\D", "", shown).lstrip("0")
    if entered == wanted:
        return None
    if not wanted.startswith(entered):
        button = visit.screen.find(("delete", "backspace", "clear"))
        return visit.tap(button, "A wrong digit was entered.") if button else visit.back("This is not right.")
    key = visit.screen.find((wanted[len(entered)],), kind="Button")
    return visit.tap(key, f"The next digit is {key.said}.") if key else visit.seek("the digits", ("keypad",))


def _tab(visit: Visit, name: str) -> Decision | None:
    """Go to that part of the app."""
    if plain(visit.screen.title) == name:
        return None
    tab = visit.screen.find((name,))
    if tab is None:
        return visit.seek(f"the {name}", (name,))
    return None if "selected" in tab.states else visit.tap(tab, f"I go to the {name}.")


_MODES = {"photo": ("camera", "photo"), "picture": ("camera", "photo"), "video": ("video", "camcorder")}
_MODE_MENUS = ("mode list", "modes", "mode", "switch mode")


def capture(visit: Visit) -> Decision | None:
    if visit.knows("captured"):
        return None
    if (way := visit.enter()) is not None:
        return way
    modes, shutter = (
        _MODES[visit.part.what],
        visit.screen.find(("shutter", "take photo", "record", "start recording", "stop recording")),
    )
    if visit.knows("recording") and shutter is not None:
        visit.note("captured")
        return visit.tap(shutter, "That is long enough: I end the video.")
    chosen = [item for item in visit.screen.items if "selected" in item.states]
    mode = plain(chosen[0].said if chosen else visit.screen.title)
    if shutter is None or mode not in modes:
        way = visit.press(modes, f"I want to take a {visit.part.what}.")
        if way is not None and mode not in modes and not visit.tried(way.what):
            return way
        return visit.seek(f"the mode for a {visit.part.what}", (*modes, *_MODE_MENUS))
    visit.note("recording" if visit.part.what == "video" else "captured")
    return visit.tap(shutter, "I press the shutter.")


def record(visit: Visit) -> Decision | None:
    if visit.knows("saved"):
        return None
    if (way := visit.enter()) is not None:
        return way
    name, fields = visit.part.value, visit.screen.fields
    if fields:
        if name and fields[0].text.strip() != name:
            return visit.write(name, fields[0], "This is where the name goes.")
        button = visit.screen.confirms or visit.screen.find(SAVE)
        if button is not None:
            visit.note("saved")
            return visit.tap(button, "The name is right: I save it.")
    if visit.knows("recording"):
        stop = visit.screen.find(STOP)
        if stop is not None:
            return visit.tap(stop, "That is long enough: I stop.")
        if not name:
            return None
    start = visit.screen.find(RECORD)
    if start is None:
        return visit.seek("the button to record", RECORD)
    visit.note("recording")
    return visit.tap(start, "I start to record.")


def clipboard(visit: Visit) -> Decision | None:
    text = visit.part.value
    if (way := visit.enter()) is not None:
        return way
    if visit.knows("copied"):
        return None
    field = next(iter(visit.screen.fields), None)
    if field is None:
        return visit.seek("a field for the text", ("new", "add", "edit"))
    if not visit.knows("wrote text"):
        visit.note("wrote text")
        return visit.write(text, field, "I write the text here, to copy it.")
    if any(item.text.strip() == text.strip() for item in visit.screen.touchable()):
        return None
    button = visit.screen.best(("set clipboard", "copy to clipboard", "copy", "save"), kind="Button")
    if button is None:
        return None
    visit.note("copied")
    return visit.tap(button, "Now it has to be copied.")
