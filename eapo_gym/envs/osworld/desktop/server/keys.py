"""Keys by the names that pyautogui has for them, and the characters of the keyboard: all as X's key symbols."""

from __future__ import annotations

NAMED = {
    "\t": 0xFF09,
    "\n": 0xFF0D,
    "\r": 0xFF0D,
    "accept": 0xFF0D,
    "add": 0xFFAB,
    "alt": 0xFFE9,
    "altleft": 0xFFE9,
    "altright": 0xFFEA,
    "apps": 0xFF67,
    "backspace": 0xFF08,
    "browserback": 0x1008FF26,
    "browserfavorites": 0x1008FF30,
    "browserforward": 0x1008FF27,
    "browserhome": 0x1008FF18,
    "browserrefresh": 0x1008FF29,
    "browsersearch": 0x1008FF1B,
    "browserstop": 0x1008FF28,
    "capslock": 0xFFE5,
    "clear": 0xFF0B,
    "command": 0xFFEB,
    "convert": 0xFF23,
    "ctrl": 0xFFE3,
    "ctrlleft": 0xFFE3,
    "ctrlright": 0xFFE4,
    "decimal": 0xFFAE,
    "del": 0xFFFF,
    "delete": 0xFFFF,
    "divide": 0xFFAF,
    "down": 0xFF54,
    "end": 0xFF57,
    "enter": 0xFF0D,
    "esc": 0xFF1B,
    "escape": 0xFF1B,
    "execute": 0xFF62,
    "fn": 0x1008FF2B,
    "help": 0xFF6A,
    "home": 0xFF50,
    "insert": 0xFF63,
    "kana": 0xFF2D,
    "kanji": 0xFF21,
    "launchapp1": 0x1008FF41,
    "launchapp2": 0x1008FF42,
    "launchmail": 0x1008FF19,
    "launchmediaselect": 0x1008FF32,
    "left": 0xFF51,
    "menu": 0xFF67,
    "modechange": 0xFF7E,
    "multiply": 0xFFAA,
    "nexttrack": 0x1008FF17,
    "nonconvert": 0xFF22,
    "numlock": 0xFF7F,
    "option": 0xFFE9,
    "optionleft": 0xFFE9,
    "optionright": 0xFFEA,
    "pagedown": 0xFF56,
    "pageup": 0xFF55,
    "pause": 0xFF13,
    "pgdn": 0xFF56,
    "pgup": 0xFF55,
    "playpause": 0x1008FF14,
    "prevtrack": 0x1008FF16,
    "print": 0xFF61,
    "printscreen": 0xFF61,
    "prntscrn": 0xFF61,
    "prtsc": 0xFF61,
    "prtscr": 0xFF61,
    "return": 0xFF0D,
    "right": 0xFF53,
    "scrolllock": 0xFF14,
    "select": 0xFF60,
    "separator": 0xFFAC,
    "shift": 0xFFE1,
    "shiftleft": 0xFFE1,
    "shiftright": 0xFFE2,
    "sleep": 0x1008FF2F,
    "space": 0x20,
    "stop": 0x1008FF15,
    "subtract": 0xFFAD,
    "super": 0xFFEB,
    "tab": 0xFF09,
    "up": 0xFF52,
    "volumedown": 0x1008FF11,
    "volumemute": 0x1008FF12,
    "volumeup": 0x1008FF13,
    "win": 0xFFEB,
    "winleft": 0xFFEB,
    "winright": 0xFFEC,
    "yen": 0xA5,
    **{f"f{number}": 0xFFBD + number for number in range(1, 25)},
    **{f"num{number}": 0xFFB0 + number for number in range(10)},
}

SHIFT = NAMED["shift"]


def symbol(character: str) -> int:
    """X's key symbol of one character: Latin-1 is its own, the rest of Unicode stands above 2**24."""
    code = ord(character)
    if character in "\t\n\r":
        return NAMED[character]
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else 0x1000000 + code


def of_key(name: str) -> int | None:
    """The symbol of a key's name, or of the one character that it is; None for what is no key."""
    if len(name) == 1:
        return symbol(name) if name.isprintable() or name in "\t\n\r" else None
    return NAMED.get(name.lower())
