"""`episode_page`: one episode as one HTML file, to be read step by step.

Nothing is loaded from anywhere. All that an environment or an agent said is escaped, and the page's own policy forbids
any script but the page's: an episode cannot do anything to its reader.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from eapo_gym.bench.episodes import Episode, StepNote
from eapo_gym.schema import Transition
from eapo_gym.visitation import VisitCounter

_DEEPEST = 5
"""κ has a colour of its own up to here."""

_WORDS_TO_COMPARE = 1500
"""Memories longer than this are shown without what is new in them: comparing takes the square of it."""

_PAGE = "page.html"


def episode_page(episode: Episode) -> str:
    """The page of one episode."""
    if not episode.trajectory.transitions:
        raise ValueError("An episode without a step has nothing to show.")
    template = files(__package__).joinpath(_PAGE).read_text(encoding="utf-8")
    steps = episode.trajectory.transitions
    marks = [_mark(step, note) for step, note in zip(steps, episode.notes, strict=True)]
    depths = _depths(episode)
    parts = {
        "policy": _policy(template),
        "title": _text(f"{episode.agent or 'episode'}: {steps[0].goal}"),
        "overline": "eapo-gym · an episode" + (f" of {_text(episode.agent)}" if episode.agent else ""),
        "goal": _text(steps[0].goal),
        "facts": _facts(episode),
        "tiles": _tiles(episode),
        "legend": _legend(marks),
        "map": _map(episode, depths),
        "strip": "".join(_cells(episode, depths, marks)),
        "steps": "\n".join([*_articles(episode, depths, marks), _ending(episode, depths[-1])]),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def _text(text: str) -> str:
    """Any text as HTML: nothing in it is markup, and everything in it can be written to a file."""
    written = text.encode("utf-8", "replace").decode("utf-8")
    return escape(re.sub(r"[^\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", written))


@cache
def _policy(template: str) -> str:
    """Names the one script that may run by its digest."""
    start, stop = template.index("<script>") + len("<script>"), template.index("</script>")
    digest = base64.b64encode(sha256(template[start:stop].encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def _depths(episode: Episode) -> list[int]:
    """κ at every moment: before each step, and at the end."""
    counter = VisitCounter()
    return [counter.visit(fingerprint) for fingerprint in episode.fingerprints()]


def _mark(step: Transition, note: StepNote) -> str:
    if step.rollback:
        return "rollback"
    return "invalid" if note.invalid else ""


# The head of the page


def _facts(episode: Episode) -> str:
    trajectory = episode.trajectory
    said = {**trajectory.info, "source": trajectory.source}
    facts = [f"<span><code>{_text(trajectory.task)}</code></span>"]
    facts += [
        f"<span>{name.replace('_', ' ')} {_text(str(said[name]))}</span>"
        for name in ("source", "split", "engine", "seed")
        if said.get(name) not in (None, "")
    ]
    if trajectory.source == "embedded":
        facts.append("<span>generated, not the benchmark’s</span>")
    return "".join(facts)


def _tiles(episode: Episode) -> str:
    trajectory = episode.trajectory
    distinct = len(set(episode.fingerprints()))
    tiles = [
        _outcome(episode),
        ("Steps", str(len(episode)), f"in {distinct} distinct state{'s' * (distinct != 1)}"),
        (
            "Exploration degree",
            f"{trajectory.exploration_degree():.2f}",
            f"{trajectory.exploration_degree(self_loops=False):.2f} without self-loops",
        ),
        ("Invalid actions", str(episode.invalid), f"{100 * episode.invalid / len(episode):.0f} % of the steps"),
        ("Rollbacks", str(episode.rollbacks), _rollbacks(episode)),
    ]
    return "\n".join(
        f'<div><dt class="label">{name}</dt><dd>{value}<small>{_text(note)}</small></dd></div>'
        for name, value, note in tiles
    )


def _rollbacks(episode: Episode) -> str:
    return f"{episode.rollbacks_held} reached the state before" if episode.rollbacks else "none was tried"


def _outcome(episode: Episode) -> tuple[str, str, str]:
    if episode.failure is not None:
        cause = str(episode.failure.get("cause", "unknown"))
        return "Outcome", '<span class="unsolved">Failed</span>', f"the infrastructure: {cause}"
    if episode.success:
        return "Outcome", '<span class="solved">Solved</span>', f"with step {len(episode)}"
    ended = "the steps were used up" if episode.trajectory.transitions[-1].truncated else "the episode ended"
    return "Outcome", '<span class="unsolved">Not solved</span>', ended


def _legend(marks: Sequence[str]) -> str:
    swatches = "".join(f'<span class="swatch k{depth}"></span>' for depth in range(_DEEPEST + 1))
    keys = [f'<span class="key">κ 0 {swatches} {_DEEPEST} or more</span>']
    if "invalid" in marks:
        keys.append('<span class="key"><b style="color: var(--bad)">×</b> invalid action</span>')
    if "rollback" in marks:
        keys.append('<span class="key"><b style="color: var(--back)">↶</b> rollback</span>')
    return "\n".join(keys)


def _map(episode: Episode, depths: Sequence[int]) -> str:
    """Where the agent was: a row for each distinct state, in the order of their first visits."""
    fingerprints = episode.fingerprints()
    row_of: dict[str, int] = {}
    rows = [row_of.setdefault(fingerprint, len(row_of)) for fingerprint in fingerprints]
    height = max(40, min(150, 9 * len(row_of)))
    x = [100 * (t + 0.5) / len(rows) for t in range(len(rows))]
    y = [100 * (row + 0.5) / len(row_of) for row in rows]
    points = [f"{left:.2f} {top:.2f}" for left, top in zip(x, y, strict=True)]
    back = "".join(
        f"M{points[t]}L{points[t + 1]}" for t, step in enumerate(episode.trajectory.transitions) if step.rollback
    )
    dots = "".join(
        f'<a class="dot {_colour(depth)}" href="#{_name(t, len(rows))}" tabindex="-1" aria-hidden="true" '
        f'style="left: {left:.2f}%; top: {top:.2f}%"></a>'
        for t, (left, top, depth) in enumerate(zip(x, y, depths, strict=True))
    )
    return (
        f'<div class="map" style="height: {height}px"><svg viewBox="0 0 100 100" preserveAspectRatio="none" '
        f'aria-hidden="true"><path class="way" d="M{"L".join(points)}"/>'
        f'{f"""<path class="way-back" d="{back}"/>""" if back else ""}</svg>{dots}</div>'
    )


def _cells(episode: Episode, depths: Sequence[int], marks: Sequence[str]) -> Iterator[str]:
    signs = {"rollback": "↶", "invalid": "×", "": ""}
    moments = len(depths)
    for t, (step, mark) in enumerate(zip(episode.trajectory.transitions, marks, strict=True)):
        label = f"Step {t + 1}: {step.action} (κ {depths[t]}{', ' if mark else ''}{mark})"
        yield (
            f'<a class="{_colour(depths[t])} {mark}" href="#{_name(t, moments)}" title="{_text(label)}" '
            f'aria-label="{_text(label)}">{signs[mark]}</a>'
        )
    look, sign, label = ("won", "★", "The end: solved") if episode.success else (_colour(depths[-1]), "", "The end")
    yield f'<a class="{look}" href="#{_name(moments - 1, moments)}" title="{label}" aria-label="{label}">{sign}</a>'


def _colour(depth: int) -> str:
    return f"k{min(depth, _DEEPEST)}"


def _name(t: int, moments: int) -> str:
    return f"step-{t + 1}" if t < moments - 1 else "end"


# The steps


def _articles(episode: Episode, depths: Sequence[int], marks: Sequence[str]) -> Iterator[str]:
    count = len(episode)
    for step, note, depth, mark in zip(episode.trajectory.transitions, episode.notes, depths, marks, strict=False):
        mind = "".join(
            _section(title, body)
            for title, body in (
                ("Think", _text(note.think)),
                ("Explore", _text(step.explore)),
                ("Memory", _changed(step.memory_in, step.memory)),
            )
            if body
        )
        flags = f'<span class="flag {mark}">{mark}</span>' if mark else ""
        yield f"""<article id="step-{step.t + 1}">
