"""Notes of what people did: `notes`, a file beside the journal that anybody may append to while a run writes.

One JSON object a line. Who appends locks this file and no other, so that neither waits for a campaign; a line
that was not written to its end is left out, and the next one begins behind it.
"""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from flowsweep.archive import disk
from flowsweep.archive.folder import Folder
from flowsweep.defaults import IMPORT_YEARS
from flowsweep.errors import ArchiveError
from flowsweep.frozen import Frozen

NOTES_FILE = "notes"
TEXT_MAX = 500
"""Characters of a note."""
NOTES_BYTES_MAX = 8 << 20
"""Of the whole file: some ten thousand notes."""


def shown_by_clocks(at: datetime) -> datetime:
    """A moment, if a note can be of it.

    Raises:
        ValueError: It is long before or after any.
    """
    first, last = IMPORT_YEARS
    if not first <= at.year <= last:
        raise ValueError(f"found the year {at.year}, expected one from {first} to {last}")
    return at


class Note(Frozen):
    """What happened, and when."""

    at: Annotated[datetime, AfterValidator(shown_by_clocks)]
    """When it happened, not when it was written down."""
    text: Annotated[str, Field(min_length=1, max_length=TEXT_MAX)]


def add_note(folder: Folder, note: Note) -> None:
    """Append a note; it is on disk on return.

    Raises:
        ArchiveError: There is no room for it, or the disk does not take it.
    """
    text = json.dumps(note.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    with disk.reported(folder.path / NOTES_FILE, "cannot be written"):
        descriptor = _opened(folder)
        try:
            disk.lock(descriptor)
            size = os.fstat(descriptor).st_size
            unfinished = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            line = ("\n" * unfinished + text + "\n").encode()
            if size + len(line) > NOTES_BYTES_MAX:
                raise ArchiveError(f"{folder.path / NOTES_FILE}: has no room for another note")
            disk.append(descriptor, line, at=size)
            folder.sync()
        finally:
            os.close(descriptor)


def read_notes(folder: Folder) -> tuple[Note, ...]:
    """All notes in the order of their times; lines that are none are left out.

    Raises:
        ArchiveError: The file is no file of an archive, or is too large.
    """
    return tuple(sorted(_notes(_lines(folder)), key=lambda note: note.at))


def damaged_notes(folder: Folder) -> tuple[str, ...]:
    """Say how many whole lines are no notes; one that was not written to its end is not meant.

    Raises:
        ArchiveError: The file is no file of an archive, or is too large.
    """
    lines = [line for line in _lines(folder) if line.endswith(b"}")]
    damaged = len(lines) - len(_notes(lines))
    if not damaged:
        return ()
    what = "1 line is no note; it is" if damaged == 1 else f"{damaged} lines are no notes; they are"
    return (f"{folder.path / NOTES_FILE}: {what} left out",)


def notes_bytes(folder: Folder) -> int:
    """How long the file is: it only grows."""
    with disk.reported(folder.path / NOTES_FILE, "cannot be read"):
        return folder.file_bytes(NOTES_FILE) if folder.has_file(NOTES_FILE) else 0


def _lines(folder: Folder) -> list[bytes]:
    """All that were written to their ends."""
    with disk.reported(folder.path / NOTES_FILE, "cannot be read"):
        if not folder.has_file(NOTES_FILE):
            return []
        return folder.read(NOTES_FILE, at_most=NOTES_BYTES_MAX).split(b"\n")[:-1]


def _notes(lines: Sequence[bytes]) -> list[Note]:
    found = []
    for line in lines:
        try:
            note = Note.model_validate_json(line)
        except ValidationError:
            continue
        aware = note.at if note.at.tzinfo is not None else note.at.replace(tzinfo=UTC)
        found.append(note.model_copy(update={"at": aware}))
    return found


def _opened(folder: Folder) -> int:
    try:
        return folder.open(NOTES_FILE, writable=True)
    except FileNotFoundError:
        pass
    try:
        return folder.open(NOTES_FILE, new=True)
    except FileExistsError:  # somebody else made it at this moment
        return folder.open(NOTES_FILE, writable=True)
