"""The game in a real browser: Debian's Chromium, or the one that CHROMIUM names, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.bench.store import load_run
from tests.bench.test_live import Played, playing
from tests.toys import Corridor

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the Python package playwright")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("needs Chromium (apt-get install chromium, or its path in CHROMIUM)", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--no-first-run"]

HOSTILE = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script></textarea>\x1b[31m"

Open = Callable[[Played], Any]


class Hostile(Corridor):
    """Says things that would be markup, were they not text."""

    def describe(self) -> str:
        return f"{super().describe()} {HOSTILE}"

    def tasks(self, split: str | None = None) -> list[str]:
        return [f"{HOSTILE}/key-in-1", "train/key-in-1"]

    def valid_actions(self) -> list[str]:
        return [*super().valid_actions(), f"say {HOSTILE}"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api.expect.set_options(timeout=20_000)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Open]:
    """Opens a tab of its own kind (no cookies of another one); nothing may go wrong in its page."""
    contexts: list[Any] = []
    faults: list[str] = []

    def open_(played: Played) -> Any:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
        page.goto(f"http://127.0.0.1:{played.port}/?token={played.token}")
        page.wait_for_selector("#offered li")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []


def whose(page: Any, text: str) -> None:
    sync_api.expect(page.locator("#when")).to_have_text(text)


def do(page: Any, command: str) -> None:
    page.locator("#offered li", has_text=command).first.click()


def test_a_person_clicks_writes_rolls_back_and_sees_the_graph_grow(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", task="train/key-in-1") as played:
        page = tab(played)
        assert "token" not in page.url
        assert page.locator(".graph-rows li").count() == 1
        page.fill("#think", "nothing here")
        page.fill("#explore", "the rooms to the right")
        page.fill("#memory", "room 0 is empty")
        do(page, "right")
        whose(page, "step 2")
        assert page.locator(".graph-rows li").count() == 2
        assert page.input_value("#memory") == "room 0 is empty", "the memory is carried on"
        assert page.input_value("#explore") == ""
        assert "the rooms to the right" in page.locator(".reading").inner_text(), "the agent's view has it"
        page.fill("#memory", "room 0 is empty, the key is in room 1")
        page.click("#rollback")
        whose(page, "step 3")
        assert page.locator(".graph-rows li").count() == 2, "back in a state that was known"
        assert page.locator(".graph .edge.rollback").count() == 1
        assert page.input_value("#memory") == "room 0 is empty, the key is in room 1"

        page.click("#prompt")
        assert "room 0 is empty, the key is in room 1" in page.locator("#prompt-text").inner_text()
        page.click("#prompt-close")

        for step, command in enumerate(("right", "take key", "right", "right"), 4):
            page.fill("#command", command)
            page.press("#command", "Enter")
            whose(page, f"step {step}")
        page.fill("#command", "unlock")
        page.press("#command", "ArrowDown")
        page.press("#command", "Enter")
        sync_api.expect(page.locator("#outcome")).to_have_text("solved")
        assert "1 episode kept" in page.locator("#kept").inner_text()
        page.click("#over-again")
        whose(page, "step 1")
        assert page.input_value("#memory") == ""
        played.stop()
        sync_api.expect(page.locator("#banner")).to_be_visible()
    [episode] = load_run(tmp_path / "run").episodes
    assert episode.success
    assert episode.notes[0].think == "nothing here"
    assert [step.action for step in episode.trajectory.transitions][1:3] == ["rollback", "right"]


def test_a_command_that_is_hardly_meant_is_asked_about(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", task="train/key-in-1") as played:
        page = tab(played)
        page.fill("#memory", "still being written")
        page.fill("#command", "rihgt")
        page.press("#command", "Enter")
        sync_api.expect(page.locator("#problem")).to_contain_text("Did you mean 'right'?")
        assert page.input_value("#memory") == "still being written"
        page.click("#problem button")
        whose(page, "step 2")
        assert played.state()["view"]["moments"][0]["did"]["action"] is None


def test_two_tabs_see_the_same_game(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", task="train/key-in-1") as played:
        one, other = tab(played), tab(played)
        do(one, "right")
        whose(other, "step 2")
        assert "room 1" in other.locator(".reading").inner_text()
        do(other, "take key")
        whose(one, "step 3")


def test_a_task_is_chosen(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", "alfworld", kwargs={"split": "valid"}) as played:
        page = tab(played)
        page.click("#choose")
        page.wait_for_selector("#choose-task option")
        assert page.locator("#choose-split option").all_inner_texts() == ["train", "valid"]
        page.select_option("#choose-split", "train")
        sync_api.expect(page.locator("#choose-count")).to_contain_text("of 1,000")
        page.fill("#choose-filter", "SoapBar")
        task = page.locator("#choose-task option").nth(1).inner_text()
        page.select_option("#choose-task", task)
        page.click("#choose-begin")
        sync_api.expect(page.locator(".episode-head .facts code")).to_have_text(task)
        sync_api.expect(page.locator("#split")).to_have_text("split train")
        page.click("#hint")
        sync_api.expect(page.locator("#notice")).to_contain_text("Hint: ")


def test_a_click_on_the_screenshot_is_an_action(tmp_path: Path, tab: Open) -> None:
    pytest.importorskip("PIL", reason="pillow is not installed")
    target = "tests.toys_gui:Pages"
    with playing(tmp_path / "run", target, task="train/button-1", kwargs={"size": [300, 400]}) as played:
        page = tab(played)
        image = page.locator("figure img")
        sync_api.expect(image).to_have_js_property("naturalWidth", 400)
        box = image.bounding_box()
        image.click(position={"x": box["width"] * 0.75, "y": box["height"] / 2}, modifiers=["Shift"])
        assert page.input_value("#command") == '{"action_type": "click", "index": 1}', "written, to be changed or sent"
        whose(page, "step 1")
        image.click(position={"x": box["width"] * 0.75, "y": box["height"] / 2})
        whose(page, "step 2")
        sync_api.expect(image).to_have_js_property("naturalWidth", 400)
        image.click(position={"x": box["width"] / 2, "y": box["height"] / 2})  # between the two buttons
        problem = page.locator("#problem")
        sync_api.expect(problem).to_contain_text('"x": ')
        assert played.state()["view"]["moments"][0]["did"]["action"] == '{"action_type": "click", "index": 1}'


def test_what_an_environment_says_is_text_and_never_markup(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", f"{Path(__file__)}:Hostile", task=f"{HOSTILE}/key-in-1") as played:
        page = tab(played)
        page.fill("#memory", HOSTILE.replace("\x1b", ""))
        do(page, "right")
        whose(page, "step 2")
        page.fill("#command", "<img")
        page.click("#prompt")
        page.wait_for_timeout(200)
        assert "onerror" in page.locator("#prompt-text").inner_text()
        page.click("#prompt-close")
        page.click("#choose")
        page.wait_for_selector("#choose-task option")
        assert "owned" not in page.title().removeprefix("Unlock")
        assert page.locator("img[onerror], body script ~ script").count() == 0
        assert page.locator("script").count() == 1
