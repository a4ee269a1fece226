"""Files that a service cannot merge: what is said, and that everything else goes on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis_support import make_campaign
from flowsweep.archive import ArchiveWriter, create_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.monitor_files import all_files
from flowsweep.campaigns import housekeeping
from flowsweep.campaigns.housekeeping import GIVEN_UP_FOR_S, Housekeeping
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.monitors.reading import Poll

HOUR_NS = 3600 * SECOND_NS
CAMPAIGN = make_campaign(flows=(1, 2, 4, 8), window_sums=(1 << 16, 1 << 17, 1 << 18))


@pytest.fixture
def writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArchiveWriter]:
    monkeypatch.setattr(housekeeping, "LOOSE_MIN", 3)
    with create_archive(tmp_path / "archive", plan_json="{}", seed=1) as made:
        yield made


def finish(writer: ArchiveWriter, first: int) -> None:
    for number in range(first, first + 3):
        writer.finished(CAMPAIGN[number])
        writer.monitor_files.keep([Poll("core", number, 1, (("et0", "in_bytes", number),))])


def test_a_damaged_file_of_a_monitor_keeps_no_others_from_being_merged(writer: ArchiveWriter) -> None:
    told: list[str] = []
    house = Housekeeping(writer, 0, told.append)
    finish(writer, 0)
    file = writer.folder / all_files(Folder(writer.folder))[0].name
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    for first in (3, 6):
        house.idle(HOUR_NS)
        assert writer.loose_attempts == 0
        finish(writer, first)
    house.idle(HOUR_NS)
    assert writer.loose_attempts == 0
    [why] = told
    assert why.startswith(f"not all files of its monitors are merged: {file}: is damaged: it has changed")
    spans = [(one.first, one.last) for one in all_files(Folder(writer.folder))]
    assert spans == [(1, 1), (2, 9)]


def test_files_that_could_not_be_merged_are_merged_later(writer: ArchiveWriter) -> None:
    told: list[str] = []
    running_s, tried, merge = 0.0, 0, writer.compact

    def fails() -> None:
        nonlocal tried
        tried += 1
        raise ArchiveError("the disk is full")

    house = Housekeeping(writer, 0, told.append, running_s=lambda: running_s)
    finish(writer, 0)
    writer.compact = fails  # type: ignore[method-assign, assignment]
    for running_s in (1.0, GIVEN_UP_FOR_S, GIVEN_UP_FOR_S + 2):  # noqa: B007 - what tells the time has it
        house.idle(HOUR_NS)
    assert (tried, told) == (2, ["its files are not merged: the disk is full"])
    assert len(all_files(Folder(writer.folder))) == 1
    writer.compact = merge  # type: ignore[method-assign]
    running_s = 2 * GIVEN_UP_FOR_S
    house.idle(HOUR_NS)
    assert writer.loose_attempts == 3
    running_s += 3
    house.idle(HOUR_NS)
    assert writer.loose_attempts == 0
