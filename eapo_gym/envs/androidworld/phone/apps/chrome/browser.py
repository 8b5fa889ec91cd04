"""Chrome's screens."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, quote_plus, unquote, urljoin, urlsplit

from eapo_gym.envs.androidworld.phone.app import OVER, App, Intent, Scene, Screen, Turn
from eapo_gym.envs.androidworld.phone.apps.chooser import path_of, to_view
from eapo_gym.envs.androidworld.phone.apps.chrome.documents import Document, read_html
from eapo_gym.envs.androidworld.phone.apps.chrome.games import (
    ANSWER,
    NOTHING_PLAYED,
    Game,
    Played,
    after,
    game_of,
    view_of,
)
from eapo_gym.envs.androidworld.phone.databases import Database
from eapo_gym.envs.androidworld.phone.file_kinds import changed, icon_of, kind_of, said_size, said_time, size_of
from eapo_gym.envs.androidworld.phone.files import SDCARD, FileError
from eapo_gym.envs.androidworld.phone.preferences import prefer, preference, set_preference, without_preferences
from eapo_gym.envs.androidworld.phone.state import Activity, State
from eapo_gym.envs.androidworld.phone.ui.view import Event, Look, View
from eapo_gym.envs.androidworld.phone.ui.widgets import (
    BUTTON,
    FIELD,
    FRAME,
    button,
    column,
    dialog,
    field,
    icon,
    icon_button,
    item,
    listing,
    menu,
    nothing_yet,
    page,
    radio,
    row,
    snackbar,
    space,
    switch_item,
    text,
)

PACKAGE = "com.android.chrome"
_PROFILE = f"/data/data/{PACKAGE}/app_chrome/Default"
HISTORY, BOOKMARKS = f"{_PROFILE}/History", f"{_PROFILE}/Bookmarks"
DOWNLOADS = f"{SDCARD}/Download"
NEW_TAB = "chrome-native://newtab/"
SEARCHES = {
    "Google": "https://www.google.com/search?q=",
    "DuckDuckGo": "https://duckduckgo.com/?q=",
    "Ecosia": "https://www.ecosia.org/search?q=",
    "Bing": "https://www.bing.com/search?q=",
}
"""Where words are searched for, by what it is called in the settings."""

_FILE = "file://"
_EPOCH = 11_644_473_600
"""Chrome counts microseconds since 1601: so many seconds before 1970."""

_HISTORY_TABLE = """CREATE TABLE urls (id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR,
visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL,
hidden INTEGER DEFAULT 0 NOT NULL)"""

ADDRESS, FIND = "address", "find"
"""Fields."""

WELCOME = ("Use without an account", "Accept & continue", "Skip")
PRIVACY = ("Got it", "No thanks", "Continue")

_GAME_EVENTS = {"step", "click_me", "submit_product", "colour", "stroke", "clear_canvas", "submit_drawing"}


@dataclass(frozen=True)
class Tab:
    """The addresses that were visited in a tab, and which of them is shown."""

    addresses: tuple[str, ...] = (NEW_TAB,)
    place: int = 0
    played: Played = NOTHING_PLAYED
    """How far the game is that the page may be; it begins anew with the page."""

    private: bool = False

    @property
    def address(self) -> str:
        return self.addresses[self.place]

    def gone(self, address: str) -> Tab:
        visited = (*self.addresses[: self.place + 1], address)
        return Tab(visited, len(visited) - 1, private=self.private)

    def moved(self, by: int) -> Tab:
        place = min(max(self.place + by, 0), len(self.addresses) - 1)
        return Tab(self.addresses, place, private=self.private)


@dataclass(frozen=True)
class Tabs:
    """All tabs, of which one is in front."""

    tabs: tuple[Tab, ...] = (Tab(),)
    front: int = 0

    @property
    def tab(self) -> Tab:
        return self.tabs[self.front]

    def with_front(self, tab: Tab) -> Tabs:
        tabs = [*self.tabs]
        tabs[self.front] = tab
        return replace(self, tabs=tuple(tabs))

    def opened(self, tab: Tab) -> Tabs:
        """With one more, in front. A tab in which nothing was done yet gives way to it."""
        if self.tab == Tab() and not tab.private and tab != Tab():
            return self.with_front(tab)
        return Tabs((*self.tabs, tab), len(self.tabs))

    def closed(self, place: int) -> Tabs:
        tabs = self.tabs[:place] + self.tabs[place + 1 :]
        front = self.front - (place < self.front or self.front == len(tabs))
        return Tabs(tabs, max(front, 0)) if tabs else Tabs()


def tabs_of(at: Scene) -> Tabs:
    """The tabs as they are, with the one that the activity was opened for."""
    known = at.memory.get("tabs", Tabs())
    assert isinstance(known, Tabs)
    wanted = at.activity.extras.get("open")
    return known if wanted is None or at.kept.get("opened") else known.opened(Tab((str(wanted),)))


# Pages


@dataclass(frozen=True)
class Page:
    title: str
    document: Document | None = None
    game: Game | None = None
    picture: bytes = b""
    lines: tuple[str, ...] = ()
    """Of a file that is only text."""

    entries: tuple[tuple[str, str], ...] = ()
    """Names and addresses of what is in a folder."""

    problem: str = ""
    """Why there is nothing to see, as the browser's own code for it."""


