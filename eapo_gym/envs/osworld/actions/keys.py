"""The keys of a keyboard: pyautogui's names for them, what X calls them, and what else people call them."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from eapo_gym.envs.osworld.actions.values import shown
from eapo_gym.errors import ActionError

_CHARACTERS = {
    " ": "space",
    "!": "exclam",
    '"': "quotedbl",
    "#": "numbersign",
    "$": "dollar",
    "%": "percent",
    "&": "ampersand",
    "'": "apostrophe",
    "(": "parenleft",
    ")": "parenright",
    "*": "asterisk",
    "+": "plus",
    ",": "comma",
    "-": "minus",
    ".": "period",
    "/": "slash",
    ":": "colon",
    ";": "semicolon",
    "<": "less",
    "=": "equal",
    ">": "greater",
    "?": "question",
    "@": "at",
    "[": "bracketleft",
    "\\": "backslash",
    "]": "bracketright",
    "^": "asciicircum",
    "_": "underscore",
    "`": "grave",
    "{": "braceleft",
    "|": "bar",
    "}": "braceright",
    "~": "asciitilde",
    "\t": "Tab",
    "\n": "Return",
    "\r": "Return",
    **{each: each for each in string.ascii_letters + string.digits},
}

_NAMED = {
    # what every program uses
    "alt": "Alt_L",
    "altleft": "Alt_L",
    "altright": "Alt_R",
    "apps": "Menu",
    "backspace": "BackSpace",
    "capslock": "Caps_Lock",
    "ctrl": "Control_L",
    "ctrlleft": "Control_L",
    "ctrlright": "Control_R",
    "del": "Delete",
    "delete": "Delete",
    "down": "Down",
    "end": "End",
    "enter": "Return",
    "esc": "Escape",
    "escape": "Escape",
    "home": "Home",
    "insert": "Insert",
    "left": "Left",
    "pagedown": "Page_Down",
    "pageup": "Page_Up",
    "pgdn": "Page_Down",
    "pgup": "Page_Up",
    "return": "Return",
    "right": "Right",
    "shift": "Shift_L",
    "shiftleft": "Shift_L",
    "shiftright": "Shift_R",
    "space": "space",
    "tab": "Tab",
    "up": "Up",
    "win": "Super_L",
    "winleft": "Super_L",
    "winright": "Super_R",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
    # the block of numbers
    "add": "KP_Add",
    "decimal": "KP_Decimal",
    "divide": "KP_Divide",
    "multiply": "KP_Multiply",
    "numlock": "Num_Lock",
    "separator": "KP_Separator",
    "subtract": "KP_Subtract",
    **{f"num{digit}": f"KP_{digit}" for digit in string.digits},
    # a Mac's, by what stands at their place
    "command": "Super_L",
    "option": "Alt_L",
    "optionleft": "Alt_L",
    "optionright": "Alt_R",
    # seldom found
    "clear": "Clear",
    "execute": "Execute",
    "help": "Help",
    "pause": "Pause",
    "print": "Print",
    "printscreen": "Print",
    "prntscrn": "Print",
    "prtsc": "Print",
    "prtscr": "Print",
    "scrolllock": "Scroll_Lock",
    "select": "Select",
    "sleep": "XF86Sleep",
    # browsers, mail and music
    "browserback": "XF86Back",
    "browserfavorites": "XF86Favorites",
    "browserforward": "XF86Forward",
    "browserhome": "XF86HomePage",
    "browserrefresh": "XF86Refresh",
    "browsersearch": "XF86Search",
    "browserstop": "XF86Stop",
    "launchapp1": "XF86MyComputer",
    "launchapp2": "XF86Calculator",
    "launchmail": "XF86Mail",
    "launchmediaselect": "XF86AudioMedia",
    "nexttrack": "XF86AudioNext",
    "playpause": "XF86AudioPlay",
    "prevtrack": "XF86AudioPrev",
    "stop": "XF86AudioStop",
    "volumedown": "XF86AudioLowerVolume",
    "volumemute": "XF86AudioMute",
    "volumeup": "XF86AudioRaiseVolume",
    # Japanese and Korean
    "convert": "Henkan",
    "hanguel": "Hangul",
    "hangul": "Hangul",
    "hanja": "Hangul_Hanja",
    "junja": "Hangul_Jeonja",
    "kana": "Kana_Lock",
    "kanji": "Kanji",
    "modechange": "Mode_switch",
    "nonconvert": "Muhenkan",
    "yen": "yen",
    # Windows alone has them: here they do nothing, as with pyautogui
    "accept": "NoSymbol",
    "final": "NoSymbol",
    "fn": "NoSymbol",
}

KEYSYMS: Mapping[str, str] = {**_CHARACTERS, **_NAMED}
"""What X calls each key that pyautogui knows; a character that needs Shift has the name of what it types."""

OTHER_NAMES: Mapping[str, str] = {
    "arrowdown": "down",
    "arrowleft": "left",
    "arrowright": "right",
    "arrowup": "up",
    "caps_lock": "capslock",
    "cmd": "win",
    "control": "ctrl",
    "meta": "win",
    "page_down": "pagedown",
    "page_up": "pageup",
    "plus": "+",
    "print_screen": "printscreen",
    "spacebar": "space",
    "super": "win",
    "windows": "win",
}
"""What people and other tools call keys."""

_ANDROID = {
    "APP_SWITCH": ("alt", "tab"),
    "BACK": ("esc",),
    "COPY": ("ctrl", "c"),
    "CUT": ("ctrl", "x"),
    "DEL": ("backspace",),
    "DPAD_CENTER": ("enter",),
    "DPAD_DOWN": ("down",),
    "DPAD_LEFT": ("left",),
    "DPAD_RIGHT": ("right",),
    "DPAD_UP": ("up",),
    "ENTER": ("enter",),
    "ESCAPE": ("esc",),
    "FORWARD_DEL": ("delete",),
    "HOME": ("win", "d"),
    "INSERT": ("insert",),
    "MENU": ("apps",),
    "MOVE_END": ("end",),
    "MOVE_HOME": ("home",),
    "NUMPAD_ENTER": ("enter",),
    "PAGE_DOWN": ("pagedown",),
    "PAGE_UP": ("pageup",),
    "PASTE": ("ctrl", "v"),
    "SEARCH": ("ctrl", "f"),
    "SPACE": ("space",),
    "TAB": ("tab",),
    "VOLUME_DOWN": ("volumedown",),
    "VOLUME_MUTE": ("volumemute",),
    "VOLUME_UP": ("volumeup",),
    **{each.upper(): (each,) for each in string.ascii_lowercase + string.digits},
    **{f"F{number}": (f"f{number}",) for number in range(1, 13)},
}

ANDROID_KEYS: Mapping[str, tuple[str, ...]] = {f"KEYCODE_{name}": keys for name, keys in _ANDROID.items()}
"""A phone's keys, by the nearest that a desktop has."""

