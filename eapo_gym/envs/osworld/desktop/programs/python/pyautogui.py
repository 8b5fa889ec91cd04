"""What tasks use of pyautogui, for the programs of the desktop: the same hands that the server has."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from eapo_server.hands import Hands  # type: ignore[import-not-found]
from eapo_server.inputs import check  # type: ignore[import-not-found]

FAILSAFE = False
PAUSE = 0.1

_hands: Any = None


def _play(*inputs: dict[str, Any]) -> None:
    global _hands
    if _hands is None:
        _hands = Hands()
    _hands.play(check(list(inputs)))
    time.sleep(PAUSE)


def size() -> tuple[int, int]:
    global _hands
    _hands = _hands or Hands()
    return _hands.size  # type: ignore[no-any-return]


def position() -> tuple[int, int]:
    global _hands
    _hands = _hands or Hands()
    return _hands.pointer()  # type: ignore[no-any-return]


def moveTo(x: int | None = None, y: int | None = None, duration: float = 0.0, *_: Any, **__: Any) -> None:  # noqa: N802
    _play(*_to(x, y, duration))


def dragTo(x: int, y: int, duration: float = 0.0, button: str = "left", **_: Any) -> None:  # noqa: N802
    _play({"do": "press", "button": button}, *_to(x, y, duration), {"do": "release", "button": button})


def click(
    x: int | None = None,
    y: int | None = None,
    clicks: int = 1,
    interval: float = 0.0,
    button: str = "left",
    duration: float = 0.0,
) -> None:
    both = [{"do": "press", "button": button}, {"do": "release", "button": button}]
    _play(*_to(x, y, duration), *(both + ([{"do": "pause", "seconds": interval}] if interval else [])) * clicks)


def doubleClick(x: int | None = None, y: int | None = None, **more: Any) -> None:  # noqa: N802
    click(x, y, clicks=2, **more)


def tripleClick(x: int | None = None, y: int | None = None, **more: Any) -> None:  # noqa: N802
    click(x, y, clicks=3, **more)


def rightClick(x: int | None = None, y: int | None = None, **more: Any) -> None:  # noqa: N802
    click(x, y, button="right", **more)


def mouseDown(x: int | None = None, y: int | None = None, button: str = "left", **_: Any) -> None:  # noqa: N802
    _play(*_to(x, y, 0.0), {"do": "press", "button": button})


def mouseUp(x: int | None = None, y: int | None = None, button: str = "left", **_: Any) -> None:  # noqa: N802
    _play(*_to(x, y, 0.0), {"do": "release", "button": button})


def scroll(clicks: int, x: int | None = None, y: int | None = None, **_: Any) -> None:
    _play(*_to(x, y, 0.0), {"do": "wheel", "dx": 0, "dy": int(clicks)})


def hscroll(clicks: int, x: int | None = None, y: int | None = None, **_: Any) -> None:
    _play(*_to(x, y, 0.0), {"do": "wheel", "dx": int(clicks), "dy": 0})


vscroll = scroll


def keyDown(key: str, **_: Any) -> None:  # noqa: N802
    _play({"do": "key_down", "key": key})


def keyUp(key: str, **_: Any) -> None:  # noqa: N802
    _play({"do": "key_up", "key": key})


def press(keys: str | Sequence[str], presses: int = 1, interval: float = 0.0, **_: Any) -> None:
    for _turn in range(presses):
        for key in [keys] if isinstance(keys, str) else keys:
            _play({"do": "key_down", "key": key}, {"do": "key_up", "key": key})
            time.sleep(interval)


def hotkey(*keys: str | Iterable[str], **_: Any) -> None:
    names = [name for each in keys for name in ([each] if isinstance(each, str) else each)]
    _play(
        *({"do": "key_down", "key": name} for name in names),
        *({"do": "key_up", "key": name} for name in reversed(names)),
    )


def write(message: str | Sequence[str], interval: float = 0.0, **_: Any) -> None:
    if not isinstance(message, str):
        press(message, interval=interval)
    elif interval:
        for character in message:
            _play({"do": "write", "text": character})
            time.sleep(interval)
    else:
        _play({"do": "write", "text": message})


typewrite = write


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def _to(x: int | None, y: int | None, seconds: float) -> list[dict[str, Any]]:
    if x is None and y is None:
        return []
    here = position()
    goal = {"x": int(here[0] if x is None else x), "y": int(here[1] if y is None else y)}
    return [{"do": "move", **goal, "seconds": float(seconds)}]