def page_at(at: Scene, address: str) -> Page:
    """What is at an address: of the web nothing can be reached."""
    if address == NEW_TAB:
        return Page("New tab")
    if address.startswith(_FILE):
        return _page_in_file(at, file_of(address))
    is_on = at.setting("global", "wifi_on") != "0" or at.setting("global", "mobile_data") == "1"
    host = urlsplit(address).hostname or address
    return Page(host, problem="ERR_NAME_NOT_RESOLVED" if is_on else "ERR_INTERNET_DISCONNECTED")


def file_of(address: str) -> str:
    """The path in the address of a file."""
    return unquote(address[len(_FILE) :].partition("#")[0].partition("?")[0])


def _page_in_file(at: Scene, path: str) -> Page:
    name = posixpath.basename(path) or path
    if at.files.is_folder(path):
        names = at.files.names(path)
        entries = tuple((each, address_of(posixpath.join(path, each))) for each in names)
        return Page(f"Index of {path}", entries=entries)
    try:
        content = at.files.read(path)
    except FileError:
        return Page(name, problem="ERR_FILE_NOT_FOUND")
    kind = kind_of(path)
    if kind.startswith("image/") and (content[:3] == b"\xff\xd8\xff" or content[:4] == b"\x89PNG"):
        return Page(name, picture=content)
    said = content.decode("utf-8", "replace")
    if kind == "text/html":
        document = read_html(said)
        with_scripts = preference(at, PACKAGE, "javascript", "on") == "on"
        return Page(document.title or name, document, game_of(said) if with_scripts else None)
    if kind.startswith("text/") or kind == "application/json":
        return Page(name, lines=tuple(said.splitlines()))
    return Page(name, problem="ERR_INVALID_RESPONSE")


def address_of(path: str) -> str:
    return _FILE + quote(path)


def as_address(typed: str, search: str = SEARCHES["Google"]) -> str:
    """What somebody means who types this into the address bar: an address, or words to search for."""
    typed = typed.strip()
    if re.match(r"(?:https?|file)://", typed, re.IGNORECASE):
        scheme, _, rest = typed.partition("://")
        return f"{scheme.lower()}://{rest}"
    if typed.startswith("/"):
        return _FILE + quote(typed)
    if typed in ("chrome://newtab", "about:blank"):
        return NEW_TAB
    if re.fullmatch(r"(?:[\w-]+\.)+[a-zA-Z]{2,}(?:[:/]\S*)?|localhost(?:[:/]\S*)?", typed):
        return f"https://{typed}"
    return search + quote_plus(typed)


# The window with the tabs