MOST_AT_ONCE = 6
"""Nobody has more fingers free."""


def key_named(name: object, example: str) -> str:
    """pyautogui's name of a key; raises `ActionError` if there is no such key."""
    if isinstance(name, str):
        if name in KEYSYMS:
            return name
        plain = name.strip().lower()
        plain = OTHER_NAMES.get(plain, plain)
        if plain in KEYSYMS:
            return plain
    meant = "expected a character of a US keyboard, or a name such as 'enter', 'tab' or 'f5'."
    if isinstance(name, str) and (close := get_close_matches(name[:40].lower(), [*_NAMED, *OTHER_NAMES], n=1)):
        meant = f"did you mean {close[0]!r}?"
    raise ActionError(f"There is no key {shown(name)}: {meant}", example)


def keys_at_once(keys: Iterable[object], example: str) -> tuple[str, ...]:
    """The keys that are held together, each named rightly."""
    named = tuple(key_named(key, example) for key in keys)
    if not 1 <= len(named) <= MOST_AT_ONCE:
        raise ActionError(f"Expected 1 to {MOST_AT_ONCE} keys at once, got {len(named)}: as in {example}.", example)
    return named


def keys_written(written: object, example: str) -> tuple[str, ...]:
    """The keys of "ctrl+s", or of a list of them.

    Beside other keys a capital is the key that it stands on: "Ctrl+S" saves, and only "ctrl+shift+s" holds Shift.

    >>> keys_written("Ctrl+S", "")
    ('ctrl', 's')
    >>> keys_written("ctrl++", "")
    ('ctrl', '+')
    """
    if isinstance(written, str):
        head, plus, last = written.rpartition("+")
        if plus and not last.strip():
            # What ends with a plus holds the key "+".
            head, last = head.rstrip().removesuffix("+"), "+"
        parts: list[object] = [*(head.split("+") if head.strip() else ()), last if plus else written]
    elif isinstance(written, list):
        parts = written
    else:
        raise ActionError(f"Expected keys such as 'ctrl+s', got {shown(written)}: as in {example}.", example)
    parts = [part.strip() if isinstance(part, str) and len(part) > 1 else part for part in parts[: MOST_AT_ONCE + 1]]
    keys = keys_at_once(parts, example)
    return keys if len(keys) == 1 else tuple(key.lower() for key in keys)


def keys_as_written(keys: Sequence[str]) -> str | list[str]:
    """What `keys_written` reads as these keys: joined with "+" where that can be read."""
    is_read = "+" not in keys[:-1] and all(key.strip() for key in keys)
    return "+".join(keys) if is_read or len(keys) == 1 else list(keys)


def android_keys(code: str, example: str) -> tuple[str, ...]:
    """What is pressed for a phone's key."""
    if code in ANDROID_KEYS:
        return ANDROID_KEYS[code]
    close = get_close_matches(code[:40], ANDROID_KEYS, n=1)
    meant = f"did you mean {close[0]!r}?" if close else "expected one such as 'KEYCODE_ENTER'."
    raise ActionError(f"A desktop has no key {shown(code)}: {meant}", example)
