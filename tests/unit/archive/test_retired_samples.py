"""Samples of parts that are over go in time: what is left is read as before, whatever kills a writer."""

import gc
import random
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from analysis_support import make_campaign
from archive_crashes import ENDLESS, Killed, Killer
from flowsweep.archive import ArchiveWriter, create_archive, open_archive_for_writing, read_archive, readers
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import JOURNAL_FILE, frame, parse
from flowsweep.archive.kept_summary import kept_summaries, summary_alone
from flowsweep.archive.part_folders import opened_part
from flowsweep.archive.totals import read_so_far
from flowsweep.archive.verify import verify_archive
from flowsweep.errors import ArchiveError
from flowsweep.prepared.recorded import summary_to_keep
from flowsweep.prepared.statement import analysis_id
from flowsweep.prepared.whole_summary import summary_table
from long_tests import long_after

pytestmark = pytest.mark.whole

CAMPAIGN = make_campaign(flows=(1,), window_sums=(1 << 18, 1 << 19), repeats=2)
BEGUN = datetime(2027, 1, 30, tzinfo=UTC)
AT = datetime(2027, 3, 1, tzinfo=UTC)
TRIED = 20


def in_parts(folder: Path) -> Path:
    """Three parts: one merged, one not, and the newest, which goes on."""
    with create_archive(folder, plan_json="{}", seed=1, created_at=BEGUN) as writer:
        for number, outcome in enumerate(CAMPAIGN):
            writer.started(outcome.record.trial_id, 1, outcome.record.started_at)
            writer.finished(outcome)
            if number == 2:
                writer.compact()
            if number in (2, 4):
                writer.begin_part()
    return folder


def summed(folder: Path, number: int) -> pa.Table:
    with read_archive(folder, part=number) as archive:
        return summary_to_keep(archive)


def retire(writer: ArchiveWriter, *numbers: int) -> list[bool]:
    """Let samples go, as a service does it."""
    gone = []
    for number in numbers:
        if summary_alone(opened_part(Folder(writer.folder), number), analysis_id()) is None:
            writer.parts_over.keep_summary(number, summed(writer.folder, number))
        gone.append(writer.parts_over.retire(number, analysis_id(), AT))
    return gone


def retired(folder: Path, *numbers: int) -> Path:
    in_parts(folder)
    with open_archive_for_writing(folder) as writer:
        assert all(retire(writer, *numbers))
    return folder


def rows_of(folder: Path) -> list:
    with read_archive(folder) as archive:
        return summary_table(archive).to_pylist()


def data_files(folder: Path) -> list[str]:
    return sorted(
        str(file.relative_to(folder)) for file in folder.glob("**/*.parquet") if "summary." not in file.name
    )