class Window(Screen):
    name = "org.chromium.chrome.browser.ChromeTabbedActivity"

    def view(self, at: Scene) -> View:
        if preference(at, PACKAGE, "first_run") != "done":
            return _welcome(at)
        tabs = tabs_of(at)
        if at.get(OVER) == "tabs":
            return _switcher(at, tabs)
        shown = page_at(at, tabs.tab.address)
        typing = at.activity.focus == ADDRESS
        body = _suggestions(at) if typing else _body(at, tabs.tab, shown)
        finding = [_find_bar(at, shown)] if at.get("finding") else []
        # Pages have a colour of their own, whatever the theme.
        fill = "page" if typing or tabs.tab.address == NEW_TAB else "#ffffff"
        inside = replace(column(listing(body, name="web"), grow=1), kind="android.webkit.WebView", look=Look(fill=fill))
        said = [snackbar(at.kept["said"], "OK", ("said",))] if "said" in at.kept else []
        frame = column(_toolbar(at, tabs), *finding, inside, *said, fill="page")
        over = [_menu(at, tabs.tab)] if at.get(OVER) == "menu" else []
        return View(kind=FRAME, flow="stack", children=(frame, *over))

    def on(self, turn: Turn, event: Event) -> None:
        _settle(turn)
        tabs = tabs_of(turn)
        turn.drop("said")
        match event:
            case ("welcome",):
                prefer(turn, PACKAGE, first_run="privacy")
            case ("begin",):
                prefer(turn, PACKAGE, first_run="done")
            case ("visit", address):
                go(turn, address)
            case ("home",):
                go(turn, NEW_TAB)
            case ("tabs",):
                turn.keep(**{OVER: "tabs"})
            case ("menu",):
                turn.keep(**{OVER: "menu"})
            case ("close",):
                turn.drop(OVER)
            case ("new_tab", private):
                turn.drop(OVER, ANSWER)
                _keep_tabs(turn, tabs.opened(Tab(private=private)))
            case ("show_tab", place):
                turn.drop(OVER, ANSWER)
                _keep_tabs(turn, replace(tabs, front=place))
            case ("close_tab", place):
                turn.drop(ANSWER)
                _keep_tabs(turn, tabs.closed(place))
            case ("close_all",):
                turn.drop(ANSWER)
                _keep_tabs(turn, Tabs())
            case ("move", by):
                turn.drop(OVER, ANSWER)
                _keep_tabs(turn, tabs.with_front(tabs.tab.moved(by)))
            case ("clear_address",):
                turn.keep(**{ADDRESS: ""})
            case ("bookmark",):
                turn.drop(OVER)
                _bookmark(turn, tabs.tab.address)
            case ("copy_address",):
                turn.drop(OVER)
                turn.copy(tabs.tab.address)
                turn.toast("Link copied")
            case ("find",):
                turn.drop(OVER)
                turn.keep(finding=True, **{FIND: ""})
                turn.focus(FIND)
            case ("end_find",):
                turn.focus("")
                turn.drop("finding", FIND)
            case ("said",):
                pass
            case ("go", screen):
                turn.drop(OVER)
                turn.open(screen)
            case (name, *_) if name in _GAME_EVENTS:
                _on_game(turn, event)

    def entered(self, turn: Turn, field: str) -> None:
        _settle(turn)
        if field == ADDRESS and str(turn.get(ADDRESS, "")).strip():
            go(turn, as_address(turn.kept[ADDRESS], _search(turn)))
        elif field == ANSWER:
            turn.focus("")
        else:
            turn.focus("")
            turn.drop(ADDRESS)

    def back(self, turn: Turn) -> None:
        _settle(turn)
        tabs = tabs_of(turn)
        if OVER in turn.kept:
            turn.drop(OVER)
        elif turn.activity.focus == ADDRESS:
            turn.focus("")
            turn.drop(ADDRESS)
        elif turn.get("finding"):
            turn.drop("finding", FIND)
        elif tabs.tab.place:
            turn.drop(ANSWER)
            _keep_tabs(turn, tabs.with_front(tabs.tab.moved(-1)))
        else:
            turn.close()

    def left(self, turn: Turn) -> None:
        _settle(turn)


