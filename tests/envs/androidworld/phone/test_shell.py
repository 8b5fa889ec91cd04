from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eapo_gym.envs.androidworld.phone.adb import Adb, AdbError
from eapo_gym.envs.androidworld.phone.factory import new_phone
from eapo_gym.envs.androidworld.phone.shell.grammar import SyntaxProblem, parse


def adb() -> Adb:
    return Adb(new_phone())


def said(line: str, device: Adb | None = None) -> str:
    return (device or adb()).run(["shell", line]).decode()


LINES = [
    "echo hello   world",
    "echo 'a  b' \"c  d\" e\\ f",
    "echo one && echo two || echo three",
    "false && echo no || echo yes",
    "false; echo after",
    "if [ -f /nowhere ]; then echo there; else echo gone; fi",
    "if [ ! -e /nowhere ]; then echo gone; fi",
    "\n  if [ -d \"/\" ]; then\n      echo 'Exists'\n  else\n      echo 'Does not exist'\n  fi\n  ",
    "echo abc | grep -c b",
    "echo 'x' | cat",
    "[ a = a ] && echo same",
    "[ a != b ] && [ 3 -eq 3 ] && echo both",
    "echo it\\'s",
    'echo "a \\"quoted\\" word"',
    "echo '$HOME' '`id`' ';' '&&'",
    "echo a# b #comment",
    "true\necho second line",
    "cat /nowhere 2>/dev/null || echo failed",
]


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh to compare with")
@pytest.mark.parametrize("line", LINES)
def test_it_reads_lines_as_a_real_shell_does(line: str) -> None:
    real = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert said(line) == real.stdout


@given(st.text(max_size=60))
def test_any_line_is_answered_or_refused(line: str) -> None:
    with suppress(SyntaxProblem):
        parse(line)


HOSTILE = (
    *("$(touch {0})", "`touch {0}`", "echo x > {0}", "touch {0}", "cat /etc/passwd > {0}", "; touch {0} #"),
    *("sh -c 'touch {0}'", 'input text "$(touch {0})"', "sqlite3 {0} 'select 1'"),
)


@pytest.mark.parametrize("line", HOSTILE)
def test_nothing_reaches_this_machine(line: str, tmp_path: Path) -> None:
    target = tmp_path / "touched"
    device = adb()
    try:
        device.run(["shell", line.format(target)])
    except AdbError:
        assert not target.exists()
    assert not target.exists()
    assert "root:" not in said("cat /etc/passwd 2>/dev/null; true", device)


def test_files() -> None:
    device = adb()
    said(
        "mkdir -p /sdcard/Notes/old && echo one > '/sdcard/Notes/a b.txt' && echo two >> '/sdcard/Notes/a b.txt'",
        device,
    )
    assert said("cat '/sdcard/Notes/a b.txt'", device) == "one\ntwo\n"
    assert said("ls /sdcard/Notes", device) == "a b.txt\nold\n"
    long = said("ls /sdcard/Notes -ll -au", device).splitlines()
    name = next(line for line in long if line.startswith("-")).split(None, 8)
    assert name[4] == "8"
    assert name[8] == "a b.txt"
    assert said("find /sdcard/Notes -type f", device) == "/sdcard/Notes/a b.txt\n"
    said("cp -a /sdcard/Notes/. /sdcard/Copy/ && rm -r /sdcard/Notes/*", device)
    assert said("ls /sdcard/Notes; ls /sdcard/Copy", device) == "a b.txt\nold\n"
    with pytest.raises(AdbError, match="No such file or directory"):
        said("ls /sdcard/Nowhere", device)


def test_pushed_and_pulled(tmp_path: Path) -> None:
    device = adb()
    (tmp_path / "in").write_bytes(b"\x00\xffdata")
    device.run(["push", str(tmp_path / "in"), "/sdcard/Download/x y.bin"])
    device.run(["pull", "/sdcard/Download/x y.bin", str(tmp_path / "out")])
    assert (tmp_path / "out").read_bytes() == b"\x00\xffdata"
    with pytest.raises(AdbError, match="failed to stat remote object"):
        device.run(["pull", "/nowhere", str(tmp_path / "none")])
    assert not (tmp_path / "none").exists()


def test_settings_and_switches() -> None:
    device = adb()
    assert said("settings get global wifi_on", device) == "1\n"
    said("svc wifi disable", device)
    assert said("settings get global wifi_on", device) == "0\n"
    said("settings put system my_own 'a b'", device)
    assert "my_own=a b\n" in said("settings list system", device)
    said("settings delete system my_own", device)
    assert said("settings get system my_own", device) == "null\n"


def test_activities_come_to_the_front() -> None:
    device = adb()
    answer = said("am start -W -n com.android.settings/.Settings", device)
    assert "Status: ok" in answer
    assert "topActivity=ComponentInfo{com.android.settings/com.android.settings.Settings}" in said(
        "am stack list | grep -E visible=true", device
    )
    said("am force-stop com.android.settings", device)
    assert "nexuslauncher" in said("am stack list | grep -E visible=true", device)
    with pytest.raises(AdbError, match="Error"):
        said("am start -W -n com.no.such/.App", device)
    said("am start -a android.settings.WIFI_SETTINGS", device)
    assert ".SubSettings" in said("dumpsys window", device)


def test_the_screen_is_dumped_as_xml() -> None:
    import xml.etree.ElementTree as ET

    device = adb()
    said("am start -n com.android.settings/.Settings && uiautomator dump /sdcard/window_dump.xml", device)
    root = ET.fromstring(said("cat /sdcard/window_dump.xml", device))
    texts = {node.get("text") for node in root.iter("node")}
    assert {"Settings", "Network & internet"} <= texts
    row = next(
        n for n in root.iter("node") if n.get("clickable") == "true" and any(c.get("text") == "Display" for c in n)
    )
    left, top, right, bottom = (int(x) for x in row.get("bounds", "").strip("[]").replace("][", ",").split(","))
    said(f"input tap {(left + right) // 2} {(top + bottom) // 2}", device)
    assert device.phone.state.front.extras["part"] == "display"


def test_the_clock() -> None:
    device = adb()
    assert said("date", device) == "Sun Oct 15 15:34:00 UTC 2023\n"
    said("date 0102030424.05", device)
    assert said("date +%s", device) == "1704164645\n"
    with pytest.raises(AdbError, match="bad date"):
        said("date 99999999", device)


def test_an_unknown_command() -> None:
    with pytest.raises(AdbError, match="frobnicate: inaccessible or not found"):
        said("frobnicate")
    with pytest.raises(AdbError, match="none can be installed"):
        adb().run(["install", "x.apk"])