<header><h2>Step {step.t + 1} of {count}</h2>{_kappa(depth)}{flags}{_print(step.fingerprint)}</header>
<div class="columns{"" if mind else " single"}"><div class="state">{_section("State", _text(step.state))}</div>
{f'<div class="mind">{mind}</div>' if mind else ""}</div>
<div class="act"><span class="label">Action</span><code>{_text(step.action or "")}</code>{_came_of(step, note)}</div>
{_offered(note, step.action)}</article>"""


def _ending(episode: Episode, depth: int) -> str:
    last = episode.trajectory.transitions[-1]
    flag = '<span class="flag won">solved</span>' if episode.success else ""
    said = ""
    if episode.failure is not None:
        said = _section("Failure", _text(str(episode.failure.get("message", ""))))
    return f"""<article id="end">
<header><h2>The end</h2>{_kappa(depth)}{flag}{_print(last.next_fingerprint)}</header>
<div class="state">{_section("State", _text(last.next_state))}{said}</div></article>"""


def _section(title: str, body: str) -> str:
    return f'<section><h3 class="label">{title}</h3><p class="text">{body}</p></section>'


def _kappa(depth: int) -> str:
    times = {0: "first visit", 1: "second visit", 2: "third visit"}.get(depth, f"{depth + 1} visits by now")
    return f'<span class="kappa {_colour(depth)}">κ {depth} · {times}</span>'


def _print(fingerprint: str) -> str:
    return f'<code class="print" title="fingerprint {_text(fingerprint)}">{_text(fingerprint[:10])}</code>'


def _came_of(step: Transition, note: StepNote) -> str:
    if note.rollback is not None:
        if note.rollback.get("held"):
            by = f" by “{note.rollback['action']}”" if note.rollback.get("action") else ""
            said = f"back in the state before{by}"
        else:
            said = f"the rollback did not hold: {note.rollback.get('reason') or 'no reason given'}"
        return f'<span class="note rollback">{_text(said)}</span>'
    if note.invalid:
        return '<span class="note invalid">is not possible here</span>'
    if step.reward:
        return f'<span class="note">reward {step.reward:g}</span>'
    return "" if step.fingerprint != step.next_fingerprint else '<span class="note">leaves the state as it is</span>'


def _offered(note: StepNote, chosen: str | None) -> str:
    if note.offered is None:
        return ""
    items = "".join(
        f"<li{' class=chosen' if command == chosen else ''}><code>{_text(command)}</code></li>"
        for command in note.offered
    )
    return f'<details><summary>{len(note.offered)} valid actions</summary><ul class="offered">{items}</ul></details>\n'


def _changed(before: str, after: str) -> str:
    """A memory as HTML, with what is new in it, and what is gone, against the turn before."""
    old, new = re.findall(r"\S+\s*|\s+", before), re.findall(r"\S+\s*|\s+", after)
    if not before or len(old) + len(new) > _WORDS_TO_COMPARE:
        return _text(after)
    parts = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = "".join(old[i:j]), "".join(new[k:m])
        if kind == "equal":
            parts.append(_text(come))
            continue
        parts += [f"<{tag}>{_text(text.rstrip())}</{tag}> " for tag, text in (("del", gone), ("ins", come)) if text]
    return "".join(parts)
