"""What the explorer reads: goals, days, screens; and that no screen and no memory throws it off."""

from __future__ import annotations

from datetime import date
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.actions import parse_action
from eapo_gym.envs.androidworld.elements import Element, as_text
from eapo_gym.envs.androidworld.env import AndroidWorldEnv
from eapo_gym.envs.androidworld.experts import Explorer, read_goal, read_screen
from eapo_gym.envs.androidworld.experts.dates import read_day, read_time, read_today
from eapo_gym.schema import Observation

TODAY = date(2023, 10, 15)


@pytest.mark.parametrize(
    ("goal", "kinds"),
    [
        ("Turn off WiFi, then enable bluetooth", ["switch", "switch"]),
        ("Turn on Wifi, then open the clock app", ["switch", "open"]),
        ("Set the brightness to max.", ["slide"]),
        ("Create a new note in Markor named a.md with the following text: Then turn wifi off.", ["new file", "write"]),
        ("Delete the following recipes from Broccoli app: A, B.", ["delete"]),
        ("Add the following expenses into the pro expense:\nname|note\nA|b\nC|d", ["create", "create"]),
        ("Reply to +123456 with message: Turn wifi on. in Simple SMS Messenger", ["reply"]),
        ("Sing me a song.", []),
        ("", []),
    ],
)
def test_goals_in_parts(goal: str, kinds: list[str]) -> None:
    assert [part.kind for part in read_goal(goal)] == kinds


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("tomorrow", date(2023, 10, 16)),
        ("this Sunday", date(2023, 10, 22)),
        ("Friday", date(2023, 10, 20)),
        ("the Monday after next", date(2023, 10, 23)),
        ("in two weeks from today", date(2023, 10, 29)),
        ("October 7", date(2023, 10, 7)),
        ("October 7 2024", date(2024, 10, 7)),
        ("2023-10-28", date(2023, 10, 28)),
        ("February 30", None),
        ("some day", None),
    ],
)
def test_days(said: str, meant: date | None) -> None:
    assert read_day(said, TODAY) == meant


def test_times_and_today() -> None:
    assert [read_time(said) for said in ("12am", "12pm", "8:05pm", "23:59", "7h", "25:00", "soon")] == [
        0, 720, 1205, 1439, 420, None, None,
    ]  # fmt: skip
    assert read_today("Sun, Oct 15") == TODAY
    assert read_today("Sun, Foo 15") is None
    assert read_today("Sun, Feb 31") is None


TEXTS = st.text(max_size=20)
WORDS = st.sampled_from(
    ["", "Delete", "Save", "OK", "Cancel", "1 selected", "Select time", "10:00 - 11:00", "October 16 (Mon)", "SMS"]
)
ELEMENTS = st.builds(
    Element,
    index=st.integers(0, 40),
    bounds=st.just((0, 0, 1, 1)),
    kind=st.sampled_from(["TextView", "Button", "ImageButton", "EditText", "Switch", "RadioButton", "RecyclerView"]),
    text=st.one_of(WORDS, TEXTS),
    desc=st.one_of(WORDS, TEXTS, st.sampled_from(["Start time", "More options", "Select hour", "15 October, 1 event"])),
    hint=st.one_of(WORDS, TEXTS),
    editable=st.booleans(),
    scrollable=st.booleans(),
    checkable=st.booleans(),
    enabled=st.booleans(),
)
APPS = st.sampled_from(
    ["Settings", "Markor", "Simple Calendar Pro", "Simple SMS Messenger", "Files", "Clock", "Camera"]
)
FACTS = st.lists(
    st.sampled_from(["wrote note", "latest", "setting the end", "recording", "wrote", "read note", "repeats"]),
    max_size=3,
)


@cache
def goals() -> tuple[str, ...]:
    env = AndroidWorldEnv("train", episodes=2, observation_mode="elements")
    return tuple(env.reset(options={"task": task})[0]["goal"] for task in env.tasks())


@given(st.data(), st.lists(ELEMENTS, max_size=8), APPS, FACTS, st.integers(1, 3))
def test_any_screen_is_answered_with_an_action(
    data: st.DataObject, elements: list[Element], app: str, facts: list[str], part: int
) -> None:
    known = f" Known: {'; '.join(dict.fromkeys(facts))}." if facts else ""
    observation = Observation(
        data.draw(st.sampled_from(goals())),
        f"In front: {app} (a.b/.C)",
        memory=f"Turn 4. Part {part}. Today: Sun, Oct 15.{known}",
        elements=as_text(elements),
    )
    for memoryless in (False, True):
        turn = Explorer(memoryless=memoryless).act(observation)
        parse_action(turn.action or "")
        assert turn.format_ok


@given(st.text(), st.text(), st.text())
def test_no_text_breaks_the_reading(goal: str, state: str, elements: str) -> None:
    read_goal(goal)
    read_screen(state, elements)
    Explorer().act(Observation(goal, "In front: A (b/.C)", elements=elements))
