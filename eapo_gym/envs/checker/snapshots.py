"""Checks of snapshot and restore: a snapshot forgets nothing, stands alone, and outlives its episode."""

from __future__ import annotations

import copy
from typing import Any

from eapo_gym.envs.checker.bench import Bench
from eapo_gym.envs.checker.seen import Divergence, Trail


def check_restore(bench: Bench) -> None:
    """Exactness. Restored is a copy of the snapshot, so that this is about what it holds, not about who shares it."""
    for probe in bench.tries(bench.episodes):
        saved, first = _save_and_go_on(bench, probe)
        again = _restore_and_repeat(bench, saved, first)
        found = bench.differ(first, again, whole_start=False)
        if found is None:
            continue
        if found.steps == 0 and found.difference.what.startswith("observation"):
            title = "restore returns another observation than the state had"
            fix = "Set the attributes first, then build the observation from them; keep the last text in the snapshot."
        elif found.steps == 0:
            title = "restore does not bring the state back"
            fix = "Put every attribute into the snapshot that fingerprint(), valid_actions() and step() read."
        else:
            title = "after a restore the same actions lead elsewhere"
            fix = "Something that step() reads is not in the snapshot: a counter, a pending event, a random generator."
        _file(bench, title, fix, found, first, again)
        return


def check_snapshot(bench: Bench) -> None:
    """Independence: what the environment does later must not reach into the snapshot."""
    for probe in bench.tries(bench.episodes):
        saved, first = _save_and_go_on(bench, probe)
        for times in ("once", "twice"):
            again = _restore_and_repeat(bench, saved, first, detached=False)
            found = bench.differ(first, again, whole_start=False)
            if found:
                _file(
                    bench,
                    "a snapshot changes while the environment goes on"
                    if times == "once"
                    else "a snapshot cannot be restored twice",
                    "Copy what is mutable (lists, dicts, arrays, generators), both in snapshot() and in restore().",
                    found,
                    first,
                    again,
                )
                return


def check_restore_elsewhere(bench: Bench) -> None:
    """A snapshot outlives its episode: it also restores into one of another task."""
    tasks = bench.core.ask("tasks")
    for probe in bench.tries(min(3, bench.episodes)):
        saved, first = _save_and_go_on(bench, probe)
        bench.core.play(bench.length(probe), seed=bench.seed(probe + 1), task=tasks[(probe + 1) % len(tasks)])
        again = _restore_and_repeat(bench, saved, first)
        found = bench.differ(first, again, whole_start=False)
        if found:
            fix = "Put what belongs to the episode (the task, its data, the goal) into the snapshot as well."
            _file(bench, "restore fails in an episode of another task", fix, found, first, again)
            return


def _save_and_go_on(bench: Bench, probe: int) -> tuple[Any, Trail]:
    """A snapshot somewhere in an episode, and how the episode went on."""
    length, seed = bench.length(probe), bench.seed(probe)
    # Every other time at the start, where whatever happens but once is still to come.
    bench.core.play(bench.rng.randrange(length + 1) if probe % 2 else 0, seed=seed)
    if bench.core.now.ended:
        bench.core.script.clear()
        bench.core.reset(seed=seed)
    saved = bench.core.snapshot()
    kept = _detached(saved)
    first = bench.core.go_on(length)
    return (kept, saved), first


def _restore_and_repeat(bench: Bench, saved: Any, first: Trail, *, detached: bool = True) -> Trail:
    kept, live = saved
    bench.core.restore(_detached(kept) if detached else live)
    return bench.core.go_on(len(first), first.commands)


def _detached(snapshot: Any) -> Any:
    try:
        return copy.deepcopy(snapshot)
    except (TypeError, NotImplementedError):  # a handle of something that cannot be copied
        return snapshot


def _file(bench: Bench, title: str, fix: str, found: Divergence, first: Trail, again: Trail) -> None:
    bench.fail(
        title,
        expected=f"{found.difference.what}: {found.difference.expected}, as it was",
        actual=found.difference.actual,
        fix=fix + found.hint,
        script=(f"first: {first.calls(found.steps)}", f"later: {again.calls(found.steps)}"),
    )
