"""The game in the browser, over HTTP: a server process of its own, spoken to as a program and as a browser does."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from eapo_gym.bench.live.server import MAX_BODY
from eapo_gym.bench.store import load_run
from eapo_gym.cli.playing import hint
from eapo_gym.envs.alfworld.env import ALFWorldEnv
from eapo_gym.envs.alfworld.experts import plan
from eapo_gym.protocol import parse
from eapo_gym.wrappers import apply_schema
from tests.toys import Corridor

ROOT = Path(__file__).parents[2]
TASK = "train/key-in-1"
WAY = ("right", "take key", "right", "right", "unlock door")


class Fragile(Corridor):
    def step(self, action: str) -> Any:
        if action == "light lamp":
            raise RuntimeError("the lamp explodes")
        return super().step(action)


class Hanging(Corridor):
    def step(self, action: str) -> Any:
        if action == "light lamp":
            time.sleep(3600)
        return super().step(action)


def wrapped(**kwargs: Any) -> Any:
    """In the explore schema already, and without a rollback."""
    return apply_schema(Corridor(**kwargs), "explore", None)


class Unlucky(Corridor):
    def tasks(self, split: str | None = None) -> list[str]:
        if split == "broken":
            raise ZeroDivisionError("no such luck")
        return super().tasks(split)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if self.choose_task(options).endswith("key-in-3"):
            raise ZeroDivisionError("no such luck")
        return super().reset(seed=seed, options=options)


@dataclass
class Played:
    """A server that is up, and how to speak to it."""

    process: subprocess.Popen[str]
    port: int
    token: str
    out: Path

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> tuple[int, dict[str, str], Any]:
        """The status, the headers, and the JSON or text; a header that is None is left out."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        usual = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}"}
        if data is not None:
            usual |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
        sent = {name: value for name, value in {**usual, **(headers or {})}.items() if value is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders()
            if data:
                connection.send(data)
            answer = connection.getresponse()
            content = answer.read()
            found = dict(answer.getheaders())
            is_json = found.get("Content-Type") == "application/json"
            return answer.status, found, json.loads(content) if is_json else content
        finally:
            connection.close()

    def state(self) -> Any:
        status, _, state = self.send("GET", "/api/state")
        assert status == 200, state
        return state

    def post(self, path: str, **body: Any) -> tuple[int, Any]:
        status, _, said = self.send("POST", path, body)
        return status, said

    def act(self, command: str, **more: Any) -> tuple[int, Any]:
        return self.post("/api/act", **{"version": self.state()["version"], "command": command, **more})

    def stop(self, number: int = signal.SIGINT) -> str:
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=30)
        return rest


@contextmanager
def playing(out: Path, target: str = "tests.toys:Corridor", **arguments: Any) -> Iterator[Played]:
    """`play_web` in a process of its own."""
    arguments = {"kwargs": {}, **arguments}
    program = (
        "import sys, json; from pathlib import Path; from eapo_gym.cli.playing_web import play_web; "
        "target, out, more = sys.argv[1:]; more = json.loads(more); "
        "play_web(target, more.pop('kwargs'), out=Path(out), **more)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, target, str(out), json.dumps(arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "300"},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Play here:"), line + process.stdout.read()
        url = urlsplit(line.split()[-1])
        assert url.port is not None
        yield Played(process, url.port, parse_qs(url.query)["token"][0], out)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """For tests that do not mind what was played before."""
    with playing(tmp_path_factory.mktemp("live") / "run") as played:
        yield played


# Who may


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/tasks", "/api/picture/x.webp", "/nothing"])
@pytest.mark.parametrize("token", [None, "", "Bearer wrong", "Bearer é"])
def test_nothing_is_shown_without_the_token(shared: Played, path: str, token: str | None) -> None:
    status, _, said = shared.send("GET", path, headers={"Authorization": token})
    assert status == 403
    assert "token" in said["error"]


