"""The summary that `run` leaves in an archive: the next reader has the same rows, or sums up again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis_support import make_campaign, make_outcome, make_trial, write_archive
from flowsweep.archive import open_archive_for_writing, read_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.kept_summary import keep_summary
from flowsweep.archive.verify import verify_archive
from flowsweep.archive.writer import ArchiveWriter
from flowsweep.cli.summary_rows import rows_at_end, rows_of_archive
from flowsweep.errors import ArchiveError
from flowsweep.prepared import whole_summary
from flowsweep.prepared.recorded import recorded_rows, summary_to_keep
from flowsweep.prepared.statement import analysis_id
from long_tests import long_after

pytestmark = pytest.mark.whole

CAMPAIGN = make_campaign(flows=(1, 2), window_sums=(1 << 18, 1 << 19))
COLUMNS = {"trial_id": pa.string(), "goodput_bps": pa.float64()}


@pytest.fixture
def summed_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many trials were summed up, each time that some were."""
    counts: list[int] = []
    compute = whole_summary.computed_summary

    def counted(*args, **keywords):
        table = compute(*args, **keywords)
        counts.append(table.num_rows)
        return table

    monkeypatch.setattr(whole_summary, "computed_summary", counted)
    return counts


def kept_files(folder: Path) -> list[Path]:
    return list(folder.glob("summary.*.parquet"))


def record_one_more(folder: Path) -> None:
    with open_archive_for_writing(folder) as writer:
        later = make_outcome(make_trial(repeat=9))
        writer.started(later.record.trial_id, 1, later.record.started_at)
        writer.finished(later)


def test_the_next_reader_has_the_same_rows_without_summing_up(tmp_path: Path, summed_up: list[int]) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    rows = rows_at_end(read_archive(folder))
    assert len(kept_files(folder)) == 1
    assert rows_of_archive(read_archive(folder)) == rows
    assert rows_at_end(read_archive(folder)) == rows
    assert summed_up == [len(CAMPAIGN)]
    kept_files(folder)[0].unlink()
    assert rows_of_archive(read_archive(folder)) == rows


def test_a_trial_that_was_recorded_since_is_summed_up_with_the_others(
    tmp_path: Path, summed_up: list[int]
) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    rows_at_end(read_archive(folder))
    record_one_more(folder)
    rows = rows_of_archive(read_archive(folder))
    assert [row["repeat"] for row in rows].count(9) == 1
    assert summed_up == [len(CAMPAIGN), len(CAMPAIGN) + 1]
    assert rows_at_end(read_archive(folder)) == rows
    assert len(kept_files(folder)) == 1
    assert rows_of_archive(read_archive(folder)) == rows
    assert len(summed_up) == 3


