from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eapo_gym.errors import ActionError
from eapo_gym.protocol import _last_boxed, parse, parse_json_action, render, render_observation, render_section
from eapo_gym.schema import Observation, Turn
from tests.hostile import hostile_text
from tests.toys import COMMANDS

GOOD = "<explore>e</explore><memory>m</memory><action>so: \\boxed{take key}</action>"


def corridor_action(text: str) -> str:
    command = text.strip().lower()
    if command not in COMMANDS:
        raise ActionError(f"{text!r:.80} is no command here: expected one like 'take key'.", "take key")
    return command


def gui_action(text: str) -> str:
    parse_json_action(text)
    return text.strip()


turns = st.builds(
    Turn, think=hostile_text, explore=hostile_text, memory=hostile_text, action=hostile_text, format_ok=st.just(True)
)


class TestForm:
    @pytest.mark.parametrize(
        "response",
        [
            GOOD,
            "<think>t</think>" + GOOD,
            "Well.\n<think>t</think>\n<explore> e </explore>\n<memory>\nm\n</memory> so <action>\\boxed{left}</action>",
            "<explore></explore><memory></memory><action>\\boxed{ LOOK }</action>",
            "<think>not \\boxed{right} but</think>" + GOOD,
            GOOD + "Or \\boxed{left}?",
        ],
    )
    def test_right(self, response: str) -> None:
        turn = parse(response, corridor_action)
        assert turn.format_ok, turn.problems
        assert turn.problems == ()
        assert turn.action in COMMANDS

    @pytest.mark.parametrize(
        ("response", "problem"),
        [
            (GOOD.replace("<explore>e</explore>", ""), "explore section is missing"),
            (GOOD.replace("<memory>m</memory>", ""), "memory section is missing"),
            ("\\boxed{take key}", "action section is missing"),
            (GOOD.replace("</memory>", ""), "memory section is opened 1 times and closed 0"),
            (GOOD.replace("<memory>", ""), "memory section is opened 0 times and closed 1"),
            (GOOD.replace("<memory>", "<memory><memory>"), "memory section is opened 2 times"),
            (GOOD + "<explore>e</explore>", "explore section is opened 2 times and closed 2"),
            ("</think>" + GOOD, "think section is opened 0 times and closed 1"),
            ("<memory>m</memory><explore>e</explore>" + GOOD[39:], "out of order"),
            (GOOD + "<think>t</think>", "out of order"),
            (GOOD.replace("</explore><memory>", "<memory></explore>"), "out of order"),
            (GOOD.replace("<memory>", "</memory>", 1).replace("m</memory>", "m<memory>"), "out of order"),
            ("<think>" + GOOD + "</think>", "out of order"),
            (GOOD.replace("<action>", "\\boxed{left}<action>").replace("\\boxed{take key}", ""), "0 boxed commands"),
            (GOOD.replace("so:", "\\boxed{left}"), "2 boxed commands"),
            (GOOD.replace("{take key}", "{take key"), "braces"),
            (GOOD.replace("take key", "fly"), "'fly' is no command here"),
            (GOOD.replace("take key", ""), "is no command here"),
            (GOOD.replace("<memory>", "<Memory>"), "memory section"),
            ("", "explore section is missing"),
        ],
    )
    def test_wrong(self, response: str, problem: str) -> None:
        turn = parse(response, corridor_action)
        assert not turn.format_ok
        assert any(problem in sentence for sentence in turn.problems), turn.problems

    def test_problems_are_short_sentences_whatever_the_environment_says(self) -> None:
        def refuse(text: str) -> str:
            raise ActionError("No,\n" + text * 1000)

        def refuse_without_a_word(text: str) -> str:
            raise ActionError("")

        assert max(len(problem) for problem in parse(GOOD, refuse).problems) <= 300
        turn = parse(GOOD, refuse_without_a_word)
        assert not turn.format_ok
        assert turn.problems[-1]

    def test_faults_of_the_environment_are_not_hidden(self) -> None:
        def broken(text: str) -> str:
            raise KeyError(text)

        with pytest.raises(KeyError):
            parse(GOOD, broken)


