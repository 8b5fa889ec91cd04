"""A prompt never outgrows its budget, and what is dear stays whole for as long as anything else can go."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.agents.prompts import COMPACT, EAPO, REACT, PromptBuilder
from eapo_gym.agents.prompts.fitting import estimate
from eapo_gym.engines.base import PromptTooLong
from eapo_gym.protocol import escape
from eapo_gym.schema import Context, Exchange, Observation
from tests.agents.scripted import ScriptedEngine, user_text

CONTEXT = Context(env="eapo/ALFWorld-v0")
words = st.text("abc <>[]\\{}é漢\n.", max_size=400)


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    return Observation(
        goal=draw(words),
        state=draw(words) * draw(st.sampled_from([1, 1, 30, 3000])),
        explore=draw(words),
        memory=draw(words),
        elements=draw(st.none() | words),
        valid_actions=tuple(draw(st.lists(st.text("abc ", max_size=40), max_size=60))),
        history=tuple(Exchange(state, "Thought: hm", "look") for state in draw(st.lists(words, max_size=8))),
        context=CONTEXT,
    )


def within(name: str, prompt_text: str) -> str:
    """What stands in a section, "" where there is none."""
    found = re.search(rf"(?:\A|\n)<{name}>\n(.*?)\n</{name}>(?:\n|\Z)", prompt_text, re.DOTALL)
    return found[1] if found else ""


@settings(max_examples=150, deadline=None)
@given(observations(), st.integers(60, 3000), st.booleans())
def test_never_over_budget_and_goal_and_memory_whole(observation: Observation, budget: int, with_history: bool):
    engine = ScriptedEngine()
    build = PromptBuilder(engine, COMPACT, budget=budget, with_history=with_history)
    least = replace(
        observation, state="", explore="", elements=None, valid_actions=("x",) * 1000, memory="", history=()
    )
    try:
        prompt = build(observation)
    except PromptTooLong:
        bare = replace(build, budget=10**6)(replace(least, valid_actions=None))
        assert len(bare.ids) + 150 > budget  # there was hardly room for the goal
        return
    assert len(prompt.ids) <= budget
    text = user_text(prompt)
    assert within("goal", text) == escape(observation.goal) or not observation.goal
    shown = within("memory", text)
    if shown != escape(observation.memory) and observation.memory:
        assert "[Memory too long: " in shown
        assert within("state", text).count("\n[") <= 1
        # Nothing else was left to give up.
        for name in ("state", "explore"):
            assert len(within(name, text)) < 60


@settings(max_examples=60, deadline=None)
@given(observations())
def test_what_fits_is_shown_whole(observation: Observation):
    builder = PromptBuilder(ScriptedEngine(), COMPACT, with_history=True, budget=10**7)
    text = user_text(builder(observation))
    assert within("state", text) == escape(observation.state)
    assert not re.search(r"\[.*left out", text)


STATE = " ".join(f"w{i}" for i in range(3000))
LONG = Observation("Win.", STATE, "why?", "I was here.", valid_actions=("look", "wait"), context=CONTEXT)


def test_the_state_is_cut_in_its_middle_and_the_budget_is_used():
    prompt = PromptBuilder(ScriptedEngine(), EAPO, budget=2500)(LONG)
    shown = within("state", user_text(prompt))
    assert shown.startswith("w0 w1 w2 ")
    assert shown.endswith(" w2998 w2999")
    left_out = re.search(r"\n\[(\d+) characters left out\]\n", shown)
    assert left_out is not None
    assert len(shown) == len(STATE) - int(left_out[1]) + len(left_out[0])
    assert 2400 < len(prompt.ids) <= 2500
    for name, text in (("memory", "I was here."), ("explore", "why?"), ("valid_actions", "look\nwait")):
        assert within(name, user_text(prompt)) == text


def test_the_oldest_steps_go_before_the_state_does():
    steps = tuple(Exchange(f"room {i} " * 20, "Thought: on", "go on") for i in range(40))
    builder = PromptBuilder(ScriptedEngine(), REACT, budget=2500, with_history=True)
    text = user_text(builder(replace(LONG, state="short", history=steps)))
    assert within("state", text) == "short"
    assert "room 39" in text
    assert "room 0" not in text
    assert re.search(r"\[First \d+ steps left out\]", text)


def test_valid_actions_go_before_the_last_of_the_state():
    actions = tuple(f"do thing {i}" for i in range(900))
    text = user_text(PromptBuilder(ScriptedEngine(), EAPO, budget=1800)(replace(LONG, valid_actions=actions)))
    shown = within("valid_actions", text).split("\n")
    assert shown[0] == "do thing 0"
    assert shown[-1] == f"[{900 - len(shown) + 1} more left out]"
    assert len(within("state", text)) > 600


def test_a_memory_that_alone_is_too_long_keeps_both_ends_and_says_so():
    memory = "BEGIN " + "note " * 4000 + "END"
    prompt = PromptBuilder(ScriptedEngine(), COMPACT, budget=500)(replace(LONG, memory=memory))
    shown = within("memory", user_text(prompt))
    assert shown.startswith("BEGIN ")
    assert shown.endswith(" END")
    assert "[Memory too long: " in shown
    assert 450 < len(prompt.ids) <= 500


def test_instructions_that_alone_are_too_long_are_refused_with_the_numbers():
    with pytest.raises(PromptTooLong, match=r"takes \d+ tokens, and its budget is 100"):
        PromptBuilder(ScriptedEngine(), EAPO, budget=100)(LONG)


def test_an_engine_without_a_tokenizer_is_reckoned_with_on_the_safe_side():
    engine = ScriptedEngine(tokenizer=False)
    prompt = PromptBuilder(engine, COMPACT, budget=700)(LONG)
    counted = ScriptedEngine().prompt(prompt.messages)
    assert estimate(prompt.messages) <= 700
    assert len(counted.ids) <= 700
    assert "left out]" in user_text(prompt)
    assert within("memory", user_text(prompt)) == "I was here."


def test_a_megabyte_of_state_is_not_measured_again_and_again():
    measured = []
    engine = ScriptedEngine()
    whole = engine.prompt
    engine.prompt = lambda messages, **more: measured.append(len(messages[-1].text)) or whole(messages, **more)
    PromptBuilder(engine, COMPACT, budget=1000)(replace(LONG, state="x y " * 250_000))
    assert len(measured) <= 12
    assert max(measured) < 20_000
