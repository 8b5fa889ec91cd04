import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from eapo_gym.errors import MissingExtra
from eapo_gym.trainers.catalogue import FIGURES, figures_of
from eapo_gym.trainers.runs import Line, TrainingRun, lines_of, load_training_runs
from tests.trainers.training_runs import write_run

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from eapo_gym.trainers.figures import (
    COLOURS,
    draw,
    draw_panel,
    line_style,
    panels_in,
    part_colours,
    svg_of,
    write_figure,
)

SVG = "{http://www.w3.org/2000/svg}"


def figure_of(key: str) -> Any:
    return next(figure for figure in FIGURES if figure.key == key)


def lines(tmp_path: Path, count: int = 2, **settings: Any) -> list[Line]:
    folders = [
        write_run(tmp_path / f"{algorithm}-{seed}", algorithm=algorithm, seed=seed, **settings)
        for algorithm in ("eapo", "grpo")
        for seed in range(count)
    ]
    return lines_of(load_training_runs(folders))


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_all_metrics_of_a_run_are_in_some_figure(tmp_path: Path) -> None:
    [row, *_] = load_training_runs([write_run(tmp_path / "run", steps=10)])[0].rows[-1:]
    drawn = {panel.metric for figure in FIGURES for panel in figure.panels}
    about = {"step", "env_steps", "train/episodes", "eval/low", "eval/high"}
    assert set(row) - drawn == about


def test_figures_without_data_are_left_out_and_named(tmp_path: Path) -> None:
    grpo = [line for line in lines(tmp_path, steps=5, eval_every=0) if line.name == "grpo"]
    figures, missing = figures_of(grpo)
    assert "The reward model q" in missing
    assert "Success: Evaluation" in missing
    assert "Rewards: Exploration" in missing, "NaN is no data"
    assert {figure.key for figure in figures} >= {"success", "groups", "seconds", "policy"}
    assert all(figure.key not in ("reward_model", "densities") for figure in figures)


def test_every_figure_is_drawn_with_its_title_units_and_legend(tmp_path: Path) -> None:
    both = lines(tmp_path, steps=20, eval_every=5)
    figures, _ = figures_of(both)
    for figure in figures:
        shown = texts(svg_of(draw(figure, both, x="env_steps")))
        assert figure.title in shown
        assert "environment steps" in shown
        legend = part_colours(figure) if figure.stacked else [line.name for line in both]
        assert set(legend) <= set(shown)
        expected = [line.name for line in both] if figure.stacked else [panel.title for panel in figure.panels]
        assert set(expected) <= set(shown)
        assert {figure.unit} if figure.stacked else {panel.unit for panel in figure.panels} <= {*shown, ""}


def test_an_svg_is_vectors_and_text_and_small(tmp_path: Path) -> None:
    long = lines_of(load_training_runs([write_run(tmp_path / "run", steps=6000, eval_every=0)]))
    svg = svg_of(draw_panel(figure_of("success"), long, 0))
    assert "<image" not in svg
    assert "Training" in texts(svg)
    paths = [element.get("d", "") for element in ElementTree.fromstring(svg).iter(f"{SVG}path")]
    assert max(len(re.findall("[ML]", path)) for path in paths) <= 2 * 2000 + 4  # the band has two sides
    assert len(svg) < 150_000


def test_small_numbers_of_an_axis_stay_what_they_are() -> None:
    rows = [{"step": step, "policy/kl": 0.012 + 0.0003 * step} for step in range(1, 20)]
    shown = texts(svg_of(draw_panel(figure_of("policy"), [Line("a", (TrainingRun("a", {}, rows),))], 0), prefix="p"))
    ticks = [float(text) for text in shown if re.fullmatch(r"0\.\d+", text)]
    assert len(ticks) == len(set(ticks)) >= 3


