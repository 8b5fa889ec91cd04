"""The native engine: states, identities, ways back."""

from __future__ import annotations

import json
import threading
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.envs.alfworld import pddl, rules
from eapo_gym.envs.alfworld.agreement import random_command
from eapo_gym.envs.alfworld.game import NOTHING_HAPPENS, Game
from eapo_gym.envs.alfworld.generator import generate, rulebook
from eapo_gym.envs.alfworld.rulebook import Rulebook
from eapo_gym.errors import GameFileError, SnapshotError


def game(seed: int = 7, **kwargs) -> Game:
    return Game.compile(rulebook(), generate(seed, **kwargs).problem)


def data(seed: int = 7) -> dict[str, str]:
    from eapo_gym.envs.alfworld.generator import files

    made = generate(seed)
    return {
        "pddl_domain": rules.domain_text(),
        "grammar": rules.grammar_for(made.task.sentence),
        "pddl_problem": files.problem_text(made),
    }


def played(game: Game, *commands: str, state: int | None = None) -> int:
    state = game.start() if state is None else state
    for command in commands:
        state, said, valid = game.step(state, command)
        assert valid, (command, said)
    return state


def wandered(game: Game, steps: int, seed: int) -> int:
    state, rng = game.start(), Random(seed)
    for _ in range(steps):
        state, _, _ = game.step(state, random_command(game.commands(state), rng))
    return state


def test_the_plan_wins_and_nothing_before_it_does():
    made = generate(3, task_type="pick_heat_then_place_in_recep")
    game = made.compile()
    state = game.start()
    for command in made.plan:
        assert not game.won(state)
        state, _, _ = game.step(state, command)
    assert game.won(state)


def test_what_is_not_possible_changes_nothing():
    game_ = game()
    for junk in ("", "xyzzy", "go to nowhere 1", "take", "x" * 1_000_000, "\x00", "LOOK", "é中\U0001f600", "\ud800"):
        assert game_.step(game_.start(), junk) == (game_.start(), NOTHING_HAPPENS, False)


def test_the_state_is_told_by_the_texts():
    game_ = game(task_type="pick_cool_then_place_in_recep")
    assert "You are in the middle of a room." in game_.intro
    assert game_.intro.endswith(f"Your task is to: {game_.goal_text}")
    state, said, _ = game_.step(game_.start(), "go to fridge 1")
    assert said == "You arrive at fridge 1. The fridge 1 is closed."
    state, said, _ = game_.step(state, "open fridge 1")
    assert said.startswith("You open the fridge 1. The fridge 1 is open. In it, you see ")
    assert "close fridge 1" in game_.commands(state)
    assert "open fridge 1" not in game_.commands(state)
    assert "go to fridge 1" not in game_.commands(state), "there is no walking to where one stands"


def test_looking_leaves_no_trace_in_the_identity():
    game_ = game(task_type="pick_cool_then_place_in_recep")
    here = played(game_, "go to fridge 1")
    mark = game_.mark(here)
    for commands in (
        ["look"],
        ["examine fridge 1"],
        ["inventory"],
        ["help"],
        ["open fridge 1", "close fridge 1"],
        ["go to sinkbasin 1", "go to fridge 1"],
        ["look", "open fridge 1", "inventory", "close fridge 1", "go to microwave 1", "help", "go to fridge 1"],
    ):
        after = played(game_, *commands, state=here)
        assert game_.mark(after) == mark, commands
        assert game_.commands(after) == game_.commands(here)
    assert game_.mark(played(game_, "open fridge 1", state=here)) != mark
    assert game_.mark(game_.start()) != mark, "the place from which a game starts is one of its own"


def test_a_lamp_that_was_used_stays_used():
    made = generate(11, task_type="look_at_obj_in_light")
    game_ = Game.compile(rulebook(), made.problem)
    use = next(command for command in made.plan if command.startswith("use "))
    before = played(game_, *made.plan[: made.plan.index(use)])
    once = played(game_, use, state=before)
    assert game_.mark(once) != game_.mark(before)
    assert game_.mark(played(game_, use, state=once)) == game_.mark(once), "isOn is a fact that nothing reads"
    assert game_.inverses(before, use) == []


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 400), steps=st.integers(0, 60), walk=st.integers(0, 10**6))
def test_an_inverse_leads_back_and_only_what_cannot_be_undone_has_none(seed, steps, walk):
    game_ = game(seed)
    state = wandered(game_, steps, walk)
    for command in game_.commands(state):
        after, _, _ = game_.step(state, command)
        undoing = game_.inverses(state, command)
        if game_.mark(after) == game_.mark(state):
            assert undoing == [], command
        for candidate in undoing:
            back, _, valid = game_.step(after, candidate)
            assert valid
            assert game_.mark(back) == game_.mark(state), (command, candidate)
        if game_.mark(after) != game_.mark(state) and not undoing:
            at_start = "the middle of a room" in game_.step(state, "look")[1]
            put_back = f"move {command[5:].replace(' from ', ' to ')}"
            fits_nowhere = command.startswith("take ") and put_back not in game_.commands(after)
            for_good = command.split()[0] in ("use", "clean", "heat", "cool", "slice")
            assert at_start or fits_nowhere or for_good, command


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 400), walk=st.integers(0, 10**6))
def test_a_state_is_a_value(seed, walk):
    """Whatever is played in between, the same command in the same state gives the same."""
    game_, twin = game(seed), game(seed)
    state = wandered(game_, 30, walk)
    expected = {command: game_.step(state, command) for command in game_.commands(state)}
    wandered(game_, 60, walk + 1)
    for command, outcome in expected.items():
        assert game_.step(state, command) == outcome
        assert game_.mark(outcome[0]) == game_.mark(outcome[0], near=(state, game_.mark(state)))
    # In another copy of the game the facts may have other numbers, and yet be the same state.
    there = twin.state_of(game_.true_facts(state))
    assert twin.mark(there) == game_.mark(state)
    assert twin.commands(there) == game_.commands(state)
    assert twin.won(there) == game_.won(state)


