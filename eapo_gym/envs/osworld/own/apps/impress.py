"""Tasks about presentations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.apps.office import SETTINGS, WRITTEN, OfficeTask, options, save
from eapo_gym.envs.osworld.own.base import Params, TaskDice
from eapo_gym.envs.osworld.own.checks import all_of, beside, check, on_machine, rule
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.shows import Slide, presentation
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

_EXAMINED = (
    "shape", "text", "indent", "font_name", "font_size", "font_bold", "font_italic", "color_rgb", "font_underline",
    "strike_through", "alignment", "bullets", "background_color", "note",
)  # fmt: skip


def only(*parts: str) -> dict[str, bool]:
    """The options by which nothing but these parts of two presentations is compared."""
    return {f"examine_{part}": part in parts for part in _EXAMINED}


class ImpressTask(OfficeTask):
    """Begins with a few slides, each with a title and some lines."""

    domain: ClassVar[str] = "libreoffice_impress"
    apps: ClassVar[tuple[str, ...]] = ("libreoffice_impress",)
    ending: ClassVar[str] = "pptx"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        topics = dice.some(words.TOPICS, dice.between(3, 5))
        sentences = dice.shuffled(words.SENTENCES)
        slides = [[topic, [sentences.pop() for _ in range(dice.between(2, 3))]] for topic in topics]
        return {"file": f"{dice.own(words.NOUNS)}_{dice.between(2015, 2024)}", "slides": slides}

    def slides(self, params: Params) -> list[Slide]:
        return [Slide(title, tuple(lines)) for title, lines in params["slides"]]

    def content(self, params: Params) -> bytes:
        return presentation(self.slides(params))

    def wanted(self, params: Params) -> Sequence[Slide]:
        """The slides as they are to be."""
        return self.slides(params)

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.pptx": presentation(self.wanted(params))}

    def against(self, params: Params, *parts: str) -> dict[str, Any]:
        return check("compare_pptx_files", on_machine(self.place(params)), beside("gold.pptx"), only(*parts))

    def alone(self, params: Params, metric: str, **rules: Any) -> dict[str, Any]:
        return check(metric, on_machine(self.place(params)), rule(**rules) if rules else None)


class OneSlideTask(ImpressTask):
    """About one of the slides, not the first."""

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        return params | {"number": dice.between(2, len(params["slides"]))}


def to_slide(hands: Seeing, number: int) -> Plan:
    """Go to a slide, counted from 1."""
    yield hands.press("esc")
    for _ in range(number - 1):
        yield hands.press("pagedown")


class ImpressTitle(OneSlideTask):
    wordings = (
        'Change the title of slide {number} to "{title}" and save the file.',
        'Slide {number} should be called "{title}". Write that title and save the presentation.',
        'Replace the heading of slide number {number} by "{title}", keep all else, and save.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"title": f"{dice.own(words.CITIES)} {dice.between(2, 99)}"}

    def wanted(self, params: Params) -> Sequence[Slide]:
        slides = self.slides(params)
        slides[params["number"] - 1] = replace(slides[params["number"] - 1], title=params["title"])
        return slides

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "text")

    def _entitle(self, hands: Seeing, number: int, title: str) -> Plan:
        yield from to_slide(hands, number)
        yield hands.press("tab")
        yield hands.press("f2")
        yield from hands.refill(title)
        yield hands.press("esc")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._entitle(hands, params["number"], params["title"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._entitle(hands, params["number"] - 1, params["title"])


class ImpressNote(OneSlideTask):
    wordings = (
        'Add the speaker note "{note}" to slide {number} and save the file.',
        'To slide {number} belongs a note for the speaker: "{note}" Write it and save the presentation.',
        'Put "{note}" into the notes of slide {number}, and save.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"note": f"Thank {dice.own(words.FIRST_NAMES)} {dice.own(words.LAST_NAMES)}."}

    def wanted(self, params: Params) -> Sequence[Slide]:
        slides = self.slides(params)
        slides[params["number"] - 1] = replace(slides[params["number"] - 1], note=params["note"])
        return slides

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "text", "note")

    def _note(self, hands: Seeing, number: int, note: str) -> Plan:
        yield from to_slide(hands, number)
        yield from hands.menu("View", "Notes")
        yield hands.press("tab")
        yield hands.press("tab")
        yield hands.press("f2")
        yield from hands.refill(note)
        yield hands.press("esc")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._note(hands, params["number"], params["note"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._note(hands, params["number"] - 1, params["note"])


class ImpressPortrait(ImpressTask):
    wordings = (
        "Turn the slides upright (portrait instead of landscape) and save the file.",
        "The presentation will be shown on a screen that is higher than wide: set the slides to portrait, and save.",
        "Change the orientation of the slides to portrait. Save the presentation.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return all_of(self.alone(params, "check_slide_orientation_Portrait"), self.against(params, "text"))

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from hands.menu("Slide", "Slide Properties...")
        yield from hands.tap("Portrait", "radio-button")
        yield from hands.tap("OK", "push-button")
        yield from hands.if_there("/Yes|No/", "push-button", waits=1)
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """The dialog is left without its OK."""
        yield from hands.menu("Slide", "Slide Properties...")
        yield from hands.tap("Portrait", "radio-button")
        yield from hands.tap("Cancel", "push-button")
        yield from save(hands)
        yield hands.done()


class ImpressTransition(OneSlideTask):
    wordings = (
        'Let slide {number} appear with the transition "{name}", and save the file.',
        'Choose "{name}" as the slide transition of slide {number}; the others have none. Save the presentation.',
        'Slide {number} should come in with the effect "{name}" (a slide transition). Set it and save.',
    )
    transitions: ClassVar[Mapping[str, str]] = {
        "Dissolve": "dissolve",
        "Wheel": "wheel",
        "Wipe": "wipe",
        "Push": "push",
    }

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"name": dice.pick(list(self.transitions))}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        wanted = {"slide_idx": params["number"] - 1, "transition_type": self.transitions[params["name"]]}
        return all_of(self.alone(params, "check_transition", **wanted), self.against(params, "text"))

    def _choose(self, hands: Seeing, number: int, name: str) -> Plan:
        yield from to_slide(hands, number)
        yield from hands.menu("Slide", "Slide Transition")
        yield from hands.tap(name, "/list-item|table-cell|icon/")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._choose(hands, params["number"], params["name"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._choose(hands, params["number"] - 1, params["name"])


class ImpressDeleteSlide(OneSlideTask):
    wordings = (
        "Delete slide {number} and save the file.",
        'The slide "{title}" is not needed any more. Remove it and save the presentation.',
        "Take slide number {number} out of the presentation, and save it.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        return params | {"title": params["slides"][params["number"] - 1][0]}

    def wanted(self, params: Params) -> Sequence[Slide]:
        return [slide for slide in self.slides(params) if slide.title != params["title"]]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "text")

    def _delete(self, hands: Seeing, number: int) -> Plan:
        yield from to_slide(hands, number)
        yield from hands.menu("Slide", "Delete Slide")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["number"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["number"] - 1)


class ImpressDuplicateSlide(OneSlideTask):
    wordings = (
        "Duplicate slide {number}: its copy stands right behind it. Save the file.",
        "I need slide {number} twice in a row. Make a copy of it and save the presentation.",
        "Insert a duplicate of slide number {number} after it, and save.",
    )

    def wanted(self, params: Params) -> Sequence[Slide]:
        slides = self.slides(params)
        return [*slides[: params["number"]], *slides[params["number"] - 1 :]]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "text")

    def _copy(self, hands: Seeing, number: int, entry: str) -> Plan:
        yield from to_slide(hands, number)
        yield from hands.menu("Slide", entry)
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._copy(hands, params["number"], "Duplicate Slide")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._copy(hands, params["number"], "New Slide")


class ImpressMoveSlide(OneSlideTask):
    wordings = (
        "Move slide {number} to the beginning of the presentation, and save the file.",
        'The slide "{title}" should be the first one. Move it there and save the presentation.',
        "Slide number {number} belongs to the very start; change the order and save.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        number = dice.between(3, len(params["slides"]))
        return params | {"number": number, "title": params["slides"][number - 1][0]}

    def wanted(self, params: Params) -> Sequence[Slide]:
        slides = self.slides(params)
        return [slides.pop(params["number"] - 1), *slides]

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "text")

    def _move(self, hands: Seeing, number: int, entry: str) -> Plan:
        yield from to_slide(hands, number)
        yield from hands.menu("Slide", "Move", entry)
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._move(hands, params["number"], "/(Move )?Slide to Start/")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Up by one, which is not enough."""
        yield from self._move(hands, params["number"], "/(Move )?Slide Up/")