class TestExecution:
    @pytest.mark.parametrize(
        ("response", "action"),
        [
            ("\\boxed{left} or rather \\boxed{right}", "right"),
            ("\\boxed{left} or rather \\boxed{right", "left"),
            ("}}} \\boxed{take key} {{{", "take key"),
            ("<action>\\boxed{left}</action><memory>m \\boxed{right}</memory>", "right"),
            ("take key", "take key"),
            ("I shall take it.\n\n> take key\n", "take key"),
            ("Action: take key", "take key"),
            ("**Action:** `take key`", "take key"),
            ("take key\nTake key", "take key"),
            ("<action>take key</action>", "take key"),
            ("<think>left</think><explore>right</explore>\ntake key", "take key"),
            ("<memory>left</memory><action>take key", "take key"),
        ],
    )
    def test_found_without_the_form(self, response: str, action: str) -> None:
        turn = parse(response, corridor_action)
        assert turn.action == action
        assert not turn.format_ok

    @pytest.mark.parametrize(
        "response",
        [
            "",
            "I wonder.",
            "left\nright",
            "<think>take key",
            "<think>take key</think>",
            "<explore>take key</explore>",
            "<memory>take key",
            "\\boxed{fly}\ntake key",
            "\\boxed{",
            "x" * 600 + " take key",
        ],
    )
    def test_nothing_to_execute(self, response: str) -> None:
        turn = parse(response, corridor_action)
        assert turn.action is None
        assert turn.problems[-1].startswith(("There is nothing to execute", "'fly' is no command"))

    @pytest.mark.parametrize("parse_action", [None, gui_action])
    @pytest.mark.parametrize(
        "action",
        ['{"action_type": "click", "index": 5}', "{{action_type: status, goal_status: complete}}", '{"a": {"b": {}}}'],
    )
    def test_json(self, action: str, parse_action: object) -> None:
        boxed = parse(f"<explore></explore><memory></memory><action>\\boxed{{{action}}}</action>", parse_action)  # type: ignore[arg-type]
        assert boxed.format_ok, boxed.problems
        assert boxed.action == action

        lone = parse(f"<think>{{}}</think>\nI will do this:\n```json\n{action}\n```", parse_action)  # type: ignore[arg-type]
        assert lone.action == action
        assert not lone.format_ok

    def test_two_json_objects_are_not_a_lone_one(self) -> None:
        assert parse('{"a": 1} or {"a": 2}', gui_action).action is None

    def test_without_an_environment_every_box_is_an_action_and_no_line_is(self) -> None:
        assert parse("\\boxed{anything at all}").action == "anything at all"
        assert parse("take key").action is None

    @given(hostile_text, hostile_text)
    def test_last_balanced_box(self, before: str, after: str) -> None:
        """Checked against the obvious way: match the braces one by one."""
        text = before + "\\boxed{x" + after
        starts: list[tuple[int, bool]] = []
        boxes: dict[int, str] = {}
        for at, char in enumerate(text):
            if char == "{":
                starts.append((at, text.endswith("\\boxed", 0, at)))
            elif char == "}" and starts:
                start, is_box = starts.pop()
                if is_box:
                    boxes[start] = text[start + 1 : at]
        assert _last_boxed(text) == (boxes[max(boxes)] if boxes else None)

    @pytest.mark.parametrize("response", ["take key\n" * 100_000, "right\n" * 9000, "{}" * 30_000, "\\boxed{" * 1000])
    def test_the_environment_is_asked_a_bounded_number_of_times(self, response: str) -> None:
        asked = []

        def count(text: str) -> str:
            asked.append(text)
            raise ActionError("no")

        assert parse(response, count).action is None
        assert len(asked) <= 17


