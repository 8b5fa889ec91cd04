"""The report of training runs: one HTML file with their numbers, their settings, and the figures of how they learned.

    write_training_report(load_training_runs(folders), "report.html")

Nothing is loaded from anywhere, and nothing is run: the figures are drawings within the page, and what is chosen in it
is chosen by its style alone. Whatever the runs' files say stands in it as text.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from eapo_gym.atomic import write_atomically
from eapo_gym.bench.report.assets import asset
from eapo_gym.bench.statistics import Share, Spread
from eapo_gym.trainers.catalogue import Figure, figures_of
from eapo_gym.trainers.curves import Band, X, window_of
from eapo_gym.trainers.figures import (
    COLOURS,
    DASHES,
    X_LABELS,
    draw,
    draw_panel,
    page_colour,
    panels_in,
    part_colours,
    svg_of,
    text_of,
    write_figure,
)
from eapo_gym.trainers.runs import Line, TrainingRun, TrainingRunError, differing, lines_of, short

BANDS: dict[Band, str] = {
    "std": "one standard deviation over the seeds to either side",
    "range": "the seeds, from the least to the greatest",
}


def write_training_report(
    runs: Sequence[TrainingRun],
    path: str | os.PathLike[str],
    *,
    band: Band = "std",
    window: int | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> Path:
    """Write the report as one HTML file; `figures` is a folder for its figures as SVG and PNG files."""
    path = Path(path)
    write_atomically(path, training_report_page(runs, band=band, window=window))
    if figures is not None:
        write_figures(runs, figures, band=band, window=window)
    return path


def write_figures(
    runs: Sequence[TrainingRun],
    folder: str | os.PathLike[str],
    *,
    band: Band = "std",
    window: int | None = None,
) -> list[Path]:
    """Every figure that has data, over the steps of training and of the environment, as SVG and PNG."""
    lines = lines_of(runs)
    return [
        path
        for x in _axes(lines)
        for figure in figures_of(lines)[0]
        for path in write_figure(
            draw(figure, lines, x=x, band=band, window=window),
            Path(folder),
            figure.key if x == "step" else f"{figure.key}-{x}",
        )
    ]


def training_report_page(runs: Sequence[TrainingRun], *, band: Band = "std", window: int | None = None) -> str:
    """The report as HTML; `window` is how many steps a smoothed line takes together, by default a twentieth."""
    if not runs:
        raise TrainingRunError("A report needs at least one training run.")
    lines = lines_of(runs)
    window = window or window_of(lines)
    figures, missing = figures_of(lines)
    axes = _axes(lines)
    title = text_of(f"{', '.join(line.name for line in lines)}: training")
    body = [
        *_switch(axes),
        _head(lines),
        _numbers(lines),
        _differences(lines),
        f'<p class="same">{escape(_reading(lines, window, band))}</p>' if figures else "",
        '<div class="figures">',
        *(_figure(figure, lines, axes, window, band) for figure in figures),
        "</div>",
        _left_out(missing),
        _configurations(runs),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{asset('theme.css', 'report.css')}\n{_STYLE}\n</style>",
            "</head>",
            "<body>",
            '<main id="overview">',
            *filter(None, body),
            "</main>",
            "</body>",
            "</html>",
            "",
        )
    )


def _axes(lines: Sequence[Line]) -> list[X]:
    """What figures can be drawn over."""
    has_env_steps = any(not math.isnan(run.last("env_steps")) for line in lines for run in line.runs)
    return ["step", "env_steps"] if has_env_steps else ["step"]


# What stands above the figures


def _switch(axes: Sequence[X]) -> list[str]:
    """What the figures are drawn over, to choose from. The style does the rest: no script is needed."""
    if len(axes) == 1:
        return []
    inputs = [
        f'<input class="axis" type="radio" name="axis" id="axis-{x}"{" checked" if x == "step" else ""}>' for x in axes
    ]
    labels = "".join(f'<label for="axis-{x}">{escape(X_LABELS[x])}</label>' for x in axes)
    return [*inputs, f'<p class="axes"><span>Figures over</span> {labels}</p>']


def _head(lines: Sequence[Line]) -> str:
    runs = [run for line in lines for run in line.runs]
    environments = {str(run.config.get("env", "")) for run in runs}
    models = {str(run.config.get("model", "")) for run in runs}
    going = sum(not run.finished for run in runs)
    facts = {
        "environment": environments.pop() if len(environments) == 1 else "",
        "model": models.pop() if len(models) == 1 else "",
        "versions": _versions(runs),
    }
    heading = lines[0].name if len(lines) == 1 else f"{len(lines)} configurations"
    badges = [f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}"]
    seeds = sorted({json.dumps(run.config.get("seed"), default=str) for run in runs})
    badges.append(f"{'seed' if len(seeds) == 1 else 'seeds'} {short(', '.join(seeds))}")
    warning = f"{going} of {len(runs)} not finished: what they have come to" if going else ""
    return "\n".join(
        (
            '<header class="run-head"><p class="label">eapo-gym · training</p>',
            f"<h1>{_text(heading)}</h1>",
            '<p class="badges">',
            *(f'<span class="badge">{_text(badge)}</span>' for badge in badges),
            f'<span class="badge warn">{_text(warning)}</span>' if warning else "",
            "</p>",
            '<dl class="run-facts">',
            *(
                f"<div><dt>{name}</dt><dd>{_text(short(value, 160))}</dd></div>"
                for name, value in facts.items()
                if value
            ),
            "</dl></header>",
        )
    )


def _versions(runs: Sequence[TrainingRun]) -> str:
    """Those that all runs have in common."""
    found = [run.record.get("versions") for run in runs]
    first = found[0]
    if not isinstance(first, dict) or any(other != first for other in found):
        return ""
    return ", ".join(f"{name.replace('_', '-')} {value}" for name, value in first.items() if value is not None)


_COLUMNS = (
    *("Success in evaluation", "95 % interval", "In training", "Exploration", "Episode’s steps"),
    *("Training steps", "Environment steps", "Time", "Seconds a step"),
)


def _numbers(lines: Sequence[Line]) -> str:
    """The final numbers, a row for each line."""
    rows = []
    for i, line in enumerate(lines):
        share = line.final_success()
        counts = [line.over_seeds([run.last(name) for run in line.runs]) for name in ("step", "env_steps")]
        seconds = line.over_seeds([float(np.nansum(run.column("time/step"))) or np.nan for run in line.runs])
        pace = line.over_seeds([_mean(run.column("time/step")) for run in line.runs])
        values = (
            _percent(line.final_eval("success")),
            "–" if share is None else f"{_bounds(share)} of {share.n}",
            _percent(line.over_seeds([run.recent("train/success") for run in line.runs])),
            _spread(line.measured("degree", "explore/degree"), 3),
            _spread(line.measured("steps", "train/steps"), 1),
            *(f"{count.mean:,.0f}" if count.n else "–" for count in counts),
            _duration(seconds.mean) if seconds.n else "–",
            _spread(pace, 1),
        )
        seeds = "" if len(line.runs) == 1 else f' <small class="hint">{len(line.runs)} runs</small>'
        cells = "".join(f'<td class="number">{_text(value)}</td>' for value in values)
        rows.append(f'<tr><th scope="row">{_key(i)}{_text(line.name)}{seeds}</th>{cells}</tr>')
    head = "".join(f'<th scope="col" class="number">{name}</th>' for name in _COLUMNS)
    return (
        f'<div class="compare"><table><thead><tr><th scope="col">Run</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        '<p class="same">Of the last evaluation, and of the last ten steps of training. Several seeds: mean ± standard '
        "deviation; of steps and time the mean; Wilson’s interval of all their episodes.</p>"
    )


def _differences(lines: Sequence[Line]) -> str:
    """The settings that tell the lines apart."""
    different = differing([line.runs[0] for line in lines])
    if not different:
        return ""
    said = "1 setting differs" if len(different) == 1 else f"{len(different)} settings differ"
    head = "".join(f'<th scope="col">{_key(i)}{_text(line.name)}</th>' for i, line in enumerate(lines))
    rows = "".join(
        f'<tr><th scope="row"><code>{_text(name)}</code></th>'
        + "".join(f"<td>{_text(short(value))}</td>" for value in values)
        + "</tr>"
        for name, values in different.items()
    )
    return (
        f'<details class="stamp" open><summary>{said}</summary><div class="compare">'
        f'<table><thead><tr><th scope="col">Setting</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _reading(lines: Sequence[Line], window: int, band: Band) -> str:
    """What the figures have in common."""
    is_many = any(len(line.runs) > 1 for line in lines)
    parts = []
    if window > 1:
        parts.append(f"Lines of training are means over {window} steps, and dots are single steps.")
    if is_many:
        parts.append(
            f"Runs that differ in their seed alone are one line, their mean; the area around it is {BANDS[band]}."
        )
        parts.append("A line goes on faintly where not all of its seeds have come so far.")
    return " ".join(parts)


# The figures


def _figure(figure: Figure, lines: Sequence[Line], axes: Sequence[X], window: int, band: Band) -> str:
    count = panels_in(figure, lines)
    panels = []
    for number in range(count):
        what = lines[number].name if figure.stacked else figure.panels[number].title
        for x in axes:
            canvas = draw_panel(figure, lines, number, x=x, window=window, band=band)
            svg = svg_of(canvas, prefix=f"{figure.key}-{number}-{x}")
            alt = escape(text_of(_alt(figure, what, lines, x)), quote=True)
            panels.append(svg.replace("<svg", f'<svg class="over-{x}" role="img" aria-label="{alt}"', 1))
    columns = count if count < 5 else 3 if count % 3 == 0 or count == 5 else 4
    keys = [f"<li>{_swatch(colour)}{_text(part)}</li>" for part, colour in part_colours(figure).items()]
    if not figure.stacked:
        keys = [f"<li>{_key(i)}{_text(line.name)}</li>" for i, line in enumerate(lines)]
    return "\n".join(
        (
            f'<figure class="card wide-{columns}" id="{figure.key}">',
            f'<figcaption><h3>{_text(figure.title)}</h3><p class="hint">{_text(figure.about)}</p>',
            f'<ul class="key">{"".join(keys)}</ul></figcaption>',
            f'<div class="panels">{"".join(panels)}</div>',
            "</figure>",
        )
    )


def _alt(figure: Figure, what: str, lines: Sequence[Line], x: X) -> str:
    """What a panel shows, for those who do not see it: of each line, where it began and where it is."""
    said = f"{figure.title}, {what}, over {X_LABELS[x]}."
    if figure.stacked:
        return said
    panel = next(panel for panel in figure.panels if panel.title == what)
    for line in lines:
        first = line.over_seeds([_first(run, panel.metric) for run in line.runs])
        last = line.over_seeds([run.last(panel.metric) for run in line.runs])
        if last.n:
            said += f" {line.name}: from {first.mean:.3g} to {last.mean:.3g}."
    return said


def _first(run: TrainingRun, metric: str) -> float:
    known = run.column(metric)
    known = known[~np.isnan(known)]
    return float(known[0]) if len(known) else float("nan")


def _left_out(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    return f'<p class="same">Not measured in these runs, and so not drawn: {_text("; ".join(missing))}.</p>'


def _configurations(runs: Iterable[TrainingRun]) -> str:
    parts = [
        f'<details class="stamp"><summary>All that is recorded of {_text(run.name)}</summary>'
        f"<pre>{_text(json.dumps(run.record or run.config, indent=1, default=str), lines=True)}</pre></details>"
        for run in runs
    ]
    return '<section class="episodes"><h2>Settings</h2>' + "".join(parts) + "</section>"


# Texts


def _text(value: object, *, lines: bool = False) -> str:
    """A foreign text as HTML, none of which is markup."""
    return "\n".join(map(_text, str(value).split("\n"))) if lines else escape(text_of(value))


def _key(number: int) -> str:
    """The mark of a line: its colour, and its dashes where there are more lines than colours."""
    name = ("solid", "dashed", "dotted", "dotted")[number // len(COLOURS) % len(DASHES)]
    return f'<i class="rule" style="border-top: 3px {name} var(--arm{number % len(COLOURS)})"></i>'


def _swatch(colour: str) -> str:
    return f'<i class="swatch" style="background:{page_colour(colour)}"></i>'


def _spread(spread: Spread, digits: int) -> str:
    if not spread.n:
        return "–"
    return f"{spread.mean:.{digits}f}" + (f" ± {spread.std:.{digits}f}" if spread.n > 1 else "")


def _bounds(share: Share) -> str:
    low, high = share.interval
    return f"{100 * low:.1f}–{100 * high:.1f}"


def _percent(spread: Spread) -> str:
    shown = _spread(Spread(100 * spread.mean, 100 * spread.std, spread.n), 1)
    return shown if shown == "–" else f"{shown} %"


def _mean(values: Any) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


_STYLE = """
/* Training: figures drawn beforehand, over two axes of which one is shown. */
:root { --arm0: #0072b2; --arm1: #d55e00; --arm2: #009e73; --arm3: #cc79a7; --arm4: #e69f00; --arm5: #56b4e9;
  --arm6: #7f6b58; --arm7: #b3a800; }
@media (prefers-color-scheme: dark) {
  :root { --arm0: #4ba3dd; --arm1: #f0854a; --arm2: #2fc097; --arm3: #dd95bd; --arm4: #f0b93a; --arm5: #8fd0f7;
    --arm6: #a8947f; --arm7: #d0c534; }
}
.figures { display: grid; grid-template-columns: minmax(0, 1fr); grid-auto-flow: dense; gap: 1rem;
  margin: 1rem 0 1.5rem; }
.panels { display: grid; grid-template-columns: minmax(0, 1fr); gap: .4rem 1rem; }
@media (min-width: 40rem) { .panels { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (min-width: 66rem) {
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .figures .wide-3, .figures .wide-4, .figures #success { grid-column: span 2; }
  .wide-3 .panels { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .wide-4 .panels { grid-template-columns: repeat(4, minmax(0, 1fr)); }
}
.panels svg { display: block; width: 100%; max-width: 25rem; height: auto; overflow: visible; }
#success .panels svg { max-width: 34rem; }
@media (max-width: 50rem) { #success .panels { grid-template-columns: minmax(0, 1fr); } }
.panels svg * { stroke-linejoin: round; }
.panels text { font-family: var(--sans); font-variant-numeric: tabular-nums; }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; font-size: .8rem; margin: .1rem 0 .5rem; }
.key li, .compare th { overflow-wrap: anywhere; }
.rule { display: inline-block; width: 1.3rem; margin-right: .4rem; vertical-align: .25em; }
.axes { position: sticky; top: .3rem; z-index: 2; float: right; display: flex; gap: .15rem; align-items: center;
  font-size: .84rem; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; margin: .3rem 0;
  padding: .25rem .35rem .25rem .7rem; }
.axes span { color: var(--soft); margin-right: .3rem; }
.axes label { padding: .1rem .6rem; border-radius: 5px; cursor: pointer; }
.axis { position: absolute; opacity: 0; pointer-events: none; }
#axis-step:checked ~ .axes [for="axis-step"], #axis-env_steps:checked ~ .axes [for="axis-env_steps"] {
  background: var(--ink); color: var(--paper); }
#axis-step:focus-visible ~ .axes [for="axis-step"], #axis-env_steps:focus-visible ~ .axes [for="axis-env_steps"] {
  outline: 2px solid var(--accent); outline-offset: 2px; }
#axis-step:checked ~ * .over-env_steps, #axis-env_steps:checked ~ * .over-step { display: none; }
.compare td, .compare th { vertical-align: baseline; }
.stamp { margin: .8rem 0; }
.stamp summary { cursor: pointer; color: var(--soft); }
.stamp .compare { margin-top: .4rem; }
small.hint { color: var(--soft); white-space: nowrap; }
@media print { .axes { display: none; } .card { break-inside: avoid; } }
"""
