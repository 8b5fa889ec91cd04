import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eapo_gym.bench.statistics import wilson
from eapo_gym.cli.training_report import MixedRuns, are_training_runs, run_training_report
from eapo_gym.trainers.runs import TrainingRunError, lines_of, load_training_runs
from tests.trainers.training_runs import write_rows, write_run

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from eapo_gym.trainers.figures import COLOURS
from eapo_gym.trainers.report import training_report_page, write_training_report

HOSTILE = '</pre></table><script>alert("x")</script><img src=x onerror=alert(1)> & \' " \x00\x1b[31m\ud800 $x^'
VOID = {"meta", "br", "img", "hr", "link", "input"}


class Outline(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.inside

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.inside.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag, "elements close in another order than they were opened"

    def handle_data(self, data: str) -> None:
        if "style" not in self.inside:
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def few(folder: Path, name: str, seed: int = 0, **settings: Any) -> Path:
    """A run with no more metrics than a page needs: it is drawn at once."""
    run = write_run(folder / name, seed=seed, metrics=False, **settings)
    low, high = wilson(12, 40)
    rows = [
        {"step": t, "env_steps": 100 * t, "train/success": 0.1 * t, "time/step": 30.0, "reward/task": math.nan}
        for t in range(1, 5)
    ]
    rows[-1] |= {"eval/success": 12 / 40, "eval/low": low, "eval/high": high, "eval/steps": 17.25, "eval/degree": 0.25}
    write_rows(run, rows)
    return run


def test_a_page_stands_alone_and_runs_nothing(tmp_path: Path) -> None:
    runs = load_training_runs([few(tmp_path, "a"), few(tmp_path, "b", algorithm="grpo")])
    outline = Outline(training_report_page(runs))
    assert not outline.of("script")
    assert not outline.of("link")
    assert not outline.of("img")
    policy = next(str(meta["content"]) for meta in outline.of("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy
    references = [value for _, attributes in outline.elements for name, value in attributes.items() if "href" in name]
    assert all(str(value).startswith("#") for value in references if not str(value).startswith("http://www.w3.org"))


def test_every_figure_has_title_legend_and_words_over_both_axes(tmp_path: Path) -> None:
    runs = load_training_runs([few(tmp_path, "a"), few(tmp_path, "b", algorithm="grpo")])
    page = training_report_page(runs)
    outline = Outline(page)
    svgs = outline.of("svg")
    assert {svg["class"] for svg in svgs} == {"over-step", "over-env_steps"}
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in svgs)
    assert "eapo: from 0.1 to 0.4." in str(svgs[0]["aria-label"])
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert figures
    for figure in figures:
        assert "<h3>" in figure
        assert "<li>" in figure
    assert "Rewards" in outline.text.partition("Not measured")[2], "a figure without data is named"
    assert 'id="rewards"' not in page
    assert len(outline.of("input")) == 2


def test_without_environment_steps_there_is_nothing_to_choose(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", metrics=False)
    write_rows(folder, [{"step": 1, "train/success": 0.5}])
    outline = Outline(training_report_page(load_training_runs([folder])))
    assert not outline.of("input")
    assert {svg["class"] for svg in outline.of("svg")} == {"over-step"}


def test_the_final_numbers_are_in_the_table(tmp_path: Path) -> None:
    runs = load_training_runs([few(tmp_path, f"s{seed}", seed) for seed in range(3)])
    page = training_report_page(runs)
    low, high = wilson(36, 120)
    for text in (
        "30.0 ± 0.0 %",
        f"{100 * low:.1f}–{100 * high:.1f} of 120",
        "0.250 ± 0.000",
        "17.2",
        "400",
        "2 min",
        "30.0",
    ):
        assert text in page
    assert "3 runs" in page
    assert "settings differ" not in page, "seeds are no difference"


def test_differences_and_whole_configurations_are_there(tmp_path: Path) -> None:
    folders = [few(tmp_path, "a", gamma_explore=0.5), few(tmp_path, "b", gamma_explore=0.9)]
    text = Outline(training_report_page(load_training_runs(folders))).text
    assert "1 settings differ" not in text
    assert "1 setting differs" in text
    assert text.count('"gamma_explore": 0.5') == text.count('"gamma_explore": 0.9') == 1


def test_nothing_that_a_run_says_is_markup(tmp_path: Path) -> None:
    folder = few(tmp_path, "a")
    record = json.loads((folder / "config.json").read_text())
    record["config"] |= {"algorithm": HOSTILE, "env": HOSTILE, "model": HOSTILE, HOSTILE: HOSTILE}
    record["versions"] = {HOSTILE: HOSTILE}
    (folder / "config.json").write_text(json.dumps(record))
    rows = [{"step": t, "train/success": 0.5, HOSTILE: 1.0} for t in (1, 2, 3)]
    write_rows(folder, rows)
    runs = load_training_runs([folder, few(tmp_path, "<b>")])
    path = write_training_report(runs, tmp_path / "report.html")
    outline = Outline(path.read_text(encoding="utf-8"))
    assert not outline.of("script")
    assert not outline.of("img")
    assert not outline.of("b")
    assert "<script>alert" in outline.text
    assert "\x1b" not in outline.text


def test_a_run_that_goes_on_and_one_without_a_step_are_shown(tmp_path: Path) -> None:
    going = few(tmp_path, "going", steps=1000)
    with (going / "metrics.jsonl").open("a") as file:
        file.write('{"step": 5, "tr')
    begun = write_run(tmp_path / "begun", metrics=False, algorithm="grpo")
    page = training_report_page(load_training_runs([going, begun]))
    assert "2 of 2 not finished" in page
    Outline(page)
    nothing = training_report_page(load_training_runs([begun]))
    assert "<figure" not in nothing
    assert "Not measured in these runs" in nothing


def test_a_report_needs_a_run() -> None:
    with pytest.raises(TrainingRunError):
        training_report_page([])


def test_colours_of_the_page_are_those_of_the_figures(tmp_path: Path) -> None:
    page = training_report_page(load_training_runs([few(tmp_path, "a")]))
    light = page.partition("Training: figures")[2].partition("@media")[0]
    assert re.findall(r"--arm\d: (#[0-9a-f]{6})", light) == list(COLOURS)
    assert set(re.findall(r"var\((--arm\d)\)", page)) <= set(re.findall(r"(--arm\d):", light))


def test_the_command_writes_report_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [few(tmp_path, "a"), few(tmp_path, "b", algorithm="grpo")]
    assert are_training_runs(folders)
    page = run_training_report(folders, figures=True)
    assert page == folders[0] / "report.html"
    names = {path.name for path in (folders[0] / "figures").iterdir()}
    assert {"success.svg", "success.png", "success-env_steps.svg"} <= names
    assert str(page) in capsys.readouterr().out


def test_training_runs_and_others_are_not_mixed(tmp_path: Path) -> None:
    run = few(tmp_path, "a")
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "run.json").write_text('{"config": {}, "planned": []}')
    assert not are_training_runs([tmp_path / "eval"])
    with pytest.raises(MixedRuns, match="one kind"):
        are_training_runs([run, tmp_path / "eval"])


def test_many_lines_are_told_apart(tmp_path: Path) -> None:
    runs = load_training_runs([few(tmp_path, f"g{i}", gamma_explore=i / 10) for i in range(10)])
    assert len(lines_of(runs)) == 10
    keys = re.findall(r'<i class="rule" style="([^"]*)"', training_report_page(runs))
    assert len(set(keys)) == 10
