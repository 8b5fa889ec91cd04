"""A person's turns: commands, numbers, notes."""

from __future__ import annotations

import asyncio

import pytest

from eapo_gym.agents.base import AgentError, as_response
from eapo_gym.agents.human import HumanAgent, PersonLeft
from eapo_gym.engines.base import EngineUnavailable
from eapo_gym.protocol import parse
from eapo_gym.schema import Observation, Turn
from tests.agents.playing import play
from tests.wrappers.stacks import CORRIDOR

SEEN = Observation("Win.", "A \x1b[31mred\x1b[0m room.", "e", "Old note.", valid_actions=("look", "go on"))


def sit_down(*lines: str, seen: Observation = SEEN) -> tuple[Turn, str]:
    said: list[str] = []
    answers = iter(lines)

    def ask(prompt: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    turn = HumanAgent(ask=ask, show=said.append).act(seen)
    return turn, "\n".join(said)


def test_the_person_sees_what_the_agent_sees_and_nothing_steers_the_terminal():
    _, shown = sit_down("look")
    for text in ("Win.", "red", "Old note.", "   2  go on"):
        assert text in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("lines", "action"),
    [(["2"], "go on"), (["dance"], "dance"), (["7", "0", "1"], "look"), (["", "help", "valid", "!help"], "help")],
)
def test_numbers_and_commands(lines: list[str], action: str):
    assert sit_down(*lines)[0].action == action


@pytest.mark.parametrize(
    ("lines", "memory"),
    [
        ([], "Old note."),
        (["memory Seen a desk."], "Old note.\nSeen a desk."),
        (["memory = New."], "New."),
        (["memory clear"], ""),
        (["memory", "memory a", "memory b"], "Old note.\na\nb"),
    ],
)
def test_notes_are_kept_and_changed(lines: list[str], memory: str):
    turn, _ = sit_down(*lines, "explore What is there?", "look")
    assert (turn.memory, turn.explore) == (memory, "What is there?")
    assert parse(as_response(turn).text).format_ok


def test_where_no_actions_are_listed_a_number_is_a_command():
    seen = Observation("g", "s")
    assert sit_down("2", seen=seen)[0].action == "2"
    assert "does not list its actions" in sit_down("2", seen=seen)[1]


@pytest.mark.parametrize("lines", [[], ["quit"], ["memory x", "exit"]])
def test_when_the_person_leaves_the_run_stops(lines: list[str]):
    with pytest.raises(PersonLeft) as raised:
        sit_down(*lines)
    assert isinstance(raised.value, EngineUnavailable)
    assert isinstance(raised.value, AgentError)


def test_a_person_wins_with_notes_that_come_back():
    lines = iter(["memory Key?", "right", "take key", "right", "right", "unlock door"])
    [played] = play(HumanAgent(ask=lambda prompt: next(lines), show=lambda text: None), CORRIDOR, ["train/key-in-1"])
    assert played.won
    assert played.observations[-1].memory == "Key?"


def test_one_question_at_a_time():
    assert HumanAgent.max_parallel == 1
    asking: list[int] = []

    def ask(prompt: str) -> str:
        asking.append(1)
        assert len(asking) == 1
        asking.pop()
        return "look"

    agent = HumanAgent(ask=ask, show=lambda text: None)

    async def several() -> list[object]:
        return await asyncio.gather(*(agent.act_async(SEEN) for _ in range(8)))

    assert len(asyncio.run(several())) == 8