def _settle(turn: Turn) -> None:
    """A page that was opened for another app becomes one of the tabs."""
    wanted = turn.activity.extras.get("open")
    if wanted is None or turn.kept.get("opened"):
        return
    _keep_tabs(turn, tabs_of(turn))
    turn.keep(opened=True)
    _visited(turn, str(wanted))


def _keep_tabs(turn: Turn, tabs: Tabs) -> None:
    turn.remember(tabs=tabs)


def go(turn: Turn, address: str, *, new: bool = False) -> None:
    """Show what is at an address, in the tab in front or in a new one."""
    tabs = tabs_of(turn)
    _keep_tabs(turn, tabs.opened(Tab((address,))) if new else tabs.with_front(tabs.tab.gone(address)))
    turn.focus("")
    turn.drop(OVER, ADDRESS, ANSWER, FIND, "finding")
    turn.become(replace(turn.activity, scrolled={}))
    if not tabs.tab.private:
        _visited(turn, address)


def _visited(turn: Turn, address: str) -> None:
    """Write it into the history."""
    if address == NEW_TAB:
        return
    when = round((turn.state.now + _EPOCH) * 1_000_000)
    known = [each for each in turn.rows(HISTORY, "urls") if each["url"] == address]
    if known:
        count = known[0]["visit_count"]
        turn.update(
            HISTORY, "urls", lambda each: each["url"] == address, last_visit_time=when,
            visit_count=(count if isinstance(count, int) else 0) + 1,
        )  # fmt: skip
    else:
        title = page_at(turn, address).title
        turn.insert(HISTORY, "urls", url=address, title=title, visit_count=1, last_visit_time=when)


def _on_game(turn: Turn, event: Event) -> None:
    tabs = tabs_of(turn)
    game = page_at(turn, tabs.tab.address).game
    if game is not None:
        played = after(game, tabs.tab.played, event, str(turn.get(ANSWER, "")))
        _keep_tabs(turn, tabs.with_front(replace(tabs.tab, played=played)))


# What is in the window


def _welcome(at: Scene) -> View:
    """What a new Chrome asks before anything else."""
    if preference(at, PACKAGE, "first_run") == "privacy":
        title, said = "Privacy in Chrome", "You decide what Chrome keeps. You can change it in Settings at any time."
        buttons = [_wide(at.taste.choose("chrome privacy", *PRIVACY), ("begin",), "filled")]
    else:
        title, said = "Welcome to Chrome", "Sign in to get your bookmarks and passwords, or go on without an account."
        without = at.taste.choose("chrome welcome", *WELCOME)
        buttons = [_wide("Add account to device", ("welcome",), "soft"), _wide(without, ("welcome",), "filled")]
    return column(
        space(grow=1),
        icon("globe", size=72, color="primary"),
        text(title, size=26, along="center", pad=(0, 24, 0, 12), id="title"),
        text(said, size=15, color="faint", along="center", pad=(32, 0, 32, 0)),
        space(grow=1),
        *buttons,
        fill="page", pad=(24, 24, 24, 32), gap=8,
    )  # fmt: skip


def _wide(said: str, tap: Event, style: str) -> View:
    return button(said, tap, style=style, across="fill")


def _toolbar(at: Scene, tabs: Tabs) -> View:
    """The address bar. Touched, it is empty, so that one can write at once."""
    address = "" if tabs.tab.address == NEW_TAB else tabs.tab.address
    focused = at.activity.focus == ADDRESS
    shown = str(at.get(ADDRESS, "")) if focused else address
    bar = View(
        kind=FIELD, text=shown, hint="Search or type web address", id="url_bar", field=ADDRESS, selected=focused,
        height=44, grow=1, across="center", pad=(14, 4, 14, 4), look=Look(fill="field", round=22, size=15, lines=1),
    )  # fmt: skip
    if focused:
        return row(bar, icon_button("close", "Clear", ("clear_address",)), height=60, gap=4, pad=(12, 0, 4, 0))
    count = View(
        kind="android.widget.ImageButton", desc=f"Switch or close tabs, {_said_tabs(len(tabs.tabs))}",
        id="tab_switcher_button", tap=("tabs",), width=44, height=48, across="center", flow="stack",
        children=(_count(len(tabs.tabs)),),
    )  # fmt: skip
    home = icon_button("home", "Home", ("home",))
    more = icon_button("more", "Customize and control Google Chrome", ("menu",))
    return row(home, bar, count, more, height=60, pad=(4, 0, 0, 0))


