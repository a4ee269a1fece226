"""Connections that do not ask for anything within a time are closed; uvicorn would keep them for ever."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Deadlined(H11Protocol):
    """HTTP with a deadline for the headers of a request: from the connection, or its first byte."""

    headers_within_s = 20.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.headers_within_s, transport.close)

    def data_received(self, data: bytes) -> None:
        """Stop waiting once the headers are whole; begin if these are the first bytes of another request."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._wait_no_longer()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.headers_within_s, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def _wait_no_longer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
