"""When paths were measured last up to a moment: a clock that was set back leaves trials in the future."""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from flowsweep.archive import disk
from flowsweep.archive.campaign import open_folder
from flowsweep.archive.entries import FinishedEntry
from flowsweep.archive.folder import Folder
from flowsweep.archive.follow import JournalFollower
from flowsweep.archive.part_folders import opened_part, part_numbers
from flowsweep.archive.totals import PathKey


def last_measured(archive: Path, paths: Collection[PathKey], until: datetime) -> dict[PathKey, datetime]:
    """Look up when the last trials began that are ok; of paths of which none is there until then, nothing.

    Journals of parts are read from the newest on, until all paths are found.

    Raises:
        ArchiveError: It is no archive, or a journal cannot be read.
    """
    found: dict[PathKey, datetime] = {}
    left = set(paths)
    with disk.reported(archive, "cannot be read"):
        opened = open_folder(archive)
        for number in reversed(part_numbers(opened)):
            if left:
                found |= _of_part(opened_part(opened, number), left, until)
                left -= found.keys()
    return found


def _of_part(part: Folder, paths: Collection[PathKey], until: datetime) -> dict[PathKey, datetime]:
    found: dict[PathKey, datetime] = {}
    for followed in JournalFollower(part).records():
        if not isinstance(followed.entry, FinishedEntry) or followed.entry.record.status != "ok":
            continue
        record = followed.entry.record
        key = PathKey(record.trial.sweep, record.trial.src, record.trial.dst)
        at = record.started_at
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        if key in paths and at <= until:
            found[key] = max(at, found.get(key, at))
    return found
