"""A session takes some open files, of which a process may have only so many."""

import asyncio
import errno
import resource
from pathlib import Path

import pytest

from fake_engine import access, greeting
from flowsweep.errors import LaunchError
from flowsweep.hosts import heartbeat, opening
from flowsweep.hosts.opening import open_session
from flowsweep.hosts.process import PipedProcess


@pytest.fixture(autouse=True)
def _local_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that greets and waits."""
    path, words = tmp_path / "flowsweep-engine", tmp_path / "greeting"
    words.write_bytes(greeting())
    path.write_text(f"#!/bin/sh\ncat {words}\ncat > /dev/null\n")
    path.chmod(0o755)
    monkeypatch.setattr(opening, "engine_path", lambda: path)


def test_where_files_are_many_hosts_and_a_remedy_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that was started for a session is ended."""
    started: list[PipedProcess] = []
    start = PipedProcess.start

    async def noted(*words: object) -> PipedProcess:
        started.append(await start(*words))
        return started[0]

    def no_more(_: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    async def talk() -> None:
        try:
            await open_session(access("far"))
        finally:
            assert started[0].process.returncode is not None

    monkeypatch.setattr(PipedProcess, "start", noted)
    monkeypatch.setattr(heartbeat.os, "dup", no_more)
    with pytest.raises(LaunchError, match=r"host far: .*Too many open files; raise `ulimit -n` here"):
        asyncio.run(talk())


def test_as_many_files_may_be_open_as_this_process_may_have() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] - 1, before[1]))

    async def talk() -> None:
        session = await open_session(access("far"))
        await session.close()

    try:
        asyncio.run(talk())
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
