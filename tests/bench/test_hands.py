import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable

import pytest

from eapo_gym.bench.hands import Hand


def test_one_thread_does_one_thing_after_another() -> None:
    async def main() -> tuple[list[int], list[str]]:
        hand, order = Hand(), []

        def work(name: str, seconds: float) -> int:
            time.sleep(seconds)
            order.append(name)
            return threading.get_ident()

        threads = await asyncio.gather(hand.call(work, "a", 0.02), hand.call(work, "b", 0))
        hand.leave()
        return threads, order

    threads, order = asyncio.run(main())
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()
    assert order == ["a", "b"]


@pytest.mark.parametrize(
    ("error", "raised"), [(ValueError("no"), ValueError), (SystemExit(3), SystemExit), (StopIteration(1), RuntimeError)]
)
def test_what_is_raised_there_is_raised_here(error: BaseException, raised: type[BaseException]) -> None:
    def work() -> None:
        raise error

    async def main() -> None:
        hand = Hand()
        caught = await asyncio.gather(hand.call(lambda: 7), _outcome(hand.call(work)), hand.call(lambda: 8))
        assert caught[0::2] == [7, 8], "and the thread goes on"
        assert type(caught[1]) is raised
        hand.leave()

    asyncio.run(main())


async def _outcome(call: Awaitable[object]) -> object:
    try:
        return await call
    except BaseException as error:
        return error


def test_a_call_that_was_given_up_keeps_the_hand_busy_until_it_returns() -> None:
    gate = threading.Event()
    closed = threading.Event()

    async def main() -> None:
        hand = Hand()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(hand.call(gate.wait), 0.02)
        assert hand.busy
        hand.leave(closed.set)
        assert not closed.is_set()
        gate.set()
        assert closed.wait(10), "what was to be done last is done once it is free"

    asyncio.run(main())


def test_a_call_that_never_returns_does_not_keep_the_program() -> None:
    program = (
        "import asyncio, threading; from eapo_gym.bench.hands import Hand\n"
        "async def main():\n"
        "    try: await asyncio.wait_for(Hand().call(threading.Event().wait), 0.05)\n"
        "    except asyncio.TimeoutError: print('given up')\n"
        "asyncio.run(main())"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert ran.stdout == "given up\n"


def test_who_has_the_answer_does_not_find_the_hand_busy() -> None:
    async def main() -> int:
        hand = Hand()
        busy = 0
        for _ in range(300):
            await hand.call(int)
            busy += hand.busy
        hand.leave()
        return busy

    assert asyncio.run(main()) == 0
