"""The report in a real browser: Debian's Chromium, or the one that CHROMIUM names, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eapo_gym.bench.records import Episode
from eapo_gym.bench.report import view_of, write_report
from eapo_gym.bench.store import Run
from eapo_gym.schema import Trajectory
from tests.bench.reports import SOLVES, corridor, gui, one_step, run_of, says
from tests.bench.test_report import HOSTILE

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the Python package playwright")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("needs Chromium (apt-get install chromium, or its path in CHROMIUM)", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--no-first-run"]

READY = ", ".join(f"main:not([hidden]) {part}" for part in (".moment-head", ".ending", ".list-window tr:not(.gap)"))
"""An episode, one without steps, or the list."""

Open = Callable[..., Any]
IN_BROWSER = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the report of a run; nothing may be asked of any network, and nothing may go wrong in the page."""
    pages: list[Any] = []
    faults: list[str] = []
    asked: list[str] = []

    def open_(run: Run | list[Run], place: str = "", **options: Any) -> Any:
        path = write_report(run, tmp_path / "report.html", **options)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(10_000)
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri() + place)
        page.wait_for_selector(READY)
        return page

    yield open_
    for page in pages:
        page.close()
    assert faults == []
    assert [url for url in asked if not url.startswith(("file:", "data:image/webp"))] == []


@pytest.fixture(scope="module")
def solved() -> Episode:
    return corridor(*SOLVES)


@pytest.fixture(scope="module")
def failed() -> Episode:
    return corridor(says("look"), repeat=1)


def heading(page: Any) -> str:
    return str(page.inner_text(".moment-head h2"))


def visible_rows(page: Any) -> list[str]:
    """The numbers of the episodes that the list shows, read at one moment: rows may be drawn anew at any other."""
    rows: list[str] = page.evaluate(
        "[...document.querySelectorAll('.list-window tbody tr:not(.gap) td:first-child')].map(cell => cell.textContent)"
    )
    return rows


class TestOverview:
    def test_numbers_and_list(self, open_report: Open, solved: Episode, failed: Episode) -> None:
        page = open_report(run_of(solved, failed, planned=2))
        text = page.inner_text("#overview")
        assert "25 %" in text
        assert "1 of 4" in text
        assert "2 of 4 planned episodes not played" in text
        assert "embedded source: generated tasks" in text
        assert visible_rows(page) == ["1", "2"]

    def test_filters_search_and_order(self, open_report: Open, solved: Episode, failed: Episode) -> None:
        page = open_report(run_of(solved, failed))
        page.get_by_label("All outcomes").select_option("agent")
        assert visible_rows(page) == ["2"]
        page.get_by_label("All outcomes").select_option("")
        page.keyboard.press("/")
        page.keyboard.type("no-such-task")
        assert "No episode is like that." in page.inner_text(".list-window")
        page.get_by_label("Search tasks and errors").fill("IndexError")
        assert visible_rows(page) == ["2"]
        page.get_by_label("Search tasks and errors").fill("")
        page.get_by_role("button", name="Steps").click()
        assert visible_rows(page) == ["2", "1"]
        page.get_by_role("button", name="Steps").click()
        assert visible_rows(page) == ["1", "2"]

    def test_an_outcome_of_the_plot_chooses_its_episodes(
        self, open_report: Open, solved: Episode, failed: Episode
    ) -> None:
        page = open_report(run_of(solved, failed))
        page.locator(".outcome-key button", has_text="agent failed").click()
        assert visible_rows(page) == ["2"]

    def test_there_and_back(self, open_report: Open, solved: Episode, failed: Episode) -> None:
        page = open_report(run_of(solved, failed))
        page.locator(".list-window tbody tr").nth(2).click()
        page.wait_for_selector(".moment-head")
        assert "agent failed" in page.inner_text(".episode-head")
        for _ in range(2):
            page.keyboard.press("ArrowRight")
        page.go_back()
        page.wait_for_selector("#overview:not([hidden])")
        assert page.locator("#episode").is_hidden()

    def test_of_many_episodes_only_those_in_sight_are_in_the_page(self, open_report: Open, solved: Episode) -> None:
        page = open_report(run_of(*(corridor(says("look"), repeat=i) for i in range(300))))
        assert 0 < page.locator(".list-window tbody tr").count() < 80
        page.evaluate("document.querySelector('.list-window').scrollTop = 1e6")
        sync_api.expect(page.locator(".list-window tbody")).to_contain_text("300")

    def test_several_runs_are_compared(
        self, open_report: Open, solved: Episode, failed: Episode, tmp_path: Path
    ) -> None:
        runs = [run_of(solved, folder=tmp_path / "a"), run_of(failed, folder=tmp_path / "b")]
        page = open_report(runs)
        rows = page.locator(".compare tbody tr").all_inner_texts()
        assert ["100.0 % (20.7–100.0)" in row for row in rows] == [True, False]
        assert ["0.0 % (0.0–79.3)" in row for row in rows] == [False, True]
        heads = page.locator(".compare thead th").all_inner_texts()
        assert ("Failed" in heads, "Episodes" in heads) == (True, False), "what is the same for all is no column"
        assert "episodes 1" in page.inner_text(".same")
        page.get_by_role("button", name="b", exact=True).click()
        assert visible_rows(page) == ["2"]
        assert page.locator(".compare").count() == 0


