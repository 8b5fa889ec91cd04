"""`eapo-gym doctor androidworld`, on machines that have nothing, something, and everything."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eapo_gym.envs.androidworld.device import inspection
from eapo_gym.envs.androidworld.device.hosted import PYTHON_VARIABLE
from eapo_gym.envs.androidworld.device.inspection import PACKAGES
from tests.command_line import run
from tests.envs.androidworld.device.test_connection import program

HEALTHY = """
case "$*" in
  version) echo "Android Debug Bridge version 1.0.41" ;;
  devices) printf 'List of devices attached\\nemulator-5554\\tdevice\\nemulator-5556\\toffline\\n' ;;
  *sys.boot_completed) echo 1 ;;
  *version.sdk) echo 33 ;;
  *ro.debuggable) echo 1 ;;
  *"wm size") echo "Physical size: 1080x2400" ;;
  *"pm list packages") cat {apps} ;;
  *android_world/snapshots) echo net.gsantner.markor ;;
  *enabled_accessibility_services) echo com.google.androidenv.accessibilityforwarder/.Service ;;
  *auto_time) echo 0 ;;
  *"date +%Y") echo 2023 ;;
  *"snapshot list") printf 'ID TAG SIZE\\n1 ready 1G\\n' ;;
  *) exit 1 ;;
esac
"""


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("ANDROID_SDK_ROOT", "ANDROID_HOME", PYTHON_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def grpc_port() -> Iterator[int]:
    with socket.create_server(("localhost", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def healthy(tmp_path: Path, grpc_port: int) -> list[str]:
    """The options for a machine that has everything."""
    apps = tmp_path / "apps"
    apps.write_text("".join(f"package:{each}\n" for each in PACKAGES))
    return [
        *("--adb-path", program(tmp_path / "adb", HEALTHY.replace("{apps}", str(apps)))),
        *("--emulator-path", program(tmp_path / "emulator", "echo AndroidWorld")),
        *("--python", program(tmp_path / "python", "exit 0")),
        *("--grpc-port", str(grpc_port)),
    ]


def findings(*options: str) -> tuple[int, dict[str, dict[str, object]]]:
    result = run("doctor", "androidworld", "--json", *options)
    said = json.loads(result.stdout)
    assert said["works"] == (result.exit_code == 0)
    return result.exit_code, {each["name"]: each for each in said["findings"]}


def test_a_bare_machine_is_told_what_to_do() -> None:
    result = run("doctor", "androidworld")
    assert result.exit_code == 1
    for said in ("android_world", "adb", "sdkmanager platform-tools", "No device can be played on yet"):
        assert said in result.stdout
    status, found = findings()
    assert status == 1
    assert not found["adb"]["ok"]
    assert "device" not in found  # nobody can ask it


def test_a_healthy_machine(healthy: list[str]) -> None:
    status, found = findings(*healthy, "--snapshot", "ready")
    assert {name for name, each in found.items() if not each["ok"]} <= {"virtualisation"}
    assert status == 0
    assert {"boot", "root", "apps", "date", "snapshot", "gRPC", "AVD", "accessibility service"} <= set(found)


def change(healthy: list[str], old: str, new: str) -> None:
    adb = Path(healthy[1])
    assert old in adb.read_text()
    adb.write_text(adb.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "name", "detail", "status"),
    [
        ("*ro.debuggable) echo 1", "*ro.debuggable) echo 0", "root", "may not be root", 1),
        ("*sys.boot_completed) echo 1", "*sys.boot_completed) echo", "boot", "not done yet", 1),
        ("*version.sdk) echo 33", "*version.sdk) echo 34", "Android", "API level 34", 0),
        ("*auto_time) echo 0", "*auto_time) echo 1", "date", "set by the network", 0),
        ("1080x2400", "720x1280", "screen", "720x1280", 0),
        ("*android_world/snapshots) echo net.gsantner.markor", "*gone) echo", "apps' first states", "none is kept", 1),
        ("*auto_time) echo 0 ;;", "*auto_time) exit 1 ;;", "device", "stopped answering", 1),
    ],
)
def test_what_is_wrong_is_named(healthy: list[str], old: str, new: str, name: str, detail: str, status: int) -> None:
    change(healthy, old, new)
    ended, found = findings(*healthy)
    assert ended == status
    assert not found[name]["ok"]
    assert detail in str(found[name]["detail"])


def test_apps_that_are_missing_are_listed(healthy: list[str], tmp_path: Path) -> None:
    (tmp_path / "apps").write_text("package:net.gsantner.markor\n")
    status, found = findings(*healthy)
    assert status == 1
    assert "net.osmand" in str(found["apps"]["detail"])
    assert "net.gsantner.markor" not in str(found["apps"]["detail"])
    assert "setup=True" in str(found["apps"]["fix"])


def test_other_ports(healthy: list[str]) -> None:
    status, found = findings(*healthy, "--console-port", "5556", "--avd", "Other")
    assert status == 1
    assert "emulator-5556 is offline" in str(found["device"]["detail"])
    assert "Other is not among AndroidWorld" in str(found["AVD"]["detail"])
    _, found = findings(*healthy, "--console-port", "5558")
    assert "emulator-5558 is not among emulator-5554, emulator-5556" in str(found["device"]["detail"])
    _, found = findings(*healthy[:-1], "1")
    assert not found["gRPC"]["ok"]
    assert "-grpc 1" in str(found["gRPC"]["fix"])


def test_a_snapshot_that_is_wanted_is_needed(healthy: list[str]) -> None:
    status, found = findings(*healthy, "--snapshot", "mine")
    assert status == 1
    assert "snapshot save mine" in str(found["snapshot"]["fix"])


def test_a_python_with_and_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_MODULES", ("json", "gymnasium"))
    assert findings("--python", sys.executable)[1]["android_world"]["ok"]
    monkeypatch.setattr(inspection, "_MODULES", ("json", "no_such_module"))
    _, found = findings("--python", sys.executable)
    assert found["android_world"]["detail"] == f"{sys.executable} lacks no_such_module"
    _, found = findings("--python", "/nowhere/python")
    assert "/nowhere/python cannot be run" in str(found["android_world"]["detail"])


def test_only_androidworld_has_a_doctor() -> None:
    result = run("doctor", "alfworld")
    assert result.exit_code == 2


def test_the_list_of_environments_says_where_to_look_further() -> None:
    result = run("envs", "--json")
    (needs,) = [each["needs"] for each in json.loads(result.stdout)["environments"] if "AndroidWorld" in each["id"]]
    (real,) = [each for each in needs if each["name"] == "real devices"]
    assert (real["ok"], real["optional"], real["fix"]) == (False, True, "eapo-gym doctor androidworld")
