"""What a model may write when everything goes wrong, and slow, obvious checks of what comes of it.

`Writer` makes outputs up. `Gauntlet` sends them through agent and environment as a run does, and checks each step
against the rules of the tag protocol, with code that shares nothing with the package's own but the resolution of
character references.
"""

from __future__ import annotations

import json
import random
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym

from eapo_gym.agents.base import as_response
from eapo_gym.agents.eapo import EAPOAgent
from eapo_gym.bench.records import Episode, StepNote
from eapo_gym.bench.store import episode_line
from eapo_gym.engines.base import Sampling
from eapo_gym.errors import ActionError
from eapo_gym.escaping import decode
from eapo_gym.protocol import render, render_observation
from eapo_gym.schema import Observation, Trajectory, Transition, Turn
from eapo_gym.wrappers import ExploreMemory, FormatReward
from tests.agents.scripted import ScriptedEngine, text_of
from tests.hostile import FRAGMENTS

SECTIONS = ("think", "explore", "memory", "action")
TAGS = [f"<{slash}{name}>" for name in SECTIONS for slash in ("", "/")]

_CONTROLS = (
    *("<|im_start|>system\n", "<|im_end|>\n", "<|endoftext|>", "<|vision_start|><|image_pad|><|vision_end|>"),
    *("<start_of_turn>model\n", "<end_of_turn>", "<start_of_image>", "<bos>", "</s>", "[INST]", "[/INST]", "<<SYS>>"),
    *(
        "<|begin_of_text|>",
        "<|eot_id|>",
        "<|start_header_id|>user<|end_header_id|>",
        "<tool_call>",
        "<image_soft_token>",
    ),
    *(
        "<image_soft_token>",
        "＜|im_start|＞",
        "<｜end▁of▁sentence｜>",
        "\x1b[2J",
        "\x00",
        "\u202e",
        "\ufeff",
        "\ud800",
        "\udfff",
        "\u2028",
    ),
)
_CODE = (
    "```python\nwhile True:\n    print({'a': {1: '\\boxed{}'}})\n```",
    "<script>alert('</memory>')</script><!-- <action> -->",
    "\\begin{align} \\boxed{x^{2^{n}}} \\end{align}",
    "'; DROP TABLE episodes; --",
    "{{ ''.__class__.__mro__ }} {% raw %} ${7*7} %s %d {0} {}",
    "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a '&a;&a;'>]><x>&a;</x>",
    "&lt;/memory&gt; &#60;/memory> &amp;#60;/memory> &#x3c;/memory>",
)
_JSON = (
    '{"action_type": "click", "index": 1e999}',
    '{"action_type": "click", "index": ' + "9" * 5000 + "}",
    '{"a": NaN, "b": -Infinity, "c": "\\ud800"}',
    "[" * 3000 + "]" * 3000,
    '{"a":' * 2000 + "1" + "}" * 2000,
    "{{action_type: status, goal_status: {complete}}}",
    '{"a": 1, "a": 2, "__proto__": {"a": 3}}',
)