class TestEpisode:
    def test_links_lead_to_a_step_and_keys_through_all(
        self, open_report: Open, solved: Episode, failed: Episode
    ) -> None:
        page = open_report(run_of(solved, failed), "#1/3")
        assert heading(page) == "Step 3"
        page.keyboard.press("ArrowRight")
        assert heading(page) == "Step 4"
        assert page.evaluate("location.hash") == "#1/4"
        page.keyboard.press("End")
        assert heading(page) == "The end"
        page.keyboard.press("ArrowRight")
        assert heading(page) == "The end"
        page.keyboard.press("j")
        page.wait_for_url("**/*#2/1")
        page.keyboard.press("k")
        page.wait_for_url("**/*#1/1")
        page.keyboard.press("Escape")
        page.wait_for_selector("#overview:not([hidden])")

    def test_a_step_says_what_was_seen_thought_and_done(self, open_report: Open, solved: Episode) -> None:
        page = open_report(run_of(solved), "#1/1")
        text = page.inner_text(".reading")
        for said in (
            "You are in room 0",
            "Where am I?",
            "What is here?",
            "Key in room 0.",
            "look",
            "leaves the state as it is",
        ):
            assert said in text
        assert page.locator(".offered .chosen").inner_text() == "look"
        assert "<memory>" not in text
        page.keyboard.press("r")
        assert "<memory> Key in room 0. Lamp off. </memory>" in page.inner_text(".reading")

    def test_memory_shows_what_changed(self, open_report: Open, solved: Episode) -> None:
        page = open_report(run_of(solved), "#1/3")
        assert page.locator(".memory ins").all_inner_texts() == ["still"]
        page.keyboard.press("ArrowRight")
        assert page.locator(".memory del").all_inner_texts() == ["room 0. Lamp still off."]
        assert page.locator(".memory ins").all_inner_texts() == ["hand."]
        page.keyboard.press("ArrowRight")
        assert "unchanged" in page.inner_text(".memory")

    def test_rollbacks_and_invalid_actions_are_marked(self, open_report: Open, solved: Episode) -> None:
        page = open_report(run_of(solved), "#1/3")
        assert "back in the state before by “left”" in page.inner_text(".act")
        assert page.locator(".strip .rollback").count() == page.locator(".graph .edge.rollback").count() == 1
        page.goto(page.url.replace("#1/3", "#1/5"))
        assert "nothing to execute" in page.inner_text(".act")
        assert "There is nothing to execute" in page.inner_text(".problems")
        assert page.locator(".strip .invalid").count() == 1

    def test_a_failure_is_named(self, open_report: Open, failed: Episode) -> None:
        page = open_report(run_of(failed), "#1/2")
        assert "agent failed" in page.inner_text(".ending").lower()
        assert "IndexError" in page.inner_text(".ending")

    def test_an_episode_that_never_began(self, open_report: Open) -> None:
        empty = Episode("a", Trajectory("t", ""), outcome="timeout", error="The reset took too long.")
        page = open_report(run_of(empty), "#1/1")
        assert "The reset took too long." in page.inner_text("#episode")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("m")

    def test_hostile_text_is_shown_as_text(self, open_report: Open) -> None:
        page = open_report(run_of(one_step(HOSTILE, memory_in="x")), "#1/1")
        page.keyboard.press("r")
        text = page.inner_text(".reading")
        assert '<script>alert("x")</script><img src=x onerror=alert(1)>' in text
        assert "␛[31m" in text
        assert page.locator("#episode img, #episode script").count() == 0
        page.keyboard.press("Escape")
        page.wait_for_selector("#overview:not([hidden])")
        assert page.locator("#overview img, #overview script").count() == 0

    def test_screens_with_and_without_marks(self, open_report: Open, tmp_path: Path) -> None:
        pytest.importorskip("PIL.Image")
        page = open_report(gui(tmp_path), "#1/1")
        sync_api.expect(page.locator("figure img")).to_have_js_property("naturalWidth", 160)
        marked = page.get_attribute("figure img", "src")
        page.keyboard.press("m")
        sync_api.expect(page.locator("figure img")).to_have_js_property("naturalWidth", 160)
        assert page.get_attribute("figure img", "src") != marked

    def test_pictures_that_are_not_there_are_named(self, open_report: Open, tmp_path: Path) -> None:
        pytest.importorskip("PIL.Image")
        page = open_report(gui(tmp_path), "#1/1", images_mb=0)
        page.wait_for_selector(".missing")
        assert "left out, since the limit is 0 MB" in page.inner_text(".missing")


