"""The journal's file: records that are only ever appended, each on disk before `append` returns.

A record is a header of three big-endian u32 (length of the payload, CRC-32 of it, CRC-32 of the eight bytes
before) and the payload. The header has its own checksum, because a wrong length would otherwise look like a
record that was not written to its end, and everything after it would be cut off.
"""

import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from flowsweep.archive import disk
from flowsweep.errors import ArchiveError

_HEADER = struct.Struct(">III")
_CHECKED = struct.Struct(">II")


@dataclass(frozen=True, slots=True)
class Content:
    """What a journal holds."""

    payloads: tuple[bytes, ...]
    whole_bytes: int
    """Where the last whole record ends; what comes after is torn and was never acknowledged."""


def frame(payload: bytes) -> bytes:
    """Return the payload as a record of the journal."""
    checked = _CHECKED.pack(len(payload), zlib.crc32(payload))
    return checked + zlib.crc32(checked).to_bytes(4, "big") + payload


def parse(data: bytes, name: str) -> Content:
    """Take a journal apart; a torn tail is left out.

    A record counts as torn if the file ends before it does, or if the file had grown but was not written
    everywhere when power went. What was not written reads as zero bytes: after a header that is wrong there
    are only such, or the last payload, which is JSON and never holds one, has some.

    Raises:
        ArchiveError: A whole record has changed since it was written; says at which byte it starts.
    """
    payloads: list[bytes] = []
    offset = 0
    while offset + _HEADER.size <= len(data):
        length, payload_crc, header_crc = _HEADER.unpack_from(data, offset)
        if zlib.crc32(data[offset : offset + _CHECKED.size]) != header_crc:
            if not any(data[offset + _HEADER.size :]):
                break
            raise _corrupt(name, offset, "its header")
        start = offset + _HEADER.size
        if start + length > len(data):
            break
        payload = data[start : start + length]
        if zlib.crc32(payload) != payload_crc:
            if start + length == len(data) and b"\0" in payload:
                break
            raise _corrupt(name, offset, f"its payload of {length} bytes")
        payloads.append(payload)
        offset = start + length
    return Content(tuple(payloads), offset)


def _corrupt(name: str, offset: int, what: str) -> ArchiveError:
    return ArchiveError(
        f"{name}: the record at byte {offset} has changed since it was written: {what} has not the checksum "
        "that was kept with it. Nothing was altered; restore the file from a copy."
    )


class JournalFile:
    """A journal opened for appending by the only process that may: it holds the archive's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = disk.open_locked(path)
        try:
            content = parse(path.read_bytes(), str(path))
            os.ftruncate(self._descriptor, content.whole_bytes)
        except BaseException:
            os.close(self._descriptor)
            raise
        self._end = content.whole_bytes
        self.payloads = content.payloads
        """The records that were there at opening."""

    def append(self, payload: bytes) -> None:
        """Add a record; it is on disk on return.

        Raises:
            ArchiveError: The disk did not take it; the journal is as before.
        """
        record = frame(payload)
        with disk.reported(self._path, "cannot be written"):
            try:
                disk.append(self._descriptor, record, at=self._end)
            except OSError:
                os.ftruncate(self._descriptor, self._end)
                raise
        self._end += len(record)

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._descriptor)
