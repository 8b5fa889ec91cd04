"""Values that travel arrive as they were; bytes that are no message are refused; nothing is ever evaluated."""

from __future__ import annotations

import contextlib
import enum
import math
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from eapo_gym.envs.hosting import codec

surrogates = st.text(st.characters(categories=["Cs"]), min_size=1)  # paired or not
any_text = st.text() | surrogates | st.tuples(st.text(), surrogates, st.text()).map("".join)
numbers = st.integers() | st.floats() | st.booleans() | st.none()
array_types = st.one_of(
    st_numpy.boolean_dtypes(),
    st_numpy.integer_dtypes(),
    st_numpy.unsigned_integer_dtypes(),
    st_numpy.floating_dtypes(),
    st_numpy.complex_number_dtypes(),
    st_numpy.datetime64_dtypes(),
    st_numpy.unicode_string_dtypes(),
    st_numpy.byte_string_dtypes(),
)
shapes = st_numpy.array_shapes(min_dims=0, min_side=0, max_side=3)
arrays = array_types.flatmap(lambda dtype: st_numpy.arrays(dtype, shapes))
scalars = array_types.flatmap(lambda dtype: st_numpy.arrays(dtype, ())).map(lambda array: array[()])
keys = any_text | st.integers() | st.booleans() | st.tuples(st.integers(), any_text) | st.just("$")
leaves = numbers | any_text | st.binary() | st.binary().map(bytearray) | arrays | scalars
values = st.recursive(
    leaves | st.sets(st.integers() | any_text) | st.frozensets(any_text),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(any_text, inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Equal in type and content, all the way down; one NaN is as good as another, and -0.0 is not 0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    return bool(a == b)


@given(values)
def test_every_value_arrives_as_it_was(value):
    assert same(codec.decode(codec.encode(value)), value)
    assert same(codec.decode(codec.encode(value, exact=True)), value)


@given(st.binary())
def test_bytes_that_are_no_message_are_refused_and_nothing_else_happens(data):
    for body in (data, codec.encode(None)[:4] + data, len(data).to_bytes(4, "big") + data):
        with contextlib.suppress(codec.CodecError):
            codec.decode(body)


@given(values, st.data())
def test_a_damaged_message_is_refused_or_read_but_never_breaks(value, data):
    body = bytearray(codec.encode(value))
    for _ in range(3):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(codec.CodecError):
        codec.decode(bytes(body))


@pytest.mark.parametrize(
    "text",
    [
        '{"$":"array","dtype":"|O8","shape":[1],"at":[0,8]}',
        '{"$":"array","dtype":"<f8","shape":[-1],"at":[0,0]}',
        '{"$":"array","dtype":"<f8","shape":[1000000000],"at":[0,0]}',
        '{"$":"array","dtype":"<f8","shape":["x"],"at":[0,0]}',
        '{"$":"bytes","at":[0,1]}',
        '{"$":"bytes","at":[-1,0]}',
        '{"$":"bytes","at":"no"}',
        '{"$":"int","hex":12}',
        '{"$":"set","items":[[]]}',
        '{"$":"dict","items":[[1]]}',
        '{"$":"tuple"}',
        '{"$":["tuple"]}',
        '{"$":"pickle","value":"x"}',
        "[" * 100_000,
    ],
)
def test_a_hostile_message_is_refused(text):
    body = len(text).to_bytes(4, "big") + text.encode()
    with pytest.raises(codec.CodecError):
        codec.decode(body)


def test_subclasses_of_plain_types_arrive_plain():
    class Level(enum.IntEnum):
        LOW = 1

    class Loud(str):
        def __str__(self) -> str:
            return "LOUD"

    Point = namedtuple("Point", "x y")
    value = [OrderedDict(a=1), Level.LOW, Loud("quiet"), Point(1, 2.5)]
    assert same(codec.decode(codec.encode(value)), [{"a": 1}, 1, "quiet", (1, 2.5)])
    for item in value:
        with pytest.raises(codec.CodecError, match="cannot travel"):
            codec.encode(item, exact=True)


def test_what_cannot_travel_is_named_with_its_place():
    with pytest.raises(codec.CodecError, match=r"^\['info'\]\['games'\]\[1\]: a builtins.object cannot travel"):
        codec.encode({"info": {"games": (1, object())}})
    with pytest.raises(codec.CodecError, match="an array of object cannot travel"):
        codec.encode(np.array([None]))
    with pytest.raises(codec.CodecError, match="array"):
        codec.encode(np.zeros(1, [("x", int)]))


def test_exact_refuses_what_would_come_apart():
    shared = [1]
    assert codec.decode(codec.encode([shared, shared])) == [[1], [1]]
    with pytest.raises(codec.CodecError, match="the same list stands in it twice"):
        codec.encode([shared, shared], exact=True)


def test_cycles_and_depth_end_with_an_error():
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(codec.CodecError, match="nested"):
        codec.encode(cycle)
    deep: Any = 0
    for _ in range(60):
        deep = ({"x": [deep]},)
    with pytest.raises(codec.CodecError, match="nested deeper than 100 levels"):
        codec.encode(deep)


def test_arrays_arrive_writable_and_independent_of_their_layout():
    array = np.asfortranarray(np.arange(12).reshape(3, 4))[:, ::2]
    back = codec.decode(codec.encode(array))
    assert np.array_equal(back, array)
    back += 1
    assert array[0, 0] == 0


def test_frames_tell_their_length_and_refuse_what_is_none(monkeypatch):
    assert codec.body_length(codec.prefix_of(b"12345")) == 5
    with pytest.raises(codec.CodecError, match="expected a frame that begins with"):
        codec.body_length(b"GET / HTTP/1")
    with pytest.raises(codec.CodecError, match="expected at most"):
        codec.body_length(codec.PREFIX.pack(b"EAPO", codec.MAX_FRAME + 1))
    monkeypatch.setattr(codec, "MAX_FRAME", 100)
    with pytest.raises(codec.CodecError, match=r"a message of 1\d\d bytes: expected at most 100"):
        codec.encode("x" * 100)
