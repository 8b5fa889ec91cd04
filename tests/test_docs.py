"""What the documentation says is so: its code runs, its commands parse, its numbers are those of the result files."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from eapo_gym.cli.app import app
from eapo_gym.trainers.catalogue import FIGURES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())

FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
NOT_RUN = re.compile(r"<!-- not run: .{10,} -->\n\s*\Z")
"""Stands before a block that cannot run everywhere, and says why."""

AT_MOST_NOT_RUN = 6

GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)
MEASURED = re.compile(r"\d[\d.,]*\s*(?:steps/s|steps per second|ms\b|µs|KB\b|MB\b|GB\b|×)")

CONSOLE = CliRunner()


@dataclass(frozen=True)
class Block:
    """A fenced block, with the line of the page on which its text begins."""

    language: str
    text: str
    line: int
    run: bool


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent, language, body = match.groups()
        body = re.sub(f"^{indent}", "", body, flags=re.MULTILINE)
        line = text.count("\n", 0, match.start(3)) + 1
        found.append(Block(language, body, line, NOT_RUN.search(text, 0, match.start()) is None))
    return found


def commands(page: Path) -> list[list[str]]:
    """The arguments of every `eapo-gym …` in the shell blocks of a page."""
    lines = [line for block in blocks(page) if block.language == "sh" for line in one_command_a_line(block.text)]
    words = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]
    return [line[line.index("eapo-gym") + 1 :] for line in words if "eapo-gym" in line]


def one_command_a_line(text: str) -> list[str]:
    return re.sub(r"\\\n\s*", "", text).splitlines()


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A reader's folder, in which modules can be written and imported; nothing of them is left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@EVERY_PAGE
def test_code_runs(page: Path, own_folder: Path):
    """From top to bottom, as a reader would type it; sessions (`>>>`) must show what really comes out."""
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.splitlines():
                if line.startswith("eapo-gym new-env "):
                    result = CONSOLE.invoke(app, shlex.split(line)[1:])
                    assert result.exit_code == 0, result.output
        elif block.language == "python":
            # Blank lines before it, so that a traceback names the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, page, "exec")
            if block.run:
                exec(code, names)
        elif block.language == "pycon" and block.run:
            check_session(block, page, names)


def check_session(block: Block, page: Path, names: dict[str, Any]) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    session = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=flags).run(session, out=said.append, clear_globs=False)
    names.update(session.globs)
    assert result.failed == 0, "".join(said)


def test_little_is_left_unrun():
    unrun = [(page.name, block.line) for page in PAGES for block in blocks(page) if not block.run]
    assert len(unrun) <= AT_MOST_NOT_RUN, unrun


@pytest.mark.parametrize("command", [line for page in PAGES for line in commands(page)], ids=" ".join)
def test_commands_parse(command: list[str]):
    """Unknown commands and options are errors before --help is answered."""
    end = command.index("--") if "--" in command else len(command)  # what stands behind it is no option
    result = CONSOLE.invoke(app, [*command[:end], "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


def test_a_wrong_command_would_be_noticed():
    for wrong in (["plya", "alfworld"], ["play", "alfworld", "--speed", "2"], ["data", "androidworld"]):
        assert CONSOLE.invoke(app, [*wrong, "--help"]).exit_code != 0


def test_the_command_line_page_knows_every_option(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    sections = re.split(r"^## `eapo-gym (.+?)`.*$", (ROOT / "docs/cli.md").read_text(encoding="utf-8"), flags=re.M)
    pages = dict(zip(sections[1::2], sections[2::2], strict=True))
    option = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    for command, text in pages.items():
        shown = CONSOLE.invoke(app, [*command.split(), "--help"], terminal_width=200, color=False).output
        assert set(option.findall(text)) == set(option.findall(shown)) - {"--help"}, command
    groups = {group.name: group.typer_instance for group in app.registered_groups}
    assert set(pages) == set(names_in(app)) | {
        f"{group} {name}" for group, commands_ in groups.items() for name in names_in(commands_)
    }


def test_the_training_page_names_every_metric_that_is_drawn():
    named = set(re.findall(r"`([a-z_]+/[a-z_0-9]+)`", (ROOT / "docs/train.md").read_text(encoding="utf-8")))
    drawn = {panel.metric for figure in FIGURES for panel in figure.panels}
    assert drawn - named == set()


def names_in(group: typer.Typer) -> list[str]:
    found = ((command.name, command.callback) for command in group.registered_commands)
    return [name or callback.__name__.replace("_", "-") for name, callback in found]


def test_the_generated_parts_are_up_to_date():
    """The API, the checks, and every measured number: they are those of the code and of benchmarks/results."""
    pytest.importorskip("torch", reason="some of the public modules need torch (extra train)")
    command = [sys.executable, ROOT / "docs/generated.py", "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@EVERY_PAGE
def test_measured_numbers_stand_in_generated_parts_alone(page: Path):
    text = GENERATED.sub("", page.read_text(encoding="utf-8"))
    assert MEASURED.findall(FENCE.sub("", text)) == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=str)
def test_links_lead_somewhere(page: Path):
    """MkDocs checks those of the site (`make docs`), and these pages are not on it."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []
