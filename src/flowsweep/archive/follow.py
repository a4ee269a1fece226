"""Following an archive's journal while it grows: each record is read once, soon after it was written."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from flowsweep.archive import disk
from flowsweep.archive.entries import Entry, entry_of
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import HEADER_BYTES, JOURNAL_FILE, Content, parse

_BYTES_AT_A_TIME = 16 << 20


@dataclass(frozen=True, slots=True)
class Followed:
    """A record of the journal, and where it stands."""

    entry: Entry
    offset: int
    """Of its payload, from the beginning of the file."""
    payload_bytes: int


class JournalFollower:
    """Reads on where it was.

    Records that nobody understands are left out, and counted: an archive may be written by a later version.

    Args:
        folder: The archive's.
        offset: Where to begin: behind a whole record.
    """

    def __init__(self, folder: Folder, offset: int = 0) -> None:
        self._folder = folder
        self._path = folder.path / JOURNAL_FILE
        self._size_seen = offset
        self._file: tuple[int, int] | None = None
        self.offset = offset
        """Behind the last whole record that was read."""
        self.not_understood = 0
        """Records that were left out, and stretches between records that are none."""
        self.damaged: list[range] = []
        """Those stretches."""

    @property
    def tail_bytes(self) -> int:
        """How many bytes there were behind the last whole record, when records were read last."""
        return max(0, self._size_seen - self.offset)

    def starts_anew(self) -> bool:
        """Whether another journal stands there now than the one that was read: read from its beginning then.

        Raises:
            ArchiveError: It cannot be looked at.
        """
        with disk.reported(self._path, "cannot be read"):
            descriptor = self._folder.open(JOURNAL_FILE)
            try:
                found = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        file = (found.st_dev, found.st_ino)
        other = found.st_size < self.offset or (self._file is not None and self._file != file)
        self._file = file
        if other:
            self.offset = self._size_seen = 0
            self.damaged.clear()
        return other

    def records(self) -> Iterator[Followed]:
        """Read what was appended since; what is no whole record yet is read next time.

        Raises:
            ArchiveError: The journal cannot be read.
        """
        wanted = _BYTES_AT_A_TIME
        while True:
            with disk.reported(self._path, "cannot be read"):
                data = self._read(wanted)
            if len(data) + self.offset == self._size_seen:
                return  # As before: what is there is no whole record.
            content = parse(data, str(self._path))
            whole = content.whole_bytes
            if whole == 0 and len(data) == wanted:
                wanted *= 2
                continue
            begin = self.offset
            self.offset += whole
            self.not_understood += len(content.damaged)
            self.damaged += [range(begin + gap.start, begin + gap.stop) for gap in content.damaged]
            yield from self._entries(content, begin)
            if len(data) < wanted:
                self._size_seen = begin + len(data)
                return
            wanted = _BYTES_AT_A_TIME

    def payload(self, offset: int, payload_bytes: int) -> bytes:
        """Read a record's payload again.

        Raises:
            ArchiveError: The journal cannot be read.
        """
        with disk.reported(self._path, "cannot be read"):
            descriptor = self._folder.open(JOURNAL_FILE)
            try:
                return os.pread(descriptor, payload_bytes, offset)
            finally:
                os.close(descriptor)

    def _read(self, wanted: int) -> bytes:
        descriptor = self._folder.open(JOURNAL_FILE)
        try:
            return os.pread(descriptor, wanted, self.offset)
        finally:
            os.close(descriptor)

    def _entries(self, content: Content, begin: int) -> Iterator[Followed]:
        behind = {stretch.start: stretch.stop for stretch in content.damaged}
        offset = 0
        for payload in content.payloads:
            offset = behind.get(offset, offset) + HEADER_BYTES
            try:
                yield Followed(entry_of(payload), begin + offset, len(payload))
            except ValidationError:
                self.not_understood += 1
            offset += len(payload)
