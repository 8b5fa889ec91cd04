"""What is said between host and tenant: versions, answers, exceptions."""

from __future__ import annotations

import shutil
import traceback
from pathlib import Path

import pytest

from eapo_gym.envs.hosting import HostedEnv, HostedTraceback, process
from eapo_gym.envs.hosting.client import raised_again
from eapo_gym.envs.hosting.tenant import error_data
from eapo_gym.errors import ActionError, EapoError, HostingError, MissingExtra, UnknownName

HERE = Path(__file__).parent
BARE = f"{HERE / 'bare.py'}:Bare"


@pytest.fixture(scope="module")
def env():
    with HostedEnv(BARE) as hosted:
        yield hosted


@pytest.mark.parametrize(
    ("action", "kind", "args"),
    [
        ("raise value", ValueError, ("the value", 7)),
        ("raise key", KeyError, ("the key",)),
        ("raise unicode", UnicodeDecodeError, ("utf-8", b"\xff", 0, 1, "invalid start byte")),
    ],
)
def test_what_the_environment_raises_is_raised_again(env, action, kind, args):
    env.reset()
    before = env.fingerprint()
    with pytest.raises(kind) as caught:
        env.step(action)
    assert type(caught.value) is kind
    assert caught.value.args == args
    assert isinstance(caught.value.__cause__, HostedTraceback)
    assert "in do_raise" in "".join(traceback.format_exception(caught.value))
    assert env.fingerprint() == before, "the environment lives on"
    assert not env.restarts


def test_a_type_nobody_knows_becomes_a_hosting_error(env):
    env.reset()
    with pytest.raises(HostingError, match=r"raised hosted_bare\.OddError: nobody knows me"):
        env.step("raise odd")
    with pytest.raises(HostingError, match="SystemExit: a library that thinks it is a program"):
        env.step("sysexit")
    with pytest.raises(LookupError, match="object object at"):
        env.step("raise object")


def test_errors_of_the_suite_are_told_by_their_names(env):
    env.reset()
    with pytest.raises(ActionError, match="'nonsense' is no command here") as caught:
        env.parse_action("nonsense")
    assert caught.value.example == "count"


@pytest.mark.parametrize(
    "error",
    [
        ActionError("no", "yes"),
        UnknownName.of("split", "trian", ["train"]),
        MissingExtra.of("this", "alfworld"),
        EapoError("plain"),
        FileNotFoundError(2, "No such file", "/x"),
        OSError("just a text"),
        IndexError(),
    ],
)
def test_an_error_keeps_its_type_its_message_and_what_it_carries(error):
    again = raised_again(error_data(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert getattr(again, "example", None) == getattr(error, "example", None)


def test_a_subclass_is_caught_as_what_it_is():
    class TooFar(UnknownName):
        pass

    assert type(raised_again(error_data(TooFar("x")))) is UnknownName


def test_what_cannot_travel_is_named():
    with HostedEnv(BARE) as env:
        env.reset()
        with pytest.raises(TypeError, match=r"^step: \['action'\]: a builtins.object cannot travel"):
            env.step(object())
        with pytest.raises(HostingError, match=r"^step: \['value'\]\[0\]\['goal'\]: a builtins.object cannot travel"):
            env.step("unfit")
        assert not env.restarts


def test_values_of_every_kind_pass_both_ways(env):
    value = {"a": (1, [2.5, None]), 3: b"\x00\xff", "lone": "\ud800", "inf": float("-inf"), "big": -(10**40)}
    assert env.call("echo", value) == value


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("noise", "garbage on the pipe: expected a frame that begins with b'EAPO', got b'Hello from a"),
        ("huge", "garbage on the pipe: a frame of 1152921504606846976 bytes"),
        ("broken", "not a message"),
        ("stale", "expected answer"),
    ],
)
def test_garbage_on_the_pipe_ends_the_episode(env, what, message):
    env.reset(seed=1)
    before = env.restarts["protocol"]
    info = env.step(f"scribble {what}")[4]
    assert info["failure"]["cause"] == "protocol"
    assert message in info["failure"]["message"]
    assert env.restarts["protocol"] == before + 1
    env.reset(seed=1)
    assert not env.step("count")[3]


def test_half_a_frame_is_no_reply(env):
    env.reset()
    failure = env.step("scribble half")[4]["failure"]
    assert failure["cause"] == "died"
    assert "exited with code 3 in the middle of a reply" in failure["message"]


def test_another_protocol_is_refused(monkeypatch, tmp_path):
    source = process.TENANT.parent
    for name in ("tenant.py", "codec.py"):
        shutil.copy(source / name, tmp_path)
    codec = tmp_path / "codec.py"
    codec.write_text(codec.read_text().replace("PROTOCOL = 1", "PROTOCOL = 99"))
    monkeypatch.setattr(process, "TENANT", tmp_path / "tenant.py")
    with pytest.raises(HostingError, match="speaks protocol 99, this one speaks 1: use the same version"):
        HostedEnv(BARE)


def test_another_version_of_the_suite_is_told(monkeypatch):
    monkeypatch.setattr("eapo_gym.__version__", "99.0")
    with pytest.warns(RuntimeWarning, match=r"runs on eapo-gym [\d.]+, this process on 99\.0"):
        HostedEnv("tests.toys:Corridor").close()
