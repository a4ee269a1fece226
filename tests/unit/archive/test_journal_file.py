"""The journal as a file: what opening and a full disk do to it."""

import errno
import os
import tracemalloc
from pathlib import Path

import pytest

from flowsweep.archive import disk
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import PAYLOAD_BEGIN, JournalFile, frame, parse
from flowsweep.errors import ArchiveError


def payload(word: str) -> bytes:
    return PAYLOAD_BEGIN + f'{word}"}}'.encode()


FIRST, SECOND, THIRD = map(payload, ("first", "second", "third"))


def open_journal(folder: Path, *, new: bool = False) -> JournalFile:
    return JournalFile(Folder(folder), new=new)


def test_records_are_there_at_the_next_opening(tmp_path: Path) -> None:
    for number in range(3):
        journal = open_journal(tmp_path, new=number == 0)
        assert journal.take_content().payloads == tuple(payload(str(earlier)) for earlier in range(number))
        journal.append(payload(str(number)))
        journal.close()


@pytest.mark.parametrize("tail", [frame(SECOND)[:-1], frame(SECOND)[:-3] + b"\0\0\0", b"\0" * 9])
def test_opening_changes_nothing_and_the_next_record_puts_a_tail_aside(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(frame(FIRST) + tail)
    open_journal(tmp_path).close()
    assert path.read_bytes() == frame(FIRST) + tail
    journal = open_journal(tmp_path)
    assert journal.take_content().payloads == (FIRST,)
    journal.append(THIRD)
    journal.close()
    assert path.read_bytes() == frame(FIRST) + frame(THIRD)
    aside = tmp_path / "aside" / f"journal-from-byte-{len(frame(FIRST))}"
    assert (aside.read_bytes() if any(tail) else tail) == tail
    assert aside.exists() == any(tail)


def test_records_behind_a_damaged_one_are_read_and_it_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    damaged = frame(FIRST)[:-1] + b"X" + frame(SECOND)
    path.write_bytes(damaged)
    journal = open_journal(tmp_path)
    content = journal.take_content()
    assert content.payloads == (SECOND,)
    assert content.damaged == (range(len(frame(FIRST))),)
    journal.append(THIRD)
    journal.close()
    assert path.read_bytes() == damaged + frame(THIRD)


def test_a_journal_made_to_be_searched_for_ever_is_refused() -> None:
    """Every header is right and says that the rest of the file is its payload, and none is."""
    count, size = 4000, 12 + len(PAYLOAD_BEGIN)
    headers = [frame(bytes((count - at) * size)) for at in range(1, count)]
    data = b"X" * 12 + b"".join(PAYLOAD_BEGIN + header[:12] for header in headers)
    with pytest.raises(ArchiveError, match="too many places that look like a record"):
        parse(data * 40, "journal")


def test_only_one_writes(tmp_path: Path) -> None:
    first = open_journal(tmp_path, new=True)
    with pytest.raises(ArchiveError, match="another flowsweep is writing"):
        open_journal(tmp_path)
    first.close()
    open_journal(tmp_path).close()


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = open_journal(tmp_path, new=True)
    journal.append(FIRST)

    def half(descriptor: int, data: bytes, *, at: int) -> None:
        os.pwrite(descriptor, data[: len(data) // 2], at)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(disk, "append", half)
        with pytest.raises(ArchiveError, match="No space left"):
            journal.append(SECOND)
    journal.append(THIRD)
    journal.close()
    assert parse((tmp_path / "journal").read_bytes(), "journal").payloads == (FIRST, THIRD)


def test_room_is_made_for_what_a_file_has_and_not_for_all_that_it_may_have(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert Folder(tmp_path).read("file", at_most=1 << 30) == b"x" * 1000
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 1 << 20


def test_a_file_that_grows_meanwhile_is_read_to_its_end_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    looked = os.fstat

    def grown_since(descriptor: int) -> os.stat_result:
        found = looked(descriptor)
        with file.open("ab") as appended:
            appended.write(b"x" * 900)
        return found

    monkeypatch.setattr("flowsweep.archive.folder.os.fstat", grown_since)
    assert Folder(tmp_path).read("file", at_most=1 << 20) == file.read_bytes()
    assert file.stat().st_size > 900
    with pytest.raises(ArchiveError, match="which none should have"):
        Folder(tmp_path).read("file", at_most=file.stat().st_size)
