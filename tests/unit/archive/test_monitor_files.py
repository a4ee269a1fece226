"""Files of monitors: whole or not there, merged while others read, and what is missing is seen."""

from pathlib import Path

import pytest

from flowsweep.archive import monitor_files as files_module
from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.archive.folder import Folder
from flowsweep.archive.monitor_files import (
    MONITORS_FOLDER,
    MonitorFiles,
    all_files,
    files_that_count,
    problems_of_monitors,
    read_monitors,
    write_monitors,
)
from flowsweep.archive.readers import ReadersLock
from flowsweep.errors import ArchiveError
from flowsweep.monitors.reading import MONITORS_SCHEMA, Poll


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / CAMPAIGN_FILE).write_text("{}")
    return Folder(tmp_path)


def poll(number: int) -> Poll:
    return Poll("core", number, 1, (("et0", "in_bytes", (1 << 64) - 1 - number),))


def kept(folder: Folder, count: int) -> MonitorFiles:
    files = MonitorFiles(folder)
    for number in range(count):
        files.keep([poll(number), Poll("gone", number, 2, silent="no answer")])
    return files


def times(folder: Folder) -> list[int]:
    return read_monitors(folder, ["in_bytes"])["at_us"].to_pylist()


def test_what_is_kept_is_read(folder: Folder) -> None:
    assert read_monitors(folder).schema == MONITORS_SCHEMA
    kept(folder, 3)
    assert times(folder) == [0, 1, 2]
    rows = read_monitors(folder).to_pylist()
    assert rows[0]["value"] == (1 << 64) - 1
    assert (rows[1]["counter"], rows[1]["value"], rows[1]["reason"]) == ("silent", None, "no answer")
    assert problems_of_monitors(folder) == []


def test_rows_of_a_span_are_read_without_the_files_of_others(folder: Folder) -> None:
    kept(folder, 5)
    assert read_monitors(folder, ["in_bytes"], (1, 2))["at_us"].to_pylist() == [1, 2]
    assert read_monitors(folder, None, (7, 9)).num_rows == 0
    file = folder.path / all_files(folder)[4].name
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)
    assert read_monitors(folder, ["in_bytes"], (0, 3))["at_us"].to_pylist() == [0, 1, 2, 3]
    with pytest.raises(ArchiveError, match="has changed since it was written"):
        read_monitors(folder, None, (0, 4))


def test_what_is_written_at_once_is_read(folder: Folder) -> None:
    kept(folder, 3)
    (folder.path / "other").mkdir()
    other = folder.inside("other")
    write_monitors(other, read_monitors(folder))
    assert read_monitors(other).to_pylist() == read_monitors(folder).to_pylist()
    assert problems_of_monitors(other) == []


def test_merging_leaves_the_rows_as_they_are(folder: Folder) -> None:
    files = kept(folder, 5)
    before = read_monitors(folder).to_pylist()
    files.merge()
    assert [(file.first, file.last) for file in all_files(folder)] == [(1, 5)]
    files.keep([poll(5)])
    assert read_monitors(folder).to_pylist()[: len(before)] == before
    assert times(folder) == [0, 1, 2, 3, 4, 5]
    assert problems_of_monitors(folder) == []


def test_what_somebody_reads_stays(folder: Folder) -> None:
    files = kept(folder, 2)
    hold = ReadersLock(folder)
    files.merge()
    assert len(all_files(folder)) == 3
    assert [(file.first, file.last) for file in files_that_count(folder)] == [(1, 2)]
    assert times(folder) == [0, 1]
    hold.release()
    files.merge()
    assert len(all_files(folder)) == 1


def test_a_torn_part_is_not_read_and_goes(folder: Folder) -> None:
    kept(folder, 1)
    torn = folder.path / MONITORS_FOLDER / "0000002-0000002.tmp"
    torn.write_bytes(b"PAR1")
    assert times(folder) == [0]
    MonitorFiles(folder).keep([poll(1)])
    assert not torn.exists()
    assert times(folder) == [0, 1]


def test_a_part_that_changed_or_is_gone_is_named(folder: Folder) -> None:
    kept(folder, 4)
    second, third = (folder.path / file.name for file in all_files(folder)[1:3])
    second.unlink()
    data = bytearray(third.read_bytes())
    data[len(data) // 2] ^= 1
    third.write_bytes(data)
    gone, changed = problems_of_monitors(folder)
    assert "parts 2 to 2 are missing" in gone
    assert "has changed since it was written" in changed
    with pytest.raises(ArchiveError, match="has changed"):
        read_monitors(folder)


def test_it_has_an_end(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "MONITORS_BYTES_MAX", 1)
    files = kept(folder, 1)
    with pytest.raises(ArchiveError, match="all that is kept of monitors"):
        files.keep([poll(1)])
    assert times(folder) == [0]