def _said_tabs(count: int) -> str:
    return f"{count} open tab{'' if count == 1 else 's'}"


def _count(count: int) -> View:
    look = Look(border="text", round=5, size=12, bold=True)
    number = str(count) if count < 100 else ":D"
    return View(kind="android.widget.TextView", text=number, told=False, width=22, height=22, across="center",
                along="center", look=look)  # fmt: skip


def _menu(at: Scene, tab: Tab) -> View:
    arrows = row(
        icon_button("chevron", "Forward", ("move", 1), enabled=tab.place + 1 < len(tab.addresses)),
        icon_button("star", "Remove bookmark" if tab.address in _marked(at) else "Bookmark", ("bookmark",),
                    color="primary" if tab.address in _marked(at) else "text", enabled=tab.address != NEW_TAB),
        icon_button("info", "Page info", ("copy_address",)),
        icon_button("refresh", "Reload", ("move", 0)),
        along="center", gap=4,
    )  # fmt: skip
    entries: list[tuple[str, Event]] = [
        ("New tab", ("new_tab", False)),
        (at.taste.choose("chrome private", "New Incognito tab", "New private tab"), ("new_tab", True)),
        ("History", ("go", History.name)),
        ("Downloads", ("go", Downloads.name)),
        ("Bookmarks", ("go", Bookmarks.name)),
        ("Copy link", ("copy_address",)),
        ("Find in page", ("find",)),
        ("Settings", ("go", Settings.name)),
    ]
    made = menu(at.taste.order("chrome menu", entries), ("close",))
    [panel] = made.children
    return replace(made, children=(replace(panel, children=(arrows, *panel.children)),))


def _body(at: Scene, tab: Tab, shown: Page) -> list[View]:
    if tab.address == NEW_TAB:
        return _new_tab(at, tab)
    if shown.problem:
        return _problem(shown)
    if shown.game is not None:
        focused = at.activity.focus == ANSWER
        return view_of(shown.game, tab.played, str(at.get(ANSWER, "")), focused=focused)
    if shown.picture:
        return [View(kind="android.widget.Image", desc=shown.title, height=560, look=Look(pixels=shown.picture))]
    if shown.entries or (shown.document is None and not shown.lines):
        words = [_paragraph(shown.title, size=24, bold=True)]
        return words + [_link(name, address) for name, address in shown.entries]
    if shown.document is None:
        return [_paragraph(line or " ", size=14, mono=True) for line in shown.lines]
    return [
        _link(block.said, urljoin(tab.address, block.link)) if block.link
        else _paragraph(block.said, size=block.size, bold=block.bold)
        for block in shown.document.blocks
    ]  # fmt: skip


def _paragraph(said: str, *, size: int = 16, bold: bool = False, mono: bool = False) -> View:
    return text(said, size=size, bold=bold, mono=mono, color="#000000", pad=(16, 6, 16, 6))


def _link(said: str, address: str) -> View:
    return text(said, color="#1a4fb0", tap=("visit", address), pad=(16, 8, 16, 8))


def _new_tab(at: Scene, tab: Tab) -> list[View]:
    title = "You've gone Incognito" if tab.private else "Google"
    head = text(title, size=24 if tab.private else 40, along="center", pad=(16, 56, 16, 24))
    if tab.private:
        said = "What you look at in this tab is not written into the history."
        return [head, text(said, color="faint", along="center", pad=(32, 0, 32, 0))]
    recent = _history(at)[:4]
    lines = [item(each.title, each.address, tap=("visit", each.address), start=icon("globe"))
             for each in recent]  # fmt: skip
    title_line = [text("Recently visited", size=14, color="primary", pad=(16, 12, 16, 4))] if lines else []
    downloads = item("Downloads", "Files on this phone", tap=("go", Downloads.name), start=icon("download"))
    return [head, downloads, *title_line, *lines]


