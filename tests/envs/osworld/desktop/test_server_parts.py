"""The parts of the server that need no screen."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.osworld.desktop.server import commands, dbus, files, inputs, keys, office, treexml
from eapo_gym.envs.osworld.desktop.server.nodes import Node
from eapo_gym.envs.osworld.desktop.server.screen import Screen

# the screen


def _frames(path: Path, pixels: np.ndarray, padding: int = 0, colours: int = 3) -> None:
    """A picture as Xvfb keeps it."""
    height, width, _ = pixels.shape
    row = width * 4 + padding
    words = [0] * 25
    words[0], words[4], words[5], words[11], words[12], words[19] = 104, width, height, 32, row, colours
    body = b"".join(line.tobytes() + bytes(padding) for line in pixels)
    path.write_bytes(struct.pack(">25I", *words) + b"name" + bytes(12 * colours) + body)


@pytest.mark.parametrize("padding", [0, 8])
def test_pixels_and_png_are_the_picture(tmp_path: Path, padding: int) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (7, 5, 4), dtype=np.uint8)
    _frames(tmp_path / "frames", pixels, padding)
    screen = Screen(tmp_path / "frames")
    assert screen.size == (5, 7)
    assert screen.pixels() == pixels.tobytes()
    png = screen.png()
    start = png.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", png[start - 8 : start - 4])
    rows = np.frombuffer(zlib.decompress(png[start : start + length]), np.uint8).reshape(7, 1 + 5 * 3)
    assert (rows[:, 0] == 0).all()
    assert (rows[:, 1:].reshape(7, 5, 3) == pixels[:, :, 2::-1]).all()


def test_a_stamp_changes_with_the_picture_only(tmp_path: Path) -> None:
    pixels = np.zeros((10, 10, 4), np.uint8)
    _frames(tmp_path / "frames", pixels)
    screen = Screen(tmp_path / "frames")
    first = screen.stamp()
    assert screen.stamp() == first
    with (tmp_path / "frames").open("r+b") as file:
        file.seek(-2, 2)
        file.write(b"\x09")
    second = screen.stamp()
    assert second != first
    assert screen.stamp() == second
    assert screen.wait_until_quiet(0.03, 5.0, None, 0.0) == (True, second)
    assert screen.wait_until_quiet(1.0, 0.05, None, 0.0) == (False, second)


def test_cells_in_which_nothing_is_painted_are_blank(tmp_path: Path) -> None:
    pixels = np.full((40, 60, 4), 255, np.uint8)
    pixels[20, 30] = 0
    pixels[0:10, 0] = 0
    _frames(tmp_path / "frames", pixels)
    screen = Screen(tmp_path / "frames")
    assert screen.is_blank((0, 0, 20, 15))
    assert not screen.is_blank((10, 10, 50, 35))
    assert not screen.is_blank((0, 0, 4, 4))  # too small to say


# D-Bus


_samples: dict[str, st.SearchStrategy[Any]] = {
    "s": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
    "u": st.integers(0, 2**32 - 1),
    "i": st.integers(-(2**31), 2**31 - 1),
}


@given(st.data())
def test_what_is_written_is_read(data: st.DataObject) -> None:
    signature = data.draw(st.text("sui", max_size=6))
    values = tuple(data.draw(_samples[kind]) for kind in signature)
    assert dbus._reader(f"({signature})")(dbus._written(signature, values), 0)[0] == values


def test_nested_values_are_read() -> None:
    # a{sv} of one entry, with an array of structs before it, as GetChildren and GetAll answer
    children = struct.pack("<I4xI", 13, 4) + b":1.5\0"
    data = children.ljust(16 + 5, b"\0")
    assert dbus._split("a(so)a{sv}(iiii)u") == ["a(so)", "a{sv}", "(iiii)", "u"]
    assert dbus._reader("as")(struct.pack("<II", 9, 4) + b":1.5\0", 0)[0] == [":1.5"]
    assert dbus._reader("(iiii)")(struct.pack("<iiii", 1, -2, 3, 4), 0) == ((1, -2, 3, 4), 16)
    assert len(data) == 21
    entry = struct.pack("<I", 4) + b"Name\0" + b"\x01s\0" + struct.pack("<I", 2) + b"Hi\0"
    dictionary = struct.pack("<I4x", len(entry)) + entry
    assert dbus._reader("a{sv}")(dictionary, 0)[0] == {"Name": "Hi"}


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(dbus.BusError, match="unknown type"):
        dbus._reader("!")


# inputs


def test_inputs_that_are_well_pass() -> None:
    given_inputs = [
        {"do": "move", "x": 1, "y": 2, "seconds": 0.5},
        {"do": "press", "button": "left"},
        {"do": "wheel", "dx": 0, "dy": -3},
        {"do": "key_down", "key": "ctrl"},
        {"do": "key_up", "key": "+"},
        {"do": "write", "text": "Grüße 你好"},
        {"do": "pause", "seconds": 1},
    ]
    assert inputs.check(given_inputs) == given_inputs


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"do": "fly"}, "Unknown input 'fly'"),
        ({}, "Unknown input None"),
        ({"do": "move", "x": 1}, "needs 'y' as int"),
        ({"do": "move", "x": True, "y": 1}, "needs 'x' as int"),
        ({"do": "press", "button": "fourth"}, "Unknown button"),
        ({"do": "key_down", "key": "anykey"}, "Unknown key"),
        ({"do": "key_down", "key": ""}, "Unknown key"),
        ({"do": "pause", "seconds": -1}, "Seconds must be"),
        ({"do": "pause", "seconds": 61}, "Seconds must be"),
        ({"do": "pause", "seconds": float("nan")}, "Seconds must be"),
        ({"do": "write", "text": "a" * 20_001}, "too many at once"),
        ({"do": "wheel", "dx": 0, "dy": 10**9}, "at most"),
    ],
)
def test_wrong_inputs_are_named(wrong: dict, says: str) -> None:
    with pytest.raises(inputs.InputError, match=says):
        inputs.check([{"do": "pause", "seconds": 0}, wrong])


def test_too_much_at_once_is_refused() -> None:
    with pytest.raises(inputs.InputError, match="too many"):
        inputs.check([{"do": "pause", "seconds": 0}] * 2_001)
    with pytest.raises(inputs.InputError, match="90 seconds"):
        inputs.check([{"do": "pause", "seconds": 45}] * 2)
    with pytest.raises(inputs.InputError, match="list of objects"):
        inputs.check({"do": "pause"})


@given(st.characters(codec="utf-8", categories=("L", "N", "P", "S")))
def test_every_character_has_a_symbol_of_its_own(character: str) -> None:
    number = keys.of_key(character)
    assert number is not None
    assert chr(number if number < 0x1000000 else number - 0x1000000) == character


# the tree


def test_office_content_is_moved_to_where_it_is() -> None:
    program = Node("application", "soffice")
    line = [
        Node("frame", box=(0, 0, 200, 100)),
        Node("panel", box=(0, 30, 200, 100)),
        Node("root-pane", box=(0, 10, 200, 80)),
        Node("table", box=(20, 40, 100, 80)),
        Node("panel", box=(150, 20, 190, 60)),
        Node("panel", box=(150, 40, 190, 80)),  # the toolkit's own inside of it, which it tells right
    ]
    for parent, child in ((0, 1), (1, 2), (2, 3), (2, 4), (4, 5)):
        line[child].parent = line[parent]
        line[parent].children.append(line[child])
    line[0].parent = program
    program.children.append(line[0])
    assert office.wrong_by(line[3]) == (0, 20)
    office.set_right(program)
    assert [node.box for node in line] == [
        (0, 0, 200, 100),
        (0, 30, 200, 100),
        (0, 30, 200, 100),
        (20, 60, 100, 100),
        (150, 40, 190, 80),
        (150, 40, 190, 80),
    ]


def test_the_benchmarks_xml_is_well_formed_whatever_the_names_are() -> None:
    child = Node("push button", 'a"<&\x01', text="x\x00]]>", value="3", box=(1, 2, 11, 22), states=("showing",))
    root = Node("desktop-frame", children=[child, Node("1odd")])
    found = ElementTree.fromstring(treexml.write(root))
    button = found[0]
    assert button.tag == "push-button"
    assert button.get("name") == 'a"<&'
    assert button.text == "x]]>"
    place = "{https://accessibility.ubuntu.example.org/ns/component}"
    assert button.get(f"{place}screencoord") == "(1, 2)"
    assert button.get(f"{place}size") == "(10, 20)"
    assert button.get("{https://accessibility.ubuntu.example.org/ns/state}showing") == "true"


# files and commands


def test_both_kinds_of_forms_are_read() -> None:
    assert files.form(b"file_path=%2Ftmp%2Fa+b&x=", "application/x-www-form-urlencoded") == {
        "file_path": b"/tmp/a b",
        "x": b"",
    }
    content = bytes(range(256)) + b"\r\n--b"
    body = (
        b'--bo\r\nContent-Disposition: form-data; name="file_path"\r\n\r\n/tmp/x\r\n'
        b'--bo\r\nContent-Disposition: form-data; name="file_data"; filename="x"\r\nContent-Type: a/b\r\n\r\n'
        + content
        + b"\r\n--bo--\r\n"
    )
    found = files.form(body, "multipart/form-data; boundary=bo")
    assert found == {"file_path": b"/tmp/x", "file_data": content}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "multipart/form-data"),
        (b"--bo\r\n\r\nno name\r\n--bo--", "multipart/form-data; boundary=bo"),
        (b'--bo\r\nContent-Disposition: form-data; name="a"\r\n\r\nx', "multipart/form-data; boundary=bo"),
    ],
)
def test_broken_forms_are_errors(body: bytes, kind: str) -> None:
    with pytest.raises(files.FormError):
        files.form(body, kind)


def test_commands_are_taken_as_the_benchmark_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert commands.as_arguments("ls '~/a b' ~/c", False) == ["ls", f"{tmp_path}/a b", f"{tmp_path}/c"]
    assert commands.as_arguments(["echo", "$HOME; ls"], False) == ["echo", "$HOME; ls"]
    assert commands.as_arguments(["echo", "a"], True) == "echo a"


def test_a_command_ends_in_time_and_tells_what_it_said() -> None:
    ran = commands.run("echo out; echo err >&2; exit 3", shell=True, seconds=10)
    assert (ran.output, ran.error, ran.code) == ("out\n", "err\n", 3)
    with pytest.raises(commands.TookTooLong, match=r"0\.2 seconds"):
        commands.run(["sleep", "30"], shell=False, seconds=0.2)
    # one that leaves a program behind does not wait for it
    assert commands.run("sleep 6 & echo done", shell=True, seconds=4).output == "done\n"


def test_folders_are_listed_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f").touch()
    (tmp_path / "loop").symlink_to(tmp_path)
    assert files.directory_tree(tmp_path) == {
        "type": "directory",
        "name": tmp_path.name,
        "children": [
            {"type": "directory", "name": "a", "children": [{"type": "file", "name": "f"}]},
            {"type": "file", "name": "loop"},
        ],
    }
