"""Chrome: tabs, addresses, history, bookmarks, and the games in pages."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import pytest

from eapo_gym.envs.androidworld.actions import Action
from eapo_gym.envs.androidworld.phone.apps.chrome import games
from eapo_gym.envs.androidworld.phone.apps.chrome.browser import (
    BOOKMARKS,
    DOWNLOADS,
    HISTORY,
    PACKAGE,
    PRIVACY,
    WELCOME,
    as_address,
)
from eapo_gym.envs.androidworld.phone.apps.chrome.games import DRAW, MAZE, MULTIPLY, SUCCESS, Game, Played
from tests.envs.androidworld.somebody import Somebody

PAGE = """<html><head><title>Bees &amp; "honey" 🐝</title><style>p {}</style></head><body>
<h1>Bees</h1><p>They   dance.<br>Often.</p><ul><li>One</li><li>Two</li></ul>
<script>document.write("never")</script><a href="other.html">More</a> <a href="#">Top</a>"""
MENU, TABS = "Customize and control Google Chrome", "/Switch or close tabs.*/"
URL_BAR = "/Search or type web address|file:.*|https:.*/"


@pytest.fixture
def somebody() -> Somebody:
    somebody = Somebody("Chrome")
    somebody.taps(WELCOME[0], PRIVACY[0])
    return somebody


def goes_to(somebody: Somebody, address: str) -> None:
    somebody.writes(address, URL_BAR)


def opens(somebody: Somebody, game: Game) -> None:
    somebody.has_file(f"{DOWNLOADS}/task.html", games.page_of(game))
    goes_to(somebody, f"file://{DOWNLOADS}/task.html")


def test_a_new_chrome_welcomes_once(somebody: Somebody) -> None:
    somebody.adb("am", "force-stop", PACKAGE)
    somebody.does(somebody.finger.open("Chrome"))
    assert somebody.finger.fields("Search or type web address")
    somebody.adb("pm", "clear", PACKAGE)
    somebody.does(somebody.finger.open("Chrome"))
    assert somebody.sees(WELCOME[0])


def test_a_page_is_read_without_its_scripts_and_its_links_work(somebody: Somebody) -> None:
    somebody.has_file(f"{DOWNLOADS}/bees.html", PAGE)
    somebody.has_file(f"{DOWNLOADS}/other.html", "<p>The other page")
    goes_to(somebody, f"{DOWNLOADS}/bees.html")
    assert {"Bees", "They dance.", "Often.", "• One", "• Two", "More"} <= set(somebody.texts())
    assert not somebody.sees("never")
    somebody.taps("More")
    assert somebody.sees("The other page")
    somebody.goes_back()
    assert somebody.sees("They dance.")
    somebody.taps(MENU, "Forward")
    assert somebody.sees("The other page")
    somebody.taps(MENU, "Find in page")
    somebody.writes("THE O", "Find in page")
    assert somebody.sees("1/1")


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("example.org/a b", "https://www.google.com/search?q=example.org%2Fa+b"),
        ("example.org/a", "https://example.org/a"),
        ("HTTP://Example.org", "http://Example.org"),
        ("bees & 'honey' #1 🐝", "https://www.google.com/search?q=bees+%26+%27honey%27+%231+%F0%9F%90%9D"),
        ("/sdcard/Download", "file:///sdcard/Download"),
        ("localhost:8000", "https://localhost:8000"),
    ],
)
def test_what_is_typed_is_an_address_or_a_search(typed: str, address: str) -> None:
    assert as_address(typed) == address


def test_what_cannot_be_shown_says_why(somebody: Somebody) -> None:
    goes_to(somebody, "example.org")
    assert somebody.sees("ERR_NAME_NOT_RESOLVED")
    somebody.adb("svc", "wifi", "disable")
    somebody.adb("svc", "data", "disable")
    assert somebody.sees("ERR_INTERNET_DISCONNECTED")
    goes_to(somebody, "file:///no/such.html")
    assert somebody.sees("ERR_FILE_NOT_FOUND")
    somebody.has_file(f"{DOWNLOADS}/x.zip", b"PK")
    goes_to(somebody, f"file://{DOWNLOADS}/x.zip")
    assert somebody.sees("ERR_INVALID_RESPONSE")


def test_folders_texts_and_names_with_odd_letters_are_shown(somebody: Somebody) -> None:
    somebody.has_file(f"{DOWNLOADS}/a b & 100% 'c' 🐝.txt", "first\nsecond")
    goes_to(somebody, f"file://{DOWNLOADS}")
    somebody.taps("a b & 100% 'c' 🐝.txt")
    assert {"first", "second"} <= set(somebody.texts())


def test_tabs_are_opened_shown_and_closed_and_private_ones_leave_no_trace(somebody: Somebody) -> None:
    goes_to(somebody, "example.org")
    somebody.taps(MENU, "New Incognito tab")
    assert somebody.sees("You've gone Incognito")
    goes_to(somebody, "secret.org")
    somebody.taps(TABS)
    assert somebody.sees("2 open tabs")
    somebody.taps("Close secret.org tab")
    somebody.taps("example.org")
    assert somebody.sees("Switch or close tabs, 1 open tab")
    somebody.taps(MENU, "History")
    assert somebody.sees("https://example.org")
    assert not somebody.sees("https://secret.org")
    somebody.goes_back()
    somebody.taps(TABS, "Close all")
    assert somebody.sees("1 open tab")


def test_history_is_an_sqlite_file_searched_and_deleted(somebody: Somebody, tmp_path: Path) -> None:
    for address in ("one.org", "two.org", "one.org"):
        goes_to(somebody, address)
    file = tmp_path / "History"
    somebody.hands.adb.run(["pull", HISTORY, str(file)])
    with sqlite3.connect(file) as connection:
        found = connection.execute("SELECT url, visit_count FROM urls ORDER BY url").fetchall()
    connection.close()
    assert found == [("https://one.org", 2), ("https://two.org", 1)]
    somebody.taps(MENU, "History")
    somebody.writes("TWO", "Search history")
    assert not somebody.sees("https://one.org")
    somebody.taps("Remove two.org")
    assert somebody.sees("No history here")
    somebody.writes(" ", clear=True)
    somebody.taps("https://one.org")
    assert somebody.sees("ERR_NAME_NOT_RESOLVED")
    somebody.taps(MENU, "History", "Clear browsing data…", "Clear")
    assert somebody.sees("No history here")


def test_bookmarks_are_kept_as_chrome_keeps_them(somebody: Somebody) -> None:
    somebody.has_file(f"{DOWNLOADS}/bees.html", PAGE)
    goes_to(somebody, f"file://{DOWNLOADS}/bees.html")
    somebody.taps(MENU, "Bookmark")
    [kept] = json.loads(somebody.phone.state.files.text(BOOKMARKS))["roots"]["synced"]["children"]
    assert kept["name"] == 'Bees & "honey" 🐝'
    somebody.taps("/Home/", MENU, "Bookmarks", 'Bees & "honey" 🐝')
    assert somebody.sees("They dance.")
    somebody.taps(MENU, "Remove bookmark")
    somebody.has_file(BOOKMARKS, "{spoilt")
    somebody.taps(MENU, "Bookmarks")
    assert somebody.sees("No bookmarks yet")


def test_a_file_that_another_app_opens_becomes_a_tab_and_stays_one(somebody: Somebody) -> None:
    somebody.has_file(f"{DOWNLOADS}/my page 50%.html", "<title>Mine</title><p>It is mine.")
    somebody.adb("am", "start", "-a", "android.intent.action.VIEW", "-t", "text/html", "-d",
                 f"'file://{DOWNLOADS}/my page 50%.html'")  # fmt: skip
    assert somebody.sees("It is mine.")
    somebody.does(Action("navigate_home"), somebody.finger.open("Chrome"))
    assert somebody.sees("It is mine.")
    somebody.taps(MENU, "History")
    assert somebody.sees("Mine")


def test_the_address_bar_suggests_what_was_visited_and_the_way_back_leaves_it(somebody: Somebody) -> None:
    goes_to(somebody, "honey.org")
    somebody.does(Action("click", index=somebody.finger.fields("https://honey.org")[0].index))
    assert somebody.finger.fields("Search or type web address"), "it is empty, so that one can write at once"
    assert somebody.sees("https://honey.org")
    somebody.goes_back()
    somebody.goes_back()
    assert somebody.finger.fields("https://honey.org")


# The games


def test_the_seeds_mean_what_they_mean_in_the_pages() -> None:
    # Told by the pages' own scripts.
    assert sorted(games.open_cells(0)) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 2), (3, 2), (3, 3)]
    assert games.wanted_colours(0) == ["#00ffff", "#008000", "#9400d3"]
    assert games.numbers(0) == [3, 3, 9, 7, 4]


@pytest.mark.parametrize("seed", [*range(40), 2**32 - 1])
def test_every_maze_has_a_way_out(seed: int) -> None:
    played = Played()
    for step in games.way_out(seed):
        assert not played.won
        played = games.after(Game(MAZE, seed), played, ("step", step), "")
    assert played.won


@pytest.mark.parametrize(
    ("page", "game"),
    [
        (games.page_of(Game(DRAW, 7)), Game(DRAW, 7)),
        ("<TITLE> Memory Task\n</TITLE> new SeededRNG( 12 )", Game(MULTIPLY, 12)),
        ("<title>Memory Task</title> new SeededRNG(-12)", None),
        ("<title>Another Task</title> new SeededRNG(12)", None),
        ("new SeededRNG(12)", None),
    ],
)
def test_a_game_is_known_by_its_title_and_seed(page: str, game: Game | None) -> None:
    assert games.game_of(page) == game


def test_in_the_maze_walls_stop_and_a_reload_begins_anew(somebody: Somebody) -> None:
    opens(somebody, Game(MAZE, 0))
    start = somebody.finger.find("X")
    somebody.taps("Up", "Left", "Down")
    assert somebody.finger.find("X") == start
    somebody.taps("Right")
    assert somebody.finger.find("X") != start
    somebody.taps(MENU, "Reload")
    assert somebody.finger.find("X") == start
    somebody.taps(*games.way_out(0))
    assert somebody.sees(SUCCESS)


@pytest.mark.parametrize(
    ("answer", "won"),
    [("{}", True), ("{}.9", True), (" {} ", True), ("0{}", True), ("-{}", False), ("", False), ("many", False),
     ("{}1", False), ("1e99", False), ("{} apples", False), ("٣", False)],
)  # fmt: skip
def test_the_product_is_read_as_the_page_reads_it(answer: str, won: bool) -> None:
    game = Game(MULTIPLY, 3)
    written = answer.format(math.prod(games.numbers(3)))
    assert games.after(game, Played(clicks=5), ("submit_product",), written).won is won


def test_the_numbers_are_shown_one_after_the_other_and_then_asked_for(somebody: Somebody) -> None:
    opens(somebody, Game(MULTIPLY, 0))
    for number in games.numbers(0):
        assert somebody.sees(str(number))
        assert not somebody.finger.fields("Enter the product")
        somebody.taps("Click Me")
    somebody.writes("5", "Enter the product")
    somebody.taps("Submit")
    assert not somebody.sees(SUCCESS)
    somebody.writes(str(math.prod(games.numbers(0))), "5", clear=True)
    somebody.taps("Submit")
    assert somebody.sees(SUCCESS)


def draws(somebody: Somebody, colour: str, direction: str) -> None:
    silent = [each for each in somebody.elements() if each.kind == "Button" and not each.text]
    somebody.does(Action("click", index=silent[games.PALETTE.index(colour)].index))
    [canvas] = [each for each in somebody.elements() if each.resource.endswith("canvas")]
    somebody.does(Action("scroll", direction=direction, index=canvas.index))


def test_a_drawing_needs_all_three_colours_to_be_seen(somebody: Somebody) -> None:
    opens(somebody, Game(DRAW, 0))
    first, second, third = games.wanted_colours(0)
    draws(somebody, first, "up")
    draws(somebody, second, "left")
    somebody.taps("Submit")
    assert not somebody.sees(SUCCESS)
    draws(somebody, third, "left")
    somebody.taps("Submit")
    assert not somebody.sees(SUCCESS), "the second colour was painted over"
    draws(somebody, second, "right")
    somebody.taps("Submit")
    assert somebody.sees(SUCCESS)
    somebody.taps("Clear", "Submit")
    assert not somebody.sees(SUCCESS)
    assert somebody.phone.picture().size == (1080, 2400)


def test_what_is_drawn_beside_the_canvas_is_not_on_it() -> None:
    assert games.colours_on([("#ff0000", -50.0, 10.0, -1.0, 10.0)]) == set()
    assert games.colours_on([("#ff0000", -50.0, 10.0, 5.0, 10.0)]) == {"#ff0000"}
    assert games.colours_on([("#ff0000", 5.0, 5.0, 5.0, 5.0)]) == {"#ff0000"}


def test_settings_choose_where_to_search_and_whether_pages_play(somebody: Somebody) -> None:
    opens(somebody, Game(MAZE, 0))
    somebody.taps(MENU, "Settings", "Search engine", "Ecosia", "JavaScript", "Navigate up")
    assert not somebody.sees("X")
    goes_to(somebody, "plum cake")
    assert somebody.finger.fields("https://www.ecosia.org/search?q=plum+cake")