def test_lines_of_the_grid_are_there_from_end_to_end(tmp_path: Path) -> None:
    svg = svg_of(draw_panel(figure_of("success"), lines(tmp_path, steps=40), 0), prefix="p")
    across = re.findall(r'd="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" clip-path', svg)
    flat = [float(x1) - float(x0) for x0, y0, x1, y1 in across if y0 == y1]
    assert len(flat) >= 3
    assert min(flat) > 100
    assert re.search(r"M[\d.]+ [\d.]+h0M", svg), "raw points are dots"


def test_what_stands_in_a_page_refers_to_itself_alone(tmp_path: Path) -> None:
    two = lines(tmp_path, steps=40)
    pieces = [svg_of(draw_panel(figure_of("success"), two, 0, x=x), prefix=x) for x in ("step", "env_steps")]
    ids = [set(re.findall(r' id="([^"]*)"', piece)) for piece in pieces]
    assert not ids[0] & ids[1]
    for piece, own in zip(pieces, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]*)\)|href=\"#([^\"]*)\"", piece)) <= {
            pair for name in own for pair in ((name, ""), ("", name))
        }
        assert "<style" not in piece
        assert "<metadata" not in piece
        assert COLOURS[0] not in piece
        assert "var(--arm0)" in piece
        ElementTree.fromstring(piece)


@pytest.mark.parametrize("name", ["$x^{", "_hidden", "</svg><script>", "a\x00b\x1b[31m", "\ud800", "%s {0}", "ä" * 200])
def test_names_are_text_whatever_stands_in_them(name: str) -> None:
    rows = [{"step": step, "train/success": 0.5, "time/rollout": 1.0} for step in (1, 2)]
    odd = [Line(name, (TrainingRun("a", {}, rows),))]
    for key in ("success", "seconds"):
        canvas = draw(figures_of(odd)[0][[f.key for f in figures_of(odd)[0]].index(key)], odd)
        assert not list(ElementTree.fromstring(svg_of(canvas)).iter(f"{SVG}script"))
    shown = texts(svg_of(draw(figures_of(odd)[0][0], odd)))
    assert any(name[:2].strip("_\x00\ud800") in text for text in shown)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_the_first_steps_are_drawn(tmp_path: Path, steps: int) -> None:
    early = lines(tmp_path, steps=steps or 1, eval_every=1, metrics=steps > 0)
    figures, missing = figures_of(early)
    assert bool(figures) == (steps > 0)
    assert len(missing) >= len(FIGURES) * (steps == 0)
    for figure in figures[:4]:
        for number in range(panels_in(figure, early)):
            assert "<path" in svg_of(draw_panel(figure, early, number, x="env_steps"))


def test_a_line_looks_the_same_in_every_figure_and_like_no_other() -> None:
    looks = [(line_style(i)["color"], str(line_style(i)["linestyle"])) for i in range(32)]
    assert len(set(looks)) == 32
    assert len({colour for colour, _ in looks[:8]}) == 8


def test_evaluations_have_wilsons_interval(tmp_path: Path) -> None:
    one = lines_of(load_training_runs([write_run(tmp_path / "run", steps=20, eval_every=10)]))
    run = one[0].runs[0]
    [axis] = draw_panel(figure_of("success"), one, 1).axes
    [band] = axis.collections
    corners = band.get_paths()[0].vertices
    expected = {round(100 * run.last(name), 6) for name in ("eval/low", "eval/high")}
    assert expected <= {round(float(y), 6) for _, y in corners}


def test_figures_are_written_as_vectors_and_as_pixels(tmp_path: Path) -> None:
    both = lines(tmp_path, steps=5)
    paths = write_figure(draw(figure_of("success"), both), tmp_path / "figures", "success")
    assert [path.name for path in paths] == ["success.svg", "success.png"]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    before = paths[0].read_bytes()
    write_figure(draw(figure_of("success"), both), tmp_path / "figures", "success")
    assert paths[0].read_bytes() == before, "the same runs give the same file"


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = lines(tmp_path, steps=2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"eapo-gym\[train\]"):
        draw(figure_of("success"), both)
