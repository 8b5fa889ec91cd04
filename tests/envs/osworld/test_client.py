"""The client against a server that answers from recordings, and against one that misbehaves in every way there is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np
import pytest

from eapo_gym.envs.osworld import client
from eapo_gym.envs.osworld.client import HttpComputer
from eapo_gym.envs.osworld.computer import Computer, ComputerError, Ran
from eapo_gym.envs.osworld.connection import Connection
from eapo_gym.envs.osworld.inputs import KeyDown, KeyUp, Move, MoveBy, Pause, Press, Release, Wheel, Write
from tests.envs.osworld.recorded import RecordedServer, recorded_screen, recorded_server, recorded_tree

CLICK_ON_EDIT = (Move(60, 31), Press(), Release())


@pytest.fixture(params=["tcp", "socket"])
def server(request, tmp_path) -> Iterator[RecordedServer]:
    """With our routes, at a port and at a socket."""
    with recorded_server(str(tmp_path / "s") if request.param == "socket" else None) as running:
        yield running


@pytest.fixture
def plain() -> Iterator[RecordedServer]:
    """With the benchmark's routes alone."""
    with recorded_server(with_ours=False) as running:
        yield running


def computer_at(server: RecordedServer) -> HttpComputer:
    computer: Computer = HttpComputer(server.address)
    assert isinstance(computer, HttpComputer)
    return computer


def test_what_it_shows_by_our_routes(server):
    computer = computer_at(server)
    assert computer.size == (1920, 1080)
    assert computer.home == PurePosixPath("/home/user")
    assert np.array_equal(computer.screenshot(), recorded_screen("cells"))
    assert computer.tree() == recorded_tree("cells")
    assert computer.active_window() == "Untitled 1 - LibreOffice Calc"
    assert "GET /eapo/screen" in server.machine.asked
    assert "GET /screenshot" not in server.machine.asked
    assert server.machine.connections == 1, "one connection for all of it"


def test_what_it_shows_by_the_benchmarks_routes(plain):
    computer = computer_at(plain)
    assert np.array_equal(computer.screenshot(), recorded_screen("cells"))
    assert computer.tree() == recorded_tree("cells")
    assert computer.active_window() == "Untitled 1 - LibreOffice Calc"
    assert not computer.has_stamps
    assert plain.machine.asked.count("GET /eapo") == 1, "asked once, not each time"


def test_every_input_has_its_name_on_the_wire(server):
    inputs = [Move(1, 2, 0.5), MoveBy(-3, 4), Press("right"), Release("right"), Wheel(0, -3)]
    inputs += [KeyDown("ctrl"), KeyUp("ctrl"), Write("Grüße 你好\n"), Pause(0.1)]
    computer_at(server).act(inputs)
    assert server.machine.inputs == [
        {"do": "move", "x": 1, "y": 2, "seconds": 0.5},
        {"do": "move_by", "dx": -3, "dy": 4, "seconds": 0.0},
        {"do": "press", "button": "right"},
        {"do": "release", "button": "right"},
        {"do": "wheel", "dx": 0, "dy": -3},
        {"do": "key_down", "key": "ctrl"},
        {"do": "key_up", "key": "ctrl"},
        {"do": "write", "text": "Grüße 你好\n"},
        {"do": "pause", "seconds": 0.1},
    ]


def test_inputs_lead_from_state_to_state(server):
    computer = computer_at(server)
    before = computer.stamp()
    computer.act(CLICK_ON_EDIT)
    assert server.machine.state == "menu"
    assert computer.stamp().number != before.number
    assert computer.tree() == recorded_tree("menu")
    computer.act([KeyDown("esc"), KeyUp("esc")])
    assert server.machine.state == "cells"


def test_without_our_routes_inputs_are_code(plain):
    computer_at(plain).act(CLICK_ON_EDIT)
    (command,) = plain.machine.commands
    assert command[:2] == ["python", "-c"]
    assert "pyautogui" in command[2]
    assert plain.machine.state == "menu"


