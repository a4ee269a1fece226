"""A child process ends for all who wait for it, each with its own patience."""

import asyncio
import errno
import os
import sys

import pytest

from flowsweep.errors import LaunchError
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


def test_a_process_that_may_not_be_ended_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that `sudo` started."""

    def refuse(*_: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", refuse)

    async def ended() -> str:
        process = await PipedProcess.start("a", DEAF)
        said = await process.end(0.1)
        await process.process.wait()  # Its transport ends this one, which is ours, once it is closed.
        return said

    assert asyncio.run(ended()) == "its process does not end"


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


def test_of_a_long_command_that_cannot_be_started_the_program_is_told() -> None:
    command = ["/nonexistent/x", "sh", "-c", 100 * "copies the engine; "]
    with pytest.raises(LaunchError) as told:
        asyncio.run(PipedProcess.start("a", command))
    assert str(told.value).startswith("host a: cannot start `/nonexistent/x ...`: No such file or directory")
    assert len(str(told.value)) < 200
