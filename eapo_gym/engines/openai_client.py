"""Requests to a server that speaks OpenAI's protocol: with patience, and with errors that say what to do.

The package `openai` brings the connection: TLS with verified certificates, pools, the authorisation header. How often
and how long something is tried again is decided here, so that there is one bound on all of it. Redirects are not
followed: prompts and keys go to the server that was named, and to no other.

What a server says is foreign text: it is cut, stripped of control characters and of the key before it gets into an
error.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import random
import re
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from eapo_gym.engines.base import EngineError, EngineUnavailable, PromptTooLong
from eapo_gym.errors import MissingExtra

FIRST_WAIT = 0.5
"""Seconds before something is tried for the second time; they double from one time to the next."""

LONGEST_WAIT = 60.0
"""Seconds; a server that wants to be left alone for longer than this is not waited for."""

_TO_CONNECT = 10.0
_NO_KEY = "none"  # what is sent where the user has no key: local servers read none, but the header must have one
_TOO_LONG = re.compile(
    r"context.{0,3}(length|window|size|limit)|maximum (context|model|sequence|prompt|input)|max_model_len"
    r"|(prompt|input|message)s? (is|are) too (long|large)|(prompt|input).{0,40}longer than|too many (input )?tokens",
    re.IGNORECASE,
)

_OPTIONS: Any = {"follow_redirects": False}
_T = TypeVar("_T")


class NotAllowed(EngineUnavailable):
    """The server does not let us do what was asked (403): anything at all, or, with some, to have log-probs."""


class Refused(EngineError):
    """The server answered, and will not do what it was asked (400, 413 or 422)."""


class _Passing(Exception):
    """A failure that may have gone the next time; `final` is what to raise if it has not."""

    def __init__(self, final: EngineError, wait: float | None = None) -> None:
        self.final = final
        self.wait = wait


class Server:
    """A server, and the model on it that is talked to.

    Its connections live in a thread of their own, with an event loop of its own: they are kept, and the limits hold,
    whatever loops and threads the requests come from.

    `timeout` bounds one try and `patience` one request with all of its tries, in seconds, from the moment that the
    request is sent: waiting for one of the `concurrency` places does not count.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        concurrency: int = 32,
        timeout: float = 300.0,
        retries: int = 6,
        patience: float = 900.0,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingExtra.of("The openai engine", "openai") from error
        for name, number, least in (("concurrency", concurrency, 1), ("retries", retries, 0)):
            if number < least:
                raise ValueError(f"{name}: expected {least} or more, got {number!r}.")
        address = base_url or os.environ.get("OPENAI_BASE_URL")
        key = api_key or os.environ.get("OPENAI_API_KEY")
        if address is None and not key:
            raise EngineUnavailable(
                "No server and no key for the openai engine: expected base_url (http://localhost:8000/v1 for a server "
                "of your own), or the environment variable OPENAI_API_KEY for OpenAI's."
            )
        self.model = model
        self.url = _without_secrets(address or "https://api.openai.com/v1")
        self.concurrency = concurrency
        self.timeout = timeout
        self.retries = retries
        self.patience = patience
        self.requests = 0
        self.retried = 0
        # The key is in the client, which does not print it, and in this function: no attribute holds it as it is.
        self._without_key: Callable[[str], str] = lambda text: text.replace(key, "***") if key else text
        self._closed = False
        self._slots = asyncio.Semaphore(concurrency)
        self._under_way: set[asyncio.Task[Any] | None] = set()
        self._client = openai.AsyncOpenAI(
            base_url=address,
            api_key=key or _NO_KEY,
            timeout=openai.Timeout(timeout, connect=min(timeout, _TO_CONNECT)),
            max_retries=0,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run, args=(self._loop,), name=f"requests to {self.url}", daemon=True)
        self._thread.start()
        self._stop = weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    async def post(self, path: str, body: Mapping[str, Any], *, retries: int | None = None) -> dict[str, Any]:
        """The answer to a request for completions; it has at least one choice."""

        def send() -> Awaitable[object]:
            answer: Awaitable[object] = self._client.post(path, cast_to=object, body=dict(body), options=_OPTIONS)
            return answer

        return await self.within(self._persist(send, "choices", self.retries if retries is None else retries))

    async def get(self, path: str, key: str) -> dict[str, Any]:
        """The answer to a question about the server, which has a list called `key`; it is asked once."""

        def send() -> Awaitable[object]:
            answer: Awaitable[object] = self._client.get(path, cast_to=object, options=_OPTIONS)
            return answer

        return await self.within(self._persist(send, key, retries=0))

    async def within(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run `work` in the server's own event loop."""
        return await asyncio.wrap_future(self._submit(work))

    def wait_for(self, work: Coroutine[Any, Any, _T]) -> _T:
        """As `within`, for code that is no coroutine."""
        return self._submit(work).result()

    async def close(self) -> None:
        """Close all connections; requests under way fail. Twice does no harm."""
        if self._closed:
            return
        self._closed = True
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._close(), self._loop))
        self._stop()
        await asyncio.to_thread(self._thread.join)

    def _submit(self, work: Coroutine[Any, Any, _T]) -> concurrent.futures.Future[_T]:
        if self._closed:
            work.close()
            raise self._is_closed()
        return asyncio.run_coroutine_threadsafe(self._unless_closed(work), self._loop)

    async def _unless_closed(self, work: Coroutine[Any, Any, _T]) -> _T:
        task = asyncio.current_task()
        self._under_way.add(task)
        try:
            return await work
        except asyncio.CancelledError:
            if self._closed:
                raise self._is_closed() from None
            raise
        finally:
            self._under_way.discard(task)

    async def _close(self) -> None:
        tasks = [task for task in self._under_way if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.close()

    async def _persist(self, send: Callable[[], Awaitable[object]], key: str, retries: int) -> dict[str, Any]:
        # The place is kept while waiting: a server that has too much to do gets less of it.
        async with self._slots:
            clock = asyncio.get_running_loop().time
            deadline = clock() + self.patience
            tried = 0
            while True:
                self.requests += 1
                try:
                    return await self._once(send, key, min(self.timeout, deadline - clock()))
                except _Passing as failure:
                    backoff = min(LONGEST_WAIT, FIRST_WAIT * 2**tried) * random.uniform(0.5, 1.0)
                    # Some jitter on top of what the server says, or a thousand clients would come back at a time.
                    wait = backoff if failure.wait is None else failure.wait + random.uniform(0.0, FIRST_WAIT)
                    tried += 1
                    if tried > retries or wait > LONGEST_WAIT or clock() + wait >= deadline:
                        raise failure.final from failure
                self.retried += 1
                await asyncio.sleep(wait)

    async def _once(self, send: Callable[[], Awaitable[object]], key: str, within: float) -> dict[str, Any]:
        import openai

        try:
            # The client's own timeout starts again with every byte; this one does not.
            answer = await asyncio.wait_for(send(), within)
        except (asyncio.TimeoutError, openai.APITimeoutError) as error:
            if _is_cause(error, "ConnectTimeout"):
                raise _Passing(self._unreachable("it does not answer")) from error
            late = (
                f"{self.url} gave no whole answer within {within:.0f} s: give the engine a longer timeout, or ask less."
            )
            raise _Passing(EngineError(late)) from error
        except openai.APIStatusError as error:
            raise self._of_status(error) from error
        except openai.APIConnectionError as error:
            raise self._of_connection(error) from error
        except (ValueError, RecursionError) as error:
            raise _Passing(EngineError(f"{self.url} answered with broken JSON: {self._quote(str(error))}")) from error
        # A list that is there and holds nothing but objects; some servers report their troubles with status 200.
        if isinstance(answer, dict):
            found = answer.get(key)
            if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
                return answer
        complaint = self._quote(_complaint(answer))
        raise _Passing(EngineError(f"{self.url} answered with something else than {key}: {complaint or 'nothing'}"))

    def _of_status(self, error: Any) -> Exception:
        """What an answer with a status other than 200 means."""
        status, said = int(error.status_code), self._quote(_complaint(error.body) or str(error.message))
        where = f"{self.url} (status {status}, model {self.model!r})"
        code = error.body.get("code") if isinstance(error.body, dict) else None
        if 300 <= status < 400:
            target = _without_secrets(str(error.response.headers.get("location", "")))
            return EngineUnavailable(
                f"{where} redirects to {self._quote(target)}: name the right address as base_url, "
                "since keys and prompts are not sent on to another one."
            )
        if status in (401, 403):
            kind = NotAllowed if status == 403 else EngineUnavailable
            return kind(f"{where} does not let us in: expected a valid api_key or OPENAI_API_KEY. {said}")
        if status == 404:
            return EngineUnavailable(
                f"{where} has no such model or no such address: expected a model that it serves, and a base_url "
                f"that (usually) ends in /v1. {said}"
            )
        if code == "insufficient_quota":
            return EngineUnavailable(f"{where} has no quota left for this key. {said}")
        if status == 413 or (status in (400, 422) and (code == "context_length_exceeded" or _TOO_LONG.search(said))):
            return PromptTooLong(f"The prompt and max_tokens are too much for {where}. {said}")
        if status in (400, 422):
            return Refused(f"{where} refused the request. {said}")
        if status in (408, 409, 425, 429) or status >= 500:
            final = EngineError(f"{where} could not answer, and trying again did not help. {said}")
            return _Passing(final, _retry_after(error.response.headers))
        return EngineError(f"{where} answered in a way that is not understood. {said}")

    def _of_connection(self, error: Exception) -> Exception:
        cause = self._quote(str(error.__cause__ or error))
        if "CERTIFICATE_VERIFY_FAILED" in str(error.__cause__):
            return EngineUnavailable(
                f"{self.url} has no certificate that can be trusted ({cause}): set SSL_CERT_FILE to the authority's."
            )
        if _is_cause(error, "ConnectError"):
            return _Passing(self._unreachable(cause))
        return _Passing(EngineError(f"The connection to {self.url} broke before the answer was there: {cause}"))

    def _unreachable(self, why: str) -> EngineUnavailable:
        return EngineUnavailable(
            f"{self.url} cannot be reached ({why}): expected a server for the model {self.model!r} there; "
            "start it, or name another base_url."
        )

    def _is_closed(self) -> EngineUnavailable:
        return EngineUnavailable(f"The engine for {self.url} was closed.")

    def _quote(self, said: str, longest: int = 300) -> str:
        """Foreign words for an error: one line, printable, without the key."""
        said = self._without_key(said[: 10 * longest])
        said = "".join(char if char.isprintable() else " " for char in said)
        said = " ".join(said.split())
        return said if len(said) <= longest else said[: longest - 1] + "…"


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _without_secrets(url: str) -> str:
    """An address as it may be printed: without a password, and without a query that may hold a key."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl().rstrip("/")


def _complaint(body: object) -> str:
    """What a server says of an error; there are many habits."""
    for key in ("error", "message", "detail"):
        if isinstance(body, dict) and body.get(key):
            return _complaint(body[key])
    return "" if body is None else str(body)


def _is_cause(error: BaseException, name: str) -> bool:
    # By name, since `openai` stands on httpx in one version, and on httpx2 in another.
    return type(error.__cause__).__name__ == name


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server wants to be left alone, if it says so in seconds (dates are rare, and clocks differ)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if seconds >= 0:
            return seconds
    return None
