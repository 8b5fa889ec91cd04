"""The home screen, the list of all apps, and the overview of those that were used."""

from __future__ import annotations

from eapo_gym.envs.androidworld.phone.app import OVER, App, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.state import LAUNCHER
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import FRAME, TEXT, column, listing, row, space, text

DOCK = ("Phone", "Messages", "Chrome", "Camera")
"""What stands at the bottom of the home screen, as far as it is there."""

COLUMNS = 4


class Home(Screen):
    name = LAUNCHER.name

    def view(self, at: Scene) -> View:
        over = at.get(OVER)
        if over == "drawer":
            return _drawer(at)
        if over == "recents":
            return _recents(at)
        return _home(at)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("open", package):
                turn.launch(package)
            case ("swipe", "up"):
                turn.keep(**{OVER: "drawer"})
            case ("swipe", "down"):
                turn.drop(OVER)
            case ("clear",):
                turn.end_all()

    def back(self, turn: Turn) -> None:
        turn.drop(OVER)


class Launcher(App):
    package = LAUNCHER.package
    label = "Pixel Launcher"
    icon = "home"
    colour = "#5f6368"
    screens = (Home,)


def _shown(at: Scene) -> list[App]:
    """The apps that have an icon, by their names."""
    found = (app for app in at.apps.values() if app.screens and app.package != LAUNCHER.package)
    return sorted(found, key=lambda app: app.label.lower())


def _home(at: Scene) -> View:
    dock = [app for name in DOCK for app in _shown(at) if app.label == name]
    others = at.taste.order("home screen", [app for app in _shown(at) if app not in dock])[:8]
    return View(
        kind=FRAME,
        flow="stack",
        look=Look(fill="#dbe5f4"),
        children=(
            column(
                text(f"{at.now:%a, %b} {at.now.day}", size=22, color="#22324d", pad=(8, 24, 0, 0), id="clock_text"),
                space(grow=1),
                *_grid(others),
                space(height=24),
                _line(dock),
                pad=(12, 12, 12, 24),
                gap=12,
            ),
        ),
    )


def _drawer(at: Scene) -> View:
    return column(
        text("Apps", size=20, bold=True, pad=(8, 16, 8, 16)),
        listing(_grid(_shown(at)), name="apps", id="apps_list_view", gap=8),
        fill="page",
        pad=(12, 0, 12, 0),
    )


def _recents(at: Scene) -> View:
    cards = []
    for task in reversed(at.state.tasks):
        app = at.apps[task.package]
        cards.append(
            column(
                _icon(app),
                text(app.label, size=18, along="center"),
                tap=("open", app.package),
                desc=app.label,
                fill="card",
                round=24,
                pad=(16, 24, 16, 24),
                gap=8,
            )
        )
    if not cards:
        return column(text("No recent items", size=18, color="faint", along="center"), along="center", fill="page")
    clear = View(
        kind="android.widget.Button", text="Clear all", id="clear_all", tap=("clear",), along="center", height=48,
        look=Look(fill="soft", round=24, color="on_soft"),
    )  # fmt: skip
    return column(listing(cards, name="recents", gap=16), clear, fill="page", pad=(64, 48, 64, 32), gap=16)


def _grid(apps: list[App]) -> list[View]:
    return [_line(apps[first : first + COLUMNS]) for first in range(0, len(apps), COLUMNS)]


def _line(apps: list[App]) -> View:
    """The icons of a line, each a quarter of it wide."""
    cells = [_cell(app) for app in apps] + [space(grow=1) for _ in range(COLUMNS - len(apps))]
    return row(*cells, gap=4)


def _cell(app: App) -> View:
    name = View(
        kind=TEXT, text=app.label, id="icon", along="center", look=Look(size=13, lines=1, color="text"),
    )  # fmt: skip
    return column(_icon(app), name, gap=4, pad=(0, 8, 0, 8), grow=1, tap=("open", app.package))


def _icon(app: App) -> View:
    return View(
        width=56,
        height=56,
        across="center",
        look=Look(fill=app.colour, round=28, icon=app.icon, size=28, color="#ffffff"),
    )


__all__ = ["Launcher"]
