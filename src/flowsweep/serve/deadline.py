"""Connections that do not ask in time, or do not read the answer, are closed; uvicorn would keep them."""

import asyncio
import fcntl
import struct
import termios
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Deadlined(H11Protocol):
    """HTTP with a deadline for a whole request, from the connection or its first byte, and for reading."""

    request_within_s = 20.0
    """Headers, and the body if there is one: nothing that is asked here has a long one."""
    connections_max = 512
    """More are closed at once: each takes a descriptor, and archives could not be opened any more. Of those
    that ask, fewer are answered (`limit_concurrency`)."""
    unread_within_s = 60.0
    """An answer of which nothing more arrived for so long is given up, at the latest after twice that."""
    _deadline: asyncio.TimerHandle | None = None
    _look: asyncio.TimerHandle | None = None
    _stuck_at: int | None = None
    """How many bytes had arrived at the last look, if more had been written then."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(cast("asyncio.Transport", _Counted(transport)))
        if len(self.connections) > self.connections_max:
            transport.abort()
            return
        self._deadline = self.loop.call_later(self.request_within_s, transport.close)
        self._look = self.loop.call_later(self.unread_within_s, self._look_at_unread)

    def data_received(self, data: bytes) -> None:
        """Stop waiting once the request is whole; begin if these are the first bytes of another one."""
        super().data_received(data)
        self._wait_for_the_rest()

    def on_response_complete(self) -> None:
        """Begin if what came behind the request that was answered is a part of another one."""
        super().on_response_complete()
        self._wait_for_the_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._wait_no_longer()
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def _look_at_unread(self) -> None:
        waiting = _unread_bytes(self.transport)
        arrived = cast("_Counted", self.transport).written - waiting
        if waiting and arrived == self._stuck_at:
            # Closing alone would wait until it is read.
            self.transport.abort()
            return
        self._stuck_at = arrived if waiting else None
        self._look = self.loop.call_later(self.unread_within_s, self._look_at_unread)

    def _wait_for_the_rest(self) -> None:
        """Wait for as long as a part of a request is there, and no longer."""
        is_begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not is_begun and self.conn.their_state is not h11.SEND_BODY:
            self._wait_no_longer()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.request_within_s, self.transport.close)

    def _wait_no_longer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Counted:
    """A transport that counts what was written to it: what waits at two moments need not be the same."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.written = 0

    def write(self, data: bytes) -> None:
        self.written += len(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> object:
        return getattr(self._transport, name)


def _unread_bytes(transport: asyncio.Transport) -> int:
    """What was written and has not arrived: also what the kernel keeps, of which a slow reader takes long."""
    opened = transport.get_extra_info("socket")
    kept = struct.unpack("i", fcntl.ioctl(opened.fileno(), termios.TIOCOUTQ, bytes(4)))[0]
    return transport.get_write_buffer_size() + int(kept)
