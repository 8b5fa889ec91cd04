"""The game in a real browser: Debian's Chromium, or the one that CHROMIUM names, driven by Playwright."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.bench.store import load_run
from eapo_gym.envs.webshop.env import WebShopEnv
from eapo_gym.envs.webshop.opening import OpenShop
from eapo_gym.envs.webshop.products import Instruction, Product
from eapo_gym.envs.webshop.store import MemoryCatalogue
from tests.bench.test_live import Played, playing
from tests.envs.webshop.original_sessions import SimpleNouns, TitleSearch
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


ODD_OPTIONS = ('6" wide', "o'neil & sons", "a]b", "größe 🧦", "<b>bold</b>", "back\\slash")
OUT_OF_REACH = ("[boxed]", "description")
"""The first is cut in two by its brackets, the second is what another button is called."""


class OddShop(WebShopEnv):
    """Sells one thing, whose every text would be markup, a command or a script, were it not text."""

    def __init__(self, **kwargs: Any) -> None:
        product = Product(
            asin="B0000ODD01",
            name=f"Odd sock {HOSTILE}",
            category="fashion",
            query="socks",
            product_category=f"Socks › {HOSTILE}",
            description=f"A sock. {HOSTILE}",
            bullet_points=(HOSTILE, "javascript:document.title='owned'"),
            prices=(5.0,),
            price_tag="$5.0",
            options={"kind <i>": (*ODD_OPTIONS, *OUT_OF_REACH)},
            attributes=(HOSTILE,),
            template=Instruction(f"Find a sock {HOSTILE}", (HOSTILE,)),
        )
        catalogue = MemoryCatalogue([product], "odd", nouns=SimpleNouns())
        shop = OpenShop(catalogue, TitleSearch([product]), show_attributes=True)
        super().__init__(split="train", shop=shop, **kwargs)


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


# An environment's own page: the shop


SHOP = "eapo/WebShop-v0"


def search(page: Any, words: str) -> None:
    page.fill(".page input", words)
    page.click(".page .go")


def pressed(page: Any) -> list[str]:
    return [str(text) for text in page.locator('.value[aria-pressed="true"]').all_inner_texts()]


def choose(page: Any, value: str) -> None:
    page.locator(".value").get_by_text(value, exact=True).click()
    sync_api.expect(page.locator('.value[aria-pressed="true"]').get_by_text(value, exact=True)).to_be_visible()


def test_a_person_buys_what_was_asked_for_by_clicking(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", SHOP, task="test/0", kwargs={"split": "test"}) as played:
        asked: list[str] = []
        page = tab(played)
        page.on("request", lambda request: asked.append(request.url))
        search(page, "extra lightweight men's sneakers with ethylene vinyl midsole")
        whose(page, "step 2")
        assert page.locator(".card").count() == 10
        assert page.locator(".card img").first.evaluate("image => image.complete && image.naturalWidth > 0")
        page.get_by_role("button", name="Next page").click()
        sync_api.expect(page.locator(".turn .soft")).to_have_text("Page 2 of 5")
        page.get_by_role("button", name="Previous page").click()
        sync_api.expect(page.locator(".turn .soft")).to_have_text("Page 1 of 5")
        sync_api.expect(page.get_by_role("button", name="Previous page")).to_be_disabled()

        page.locator(".card", has_text="B0NBQRV591").click()
        whose(page, "step 5")
        assert pressed(page) == []
        white = page.locator(".large").get_attribute("src")
        for name in ("Description", "Features", "Reviews"):
            page.locator(".more button", has_text=name).click()
            sync_api.expect(page.locator(".text h2")).to_have_text(name)
            page.locator(".back").click()
            sync_api.expect(page.locator(".buy")).to_be_visible()
        page.fill("#memory", "B0NBQRV591 it is")
        choose(page, "heather")
        assert page.locator(".large").get_attribute("src") != white, "the picture has the colour that is chosen"
        choose(page, "8")
        choose(page, "7")
        assert pressed(page) == ["heather", "7"]
        page.locator(".buy").click()
        sync_api.expect(page.locator(".score strong")).to_have_text("1.00")
        assert page.locator(".row .number").all_inner_texts() == ["1.00"] * 4
        sync_api.expect(page.locator("#outcome")).to_have_text("solved")
        own = f"http://127.0.0.1:{played.port}/"
        assert [url for url in asked if not url.startswith((own, "data:image/svg+xml,"))] == []
        played.stop()

    [episode] = load_run(tmp_path / "run").episodes
    steps = episode.trajectory.transitions
    assert episode.success
    assert [step.action for step in steps[-4:]] == ["click[heather]", "click[8]", "click[7]", "click[buy now]"]
    assert steps[-1].memory == "B0NBQRV591 it is"
    env = WebShopEnv(split="test")
    env.reset(options={"task": episode.trajectory.task})
    assert steps[0].fingerprint == env.fingerprint()
    for step in steps:
        obs, reward, terminated, _, _ = env.step(step.action)
        assert (reward, terminated, env.fingerprint()) == (step.reward, step.terminated, step.next_fingerprint)
        assert obs["state"] == step.next_state
    assert (reward, terminated) == (1.0, True)


def test_a_purchase_that_does_not_fit_shows_what_is_missing(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", SHOP, task="test/0", kwargs={"split": "test"}) as played:
        page = tab(played)
        search(page, "extra lightweight men's sneakers with ethylene vinyl midsole")
        page.locator(".card", has_text="B0NBQRV591").click()
        choose(page, "heather")
        page.locator(".buy").click()
        sync_api.expect(page.locator(".score strong")).to_have_text("0.88")
        assert page.locator(".row:not(.full) > strong").all_inner_texts() == ["Options"]
        sync_api.expect(page.locator("#outcome")).to_have_text("ended unsolved")


def test_odd_searches_are_recorded_as_they_were_typed(tmp_path: Path, tab: Open) -> None:
    searches = ["]", "a ] b]", "\"double\" 'single' `x` \\", "🧦 ü ﷽", "<script>document.title='owned'</script>"]
    searches += ["</action><action>back to search", "/ m r ? keys of the viewer"]
    with playing(tmp_path / "run", SHOP, task="test/0", kwargs={"split": "test"}) as played:
        page = tab(played)
        page.click(".page .go")
        whose(page, "step 1")  # nothing was written
        for at, words in enumerate(searches):
            page.locator(".page input").press_sequentially(words)
            page.press(".page input", "Enter")
            whose(page, f"step {2 * at + 2}")
            assert page.locator(".again .words").inner_text() == words
            page.click(".again")
            whose(page, f"step {2 * at + 3}")
        search(page, "  red [wide] shoes ")
        sync_api.expect(page.locator(".again .words")).to_have_text("red  wide] shoes")
        assert page.title().startswith("Shop for extra lightweight")
        played.stop()
    [episode] = load_run(tmp_path / "run").episodes
    done = [step.action for step in episode.trajectory.transitions]
    assert done[::2] == [*(f"search[{words}]" for words in searches), "search[red  wide] shoes]"]
    assert set(done[1::2]) == {"click[back to search]"}
    assert not any(note.invalid for note in episode.notes)


def test_what_a_product_says_is_text_and_its_options_can_be_chosen(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", f"{Path(__file__)}:OddShop") as played:
        page = tab(played)
        search(page, "sock")
        whose(page, "step 2")
        assert "onerror" in page.locator(".card .name").inner_text()
        page.click(".card")
        whose(page, "step 3")
        values = page.locator(".value")
        assert values.all_inner_texts() == [*ODD_OPTIONS, *OUT_OF_REACH]
        assert [values.nth(i).is_enabled() for i in range(values.count())] == [True] * 6 + [False] * 2
        for value in ODD_OPTIONS:
            choose(page, value)
            assert pressed(page) == [value]
        for name in ("Description", "Features", "Attributes"):
            page.locator(".more button", has_text=name).click()
            sync_api.expect(page.locator(".text h2")).to_have_text(name)
            assert "onerror" in page.locator("section.text").inner_text()
            page.locator(".back").click()
            sync_api.expect(page.locator(".buy")).to_be_visible()
        page.locator(".buy").click()
        sync_api.expect(page.locator(".score")).to_be_visible()
        assert page.locator("[onerror], .page script, .page b, .page i").count() == 0
        assert page.title() != "owned"
        played.stop()
    [episode] = load_run(tmp_path / "run").episodes
    done = [step.action for step in episode.trajectory.transitions]
    assert done[2:8] == [f"click[{value}]" for value in ODD_OPTIONS]


def test_the_shop_on_a_phone(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", SHOP, task="test/0", kwargs={"split": "test"}) as played:
        page = tab(played)
        page.set_viewport_size({"width": 390, "height": 844})
        search(page, "men's sneakers")
        page.locator(".card", has_text="B0NBQRV591").click()
        page.locator(".buy").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        shop, turn = page.locator(".page").bounding_box(), page.locator("#turn").bounding_box()
        assert shop["y"] + shop["height"] <= turn["y"], "the shop comes first"
        assert -1 <= shop["y"] < 400, "a new page is read from its top"
        page.locator(".value").get_by_text("7", exact=True).scroll_into_view_if_needed()
        before = page.evaluate("window.scrollY")
        choose(page, "7")
        whose(page, "step 4")
        assert page.evaluate("window.scrollY") == before, "who chooses an option stays where they are"


def test_the_rest_of_the_game_goes_on_beside_the_shop(tmp_path: Path, tab: Open) -> None:
    with playing(tmp_path / "run", SHOP, task="test/0", kwargs={"split": "test"}) as played:
        page, other = tab(played), tab(played)
        page.fill("#explore", "are there any sneakers at all?")
        page.fill("#memory", "size 7, heather")
        search(page, "men's sneakers")
        whose(page, "step 2")
        assert page.locator(".explored").inner_text().endswith("are there any sneakers at all?")
        assert page.input_value("#memory") == "size 7, heather"
        sync_api.expect(other.locator(".card")).to_have_count(10)
        page.click("text=What an agent is shown here")
        assert "[SEP]" in page.locator(".record .state").inner_text()
        page.keyboard.press("ArrowLeft")
        sync_api.expect(page.locator(".page")).to_have_count(0)  # a step that was taken is shown as it is kept
        assert "[SEP]" in page.locator(".reading .state").inner_text()
        page.keyboard.press("ArrowRight")
        page.locator(".card").first.click(modifiers=["Shift"])
        assert page.input_value("#command").startswith("click[b0"), "written, to be changed or sent"
        page.click("#rollback")
        sync_api.expect(page.locator(".page input")).to_be_visible()
        page.click("#choose")
        page.wait_for_selector("#choose-task option")
        assert set(page.locator("#choose-split option").all_inner_texts()) == {"test", "eval", "train"}


# A screen to touch: the phone


PHONE = "eapo/AndroidWorld-v0"


@contextmanager
def phone(tmp_path: Path, tab: Open, task: str) -> Iterator[tuple[Played, Any]]:
    pytest.importorskip("PIL", reason="needs Pillow (pip install 'eapo-gym[gui]')")
    with playing(tmp_path / "run", PHONE, task=task, kwargs={"split": "test", "layouts": "usual"}) as played:
        page = tab(played)
        sync_api.expect(page.locator("figure img")).to_have_js_property("naturalWidth", 1080)
        yield played, page


def did(played: Played) -> list[str]:
    return [moment["did"]["action"] for moment in played.state()["view"]["moments"][:-1]]


def element(page: Any, text: str) -> Any:
    return page.locator(".on-screen button", has_text=text).first


def test_a_person_adds_a_contact_by_touching_and_typing(tmp_path: Path, tab: Open) -> None:
    with phone(tmp_path, tab, "test/ContactsAddContact/0") as (played, page):
        page.fill("#command", '{"action_type": "open_app", "app_name": "Contacts"}')
        page.press("#command", "Enter")
        whose(page, "step 2")
        place = page.locator(".glass").bounding_box()
        add = element(page, "Create contact")
        index = add.get_attribute("data-index")
        add.hover()
        aimed = page.locator(".aimed").bounding_box()
        assert place["x"] + place["width"] / 2 < aimed["x"] < place["x"] + place["width"]
        assert place["y"] + place["height"] / 2 < aimed["y"] < place["y"] + place["height"], "it is below, at the right"
        page.mouse.click(aimed["x"] + aimed["width"] / 2, aimed["y"] + aimed["height"] / 2)
        whose(page, "step 3")
        assert did(played)[-1] == f'{{"action_type": "click", "index": {index}}}'

        element(page, "First name").click()
        whose(page, "step 4")
        page.locator(".graph-head").click()  # nothing has the focus now
        page.keyboard.type("Mr")  # letters that are keys of the viewer elsewhere
        assert page.input_value("#typed") == "Mr"
        page.keyboard.press("Enter")
        whose(page, "step 5")
        assert did(played)[-1] == '{"action_type": "input_text", "text": "Mr"}'
        index = page.locator(".typing select option", has_text="Company").get_attribute("value")
        page.select_option(".typing select", index)
        page.fill("#typed", 'O"Hara')
        page.press("#typed", "Enter")
        whose(page, "step 6")
        assert json.loads(did(played)[-1]) == {"action_type": "input_text", "text": 'O"Hara', "index": int(index)}
        sync_api.expect(element(page, 'O"Hara')).to_be_visible()
        page.locator(".keys button", has_text="Back").click()
        whose(page, "step 7")
        page.get_by_role("button", name="It is done").click()
        sync_api.expect(page.locator("#outcome")).to_have_text("ended unsolved")
        assert page.locator(".screen").count() == 0, "the end is shown as it is kept"


def test_a_screen_is_scrolled_held_and_drawn(tmp_path: Path, tab: Open) -> None:
    with phone(tmp_path, tab, "test/SystemWifiTurnOff/0") as (played, page):
        page.fill("#command", '{"action_type": "open_app", "app_name": "Settings"}')
        page.press("#command", "Enter")
        whose(page, "step 2")
        place = page.locator(".glass").bounding_box()
        x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
        page.mouse.move(x, y)
        for _ in range(3):
            page.mouse.wheel(0, 120)  # turned once, however far
        whose(page, "step 3")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + 80, steps=4)
        page.mouse.up()
        whose(page, "step 4")
        page.mouse.move(x, y)
        page.mouse.down()
        page.wait_for_timeout(700)
        page.mouse.up()
        whose(page, "step 5")
        page.mouse.click(x, y, button="right")
        whose(page, "step 6")
        done = [json.loads(action) for action in did(played)[1:]]
        assert [action["action_type"] for action in done] == ["scroll", "scroll", "long_press", "long_press"]
        assert [action["direction"] for action in done[:2]] == ["down", "up"]
        assert all("index" in action for action in done)


def test_the_phone_on_a_phone(tmp_path: Path, tab: Open) -> None:
    with phone(tmp_path, tab, "test/SystemWifiTurnOff/0") as (_, page):
        wide, beside = page.locator(".glass").bounding_box(), page.locator(".panel").bounding_box()
        assert wide["x"] + wide["width"] <= beside["x"], "the elements stand beside the picture"
        assert wide["height"] > wide["width"] * 2
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        screen, turn = page.locator(".screen").bounding_box(), page.locator("#turn").bounding_box()
        assert screen["y"] + screen["height"] <= turn["y"], "the screen comes first"
        assert page.locator(".glass").bounding_box()["width"] < 340, "there is room beside it to move the page by"


def test_the_phone_without_pictures(tmp_path: Path, tab: Open) -> None:
    kwargs = {"split": "test", "observation_mode": "elements"}
    with playing(tmp_path / "run", PHONE, task="test/SystemWifiTurnOff/0", kwargs=kwargs) as played:
        page = tab(played)
        assert page.locator("figure").count() == 0
        page.locator(".on-screen button").first.click()
        whose(page, "step 2")
        assert did(played) == ['{"action_type": "click", "index": 0}']
