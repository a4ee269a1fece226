"""What all peers have in common: a server at the sink, a client at the source, a figure at the end."""

import asyncio
import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from against.contender import Kind, RunError, Sending
from against.path import BenchPath, shown

LISTEN_TIMEOUT_S = 5.0
END_TIMEOUT_S = 10.0
"""How long a tool may take to end beyond the time that it was asked to send."""
POLL_S = 0.005
SERVER_PAUSE_S = 0.2
"""A server that does not end by itself has said by then what it got."""

_LISTENING, _OPEN = "0A", "07"
"""States of sockets, as /proc/net/tcp and /proc/net/udp have them."""


class Tool(Protocol):
    """One program, as its own module describes it."""

    port: int
    server_ends: bool
    """Whether the server ends after the one client that it serves."""

    def server(self, program: str, length_bytes: int) -> tuple[str, ...]:
        """The command of the receiving side."""

    def client(
        self, program: str, address: str, sending: Sending, options: tuple[str, ...]
    ) -> tuple[str, ...]:
        """The command of the sending side."""

    def received_bps(self, client_said: str, server_said: str) -> float:
        """What the tool itself says its receiver got; raises ValueError if it says nothing of it."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A contender that is another program, with the options that make it this contender."""

    name: str
    kind: Kind
    program: str
    tool: Tool
    options: tuple[str, ...] = ()

    async def run(self, path: BenchPath, sending: Sending) -> float:
        """Send as asked; returns what the tool says that its receiver got, in bit/s.

        Raises:
            RunError: it did not start, ended badly or said nothing.
        """
        command = path.at_source(self.tool.client(self.program, path.sink_address, sending, self.options))
        client_said, server_said = await run_pair(
            path.at_sink(self.tool.server(self.program, sending.length_bytes)),
            command,
            self.tool.port,
            sending.seconds,
            server_ends=self.tool.server_ends,
        )
        try:
            return self.tool.received_bps(client_said, server_said)
        except ValueError as error:
            raise RunError(f"`{shown(command)}`: {error}; it said:\n{client_said}{server_said}") from error


async def run_pair(
    server_command: tuple[str, ...],
    client_command: tuple[str, ...],
    port: int,
    seconds: float,
    *,
    server_ends: bool = True,
) -> tuple[str, str]:
    """Run a server and, once it listens, its client; returns what client and server said.

    Raises:
        RunError: one of them did not start, ended badly or did not end.
    """
    server = await _start(server_command)
    try:
        await _listening(server, port)
        client = await _start(client_command)
        try:
            client_said = await client.said(seconds + END_TIMEOUT_S)
        finally:
            await client.end()
        if not server_ends:
            await asyncio.sleep(SERVER_PAUSE_S)
            server.process.kill()
        return client_said, await server.said(END_TIMEOUT_S, any_status=not server_ends)
    finally:
        await server.end()


@dataclass(frozen=True, slots=True)
class _Process:
    command: str
    process: asyncio.subprocess.Process
    output: asyncio.Task[tuple[bytes, bytes]]

    async def said(self, timeout_s: float, *, any_status: bool = False) -> str:
        """Everything it said, once it is gone. Raises RunError."""
        try:
            async with asyncio.timeout(timeout_s):
                output, _ = await asyncio.shield(self.output)
        except TimeoutError:
            raise RunError(f"`{self.command}` did not end within {timeout_s:g} s") from None
        status = self.process.returncode
        if status != 0 and not any_status:
            raise RunError(f"`{self.command}` ended with {status}: {output.decode(errors='replace')}")
        return output.decode(errors="replace")

    async def end(self) -> None:
        """Nothing of it stays, whatever happened."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.output


async def _start(command: Sequence[str]) -> _Process:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    return _Process(shown(tuple(command)), process, asyncio.create_task(process.communicate()))


async def _listening(server: _Process, port: int) -> None:
    """Wait until the server takes connections, as its namespace's list of sockets says."""
    try:
        async with asyncio.timeout(LISTEN_TIMEOUT_S):
            while port not in set(_ports_listening(server.process.pid)):
                if server.process.returncode is not None:
                    raise RunError(f"`{server.command}` ended: {await server.said(1, any_status=True)}")
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise RunError(f"`{server.command}` does not listen after {LISTEN_TIMEOUT_S:g} s") from None


def _ports_listening(process: int) -> Iterator[int]:
    """TCP ports that listen, and UDP ports that are open to everybody."""
    for family, state in (("tcp", _LISTENING), ("tcp6", _LISTENING), ("udp", _OPEN), ("udp6", _OPEN)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            table = Path(f"/proc/{process}/net/{family}").read_text(encoding="ascii")
            for line in table.splitlines()[1:]:
                fields = line.split()
                if fields[3] == state:
                    yield int(fields[1].rpartition(":")[2], 16)


def says(command: Sequence[str]) -> str:
    """What a program says of itself, on either channel; empty if it cannot be started."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    return done.stdout + done.stderr


def version_in(text: str, pattern: str) -> str | None:
    """The version in what a program says of itself."""
    match = re.search(pattern, text)
    return match[1] if match else None
