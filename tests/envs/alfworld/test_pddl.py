"""The PDDL reader."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.alfworld import pddl, rules
from eapo_gym.envs.alfworld.pddl import And, Atom, Exists, Forall, Not, Or
from eapo_gym.errors import GameFileError

PROBLEM = """
(define (problem p) (:domain d)
  (:objects Desk_1 Desk_2 - receptacle   agent1 - agent lost)   ; a comment (with a parenthesis
  (:init (opened Desk_1) (= (total-cost) 0) (holds agent1 Mug))
  (:goal (exists (?r - receptacle) (opened ?r))))
"""


def test_a_problem_is_read_in_lower_case():
    problem = pddl.parse_problem(PROBLEM, "tidy up")
    assert problem.objects == {"desk_1": "receptacle", "desk_2": "receptacle", "agent1": "agent", "lost": "object"}
    assert problem.init == [("opened", "desk_1"), ("holds", "agent1", "mug")]
    assert problem.goal == Exists((("?r", "receptacle"),), Atom("opened", ("?r",)))
    assert problem.task_text == "tidy up"


def test_conditions_of_all_kinds():
    condition = pddl.parse_condition("(or (not (a ?x)) (and (b) (forall (?y - t) (c ?y))) (imply (d) (e)))")
    assert condition == Or(
        (
            Not(Atom("a", ("?x",))),
            And((Atom("b", ()), Forall((("?y", "t"),), Atom("c", ("?y",))))),
            Or((Not(Atom("d", ())), Atom("e", ()))),
        )
    )
    assert [atom.predicate for atom in pddl.atoms(condition)] == ["a", "b", "c", "d", "e"]


def test_effects_keep_their_conditions_and_costs_are_read_over():
    domain = pddl.parse_domain("""
        (define (domain d) (:predicates (on ?o - object))
          (:action flip :parameters (?o - object) :precondition ()
            :effect (and (increase (total-cost) 1) (when (on ?o) (not (on ?o))) (when (not (on ?o)) (on ?o)))))
    """)
    off, on = domain.actions["flip"].effects
    assert (off.value, on.value) == (False, True)
    assert [atom.predicate for atom in pddl.atoms(off.condition)] == ["on"]


def test_the_household_domain_has_every_verb():
    assert set(pddl.parse_domain(rules.domain_text()).actions) >= {"gotolocation", "pickupobject", "putobject", "help"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(define (problem p) (:init", "not closed"),
        ("(define (problem p)))", "closes nothing"),
        ("", "expected one parenthesised expression"),
        ("(define (domain d))", "expected '(define (problem"),
        ("(define (problem p) (:init))", "expected a :goal"),
        ("(define (problem p) (:magic) (:goal (a)))", ":magic"),
        ("(define (problem p) (:goal ((a) b)))", "expected a"),
    ],
)
def test_a_broken_problem_is_one_sentence(text, says):
    with pytest.raises(GameFileError, match=says.replace("(", r"\(")):
        pddl.parse_problem(text)


@given(st.text(alphabet="()abc?- :;\n", max_size=200))
def test_any_text_is_read_or_refused(text):
    for read in (pddl.parse_problem, pddl.parse_domain, pddl.parse_condition):
        with suppress(GameFileError):
            read(text)


@given(st.integers(min_value=0, max_value=len(PROBLEM.rstrip()) - 1))
def test_a_truncated_problem_is_refused(length):
    with pytest.raises(GameFileError):
        pddl.parse_problem(PROBLEM[:length])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(define (domain d) (:types a - b b - a))", "its own supertype"),
        ("(define (domain d) (:predicates ()))", "expected a"),
    ],
)
def test_a_broken_domain_is_one_sentence(text, says):
    with pytest.raises(GameFileError, match=says):
        pddl.parse_domain(text)


@pytest.mark.parametrize("init", ["()", "(not (p x))", "(q (x))", "word"])
def test_what_is_no_fact_is_refused(init):
    with pytest.raises(GameFileError, match="expected an atom"):
        pddl.parse_problem(f"(define (problem p) (:init {init}) (:goal (a)))")


def test_equality_is_between_two():
    with pytest.raises(GameFileError, match=r"expected \(= \?x \?y\)"):
        pddl.parse_condition("(= x)")
