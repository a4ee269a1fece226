"""Hostile clients of an iperf3 server, as a program: SERVER PORT SECONDS CLIENTS ADDRESS...

Each client does one kind of harm again and again from one of the addresses, until the time is over. At the
end it says, as JSON, how many connections stood and tests began, of each kind.
"""

import asyncio
import itertools
import json
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

PARAM_EXCHANGE, CREATE_STREAMS, TEST_RUNNING = 9, 10, 2
IN_FLIGHT = 40
"""Connections that a client of a kind that floods has open at once."""
TESTS = 8
"""Places that a client of an idle kind holds, or wants to."""
FLOOD_S, REST_S = 4, 1
HUGE = 1 << 60
BASE = {"tcp": True, "omit": 0, "time": 0, "num": HUGE, "blockcount": 0, "parallel": 1, "len": 131072}


@dataclass
class Client:
    """Somebody hostile."""

    server: tuple[str, int]
    address: str
    number: int
    deadline: float
    connections: int = 0
    tests: int = 0
    names: "itertools.count[int]" = field(default_factory=itertools.count)

    async def connect(self) -> socket.socket:
        """Open a connection from its address."""
        opened = socket.socket()
        opened.settimeout(0)
        opened.bind((self.address, 0))
        try:
            await asyncio.wait_for(asyncio.get_running_loop().sock_connect(opened, self.server), 5)
        except BaseException:
            opened.close()
            raise
        self.connections += 1
        return opened

    async def ask(self, **more: object) -> tuple[socket.socket, bytes]:
        """Ask for a test, and wait until its streams are wanted."""
        cookie = f"{self.number:04}{next(self.names):032}".encode() + b"\0"
        control = await self.connect()
        await self.say(control, cookie)
        await self.hear(control, PARAM_EXCHANGE)
        text = json.dumps(BASE | more).encode()
        await self.say(control, struct.pack(">I", len(text)) + text)
        await self.hear(control, CREATE_STREAMS)
        self.tests += 1
        return control, cookie

    async def run(self, **more: object) -> tuple[socket.socket, socket.socket]:
        """Ask for a test, and wait until it runs; its control connection and its stream."""
        control, cookie = await self.ask(**more)
        stream = await self.connect()
        await self.say(stream, cookie)
        await self.hear(control, TEST_RUNNING)
        return control, stream

    async def say(self, opened: socket.socket, text: bytes) -> None:
        """Send something."""
        await asyncio.get_running_loop().sock_sendall(opened, text)

    async def hear(self, opened: socket.socket, state: int) -> None:
        """Wait for a state of the server."""
        while True:
            said = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(opened, 1), 30)
            if not said or said[0] > 127:
                raise ConnectionError("the server has had enough")
            if said[0] == state:
                return

    async def until_closed(self, opened: socket.socket) -> None:
        """Wait until the server closes, or says that something is wrong."""
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.get_running_loop().sock_recv(opened, 1), self.left())

    def left(self) -> float:
        """Seconds until its time is over."""
        return max(self.deadline - time.monotonic(), 0.001)


async def floods(client: Client) -> None:
    """Open connections and leave them, as fast as it goes; rest now and then: other harm is to get in."""

    async def one() -> None:
        until = time.monotonic() + FLOOD_S
        while time.monotonic() < until:
            try:
                (await client.connect()).close()
            except OSError:
                await asyncio.sleep(0.01)

    await asyncio.sleep(REST_S)
    await asyncio.gather(*(one() for _ in range(IN_FLIGHT)))


async def stays_half_open(client: Client) -> None:
    """Keep connections open that say part of a name."""

    async def one() -> None:
        while client.left() > 0.01:
            try:
                with await client.connect() as opened:
                    await client.say(opened, b"abc")
                    await client.until_closed(opened)
            except OSError:
                await asyncio.sleep(0.01)

    await asyncio.gather(*(one() for _ in range(IN_FLIGHT)))


async def asks_in_vain(client: Client) -> None:
    """Take a place, and open no stream."""
    control, _ = await client.ask()
    with control:
        await client.until_closed(control)


async def sends_nothing(client: Client) -> None:
    """Take a place and open its stream, and send nothing."""
    control, stream = await client.run()
    with control, stream:
        await client.until_closed(control)


async def reads_nothing(client: Client) -> None:
    """Have the server send without end, and read nothing."""
    control, stream = await client.run(reverse=True)
    with control, stream:
        await client.until_closed(control)


async def drips(client: Client) -> None:
    """Send a byte now and then."""
    control, stream = await client.run()
    with control, stream:
        while client.left() > 0.01:
            await client.say(stream, b"x")
            await asyncio.sleep(0.5)


async def lies(client: Client) -> None:
    """Announce a rate of 1 kbit/s, and send as fast as it goes."""
    control, stream = await client.run(bandwidth=1000)
    with control, stream:
        while client.left() > 0.01:
            await asyncio.wait_for(client.say(stream, bytes(1 << 16)), client.left())


async def talks_rubbish(client: Client) -> None:
    """Send parameters that are none."""
    control = await client.connect()
    with control:
        await client.say(control, b"a" * 36 + b"\0" + struct.pack(">I", 8000) + b"[" * 8000)
        await client.until_closed(control)


KINDS: tuple[Callable[[Client], Awaitable[None]], ...] = (
    floods,
    stays_half_open,
    asks_in_vain,
    sends_nothing,
    reads_nothing,
    drips,
    lies,
    talks_rubbish,
)

IDLE = (asks_in_vain, sends_nothing, reads_nothing, drips)
"""Kinds that hold places and cost next to nothing."""


async def attack(client: Client) -> None:
    """Do one kind of harm again and again."""
    kind = KINDS[client.number % len(KINDS)]

    async def one() -> None:
        while client.left() > 0.01:
            with suppress(OSError, TimeoutError):
                await asyncio.wait_for(kind(client), client.left())
            await asyncio.sleep(0.01)

    await asyncio.gather(*(one() for _ in range(TESTS if kind in IDLE else 1)))


async def main(server: str, port: int, seconds: float, count: int, addresses: list[str]) -> None:
    """Have all of them do harm."""
    deadline = time.monotonic() + seconds
    sources = itertools.cycle(addresses)
    clients = [Client((server, port), next(sources), number, deadline) for number in range(count)]
    await asyncio.gather(*map(attack, clients))
    told = {kind.__name__: {"connections": 0, "tests": 0} for kind in KINDS}
    for client in clients:
        row = told[KINDS[client.number % len(KINDS)].__name__]
        row["connections"] += client.connections
        row["tests"] += client.tests
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]))