@pytest.mark.parametrize("path", ["/api/act", "/api/begin", "/api/hint"])
def test_nothing_is_done_without_the_token(shared: Played, path: str) -> None:
    before = shared.state()["version"]
    origin = f"http://127.0.0.1:{shared.port}"
    status, _, _ = shared.send("POST", path, {}, headers={"Authorization": None, "Origin": origin})
    assert status == 403
    assert shared.state()["version"] == before


def test_the_address_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(shared: Played) -> None:
    status, _, _ = shared.send("GET", "/?token=wrong", headers={"Authorization": None})
    assert status == 403
    status, headers, _ = shared.send("GET", f"/?token={shared.token}", headers={"Authorization": None})
    assert (status, headers["Location"]) == (303, "/")
    cookie, *attributes = headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(attributes)
    with_cookie = {"Authorization": None, "Cookie": f"other=1; {cookie}"}
    status, headers, page = shared.send("GET", "/", headers=with_cookie)
    assert status == 200
    assert b"EpisodeViewer" in page
    assert shared.token.encode() not in page


def test_the_page_may_run_its_own_script_and_nothing_else(shared: Played) -> None:
    _, headers, _ = shared.send("GET", "/")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.:{port}"]
)
def test_a_foreign_name_that_points_here_is_refused(shared: Played, host: str) -> None:
    status, _, said = shared.send("GET", "/api/state", headers={"Host": host.format(port=shared.port)})
    assert status == 421
    assert "address" in said["error"]


def test_local_names_are_its_own(shared: Played) -> None:
    for name in ("localhost", "LOCALHOST", "[::1]"):
        status, _, _ = shared.send("GET", "/api/state", headers={"Host": f"{name}:{shared.port}"})
        assert status == 200


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://localhost:{port}", "https://127.0.0.1:{port}"]
)
def test_a_post_of_another_page_is_refused_even_with_the_cookie(shared: Played, origin: str | None) -> None:
    before = shared.state()["version"]
    headers = {
        "Authorization": None,
        "Cookie": f"eapo_play_{shared.port}={shared.token}",
        "Origin": None if origin is None else origin.format(port=shared.port),
    }
    status, _, _ = shared.send("POST", "/api/begin", {}, headers=headers)
    assert status == 403
    assert shared.state()["version"] == before
    own = {**headers, "Origin": f"http://127.0.0.1:{shared.port}"}
    assert shared.send("POST", "/api/begin", {}, headers=own)[0] == 200


# What is asked


@pytest.mark.parametrize(
    ("body", "headers", "status", "said"),
    [
        (b"{", {}, 400, "not JSON"),
        (b"[" * 100_000, {}, 400, "not JSON"),
        (b"\xff", {}, 400, "not JSON"),
        (b"[1]", {}, 400, "expected a JSON object, got list"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "application/json"),
        (b"{}", {"Content-Type": None}, 415, "application/json"),
        (b"", {"Content-Length": None}, 411, "Content-Length"),
        (b"", {"Content-Length": "-1"}, 411, "Content-Length"),
        (b" " * (MAX_BODY + 1), {}, 413, "1048576"),
        ({"command": "look"}, {}, 400, "version"),
        ({"command": "look", "version": True}, {}, 400, "version"),
        ({"command": 3, "version": 1}, {}, 400, "command: expected a text, got int"),
        ({"command": "look", "version": 1, "memory": "m" * 200_000}, {}, 413, "memory"),
        ({"command": " ", "version": 1}, {}, 422, "no command"),
    ],
)
def test_a_request_that_makes_no_sense_is_told_so(
    shared: Played, body: Any, headers: dict[str, str | None], status: int, said: str
) -> None:
    before = shared.state()["version"]
    got, _, answer = shared.send("POST", "/api/act", body, headers)
    assert (got, said in answer["error"]) == (status, True), answer
    assert shared.state()["version"] == before


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_address_that_is_none_is_told_so(shared: Played, method: str) -> None:
    status, _, said = shared.send(method, "http://[", b"{}" if method == "POST" else None)
    assert (status, "is no address" in said["error"]) == (400, True)


