"""What makes a state another one, and what does not."""

from __future__ import annotations

import io
import sqlite3
import struct
import subprocess
import sys
import zipfile
import zlib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eapo_gym.envs.osworld.contents import digest_of_file
from eapo_gym.envs.osworld.elements import Element, elements_of
from eapo_gym.envs.osworld.identity import fingerprint, said, timeless
from tests.envs.osworld.recorded import recorded_tree

SIZE = (1920, 1080)
OK = Element(0, (0, 0, 10, 10), "push-button", name="OK", window="Save")


def mark(*elements: Element, front: str = "Save", files: dict[str, str] | None = None) -> str:
    return fingerprint(front, elements, files or {})


def test_recorded_states_differ():
    marks = set()
    for name in ("new", "cells", "menu", "context", "dialog"):
        listed = elements_of(recorded_tree(name), SIZE)
        marks.add(fingerprint(listed.front, listed.elements, {}))
    assert len(marks) == 5


def test_it_is_the_same_in_another_process():
    code = (
        "from tests.envs.osworld.recorded import recorded_tree\n"
        "from eapo_gym.envs.osworld.elements import elements_of\n"
        "from eapo_gym.envs.osworld.identity import fingerprint\n"
        "listed = elements_of(recorded_tree('dialog'), (1920, 1080))\n"
        "print(fingerprint(listed.front, listed.elements, {'b': '2', 'a': '1'}, 'more'))"
    )
    root = Path(__file__).parents[3]
    told = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    listed = elements_of(recorded_tree("dialog"), SIZE)
    assert told.stdout.strip() == fingerprint(listed.front, listed.elements, {"a": "1", "b": "2"}, "more")


WORDS = st.text("abc 12:34", max_size=8)
ELEMENTS = st.builds(
    Element,
    index=st.just(0),
    bounds=st.just((0, 0, 9, 9)),
    kind=st.sampled_from(("label", "entry", "push-button", "table-cell")),
    text=WORDS,
    name=WORDS,
    window=WORDS,
    **{each.name: st.booleans() for each in fields(Element) if each.type == "bool"},
)


@settings(max_examples=50)
@given(st.lists(ELEMENTS, max_size=4), st.data())
def test_where_things_are_is_no_difference(elements, data):
    place = st.tuples(*[st.integers(0, 2000)] * 4)
    moved = [replace(each, bounds=data.draw(place), index=n) for n, each in enumerate(elements)]
    assert mark(*moved) == mark(*elements)


@given(ELEMENTS, st.sampled_from(("checked", "expanded", "focused", "selected", "enabled")))
def test_a_state_is_a_difference_outside_of_tool_bars(element, state):
    other = replace(element, **{state: not getattr(element, state)})
    assert (mark(other) == mark(element)) == element.in_bar


@given(ELEMENTS, WORDS)
def test_what_is_written_is_a_difference(element, text):
    element = replace(element, editable=True)
    differs = (text or element.name) != (element.text or element.name)
    assert (mark(replace(element, text=text)) != mark(element)) == differs


def test_clocks_are_no_difference():
    def clock(text: str, **more) -> Element:
        return replace(OK, kind="label", text=text, **more)

    assert mark(clock("Mon Nov 22  07:50")) == mark(clock("Tue Dec 1  23:59"))
    assert mark(clock("saved 2 minutes ago")) == mark(clock("saved just now"))
    assert mark(clock("10:30", editable=True)) != mark(clock("11:30", editable=True)), "somebody wrote it"
    assert mark(clock("Chapter 7")) != mark(clock("Chapter 8"))


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_every_time_is_the_same(hour, minute, second):
    assert timeless(f"at {hour}:{minute:02}:{second:02}!") == timeless("at 1:02:03!")
    assert timeless(f"{hour % 12 + 1}:{minute:02} PM") == timeless("1:02 PM")


def test_files_titles_and_order_are_differences():
    assert mark(OK) != mark(OK, front="Open")
    assert mark(OK, files={"/a": "1"}) != mark(OK, files={"/a": "2"})
    assert mark(OK, files={"/a": "1"}) != mark(OK)
    other = replace(OK, name="Cancel")
    assert mark(OK, other) != mark(other, OK)
    assert fingerprint("", (), {}, "answer") != fingerprint("", (), {})


