"""Reading an archive while a campaign is written: what is read is a snapshot."""

from collections import Counter
from pathlib import Path

import ibis.expr.types as ir
import pytest

from archive_damage import add_trial, campaigns_without_end, write_campaign
from flowsweep.analysis import summary
from flowsweep.archive import open_archive_for_writing, read_archive, reader, readers

pytestmark = pytest.mark.whole

READS = 30
"""tests/truth/test_archive_reads.py makes a thousand, by commands, beside campaigns that run."""


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
        assert len(summary(tables).to_pyarrow()) == 3
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


def test_no_read_fails_beside_a_campaign_that_merges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Beside other tests the writer may be held up for seconds between an attempt's data and its record.
    monkeypatch.setattr(reader, "_TRIES", 1000)
    (tmp_path / "campaigns").mkdir()
    with campaigns_without_end(tmp_path / "campaigns") as newest:
        for _ in range(READS):
            with read_archive(newest()) as archive:
                tables = archive.tables()
                read = [_attempts(table) for table in (tables.trials, tables.flows, tables.samples)]
                assert archive.losses == ()
            once = Counter(archive.records.keys())
            assert read == [once, once, once]


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
