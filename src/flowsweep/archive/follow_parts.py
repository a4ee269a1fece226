"""Following an archive over all of its parts, as if they had one journal.

A place in it is a number: in the first part the byte of its journal, in others that and the number of the
part, in higher bits.
"""

from collections.abc import Iterator
from dataclasses import replace

from flowsweep.archive.folder import Folder
from flowsweep.archive.follow import Followed, JournalFollower
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.archive.part_folders import opened_part, part_numbers

_OFFSET_BITS = 40
"""A journal has far fewer bytes."""


def part_of(place: int) -> int:
    """Number of the part in which a place is."""
    return (place >> _OFFSET_BITS) + 1


def byte_of(place: int) -> int:
    """The byte of its part's journal."""
    return place & ((1 << _OFFSET_BITS) - 1)


def end_of(folder: Folder) -> int:
    """The place behind the last byte of an archive now.

    Raises:
        ArchiveError: It cannot be looked at.
        OSError: It is not there.
    """
    last = part_numbers(folder)[-1]
    return _place(last, opened_part(folder, last).file_bytes(JOURNAL_FILE))


class ArchiveFollower:
    """Reads on where it was.

    Args:
        folder: The archive's.
        place: Where to begin: behind a whole record.
    """

    def __init__(self, folder: Folder, place: int = 0) -> None:
        self._folder = folder
        self._left_out = 0
        self._part = part_of(place)
        self._first = JournalFollower(folder)
        self._newest = self._follower(byte_of(place))

    @property
    def offset(self) -> int:
        """The place behind the last whole record that was read."""
        return _place(self._part, self._newest.offset)

    @property
    def not_understood(self) -> int:
        """Records that were left out, and stretches between records that are none."""
        return self._left_out + self._newest.not_understood

    def starts_anew(self) -> bool:
        """Whether another archive stands there now than the one that was read: read from its beginning then.

        Raises:
            ArchiveError: It cannot be looked at.
        """
        other = self._first.starts_anew()
        gone = self._part > 1 and self._part not in part_numbers(self._folder)
        other |= gone or (self._newest is not self._first and self._newest.starts_anew())
        if other:
            self._part, self._left_out = 1, 0
            self._newest = self._first = JournalFollower(self._folder)
        return other

    def records(self) -> Iterator[Followed]:
        """Read what was appended since; what is no whole record yet is read next time.

        Raises:
            ArchiveError: A journal cannot be read.
        """
        while True:
            following = [number for number in part_numbers(self._folder) if number > self._part]
            # A part is over before there is the next one: what is read from here on is all of it.
            for followed in self._newest.records():
                yield replace(followed, offset=_place(self._part, followed.offset))
            if not following:
                return
            self._left_out += self._newest.not_understood
            self._part = following[0]
            self._newest = self._follower(0)

    def payload(self, offset: int, payload_bytes: int) -> bytes:
        """Read a record's payload again.

        Raises:
            ArchiveError: The journal cannot be read.
        """
        number = part_of(offset)
        part = self._first if number == 1 else JournalFollower(opened_part(self._folder, number))
        return part.payload(byte_of(offset), payload_bytes)

    def _follower(self, offset: int) -> JournalFollower:
        if self._part == 1:
            self._first = JournalFollower(self._folder, offset)
            return self._first
        return JournalFollower(opened_part(self._folder, self._part), offset)


def _place(part: int, offset: int) -> int:
    return ((part - 1) << _OFFSET_BITS) + offset
