"""A child process with pipes: the engine, or what copies it."""

import asyncio
import contextlib
import errno
import os
import resource
import shlex
import signal
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from flowsweep.defaults import ENGINE_END_TIMEOUT_S, ENGINE_KILLED_TIMEOUT_S
from flowsweep.errors import LaunchError

_PIPE_LIMIT_BYTES = 1 << 20
_COMPLAINT_BYTES = 4 << 10
_LONGEST_COMMAND = 80
"""Characters of it that are shown."""


@dataclass(slots=True)
class PipedProcess:
    """A running child process. What it says on standard error is kept, the last 4 KiB of it."""

    process: Process
    transport: asyncio.SubprocessTransport
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    _complaint: bytearray = field(default_factory=bytearray)
    _listener: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, host: str, command: Sequence[str]) -> Self:
        """Start a command.

        It gets a session of its own: a Ctrl-C in the terminal is for the controller, which then ends its
        engines in order; and ssh cannot stop and ask for a password behind a progress bar.

        Raises:
            LaunchError: there is no such program, or it may not be started.
        """
        loop = asyncio.get_running_loop()
        try:
            # What `asyncio.create_subprocess_exec` does, but for the transport: it alone can close pipes that
            # a grandchild keeps open.
            transport, protocol = await loop.subprocess_exec(
                lambda: SubprocessStreamProtocol(limit=_PIPE_LIMIT_BYTES, loop=loop),
                *command,
                start_new_session=True,
            )
        except OSError as error:
            words = why_not(error)
            raise LaunchError(host, f"cannot start `{_shown(command)}`: {words}") from error
        process = Process(transport, protocol, loop)
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise LaunchError(host, f"`{_shown(command)}` was started without pipes")
        started = cls(process, transport, process.stdin, process.stdout)
        started._listener = asyncio.create_task(started._listen(process.stderr))
        return started

    @property
    def complaint(self) -> str:
        """What it said last on standard error."""
        return self._complaint.decode(errors="replace").strip()

    async def end(self, patience_s: float | None = None) -> str:
        """Close its standard input, wait until it is gone, end it by force if it stays; says how it ended.

        It takes no longer than `patience_s` (`ENGINE_END_TIMEOUT_S` if absent) and `ENGINE_KILLED_TIMEOUT_S`.
        """
        self.stdin.close()
        if not await self._gone_within(ENGINE_END_TIMEOUT_S if patience_s is None else patience_s):
            self._end_by_force()
            await self._gone_within(ENGINE_KILLED_TIMEOUT_S)
        self.transport.close()
        return self._ending()

    def _end_by_force(self) -> None:
        """The launcher with all that it started: the group is its own, see `start`.

        Nobody but root may end what `sudo` started.
        """
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def _ending(self) -> str:
        status = self.process.returncode
        if status is None:
            return "its process does not end"
        return signal.Signals(-status).name if status < 0 else f"exit status {status}"

    async def _gone_within(self, seconds: float) -> bool:
        """Whether the process, and what it says, came to an end; a grandchild may keep its pipes open."""
        try:
            async with asyncio.timeout(seconds):
                with contextlib.suppress(OSError):
                    # All who wait share one future, which the first to give up would cancel for all.
                    await asyncio.shield(self.stdin.wait_closed())
                await self.process.wait()
                if self._listener is not None:
                    await asyncio.shield(self._listener)
        except TimeoutError:
            return False
        return True

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while words := await stderr.read(_COMPLAINT_BYTES):
            self._complaint += words
            del self._complaint[:-_COMPLAINT_BYTES]


def _shown(command: Sequence[str]) -> str:
    """A command as it is typed; of a long one, as of what copies an engine, the program."""
    whole = shlex.join(command)
    return whole if len(whole) <= _LONGEST_COMMAND else f"{shlex.quote(command[0])} ..."


def allow_many_files() -> None:
    """Let this process have as many files open as it may be allowed: a session with an engine takes some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def why_not(error: OSError) -> str:
    """What the operating system says, and what to do where this process has too many files open."""
    remedy = "; raise `ulimit -n` here, or measure fewer hosts" if error.errno == errno.EMFILE else ""
    return f"{error.strerror}{remedy}"
