r"""The tag protocol: what a response looks like, how one is read, and how what an agent sees is written.

    <think> … </think>
    <explore> … </explore>
    <memory> … </memory>
    <action> … \boxed{ACTION} </action>

`parse` judges the form strictly (`format_ok` is all or nothing) and looks for something to execute leniently. It takes
any text, never raises, and its time grows with the length of the text alone. `render` writes a response such that
`parse(render(turn))` gives back every section, whatever stands in it: text that would read as a tag or a box is written
with character references (`&#60;/memory>`), which `parse` resolves. `eapo_gym.escaping` has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from eapo_gym.errors import ActionError
from eapo_gym.escaping import decode, encode, escape
from eapo_gym.json_action import parse_json_action
from eapo_gym.schema import Observation, Turn

__all__ = ["SECTIONS", "escape", "parse", "parse_json_action", "render", "render_observation", "render_section"]

SECTIONS = ("think", "explore", "memory", "action")
"""The sections of a response, in the order in which they must stand; only `think` may be left out."""

_TAG = re.compile(f"<(/?(?:{'|'.join(SECTIONS)}))>")
_FORM = [tag for name in SECTIONS for tag in (name, f"/{name}")]
_FORM_WITHOUT_THINK = _FORM[2:]

_BOXED = "\\boxed{"
_MAX_SENTENCE = 300

_ORDINARY = 1 << 16
"""Responses are shorter than this, unless something is wrong."""

# A command outside of \boxed{…} is a kindness to weak models: it is looked for in responses of an ordinary length only,
# and in their last lines, so that the environment's parser is called a bounded number of times.
_LONE_LINES = 16
_LONE_LINE = 500
_LABEL = re.compile(r"action\s*:\s*", re.IGNORECASE)


def parse(response: str, parse_action: Callable[[str], str] | None = None) -> Turn:
    r"""Read a response; `parse_action` is the environment's own, without one every boxed text is an action.

    The form is right if explore, memory and action stand there once each, closed, in this order, think (if there is
    one) before them, with one `\boxed{…}` in the action section that holds a command of the environment. If it is not,
    the last `\boxed{…}` anywhere is executed, else a JSON object or a command line that stands alone.

    A section that is opened and never closed counts as not there, so that a response that was cut off in the middle of
    its memory does not cost the memory that was. Of a section that stands there twice the last one counts.
    """
    sections, problems = _sections(response)
    boxed = None
    if not problems:
        boxed, complaint = _boxed_in_section(sections["action"])
        problems = [complaint] if complaint else []
    if boxed is None:
        boxed = _last_boxed(response)

    action = None
    if boxed is not None:
        action, complaint = _accept(decode(boxed), parse_action)
        problems += [complaint] if complaint else []
    else:
        action = _lone_command(response, parse_action)
        if action is None:
            problems.append("There is nothing to execute: expected one boxed command in the action section.")

    return Turn(
        think=decode(sections.get("think", "")),
        explore=decode(sections.get("explore", "")),
        memory=decode(sections["memory"]) if "memory" in sections else None,
        action=action,
        format_ok=not problems,
        problems=tuple(problems),
    )


def _sections(response: str) -> tuple[dict[str, str], list[str]]:
    """What stands in the sections that are there, and what is wrong with the tags."""
    # The usual case in one go. (What follows it would do as well, and takes a megabyte of "<" at a better pace.)
    pieces = _TAG.split(response, maxsplit=len(_FORM) + 1) if len(response) <= _ORDINARY else []
    for form in (_FORM, _FORM_WITHOUT_THINK):
        if pieces[1::2] == form:
            return dict(zip(form[::2], map(_without_blank, pieces[2::4]), strict=True)), []
    found = ((name, _section(response, name)) for name in SECTIONS)
    return {name: text for name, text in found if text is not None}, _broken_form(response)


def _broken_form(response: str) -> list[str]:
    problems: list[str] = []
    marks: list[int] = []
    for name in SECTIONS:
        opening, closing = f"<{name}>", f"</{name}>"
        opened, closed = response.count(opening), response.count(closing)
        if opened == closed == 1:
            marks += response.find(opening), response.find(closing)
        elif opened or closed:
            problems.append(
                f"The {name} section is opened {opened} times and closed {closed} times: expected once each."
            )
        elif name != "think":
            problems.append(f"The {name} section is missing.")
    if marks != sorted(marks):
        problems.append(
            f"The sections overlap or are out of order: expected {', '.join(SECTIONS)}, one after the other."
        )
    return problems


def _section(response: str, name: str) -> str | None:
    """What stands in the last closed section of this name."""
    opening, closing = f"<{name}>", f"</{name}>"
    last = response.rfind(closing)
    start = response.rfind(opening, 0, last) if last >= 0 else -1
    if start < 0:
        return None
    start += len(opening)
    return _without_blank(response[start : response.find(closing, start)])


def _without_blank(text: str) -> str:
    """The form has one blank on either side of a text; any more belong to the text."""
    start = text[:1].isspace()
    return text[start : len(text) - (len(text) > start and text[-1].isspace())]


def _boxed_in_section(section: str) -> tuple[str | None, str]:
    """The one boxed text of an action section, or what is wrong with it."""
    count = section.count(_BOXED)
    if count != 1:
        return None, f"The action section holds {count} boxed commands: expected exactly one."
    boxed = _last_boxed(section)
    return boxed, "" if boxed is not None else "The braces of the boxed command do not balance."


def _last_boxed(text: str) -> str | None:
    r"""What stands in the last `\boxed{…}` whose braces balance."""
    start = text.rfind(_BOXED)
    if start < 0:
        return None
    stop = text.find("}", start)
    if stop >= 0 and text.find("{", start + len(_BOXED), stop) < 0:
        return text[start + len(_BOXED) : stop]
    # Braces within braces. Arrays do what a loop over the characters would, fast enough for a megabyte of nothing else.
    chars = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    boxes = np.ones(len(chars) - len(_BOXED) + 1, bool)
    for offset, char in enumerate(_BOXED):
        boxes &= chars[offset : offset + len(boxes)] == ord(char)
    opened = np.flatnonzero(boxes) + len(_BOXED) - 1
    depth = np.cumsum((chars == ord("{")).view(np.int8) - (chars == ord("}")).view(np.int8), dtype=np.int32)
    lowest_from_here = np.minimum.accumulate(depth[::-1])[::-1]
    balanced = opened[lowest_from_here[opened] < depth[opened]]
    if not balanced.size:
        return None
    start = int(balanced[-1])
    return text[start + 1 : start + int(np.argmax(depth[start:] < depth[start]))]


def _lone_command(response: str, parse_action: Callable[[str], str] | None) -> str | None:
    """The one command that stands, without a box, where an action may stand."""
    if len(response) > _ORDINARY:
        return None
    text = _outside_sections(response)
    start, stop = text.find("{"), text.rfind("}") + 1
    candidates = [text[start:stop]] if 0 <= start < stop else []
    if parse_action is not None:
        lines = (_LABEL.sub("", line.strip(" \t`*>"), count=1).strip(" \t`*") for line in text.splitlines())
        candidates += [line for line in lines if 0 < len(line) <= _LONE_LINE][-_LONE_LINES:]
    accepted = {_accept(candidate, parse_action or _json_action)[0] for candidate in candidates} - {None}
    return accepted.pop() if len(accepted) == 1 else None


def _outside_sections(response: str) -> str:
    """The action section, or else what stands in no section: explore and memory name commands that are not meant."""
    action = _section(response, "action")
    if action is not None:
        return action
    _, opened, text = response.rpartition("<action>")
    if opened:
        return text
    for name in ("think", "explore", "memory"):
        before, opened, inside = text.partition(f"<{name}>")
        _, closed, after = (inside or before).rpartition(f"</{name}>")
        text = f"{before}\n{after if closed else ''}" if opened else after
    return text


def _accept(text: str, parse_action: Callable[[str], str] | None) -> tuple[str | None, str]:
    """The environment's command for `text`, or what is wrong with it."""
    if parse_action is None:
        return text, ""
    try:
        return parse_action(text), ""
    except ActionError as error:
        sentence = " ".join(str(error).split()) or "The command is none of this environment's."
        return None, sentence if len(sentence) <= _MAX_SENTENCE else sentence[: _MAX_SENTENCE - 1] + "…"


