"""Tasks about documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from eapo_gym.envs.osworld.own.apps.office import SETTINGS, WRITTEN, OfficeTask, options, save
from eapo_gym.envs.osworld.own.base import DOCUMENTS, Params, TaskDice
from eapo_gym.envs.osworld.own.checks import all_of, beside, check, on_machine, rule, writes
from eapo_gym.envs.osworld.own.making import words
from eapo_gym.envs.osworld.own.making.papers import document
from eapo_gym.envs.osworld.own.seeing import Plan, Seeing

FONTS = ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono")
"""Those that every such desktop has."""


class WriterTask(OfficeTask):
    """Begins with a short document: a title, and paragraphs of a few sentences."""

    domain: ClassVar[str] = "libreoffice_writer"
    apps: ClassVar[tuple[str, ...]] = ("libreoffice_writer",)
    ending: ClassVar[str] = "docx"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        topic = dice.own(words.TOPICS)
        sentences = dice.shuffled(words.SENTENCES)
        paragraphs = [" ".join(sentences[3 * n : 3 * n + dice.between(2, 3)]) for n in range(dice.between(4, 6))]
        file = f"{topic.split()[0].lower()}_{dice.own(words.NOUNS)}"
        return {"file": file, "topic": topic, "paragraphs": paragraphs}

    def texts(self, params: Params) -> list[str]:
        return [params["topic"], *params["paragraphs"]]

    def content(self, params: Params) -> bytes:
        return document(self.texts(params))

    def gold(self, params: Params) -> bytes:
        """The document as it is to be; the same texts, unless a task changes them."""
        return self.content(params)

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {"gold.docx": self.gold(params)}

    def same_text(self, params: Params) -> dict[str, Any]:
        """The check that the texts are as in the expected document."""
        return self.against(params, "compare_docx_files", {"ignore_blanks": False})

    def against(self, params: Params, metric: str, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return check(metric, on_machine(self.place(params)), beside("gold.docx"), options)

    def alone(self, params: Params, metric: str, **rules: Any) -> dict[str, Any]:
        return check(metric, on_machine(self.place(params)), rule(**rules) if rules else None)


def to_paragraph(hands: Seeing, number: int) -> Plan:
    """Go to the beginning of a paragraph, counted from 0."""
    yield hands.press("ctrl", "home")
    for _ in range(number):
        yield hands.press("ctrl", "down")


class WriterReplace(WriterTask):
    wordings = (
        'Replace every "{old}" in the open document by "{new}" and save the file.',
        'The document says "{old}" where it should say "{new}". Change it everywhere, then save.',
        'Please write "{new}" in all places where the text has "{old}", and save the document.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        old, new = dice.some(words.LAST_NAMES, 2)
        for number in (0, 2, 3):
            params["paragraphs"][number] += f" {old} agreed to that."
        return params | {"old": old, "new": new}

    def gold(self, params: Params) -> bytes:
        return document([text.replace(params["old"], params["new"]) for text in self.texts(params)])

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.same_text(params)

    def _replace(self, hands: Seeing, params: Params, button: str) -> Plan:
        yield hands.press("ctrl", "home")
        yield hands.press("ctrl", "h")
        yield from hands.until("Replace All", "push-button")
        yield from hands.refill(params["old"])
        yield from hands.tap("Replace With", "entry")
        yield from hands.refill(params["new"])
        yield hands.click(button, "push-button")
        yield hands.wait()
        yield from hands.close_dialogs()
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._replace(hands, params, "Replace All")

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._replace(hands, {**params, "old": params["old"].lower()[:-1]}, "Find Next")


class WriterCenterTitle(WriterTask):
    wordings = (
        "Center the title (the first line) of the document and save the file.",
        'The heading "{topic}" should stand in the middle of its line. Change that and save.',
        "Put the first paragraph into the center, leave the others as they are, and save the document.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return all_of(self.alone(params, "is_first_line_centered"), self.same_text(params))

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "home")
        yield hands.press("ctrl", "e")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "home")
        yield hands.press("ctrl", "r")
        yield from save(hands)
        yield hands.done()


class WriterFont(WriterTask):
    wordings = (
        "Set the whole document in the font {font} and save the file.",
        "All of the text should be printed in {font}. Change the font of everything and save.",
        "Please use {font} for every paragraph, the title included, and save the document.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"font": dice.pick(FONTS)}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return all_of(self.alone(params, "compare_font_names", font_name=params["font"]), self.same_text(params))

    def _set(self, hands: Seeing, font: str) -> Plan:
        yield from hands.menu("Format", "Character...")
        yield from hands.tap("Font", "page-tab")
        yield from hands.tap("Font", "entry")
        yield from hands.refill(font)
        yield from hands.tap("OK", "push-button")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "a")
        yield from self._set(hands, params["font"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Only the title is selected."""
        yield hands.press("ctrl", "home")
        yield hands.press("shift", "end")
        yield from self._set(hands, params["font"])