def test_code_that_fails_is_an_error(plain):
    plain.machine.codes["python"] = 1
    with pytest.raises(ComputerError, match="expected success, got status 1"):
        computer_at(plain).act(CLICK_ON_EDIT)


def test_nothing_to_do_asks_nothing(server):
    computer_at(server).act([])
    assert server.machine.asked == []


def test_commands(server):
    computer = computer_at(server)
    assert computer.execute(["ls", "-l", "a b"]) == Ran("", "", 0)
    computer.execute("ls -l 'a b'")
    computer.execute("ls | wc", shell=True)
    computer.execute(["echo", "a b"], shell=True)
    assert server.machine.commands == [["ls", "-l", "a b"]] * 2 + ["ls | wc", "echo 'a b'"]
    server.machine.codes["false"] = 1
    assert computer.execute(["false"]).code == 1, "what a command ends with is for the caller to judge"
    computer.launch("soffice --calc")
    assert server.machine.launched == [["soffice", "--calc"]]


def test_files(server):
    computer = computer_at(server)
    content = b"\x00--eapo-gym-form\r\n\xff" * 1000
    assert computer.read_file("/home/user/a.bin") is None
    computer.write_file("/home/user/a.bin", content)
    assert computer.read_file("/home/user/a.bin") == content
    computer.write_file("/home/user/new/Grüße b.txt", b"")
    assert server.machine.commands == [["mkdir", "-p", "--", "/home/user/new"]]
    assert computer.read_file("/home/user/new/Grüße b.txt") == b""


def test_a_file_that_cannot_be_written(server):
    server.machine.codes["mkdir"] = 1
    with pytest.raises(ComputerError, match=r"mkdir on .* expected success, got status 1"):
        computer_at(server).write_file("/nowhere/a", b"")


def test_files_are_opened_and_windows_found(server):
    computer = computer_at(server)
    computer.write_file("/home/user/a.ods", b"x")
    computer.open_file("/home/user/a.ods")
    with pytest.raises(ComputerError, match=r"status 404: File not found: /home/user/b\.ods"):
        computer.open_file("/home/user/b.ods")
    computer.activate_window("Calc")
    computer.close_window("Untitled 1", strict=True)
    with pytest.raises(ComputerError, match=r"POST /setup/activate_window .* status 404: Window GIMP not found"):
        computer.activate_window("GIMP")
    assert server.machine.windows_asked == [("activate", "Calc"), ("close", "Untitled 1"), ("activate", "GIMP")]


# A server that misbehaves

SENTENCES = {
    "cut": "expected an answer, got IncompleteRead",
    "status": "expected success, got status 500: .*the screen is gone",
    "not json": "expected JSON, got <html>Hello",
    "huge": "expected at most .* bytes, got 1099511627776",
    "endless": "expected at most .* bytes, got more",
    "nothing": "is the machine running",
    "wrong fields": "expected JSON with",
    "garbage": "expected an answer, got BadStatusLine",
}


@pytest.mark.parametrize("trouble", SENTENCES)
@pytest.mark.parametrize("asks", ["tree", "stamp", "execute", "size"])
def test_trouble_is_one_sentence_and_passes(server, trouble, asks):
    computer = computer_at(server)
    computer._connection.most = 1 << 22
    assert computer.routes
    calls = {
        "tree": computer.tree,
        "stamp": computer.stamp,
        "execute": lambda: computer.execute(["true"]),
        "size": lambda: computer.size,
    }
    server.machine.misbehave(trouble, times=2)
    with pytest.raises(ComputerError, match=SENTENCES[trouble]) as caught:
        calls[asks]()
    assert "\n" not in str(caught.value)
    assert server.address in str(caught.value)
    server.machine.times = 0
    calls[asks]()


def test_a_question_is_asked_again_where_the_answer_was_cut_off(server):
    computer = computer_at(server)
    assert computer.routes
    for trouble in ("cut", "nothing", "garbage"):
        server.machine.misbehave(trouble, times=1)
        assert computer.stamp().number == 1


