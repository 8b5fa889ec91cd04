"""The host's side of the protocol: requests out, replies in, exceptions raised again; over any `Transport`."""

from __future__ import annotations

import builtins
import time
from typing import Any

from eapo_gym import errors
from eapo_gym.envs.hosting import codec
from eapo_gym.envs.hosting.process import Fault, Transport
from eapo_gym.errors import HostingError


class HostedTraceback(Exception):
    """Where in the tenant an exception was raised: the cause of the one that the host raises again."""

    def __str__(self) -> str:
        return f"\n\nin the hosted environment:\n{self.args[0]}"


class Client:
    """Talks to one tenant, one request at a time. Every failure of the tenant itself is a `Fault`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.labels: dict[str, str] = {}
        """The tenant's task, source and split, as of its last reply."""
        self.last_reply: bytes | bytearray = b""
        self._asked = 0

    def build(self, timeout: float | None, target: str, kwargs: dict[str, Any], path: list[str]) -> dict[str, Any]:
        """Greet the tenant and let it build its environment; returns what it says of itself and the environment."""
        patience = _Patience("start", timeout)
        hello = self._receive(patience)
        protocol = hello.get("protocol") if isinstance(hello, dict) else None
        if protocol != codec.PROTOCOL:
            raise HostingError(
                f"The hosted side speaks protocol {protocol!r:.40}, this one speaks {codec.PROTOCOL}: "
                "use the same version of eapo-gym on both sides."
            )
        described = self._ask("build", patience, target=target, kwargs=kwargs, path=path)
        return {**hello, **described}

    def ask(self, do: str, timeout: float | None, **fields: Any) -> Any:
        """One request and its answer, within `timeout` seconds. What cannot travel raises `CodecError`, unsent."""
        return self._ask(do, _Patience(fields.get("name", do), timeout), **fields)

    def _ask(self, do: str, patience: _Patience, **fields: Any) -> Any:
        self._asked += 1
        request = codec.encode({"id": self._asked, "do": do, **fields})
        try:
            self.transport.send(request, patience.deadline)
        except Fault as fault:
            raise patience.explained(fault) from fault
        reply = self._receive(patience)
        if not isinstance(reply, dict) or reply.get("id") != self._asked:
            raise Fault("protocol", f"{patience.call}: expected answer {self._asked}, got {reply!r:.80}")
        if "error" in reply:
            raise raised_again(reply["error"])
        self.labels = reply.get("labels", self.labels)
        return reply.get("value")

    def _receive(self, patience: _Patience) -> Any:
        try:
            self.last_reply = self.transport.receive(patience.deadline)
            return codec.decode(self.last_reply)
        except codec.CodecError as error:
            raise Fault("protocol", f"{patience.call}: {error}") from error
        except Fault as fault:
            raise patience.explained(fault) from fault


class _Patience:
    """How long the host waits, and for what."""

    def __init__(self, call: str, timeout: float | None) -> None:
        self.call = call
        self.timeout = timeout
        self.deadline = None if timeout is None else time.monotonic() + timeout

    def explained(self, fault: Fault) -> Fault:
        limit = f" (limit: {self.timeout:g} s)" if fault.cause == "timeout" and self.timeout is not None else ""
        return Fault(fault.cause, f"{self.call}{limit}: {fault}")


def raised_again(error: dict[str, Any]) -> Exception:
    """The tenant's exception, as near to its type as the host knows one.

    Types of `eapo_gym.errors` are told by their names: a tenant without eapo_gym raises its own `ActionError`.
    """
    exception = _nearest_known(error)
    exception.__cause__ = HostedTraceback(error["traceback"])
    return exception


def _nearest_known(error: dict[str, Any]) -> Exception:
    for module, name in error["kinds"]:
        known = getattr(builtins if module == "builtins" else errors, name, None)
        if not (isinstance(known, type) and issubclass(known, Exception)) or known is Exception:
            continue
        for args in (error["args"], [error["message"]]):
            try:
                exception = known(*args)
            except TypeError:
                continue  # a type that wants other arguments, or ones that could not travel
            if str(exception) == error["message"] or known is KeyError:
                exception.__dict__.update(error["attributes"] or {})
                return exception
    module, name = error["kinds"][0]
    return HostingError(f"The hosted environment raised {module}.{name}: {error['message']}")