def test_games_that_differ_have_different_identities():
    marks = {game(seed).mark(game(seed).start()) for seed in range(20)}
    assert len(marks) == 20


def test_one_game_may_be_played_from_many_threads():
    made = generate(5)
    game_ = Game.compile(rulebook(), made.problem)
    ended: dict[int, int] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: ended.update({seed: wandered(game_, 150, seed)})) for seed in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    twin = Game.compile(rulebook(), made.problem)
    for seed, state in ended.items():
        alone = wandered(twin, 150, seed)
        assert set(game_.true_facts(state)) == set(twin.true_facts(alone))
    assert len(ended) == 4


def test_a_shelf_of_notes_that_overflows_is_only_slower(monkeypatch):
    monkeypatch.setattr("eapo_gym.envs.alfworld.operators._NOTES", 2)
    crowded = game(9)
    for seed in range(3):
        crowded_state, free_state = wandered(crowded, 80, seed), wandered(free := game(9), 80, seed)
        assert set(crowded.true_facts(crowded_state)) == set(free.true_facts(free_state))


def test_other_rules_are_played_as_they_are_written():
    """The engine reads the rules of the file: it knows no verb by itself."""
    domain = """
      (define (domain lights) (:types agent room switch)
        (:predicates (at ?a - agent ?r - room) (joins ?s - switch ?r - room) (lit ?s - switch))
        (:action walk :parameters (?a - agent ?from - room ?to - room)
          :precondition (and (at ?a ?from) (not (= ?from ?to)))
          :effect (and (not (at ?a ?from)) (at ?a ?to)))
        (:action press :parameters (?a - agent ?r - room ?s - switch)
          :precondition (and (at ?a ?r) (joins ?s ?r))
          :effect (and (when (lit ?s) (not (lit ?s))) (when (not (lit ?s)) (lit ?s)))))
    """
    grammar = """
      grammar :: \"\"\"{"intro": [{"rhs": "Dark. #task#"}], "task": [{"rhs": "Your task is to: light it"}],
        "list_empty": [{"rhs": "nothing"}], "list_separator": [{"rhs": ", "}],
        "list_last_separator": [{"rhs": ", and "}],
        "on": [{"condition": "lit(s:switch)", "rhs": "{s.id} is on"}, {"rhs": "{s.id} is off"}]}\"\"\";
      action walk { template :: "walk to {to.id}"; feedback :: "You see [{s.id | joins(s:switch, to:room)}]."; }
      action press { template :: "press {s.id}"; feedback :: "Click: #on#."; }
    """
    problem = pddl.parse_problem("""
      (define (problem p) (:domain lights) (:objects me - agent hall attic - room s1 s2 s3 - switch)
        (:init (at me hall) (joins s1 attic) (joins s2 attic) (joins s3 hall)) (:goal (and (lit s1) (not (lit s3)))))
    """)
    game_ = Game.compile(Rulebook.parse(domain, grammar), problem)
    assert game_.commands(game_.start()) == ("press s3", "walk to attic")
    state, said, _ = game_.step(game_.start(), "walk to attic")
    assert said == "You see s1, and s2."
    state, said, _ = game_.step(state, "press s1")
    assert said == "Click: s1 is on."
    assert game_.won(state)
    assert game_.inverses(state, "press s1") == ["press s1"], "here a switch can be undone"
    state, said, _ = game_.step(state, "press s1")
    assert said == "Click: s1 is off."
    assert not game_.won(state)


def small(actions: str, init: str, goal: str, spelling: dict[str, tuple[str, str]], symbols: str = "") -> Game:
    """A game of one type of thing, to try the rules themselves; what it must do is what TextWorld does with it."""
    domain = f"""
      (define (domain d) (:types t - object)
        (:predicates (p ?x - t) (q ?x - t) (r ?x - t ?y - t) (n) (m) (z)) {actions})
    """
    problem = f"(define (problem x) (:domain d) (:objects o1 o2 - t) (:init {init}) (:goal {goal}))"
    rules_ = """{"intro": [{"rhs": "Hi. #task#"}], "task": [{"rhs": "Your task is to: caf\\u00e9 \\"now\\""}]%s}"""
    words = "".join(f'action {a} {{ template :: "{c}"; feedback :: "{f}"; }} ' for a, (c, f) in spelling.items())
    grammar = f'grammar :: """{rules_ % symbols}"""; {words}'
    return Game.from_data({"pddl_domain": domain, "grammar": grammar, "pddl_problem": problem})


