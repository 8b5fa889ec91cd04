"""The tenant's side: one environment, built and driven on request, in a process of its own.

Started as a script by an interpreter that may be older than the host's and have nothing installed, neither eapo_gym nor
Gymnasium nor NumPy: standard library only, Python 3.8 syntax. The environment may be any object that has the methods of
an `AgentEnv`; it need not be one.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import os
import platform
import select
import signal
import sys
import threading
import time
import traceback
from typing import Any, BinaryIO

if __package__:
    from eapo_gym.envs.hosting import codec
else:
    _spec = importlib.util.spec_from_file_location(
        "hosting_codec", os.path.join(os.path.dirname(os.path.abspath(__file__)), "codec.py")
    )
    assert _spec is not None
    assert _spec.loader is not None
    codec = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(codec)

VALUE_LIMIT = 1 << 20
"""Largest snapshot, in bytes, that travels by value; larger ones stay here and the host gets a handle."""

_OPTIONAL: dict[str, Any] = {"inverse": [], "valid_actions": None, "render": None, "close": None}
"""Methods that an environment may lack, and what the lack of one means."""

_GRACE = 5.0
"""Seconds that an environment has to close itself once the host is gone."""


class ContractError(AssertionError):
    """Known to the host by its name, as every error is: eapo_gym need not be installed here."""


class SnapshotError(ValueError):
    """As above."""


class HostingError(RuntimeError):
    """As above."""


class Tenant:
    """Answers requests, one at a time, about one environment."""

    def __init__(self) -> None:
        self.env: Any = None
        self.core: Any = None
        self.snapshots: dict[int, Any] = {}
        self.taken = 0
        self.told: dict[str, Any] = {}

    def answer(self, request: dict[str, Any]) -> bytes:
        """The reply to a request, as bytes. What the environment raises is a reply too."""
        reply: dict[str, Any] = {"id": request["id"]}
        try:
            for handle in request.get("drop", ()):
                self.snapshots.pop(handle, None)
            if "generator" in request:
                self.set_generator(request["generator"])
            do = request["do"]
            if do not in self.DUTIES:
                raise HostingError(f"The host asked for {do!r:.40}, which this tenant does not know.")
            reply["value"] = self.DUTIES[do](self, request)
            labels = self.labels()
            if labels != self.told:
                reply["labels"] = labels
            body = codec.encode(reply)
            self.told = labels
            return body
        except codec.CodecError as error:
            failure = HostingError(f"{request.get('name', request['do'])}: {error}")
            return codec.encode({"id": request["id"], "error": error_data(failure)})
        except (Exception, SystemExit) as error:
            return codec.encode({"id": request["id"], "error": error_data(error)})

    def build(self, request: dict[str, Any]) -> dict[str, Any]:
        sys.path[:0] = [folder for folder in request["path"] if folder not in sys.path]
        self.env = load(request["target"])(**request["kwargs"])
        self.core = getattr(self.env, "unwrapped", self.env)
        return {
            "eapo_gym": getattr(sys.modules.get("eapo_gym"), "__version__", None),
            "numpy": getattr(sys.modules.get("numpy"), "__version__", None),
            "observation_space": space_data(getattr(self.env, "observation_space", None)),
            "action_space": space_data(getattr(self.env, "action_space", None)),
            "metadata": getattr(self.env, "metadata", None),
            "render_mode": getattr(self.env, "render_mode", None),
            "snapshot_kind": getattr(self.core, "snapshot_kind", None),
            "has_generator": self.generator({}) is not None,
        }

    def call(self, request: dict[str, Any]) -> Any:
        return self.member(request["name"])(*request["args"], **request["kwargs"])

    def reset(self, request: dict[str, Any]) -> Any:
        result = self.member("reset")(seed=request["seed"], options=request["options"])
        return [*self.parts("reset", result, "observation", "info"), self.generator({})]

    def step(self, request: dict[str, Any]) -> Any:
        result = self.member("step")(request["action"])
        return self.parts("step", result, "observation", "reward", "terminated", "truncated", "info")

    def snapshot(self, request: dict[str, Any]) -> dict[str, Any]:
        """Plain data goes to the host, so that it outlives this process; anything else stays, under a handle."""
        state = self.member("snapshot")()
        try:
            value = codec.encode(state, exact=True)
        except codec.CodecError:
            value = None
        if value is not None and len(value) <= VALUE_LIMIT:
            return {"value": value}
        self.taken += 1
        self.snapshots[self.taken] = state
        return {"handle": self.taken}

    def restore(self, request: dict[str, Any]) -> Any:
        if "handle" in request:
            if request["handle"] not in self.snapshots:
                raise SnapshotError("This process has no such snapshot.")
            state = self.snapshots[request["handle"]]
        else:
            state = codec.decode(request["value"])
        return self.parts("restore", self.member("restore")(state), "observation", "info")

    def generator(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """State of the environment's random generator, None where it has none of NumPy's."""
        source = getattr(getattr(self.core, "np_random", None), "bit_generator", None)
        if source is None:
            return None
        return {"state": source.state, "seed": getattr(self.core, "_np_random_seed", None)}

    def set_generator(self, wanted: dict[str, Any]) -> None:
        self.core.np_random.bit_generator.state = wanted["state"]
        if hasattr(self.core, "_np_random_seed"):
            self.core._np_random_seed = wanted["seed"]

    def memory(self, request: dict[str, Any]) -> int:
        """Resident bytes of this process; its peak where the system does not tell the present."""
        try:
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except FileNotFoundError:
            import resource

            unit = 1 if sys.platform == "darwin" else 1024
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

    def close(self, request: dict[str, Any]) -> None:
        if self.env is not None:
            self.member("close")()

    def member(self, name: str) -> Any:
        """A public method of the environment, or of one that it wraps."""
        found = None if name.startswith("_") else getattr(self.env, name, None)
        if found is None and not name.startswith("_") and hasattr(self.env, "get_wrapper_attr"):
            try:
                found = self.env.get_wrapper_attr(name)
            except AttributeError:
                found = None
        if callable(found):
            return found
        if name in _OPTIONAL:
            return lambda *_, **__: _OPTIONAL[name]
        raise ContractError(
            f"The hosted {type(self.env).__name__} has no method {name!r}: see AgentEnv for the contract."
        )

    def parts(self, name: str, result: Any, *expected: str) -> list[Any]:
        if not isinstance(result, (tuple, list)) or len(result) != len(expected):
            got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"a {type(result).__name__}"
            raise ContractError(
                f"{name} of the hosted {type(self.env).__name__}: expected ({', '.join(expected)}), got {got}."
            )
        if not isinstance(result[-1], dict):
            raise ContractError(f"{name}: expected a dict as info, got a {type(result[-1]).__name__}.")
        return list(result)

    def labels(self) -> dict[str, Any]:
        """What the host shows as its own attributes."""
        found = {name: getattr(self.core, name, None) for name in ("task", "source", "split")}
        return {name: value for name, value in found.items() if isinstance(value, str)}

    DUTIES = {
        "build": build,
        "call": call,
        "reset": reset,
        "step": step,
        "snapshot": snapshot,
        "restore": restore,
        "generator": generator,
        "memory": memory,
        "close": close,
    }


def load(target: str) -> Any:
    """The callable that "module:name" or "/folder/file.py:name" stands for."""
    where, _, name = target.rpartition(":")
    if where.endswith(".py"):
        module_name = "hosted_" + os.path.splitext(os.path.basename(where))[0]
        spec = importlib.util.spec_from_file_location(module_name, where)
        if spec is None or spec.loader is None:
            raise ImportError(f"{where} cannot be imported as a Python file.")
        found = importlib.util.module_from_spec(spec)
        # As an import does: dataclasses look their own module up.
        sys.modules[module_name] = found
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(where)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def space_data(space: Any) -> Any:
    """A space as data. Spaces are told by the names of their classes, since any version of Gym(nasium) may be here."""
    if space is None or (isinstance(space, dict) and "space" in space):
        return space  # an environment without Gymnasium may state its spaces as data itself
    for kind in type(space).__mro__:
        if kind.__name__ in _SPACES:
            return {"space": kind.__name__, **_SPACES[kind.__name__](space)}
    raise HostingError(
        f"A space of type {type(space).__name__} cannot be hosted: expected one of {', '.join(_SPACES)}."
    )


def _box_data(space: Any) -> dict[str, Any]:
    # A screenshot's bounds are millions of equal numbers.
    low, high = (
        bound.flat[0] if bound.size and (bound == bound.flat[0]).all() else bound for bound in (space.low, space.high)
    )
    return {"low": low, "high": high, "shape": list(space.shape), "dtype": str(space.dtype)}


_SPACES: dict[str, Any] = {
    "Dict": lambda space: {"spaces": [[key, space_data(part)] for key, part in space.spaces.items()]},
    "Tuple": lambda space: {"spaces": [space_data(part) for part in space.spaces]},
    "Sequence": lambda space: {"part": space_data(space.feature_space), "stack": getattr(space, "stack", False)},
    "AnyText": lambda space: {"max_length": space.max_length, "examples": list(space.examples)},
    "Text": lambda space: {
        "max_length": space.max_length,
        "min_length": space.min_length,
        "charset": "".join(space.character_list),
    },
    "Box": _box_data,
    "Discrete": lambda space: {
        "n": int(space.n),
        "start": int(getattr(space, "start", 0)),
        "dtype": str(space.dtype),
    },
    "MultiDiscrete": lambda space: {
        "nvec": space.nvec,
        "start": getattr(space, "start", None),
        "dtype": str(space.dtype),
    },
    "MultiBinary": lambda space: {"n": space.n if isinstance(space.n, int) else [int(size) for size in space.n]},
}


def error_data(error: BaseException) -> dict[str, Any]:
    """An exception as data: what it is, from the most to the least special, what it says, what it carries."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return {
        "kinds": [[kind.__module__, kind.__qualname__] for kind in type(error).__mro__],
        "message": str(error),
        "args": _if_it_travels(list(error.args)),
        "attributes": _if_it_travels(dict(vars(error))),
        "traceback": "".join(lines)[-20_000:],
    }


