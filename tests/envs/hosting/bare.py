"""An environment of the standard library alone, for tests: it counts, and does to its process whatever it is told to.

It knows nothing of eapo_gym or Gymnasium, so it also runs under an interpreter that has neither.
"""

import fcntl
import gc
import os
import random
import signal
import stat
import struct
import subprocess
import sys
import time
import warnings


class ActionError(ValueError):
    """By its name, eapo_gym's."""

    def __init__(self, message, example):
        super().__init__(message)
        self.example = example


class OddError(Exception):
    """A type that no host knows."""


class State:
    """Not plain data: a snapshot of it stays in the process."""

    def __init__(self, count):
        self.count = count


class Bare:
    source = "official"
    split = "test"

    def __init__(self, start=0, plain_snapshots=True, fail_resets=0, fails=None, ballast=0):
        self.start = start
        self.plain_snapshots = plain_snapshots
        self.count = 0
        self.ballast = ["x" * 1024 for _ in range(ballast)]
        # How many more resets fail is kept in a file, since each failure ends the process.
        self.fails = fails
        if fails and not os.path.exists(fails):
            self._write_fails(fail_resets)

    def _write_fails(self, number):
        with open(self.fails, "w") as file:
            file.write(str(number))

    def tasks(self, split=None):
        return ["count"]

    def reset(self, *, seed=None, options=None):
        if self.fails:
            with open(self.fails) as file:
                left = int(file.read())
            if left > 0:
                self._write_fails(left - 1)
                os.abort()
        self.count = self.start + random.Random(seed).randrange(1000)
        return self._seen(), self._info()

    def step(self, action):
        name, _, argument = action.partition(" ")
        found = getattr(self, "do_" + name, None)
        if found is not None:
            found(argument)
        self.count += 1
        return self._seen(), 1.0, False, False, self._info()

    def _seen(self):
        return {"goal": "Count.", "state": str(self.count)}

    def _info(self):
        return {"task": "count", "source": self.source, "split": self.split, "won": False}

    def fingerprint(self):
        return str(self.count)

    def describe(self):
        return f"The count is {self.count}."

    def parse_action(self, text):
        if text == "nonsense":
            raise ActionError("'nonsense' is no command here.", "count")
        return text

    def snapshot(self):
        return self.count if self.plain_snapshots else State(self.count)

    def restore(self, snapshot):
        self.count = snapshot if self.plain_snapshots else snapshot.count
        return self._seen(), self._info()

    def states(self):
        """How many snapshots are alive in this process."""
        gc.collect()
        return sum(isinstance(thing, State) for thing in gc.get_objects())

    def hash_of(self, text):
        return hash(text)

    def variable(self, name):
        return os.environ.get(name)

    def modules(self):
        return sorted(sys.modules)

    def search_path(self):
        return sys.path

    def inherited(self):
        return sorted(int(name) for name in os.listdir("/proc/self/fd"))

    def echo(self, value):
        return value

    # What can happen to a process.

    def do_sleep(self, seconds):
        time.sleep(float(seconds))

    def do_exit(self, code):
        print("the last words", file=sys.stderr)
        os._exit(int(code))

    def do_sysexit(self, _):
        sys.exit("a library that thinks it is a program")

    def do_abort(self, _):
        os.abort()

    def do_kill(self, _):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_raise(self, kind):
        kinds = {
            "value": ValueError("the value", 7),
            "key": KeyError("the key"),
            "unicode": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
            "odd": OddError("nobody knows me"),
            "object": LookupError(object()),
        }
        raise kinds[kind]

    def do_print(self, amount):
        os.write(1, bytes(range(256)) * (int(amount) // 256))
        print("\udcff junk on stdout".encode("utf-8", "surrogateescape"))
        warnings.warn("junk on stderr", stacklevel=1)

    def do_unfit(self, _):
        self._seen = lambda: {"goal": object(), "state": ""}

    def do_leak(self, megabytes):
        self.ballast.append(bytearray(int(megabytes) << 20))

    def do_spawn(self, _):
        """A helper process that holds every pipe, as a simulator that was forked would."""
        child = os.fork()
        if child == 0:
            time.sleep(600)
        self._info = lambda: {"task": "count", "won": False, "child": child}

    def do_program(self, _):
        """A helper program, started the ordinary way."""
        program = subprocess.Popen(["sleep", "600"])
        self._info = lambda: {"task": "count", "won": False, "child": program.pid}

    def do_scribble(self, what):
        """Write to the pipe that belongs to the protocol."""
        messages = {
            "noise": b"Hello from a library that prints to any descriptor it finds.\n",
            "huge": struct.pack(">4sQ", b"EAPO", 1 << 60),
            "broken": _frame(struct.pack(">I", 5) + b"{nope"),
            "stale": _frame(struct.pack(">I", 20) + b'{"id":0,"value":[1]}'),
            "half": _frame(struct.pack(">I", 20) + b'{"id":0,"value":[1]}')[:-4],
        }
        for descriptor in range(3, 64):
            try:
                mode, flags = os.fstat(descriptor).st_mode, fcntl.fcntl(descriptor, fcntl.F_GETFL)
            except OSError:
                continue
            if stat.S_ISFIFO(mode) and flags & os.O_ACCMODE == os.O_WRONLY:
                os.write(descriptor, messages[what])
        if what == "half":
            os._exit(3)


def _frame(body):
    return struct.pack(">4sQ", b"EAPO", len(body)) + body


def not_an_environment():
    """What a target builds need not be of any use."""
    return object()


def broken():
    raise FileNotFoundError("the games are not here")


def slow():
    time.sleep(600)
