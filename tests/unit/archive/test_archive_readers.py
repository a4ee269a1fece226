"""Reading an archive while a campaign is written: what is read is a snapshot."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import ibis.expr.types as ir
import pytest

from archive_damage import add_trial, campaigns_without_end, write_campaign
from flowsweep.archive import open_archive_for_writing, read_archive, reader, readers
from flowsweep.archive.campaign import open_folder
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import JournalFile, frame, has_writer, parse
from summary_support import summary_rows

pytestmark = pytest.mark.whole

READS = 30
"""tests/truth/test_archive_reads.py makes a thousand, by commands, beside campaigns that run."""


@pytest.mark.long
def test_files_stay_for_as_long_as_somebody_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_WAIT_S", 0.1)
    folder = tmp_path / "archive"
    write_campaign(folder, 3, merged=False)
    with read_archive(folder) as archive:
        tables = archive.tables()
        with open_archive_for_writing(folder) as writer:
            writer.compact()
        assert len(list((folder / "trials").iterdir())) == 4
        assert len(summary_rows(tables)) == 3
    with open_archive_for_writing(folder) as writer:
        writer.compact()
    assert list((folder / "trials").iterdir()) == []


def test_tables_keep_the_files_that_they_are_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_WAIT_S", 0.1)
    folder = tmp_path / "archive"
    write_campaign(folder, 3, merged=False)
    samples = read_archive(folder).tables().samples
    with open_archive_for_writing(folder) as writer:
        writer.compact()
    assert samples.count().to_pyarrow().as_py() > 0


@pytest.mark.long
def test_no_read_fails_beside_a_campaign_that_merges(tmp_path: Path) -> None:
    (tmp_path / "campaigns").mkdir()
    with campaigns_without_end(tmp_path / "campaigns") as newest:
        for _ in range(READS):
            with read_archive(newest()) as archive:
                tables = archive.tables()
                read = [_attempts(table) for table in (tables.trials, tables.flows, tables.samples)]
                assert archive.losses == ()
                assert set(tables.trials.status.to_pyarrow().to_pylist()) <= {"ok"}
            once = Counter(archive.records.keys())
            assert read == [once, once, once]


def test_a_reader_waits_for_a_record_while_somebody_is_there_to_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, 1, merged=False)
    data_are_there, reader_waits = Event(), Event()
    append = JournalFile.append

    def held_up(journal: JournalFile, payload: bytes) -> None:
        if payload.startswith(b'{"kind":"finished"'):
            data_are_there.set()
            assert reader_waits.wait(60)
        append(journal, payload)

    def asked(of: Folder) -> bool:
        reader_waits.set()
        return has_writer(of)

    monkeypatch.setattr(JournalFile, "append", held_up)
    monkeypatch.setattr(reader, "_TRIES", 1)
    monkeypatch.setattr(reader, "has_writer", asked)
    with open_archive_for_writing(folder) as writer, ThreadPoolExecutor(1) as pool:
        added = pool.submit(add_trial, writer, 2)
        assert data_are_there.wait(60)
        with read_archive(folder) as archive:
            assert (len(archive.records), archive.losses) == (2, ())
        added.result()


def test_nobody_waits_for_a_writer_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, 2, merged=False)
    journal = folder / "journal"
    journal.write_bytes(b"".join(map(frame, parse(journal.read_bytes(), "journal").payloads[:-1])))
    opened = open_folder(folder)
    assert not has_writer(opened)
    with open_archive_for_writing(folder):
        assert has_writer(opened)
    assert not has_writer(opened)
    with read_archive(folder) as archive:
        assert any("no record names trials/" in loss for loss in archive.losses)


def _attempts(table: ir.Table) -> Counter[str]:
    """How many attempts a table has of each trial."""
    rows = table.select("trial_id", "attempt").distinct().to_pyarrow().to_pylist()
    return Counter(row["trial_id"] for row in rows)


def test_what_a_reader_kept_is_removed_by_the_next_merging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_WAIT_S", 0.1)
    folder = tmp_path / "archive"
    write_campaign(folder, 2, merged=True)
    with read_archive(folder), open_archive_for_writing(folder) as writer:
        add_trial(writer, 3)
        writer.compact()
        assert {path.name for path in (folder / "merged").iterdir()} == {"1", "2"}
    with open_archive_for_writing(folder) as writer:
        writer.compact()
    assert {path.name for path in (folder / "merged").iterdir()} == {"2"}
    assert len(read_archive(folder).records) == 3