def _if_it_travels(value: Any) -> Any:
    try:
        codec.encode(value, exact=True)
    except codec.CodecError:
        return None
    return value


def serve(requests: BinaryIO, replies: BinaryIO) -> bool:
    """Answer until the host asks to close (True) or is gone (False)."""
    tenant = Tenant()
    # Every later protocol must keep this one message readable, so that a mismatch can be told from garbage.
    send(replies, codec.encode({"protocol": codec.PROTOCOL, "python": platform.python_version(), "pid": os.getpid()}))
    while True:
        prefix = requests.read(codec.PREFIX.size)
        if len(prefix) < codec.PREFIX.size:
            tenant.close({})
            return False
        request = codec.decode(requests.read(codec.body_length(prefix)))
        send(replies, tenant.answer(request))
        if request["do"] == "close":
            return True


def send(replies: BinaryIO, body: bytes) -> None:
    replies.write(codec.prefix_of(body))
    replies.write(body)
    replies.flush()


def _leave_when_host_is_gone(requests: int) -> None:
    """The main thread sees the end of the pipe between two calls; this one also in the middle of a call that hangs."""
    poll = select.poll()
    poll.register(requests, 0)  # asks for nothing but the hang-up, which is always told
    poll.poll()
    time.sleep(_GRACE)
    _end_everything()


def _end_everything() -> None:
    """End this process and those that the environment started, which share its process group."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    here = os.path.realpath(os.path.dirname(__file__))
    # Python puts a script's folder first, where its files would stand in for modules of the environment.
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != here]
    requests, replies = int(sys.argv[1]), int(sys.argv[2])
    del sys.argv[1:]
    for descriptor in (requests, replies):
        os.set_inheritable(descriptor, False)
    faulthandler.enable()  # a crash in C code leaves its stack on stderr
    faulthandler.register(signal.SIGUSR1, all_threads=False)  # so does a call that takes too long
    threading.Thread(target=_leave_when_host_is_gone, args=(requests,), daemon=True).start()
    try:
        asked = serve(os.fdopen(requests, "rb"), os.fdopen(replies, "wb"))
    except BrokenPipeError:
        asked = False
    except BaseException:
        traceback.print_exc()
        os._exit(70)  # "internal software error" in sysexits.h; the host finds the reason on stderr
    sys.stdout.flush()
    sys.stderr.flush()
    if not asked:
        _end_everything()
    # Past the interpreter's own end: engines in C crash there, and nothing is left to be saved.
    os._exit(0)


if __name__ == "__main__":
    main()