def _problem(shown: Page) -> list[View]:
    heads = {
        "ERR_FILE_NOT_FOUND": ("Your file couldn’t be accessed", "It may have been moved, edited, or deleted."),
        "ERR_INTERNET_DISCONNECTED": ("No internet", "Try checking Wi-Fi and mobile data."),
        "ERR_NAME_NOT_RESOLVED": ("This site can’t be reached", f"{shown.title}’s address could not be found."),
        "ERR_INVALID_RESPONSE": ("This page isn’t working", f"{shown.title} cannot be shown in a browser."),
    }
    title, said = heads[shown.problem]
    reload = View(
        kind=BUTTON, text="Reload", tap=("move", 0), height=40, width=110, along="center", across="start",
        look=Look(fill="#1a73e8", round=20, color="#ffffff", size=15),
    )  # fmt: skip
    return [
        column(
            row(icon("warning", size=48, color="#5f6368")),
            text(title, size=24, color="#202124"),
            text(said, size=15, color="#5f6368"),
            text(shown.problem, size=13, color="#5f6368"),
            reload,
            pad=(24, 72, 24, 24), gap=16,
        )
    ]  # fmt: skip


def _suggestions(at: Scene) -> list[View]:
    """While an address is typed: what was visited before, and what would be searched for."""
    typed = str(at.get(ADDRESS, "")).strip()
    found = [each for each in _history(at) if each.is_about(typed)][:6]
    lines = [item(each.title, each.address, tap=("visit", each.address), start=icon("clock"))
             for each in found]  # fmt: skip
    if typed:
        meant = as_address(typed, _search(at))
        under = "Search" if meant.startswith(_search(at)) else meant
        lines.insert(0, item(typed, under, tap=("visit", meant), start=icon("search")))
    return lines


def _find_bar(at: Scene, shown: Page) -> View:
    wanted = str(at.get(FIND, "")).lower()
    count = _said_on(shown).lower().count(wanted) if wanted else 0
    bar = field(FIND, str(at.get(FIND, "")), hint="Find in page", plain=True, grow=1, id="find_query",
                focused=at.activity.focus == FIND)  # fmt: skip
    number = text(f"{min(count, 1)}/{count}", size=14, color="faint", across="center", id="find_status")
    return row(bar, number, icon_button("close", "Close find in page", ("end_find",)), fill="bar", pad=(12, 0, 4, 0))


def _said_on(shown: Page) -> str:
    blocks = shown.document.blocks if shown.document is not None and shown.game is None else ()
    names = (name for name, _ in shown.entries)
    return "\n".join([*(block.said for block in blocks), *shown.lines, *names])


def _switcher(at: Scene, tabs: Tabs) -> View:
    """All tabs, each a card."""
    cards = []
    for place, tab in enumerate(tabs.tabs):
        title = page_at(at, tab.address).title
        close = icon_button("close", f"Close {title} tab", ("close_tab", place))
        head = row(icon("lock" if tab.private else "globe", size=20), text(title, lines=1, grow=1, across="center"),
                   close, gap=10, pad=(14, 0, 2, 0))  # fmt: skip
        under = text("New tab" if tab.address == NEW_TAB else tab.address, size=13, color="faint", lines=2,
                     pad=(16, 0, 16, 14))  # fmt: skip
        cards.append(column(head, under, fill="soft" if place == tabs.front else "card", round=16,
                            tap=("show_tab", place), selected=place == tabs.front))  # fmt: skip
    bar = row(
        icon_button("add", "New tab", ("new_tab", False)),
        text(_said_tabs(len(tabs.tabs)), size=18, grow=1, across="center", along="center"),
        button("Close all", ("close_all",)),
        height=60, pad=(8, 0, 8, 0),
    )  # fmt: skip
    return column(bar, listing(cards, name="tabs", gap=12, pad=(16, 8, 16, 16)), fill="page")


# History, bookmarks, downloads and settings


@dataclass(frozen=True)
class Visit:
    """A line of the history."""

    number: int
    title: str
    address: str

    def is_about(self, words: str) -> bool:
        return words.lower() in f"{self.title} {self.address}".lower()