class TestGraph:
    def test_a_row_for_each_state_that_leads_to_its_visits(self, open_report: Open, solved: Episode) -> None:
        page = open_report(run_of(solved), "#1/2")
        rows = page.locator(".graph-rows li")
        assert rows.count() == len(set(solved.fingerprints()))
        rows.nth(0).locator("button").click()  # the first state was visited at 1, 2 and 4
        assert heading(page) == "Step 4"
        rows.nth(0).locator("button").click()
        assert heading(page) == "Step 1"
        rows.nth(0).locator(".visits a", has_text="2").click()
        assert heading(page) == "Step 2"

    def test_depth_is_that_of_the_moment(self, open_report: Open, solved: Episode) -> None:
        page = open_report(run_of(solved), "#1/1")
        numbers = page.locator(".graph-lines text")
        assert numbers.nth(0).text_content() == ""
        page.keyboard.press("ArrowRight")
        assert numbers.nth(0).text_content() == "1"

    def test_it_fits_however_many_states(self, open_report: Open) -> None:
        page = open_report(run_of(corridor(*(says(c) for c in ["light lamp", *["right", "left"] * 5]))), "#1/1")
        page.get_by_role("button", name="The whole graph at once").click()
        sizes = page.evaluate(
            "[...document.querySelectorAll('.graph-scroll')].map(e => [e.scrollHeight, e.clientHeight])[0]"
        )
        assert sizes[0] <= sizes[1]

    @IN_BROWSER
    @given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
    def test_no_line_runs_through_a_state_that_it_does_not_join(self, blank: Any, walk: list[int]) -> None:
        graph = blank.evaluate(
            "prints => { const g = graphOf(prints.map(p => ({ print: String(p), did: { rollback: null } })));"
            " return { states: g.states, edges: g.edges, committed: [...g.committed], widths: g.widths }; }",
            walk,
        )
        states = graph["states"]
        assert [state["row"] for state in states] == list(range(len(set(walk))))
        assert sorted(t for state in states for t in state["visits"]) == list(range(len(walk)))
        loops = sum(len(state["loops"]) for state in states)
        assert sum(len(edge["steps"]) for edge in graph["edges"]) + loops == len(walk) - 1
        for state in states:
            between = range(state["parent"] + 1, state["row"])
            assert all(states[row]["lane"] != state["lane"] for row in between)
            assert graph["widths"][state["row"]] > state["lane"]
        assert all(states[row]["lane"] == 0 for row in graph["committed"])


@pytest.fixture(scope="module")
def blank(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page with the scripts of the viewer."""
    path = write_report(run_of(one_step("x")), tmp_path_factory.mktemp("blank") / "report.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    yield page
    page.close()


@IN_BROWSER
@given(*[st.lists(st.sampled_from(["key", "lamp", "room", "on.", "off.", "\n"]), max_size=12).map(" ".join)] * 2)
def test_a_diff_has_both_texts_in_it(blank: Any, before: str, after: str) -> None:
    parts = blank.evaluate("([before, after]) => wordDiff(before, after)", [before, after])
    assert "".join(text for kind, text in parts if kind != "gone") == after
    assert " ".join(text for kind, text in parts if kind != "new").split() == before.split()


def test_texts_too_long_to_compare_are_not_compared(blank: Any) -> None:
    assert blank.evaluate("wordDiff('a '.repeat(9000), 'b '.repeat(9000))") is None
    assert blank.evaluate("wordDiff('a '.repeat(9000), 'a '.repeat(9000) + 'b')") == [
        ["same", "a " * 9000],
        ["new", "b"],
    ]


def test_a_view_that_grows_is_followed_from_its_end_alone(blank: Any, solved: Episode) -> None:
    whole = view_of(solved)
    shown = blank.evaluate(
        """whole => {
          const end = n => ({ ...whole.moments[n], did: null });
          const until = n => ({ ...whole, moments: [...whole.moments.slice(0, n), end(n)] });
          const place = document.createElement("div");
          document.body.append(place);
          const viewer = new EpisodeViewer(place);
          viewer.show(until(2), 2);
          const seen = [viewer.moment];
          viewer.update(until(3));
          seen.push(viewer.moment);
          viewer.go(1);
          const before = place.querySelector(".columns");
          viewer.update(until(5));
          const isSame = before === place.querySelector(".columns");
          seen.push(viewer.moment, isSame, place.querySelectorAll(".strip button").length);
          place.remove();
          return seen;
        }""",
        whole,
    )
    assert shown == [2, 3, 1, True, 6]
