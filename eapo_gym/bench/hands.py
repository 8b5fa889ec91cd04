"""A thread for calls that may take long, or for ever."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


class Hand:
    """One thread that does one thing after another for a coroutine.

    asyncio's own pool of threads is small, shared by all, and waited for at the end of the program: one environment
    that hangs in it would take a place from the others, and keep the program from ending. This thread belongs to one
    environment (which may insist on one thread), and dies with the program.
    """

    def __init__(self, name: str = "hand") -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._name = name
        self._begun = self._done = 0

    @property
    def busy(self) -> bool:
        """Whether it is still at something that it was given."""
        return self._begun > self._done

    async def call(self, function: Callable[..., Result], *args: Any) -> Result:
        """What the function returns or raises. Cancelled, the caller goes on, and the thread when it can."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()

        def work() -> None:
            answer: Any = None
            raised: BaseException | None = None
            try:
                answer = function(*args)
            except StopIteration as error:  # which no future may carry
                raised = RuntimeError(f"StopIteration was raised: {error}")
            except BaseException as error:
                raised = error
            self._done += 1  # before anybody is told, who might find it busy still
            _tell(loop, future, answer, raised)

        self._do(work)
        return await future

    def leave(self, last: Callable[[], object] | None = None) -> None:
        """Let the thread end once it has done what it is doing, and this last thing; nobody waits for it."""
        if self._thread is None and last is None:
            return

        def work() -> None:
            try:
                if last is not None:
                    last()
            except (Exception, SystemExit):
                # An environment that was given up because it is broken may well not close; nobody is left to be told.
                pass
            self._done += 1

        self._do(work)
        self._work.put(None)

    def _do(self, work: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._begun += 1
        self._work.put(work)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


def _tell(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    answer: Any = None,
    error: BaseException | None = None,
) -> None:
    def settle() -> None:
        if not future.done():
            if error is None:
                future.set_result(answer)
            else:
                future.set_exception(error)

    if not loop.is_closed():
        try:
            loop.call_soon_threadsafe(settle)
        except RuntimeError:
            # The loop was closed just now: whoever waited is gone.
            return