def _history(at: Scene) -> list[Visit]:
    """The newest first."""
    rows = sorted(at.rows(HISTORY, "urls"), key=lambda row: str(row["last_visit_time"]), reverse=True)
    return [Visit(int(str(row["id"])), str(row["title"]), str(row["url"])) for row in rows if not row["hidden"]]


class History(Screen):
    name = "org.chromium.chrome.browser.history.HistoryActivity"

    def view(self, at: Scene) -> View:
        wanted = str(at.get("query", ""))
        found = [each for each in _history(at) if each.is_about(wanted)]
        lines = [
            item(each.title, each.address, tap=("visit", each.address), start=icon("globe"),
                 end=icon_button("close", f"Remove {each.title}", ("remove", each.number)))
            for each in found
        ]  # fmt: skip
        body = lines or [nothing_yet("clock", "No history here")]
        query = field("query", str(at.get("query", "")), hint="Search history", focused=bool(at.activity.focus))
        clear = item("Clear browsing data…", tap=("clear",), start=icon("delete"))
        over = []
        if at.get(OVER):
            buttons = [button("Cancel", ("close",)), button("Clear", ("really_clear",))]
            over = [dialog("Clear browsing data?", [], buttons, dismiss=("close",), said="All history is deleted.")]
        return page("History", body, up=("up",), above=[column(query, clear, pad=(8, 0, 8, 0))], over=over)

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("visit", address):
                _visit_below(turn, address)
            case ("remove", number):
                turn.delete(HISTORY, "urls", lambda each: each["id"] == number)
            case ("clear",):
                turn.keep(**{OVER: "clear"})
            case ("close",):
                turn.drop(OVER)
            case ("really_clear",):
                turn.drop(OVER)
                turn.delete(HISTORY, "urls", lambda each: True)


def _visit_below(turn: Turn, address: str) -> None:
    """Close this screen and show the page in the window under it."""
    turn.close()
    if turn.activity.package == PACKAGE:
        go(turn, address)


def _bookmarks(at: Scene) -> list[dict[str, str]]:
    try:
        children = json.loads(at.files.text(BOOKMARKS))["roots"]["synced"]["children"]
        return [{"name": str(each["name"]), "url": str(each["url"])} for each in children]
    except (FileError, ValueError, KeyError, TypeError):
        return []


def _marked(at: Scene) -> set[str]:
    return {each["url"] for each in _bookmarks(at)}


def _write_bookmarks(turn: Turn, bookmarks: Sequence[dict[str, str]]) -> None:
    children = [{"type": "url", **each} for each in bookmarks]
    root = {"children": children, "name": "Mobile bookmarks", "type": "folder"}
    turn.write(BOOKMARKS, json.dumps({"roots": {"synced": root}, "version": 1}, ensure_ascii=False, indent=3))


def _bookmark(turn: Turn, address: str) -> None:
    """Mark a page, or no longer."""
    if address in _marked(turn):
        _write_bookmarks(turn, [each for each in _bookmarks(turn) if each["url"] != address])
        turn.keep(said="Bookmark removed")
    elif address != NEW_TAB:
        _write_bookmarks(turn, [*_bookmarks(turn), {"name": page_at(turn, address).title, "url": address}])
        turn.keep(said="Bookmarked")


class Bookmarks(Screen):
    name = "org.chromium.chrome.browser.app.bookmarks.BookmarkActivity"

    def view(self, at: Scene) -> View:
        lines = [
            item(each["name"], each["url"], tap=("visit", each["url"]), start=icon("star"),
                 end=icon_button("close", f"Remove {each['name']}", ("remove", each["url"])))
            for each in _bookmarks(at)
        ]  # fmt: skip
        return page("Mobile bookmarks", lines or [nothing_yet("star", "No bookmarks yet")], up=("up",))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("visit", address):
                _visit_below(turn, address)
            case ("remove", address):
                _write_bookmarks(turn, [each for each in _bookmarks(turn) if each["url"] != address])


