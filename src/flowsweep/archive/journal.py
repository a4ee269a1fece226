"""The journal's file: records that are only ever appended, each on disk before `append` returns.

A record is a header of three big-endian u32 (length of the payload, CRC-32 of it, CRC-32 of the eight bytes
before) and the payload. The header has its own checksum, because a wrong length would otherwise look like a
record that was not written to its end, and everything after it would be lost. Behind bytes that are no record
the next one is found by how its payload begins.
"""

import os
import struct
import time
import zlib
from dataclasses import dataclass

from flowsweep.archive import disk
from flowsweep.archive.folder import Folder
from flowsweep.errors import ArchiveError

JOURNAL_FILE = "journal"
JOURNAL_BYTES_MAX = 2 << 30
"""Of a journal that is read; a record has some thousand bytes."""
PAYLOAD_BEGIN = b'{"kind":"'
"""How each payload begins: JSON without white space, `kind` first."""

_WAIT_S = 0.5
_HEADER = struct.Struct(">III")
_CHECKED = struct.Struct(">II")
HEADER_BYTES = _HEADER.size
"""What stands before each payload."""
_SEARCHED_MAX = 16
"""How often a journal may be read on the search for whole records: one may be made to be read for ever."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a journal holds."""

    payloads: tuple[bytes, ...]
    whole_bytes: int
    """Where the last whole record ends."""
    tail_bytes: int
    """How many bytes come after it: of a record that was not written to its end, or has changed since."""
    damaged: tuple[range, ...]
    """Stretches between whole records that are none: what was recorded there has changed since."""


def frame(payload: bytes) -> bytes:
    """Return the payload as a record of the journal."""
    checked = _CHECKED.pack(len(payload), zlib.crc32(payload))
    return checked + zlib.crc32(checked).to_bytes(4, "big") + payload


def parse(data: bytes, name: str) -> Content:
    """Take a journal apart; what is no whole record is reported and left out.

    Args:
        data: The file.
        name: Of the file, for the error.

    Raises:
        ArchiveError: It has been made so that the search for its records would not end.
    """
    payloads: list[bytes] = []
    damaged: list[range] = []
    search = _Search(data, name)
    offset = 0
    while offset < len(data):
        if (payload := search.record_at(offset)) is None:
            behind = search.next_record(offset + 1)
            if behind is None:
                break
            damaged.append(range(offset, behind))
            offset = behind
            continue
        payloads.append(payload)
        offset += _HEADER.size + len(payload)
    return Content(tuple(payloads), offset, len(data) - offset, tuple(damaged))


class _Search:
    """Whole records in bytes; counts what it reads."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data = data
        self._name = name
        self._left = _SEARCHED_MAX * max(len(data), 1 << 20)

    def record_at(self, offset: int) -> bytes | None:
        """The payload of a whole record that begins there, if one does."""
        data = self._data
        if offset + _HEADER.size > len(data):
            return None
        length, payload_crc, header_crc = _HEADER.unpack_from(data, offset)
        start = offset + _HEADER.size
        if start + length > len(data) or zlib.crc32(data[offset : offset + _CHECKED.size]) != header_crc:
            return None
        self._left -= length
        if self._left < 0:
            raise ArchiveError(
                f"{self._name}: has too many places that look like a record and are none. "
                "Nothing was altered; restore the file from a copy."
            )
        payload = data[start : start + length]
        return payload if zlib.crc32(payload) == payload_crc else None

    def next_record(self, offset: int) -> int | None:
        """Where the next whole record begins, at or behind a byte."""
        begin = self._data.find(PAYLOAD_BEGIN, offset + _HEADER.size)
        while begin >= 0:
            if self.record_at(begin - _HEADER.size) is not None:
                return begin - _HEADER.size
            begin = self._data.find(PAYLOAD_BEGIN, begin + 1)
        return None


def has_writer(folder: Folder) -> bool:
    """Whether a process has the archive open for writing; False where there are no locks to tell by."""
    descriptor = folder.open(JOURNAL_FILE)
    try:
        return not disk.try_lock(descriptor, shared=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def lock_archive(folder: Folder) -> int:
    """Take the lock of an archive's writer, for as long as the descriptor that is returned is open.

    Raises:
        ArchiveError: Another process has it.
    """
    descriptor = folder.open(JOURNAL_FILE, writable=True)
    try:
        _lock(descriptor, folder)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int, folder: Folder) -> None:
    # A reader that asks whether there is a writer has the lock for a moment.
    deadline = time.monotonic() + _WAIT_S
    while not disk.try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise ArchiveError(
                f"{folder.path}: another flowsweep is writing this archive. "
                "Wait for its end, or choose another."
            )
        time.sleep(disk.PAUSE_S)
    if not os.fstat(descriptor).st_nlink:
        raise ArchiveError(
            f"{folder.path}: nothing began in this archive, and it was just removed. Begin anew."
        )


class JournalFile:
    """A journal opened for appending by the only process that may: it holds the archive's lock.

    Opening changes nothing. The first record that is appended goes behind the last whole one; what was there
    is put aside before.

    Args:
        folder: The archive's.
        new: Make the file; it may be there if it is empty.
        locked: A descriptor of it by which this process has the lock already.

    Raises:
        ArchiveError: Another process holds the lock, or it is no file that may be written.
    """

    def __init__(self, folder: Folder, *, new: bool = False, locked: int | None = None) -> None:
        self._folder = folder
        self._path = folder.path / JOURNAL_FILE
        make = new and not folder.has_file(JOURNAL_FILE)
        self._descriptor = (
            folder.open(JOURNAL_FILE, writable=True, new=make) if locked is None else os.dup(locked)
        )
        try:
            if locked is None:
                _lock(self._descriptor, folder)
            data = folder.read(JOURNAL_FILE, at_most=JOURNAL_BYTES_MAX)
            self._content: Content | None = parse(data, str(self._path))
        except BaseException:
            os.close(self._descriptor)
            raise
        self._end = self._content.whole_bytes
        tail = data[self._end :]
        self._tail = tail if tail.strip(b"\0") else b""
        self._cut = bool(tail)

    def take_content(self) -> Content:
        """What was there at opening; kept no longer, since whoever writes goes on for long."""
        content, self._content = self._content, None
        if content is None:
            raise ValueError("it was taken before")
        return content

    def append(self, payload: bytes) -> None:
        """Add a record; it is on disk on return.

        Raises:
            ArchiveError: The disk did not take it; the journal is as before.
        """
        record = frame(payload)
        with disk.reported(self._path, "cannot be written"):
            self._put_tail_aside()
            try:
                disk.append(self._descriptor, record, at=self._end)
            except OSError:
                disk.cut(self._descriptor, at=self._end)
                raise
        self._end += len(record)

    @property
    def descriptor(self) -> int:
        """By which this process has the lock."""
        return self._descriptor

    @property
    def end(self) -> int:
        """Where the last record ends."""
        return self._end

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._descriptor)

    def _put_tail_aside(self) -> None:
        if self._tail:
            kept = self._folder.free_name_aside(f"{JOURNAL_FILE}-from-byte-{self._end}")
            self._folder.write(kept, self._tail)
        if self._cut:
            disk.cut(self._descriptor, at=self._end)
        self._tail, self._cut = b"", False