def _json_action(text: str) -> str:
    parse_json_action(text)
    return text


def render(turn: Turn) -> str:
    r"""The response that `parse` reads as `turn`: what supervised training aims at, and what experts say.

    An empty thought is left out, as is a memory that is None; an action that is None leaves the action section empty.

    >>> print(render(Turn(explore="Try the drawer.", memory="", action="open drawer 1")))
    <explore> Try the drawer. </explore>
    <memory></memory>
    <action> \boxed{open drawer 1} </action>
    """
    sections = [render_section("think", turn.think)] if turn.think else []
    sections.append(render_section("explore", turn.explore))
    if turn.memory is not None:
        sections.append(render_section("memory", turn.memory))
    boxed = "" if turn.action is None else f" {_BOXED}{encode(turn.action, in_braces=True)}}} "
    sections.append(f"<action>{boxed}</action>")
    return "\n".join(sections)


def render_section(name: str, text: str) -> str:
    """One section of a response; nothing in `text` can end it, and `parse` gives back exactly `text`."""
    return f"<{name}> {encode(text)} </{name}>" if text else f"<{name}></{name}>"


def render_observation(observation: Observation) -> str:
    """The observation s̃ = [goal; state; explore; memory] as text for a prompt; sections that are empty are left out.

    Goal and state come first: what does not depend on the agent is a prefix that engines can keep.
    """
    parts = {
        "goal": observation.goal,
        "state": observation.state,
        "elements": observation.elements,
        "explore": observation.explore,
        "memory": observation.memory,
    }
    return "\n".join(f"<{name}>\n{escape(text)}\n</{name}>" for name, text in parts.items() if text)
