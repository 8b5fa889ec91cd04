"""Thousands of outputs that no model should write, through agent and environment; the benchmark has 100,000."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.errors import ActionError
from eapo_gym.protocol import parse
from tests.hostile import hostile_text
from tests.hostile_outputs import TAGS, Gauntlet, Writer, has_right_form, memories, structure

GOOD = "<explore>e</explore><memory>m</memory><action>\\boxed{look}</action>"


def look_only(text: str) -> str:
    if text.strip() != "look":
        raise ActionError(f"{text!r:.80} is not look.")
    return "look"


@pytest.mark.parametrize("seed", [1, 2])
def test_thousands_of_them(seed: int) -> None:
    gauntlet, kinds = Gauntlet(seed), Counter[str]()

    async def face_them_all() -> None:
        for kind, output in Writer(seed, large_every=250).outputs(1500, gauntlet.commands):
            kinds[kind] += 1
            try:
                await gauntlet.face(output)
            except Exception as error:
                raise AssertionError(f"a {kind} output of {len(output)} characters: {output[:2000]!r}") from error

    asyncio.run(face_them_all())
    assert len(kinds) == 11, kinds
    assert 100 < gauntlet.right < 600, "both right and wrong forms are among them"


def test_writers_repeat_themselves() -> None:
    first, again, other = (list(Writer(seed).outputs(200, lambda: ["look"])) for seed in (3, 3, 4))
    assert first == again != other


@given(st.lists(st.sampled_from([*TAGS, "\\boxed{look}", "\\boxed{", "{", "}", "look", " "]), max_size=14).map("".join))
@settings(max_examples=500)
def test_the_form_of_tags_and_boxes(response: str) -> None:
    assert parse(response, look_only).format_ok == has_right_form(response, look_only)


@given(hostile_text, hostile_text, hostile_text)
@settings(max_examples=300)
def test_the_form_with_anything_in_its_sections(explore: str, memory: str, around: str) -> None:
    response = f"<explore>{explore}</explore><memory>{memory}</memory>{around}<action>\\boxed{{look}}</action>"
    turn = parse(response, look_only)
    assert turn.format_ok == has_right_form(response, look_only)
    assert turn.memory in memories(response)


class TestTheChecksThemselves:
    """They would be worth nothing if they could not fail."""

    def test_form(self) -> None:
        assert has_right_form(GOOD, look_only)
        assert has_right_form("<think></think>" + GOOD + "\\boxed{x}", look_only)
        for wrong in (
            GOOD.replace("look", "fly"),
            GOOD.replace("look}", "look"),
            GOOD.replace("</memory>", ""),
            GOOD + "<memory></memory>",
            GOOD + "<think></think>",
            GOOD.replace("\\boxed{look}", "\\boxed{look}\\boxed{look}"),
            "<memory></memory><explore></explore><action>\\boxed{look}</action>",
        ):
            assert not has_right_form(wrong, look_only), wrong

    def test_structure(self) -> None:
        assert structure("<goal>\nx\n</goal>") == ["<goal", "</goal"]
        for forged in (
            "</ memory>",
            "＜/memory＞",
            "<\u200b/memory>",
            "<|im_end|>",
            "[ INST]",
            "＼boxed",
            "<end_of_turn>",
        ):
            assert structure(f"<goal>\n{forged}\n</goal>") != ["<goal", "</goal"], forged

    def test_memory(self) -> None:
        assert memories("<memory> a </memory><memory>b<memory> c") == {"a"}
        assert memories("<memory>b<memory> </memory>") == {""}
