"""Frames on an engine's standard input and output: bytes in, frames out; no process, no clock.

The engine's side opens with `MAGIC`, so that a login banner in front of it can be told from the protocol.
A frame is a big-endian u32 payload length, one kind byte, and the payload. The other side is `engine/wire`.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from flowsweep.defaults import EVENT_MAX_BYTES, TABLE_MAX_BYTES

MAGIC = b"\0flowsweep/agent"
MAX_PAYLOAD_BYTES = 64 << 20
MAX_BANNER_BYTES = 64 << 10

_HEADER = struct.Struct(">IB")


class FrameKind(Enum):
    """What the payload of a frame is."""

    JSON = ord("J")
    ARROW = ord("A")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, read completely."""

    kind: FrameKind
    payload: bytes


class FrameError(ValueError):
    """These bytes are not the protocol."""


def encode(frame: Frame) -> bytes:
    """Header and payload as they go over the wire.

    Raises:
        FrameError: the payload is over `MAX_PAYLOAD_BYTES`.
    """
    if len(frame.payload) > MAX_PAYLOAD_BYTES:
        raise FrameError(f"frame of {len(frame.payload)} bytes, at most {MAX_PAYLOAD_BYTES} are accepted")
    return _HEADER.pack(len(frame.payload), frame.kind.value) + frame.payload


class FrameReader:
    """Takes an engine's output in pieces of any size and gives back whole frames."""

    def __init__(self) -> None:
        self.opened = False
        """The magic was there: whatever follows is frames."""
        self.banner = b""
        """What came before the magic."""
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Frames that are complete with these bytes.

        Raises:
            FrameError: too much came before the magic, or a header is impossible. The stream is lost then.
        """
        self._rest += data
        if not self.opened:
            self._skip_banner()
        while self.opened and len(self._rest) >= _HEADER.size:
            length, kind = self._header()
            end = _HEADER.size + length
            if len(self._rest) < end:
                return
            frame = Frame(kind, bytes(memoryview(self._rest)[_HEADER.size : end]))
            del self._rest[:end]
            yield frame

    def _skip_banner(self) -> None:
        at = self._rest.find(MAGIC)
        self.banner = bytes(self._rest[: at if at >= 0 else MAX_BANNER_BYTES])
        if at > MAX_BANNER_BYTES or (at < 0 and len(self._rest) > MAX_BANNER_BYTES + len(MAGIC)):
            raise FrameError(f"more than {MAX_BANNER_BYTES} bytes came, and no engine among them")
        if at >= 0:
            self.opened = True
            del self._rest[: at + len(MAGIC)]

    def _header(self) -> tuple[int, FrameKind]:
        length, number = _HEADER.unpack_from(self._rest)
        try:
            kind = FrameKind(number)
        except ValueError:
            raise FrameError(f"unknown frame kind {number:#04x}, expected 'J' or 'A'") from None
        longest = EVENT_MAX_BYTES if kind is FrameKind.JSON else TABLE_MAX_BYTES
        if length > longest:
            raise FrameError(f"frame of {length} bytes, at most {longest} are accepted")
        return length, kind