NAMED = {"a": ("a {x.id}", "ok"), "b": ("b {x.id}", "ok"), "c": ("c", "ok")}


def test_the_task_is_read_as_the_text_it_is():
    game_ = small("(:action a :parameters (?x - t) :precondition () :effect (n))", "(p o1)", "(n)", NAMED)
    assert game_.goal_text == "café now"
    assert game_.intro == "Hi. Your task is to: café now"


def test_two_exists_are_two_variables():
    game_ = small(
        """(:action a :parameters (?x - t) :effect (n)
             :precondition (and (exists (?y - t) (p ?y)) (exists (?y - t) (q ?y))))
           (:action b :parameters (?x - t) :precondition (not (p ?x)) :effect (and (p ?x) (q ?x)))""",
        "(p o1) (q o2)",
        "(and (exists (?x - t) (p ?x)) (exists (?x - t) (q ?x)))",
        NAMED,
    )
    assert game_.won(game_.start())
    assert game_.commands(game_.start()) == ("a o1", "a o2", "b o2")


def test_what_is_removed_and_added_is_added():
    game_ = small(
        """(:action a :parameters (?x - t) :precondition () :effect (and (n) (when (m) (not (n)))))
           (:action b :parameters (?x - t) :precondition (not (m)) :effect (m))
           (:action c :parameters () :precondition (n) :effect (not (n)))""",
        "(p o1)",
        "(and (n) (m))",
        {**NAMED, "a": ("a {x.id}", "#told#")},
        ', "told": [{"condition": "not_n()", "rhs": "no"}, {"condition": "n()", "rhs": "yes"}]',
    )
    state = played(game_, "b o1", "a o1")
    assert game_.won(state)
    assert game_.step(state, "a o2")[1] == "yes"
    state = played(game_, "c", state=state)
    assert not game_.won(state)


def test_equality_binds():
    game_ = small(
        """(:action a :parameters (?x - t ?y - t) :precondition (or (p ?x) (= ?x ?y)) :effect (r ?x ?y))
           (:action b :parameters (?x - t) :precondition () :effect (q ?x))""",
        "(p o1)",
        "(q o1)",
        {**NAMED, "a": ("a {x.id} {y.id}", "ok")},
    )
    assert game_.commands(game_.start()) == ("a o1 o1", "a o1 o2", "a o2 o2", "b o1", "b o2")


def test_an_action_that_can_change_nothing_is_not_offered():
    game_ = small(
        """(:action a :parameters (?x - t) :precondition (p ?x) :effect (and (p ?x) (when (z) (n))))
           (:action b :parameters (?x - t) :precondition (p ?x) :effect (not (p ?x)))""",
        "(p o1)",
        "(not (p o1))",
        NAMED,
    )
    assert game_.commands(game_.start()) == ("b o1",)


def test_a_file_is_loaded(tmp_path):
    file = tmp_path / "game.tw-pddl"
    file.write_text(json.dumps(data()), encoding="utf-8")
    assert Game.from_file(file).intro == game().intro


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("", "broken or cut off"),
        (json.dumps(data())[:5000], "broken or cut off"),
        ("[]", "expected a JSON object, got list"),
        ('{"grammar": ""}', "expected the key 'pddl_domain'"),
        (json.dumps({**data(), "pddl_problem": None}), "'pddl_problem' with a text, got NoneType"),
        (json.dumps({**data(), "pddl_problem": data()["pddl_problem"][:900]}), "not closed"),
        (json.dumps({**data(), "pddl_domain": "(define (domain d) (:magic))"}), ":magic"),
        (json.dumps({**data(), "grammar": "action GotoLocation {"}), "Text grammar"),
        (json.dumps({**data(), "grammar": ""}), "no template"),
        (json.dumps({**data(), "pddl_problem": "(" * 200_000 + ")" * 200_000}), "PDDL|deeply"),
    ],
)
def test_a_broken_file_is_one_sentence_with_its_name(tmp_path, broken, says):
    file = tmp_path / "game.tw-pddl"
    file.write_text(broken, encoding="utf-8")
    with pytest.raises(GameFileError, match=says) as caught:
        Game.from_file(file)
    assert str(file) in str(caught.value)


def test_a_thing_that_was_not_declared_is_named():
    problem = game().problem
    broken = pddl.Problem(problem.objects, [*problem.init, ("opened", "ghost_1")], problem.goal)
    with pytest.raises(GameFileError, match="'ghost_1' occurs in :init"):
        Game.compile(rulebook(), broken)


def test_facts_of_another_game_are_no_state():
    with pytest.raises(SnapshotError, match="no changeable fact"):
        game().state_of([("flies", "pig_1")])
