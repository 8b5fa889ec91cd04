from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'eapo-gym[train]'")
pytest.importorskip("safetensors", reason="needs safetensors: pip install 'eapo-gym[train]'")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from eapo_gym.trainers.state_files import TREE, BadState, NotState, pack, packed_size, unpack  # noqa: E402


def round_trip(state: dict[str, Any]) -> dict[str, Any]:
    return unpack(pack(state))


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and bool(torch.equal(a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(max_size=20))
tensors = st.sampled_from(
    [
        torch.tensor(3.0),
        torch.arange(6, dtype=torch.int64).reshape(2, 3),
        torch.zeros(0, 4),
        torch.tensor([True, False]),
        torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
        torch.arange(5, dtype=torch.uint8),
        np.arange(4, dtype=np.uint32),
        np.float64([[0.1, 1e300]]),
        np.array(True),
    ]
)
states = st.dictionaries(
    st.text(),
    st.recursive(
        scalars | tensors,
        lambda below: (
            st.lists(below, max_size=3)
            | st.lists(below, max_size=3).map(tuple)
            | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers(), st.text()), below, max_size=3)
        ),
        max_leaves=12,
    ),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(states)
def test_comes_back_as_it_was(state: dict[str, Any]) -> None:
    assert same(round_trip(state), state)


def test_optimizer_goes_on_with_the_same_bits() -> None:
    def run(updates: int, model: Any, optimizer: Any) -> None:
        for i in range(updates):
            optimizer.zero_grad()
            model(torch.full((2, 3), i + 1.0)).square().sum().backward()
            optimizer.step()

    def made() -> tuple[Any, Any]:
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        return model, torch.optim.AdamW(model.parameters(), lr=0.1)

    model, optimizer = made()
    run(3, model, optimizer)
    state = round_trip({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    run(3, model, optimizer)
    again, optimizer = made()
    again.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    run(3, again, optimizer)
    assert torch.equal(model.weight, again.weight)


def test_views_and_tied_weights_are_written_like_any_tensor() -> None:
    whole = torch.arange(12.0).reshape(3, 4)
    found = round_trip(
        {"whole": whole, "same": whole, "turned": whole.T, "row": whole[1], "wide": whole[0].expand(5, 4)}
    )
    assert torch.equal(found["turned"], whole.T)
    assert torch.equal(found["row"], whole[1])
    assert found["wide"].shape == (5, 4)
    assert torch.equal(found["same"], found["whole"])


def test_parameters_come_back_without_their_gradients() -> None:
    found = round_trip({"weight": torch.nn.Parameter(torch.ones(2))})["weight"]
    assert type(found) is torch.Tensor
    assert not found.requires_grad


def test_large_states_are_several_files() -> None:
    state = {str(i): torch.full((100,), float(i)) for i in range(10)}
    files = dict(pack(state, shard=1000))
    assert len(files) == 1 + 5
    assert same(unpack(reversed(files.items())), state)


def test_the_same_state_gives_the_same_bytes_and_they_are_as_many_as_was_said() -> None:
    state = {"a": torch.arange(1000.0), "b": {"step": 3, "list": list(range(100))}}
    files = dict(pack(state))
    assert files == dict(pack({"a": torch.arange(1000.0), "b": {"step": 3, "list": list(range(100))}}))
    size = sum(map(len, files.values()))
    assert 0.9 * size < packed_size(state) < 1.1 * size + 200


def test_the_tree_is_json_for_anybody() -> None:
    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is no JSON")

    tree = json.loads(dict(pack({"loss": math.nan, "best": -math.inf, "step": 7}))[TREE], parse_constant=refuse)
    assert tree["step"] == 7


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array(["text"]), lambda: None, 1 + 2j])
def test_what_cannot_be_held_is_refused_by_name(value: Any) -> None:
    with pytest.raises(NotState, match=r"^rest/1/it: expected"):
        list(pack({"rest": [0, {"it": value}]}))


@pytest.mark.parametrize(
    "files",
    [
        {},
        {TREE: b"[]"},
        {TREE: b"{"},
        {TREE: b'{"a": {"$": "tensor", "name": "0 a"}}'},
        {TREE: b'{"a": {"$": "code", "run": "it"}}'},
        {TREE: b"{}", "tensors-00001.safetensors": b"no tensors"},
        {TREE: b'{"a": {"$": "dict", "items": [[[], 1]]}}'},
        {TREE: b"[" * 100_000},
    ],
)
def test_files_of_something_else_are_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(BadState, match="not the files of a state"):
        unpack(files.items())