def test_what_may_have_been_done_is_not_done_again(server):
    computer = computer_at(server)
    assert computer.routes
    server.machine.misbehave("nothing", times=1)
    with pytest.raises(ComputerError):
        computer.act(CLICK_ON_EDIT)
    assert server.machine.asked.count("POST /eapo/inputs") == 1


def test_a_machine_that_hangs(server):
    asking = Connection(server.address)
    server.machine.misbehave("hang")
    started = time.monotonic()
    with pytest.raises(ComputerError, match=r"expected an answer within 0\.2 s, got none: .* restart it"):
        asking.get("/eapo/stamp", seconds=0.2)
    assert time.monotonic() - started < 5, "asked once: it would hang again"
    assert asking.get("/eapo/stamp").ok


def test_a_server_that_was_started_again_is_found_again(server):
    computer = computer_at(server)
    assert computer.stamp().number == 1
    server.drop()
    computer.act(CLICK_ON_EDIT)
    assert server.machine.inputs, "the connection had ended before anything was sent on it"
    server.stop()
    with pytest.raises(ComputerError, match="is the machine running"):
        computer.stamp()
    server.start()
    assert computer.stamp().number == 2


def test_nobody_there(tmp_path):
    for address in ("http://127.0.0.1:1", str(tmp_path / "nothing")):
        with pytest.raises(ComputerError, match="is the machine running"):
            assert HttpComputer(address).size


def test_addresses_that_are_none():
    for address in ("ftp://there", "http://", "http://host/with/path"):
        with pytest.raises(ValueError, match="expected an address such as"):
            HttpComputer(address)


@pytest.mark.parametrize(
    ("headers", "size", "why"),
    [
        ({"X-Eapo-Width": "2", "X-Eapo-Height": "2", "X-Eapo-Format": "RGB"}, 16, "expected pixels as BGRX"),
        ({"X-Eapo-Width": "2", "X-Eapo-Format": "BGRX"}, 16, "expected pixels as BGRX"),
        ({"X-Eapo-Width": "2", "X-Eapo-Height": "2", "X-Eapo-Format": "BGRX"}, 15, "expected 2 × 2 × 4 bytes, got 15"),
        ({"X-Eapo-Width": "0", "X-Eapo-Height": "2", "X-Eapo-Format": "BGRX"}, 0, "expected 0 × 2 × 4 bytes"),
    ],
)
def test_pixels_that_are_none(server, monkeypatch, headers, size, why):
    monkeypatch.setitem(
        __import__("tests.envs.osworld.recorded", fromlist=["_OURS"])._OURS,
        ("GET", "/eapo/screen"),
        lambda *_: (200, "application/octet-stream", b"x" * size, headers),
    )
    with pytest.raises(ComputerError, match=why):
        computer_at(server).screenshot()


@pytest.mark.parametrize("png", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n" + b"x" * 50, recorded_screen])
def test_pictures_that_are_none(plain, monkeypatch, png):
    if callable(png):
        monkeypatch.setattr(client, "_MOST_PIXELS", 1000)
        png, why = plain.machine.png(), "expected a screen, got 1920 × 1080 pixels"
    else:
        why = "expected a PNG"
    monkeypatch.setattr(type(plain.machine), "png", lambda self: png)
    with pytest.raises(ComputerError, match=why):
        computer_at(plain).screenshot()


def test_a_token_is_sent_with_every_request(server, monkeypatch):
    seen = []
    handler = __import__("tests.envs.osworld.recorded", fromlist=["_Handler"])._Handler
    answer = handler._answer

    def noting(self, method):
        seen.append(self.headers.get("Authorization"))
        answer(self, method)

    monkeypatch.setattr(handler, "_answer", noting)
    computer = HttpComputer(server.address, token="secret")
    computer.execute(["true"])
    assert computer.size
    assert seen == ["Bearer secret"] * 2
