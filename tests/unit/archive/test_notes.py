"""Notes: appended by anybody at any time, never half a note."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from analysis_support import write_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.notes import (
    NOTES_BYTES_MAX,
    NOTES_FILE,
    TEXT_MAX,
    Note,
    add_note,
    notes_bytes,
    read_notes,
)
from flowsweep.archive.reader import read_archive
from flowsweep.archive.verify import verify_archive
from flowsweep.archive.writer import open_archive_for_writing
from flowsweep.errors import ArchiveError
from invoked import invoke

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path):
    return Folder(write_archive(tmp_path / "archive", []))


def texts(folder):
    return [note.text for note in read_notes(folder)]


def test_notes_stand_in_the_order_of_their_times(folder):
    assert read_notes(folder) == ()
    assert notes_bytes(folder) == 0
    add_note(folder, Note(at=AT, text="kernel upgraded → 6.18"))
    add_note(folder, Note(at=AT - timedelta(hours=1), text="before"))
    assert texts(folder) == ["before", "kernel upgraded → 6.18"]
    assert read_notes(folder)[1].at == AT


def test_a_run_that_writes_the_archive_is_not_in_the_way(folder):
    with open_archive_for_writing(folder.path):
        add_note(folder, Note(at=AT, text="while it runs"))
    assert texts(folder) == ["while it runs"]
    assert read_archive(folder.path).losses == ()


def test_many_at_a_time_lose_none(folder):
    threads = [
        threading.Thread(target=add_note, args=(Folder(folder.path), Note(at=AT, text=f"note {number}")))
        for number in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(folder)) == sorted(f"note {number}" for number in range(24))


def test_half_a_line_is_left_out_and_the_next_note_stands_behind_it(folder):
    add_note(folder, Note(at=AT, text="whole"))
    with (folder.path / NOTES_FILE).open("ab") as file:
        file.write(b'{"at":"2026-03-01T12')
    assert texts(folder) == ["whole"]
    add_note(folder, Note(at=AT, text="next"))
    assert texts(folder) == ["whole", "next"]


@pytest.mark.parametrize("line", [b"[]", b"{}", b'{"at":1,"text":""}', b"\xff\xfe", b'{"at":"x","text":"y"}'])
def test_what_is_no_note_is_left_out(folder, line):
    (folder.path / NOTES_FILE).write_bytes(line + b"\n")
    assert read_notes(folder) == ()


def test_a_link_in_the_place_of_the_file_is_refused(folder, tmp_path):
    (tmp_path / "elsewhere").write_text("")
    (folder.path / NOTES_FILE).symlink_to(tmp_path / "elsewhere")
    for work in (lambda: read_notes(folder), lambda: add_note(folder, Note(at=AT, text="x"))):
        with pytest.raises(ArchiveError, match="link"):
            work()
    assert (tmp_path / "elsewhere").read_text() == ""


def test_there_is_an_end_to_the_file(folder):
    (folder.path / NOTES_FILE).write_bytes(b"\n" * NOTES_BYTES_MAX)
    with pytest.raises(ArchiveError, match="no room"):
        add_note(folder, Note(at=AT, text="x" * TEXT_MAX))


def test_an_archive_with_notes_is_still_a_sound_archive(folder):
    add_note(folder, Note(at=AT, text="x"))
    assert not verify_archive(folder.path).problems


@pytest.mark.parametrize("ending", [b"\n", b"{"], ids=["whole", "unfinished"])
def test_letters_of_several_bytes_do_not_make_a_file_too_large_to_be_read(folder, ending):
    """A note's bytes count, not its characters, with the line that it ends."""
    note = Note(at=AT, text="ш" * TEXT_MAX)
    add_note(folder, note)
    needed = notes_bytes(folder) + (ending != b"\n")
    for missing in (1, 0):
        left_out = b"x" * (NOTES_BYTES_MAX - needed + missing - 1) + ending
        (folder.path / NOTES_FILE).write_bytes(left_out)
        if missing:
            with pytest.raises(ArchiveError, match="no room"):
                add_note(folder, note)
    add_note(folder, note)
    assert notes_bytes(folder) == NOTES_BYTES_MAX
    assert texts(folder) == [note.text]


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
)
def test_a_note_of_a_year_that_no_clock_has_shown_is_left_out(folder, at):
    add_note(folder, Note(at=AT, text="kept"))
    with (folder.path / NOTES_FILE).open("a") as file:
        file.write(f'{{"at": "{at}", "text": "never"}}\n')
    assert texts(folder) == ["kept"]


def test_a_damaged_note_is_told(folder):
    add_note(folder, Note(at=AT, text="new kernel"))
    file = folder.path / NOTES_FILE
    file.write_bytes(file.read_bytes().replace(b'"text"', b'"texu"') + b'{"at":"2026-03-0')
    problem = f"{file}: 1 line is no note; it is left out"
    assert verify_archive(folder.path).problems == (problem,)
    assert invoke("note", folder.path).stderr == f"{problem}\n"


def test_a_note_that_was_not_written_to_its_end_is_no_damage(folder):
    (folder.path / NOTES_FILE).write_bytes(b'{"at":"2026-03-0')
    add_note(folder, Note(at=AT, text="new kernel"))
    assert verify_archive(folder.path).problems == ()
