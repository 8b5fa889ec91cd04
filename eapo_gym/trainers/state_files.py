"""Nested state as files that hold data and no code: one JSON tree, and its tensors as safetensors.

    for name, content in pack(state): …         # (file name, bytes), one at a time: the tensors of a model are large
    state = unpack(files)                       # the same pairs, in any order

Comes back as it was: tensors, NumPy arrays, dictionaries with keys that are no texts, tuples, bytes, NaN. Tensors come
back on the CPU. The same state gives the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

TREE = "state.json"

_MARK = "$"
"""The key of a JSON object that stands for what JSON has no way to say."""

_SHARD = 1 << 30
"""Bytes of tensors in one file. What is written passes through memory a second time, and this bounds it."""


class NotState(TypeError):
    """Something that a checkpoint cannot hold."""


class BadState(ValueError):
    """Files that are not what `pack` made."""


def pack(state: Mapping[str, Any], shard: int = _SHARD) -> Iterator[tuple[str, bytes]]:
    """The files of a state; the tree comes first."""
    tree, tensors = _split(state)
    yield TREE, json.dumps(tree, allow_nan=False, separators=(",", ":")).encode()
    for number, names in enumerate(_shards(tensors, shard), 1):
        yield f"tensors-{number:05d}.safetensors", save({name: _own(tensors[name]) for name in names})


def packed_size(state: Mapping[str, Any]) -> int:
    """About how many bytes the files have."""
    tree, tensors = _split(state)
    return len(json.dumps(tree)) + sum(int(tensor.nbytes) + 128 for tensor in tensors.values())


def unpack(files: Iterable[tuple[str, bytes]]) -> dict[str, Any]:
    """The state of which these are the files; they are taken one at a time."""
    tree, tensors = None, {}
    try:
        for name, content in files:
            if name == TREE:
                tree = json.loads(content)
            else:
                tensors.update(load(content))
        state = _decode(tree, tensors)
    except (KeyError, ValueError, TypeError, RecursionError, SafetensorError) as error:
        raise BadState(f"not the files of a state: {type(error).__name__}: {error}") from error
    if not isinstance(state, dict):
        raise BadState(f"not the files of a state: expected a mapping, got {type(state).__name__}")
    return state


def _split(state: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    tensors: dict[str, Any] = {}

    def keep(tensor: Any, path: str) -> str:
        name = f"{len(tensors):06d} {path}"
        tensors[name] = tensor
        return name

    return _encode(state, "", keep), tensors


def _encode(value: Any, path: str, keep: Callable[[Any, str], str]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_MARK: "float", "value": str(value)}
    if isinstance(value, torch.Tensor):
        return {_MARK: "tensor", "name": keep(value, path)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise NotState(f"{path}: expected an array of numbers, got one of {value.dtype}.")
        return {_MARK: "array", "name": keep(torch.from_numpy(np.array(value, value.dtype.newbyteorder("="))), path)}
    if isinstance(value, bytes):
        return {_MARK: "bytes", "hex": value.hex()}
    if isinstance(value, Mapping):
        below = [(key, _encode(item, f"{path}/{key}" if path else str(key), keep)) for key, item in value.items()]
        if all(isinstance(key, str) and key != _MARK for key, _ in below):
            return dict(below)
        return {_MARK: "dict", "items": [[_encode(key, f"a key of {path}", keep), item] for key, item in below]}
    if isinstance(value, tuple | list):
        items = [_encode(item, f"{path}/{i}", keep) for i, item in enumerate(value)]
        return {_MARK: "tuple", "items": items} if isinstance(value, tuple) else items
    raise NotState(
        f"{path}: expected tensors, arrays, numbers, texts, lists, tuples or mappings, got {type(value).__name__}."
    )


def _decode(value: Any, tensors: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_decode(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get(_MARK)
    if kind is None:
        return {key: _decode(item, tensors) for key, item in value.items()}
    if kind == "tensor":
        return tensors[value["name"]]
    if kind == "array":
        return tensors[value["name"]].numpy()
    if kind == "float":
        return float(value["value"])
    if kind == "bytes":
        return bytes.fromhex(value["hex"])
    if kind == "tuple":
        return tuple(_decode(item, tensors) for item in value["items"])
    if kind == "dict":
        return {_decode(key, tensors): _decode(item, tensors) for key, item in value["items"]}
    raise ValueError(f"unknown kind {kind!r}")


def _shards(tensors: Mapping[str, Any], most: int) -> Iterator[Sequence[str]]:
    names: list[str] = []
    size = 0
    for name, tensor in tensors.items():
        if names and size + tensor.nbytes > most:
            yield names
            names, size = [], 0
        names.append(name)
        size += tensor.nbytes
    if names:
        yield names


def _own(tensor: Any) -> Any:
    """A copy that shares its memory with no other: tied weights and views are written like any tensor."""
    return tensor.detach().to("cpu", copy=True).contiguous()
