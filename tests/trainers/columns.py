"""Batches as columns alone, for tests of what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from eapo_gym.trainers.batch import Batch

COLUMNS = {
    "task": np.int64,
    "trajectory": np.int64,
    "episode": np.int64,
    "t": np.int64,
    "length": np.int64,
    "state": np.int64,
    "depth": np.int64,
    "success": np.bool_,
    "format_ok": np.bool_,
    "reflection": np.bool_,
    "response_tokens": np.int64,
}


def batch_of(rows: Sequence[dict[str, Any]]) -> Batch:
    """From one dictionary per transition; what it does not name is 0."""
    return Batch([], **{name: np.array([row.get(name, 0) for row in rows], kind) for name, kind in COLUMNS.items()})


def rows_of(batch: Batch) -> list[dict[str, Any]]:
    """The other way round."""
    columns = {name: getattr(batch, name).tolist() for name in COLUMNS}
    return [{name: column[i] for name, column in columns.items()} for i in range(batch.task.size)]


def reordered(batch: Batch, order: np.ndarray) -> Batch:
    return Batch([], **{name: getattr(batch, name)[order] for name in COLUMNS})


@st.composite
def batches(draw: st.DrawFn, episodes: int = 1) -> Batch:
    """Tasks of a few trajectories each, of up to so many episodes, on few states so that groups have members."""
    rows: list[dict[str, Any]] = []
    trajectory = 0
    for task in range(draw(st.integers(0, 3))):
        for _ in range(draw(st.integers(1, 4))):
            for episode in range(draw(st.integers(1, episodes))):
                success = draw(st.booleans())
                path = draw(st.lists(st.integers(0, 2), min_size=1, max_size=8))
                attempt = {"task": task, "trajectory": trajectory, "episode": episode}
                own = {**attempt, "length": len(path), "success": success}
                for t, place in enumerate(path):
                    more = {"format_ok": draw(st.booleans()), "response_tokens": draw(st.integers(1, 40))}
                    rows.append({**own, "t": t, "state": 3 * task + place, "depth": path[:t].count(place), **more})
                if success:
                    break
                if episodes > 1:
                    rows.append({**own, "t": len(path), "state": 1000 + trajectory, "reflection": True})
            trajectory += 1
    return batch_of(rows)