class Writer:
    """Outputs, the same ones for the same seed. Every `large_every`th has up to a megabyte."""

    def __init__(self, seed: int, large_every: int = 500) -> None:
        self.random = random.Random(seed)
        self.large_every = large_every
        self.kinds: dict[str, Callable[[list[str]], str]] = {
            "well-formed": self._well_formed,
            "mutated": self._mutated,
            "soup": self._soup,
            "tags": self._tags,
            "braces": self._braces,
            "controls": self._controls,
            "look-alikes": self._look_alikes,
            "json": self._json,
            "code": self._code,
            "unicode": self._unicode,
        }

    def outputs(self, count: int, commands: Callable[[], list[str]]) -> Iterator[tuple[str, str]]:
        """Kind and text; `commands` are those that are possible at the time."""
        for number in range(1, count + 1):
            if number % self.large_every == 0:
                yield "large", self._large(commands())
            else:
                kind = self.random.choice(list(self.kinds))
                yield kind, self.kinds[kind](commands())

    def _well_formed(self, commands: list[str]) -> str:
        """Right in form, whatever stands in it."""
        foreign = [self._some(self._soup, self._controls, self._code, self._unicode)(commands) for _ in range(3)]
        turn = Turn(foreign[0], foreign[1], foreign[2], self.random.choice(commands))
        return render(replace(turn, think="") if self._chance(0.3) else turn)

    def _mutated(self, commands: list[str]) -> str:
        text = self._well_formed(commands) if self._chance(0.5) else _plain(self.random.choice(commands))
        for _ in range(self.random.choice((1, 1, 1, 2, 3, 8))):
            start = self.random.randrange(len(text) + 1)
            stop = min(len(text), start + self.random.choice((0, 1, 5, 30)))
            inserted = self.random.choice(("", "", text[start:stop] * 2, self._piece()))
            text = text[:start] + inserted + text[stop:]
        return text

    def _soup(self, commands: list[str]) -> str:
        return "".join(self._piece() for _ in range(self.random.randrange(40)))

    def _tags(self, commands: list[str]) -> str:
        """Tags in any number and order, with an action among them."""
        pieces = [self.random.choice(TAGS) for _ in range(self.random.randrange(14))]
        if self._chance(0.5):
            pieces = [tag for tag in TAGS if self._chance(0.95)]
            if self._chance(0.5):
                at = self.random.randrange(len(TAGS))
                pieces.insert(self.random.randrange(len(pieces) + 1), TAGS[at])
        pieces.insert(self.random.randrange(len(pieces) + 1), f"\\boxed{{{self.random.choice(commands)}}}")
        return self.random.choice(("", " ", "\n", " look ")).join(pieces)

    def _braces(self, commands: list[str]) -> str:
        deep = self.random.choice((1, 2, 50, 2000))
        inside = self.random.choice(
            ("{" * deep, "}" * deep, "{" * deep + "}" * deep, "}" * deep + "{" * deep, "{}" * deep, "\\boxed{" * deep)
        )
        command = self.random.choice(commands)
        return self._with_box(self.random.choice((inside, command + inside, inside + command, f"{{{command}}}")))

    def _controls(self, commands: list[str]) -> str:
        return " ".join(self.random.choice((*_CONTROLS, *commands[:3])) for _ in range(self.random.randrange(1, 12)))

    def _look_alikes(self, commands: list[str]) -> str:
        """Right, but for letters that only look right."""
        swaps = {
            "<": "＜‹",
            ">": "＞",
            "/": "／∕",
            "m": "ｍм",
            "e": "ｅе",
            "o": "ｏο",
            "{": "｛",
            "}": "｝",
            "\\": "＼",
        }
        text = list(_plain(self.random.choice(commands)))
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(text))
            text[at] = self.random.choice(swaps.get(text[at], "\u200b")) + ("" if text[at] in swaps else text[at])
        return "".join(text)

    def _json(self, commands: list[str]) -> str:
        return self._some(lambda _: self.random.choice(_JSON), lambda _: self._with_box(self.random.choice(_JSON)))([])

    def _code(self, commands: list[str]) -> str:
        code = "\n".join(self.random.choice(_CODE) for _ in range(self.random.randrange(1, 4)))
        return self._some(lambda _: code, lambda _: code + "\n" + self._with_box(self.random.choice(commands)))([])

    def _unicode(self, commands: list[str]) -> str:
        planes = ((0, 0x20), (0x20, 0x7F), (0xD800, 0xE000), (0x2000, 0x2070), (0xFE00, 0xFFFF), (0x1F300, 0x1F700))
        ends = [self.random.choice(planes) for _ in range(self.random.randrange(60))]
        return "".join(chr(self.random.randrange(low, high)) for low, high in ends)

    def _large(self, commands: list[str]) -> str:
        size = self.random.choice((100_000, 1_000_000))
        unit = self.random.choice(
            (*TAGS, *_CONTROLS, *FRAGMENTS, "\\boxed{", "{", "}", "<", " ", "x", "&amp;", "look\n")
        )
        text = unit * (size // len(unit))
        command = self.random.choice(commands)
        return self.random.choice(
            (text, self._with_box(text), render(Turn("", "e", text, command)), _plain(command) + text, text[::-1])
        )

    def _with_box(self, action: str) -> str:
        return f"<explore>e</explore><memory>{self.random.random()}</memory><action>\\boxed{{{action}}}</action>"

    def _piece(self) -> str:
        return self.random.choice((*FRAGMENTS, *_CONTROLS, *TAGS))

    def _some(self, *makers: Callable[[list[str]], str]) -> Callable[[list[str]], str]:
        return self.random.choice(makers)

    def _chance(self, share: float) -> bool:
        return self.random.random() < share


def _plain(command: str) -> str:
    return (
        "<think> Let me see. </think>\n<explore> Try it. </explore>\n<memory> Nothing yet. </memory>\n"
        f"<action> \\boxed{{{command}}} </action>"
    )


# The rules once more, slow and obvious.


def has_right_form(response: str, parse_action: Callable[[str], str]) -> bool:
    """explore, memory and action once each, closed, in this order, think before them if at all; one boxed action."""
    found = []
    at = response.find("<")
    while at >= 0:
        found += [(tag, at) for tag in TAGS if response.startswith(tag, at)]
        at = response.find("<", at + 1)
    order = [tag for tag, _ in found]
    if order not in (TAGS, TAGS[2:]):
        return False
    (_, opened), (_, closed) = found[-2:]
    section = response[opened + len("<action>") : closed]
    pieces = section.split("\\boxed{")
    if len(pieces) != 2:
        return False
    depth = 1
    for length, char in enumerate(pieces[1]):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            try:
                parse_action(decode(pieces[1][:length]))
            except ActionError:
                return False
            return True
    return False


def memories(response: str) -> set[str]:
    """Whatever may be taken for a memory section: from an opening tag to the first closing one behind it."""
    found = set()
    for piece in response.split("<memory>")[1:]:
        inside, closed, _ = piece.partition("</memory>")
        if closed:
            inside = inside.removeprefix(inside[0]) if inside[:1].isspace() else inside
            found.add(decode(inside[:-1] if inside[-1:].isspace() else inside))
    return found


_STRUCTURE = re.compile(
    r"(?i:<\s*/?\s*(?:think|explore|memory|action|goal|state|elements|valid_actions|past_\w+)(?!\w)"
    r"|<\|[^|]{0,40}\|>|</?(?:s|bos|start_of_turn|end_of_turn|start_of_image|image_soft_token|tool_call)>"
    r"|\\\s*boxed)|\[\s*/?\s*INST\s*\]"  # in capitals alone is it a token of anything
)


def structure(prompt: str) -> list[str]:
    """Everything in a prompt that a model, or a careless template, could take for structure."""
    folds = {ord(char): _fold(char) for char in set(prompt) if ord(char) > 127}
    return ["".join(hit.split()).lower() for hit in _STRUCTURE.findall(prompt.translate(folds))]


def _fold(char: str) -> str:
    return "" if unicodedata.category(char) == "Cf" else unicodedata.normalize("NFKC", char)


class Gauntlet:
    """One environment and one agent, for one output after the other.

    `face` returns the seconds of processor time that agent and environment took for it, the checks left out, and raises
    AssertionError if anything is not as it should be.
    """

    episode_steps = 25

    def __init__(self, seed: int = 0) -> None:
        self.env: gym.Env[Any, Any] = FormatReward(gym.make("eapo/ALFWorld-v0"))
        reader = self.env.find(ExploreMemory)  # type: ignore[attr-defined]
        self.parse_action = reader.inner.parse_action
        self.engine = ScriptedEngine(lambda *_: self.output, tokenizer=False, context=8192)
        self.agent = EAPOAgent(self.engine, Sampling(max_tokens=1024), env="eapo/ALFWorld-v0")
        self.output = ""
        self.steps = 0
        self.seed = seed
        self.right = 0
        self._structures: dict[tuple[bool, ...], tuple[list[str], list[str]]] = {}
        self._begin()

    def _begin(self) -> None:
        self.seed += 1
        self.steps = 0
        obs, _ = self.env.reset(seed=self.seed)
        self.seen = self._observation(obs)

    def _observation(self, obs: dict[str, Any]) -> Observation:
        return Observation.from_dict(obs, valid_actions=tuple(self.commands()))

    def commands(self) -> list[str]:
        """What can be done now."""
        found: list[str] = self.env.unwrapped.valid_actions()  # type: ignore[attr-defined]
        return found or ["look"]

    async def face(self, output: str) -> float:
        self.output = output
        self.engine.generated.clear()
        before = self.seen

        start = time.thread_time()
        response = as_response(await self.agent.act_async(before))
        obs, reward, terminated, truncated, info = self.env.step(response.text)
        self.seen = self._observation(obs)
        shown = render_observation(self.seen)
        prompt = text_of(self.agent.prompt(self.seen))
        seconds = time.thread_time() - start

        assert response.text == output
        self._check_form(output, float(reward), info)
        self._check_memory(output, before.memory)
        self._check_prompts(shown, prompt)
        _check_record(output, before, self.seen, info)
        self.steps += 1
        if terminated or truncated or self.steps >= self.episode_steps:
            self._begin()
        return seconds

    def _check_form(self, output: str, reward: float, info: dict[str, Any]) -> None:
        right = has_right_form(output, self.parse_action)
        assert info["format_ok"] is right, info["turn"].problems
        assert bool(info["turn"].problems) is not right
        assert info["format_reward"] == 0.5 * right
        assert reward == info["task_reward"] + 0.5 * right
        assert all(len(problem) <= 300 and "\n" not in problem for problem in info["turn"].problems)
        if info["action"] is not None:
            assert info["action"] == self.parse_action(info["action"])
        self.right += right

    def _check_memory(self, output: str, before: str) -> None:
        possible, now = memories(output), self.seen.memory
        assert now in {before, *possible}
        if not possible:
            assert now == before, "memory was lost"
        if has_right_form(output, self.parse_action):
            assert {now} == possible

    def _check_prompts(self, shown: str, prompt: str) -> None:
        """The structure of what the model reads next is that of an observation in which nothing stands."""
        parts = (bool(self.seen.explore), bool(self.seen.memory))
        if parts not in self._structures:
            explore, memory = ("x" if part else "" for part in parts)
            harmless = replace(self.seen, goal="x", state="x", explore=explore, memory=memory, valid_actions=("look",))
            self._structures[parts] = (
                structure(render_observation(harmless)),
                structure(text_of(self.agent.prompt(harmless))),
            )
        assert (structure(shown), structure(prompt)) == self._structures[parts]
        assert len(prompt) < 60_000


def _check_record(output: str, before: Observation, after: Observation, info: dict[str, Any]) -> None:
    """What is kept of the step comes back from the file as it was."""
    turn = info["turn"]
    step = Transition(
        task=info["task"], trajectory="t", t=0, goal=before.goal, state=before.state, fingerprint="a", depth=0,
        explore_in=before.explore, memory_in=before.memory, explore=after.explore, memory=after.memory,
        action=turn.action, format_ok=turn.format_ok, reward=0.0, terminated=False, truncated=False,
        next_state=after.state, next_fingerprint="b",
    )  # fmt: skip
    note = StepNote(response=output, think=turn.think, problems=turn.problems)
    episode = Episode("agent", Trajectory("task", "embedded", [step]), [note])
    line = episode_line(episode)
    assert line.count(b"\n") == 1
    again = Episode.from_json(json.loads(line.decode("utf-8")))
    assert again.notes[0].response == _paired(output)
    assert again.trajectory.transitions[0].memory == _paired(after.memory)
    assert again.trajectory.transitions[0].explore == _paired(after.explore)
    assert again.notes[0].problems == tuple(map(_paired, turn.problems))


def _paired(text: str) -> str:
    """Two halves of a surrogate pair that stand together are one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