class WriterLineSpacing(WriterTask):
    wordings = (
        "Set the line spacing of the whole document to {name} and save the file.",
        "I want to correct the printed text by hand: give all lines {name} spacing, and save.",
        "Change the distance of the lines to {name}, in every paragraph, then save the document.",
    )
    spacings: ClassVar[Mapping[str, float]] = {"double": 2.0, "one and a half": 1.5}

    @staticmethod
    def _entry(double: bool) -> str:
        return "/Line Spacing: (Double|2|2.0)/" if double else "/Line Spacing: 1.5/"

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"name": dice.pick(list(self.spacings))}

    def gold(self, params: Params) -> bytes:
        def space(made: Any) -> None:
            for paragraph in made.paragraphs:
                paragraph.paragraph_format.line_spacing = self.spacings[params["name"]]

        return document(self.texts(params), space)

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "compare_line_spacing")

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "a")
        yield from hands.menu("Format", "Spacing", self._entry(params["name"] == "double"))
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "a")
        yield from hands.menu("Format", "Spacing", self._entry(params["name"] != "double"))
        yield from save(hands)
        yield hands.done()


class WriterPageBreak(WriterTask):
    wordings = (
        'Insert a page break before the paragraph that begins with "{start}…", and save the file.',
        'A new page should begin with "{start}…". Put a page break there and save the document.',
        'Let the text from "{start}…" on stand on the next page (insert one page break), and save.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        number = dice.between(2, len(params["paragraphs"]) - 1)
        return params | {"number": number, "start": " ".join(params["paragraphs"][number - 1].split()[:5])}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        text = self.against(params, "compare_docx_files", {"ignore_blanks": True})
        return all_of(self.alone(params, "contains_page_break", page_break_count=1), text)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from to_paragraph(hands, params["number"])
        yield hands.press("ctrl", "enter")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Empty lines until a new page begins are no page break."""
        yield from to_paragraph(hands, params["number"])
        yield hands.press("enter", times=40)
        yield from save(hands)
        yield hands.done()


class WriterStrikeLast(WriterTask):
    wordings = (
        "Strike through all of the last paragraph and save the file.",
        "The last paragraph is no longer valid: cross its text out (strikethrough) and save the document.",
        "Format the final paragraph as struck through, every word of it, and save.",
    )

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.against(params, "evaluate_strike_through_last_paragraph")

    def _strike(self, hands: Seeing) -> Plan:
        yield from hands.menu("Format", "Text", "Strikethrough")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "end")
        yield hands.press("ctrl", "shift", "up")
        yield from self._strike(hands)

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Only the last word is selected."""
        yield hands.press("ctrl", "end")
        yield hands.press("ctrl", "shift", "left")
        yield hands.press("ctrl", "shift", "left")
        yield from self._strike(hands)


class WriterTable(WriterTask):
    wordings = (
        "Insert an empty table with {columns} columns and {rows} rows at the end of the document, and save the file.",
        "After the last paragraph I need an empty table: {rows} rows, {columns} columns. Save the document then.",
        "Add a table of {columns} columns by {rows} rows below the text; leave its cells empty. Save.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"columns": dice.between(2, 6), "rows": dice.between(3, 9)}

    def gold(self, params: Params) -> bytes:
        return document(self.texts(params), lambda made: made.add_table(params["rows"], params["columns"]))

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        text = self.against(params, "compare_docx_files", {"ignore_blanks": True})
        return all_of(self.against(params, "compare_docx_tables"), text)

    def _insert(self, hands: Seeing, columns: int, rows: int) -> Plan:
        yield hands.press("ctrl", "end")
        yield hands.press("enter")
        yield hands.press("ctrl", "f12")
        yield from hands.tap_beside("Columns:", "spin-button")
        yield from hands.refill(f"{columns}\t")
        yield from hands.tap_beside("Rows:", "spin-button")
        yield from hands.refill(f"{rows}\t")
        yield from hands.tap("Insert", "push-button")
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._insert(hands, params["columns"], params["rows"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """One more row, for the headings."""
        yield from self._insert(hands, params["columns"], params["rows"] + 1)


class WriterLowercase(WriterTask):
    wordings = (
        "Some paragraphs are shouted in capitals. Turn all of the document into lower case letters, and save the file.",
        "Change every capital letter of the text into a small one, and save the document.",
        "The whole document is to be in lower case. Convert it and save.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        for number in (1, 3):
            params["paragraphs"][number] = params["paragraphs"][number].upper()
        return params

    def gold(self, params: Params) -> bytes:
        return document([text.lower() for text in self.texts(params)])

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return all_of(self.alone(params, "evaluate_conversion"), self.same_text(params))

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "a")
        yield from hands.menu("Format", "Text", "lowercase")
        yield from save(hands)
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield hands.press("ctrl", "a")
        yield from hands.menu("Format", "Text", "Sentence case")
        yield from save(hands)
        yield hands.done()


class WriterDeleteParagraph(WriterTask):
    wordings = (
        'Delete the paragraph that begins with "{start}…", leave no empty line there, and save the file.',
        'Remove the whole paragraph "{start}…" from the document; the others stay as they are. Save it.',
        'The paragraph starting with "{start}…" has to go. Take it out completely and save the document.',
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        params = super().draw(dice)
        number = dice.between(1, len(params["paragraphs"]) - 1)
        return params | {"number": number, "start": " ".join(params["paragraphs"][number - 1].split()[:5])}

    def gold(self, params: Params) -> bytes:
        texts = self.texts(params)
        return document([*texts[: params["number"]], *texts[params["number"] + 1 :]])

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return self.same_text(params)

    def _delete(self, hands: Seeing, number: int) -> Plan:
        yield from to_paragraph(hands, number)
        yield hands.press("ctrl", "shift", "down")
        yield hands.press("delete", times=2)
        yield from save(hands)
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["number"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._delete(hands, params["number"] - 1)


class WriterDefaultFont(WriterTask):
    wordings = (
        "Make {font} the default font of LibreOffice Writer, for all new documents.",
        "New documents in Writer should begin with the font {font}. Change the basic font in the program's options.",
        "I do not want to choose {font} each time I begin a text: let it be Writer's default font from now on.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"font": dice.pick(("DejaVu Sans", "DejaVu Sans Mono"))}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return check("find_default_font", on_machine(SETTINGS), rule(font_name=params["font"]), before=WRITTEN)

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from options(hands, "LibreOffice Writer", "Basic Fonts (Western)")
        yield from hands.tap_beside("Default:", "entry")
        yield from hands.refill(params["font"])
        yield from hands.tap("OK", "push-button")
        yield hands.done()

    def fail(self, hands: Seeing, params: Params) -> Plan:
        """Changes this document, and not the program."""
        yield hands.press("ctrl", "a")
        yield from hands.menu("Format", "Character...")
        yield from hands.tap("Font", "page-tab")
        yield from hands.tap("Font", "entry")
        yield from hands.refill(params["font"])
        yield from hands.tap("OK", "push-button")
        yield from save(hands)
        yield hands.done()


class WriterExportPdf(WriterTask):
    wordings = (
        "Export the document as a PDF file to {target}.",
        "I need {target}: a PDF of the open document.",
        "Make a PDF of this text and put it at {target}.",
    )

    def draw(self, dice: TaskDice) -> dict[str, Any]:
        return super().draw(dice) | {"target": f"{DOCUMENTS}/{dice.own(words.NOUNS)}_{dice.between(10, 99)}.pdf"}

    def expected(self, params: Params) -> Mapping[str, bytes]:
        return {}

    def evaluator(self, params: Params) -> Mapping[str, Any]:
        return writes(["head", "-c", "5", params["target"]], "%PDF-")

    def _export(self, hands: Seeing, place: str) -> Plan:
        yield from hands.menu("File", "Export As", "Export Directly as PDF")
        yield from hands.name_file(place)
        yield hands.wait()
        yield hands.done()

    def solve(self, hands: Seeing, params: Params) -> Plan:
        yield from self._export(hands, params["target"])

    def fail(self, hands: Seeing, params: Params) -> Plan:
        yield from self._export(hands, f"{DOCUMENTS}/{params['file']}.pdf")


TEMPLATES = (
    WriterReplace, WriterCenterTitle, WriterFont, WriterLineSpacing, WriterPageBreak, WriterStrikeLast, WriterTable,
    WriterLowercase, WriterDeleteParagraph, WriterDefaultFont, WriterExportPdf,
)  # fmt: skip
