"""The file formats of examples: what is written comes back, and what is broken is named with its place."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.protocol import parse, render
from eapo_gym.schema import Turn
from eapo_gym.trainers.examples import (
    BadExamples,
    Example,
    action_kind,
    content_hash,
    read_examples,
    without_thought,
    write_examples,
)

FULL = Example(
    kind="rollback",
    env="eapo/ALFWorld-v0",
    env_kwargs={"split": "train", "games": 3},
    source="embedded",
    split="train",
    task="some/task",
    goal="put a mug on the desk.",
    state="You open the drawer 1.",
    explore="Go back.",
    memory="At first: a desk.",
    elements="[0] button",
    valid_actions=("look", "close drawer 1"),
    screenshot=None,
    turn=Turn("thought", "next", "notes", "close drawer 1", format_ok=True),
    seed=1 << 62,
    actions=("go to desk 1", "open drawer 1"),
    fingerprint="aa",
    target="bb",
    undone="open drawer 1",
    action_kind="open",
    walker="random",
)
BARE = Example(
    kind="demonstration", env="e", task="t", goal="g", state="s", turn=Turn(memory="", action="a", format_ok=True)
)

texts = st.text(max_size=20)  # lone surrogates among them? see below
actions = st.text(min_size=1, max_size=20)
examples = st.builds(
    Example,
    kind=st.sampled_from(["demonstration", "rollback"]),
    env=texts,
    env_kwargs=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=3),
    task=texts,
    goal=texts,
    state=texts,
    explore=texts,
    memory=texts,
    elements=st.none() | texts,
    valid_actions=st.none() | st.lists(texts, max_size=3).map(tuple),
    turn=st.builds(Turn, texts, texts, texts, actions, st.just(True)),
    seed=st.integers(0, (1 << 63) - 1),
    actions=st.lists(texts, max_size=3).map(tuple),
    target=texts,
)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_is_written_comes_back(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = write_examples([FULL, BARE], tmp_path / f"data.{ending}")
    assert read_examples(path) == [FULL, BARE]
    assert [path.name] == [each.name for each in tmp_path.iterdir()]


@given(st.lists(examples, min_size=1, max_size=4))
def test_any_texts_come_back_from_a_line(tmp_path_factory: pytest.TempPathFactory, found: list[Example]) -> None:
    path = tmp_path_factory.mktemp("any") / "data.jsonl"
    assert read_examples(write_examples(found, path)) == found
    assert path.read_bytes().count(b"\n") == len(found)


def test_a_lone_surrogate_is_kept_in_a_line_and_replaced_in_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    odd = Example(kind="demonstration", env="e", task="t", goal="g", state="\ud800", turn=BARE.turn)
    assert read_examples(write_examples([odd], tmp_path / "a.jsonl"))[0].state == "\ud800"
    assert read_examples(write_examples([odd], tmp_path / "a.parquet"))[0].state == "?"


def line(**changes: Any) -> str:
    return json.dumps({**BARE.to_json(), **changes})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 2 is not JSON"),
        ("[" * 100_000, "line 2 is not JSON"),
        ("[]", "line 2 is no example: expected an object, got list"),
        (line(kind="rolback"), "kind: expected one of demonstration, rollback, got 'rolback'"),
        (line(turn={"memory": "m"}), "turn: expected an object with"),
        (line(turn={"action": 3}), "turn: expected an object with"),
        (line(turn={"action": "a", "format_ok": False}), "turn: expected an object with"),
        (line(actions="look"), "actions: expected a list of texts, got 'look'"),
        (line(seed=True), "seed: expected a whole number, got True"),
        (line(seeds=1), "expected no field 'seeds'"),
        (line(folder="/etc"), "expected no field 'folder'"),
        ('{"kind": "rollback"}', "expected a field 'env'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(f"{line()}\n{text}\n")
    with pytest.raises(BadExamples, match=r"data\.jsonl, line 2") as caught:
        read_examples(path)
    assert said in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(BadExamples, match="No such file"):
        read_examples(tmp_path / "none.jsonl")
    with pytest.raises(BadExamples, match=r"ends in \.jsonl or \.parquet"):
        read_examples(tmp_path / "data.csv")
    with pytest.raises(BadExamples, match=r"ends in \.jsonl or \.parquet"):
        write_examples([BARE], tmp_path / "data.csv")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BadExamples, match="has no examples"):
        read_examples(tmp_path / "empty.jsonl")
    pytest.importorskip("pyarrow")
    (tmp_path / "broken.parquet").write_text("PAR1 not really")
    with pytest.raises(BadExamples, match="is no Parquet file"):
        read_examples(tmp_path / "broken.parquet")


def test_pictures_are_found_beside_the_file(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    from eapo_gym.bench.pictures import Pictures

    picture = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    name = Pictures(tmp_path / "images").save(picture)
    with_picture = Example(
        kind="demonstration", env="e", task="t", goal="g", state="s", turn=BARE.turn, screenshot=name
    )
    [found] = read_examples(write_examples([with_picture], tmp_path / "data.jsonl"))
    np.testing.assert_array_equal(found.observation().screenshot, picture)
    outside = Example.from_json({**with_picture.to_json(), "screenshot": "../data.jsonl"}, tmp_path / "images")
    with pytest.raises(FileNotFoundError, match="is not in"):
        outside.observation()


def test_the_hash_is_of_the_content(tmp_path: Path) -> None:
    one, same = (write_examples([FULL], tmp_path / name) for name in ("a.jsonl", "b.jsonl"))
    other = write_examples([BARE], tmp_path / "c.jsonl")
    assert content_hash(one) == content_hash(same) != content_hash(other)


def test_every_field_but_the_folder_is_written() -> None:
    data = {**FULL.to_json(), "screenshot": None, "marked": None}
    assert data.keys() == {item.name for item in fields(Example)} - {"folder"}


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("take mug 1 from desk 1", "take"),
        ('{"action_type": "click", "index": 3}', "click"),
        ("{{action_type: wait}}", "wait"),
        ("search[red shoes]", "search"),
        ("{nothing", "{nothing"),
        ("", ""),
    ],
)
def test_the_kind_of_an_action(action: str, kind: str) -> None:
    assert action_kind(action) == kind


def test_a_target_without_a_thought_is_still_in_form() -> None:
    turn = without_thought(FULL).turn
    assert parse(render(turn)) == turn
    assert "think" not in render(turn)