def _downloads(at: Scene) -> list[str]:
    """The paths of what was downloaded, the newest first."""
    names = at.files.names(DOWNLOADS) if at.files.is_folder(DOWNLOADS) else []
    paths = [posixpath.join(DOWNLOADS, name) for name in names if not name.startswith(".")]
    files = [path for path in paths if not at.files.is_folder(path)]
    return sorted(files, key=lambda path: changed(at.files, path), reverse=True)


def _download(at: Scene, path: str) -> View:
    under = f"{said_size(size_of(at.files, path))} · {said_time(changed(at.files, path))}"
    return item(posixpath.basename(path), under, tap=("open", path), start=icon(icon_of(path)))


class Downloads(Screen):
    name = "org.chromium.chrome.browser.app.download.home.DownloadActivity"

    def view(self, at: Scene) -> View:
        lines = [_download(at, path) for path in _downloads(at)]
        return page("Downloads", lines or [nothing_yet("download", "No downloads here")], up=("up",))

    def on(self, turn: Turn, event: Event) -> None:
        match event:
            case ("up",):
                turn.close()
            case ("open", path):
                if kind_of(path).partition("/")[0] in ("text", "image"):
                    _visit_below(turn, address_of(path))
                elif not turn.ask(to_view(path)):
                    turn.toast("No app can open this file")


class Settings(Screen):
    name = "org.chromium.chrome.browser.settings.SettingsActivity"

    def view(self, at: Scene) -> View:
        body = [
            text("Basics", size=14, color="primary", pad=(16, 12, 16, 0)),
            *(item(title, _chosen(at, name), tap=("ask", name)) for name, (title, _) in _QUESTIONS.items()),
            text("Advanced", size=14, color="primary", pad=(16, 12, 16, 0)),
            *(switch_item(title, preference(at, PACKAGE, name, "on") == "on", ("flip", name))
              for name, title in _SWITCHES.items()),
        ]  # fmt: skip
        over = []
        if asked := at.get(OVER):
            title, choices = _QUESTIONS[asked]
            lines = [radio(choice, choice == _chosen(at, asked), ("answer", choice)) for choice in choices]
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
            case ("flip", name):
                on = preference(turn, PACKAGE, name, "on") == "on"
                set_preference(turn, PACKAGE, name, "off" if on else "on")


_QUESTIONS: dict[str, tuple[str, Sequence[str]]] = {
    "search_engine": ("Search engine", tuple(SEARCHES)),
}
_SWITCHES = {
    "javascript": "JavaScript",
    "cookies": "Cookies",
    "pop_ups": "Block pop-ups",
    "save_passwords": "Save passwords",
}


def _search(at: Scene) -> str:
    return SEARCHES.get(_chosen(at, "search_engine"), SEARCHES["Google"])


def _chosen(at: Scene, name: str) -> str:
    return preference(at, PACKAGE, name, _QUESTIONS[name][1][0])


class Chrome(App):
    package = PACKAGE
    label = "Chrome"
    icon = "globe"
    colour = "#1a73e8"
    screens = (Window, History, Bookmarks, Downloads, Settings)
    aliases = {"com.google.android.apps.chrome.Main": Window.name}
    permissions = ("POST_NOTIFICATIONS",)

    def install(self, state: State) -> State:
        files = state.files.write(HISTORY, Database.make(_HISTORY_TABLE), state.now)
        if BOOKMARKS in files:
            files = files.remove(BOOKMARKS, state.now)
        return without_preferences(replace(state, files=files), PACKAGE)

    def activity_for(self, at: Scene, intent: Intent) -> Activity | None:
        if intent.action != "android.intent.action.VIEW":
            return None
        scheme = intent.data.partition(":")[0].lower()
        if scheme in ("http", "https"):
            return Activity(PACKAGE, Window.name, {"open": intent.data})
        if scheme == "file" and "text/html" in (intent.kind, kind_of(intent.data)):
            # Other apps name the file as it is, and not as an address is written.
            path = path_of(intent.data)
            return Activity(PACKAGE, Window.name, {"open": address_of(path) if path in at.files else intent.data})
        return None