def test_rows_of_another_analysis_do_not_count(
    tmp_path: Path, summed_up: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    rows_at_end(read_archive(folder))
    monkeypatch.setattr(whole_summary, "analysis_id", lambda: "another")
    rows_of_archive(read_archive(folder))
    assert len(summed_up) == 2


def test_data_that_have_changed_are_found_as_if_nothing_were_kept(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    rows_at_end(read_archive(folder))
    next(folder.glob("merged/*/samples-*.parquet")).write_bytes(b"changed")
    with pytest.raises(ArchiveError, match=r"samples-0000\.parquet"):
        rows_of_archive(read_archive(folder))


def test_of_data_that_are_gone_the_rows_are_left_for_readers_alone(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    rows = rows_at_end(read_archive(folder))
    next(folder.glob("merged/*/samples-*.parquet")).unlink()
    with read_archive(folder) as archive:
        assert "is missing; of its trials there is the summary that was kept" in archive.losses[0]
        assert rows_of_archive(archive) == rows
    with pytest.raises(ArchiveError, match="not a whole archive"), open_archive_for_writing(folder):
        pass


def test_rows_of_an_attempt_do_not_stand_for_the_next_one_whose_data_are_gone(tmp_path: Path) -> None:
    """A campaign was resumed since, and broken off before it kept its rows again."""
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    rows_at_end(read_archive(folder))
    samples = next(folder.glob("merged/*/samples-*.parquet"))
    content = samples.read_bytes()
    with open_archive_for_writing(folder) as writer:
        writer.hosts({})
    samples.unlink()
    with read_archive(folder) as archive:
        assert "the summary that was kept" in archive.losses[0]
    samples.write_bytes(content)
    with open_archive_for_writing(folder) as writer:
        first = CAMPAIGN[0]
        again = replace(first, record=first.record.model_copy(update={"attempt": 2}))
        writer.started(again.record.trial_id, 2, again.record.started_at)
        writer.finished(again)
    samples.unlink()
    with pytest.raises(ArchiveError, match="not a whole archive"):
        read_archive(folder)


@pytest.mark.parametrize(
    "damage", long_after(2, of=["changed", "gone", "without_a_column", "without_a_row", "too_large"])
)
def test_kept_rows_that_do_not_fit_are_summed_up(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    rows = rows_at_end(read_archive(folder))
    (kept,) = kept_files(folder)
    table = pq.read_table(kept)
    if damage == "changed":
        kept.write_bytes(kept.read_bytes()[::-1])
    elif damage == "gone":
        monkeypatch.setattr(whole_summary, "kept_rows", raise_changed)
    elif damage == "too_large":
        numbers = pa.array([1 << 63] * table.num_rows, pa.uint64())
        place = table.schema.get_field_index("attempts")
        keep_summary(Folder(folder), table.set_column(place, "attempts", numbers))
    else:
        less = table.drop_columns(["verdict"]) if damage == "without_a_column" else table.slice(1)
        keep_summary(Folder(folder), less)
    assert rows_of_archive(read_archive(folder)) == rows


def raise_changed(*_args: object) -> None:
    raise ArchiveError("removed by another process")


def test_a_reader_has_no_rows_of_trials_that_ended_after_it_began(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    early = read_archive(folder)
    record_one_more(folder)
    rows_at_end(read_archive(folder))
    assert len(rows_of_archive(early)) == len(CAMPAIGN)


def test_an_attempt_whose_files_have_changed_does_not_count(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)
    record_one_more(folder)
    before = rows_at_end(read_archive(folder))
    next(folder.glob("trials/*/samples.parquet")).write_bytes(b"changed")
    with read_archive(folder) as damaged:
        assert damaged.losses
        assert len(rows_of_archive(damaged)) == len(before) - 1


def test_a_disk_that_takes_no_more_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN)

    def full(*_args):
        raise ArchiveError("no space left")

    monkeypatch.setattr("flowsweep.prepared.recorded.keep_summary", full)
    assert len(rows_at_end(read_archive(folder))) == len(CAMPAIGN)
    assert not kept_files(folder)


def flip_in(file: Path) -> None:
    """Change one byte of the values of a file; its footer stays as it is."""
    data = bytearray(file.read_bytes())
    data[100] ^= 0xFF
    file.write_bytes(data)


def test_a_kept_summary_of_which_a_byte_changed_is_not_read_and_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with write_over(folder) as writer:
        before = recorded_rows(folder, COLUMNS)
        flip_in(kept_files(folder)[0])
        assert recorded_rows(folder, COLUMNS) == before
        [problem] = verify_archive(folder).problems
        assert kept_files(folder)[0].name in problem
        assert "summed up again" in problem
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        assert writer.parts_over.over_before(tomorrow, analysis_id()) is None
        assert writer.parts_over.not_summed(analysis_id()) == 1
        with read_archive(folder, part=1) as part:
            writer.parts_over.keep_summary(1, summary_to_keep(part))
        assert verify_archive(folder).problems == ()
        assert writer.parts_over.over_before(tomorrow, analysis_id()) == 1
    assert recorded_rows(folder, COLUMNS) == before


def write_over(folder: Path) -> ArchiveWriter:
    """A campaign whose first part is over and summed up."""
    write_archive(folder, CAMPAIGN)
    writer = open_archive_for_writing(folder)
    writer.begin_part()
    with read_archive(folder, part=1) as part:
        writer.parts_over.keep_summary(1, summary_to_keep(part))
    assert writer.parts_over.not_summed(analysis_id()) is None
    return writer
