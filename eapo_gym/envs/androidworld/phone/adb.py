"""The other end of `adb`: what the real tools send a device is answered by the phone."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from eapo_gym.envs.androidworld.phone.files import FileError, resolve
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.phone.shell.system_commands import shell
from eapo_gym.errors import EapoError

SERIAL = "emulator-5554"


class AdbError(EapoError):
    """A command that ended with another status than 0; the text is what it said."""


class Adb:
    """`adb ARGS` for one phone. Only `push` and `pull` touch this machine, and only the file they name."""

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._shell = shell(phone)

    def run(self, args: Sequence[str]) -> bytes:
        """What the command prints, errors included, as with `2>&1`."""
        match list(args):
            case ["shell", *words]:
                return self._ran(" ".join(words))
            case ["push", source, target]:
                return self._push(Path(source), target)
            case ["pull", source, target]:
                return self._pull(source, Path(target))
            case ["emu", *words]:
                return self._emulator(words)
            case ["install", *_] | ["uninstall", *_]:
                raise AdbError("Failure [this phone's apps are built in: none can be installed or removed]")
            case ["devices", *_]:
                return f"List of devices attached\n{SERIAL}\tdevice\n".encode()
            case ["root"] | ["unroot"]:
                return b"adbd is already running as root\n"
            case ["get-state"]:
                return b"device\n"
            case (
                ["start-server"]
                | ["kill-server"]
                | ["wait-for-device"]
                | ["reconnect"]
                | ["forward", *_]
                | ["reverse", *_]
            ):
                return b""
        raise AdbError(f"adb: unknown command {' '.join(args)[:200]}")

    def _ran(self, line: str) -> bytes:
        said = self._shell.run(line)
        if said.status:
            raise AdbError((said.out + said.error).decode("utf-8", "replace"))
        return said.out + said.error

    def _push(self, source: Path, target: str) -> bytes:
        state = self.phone.state
        if state.files.is_folder(target):
            target = posixpath.join(target, source.name)
        files = state.files.write(target, source.read_bytes(), state.now)
        self.phone.state = replace(state, files=files)
        return f"{source}: 1 file pushed, 0 skipped.\n".encode()

    def _pull(self, source: str, target: Path) -> bytes:
        try:
            content = self.phone.state.files.read(source)
        except FileError as problem:
            raise AdbError(f"adb: error: failed to stat remote object '{source}': {problem}") from problem
        (target / posixpath.basename(resolve(source)) if target.is_dir() else target).write_bytes(content)
        return f"{source}: 1 file pulled, 0 skipped.\n".encode()

    def _emulator(self, words: list[str]) -> bytes:
        """The emulator's own console: what comes from the network."""
        match words:
            case ["sms", "send", sender, *message]:
                for app in self.phone.apps.values():
                    if self.phone.change(partial(app.heard, sender=sender, message=" ".join(message)), app.package):
                        return b"OK\n"
                raise AdbError("KO: no app takes text messages")
            case ["gsm", "call" | "cancel" as does, caller]:
                number = caller if does == "call" else ""
                for app in self.phone.apps.values():
                    if self.phone.change(partial(app.rang, caller=number), app.package):
                        return b"OK\n"
                raise AdbError("KO: no app takes calls")
            case ["gsm", *_] | ["avd", *_] | ["geo", *_]:
                return b"OK\n"
        raise AdbError(f"KO: unknown command {' '.join(words)[:200]}")
