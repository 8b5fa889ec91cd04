from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.schema import Trajectory, Transition
from eapo_gym.visitation import VisitCounter, exploration_degree

walks = st.lists(st.sampled_from("abcd"), max_size=30)


def test_depth_is_the_number_of_earlier_visits() -> None:
    counter = VisitCounter()
    assert [counter.visit(state) for state in "abaab"] == [0, 0, 1, 2, 1]


@pytest.mark.parametrize(
    ("walk", "with_self_loops", "without"),
    [("", 0.0, 0.0), ("a", 0.0, 0.0), ("aa", 1.0, 0.0), ("aab", 0.5, 0.0), ("aba", 0.5, 0.5), ("abab", 1.0, 1.0)],
)
def test_exploration_degree(walk: str, with_self_loops: float, without: float) -> None:
    assert exploration_degree(walk) == with_self_loops
    assert exploration_degree(walk, self_loops=False) == without


@given(walks)
def test_running_degree_is_what_counting_afresh_gives(walk: list[str]) -> None:
    counter = VisitCounter()
    for length, state in enumerate(walk, start=1):
        depth = counter.visit(state)
        so_far = walk[:length]
        arrivals = [s for i, s in enumerate(so_far) if i == 0 or so_far[i - 1] != s]
        distinct = set(so_far)
        assert depth == so_far.count(state) - 1
        assert counter.distinct == len(distinct)
        assert counter.exploration_degree() == sum(so_far.count(s) > 1 for s in distinct) / len(distinct)
        assert counter.exploration_degree(False) == sum(arrivals.count(s) > 1 for s in distinct) / len(distinct)


@given(walks, walks, walks)
def test_a_copy_goes_its_own_way(before: list[str], here: list[str], there: list[str]) -> None:
    counter = VisitCounter()
    for state in before:
        counter.visit(state)
    twin = counter.copy()
    for state in here:
        counter.visit(state)
    for state in there:
        twin.visit(state)
    for walker, walk in ((counter, before + here), (twin, before + there)):
        for self_loops in (True, False):
            assert walker.exploration_degree(self_loops) == exploration_degree(walk, self_loops)


@given(walks.filter(lambda walk: len(walk) > 1), st.booleans())
def test_degree_of_a_trajectory_counts_its_last_state_too(walk: list[str], self_loops: bool) -> None:
    steps = [_transition(t, state, walk[t + 1]) for t, state in enumerate(walk[:-1])]
    trajectory = Trajectory(task="t", source="embedded", transitions=steps)
    assert trajectory.exploration_degree(self_loops) == exploration_degree(walk, self_loops)
    assert len(trajectory) == len(walk) - 1


def test_degree_of_no_transitions() -> None:
    assert Trajectory(task="t", source="embedded").exploration_degree() == 0.0


def _transition(t: int, fingerprint: str, next_fingerprint: str) -> Transition:
    return Transition(
        task="t",
        trajectory="0",
        t=t,
        goal="",
        state="",
        fingerprint=fingerprint,
        depth=0,
        explore_in="",
        memory_in="",
        explore="",
        memory="",
        action=None,
        format_ok=False,
        reward=0.0,
        terminated=False,
        truncated=False,
        next_state="",
        next_fingerprint=next_fingerprint,
    )