def test_a_body_that_is_announced_and_too_large_is_not_waited_for(shared: Played) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=20)
    connection.putrequest("POST", "/api/act")
    connection.putheader("Authorization", f"Bearer {shared.token}")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(10**11))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_names_that_are_not_there(shared: Played) -> None:
    shared.post("/api/begin", task=TASK)
    before = shared.state()
    status, said = shared.post("/api/begin", task="train/key-in-9")
    assert status == 422
    assert "Did you mean" in said["error"]
    assert shared.state()["version"] == before["version"], "a name that is mistyped does not end the episode"
    assert shared.post("/api/nothing")[0] == 404
    assert shared.send("GET", "/api/picture/..%2Frun.json")[0] == 404
    assert shared.send("GET", "/api/picture/" + quote("../run.json"))[0] == 404
    assert shared.send("GET", "/api/state?after=x")[0] == 400
    assert shared.send("DELETE", "/api/state")[0] == 501
    assert shared.post("/api/hint") == (409, {"error": "No oracle knows this environment."})


def test_a_command_that_is_hardly_meant_is_asked_about(shared: Played) -> None:
    shared.post("/api/begin", task=TASK)
    status, said = shared.act("take kay")
    assert (status, said["doubtful"]) == (422, True)
    status, said = shared.act("lamp light")
    assert status == 422
    assert len(shared.state()["view"]["moments"]) == 1, "nothing was sent"
    assert shared.act("lamp light", anyway=True)[0] == 200
    did = shared.state()["view"]["moments"][0]["did"]
    assert did["invalid"]
    assert not did["format_ok"]


# Playing


def test_what_was_played_is_kept_as_it_was_played(tmp_path: Path) -> None:
    with playing(tmp_path / "run", seed=7) as played:
        assert played.post("/api/begin", task=TASK)[0] == 200
        assert played.act("light lamp", think="Light helps.", explore="the lamp", memory="lamp on")[0] == 200
        state = played.state()
        assert state["view"]["outcome"] == "playing"
        assert state["view"]["moments"][-1]["memory"] == "lamp on"
        assert "<memory>\nlamp on\n</memory>" in state["prompt"][-1]["text"], "the prompt is what an agent would get"
        assert played.act("right", memory="</memory> \\boxed{left} ￼ \ud800")[0] == 200
        assert played.act("rollback", memory="back")[0] == 200
        for command in WAY:
            status, said = played.act(command, memory="on the way")
            assert status == 200, said
        state = played.state()
        assert (state["status"], state["view"]["outcome"]) == ("over", "solved")
        assert played.act("look") == (409, {"error": "The episode is over: begin another one."})
        assert "1 episode kept" in played.stop()
    run = load_run(tmp_path / "run")
    [episode] = [episode for episode in run.episodes if episode.success]
    steps = episode.trajectory.transitions
    assert episode.agent == "human"
    assert [step.action for step in steps] == ["light lamp", "right", "rollback", *WAY]
    assert [step.memory for step in steps][:3] == ["lamp on", "</memory> \\boxed{left} ￼ \ud800", "back"]
    assert (steps[0].explore, episode.notes[0].think) == ("the lamp", "Light helps.")
    assert steps[2].rollback
    assert steps[2].next_fingerprint == steps[1].fingerprint
    assert all(step.format_ok for step in steps)
    assert [parse(note.response).action for note in episode.notes] == [step.action for step in steps]
    assert episode.trajectory.task == TASK
    assert run.stamp["config"]["seeds"] == [7]
    assert run.stamp["environment"]["source"] == "embedded"