class TestSections:
    def test_memory_is_none_only_where_there_is_no_complete_section(self) -> None:
        assert parse("\\boxed{left}").memory is None
        assert parse("<memory>cut off in the mid").memory is None
        assert parse("<memory></memory>").memory == ""
        assert parse("<memory>\n</memory>").memory == ""

    def test_the_last_complete_section_counts(self) -> None:
        turn = parse("<memory>a</memory><memory> b </memory><memory>c <explore>e</explore></think>")
        assert (turn.memory, turn.explore, turn.think) == ("b", "e", "")

    def test_one_blank_on_either_side_belongs_to_the_form(self) -> None:
        assert parse("<memory>\n- key\n- lamp\n</memory>").memory == "- key\n- lamp"
        assert parse("<memory>  x  </memory>").memory == " x "


class TestRender:
    @given(turns)
    @example(Turn(think=" ", explore="\n", memory="</memory>", action="}{", format_ok=True))
    def test_parse_reads_what_render_wrote(self, turn: Turn) -> None:
        assert parse(render(turn)) == turn

    @given(hostile_text, hostile_text, st.one_of(st.none(), hostile_text), st.one_of(st.none(), hostile_text))
    def test_what_is_not_there_stays_away(
        self, think: str, explore: str, memory: str | None, action: str | None
    ) -> None:
        turn = parse(render(Turn(think, explore, memory, action)))
        assert (turn.think, turn.explore, turn.memory, turn.action) == (think, explore, memory, action)
        assert turn.format_ok == (memory is not None and action is not None)

    def test_length_makes_no_difference(self) -> None:
        turn = Turn("t", "e", "a long memory </memory> " * 10_000, '{"a": {}}', format_ok=True)
        assert parse(render(turn)) == turn

    def test_ordinary_text_is_written_as_it_is(self) -> None:
        turn = Turn(think="Hm.", explore="Try < 3 & > 2.", memory="- a {key}", action='{"action_type": "wait"}')
        assert render(turn) == (
            "<think> Hm. </think>\n"
            "<explore> Try < 3 & > 2. </explore>\n"
            "<memory> - a {key} </memory>\n"
            '<action> \\boxed{{"action_type": "wait"}} </action>'
        )

    def test_a_section_alone(self) -> None:
        assert render_section("memory", "a </memory> b") == "<memory> a &#60;/memory> b </memory>"

    def test_a_model_that_copies_what_it_saw_gives_back_the_original(self) -> None:
        seen = render_observation(Observation(goal="g", state="a sign: </memory>", memory=""))
        copied = seen.split("\n")[4]
        assert copied == "a sign: &#60;/memory>"
        assert parse(f"<memory>{copied}</memory>").memory == "a sign: </memory>"


class TestObservation:
    def test_sections_in_the_order_of_the_observation(self) -> None:
        observation = Observation("Unlock.", "A room.", explore="Look.", memory="None.", elements="0: On")
        assert render_observation(observation) == (
            "<goal>\nUnlock.\n</goal>\n"
            "<state>\nA room.\n</state>\n"
            "<elements>\n0: On\n</elements>\n"
            "<explore>\nLook.\n</explore>\n"
            "<memory>\nNone.\n</memory>"
        )

    def test_empty_sections_are_left_out(self) -> None:
        assert render_observation(Observation("g", "s")) == "<goal>\ng\n</goal>\n<state>\ns\n</state>"

    @given(*[hostile_text] * 4)
    def test_no_part_reaches_into_another(self, goal: str, state: str, explore: str, memory: str) -> None:
        text = render_observation(Observation("x" + goal, "x" + state, "x" + explore, "x" + memory, elements="x"))
        for name in ("goal", "state", "elements", "explore", "memory"):
            assert text.count(f"<{name}>") == text.count(f"</{name}>") == 1
        turn = parse(text)
        assert turn.think == ""
        assert "\\boxed" not in text
        clean = parse(render_observation(Observation("x", "x", "x" + explore, "x" + memory, elements="x")))
        assert (turn.explore, turn.memory) == (clean.explore, clean.memory)


@given(hostile_text)
@example("\ud800\\boxed{{}")
def test_any_text_is_a_turn(text: str) -> None:
    for parse_action in (None, corridor_action, gui_action):
        turn = parse(text, parse_action)
        assert turn.format_ok == (not turn.problems)
        assert not (turn.format_ok and (turn.action is None or turn.memory is None))
