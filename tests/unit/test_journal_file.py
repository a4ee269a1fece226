"""The journal as a file: what opening and a full disk do to it."""

import errno
import os
from pathlib import Path

import pytest

from flowsweep.archive import disk
from flowsweep.archive.journal import JournalFile, frame, parse
from flowsweep.errors import ArchiveError


def test_records_are_there_at_the_next_opening(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for number in range(3):
        journal = JournalFile(path)
        assert journal.payloads == tuple(str(earlier).encode() for earlier in range(number))
        journal.append(str(number).encode())
        journal.close()


def test_opening_cuts_a_torn_tail_off_so_that_the_next_record_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(frame(b"first") + frame(b"second")[:-1])
    journal = JournalFile(path)
    assert journal.payloads == (b"first",)
    journal.append(b"third")
    journal.close()
    assert parse(path.read_bytes(), "journal").payloads == (b"first", b"third")


def test_a_damaged_journal_is_left_as_it_is_and_free_for_others(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    damaged = frame(b"first")[:-1] + b"X" + frame(b"second")
    path.write_bytes(damaged)
    for _ in range(2):
        with pytest.raises(ArchiveError, match="the record at byte 0 has changed"):
            JournalFile(path)
    assert path.read_bytes() == damaged


def test_only_one_writes(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = JournalFile(path)
    with pytest.raises(ArchiveError, match="another flowsweep is writing"):
        JournalFile(path)
    first.close()
    JournalFile(path).close()


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    journal = JournalFile(path)
    journal.append(b"first")

    def half(descriptor: int, data: bytes, *, at: int) -> None:
        os.pwrite(descriptor, data[: len(data) // 2], at)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(disk, "append", half)
        with pytest.raises(ArchiveError, match="No space left"):
            journal.append(b"second")
    journal.append(b"third")
    journal.close()
    assert parse(path.read_bytes(), "journal").payloads == (b"first", b"third")