def test_ctrl_c_keeps_the_episode_that_was_not_finished(tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        with playing(tmp_path / "run", task=TASK) as played:
            assert played.act("right", memory="one")[0] == 200
            rest = played.stop(number)
            assert played.process.returncode == 0, rest
            assert "Traceback" not in rest
    run = load_run(tmp_path / "run")
    assert [(episode.outcome, len(episode), episode.repeat) for episode in run.episodes] == [
        ("ended", 1, 0),
        ("ended", 1, 1),
    ], "the same folder takes the same task again"
    assert not any(episode.trajectory.success for episode in run.episodes)


def test_an_episode_that_is_left_is_kept_and_one_without_a_step_is_not(tmp_path: Path) -> None:
    with playing(tmp_path / "run", task=TASK) as played:
        played.act("right")
        assert played.post("/api/begin", task=TASK)[0] == 200
        assert played.state()["saved"] == 1
        assert played.post("/api/begin", task="train/key-in-2")[0] == 200
        state = played.state()
        assert state["saved"] == 1
        assert state["view"]["task"] == "train/key-in-2"
        assert played.post("/api/begin", split="valid")[0] == 200
        assert played.state()["split"] == "valid"
        assert played.send("GET", "/api/tasks?split=test")[2]["tasks"][0] == "test/key-in-0"
        played.stop()
    assert [len(episode) for episode in load_run(tmp_path / "run").episodes] == [1]


def test_of_several_tabs_that_act_at_once_one_acts(tmp_path: Path) -> None:
    with playing(tmp_path / "run", task=TASK) as played:
        for _ in range(5):
            version, steps = played.state()["version"], len(played.state()["view"]["moments"])
            answers: list[int] = []

            def act(version: int = version, answers: list[int] = answers) -> None:
                answers.append(played.post("/api/act", version=version, command="look")[0])

            together(act, 8)
            assert sorted(answers) == [200, *[409] * 7]
            assert len(played.state()["view"]["moments"]) == steps + 1
        answers = []
        together(lambda: answers.append(played.post("/api/begin", task=TASK)[0]), 6)
        assert set(answers) <= {200, 409}
        assert 200 in answers
        assert played.act("look")[0] == 200


def test_every_tab_hears_of_a_step_that_another_one_took(tmp_path: Path) -> None:
    with playing(tmp_path / "run", task=TASK) as played:
        version = played.state()["version"]
        heard: list[Any] = []
        waiting = threading.Thread(
            target=lambda: heard.append(played.send("GET", f"/api/state?after={version}")[2]), daemon=True
        )
        waiting.start()
        time.sleep(0.2)
        assert not heard, "there is no news yet"
        played.act("right")
        waiting.join(20)
        assert heard[0]["version"] > version


def test_an_alfworld_game_is_won_with_the_oracles_commands(tmp_path: Path) -> None:
    env = ALFWorldEnv(split="valid")
    task = env.tasks()[0]
    env.reset(options={"task": task})
    commands = plan(env.game, env.state)
    first_hint = hint(env)
    with playing(tmp_path / "run", "alfworld", kwargs={"split": "valid"}, task=task) as played:
        assert played.state()["splits"] == ["train", "valid"]
        assert played.post("/api/hint") == (200, {"hint": first_hint})
        for command in commands:
            status, said = played.act(command)
            assert status == 200, said
        state = played.state()
        assert (state["status"], state["view"]["outcome"]) == ("over", "solved")
        status, said = played.post("/api/begin", split="nowhere")
        assert status == 422
        assert "nowhere" in said["error"]
        assert played.state()["view"] == state["view"]
        played.stop()
    [episode] = load_run(tmp_path / "run").episodes
    assert [step.action for step in episode.trajectory.transitions] == list(commands)
    assert episode.success
    assert episode.trajectory.info["hints"] == 1, "a game with hints says so"
    assert episode.trajectory.info["split"] == "valid"


def test_screens_are_shown_with_their_marks_and_kept(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="pillow is not installed")
    with playing(tmp_path / "run", "tests.toys_gui:Pages", task="train/button-1") as played:
        state = played.state()
        assert [box["index"] for box in state["elements"]] == [0, 1]
        now = state["view"]["moments"][-1]
        assert now["marked"] != now["screenshot"]
        status, headers, data = played.send("GET", f"/api/picture/{now['marked']}")
        assert (status, headers["Content-Type"], data[8:12]) == (200, "image/webp", b"WEBP")
        assert played.act('{"action_type": "click", "index": 1}')[0] == 200
        assert played.act('{"action_type": "rollback"}')[0] == 200
        played.stop()
    [episode] = load_run(tmp_path / "run").episodes
    assert episode.notes[0].marked == now["marked"]
    assert episode.last_screenshot == now["screenshot"], "the rollback led back to the first page"


def test_an_environment_that_breaks_ends_the_episode_and_the_next_one_gets_another(tmp_path: Path) -> None:
    with playing(tmp_path / "run", f"{Path(__file__)}:Fragile", task="train/key-in-1") as played:
        assert played.act("right")[0] == 200
        assert played.act("light lamp")[0] == 200
        state = played.state()
        assert state["status"] == "over"
        assert "the lamp explodes" in state["notice"]
        assert played.post("/api/begin", task=TASK)[0] == 200
        assert played.act("right")[0] == 200
        played.stop()
    assert sorted(episode.outcome for episode in load_run(tmp_path / "run").episodes) == ["ended", "infrastructure"]


def test_an_environment_that_fails_to_begin_is_told_and_another_task_can_be_played(tmp_path: Path) -> None:
    with playing(tmp_path / "run", f"{Path(__file__)}:Unlucky", task=TASK) as played:
        assert played.post("/api/begin", split="broken") == (
            409,
            {"error": "The environment failed: ZeroDivisionError: no such luck"},
        )
        assert played.act("look")[0] == 200, "the episode goes on"
        status, said = played.post("/api/begin", task="train/key-in-3")
        assert status == 409
        assert "no such luck" in said["error"]
        assert played.state()["status"] == "over"
        assert played.post("/api/begin", task=TASK)[0] == 200
        assert played.act("look")[0] == 200


def test_environments_in_the_explore_schema_are_played_as_they_are(tmp_path: Path) -> None:
    with playing(tmp_path / "run", f"{Path(__file__)}:wrapped", task=TASK) as played:
        state = played.state()
        assert not state["rollback"]
        assert "rollback" not in state["prompt"][-1]["text"]
        for command in WAY:
            assert played.act(command, memory="m")[0] == 200
        assert played.state()["view"]["outcome"] == "solved"


def test_at_an_address_that_others_reach_the_token_is_needed_all_the_same(tmp_path: Path) -> None:
    with playing(tmp_path / "run", host="0.0.0.0") as played:
        assert "Others on the network can reach this" in played.process.stdout.readline()  # type: ignore[union-attr]
        for host, status in ((f"192.0.2.7:{played.port}", 200), (f"evil.example:{played.port}", 421)):
            assert played.send("GET", "/api/state", headers={"Host": host})[0] == status
            refused = played.send("GET", "/api/state", headers={"Host": host, "Authorization": None})[0]
            assert refused == (403 if status == 200 else 421)


def test_an_environment_that_hangs_does_not_cost_what_was_played(tmp_path: Path) -> None:
    with playing(tmp_path / "run", f"{Path(__file__)}:Hanging", task="train/key-in-1") as played:
        assert played.act("right", memory="so far")[0] == 200
        version = played.state()["version"]
        threading.Thread(
            target=lambda: played.post("/api/act", version=version, command="light lamp"),
            daemon=True,
        ).start()
        while played.state()["status"] != "busy":
            time.sleep(0.05)
        assert played.post("/api/begin")[0] == 409, "meanwhile nothing else can be done"
        played.stop()
    [episode] = load_run(tmp_path / "run").episodes
    assert [step.action for step in episode.trajectory.transitions] == ["right"]
    assert episode.outcome == "ended"


def together(work: Callable[[], object], count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
