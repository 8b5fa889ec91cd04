"""Tasks about the web browser: its settings and bookmarks, and pages that are on the machine itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.base import DOCUMENTS, HOME, Params, Step, TaskDice, Template, launched, step
from eapo_gym.envs.osworld.own.checks import check, on_machine, rule, writes
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.web import PROFILE, bookmarks, page
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

CLOSED: tuple[Step, ...] = (
    step("close_window", window_name="chromium", by_class=True),
    step("execute", command=["sleep", "3"]),
)
"""The browser writes its settings when it is closed, at the latest."""


class ChromeTask(Template):
    """Begins with the browser showing a page of the machine."""

    domain: ClassVar[str] = "chrome"
    apps: ClassVar[tuple[str, ...]] = ("chrome",)
    ready = ("Reload", "push-button")

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        topic = dice.own(words.TOPICS)
        return {
            "topic": topic, "file": topic.lower().replace(" ", "_"), "lines": dice.sample(words.SENTENCES, 4),
        }  # fmt: skip

    def address(self, params: Params) -> str:
        return f"file://{DOCUMENTS}/{params['file']}.html"

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        body = "\n".join((f"<h1>{params['topic']}</h1>", *(f"<p>{line}</p>" for line in params["lines"])))
        return {f"{DOCUMENTS}/{params['file']}.html": page(params["topic"], body)}

    def start(self, params: Params) -> Sequence[Step]:
        return launched("Chromium", "chromium", self.address(params))


class ChromeSetting(ChromeTask):
    """A value of the preferences is to be another."""

    key: ClassVar[tuple[str, ...]]
    wanted: ClassVar[object]
    where: ClassVar[str]
    """The address of the page of settings."""

    control: ClassVar[str]
    other: ClassVar[str]
    """A control that stands beside it."""

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        expected = rule(expect=[{"key": list(self.key), "method": "eq", "ref": self.wanted}])
        return check("check_json", on_machine(f"{PROFILE}/Preferences"), expected, before=CLOSED)

    def _switch(self, hands: Seeing, control: str) -> Plan:
        yield from visit(hands, self.where)
        yield from hands.tap(control, "/check-box|toggle-button|switch|radio-button|push-button/")
        yield from hands.if_there("Confirm", "push-button", waits=2)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._switch(hands, self.control)

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._switch(hands, self.other)


def visit(hands: Seeing, address: str) -> Plan:
    yield hands.press("ctrl", "l")
    yield hands.write(f"{address}\n")
    yield hands.wait()


class ChromeStartup(ChromeSetting):
    wordings = (
        "Let the browser continue where I left off whenever it starts.",
        "When the browser starts, the pages of the last time should come back. Change the setting for it.",
        "Set the browser to reopen my last tabs on startup.",
    )
    key = ("session", "restore_on_startup")
    wanted = 1
    where = "chrome://settings/onStartup"
    control = "/Continue where you left off/"
    other = "/Open the New Tab page/"


class ChromeAskDownload(ChromeSetting):
    wordings = (
        "The browser should ask me where to save each file before it downloads it.",
        "Turn on the setting that asks for the place of every download.",
        "I want to choose the folder anew for each download. Change the browser's settings.",
    )
    key = ("download", "prompt_for_download")
    wanted = True
    where = "chrome://settings/downloads"
    control = "/Ask where to save each file before downloading/"
    other = "/Show downloads when they're done/"


class ChromeNoPasswords(ChromeSetting):
    wordings = (
        "The browser must not offer to save passwords. Turn that off.",
        "Stop the browser from asking whether it shall save my passwords.",
        "Turn off the offer to save passwords in the browser's settings.",
    )
    key = ("credentials_enable_service",)
    wanted = False
    where = "chrome://password-manager/settings"
    control = "/Offer to save passwords.*/"
    other = "/Sign in automatically.*/"


class ChromeDoNotTrack(ChromeSetting):
    wordings = (
        'Turn on that the browser sends a "Do Not Track" request.',
        'Websites should be told that I do not want to be tracked: turn on "Do Not Track" in the browser.',
        'Let the browser send "Do Not Track" with its traffic.',
    )
    where = "chrome://settings/cookies"
    control = "/Send a .Do Not Track. request.*/"
    other = "Allow third-party cookies"

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("exact_match", {"type": "enable_do_not_track"}, rule(expected="true"), before=CLOSED)


class ChromeFontSize(ChromeTask):
    wordings = (
        "Set the font size of the browser to {name}, in its settings.",
        "I cannot read the pages well: choose the font size {name} in the browser's appearance settings.",
        "Change the browser's font size to {name}.",
    )
    sizes: ClassVar[Mapping[str, int]] = {"Very small": 9, "Small": 12, "Large": 20, "Very large": 24}

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"name": dice.pick(list(self.sizes))}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = rule(type="value", value=self.sizes[params["name"]])
        return check("check_font_size", {"type": "chrome_font_size"}, wanted, before=CLOSED)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from visit(hands, "chrome://settings/appearance")
        yield from hands.tap("/Font size.*/", "combo-box")
        yield from hands.tap(f"/{params['name']}.*/", "/menu-item|list-item|option/")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The page is shown larger, but the setting is as it was."""
        yield hands.press("ctrl", "+")
        yield hands.press("ctrl", "+")
        yield hands.done()


