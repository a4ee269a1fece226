"""What monitors told, on its way to a disk that may not take it."""

import asyncio
from collections.abc import Sequence

import pytest

from flowsweep.errors import ArchiveError, ArchiveFullError
from flowsweep.monitors import watching
from flowsweep.monitors.reading import Poll


class Disk:
    """Takes what it is given, unless it has an error."""

    def __init__(self, *errors: ArchiveError | None) -> None:
        self.errors = list(errors)
        self.kept: list[int] = []
        self.told: list[tuple[str, str | None]] = []

    def keep(self, polls: Sequence[Poll]) -> None:
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        self.kept += [poll.at_us for poll in polls]

    def tell(self, monitor: str, reason: str | None) -> None:
        self.told.append((monitor, reason))


def flushed(disk: Disk, *groups: Sequence[int]) -> None:
    """Polls that come in groups, each of which is then to be written."""

    async def flush() -> None:
        kept = watching._Kept(disk.keep, disk.tell)
        for group in groups:
            for at_us in group:
                kept.take(Poll("core", at_us, 1, (("et0", "in_bytes", 1),)))
            await kept.flush()

    asyncio.run(flush())


def test_what_a_disk_did_not_take_is_tried_again() -> None:
    disk = Disk(None, ArchiveError("no room"), ArchiveError("no room"))
    flushed(disk, [1], [2], [3, 4], [5], [6])
    assert disk.kept == [1, 2, 3, 4, 5, 6]
    assert disk.told == [("", "no room"), ("", None)]


def test_what_waits_for_a_disk_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_WAITING_ROWS_MAX", 3)
    disk = Disk(ArchiveError("no room"), ArchiveError("no room"))
    flushed(disk, [1, 2], [3, 4], [5])
    assert disk.kept == [3, 4, 5]


def test_nothing_more_is_kept_where_an_archive_has_as_much_as_it_may() -> None:
    disk = Disk(None, ArchiveFullError("4 GiB"))
    flushed(disk, [1], [2], [3])
    assert disk.kept == [1]
    assert disk.told == [("", "4 GiB")]