class ImpressStrike(OneSlideTask):
    wordings = (
        "Strike through the title of slide {number} and save the file.",
        'The title "{title}" should be crossed out. Format it as strikethrough and save the presentation.',
        "Cross out (strike through) the whole title of slide {number}, and save.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        return params | {"title": params["slides"][params["number"] - 1][0]}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "text", "strike_through")

    def expected(self, params: Params) -> Mapping[str, bytes]:
        def strike(show: Any) -> None:
            title = show.slides[params["number"] - 1].shapes.title
            title.text_frame.paragraphs[0].runs[0].font._element.set("strike", "sngStrike")

        return {"gold.pptx": presentation(self.slides(params), strike)}

    def _strike(self, hands: Seeing, number: int) -> Plan:
        yield from to_slide(hands, number)
        yield hands.press("tab")
        yield hands.press("f2")
        yield hands.press("ctrl", "a")
        yield from hands.menu("Format", "Text", "Strikethrough")
        yield hands.press("esc")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._strike(hands, params["number"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._strike(hands, params["number"] - 1)


class ImpressPresenterConsole(ImpressTask):
    wordings = (
        "Turn off the presenter console in the options of LibreOffice Impress.",
        "With two screens I do not want the presenter console. Disable it in Impress's settings.",
        "Change the settings of Impress so that no presenter console is shown during a slide show.",
    )

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("check_presenter_console_disable", on_machine(SETTINGS), before=WRITTEN)

    def _turn(self, hands: Seeing, box: str) -> Plan:
        yield from options(hands, "LibreOffice Impress", "General")
        yield from hands.tap(box, "check-box")
        yield from hands.tap("OK", "push-button")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._turn(hands, "/Enable Presenter Console/")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._turn(hands, "/Enable remote control/")


class ImpressAutosave(ImpressTask):
    wordings = (
        "Let LibreOffice save the information for recovery every {minutes} minutes.",
        "I am afraid of a crash: have the documents' recovery information saved automatically each {minutes} minutes.",
        "Set the interval of the automatic recovery saving to {minutes} minutes in the options.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"minutes": dice.pick([m for m in range(2, 60) if m != 10])}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("check_auto_saving_time", on_machine(SETTINGS), rule(minutes=params["minutes"]), before=WRITTEN)

    def _set(self, hands: Seeing, minutes: int) -> Plan:
        yield from options(hands, "Load/Save", "General")
        yield from hands.until("/.*AutoRecovery.*/", "check-box")
        box = hands.find("/.*AutoRecovery.*/", "check-box")
        if box is not None and not box.checked:
            yield hands.click("/.*AutoRecovery.*/", "check-box")
        yield from hands.tap_beside("/.*AutoRecovery.*/", "spin-button")
        yield from hands.refill(f"{minutes}\t")
        yield from hands.tap("OK", "push-button")
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, params["minutes"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._set(hands, params["minutes"] + 1)


TEMPLATES = (
    ImpressTitle, ImpressNote, ImpressPortrait, ImpressTransition, ImpressDeleteSlide, ImpressDuplicateSlide,
    ImpressMoveSlide, ImpressStrike, ImpressPresenterConsole, ImpressAutosave,
)  # fmt: skip
