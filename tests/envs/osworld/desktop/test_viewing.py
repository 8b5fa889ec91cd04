"""The view in the browser, of a machine that was recorded: who may see it, and what it passes on."""

from __future__ import annotations

import http.client
import io
import json
from collections.abc import Iterator
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("PIL")

from PIL import Image

from eapo_gym.envs.osworld.desktop import viewing
from eapo_gym.envs.osworld.desktop.viewing import DesktopView
from tests.envs.osworld.recorded import RecordedMachine, recorded_server


@pytest.fixture
def machine() -> Iterator[tuple[DesktopView, RecordedMachine]]:
    with recorded_server() as server, DesktopView(server.address) as view:
        thread = Thread(target=view.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield view, server.machine
        view.shutdown()
        thread.join()


def ask(
    view: DesktopView, method: str, place: str, body: Any = None, token: str | None = None
) -> tuple[int, bytes, Any]:
    address = urlsplit(view.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    said = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    connection.request(method, f"/{view.token if token is None else token}/{place}", said)
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def test_the_page_and_the_picture(machine: tuple[DesktopView, RecordedMachine]) -> None:
    view, _ = machine
    assert urlsplit(view.url).hostname == "127.0.0.1"
    status, page, headers = ask(view, "GET", "")
    assert (status, b'id="screen"' in page) == (200, True)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    status, picture, headers = ask(view, "GET", "screen?since=")
    assert (status, Image.open(io.BytesIO(picture)).size, headers["X-Stamp"]) == (200, (1920, 1080), "1")


def test_a_picture_that_is_known_is_not_sent_again(
    machine: tuple[DesktopView, RecordedMachine], monkeypatch: pytest.MonkeyPatch
) -> None:
    view, recorded = machine
    monkeypatch.setattr(viewing, "_PATIENCE", 0.1)
    assert ask(view, "GET", "screen?since=1")[:2] == (204, b"")
    recorded.go("menu")
    assert ask(view, "GET", "screen?since=1")[0] == 200


@pytest.mark.parametrize("token", ["", "x" * 32, "%2e%2e", "%C3%BC"])
def test_nobody_sees_or_does_anything_without_the_secret(
    machine: tuple[DesktopView, RecordedMachine], token: str
) -> None:
    view, recorded = machine
    for method, place in (("GET", ""), ("GET", "screen?since="), ("POST", "inputs")):
        assert ask(view, method, place, [{"do": "write", "text": "a"}], token)[0] == 404
    assert recorded.inputs == []
    assert recorded.asked == []


def test_hands_are_passed_on(machine: tuple[DesktopView, RecordedMachine]) -> None:
    view, recorded = machine
    inputs = [
        {"do": "move", "x": 60, "y": 31}, {"do": "press", "button": "left"}, {"do": "release", "button": "left"},
        {"do": "wheel", "dy": -300}, {"do": "key_down", "key": "ctrl"}, {"do": "key_up", "key": "ctrl"},
        {"do": "write", "text": "ü"},
    ]  # fmt: skip
    assert ask(view, "POST", "inputs", inputs)[0] == 204
    assert [each["do"] for each in recorded.inputs] == [each["do"] for each in inputs]
    assert recorded.inputs[3]["dy"] == -20
    assert recorded.state == "menu"


@pytest.mark.parametrize("body", [
    b"", b"{", {"do": "move"}, [{"do": "move", "x": "a", "y": 1}], [{"do": "run"}], [{"do": "press", "button": "side"}],
    [["do"]], [{}], [{"do": "wheel", "dy": 1}] * 300, b"[" * 70_000, b"[" * 60_000,
    [{"do": "move", "x": 1e999, "y": 0}],
])  # fmt: skip
def test_what_is_no_input_does_nothing(machine: tuple[DesktopView, RecordedMachine], body: Any) -> None:
    view, recorded = machine
    status, said, _ = ask(view, "POST", "inputs", body)
    assert (status, said.startswith(b"Expected a list of inputs: ")) == (400, True)
    assert recorded.inputs == []


def test_a_desktop_that_is_gone_is_told(machine: tuple[DesktopView, RecordedMachine]) -> None:
    view, recorded = machine
    recorded.misbehave("status", times=50)
    status, said, _ = ask(view, "GET", "screen?since=")
    assert (status, said.startswith(b"The desktop does not do it: ")) == (502, True)