@pytest.mark.parametrize("numbers", long_after(1, of=[(1,), (2,), (1, 2)]))
def test_the_summary_stays_and_the_files_go(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    before = rows_of(in_parts(tmp_path / "kept"))
    folder = retired(tmp_path / "a", *numbers)
    assert rows_of(folder) == before
    parts = {1: {*range(3)}, 2: {3, 4}}
    gone = {CAMPAIGN[place].record.trial_id for number in numbers for place in parts[number]}
    with read_archive(folder) as archive:
        assert dict(archive.state.retired_at) == dict.fromkeys(gone, AT)
        assert archive.losses == ()
        assert set(archive.records) == {row["trial_id"] for row in before}
        assert archive.asked().num_rows == len(before)
        there = set(archive.tables().trials.trial_id.to_pyarrow().to_pylist())
        assert there == set(archive.records) - gone
        assert set(archive.tables().samples.trial_id.to_pyarrow().to_pylist()) <= there
    for number in numbers:
        part = folder if number == 1 else folder / f"parts/{number}"
        assert not [*(part / "trials").iterdir(), *(part / "merged").iterdir()]
        with read_archive(folder, part=number) as alone:  # a part can be read by itself as well
            assert summary_table(alone).num_rows == len(parts[number])
    found = verify_archive(folder)
    assert (found.problems, found.retired) == ((), len(gone))
    assert read_so_far(folder).totals.statuses == read_so_far(tmp_path / "kept").totals.statuses


def test_a_campaign_goes_on_and_ends_a_part_beside_retired_ones(tmp_path: Path) -> None:
    folder = retired(tmp_path / "a", 1)
    with open_archive_for_writing(folder) as writer:
        assert writer.make_ready() == ()
        assert (writer.part, writer.finished_count) == (3, len(CAMPAIGN))
        writer.begin_part()
        assert retire(writer, 2, 3) == [True, True]
    assert data_files(folder) == []
    assert [row["trial_id"] for row in rows_of(folder)] == [one.record.trial_id for one in CAMPAIGN]


def test_the_journal_alone_decides_and_opening_removes_nothing(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "a")
    files = data_files(folder)
    with open_archive_for_writing(folder) as writer:
        writer.parts_over.keep_summary(1, summed(folder, 1))
    rows_of(folder)
    assert data_files(folder) == files
    with read_archive(folder) as archive:
        assert dict(archive.state.retired_at) == {}


def test_who_reads_keeps_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_WAIT_S", 0.05)
    folder = in_parts(tmp_path / "a")
    whole = {CAMPAIGN[place].record.trial_id: CAMPAIGN[place].samples.num_rows for place in range(6)}
    with open_archive_for_writing(folder) as writer:
        with read_archive(folder) as before:
            assert retire(writer, 1) == [False]
            with read_archive(folder) as after:  # a later one reads what the journal says by now
                assert after.state.retired_at
            counts = before.tables().samples.trial_id.value_counts(name="rows").to_pyarrow().to_pylist()
            assert {one["trial_id"]: one["rows"] for one in counts}.items() >= whole.items()
        with read_archive(folder / "parts/2"):
            assert retire(writer, 2) == [False]
        assert data_files(folder / "merged") != []
        assert retire(writer, 1, 2) == [True, True]
    assert data_files(folder / "merged") == data_files(folder / "parts/2") == []


def test_an_archive_that_nobody_knows_any_more_keeps_nothing(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "a")
    gc.disable()
    try:
        with open_archive_for_writing(folder) as writer:
            assert read_archive(folder).sampled.records
            assert retire(writer, 1) == [True]
            assert read_archive(folder).sampled.records
            assert retire(writer, 2) == [True]
    finally:
        gc.enable()


def test_a_part_that_is_damaged_stays_as_it_is(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "a")
    with open_archive_for_writing(folder) as writer:
        with pytest.raises(ArchiveError, match="its summary is not kept"):
            writer.parts_over.retire(2, analysis_id(), AT)
        writer.parts_over.keep_summary(2, summed(folder, 2))
        file = next((folder / "parts/2/trials").glob("*/samples.parquet"))
        whole = file.read_bytes()
        file.write_bytes(whole[:-5] + b"other")
        with pytest.raises(ArchiveError, match="has changed since it was written"):
            writer.parts_over.retire(2, analysis_id(), AT)
        file.write_bytes(whole)
        writer.parts_over.keep_summary(2, summed(folder, 2).slice(1))
        with pytest.raises(ArchiveError, match="which are not the 2 of its journal"):
            writer.parts_over.retire(2, analysis_id(), AT)
        with pytest.raises(ArchiveError, match="does not say that it is over"):
            writer.parts_over.retire(3, analysis_id(), AT)
    assert len(data_files(folder / "parts/2")) > 0
    assert verify_archive(folder).problems == ()


def test_a_summary_that_has_changed_is_told(tmp_path: Path) -> None:
    folder = retired(tmp_path / "a", 1)
    [file] = folder.glob("summary.*.parquet")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ArchiveError, match="has changed since it was written"):
        rows_of(folder)
    assert any("has changed" in problem for problem in verify_archive(folder).problems)
    file.unlink()
    assert any(file.name in problem for problem in verify_archive(folder).problems)


def test_a_record_that_is_lost_costs_itself_alone(tmp_path: Path) -> None:
    before = rows_of(in_parts(tmp_path / "kept"))
    folder = retired(tmp_path / "a", 1)
    journal = folder / JOURNAL_FILE
    payloads = parse(journal.read_bytes(), "").payloads
    assert payloads[-1].startswith(b'{"kind":"retired"')
    journal.write_bytes(b"".join(map(frame, payloads[:-1])))
    with read_archive(folder) as archive:
        assert len(archive.losses) == 1
        assert "of its trials there is the summary that was kept" in archive.losses[0]
    assert rows_of(folder) == before


