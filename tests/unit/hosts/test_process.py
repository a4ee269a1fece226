"""A child process ends for all who wait for it, each with its own patience."""

import asyncio
import sys

from flowsweep.hosts.process import PipedProcess

DEAF = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
"""Reads nothing of what is written to it."""
MORE_THAN_A_PIPE_HOLDS = bytes(1 << 20)


def test_one_who_waits_no_longer_does_not_end_the_wait_of_another() -> None:
    async def ended() -> list[str]:
        process = await PipedProcess.start("a", DEAF)
        process.stdin.write(MORE_THAN_A_PIPE_HOLDS)
        return list(await asyncio.gather(process.end(30), process.end(0.1)))

    assert asyncio.run(ended()) == ["SIGKILL"] * 2


def test_one_who_is_cancelled_does_not_end_the_wait_of_another() -> None:
    async def ended() -> str:
        process = await PipedProcess.start("a", DEAF)
        process.stdin.write(MORE_THAN_A_PIPE_HOLDS)
        given_up = asyncio.create_task(process.end(30))
        other = asyncio.create_task(process.end(0.1))
        await asyncio.sleep(0)
        given_up.cancel()
        return await other

    assert asyncio.run(ended()) == "SIGKILL"
