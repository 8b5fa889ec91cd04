"""A desktop that runs: what it does, and what it does not let out or in."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eapo_gym.envs.osworld.computer import ComputerError
from eapo_gym.envs.osworld.desktop import LocalDesktop
from eapo_gym.envs.osworld.desktop.local import _Connection
from eapo_gym.envs.osworld.desktop.needs import missing_apps, missing_packages, needs, sandbox_problem

_MISSING = missing_packages()
_PROBLEM = f"packages are missing: {', '.join(_MISSING)}" if _MISSING else sandbox_problem()

pytestmark = pytest.mark.skipif(_PROBLEM is not None, reason=f"The local desktop cannot start here: {_PROBLEM}")

needs_apps = pytest.mark.skipif(
    bool({"xterm", "mousepad"} & set(missing_apps())), reason="xterm and mousepad are not installed"
)


def ask(desktop: LocalDesktop, method: str, route: str, body: Any = None) -> tuple[int, Any]:
    """Code and content: JSON as what it says, the rest as bytes."""
    connection = _Connection(desktop.socket, 60)
    try:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        connection.request(method, route, body=content or (b"" if method == "POST" else None), headers=headers)
        answer = connection.getresponse()
        data = answer.read()
        is_json = answer.headers.get("Content-Type") == "application/json"
        return answer.status, json.loads(data) if is_json else data
    finally:
        connection.close()


def run(desktop: LocalDesktop, command: str) -> dict[str, Any]:
    code, ran = ask(desktop, "POST", "/execute", {"command": command, "shell": True})
    assert code == 200
    return dict(ran)


def upload(desktop: LocalDesktop, path: str, content: bytes) -> int:
    body = (
        f'--mark\r\nContent-Disposition: form-data; name="file_path"\r\n\r\n{path}\r\n--mark\r\n'
        'Content-Disposition: form-data; name="file_data"; filename="x"\r\n\r\n'
    ).encode()
    connection = _Connection(desktop.socket, 60)
    headers = {"Content-Type": "multipart/form-data; boundary=mark"}
    connection.request("POST", "/setup/upload", body + content + b"\r\n--mark--\r\n", headers)
    code = connection.getresponse().status
    connection.close()
    return code


def fetch(address: str, headers: dict[str, str]) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=20) as answer:
        return bytes(answer.read())


def until(condition: Any, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def play(desktop: LocalDesktop, *inputs: dict[str, Any]) -> None:
    assert ask(desktop, "POST", "/eapo/inputs", {"inputs": list(inputs)}) == (200, {"played": len(inputs)})


@pytest.fixture(scope="module")
def running() -> Iterator[LocalDesktop]:
    with LocalDesktop(1024, 700) as desktop:
        yield desktop


@pytest.fixture
def desktop(running: LocalDesktop) -> LocalDesktop:
    running.restart_session()
    return running


# what it is


def test_the_screen_is_as_it_was_ordered(desktop: LocalDesktop) -> None:
    assert ask(desktop, "POST", "/screen_size") == (200, {"width": 1024, "height": 700})
    connection = _Connection(desktop.socket, 10)
    connection.request("GET", "/eapo/screen")
    answer = connection.getresponse()
    pixels = np.frombuffer(answer.read(), np.uint8).reshape(700, 1024, 4)
    connection.close()
    assert (answer.headers["X-Eapo-Width"], answer.headers["X-Eapo-Height"]) == ("1024", "700")
    assert answer.headers["X-Eapo-Format"] == "BGRX"
    # the background, in the corner in which nothing else is
    assert pixels[-5, -5, :3].tolist() == [0x40, 0x34, 0x2E]
    _, png = ask(desktop, "GET", "/screenshot")
    assert png.startswith(b"\x89PNG")


def test_the_user_is_who_the_tasks_speak_of(desktop: LocalDesktop) -> None:
    assert run(desktop, "whoami; echo ~; pwd")["output"].split() == ["user", "/home/user", "/home/user"]
    assert ask(desktop, "POST", "/desktop_path")[1] == {"desktop_path": "/home/user/Desktop"}
    assert ask(desktop, "GET", "/platform")[1] == b"Linux"
    assert run(desktop, "python -c 'import sys; print(sys.version_info[0])'")["output"] == "3\n"


def test_files_go_in_and_come_out(desktop: LocalDesktop) -> None:
    content = bytes(range(256)) * 100
    assert upload(desktop, "~/Documents/new folder/file.bin", content) == 200
    connection = _Connection(desktop.socket, 10)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/file", "file_path=%2Fhome%2Fuser%2FDocuments%2Fnew+folder%2Ffile.bin", form)
    assert connection.getresponse().read() == content
    connection.close()
    assert (desktop.home / "Documents" / "new folder" / "file.bin").read_bytes() == content
    assert ask(desktop, "POST", "/file", {"file_path": "/home/user/nothing"})[0] == 404


def test_what_is_wrong_is_said_in_a_sentence(desktop: LocalDesktop) -> None:
    for route, body, code in (
        ("/eapo/inputs", {"inputs": [{"do": "fly"}]}, 400),
        ("/execute", {"command": 5}, 400),
        ("/setup/launch", {"command": ["no-such-program"]}, 500),
        ("/setup/activate_window", {"window_name": "none"}, 404),
        ("/setup/open_file", {"path": "/home/user/none"}, 404),
        ("/no/such/route", {}, 404),
        ("/execute", {"command": "sleep 20", "timeout": 0.2}, 408),
    ):
        found, answer = ask(desktop, "POST", route, body)
        assert found == code, route
        assert answer["error"].endswith(".")


# what it does


@needs_apps
def test_windows_open_take_text_and_close(desktop: LocalDesktop) -> None:
    upload(desktop, "~/Desktop/note.txt", b"")
    assert ask(desktop, "POST", "/setup/open_file", {"path": "~/Desktop/note.txt"})[0] == 200
    assert until(lambda: "note.txt" in ask(desktop, "GET", "/eapo/windows")[1]["active"])
    ask(desktop, "GET", "/eapo/quiet?still=0.3&limit=5")
    play(desktop, {"do": "write", "text": "Grüße, 你好 €😀!\nA%{}~"})
    play(desktop, *({"do": do, "key": key} for do, key in (("key_down", "ctrl"), ("key_down", "s"))))
    play(desktop, *({"do": do, "key": key} for do, key in (("key_up", "s"), ("key_up", "ctrl"))))
    note = desktop.home / "Desktop" / "note.txt"
    assert until(lambda: note.read_text(encoding="utf-8").strip() == "Grüße, 你好 €😀!\nA%{}~"), note.read_bytes()
    tree = ask(desktop, "GET", "/eapo/tree?seconds=10")[1]
    assert tree["late"] == []
    texts = [node for node in _walk(tree["tree"]) if "Grüße" in node.get("text", "")]
    assert texts
    assert texts[0]["box"][2] <= 1024
    assert "focused" in texts[0]["states"]
    assert ask(desktop, "POST", "/setup/close_window", {"window_name": "mousepad", "by_class": True})[0] == 200
    assert until(lambda: ask(desktop, "GET", "/eapo/windows")[1]["windows"] == [])


@needs_apps
def test_a_program_that_hangs_costs_its_time_and_no_more(desktop: LocalDesktop) -> None:
    ask(desktop, "POST", "/setup/launch", {"command": ["mousepad"]})

    def look(seconds: float) -> tuple[list[str], list[str]]:
        found = ask(desktop, "GET", f"/eapo/tree?seconds={seconds}")[1]
        return [program["name"] for program in found["tree"]["children"]], found["late"]

    assert until(lambda: "mousepad" in look(10)[0])
    run(desktop, "pkill -STOP mousepad")
    programs, late = look(5)
    assert late == ["mousepad"]
    assert programs == ["eapo-dock"]
    run(desktop, "pkill -CONT mousepad")
    assert until(lambda: "mousepad" in look(10)[0])


@needs_apps
def test_clicks_reach_what_is_there(desktop: LocalDesktop) -> None:
    tree = ask(desktop, "GET", "/eapo/tree?seconds=10")[1]["tree"]
    left, top, right, bottom = next(node["box"] for node in _walk(tree) if node.get("name") == "Terminal")
    place = {"do": "move", "x": (left + right) // 2, "y": (top + bottom) // 2}
    play(desktop, place, {"do": "press", "button": "left"}, {"do": "release", "button": "left"})
    assert until(lambda: bool(ask(desktop, "GET", "/eapo/windows")[1]["windows"]))
    window = ask(desktop, "GET", "/eapo/windows")[1]["windows"][0]
    assert window["class"] == "xterm.XTerm"
    assert window["box"][2:] == [1024, 700]  # maximised
    assert ask(desktop, "GET", "/cursor_position")[1] == [place["x"], place["y"]]


@needs_apps
def test_a_stamp_tells_of_a_change(desktop: LocalDesktop) -> None:
    quiet = ask(desktop, "GET", "/eapo/quiet?still=0.2&limit=5")[1]
    assert ask(desktop, "GET", "/eapo/stamp")[1] == {"stamp": quiet["stamp"], "window": ""}
    ask(desktop, "POST", "/setup/launch", {"command": ["xterm"]})
    found = ask(desktop, "GET", f"/eapo/quiet?since={quiet['stamp']}&first=20&still=0.1&limit=25")[1]
    assert found["changed"]
    assert found["stamp"] != quiet["stamp"]


def test_scripts_of_tasks_move_the_same_hands(desktop: LocalDesktop) -> None:
    code, answer = ask(desktop, "POST", "/run_python", {"code": "import pyautogui; pyautogui.moveTo(300, 200)"})
    assert (code, answer["status"]) == (200, "success")
    assert ask(desktop, "GET", "/cursor_position")[1] == [300, 200]


def test_a_home_is_kept_and_comes_back(desktop: LocalDesktop) -> None:
    run(desktop, "echo first > ~/Desktop/a; ln -s /etc/passwd ~/link; echo x > /tmp/left")
    copy = desktop.save_home()
    run(desktop, "echo second > ~/Desktop/a; rm ~/link; mkdir ~/b")
    desktop.load_home(copy)
    assert run(desktop, "cat ~/Desktop/a; readlink ~/link; ls -d ~/b /tmp/left")["output"].split() == [
        "first",
        "/etc/passwd",
    ]


def test_programs_end_with_their_session(desktop: LocalDesktop) -> None:
    ask(desktop, "POST", "/setup/launch", {"command": "trap '' TERM; (sleep 1000 &) ; sleep 1000", "shell": True})
    assert until(lambda: run(desktop, "pgrep -c sleep")["output"].strip() == "2")
    desktop.restart_session()
    assert run(desktop, "pgrep -c sleep")["output"].strip() == "0"
    assert desktop.is_alive()


# what it does not let out or in


def test_there_is_no_network(desktop: LocalDesktop) -> None:
    assert run(desktop, "cut -d: -f1 /proc/net/dev | tail -n +3")["output"].split() == ["lo"]
    script = "import socket; socket.create_connection(('1.1.1.1', 53), 2)"
    assert "unreachable" in run(desktop, f'python3 -c "{script}"')["error"]
    assert ask(desktop, "POST", "/setup/download_file", {"url": "https://example.org", "path": "x"})[0] == 400


def test_nothing_of_this_machine_is_there(
    desktop: LocalDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAPO_SECRET", "token")
    desktop.restart()
    (tmp_path / "file").write_text("private")
    seen = run(desktop, f"ls -A /root /home /tmp {tmp_path} /proc/1/cwd/etc; cat /etc/shadow; env")
    assert "private" not in run(desktop, f"cat {tmp_path}/file")["output"]
    assert "/etc/shadow" in seen["error"]
    assert run(desktop, "ls /home")["output"] == "user\n"
    assert "EAPO_SECRET" not in seen["output"]


def test_only_its_own_processes_are_there(desktop: LocalDesktop) -> None:
    programs = run(desktop, "cat /proc/[0-9]*/comm")["output"].split()
    assert 3 < len(programs) < 25
    assert "pytest" not in programs
    assert str(os.getpid()) not in run(desktop, "ls /proc")["output"].split() or os.getpid() < 100


def test_nothing_but_home_and_memory_can_be_written(desktop: LocalDesktop) -> None:
    for place in ("/", "/usr", "/etc", "/opt/eapo", "/opt/eapo/bin", "/dev", "/proc/sys/kernel", "/home", "/var"):
        assert run(desktop, f"touch {place}/x")["returncode"] != 0, place
    for place in ("/home/user", "/tmp", "/dev/shm"):
        assert run(desktop, f"touch {place}/x")["returncode"] == 0, place


def test_nobody_is_more_than_the_user(desktop: LocalDesktop) -> None:
    status = run(desktop, "cat /proc/self/status")["output"]
    lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert lines["Uid"].split() == ["1000"] * 4
    assert int(lines["CapEff"], 16) == int(lines["CapBnd"], 16) == 0
    assert lines["NoNewPrivs"] == "1"
    if os.geteuid() == 0:
        assert desktop.home.stat().st_uid != 0


def test_links_out_of_the_home_lead_nowhere(desktop: LocalDesktop, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o777)
    (outside / "file").write_text("private")
    run(desktop, f"ln -s {outside} ~/Desktop/folder; ln -s {outside}/file ~/Desktop/file")
    upload(desktop, "~/Desktop/folder/new", b"content")
    upload(desktop, "~/Desktop/file", b"content")
    desktop.load_home(desktop.save_home())
    assert (outside / "file").read_text() == "private"
    assert [entry.name for entry in outside.iterdir()] == ["file"]


# how it lives and ends


def test_tcp_is_for_programs_of_this_machine(desktop: LocalDesktop) -> None:
    host, port = desktop.serve_tcp()
    assert host == "127.0.0.1"
    assert fetch(f"http://{host}:{port}/platform", {}) == b"Linux"
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            fetch(f"http://{host}:{port}/platform", headers)
    with pytest.raises(ValueError, match="token"):
        desktop.serve_tcp(host="0.0.0.0")


def test_a_token_is_asked_for(desktop: LocalDesktop) -> None:
    host, port = desktop.serve_tcp(token="right")
    address = f"http://{host}:{port}/platform"
    for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "right"}):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            fetch(address, wrong)
    assert fetch(address, {"Authorization": "Bearer right"}) == b"Linux"


def test_a_port_of_the_desktop_can_be_reached(desktop: LocalDesktop) -> None:
    run(desktop, "echo inside > ~/Public/page; (python3 -m http.server -b 127.0.0.1 -d ~/Public 9222 >& /dev/null &)")
    host, port = desktop.serve_port(9222)

    def page() -> bytes:
        try:
            return fetch(f"http://{host}:{port}/page", {})
        except (OSError, http.client.HTTPException):
            return b""

    assert until(lambda: page() == b"inside\n")


def test_two_at_once_do_not_meet(desktop: LocalDesktop) -> None:
    with LocalDesktop(640, 480) as other:
        run(other, "touch ~/other")
        assert ask(other, "POST", "/screen_size")[1] == {"width": 640, "height": 480}
        assert not (desktop.home / "other").exists()
        folder = other.home.parent
        assert folder.stat().st_mode & 0o066 == 0
        assert other.home.stat().st_mode & 0o077 == 0
    assert not folder.exists()
    assert desktop.is_alive()


def test_a_part_that_died_is_noticed_and_starts_anew() -> None:
    desktop = LocalDesktop(640, 480)
    with pytest.raises(ComputerError, match="has not been started"):
        desktop.check()
    with desktop:
        run(desktop, "echo kept > ~/file; pkill openbox")
        assert until(lambda: not desktop.is_alive())
        with pytest.raises(ComputerError, match="window manager died"):
            desktop.check()
        desktop.restart()
        assert desktop.is_alive()
        assert run(desktop, "cat ~/file")["output"] == "kept\n"
        assert desktop._process is not None
        os.kill(desktop._process.pid, signal.SIGKILL)
        assert until(lambda: not desktop.is_alive())
        with pytest.raises(ComputerError):
            desktop.restart_session()


def test_sizes_that_are_none_are_refused() -> None:
    for size in ((0, 0), (100_000, 800), ("1920", 1080), (True, 1080)):
        with pytest.raises(ValueError, match="screen must be"):
            LocalDesktop(*size)  # type: ignore[arg-type]


def test_the_doctor_finds_it(desktop: LocalDesktop) -> None:
    assert needs()[0].ok


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("children", []):
        yield from _walk(child)
