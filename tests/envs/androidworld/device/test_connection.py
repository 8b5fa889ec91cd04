"""Emulators that are found, leased, started and missed; programs of a few lines stand in for Android's."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest

from eapo_gym.envs.androidworld.device import connection as connections
from eapo_gym.envs.androidworld.device.connection import EmulatorConnection, connection_to
from eapo_gym.envs.androidworld.device.hosted import PYTHON_VARIABLE, hosted_device
from eapo_gym.errors import HostingError, MissingExtra, UnknownName

NOBODY = 1
"""A port at which nobody listens."""


def program(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def adb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the leases are
    return program(tmp_path / "adb", f'echo "$@" >> {tmp_path}/asked; test "$4" = getprop && echo 1')


def test_without_adb_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANDROID_SDK_ROOT", "ANDROID_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(HostingError, match="install Android's platform tools"):
        EmulatorConnection()
    with pytest.raises(HostingError, match="not at '/nowhere/adb'"):
        EmulatorConnection(adb_path="/nowhere/adb")


def test_each_environment_takes_an_emulator_of_its_own(adb: str) -> None:
    ports = {"console_port": [5554, 5556], "grpc_port": [8554, 8555]}
    first, second = (EmulatorConnection(**ports, adb_path=adb) for _ in range(2))
    assert (first.name, second.name, second.grpc_port) == ("emulator-5554", "emulator-5556", 8555)
    with pytest.raises(HostingError, match="use emulator-5554, emulator-5556 already"):
        EmulatorConnection(**ports, adb_path=adb)
    first.close()
    third = EmulatorConnection(**ports, adb_path=adb)
    assert third.name == "emulator-5554"
    for each in (second, third):
        each.close()


def test_as_many_ports_of_one_kind_as_of_the_other(adb: str) -> None:
    with pytest.raises(ValueError, match="as many of one as of the others"):
        EmulatorConnection([5554, 5556], 8554, adb_path=adb)


def test_an_emulator_that_is_not_running_is_asked_for(adb: str) -> None:
    connection = EmulatorConnection(5554, NOBODY, adb_path=adb)
    with pytest.raises(HostingError, match=f"emulator -avd NAME -port 5554 -grpc {NOBODY}"):
        connection.open()
    connection.close()


def test_it_is_started_with_its_ports_and_its_snapshot(
    adb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    emulator = program(tmp_path / "emulator", f'echo "$@" > {started}.new; mv {started}.new {started}; exec sleep 30')
    monkeypatch.setattr(connections, "listens", lambda port: started.exists())
    connection = EmulatorConnection(5554, NOBODY, adb, avd="Mine", emulator_path=emulator, snapshot="ready")
    connection._launch()
    process = connection._process
    assert process is not None
    said = started.read_text()
    assert f"-avd Mine -port 5554 -grpc {NOBODY} -no-window" in said
    assert "-snapshot ready -no-snapshot-save" in said
    started.unlink()
    process.terminate()
    connection.close()
    assert process.poll() is not None
    assert "emulator-5554 emu kill" in (tmp_path / "asked").read_text()


def test_an_emulator_that_ends_while_it_starts_is_told_with_its_command(adb: str, tmp_path: Path) -> None:
    emulator = program(tmp_path / "emulator", "exit 3")
    adb = program(tmp_path / "adb", "exit 1")
    connection = EmulatorConnection(5554, NOBODY, adb, avd="Mine", emulator_path=emulator)
    with pytest.raises(HostingError, match=r"ended with status 3 while it started: .*-avd Mine"):
        connection._launch()
    connection.close()


def test_an_unknown_kind_of_device() -> None:
    with pytest.raises(UnknownName, match="expected one of 'emulator', 'phone'"):
        connection_to("toaster")


def test_without_the_benchmarks_package_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PYTHON_VARIABLE, raising=False)
    monkeypatch.setattr("eapo_gym.envs.androidworld.device.hosted.is_installed", lambda: False)
    with pytest.raises(MissingExtra, match=r"pip install --no-deps 'git\+https://github.com/google-research"):
        hosted_device()