class ChromeBookmark(ChromeTask):
    wordings = (
        "Put the page that is open on the bookmarks bar.",
        'Bookmark this page ("{topic}") in the folder "Bookmarks bar".',
        "Add a bookmark of the open page to the bookmarks bar.",
    )

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {**super().uploads(params), f"{PROFILE}/Bookmarks": bookmarks([("Example", "https://example.org/")])}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = rule(type="bookmark_bar_websites_urls", urls=["https://example.org/", self.address(params)])
        return check("is_expected_bookmarks", {"type": "bookmarks"}, wanted, before=CLOSED)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "d")
        yield from hands.until("Done", "push-button")
        if not hands.sees("Bookmarks bar", "combo-box"):
            # The bar is the first of the folders that are proposed.
            yield hands.click("Folder", "combo-box")
            yield hands.press("home")
            yield hands.press("enter")
        yield from hands.tap("Done", "push-button")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The bookmark is taken back again by the dialog's other button."""
        yield hands.press("ctrl", "d")
        yield from hands.tap("Remove", "push-button")
        yield hands.done()


class ChromeBookmarkFolder(ChromeTask):
    wordings = (
        'Create a folder called "{folder}" on the bookmarks bar.',
        'I want to sort my bookmarks. Make a folder "{folder}" in the bookmarks bar.',
        'Add an empty bookmark folder named "{folder}" to the bookmarks bar.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"folder": f"{dice.own(words.FOLDERS)} {dice.own(words.CITIES)}"}

    def uploads(self, params: Params) -> Mapping[str, bytes]:
        return {**super().uploads(params), f"{PROFILE}/Bookmarks": bookmarks([("Example", "https://example.org/")])}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = rule(type="bookmark_bar_folders_names", names=[params["folder"]])
        return check("is_expected_bookmarks", {"type": "bookmarks"}, wanted, before=CLOSED)

    def _create(self, hands: Seeing, name: str) -> Plan:
        yield from visit(hands, "chrome://bookmarks/?id=1")
        yield from hands.tap("/Organize/", "/push-button.*|menu/")
        yield from hands.tap("Add new folder", "menu-item")
        yield from hands.until("Save", "push-button")
        yield hands.write(name)
        yield from hands.tap("Save", "push-button")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["folder"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._create(hands, params["folder"].split()[0])


class ChromeBookmarksBar(ChromeTask):
    wordings = (
        "Always show the bookmarks bar in the browser.",
        "The bar with the bookmarks should be in sight on every page. Turn it on.",
        "Change the browser so that the bookmarks bar is shown all the time.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = rule(expect=[{"key": ["bookmark_bar", "show_on_all_tabs"], "method": "eq", "ref": True}])
        return check("check_json", on_machine(f"{PROFILE}/Preferences"), wanted, before=CLOSED)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "shift", "b")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Twice is once too often."""
        yield hands.press("ctrl", "shift", "b")
        yield hands.press("ctrl", "shift", "b")
        yield hands.done()


class ChromeSavePdf(ChromeTask):
    wordings = (
        "Save the page that is open as a PDF file: {target}.",
        "Print the open page into the file {target} (PDF).",
        "I need this web page as a PDF. Put it at {target}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"target": f"{HOME}/Downloads/{dice.own(words.NOUNS)}_{dice.between(10, 99)}.pdf"}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return writes(["head", "-c", "5", params["target"]], "%PDF-")

    def _print(self, hands: Seeing, place: str) -> Plan:
        yield hands.press("ctrl", "p")
        yield from hands.tap("Save", "push-button")
        # Nothing of the dialog that follows is in the tree, and it takes no Enter: its button has a key.
        yield hands.wait()
        yield hands.wait()
        yield from hands.refill(place)
        yield hands.press("alt", "s")
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._print(hands, params["target"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._print(hands, params["target"].replace(".pdf", "_1.pdf"))


TEMPLATES = (
    ChromeStartup, ChromeAskDownload, ChromeNoPasswords, ChromeDoNotTrack, ChromeFontSize, ChromeBookmark,
    ChromeBookmarkFolder, ChromeBookmarksBar, ChromeSavePdf,
)  # fmt: skip
