"""The explorer finds what it was sent for, on what it has seen and remembered in words alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eapo_gym.envs.alfworld.data import open_library
from eapo_gym.envs.alfworld.experts import Decision, Explorer, parse_goal
from eapo_gym.envs.alfworld.experts.memory import Memory
from eapo_gym.envs.alfworld.game import Game
from eapo_gym.envs.alfworld.generator import embedded_tasks
from eapo_gym.envs.alfworld.task_types import TASK_TYPES
from tests.envs.alfworld.real_games import real_games
from tests.envs.alfworld.small_games import Furniture, Room

KITCHEN = [
    Furniture("cabinet 1"),
    Furniture("cabinet 2", ["mug 3"]),
    Furniture("cabinet 3", ["mug 2"]),
    Furniture("countertop 1", ["pen 1"]),
    Furniture("desk 1"),
    Furniture("drawer 1", ["desklamp 1"]),
    Furniture("drawer 2"),
    Furniture("fridge 1"),
    Furniture("microwave 1"),
    Furniture("shelf 1", ["mug 1"]),
    Furniture("sinkbasin 1"),
]


@dataclass
class Episode:
    game: Game
    offered: bool = True
    """Whether the agent is told which commands there are."""

    state: int = field(init=False)
    text: str = field(init=False)
    decisions: list[Decision] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    explore: str = ""
    memory: str = ""

    def __post_init__(self) -> None:
        self.state, self.text = self.game.start(), self.game.intro

    def decide(self, explorer: Explorer) -> Decision:
        commands = self.game.commands(self.state) if self.offered else None
        return explorer.act(self.game.goal_text, self.text, commands, self.explore, self.memory)

    def take(self, decision: Decision) -> None:
        self.texts.append(self.text)
        self.decisions.append(decision)
        self.explore, self.memory = decision.explore, decision.memory
        self.do(decision.command)

    def do(self, *commands: str) -> Episode:
        for command in commands:
            self.state, self.text, _ = self.game.step(self.state, command)
        return self

    def play(self, explorer: Explorer, limit: int = 50) -> Episode:
        for _ in range(limit):
            if self.won:
                break
            self.take(self.decide(explorer))
        return self

    @property
    def won(self) -> bool:
        return self.game.won(self.state)

    @property
    def commands(self) -> list[str]:
        return [decision.command for decision in self.decisions]


def kitchen(task: str) -> Game:
    return Room(KITCHEN, task, goal="desklamp" if task == "look_at_obj_in_light" else "desk").game()


@pytest.mark.parametrize("offered", [True, False], ids=["commands", "text alone"])
@pytest.mark.parametrize("task", TASK_TYPES)
def test_does_every_kind_of_task(task: str, offered: bool) -> None:
    episode = Episode(kitchen(task), offered).play(Explorer())
    assert episode.won
    assert "Nothing happens." not in episode.texts


@pytest.mark.parametrize("offered", [True, False], ids=["commands", "text alone"])
def test_wins_nearly_every_real_game_within_fifty_steps(offered: bool) -> None:
    explorer = Explorer()
    episodes = [
        Episode(Game.from_data(data), offered).play(explorer) for data in real_games("valid_seen", 140).values()
    ]
    assert fmean(episode.won for episode in episodes) >= 0.99
    assert max(len(decision.memory) for episode in episodes for decision in episode.decisions) <= 600


@pytest.mark.parametrize("task", TASK_TYPES)
def test_keeps_nothing_between_calls(task: str) -> None:
    alone = Episode(kitchen(task)).play(Explorer())
    shared = Explorer()
    crowd = [Episode(kitchen(other)) for other in (task, *TASK_TYPES)]
    for _ in range(len(alone.commands)):
        for episode in crowd:
            if not episode.won:
                episode.take(episode.decide(shared))
    assert crowd[0].decisions == alone.decisions


def test_searches_no_place_twice_and_opens_nothing_that_is_open() -> None:
    library = open_library("embedded")
    for task in embedded_tasks("valid")[:25]:
        episode = Episode(library.load("valid", task)).play(Explorer(), limit=100)
        opened = [command for command in episode.commands if command.startswith("open ")]
        assert len(opened) == len(set(opened))
        for i, decision in enumerate(episode.decisions):
            if decision.explore.startswith("Where is") and decision.command.startswith("go to "):
                assert decision.command not in episode.commands[:i]


def test_looks_first_where_such_things_are() -> None:
    furniture = [Furniture("bed 1", ["pen 1"]), Furniture("fridge 1"), Furniture("toilet 1"), Furniture("desk 1")]
    game = Room(furniture, object="pen", goal="desk").game()
    decision = Episode(game).decide(Explorer())
    # A pen on the desk would have been the end of it already.
    assert decision.command != "go to desk 1"
    pillow = Episode(Room([*furniture, Furniture("sofa 1", ["pillow 1"])], object="pillow", goal="desk").game())
    assert pillow.decide(Explorer()).command == "go to bed 1"
    assert "Candidates: bed 1, sofa 1" in pillow.decide(Explorer()).explore


def test_remembers_the_second_object_from_when_it_saw_it() -> None:
    furniture = [
        Furniture("desk 1"),
        Furniture("countertop 1", ["mug 1", "mug 2"]),
        *(Furniture(f"cabinet {i}") for i in range(1, 9)),
    ]
    episode = Episode(Room(furniture, "pick_two_obj_and_place").game()).play(Explorer())
    assert episode.commands == [
        "go to countertop 1",
        "take mug 1 from countertop 1",
        "go to desk 1",
        "move mug 1 to desk 1",
        "go to countertop 1",
        "take mug 2 from countertop 1",
        "go to desk 1",
        "move mug 2 to desk 1",
    ]


def test_leaves_what_is_where_it_belongs() -> None:
    furniture = [Furniture("shelf 1", ["mug 1"]), Furniture("shelf 2", ["mug 2"]), Furniture("bed 1")]
    episode = Episode(Room(furniture, "pick_two_obj_and_place", goal="shelf").game()).play(Explorer())
    assert episode.won
    assert sum(command.startswith("move") for command in episode.commands) == 1


@pytest.mark.parametrize("offered", [True, False], ids=["commands", "text alone"])
def test_finds_what_shares_a_spot_with_another_place(offered: bool) -> None:
    furniture = [
        Furniture("shelf 1", spot=1),
        Furniture("drawer 1", ["mug 1"], spot=1),
        Furniture("desk 1", spot=1),
        Furniture("bed 1"),
    ]
    episode = Episode(Room(furniture).game(), offered).play(Explorer(), limit=8)
    assert episode.won


@pytest.mark.parametrize("offered", [True, False], ids=["commands", "text alone"])
def test_puts_down_what_it_does_not_need(offered: bool) -> None:
    episode = Episode(kitchen("pick_and_place_simple"), offered)
    episode.take(episode.decide(Explorer()))
    episode.do("go to countertop 1", "take pen 1 from countertop 1").play(Explorer())
    assert episode.won


@pytest.mark.parametrize("task", TASK_TYPES)
@pytest.mark.parametrize("memory", ["", "I have forgotten everything.", "I am at bed 9, carrying cd 1. Last: look."])
def test_recovers_when_its_memory_is_lost_or_wrong(task: str, memory: str) -> None:
    whole = Episode(kitchen(task)).play(Explorer())
    for lost_at in range(len(whole.commands)):
        episode = Episode(kitchen(task)).play(Explorer(), limit=lost_at)
        episode.memory = memory
        assert episode.play(Explorer(), limit=60).won


@pytest.mark.parametrize("task", TASK_TYPES)
def test_recovers_when_the_world_went_back_behind_its_back(task: str) -> None:
    whole = Episode(kitchen(task)).play(Explorer())
    for undone in range(1, len(whole.commands)):
        episode = Episode(kitchen(task)).play(Explorer(), limit=undone)
        before = Episode(kitchen(task)).play(Explorer(), limit=undone - 1)
        episode.state = before.state
        episode.text = "You are back where you were."
        assert episode.play(Explorer(), limit=60).won


def test_memory_is_worth_something() -> None:
    steps: dict[bool, list[int]] = {True: [], False: []}
    for hidden in range(1, 12):
        drawers = [Furniture(f"drawer {i}", ["mug 1"] if i == hidden else []) for i in range(1, 12)]
        game = Room([Furniture("desk 1"), *drawers]).game()
        for memoryless in (True, False):
            for seed in range(5):
                episode = Episode(game).play(Explorer(memoryless=memoryless, seed=seed), limit=1000)
                assert episode.won
                assert memoryless == all(not decision.memory for decision in episode.decisions)
                steps[memoryless].append(len(episode.commands))
    assert fmean(steps[True]) > 1.2 * fmean(steps[False])


def test_a_memoryless_explorer_is_reproducible() -> None:
    runs = [Episode(kitchen("look_at_obj_in_light")).play(Explorer(memoryless=True, seed=5)) for _ in range(2)]
    assert runs[0].decisions == runs[1].decisions


def test_takes_a_goal_or_its_sentence() -> None:
    episode = Episode(kitchen("pick_two_obj_and_place"))
    goal = parse_goal(episode.game.goal_text)
    assert Explorer().act(goal, episode.text) == Explorer().act(
        f"Your task is to: {goal_sentence(episode)}", episode.text
    )


def goal_sentence(episode: Episode) -> str:
    return episode.game.goal_text


FRAGMENTS = """
    You arrive at|On the|, you see|a mug 1|, and|a pen 2|nothing|The|is closed.|is open. In it|You pick up the|from the
    .|Nothing happens.|You are carrying:|go to|open|take|examine|move|to|use|desk 1|drawer 3|desklamp 1|mug 1|put
"""
words = st.sampled_from(FRAGMENTS.replace("\n", "|").split("|")).map(str.strip)
texts = st.lists(words, max_size=12).map(" ".join) | st.text(max_size=40)


@given(st.sampled_from(TASK_TYPES), texts, st.none() | st.lists(texts, max_size=6), texts | st.just("I am at x 1."))
@example("look_at_obj_in_light", "", ["use desklamp 1"], "I am at x 1.")
@example("look_at_obj_in_light", "", ["use desklamp 1"], "")
def test_always_has_an_answer_and_can_read_its_own_memory(
    task: str, text: str, commands: list[str] | None, memory: str
) -> None:
    goal = Episode(GAMES[task]).game.goal_text
    decision = Explorer().act(goal, text, commands, "", memory)
    assert decision.command
    assert decision.think
    assert decision.explore
    assert Memory.read(decision.memory) is not None
    Explorer().act(goal, "Nothing happens.", commands, decision.explore, decision.memory)


GAMES = {task: kitchen(task) for task in TASK_TYPES}