def test_what_is_said_once_and_without_clocks():
    clock = replace(OK, name="07:50")
    assert said([OK, OK, clock, replace(OK, name="")]) == ["OK", "⏱"]


# Files


def zipped(members: dict[str, str], date=(2024, 1, 1, 0, 0, 0), method=zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, date), text, method)
    return file.getvalue()


ODS = {"mimetype": "application/vnd", "content.xml": "<a>1</a>", "meta.xml": "07:50", "settings.xml": "zoom"}


def test_when_an_office_file_was_saved_is_no_difference():
    later = {**ODS, "meta.xml": "07:51", "settings.xml": "x", "Thumbnails/thumbnail.png": "p"}
    assert digest_of_file(zipped(later, (2025, 2, 2, 2, 2, 2), zipfile.ZIP_STORED)) == digest_of_file(zipped(ODS))
    assert digest_of_file(zipped({**ODS, "content.xml": "<a>2</a>"})) != digest_of_file(zipped(ODS))
    assert digest_of_file(zipped({**ODS, "styles.xml": ""})) != digest_of_file(zipped(ODS))
    drawn = {**ODS, "content.xml": '<a officeooo:rsid="0012ab">1</a>'}
    assert digest_of_file(zipped(drawn)) == digest_of_file(zipped(ODS))


def test_of_other_archives_everything_counts():
    assert digest_of_file(zipped({"meta.xml": "1"})) != digest_of_file(zipped({"meta.xml": "2"}))
    assert digest_of_file(zipped({"a": "1"}, (2025, 1, 1, 0, 0, 0))) == digest_of_file(zipped({"a": "1"}))


def database(path: Path, rows: list[tuple[int, str]], spare: int = 0) -> bytes:
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as opened:
        opened.execute('CREATE TABLE "a ""b" (n INTEGER, t TEXT)')
        opened.executemany('INSERT INTO "a ""b" VALUES (?, ?)', [(0, "x" * 5000)] * spare + rows)
        opened.execute('DELETE FROM "a ""b" WHERE n = 0')
    opened.close()
    return path.read_bytes()


def test_databases_are_their_rows(tmp_path):
    path = tmp_path / "d"
    one = database(path, [(1, "a"), (2, "b")])
    other = database(path, [(2, "b"), (1, "a")], spare=9)
    assert one != other
    assert digest_of_file(one) == digest_of_file(other)
    assert digest_of_file(database(path, [(1, "a"), (2, "c")])) != digest_of_file(one)


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def test_when_a_picture_was_made_is_no_difference():
    one = png((b"IHDR", b"x" * 13), (b"tIME", b"1234567"), (b"IDAT", b"pixels"))
    other = png((b"IHDR", b"x" * 13), (b"tEXt", b"date"), (b"IDAT", b"pixels"))
    assert digest_of_file(one) == digest_of_file(other)
    assert digest_of_file(one) != digest_of_file(png((b"IHDR", b"x" * 13), (b"IDAT", b"pixelz")))
    pdf = b"%PDF-1.7 /CreationDate(D:2024) /ID [<1> <2>] text"
    assert digest_of_file(pdf) == digest_of_file(pdf.replace(b"2024", b"2025").replace(b"<1>", b"<3>"))
    assert digest_of_file(pdf) != digest_of_file(pdf.replace(b"text", b"other"))


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"SQLite format 3\x00", b"\x89PNG\r\n\x1a\n", b"%PDF-", b""])
@settings(max_examples=25)
@given(rest=st.binary(max_size=60))
def test_broken_files_are_their_bytes(start, rest):
    digest = digest_of_file(start + rest)
    assert digest == digest_of_file(start + rest)
    assert digest != digest_of_file(None)


def test_archives_that_are_cut_off_or_lie():
    whole = zipped(ODS)
    for broken in (whole[:-10], whole[:40] + b"\xff" * 20 + whole[60:]):
        assert digest_of_file(broken) != digest_of_file(whole)
