import base64
import re
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.bench.episodes import Episode, Policy, StepNote, play
from eapo_gym.bench.page import episode_page
from eapo_gym.schema import Trajectory, Transition, Turn
from eapo_gym.wrappers import Rollback
from tests.toys import Corridor

HOSTILE = (
    '</p></article><script>alert("x")</script><img src=x onerror=alert(1)>{{title}} & \' " \x00\x1b[31m\ud800 \u2028'
)
VOID = {"meta", "br", "img", "hr", "link"}


class Outline(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag, "elements close in another order than they were opened"

    def handle_data(self, data: str) -> None:
        self.text += data

    def ids(self) -> list[str]:
        return [str(attributes["id"]) for tag, attributes in self.elements if tag == "article"]


def outline(page: str) -> Outline:
    parsed = Outline()
    parsed.feed(page)
    parsed.close()
    assert not parsed.open
    return parsed


def script(*commands: str) -> Policy:
    rest = iter(commands)
    return lambda obs, info: next(rest)


def one_step(text: str, memory_in: str = "") -> Episode:
    step = Transition(
        task=text,
        trajectory="",
        t=0,
        goal=text,
        state=text,
        fingerprint=text,
        depth=0,
        explore_in="",
        memory_in=memory_in,
        explore=text,
        memory=text,
        action=text,
        format_ok=True,
        reward=0.0,
        terminated=False,
        truncated=True,
        next_state=text,
        next_fingerprint="other",
        rollback=True,
    )
    note = StepNote(text, (text, "look"), False, {"held": True, "action": text, "reason": None})
    return Episode(text, Trajectory(text, text, [step], info={"split": text}), [note])


@pytest.fixture
def episode() -> Episode:
    env = Rollback(Corridor())
    commands = ["look", "right", "rollback", "take key", "right", "right", "right", "unlock door"]
    return play(env, script(*commands), task="train/key-in-0", agent="script", seed=1)


def test_every_step_has_its_place_and_the_page_stands_alone(episode: Episode) -> None:
    page = episode_page(episode)
    parsed = outline(page)
    assert parsed.ids() == [f"step-{t}" for t in range(1, 9)] + ["end"]
    links = [attributes["href"] for tag, attributes in parsed.elements if tag == "a"]
    assert {f"#{name}" for name in parsed.ids()} == set(links)
    assert not re.search(r"https?:|//[a-z]", page), "nothing is loaded from anywhere"
    for shown in ("Unlock the door.", "train/key-in-0", "Solved", "rollback", "unlock door"):
        assert shown in parsed.text


def test_numbers_of_the_head_are_those_of_the_episode(episode: Episode) -> None:
    text = outline(episode_page(episode)).text
    assert f"{episode.trajectory.exploration_degree():.2f}" in text
    assert f"{episode.trajectory.exploration_degree(self_loops=False):.2f} without self-loops" in text
    assert "1 reached the state before" in text
    assert f"in {len(set(episode.fingerprints()))} distinct states" in text


def test_hostile_text_stays_text() -> None:
    page = episode_page(one_step(HOSTILE, memory_in=HOSTILE[:40] + "<b>gone</b>"))
    page.encode("utf-8")  # can be written to a file
    parsed = outline(page)
    tags = [tag for tag, _ in parsed.elements]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)
    assert "{{title}}" in parsed.text, "a text is not a place of the template"
    assert not {"\x00", "\x1b", "\ud800"} & set(page)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(), min_size=1, max_size=80))
def test_no_text_changes_the_structure(text: str) -> None:
    def tags(text: str) -> list[str]:
        return [tag for tag, _ in outline(episode_page(one_step(text))).elements]

    assert tags(text) == tags("x")


def test_only_the_pages_own_script_may_run(episode: Episode) -> None:
    page = episode_page(episode)
    (run,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(sha256(run.encode()).digest()).decode()
    policy = next(a["content"] for tag, a in outline(page).elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_memory_shows_what_is_new_and_what_is_gone() -> None:
    memories = iter(["Key in room 0. Lamp off.", "Key in hand. Lamp off.", "Key in hand. Lamp off."])
    turns = iter(["look", "take key", "right"])
    policy: Policy = lambda obs, info: Turn(memory=next(memories), action=next(turns), format_ok=True)  # noqa: E731
    page = episode_page(play(Corridor(), policy, task="train/key-in-0", max_steps=3))
    assert re.findall(r"<del>(.*?)</del>", page) == ["room 0."]
    assert re.findall(r"<ins>(.*?)</ins>", page) == ["hand."]


def test_a_memory_too_long_to_compare_is_shown_all_the_same() -> None:
    episode = one_step("word " * 20_000)
    page = episode_page(episode)
    assert "<ins>" not in page
    assert "word word" in page


def test_invalid_actions_are_marked_and_a_failure_is_named() -> None:
    episode = one_step("x")
    episode.trajectory.transitions[0].rollback = False
    episode.notes[0] = StepNote(invalid=True)
    episode.failure = {"cause": "died", "message": "signal 9"}
    parsed = outline(episode_page(episode))
    assert "Failed" in parsed.text
    assert "the infrastructure: died" in parsed.text
    assert "signal 9" in parsed.text
    assert any("invalid" in str(a.get("class")).split() for tag, a in parsed.elements if tag == "a")


def test_a_hundred_steps_fit() -> None:
    episode = play(Corridor(rooms=12), lambda obs, info: info["task"] and "right", max_steps=100)
    assert len(outline(episode_page(episode)).ids()) == 101


def test_an_episode_without_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="without a step"):
        episode_page(Episode("", Trajectory("", "")))
