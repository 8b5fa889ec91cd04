"""An event loop in a thread of its own, for an object that lives in one loop while its users come from many.

vLLM's async engine belongs to the loop in which it was made. An agent that answers through `asyncio.run` has a new loop
for every call, and a constructor has none.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """The loop, running until `close`."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; it is cancelled if the caller is."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self) -> None:
        """End the loop; what still runs in it is cancelled."""
        if self._loop.is_closed():
            return
        self.submit(self._cancel_all()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancel_all(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