def test_a_part_is_summed_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = in_parts(tmp_path / "a")
    before = rows_of(folder)
    with open_archive_for_writing(folder) as writer:
        assert writer.parts_over.not_summed(analysis_id()) == 1
        writer.parts_over.keep_summary(1, summed(folder, 1))
        assert writer.parts_over.not_summed(analysis_id()) == 2
        writer.parts_over.keep_summary(2, summed(folder, 2))
        assert writer.parts_over.not_summed(analysis_id()) is None
        assert writer.parts_over.over_before(datetime(2020, 1, 1, tzinfo=UTC), analysis_id()) is None
        assert writer.parts_over.over_before(datetime.now(UTC) + timedelta(days=1), analysis_id()) == 1
    looked: list[int] = []
    monkeypatch.setattr(
        "flowsweep.prepared.summary.summary_of_archive",
        lambda archive: looked.append(len(archive.records)) or real(archive),
    )
    assert rows_of(folder) == before
    assert looked == [len(CAMPAIGN) - 5]
    # Of another analysis it does not count, and is made anew; it takes the place of the one before.
    other = summed(folder, 1).replace_schema_metadata(
        {b"flowsweep_version": b"0", b"analysis": b"other", b"journal_bytes": b"1"}
    )
    with open_archive_for_writing(folder) as writer:
        writer.parts_over.keep_summary(1, other)
        [kept] = kept_summaries(Folder(folder))
        assert kept.analysis == "other"
        assert summary_alone(Folder(folder), analysis_id()) is None
        assert open_archive_for_writing is not None
    assert rows_of(folder) == before


def test_columns_of_other_versions_are_null_or_left_out(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "a")
    table = summed(folder, 1)
    older = table.drop_columns(["goodput_p10_bps"]).append_column(
        "former", pa.nulls(table.num_rows, pa.int64())
    )
    with open_archive_for_writing(folder) as writer:
        writer.parts_over.keep_summary(1, older.replace_schema_metadata(table.schema.metadata))
        assert writer.parts_over.retire(1, analysis_id(), AT)
    rows = rows_of(folder)
    assert [row["goodput_p10_bps"] is None for row in rows[:3]] == [True] * 3
    assert "former" not in rows[0]
    assert rows[0]["goodput_bps"] is not None


@pytest.mark.long
def test_retiring_survives_a_kill_at_any_system_call(tmp_path: Path) -> None:
    begun = in_parts(tmp_path / "begun")
    whole = shutil.copytree(begun, tmp_path / "whole")
    tables = {number: summed(begun, number) for number in (1, 2)}
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(patch, ENDLESS)
        assert carried_out(whole, tables)
        calls = ENDLESS - killer.left
    assert not [file for file in data_files(whole) if not file.startswith("parts/3/")]
    for at in {*random.Random(7).sample(range(calls), min(TRIED, calls)), calls - 1}:
        folder = shutil.copytree(begun, tmp_path / str(at))
        with pytest.MonkeyPatch.context() as patch:
            Killer(patch, at)
            carried_out(folder, tables)
        assert each_trial_is_there(folder), at
        assert carried_out(folder, tables), at
        assert each_trial_is_there(folder), at
        assert data_files(folder) == data_files(whole), at
        assert not list(folder.glob("**/*.tmp")), at


def each_trial_is_there(folder: Path) -> bool:
    """Whether each trial has all rows of its samples that its record names, or one of a kept summary."""
    with read_archive(folder) as archive:
        known = set(archive.records) == {outcome.record.trial_id for outcome in CAMPAIGN}
    return known and verify_archive(folder).problems == ()


def carried_out(folder: Path, tables: dict[int, pa.Table]) -> bool:
    """Let the samples of both parts that are over go; says whether it came to its end."""
    writer: ArchiveWriter | None = None
    try:
        writer = open_archive_for_writing(folder)
        for number, table in tables.items():
            if writer.parts_over.not_summed(analysis_id()) == number:
                writer.parts_over.keep_summary(number, table)
            assert writer.parts_over.retire(number, analysis_id(), AT)
    except Killed:
        return False
    finally:
        if writer is not None:
            writer.close()
    return True


real: Callable = __import__("flowsweep.prepared.summary", fromlist=["x"]).summary_of_archive
