"""The archive: what is written is read back, what may not be written is refused."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis_support import (
    SAMPLES_SCHEMA,
    STARTED_AT,
    make_campaign,
    make_failed,
    make_outcome,
    make_trial,
    write_archive,
)
from flowsweep.analysis import points
from flowsweep.archive import create_archive, open_archive_for_writing, read_archive, tables_of
from flowsweep.archive.campaign import FORMAT
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import COUNTERS_SCHEMA
from summary_support import archive_rows, summary_rows, summary_table, summed

pytestmark = pytest.mark.whole

PLAN = '{"name":"Übersee","sweeps":[1,2.5,null]}'
CAMPAIGN = make_campaign(flows=(1, 2), window_sums=(1 << 18,))


def test_the_tables_of_an_archive_are_those_of_the_outcomes(tmp_path: Path) -> None:
    archive = read_archive(write_archive(tmp_path / "archive", CAMPAIGN))
    read, made = archive.tables(), tables_of(CAMPAIGN)
    for name in ("trials", "flows", "samples"):
        keys = [key for key in ("trial_id", "role", "flow", "start_ns") if key in getattr(made, name).columns]
        expected = getattr(made, name).order_by(keys).to_pyarrow()
        assert getattr(read, name).order_by(keys).to_pyarrow().to_pylist() == expected.to_pylist()
    assert archive.records == {outcome.record.trial_id: outcome.record for outcome in CAMPAIGN}
    assert summary_rows(read) == summary_rows(made)


def watched(outcome: TrialOutcome) -> TrialOutcome:
    """The same, with CPU time and counters of its hosts."""
    ends = [("source", outcome.record.trial.src), ("sink", outcome.record.trial.dst)]
    cpu = [
        {"host": host, "peer": "other", "role": role, "start_ns": 0, "end_ns": 5, "kind": kind, "id": -1}
        | {"user_us": 1, "system_us": 2, "busy_us": 3, "idle_us": None if kind == "thread" else 4}
        for role, host in ends
        for kind in ("core", "thread")
    ]
    counters = [{"host": host, "role": role, "name": "Tcp.OutSegs", "value": 7} for role, host in ends]
    return replace(
        outcome,
        cpu=pa.Table.from_pylist(cpu, schema=pa.schema(NEEDED_FIELDS["cpu"])),
        counters=pa.Table.from_pylist(counters, schema=COUNTERS_SCHEMA),
    )


def test_what_was_seen_of_the_hosts_is_kept_beside_trials_that_were_not_watched(tmp_path: Path) -> None:
    [first, second, *_] = CAMPAIGN
    with create_archive(tmp_path / "archive", plan_json=PLAN, seed=1) as writer:
        writer.finished(first)
        empty = read_archive(writer.folder).tables()
        assert (empty.cpu.to_pyarrow().num_rows, empty.counters.to_pyarrow().num_rows) == (0, 0)
        writer.finished(watched(second))
        for _ in range(2):
            tables, made = read_archive(writer.folder).tables(), tables_of([first, watched(second)])
            for name, keys in (("cpu", ["role", "kind"]), ("counters", ["role"])):
                found = getattr(tables, name).order_by(keys).to_pyarrow().to_pylist()
                assert found == getattr(made, name).order_by(keys).to_pyarrow().to_pylist()
                assert {row["trial_id"] for row in found} == {second.record.trial_id}
            assert made.counters.columns == empty.counters.columns
            writer.compact()
    assert len(list((tmp_path / "archive" / "merged").rglob("*.parquet"))) == 4


def test_merging_changes_no_row(tmp_path: Path) -> None:
    with create_archive(tmp_path / "archive", plan_json=PLAN, seed=1) as writer:
        for outcome in CAMPAIGN:
            writer.finished(outcome)
        before = read_archive(writer.folder).tables().samples.to_pyarrow()
        writer.compact(rows_per_file=100)
    merged = sorted((tmp_path / "archive" / "merged" / "1").glob("samples-*.parquet"))
    assert len(merged) == -(-before.num_rows // 100)
    assert max(pq.read_metadata(path).num_rows for path in merged) == 100
    assert list((tmp_path / "archive" / "trials").iterdir()) == []
    after = read_archive(tmp_path / "archive").tables().samples.to_pyarrow()
    keys = [(name, "ascending") for name in ("trial_id", "role", "flow", "start_ns")]
    assert after.sort_by(keys) == before.sort_by(keys)


def test_the_engines_columns_and_their_meanings_are_kept(tmp_path: Path) -> None:
    [first, *_] = CAMPAIGN
    with create_archive(tmp_path / "archive", plan_json=PLAN, seed=1) as writer:
        writer.finished(first)
        writer.compact()
    kept = pq.read_schema(tmp_path / "archive" / "merged" / "1" / "samples-0000.parquet")
    assert kept.names == [*SAMPLES_SCHEMA.names, "trial_id", "attempt"]
    for field in SAMPLES_SCHEMA:
        assert kept.field(field.name).equals(field, check_metadata=field.metadata is not None)


def test_rows_name_the_host_of_their_end(tmp_path: Path) -> None:
    [outcome, *_] = CAMPAIGN
    tables = read_archive(write_archive(tmp_path / "archive", [outcome])).tables()
    for table in (tables.samples, tables.flows):
        rows = table.select("role", "host").distinct().to_pyarrow().to_pylist()
        found = {(row["role"], row["host"]) for row in rows}
        assert found == {("source", "a"), ("sink", "b")}


@pytest.mark.parametrize("merged", [pytest.param(False, marks=pytest.mark.long), True])
def test_only_the_last_finished_attempt_counts(tmp_path: Path, *, merged: bool) -> None:
    trial = make_trial()
    broken = make_outcome(trial, attempt=1)
    broken = replace(broken, record=broken.record.model_copy(update={"status": "failed"}))
    with create_archive(tmp_path / "archive", plan_json=PLAN, seed=1) as writer:
        for outcome in (broken, make_outcome(trial, attempt=2)):
            writer.started(trial.trial_id, outcome.record.attempt, STARTED_AT)
            writer.finished(outcome)
            if merged:
                writer.compact()
        writer.started(trial.trial_id, 3, STARTED_AT)
        assert writer.attempts == {trial.trial_id: 3}
        assert writer.done[trial.trial_id].attempt == 2
    tables = read_archive(tmp_path / "archive").tables()
    assert tables.samples.attempt.min().to_pyarrow().as_py() == 2
    assert tables.flows.count().to_pyarrow().as_py() == 2
    [row] = summary_rows(tables)
    assert (row["status"], row["attempt"], row["attempts"]) == ("ok", 2, 3)


def test_trials_stand_in_the_order_they_were_started_in(tmp_path: Path) -> None:
    first, second = make_trial(repeat=1), make_trial(repeat=2)
    with create_archive(tmp_path / "archive", plan_json=PLAN, seed=1) as writer:
        writer.started(first.trial_id, 1, STARTED_AT)
        writer.started(second.trial_id, 1, STARTED_AT)
        writer.finished(make_outcome(second))
        writer.finished(make_outcome(first))
    rows = archive_rows(read_archive(tmp_path / "archive"))
    assert [row["trial_id"] for row in rows] == [first.trial_id, second.trial_id]


def test_an_archive_without_a_finished_trial_has_tables_without_rows(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", [])
    tables = read_archive(folder).tables()
    rows = summary_table(tables)
    assert rows.to_pyarrow().num_rows == points(rows, tables.trials).to_pyarrow().num_rows == 0
    assert rows.columns == summary_table(tables_of(CAMPAIGN)).columns


def test_a_campaign_that_only_failed_has_a_summary(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", [make_failed(make_trial())])
    [row] = archive_rows(read_archive(folder))
    assert (row["status"], row["goodput_bps"], row["bytes"]) == ("failed", None, None)


def test_engines_may_record_different_columns(tmp_path: Path) -> None:
    older, newer = make_outcome(make_trial(repeat=1)), make_outcome(make_trial(repeat=2))
    older = replace(older, samples=older.samples.drop_columns(["min_rtt_us"]))
    unheard_of = pa.nulls(newer.samples.num_rows, pa.int64())
    newer = replace(newer, samples=newer.samples.append_column("unheard_of", unheard_of))
    with create_archive(tmp_path / "archive", plan_json=PLAN, seed=1) as writer:
        for outcome in (older, newer):
            writer.finished(outcome)
        for _ in range(2):
            rows = archive_rows(read_archive(writer.folder))
            assert [row["rtt_min_ms"] for row in rows] == [None, 40.0]
            writer.compact()


def test_campaign_and_host_facts_are_read_back(tmp_path: Path) -> None:
    with create_archive(
        tmp_path / "deep" / "archive", plan_json=PLAN, seed=7, created_at=STARTED_AT
    ) as writer:
        writer.hosts({"a": {"kernel": "6.1"}, "b": {"kernel": "6.1"}})
        writer.hosts({"a": {"kernel": "6.18"}})
    for archive in (read_archive(writer.folder), open_archive_for_writing(writer.folder)):
        assert json.loads(archive.campaign.plan_json) == json.loads(PLAN)
        assert (archive.campaign.seed, archive.campaign.created_at) == (7, STARTED_AT)
    assert read_archive(writer.folder).host_facts == {"a": {"kernel": "6.18"}, "b": {"kernel": "6.1"}}


def test_times_are_written_in_utc(tmp_path: Path) -> None:
    outcome = make_outcome(make_trial(), started_at=STARTED_AT + timedelta(milliseconds=1500))
    [row] = summed(outcome)
    assert row["started_at"] == "2026-03-01T12:00:01.500Z"


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ArchiveError, match=r"thesis\.tex.*--resume"):
        create_archive(tmp_path, plan_json=PLAN, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    folder = write_archive(tmp_path / "archive", [])
    with pytest.raises(ArchiveError, match=r"holds an archive already\. Add --resume"):
        create_archive(folder, plan_json=PLAN, seed=1)


def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    (tmp_path / "file").touch()
    expected = {"absent": "nothing is there", "other": r"holds notes\.txt", "file": "it is a file"}
    for name, found in expected.items():
        for read in (read_archive, open_archive_for_writing):
            with pytest.raises(ArchiveError, match=found):
                read(tmp_path / name)
    folder = write_archive(tmp_path / "archive", [])
    campaign = folder / "campaign.json"
    campaign.write_text(campaign.read_text().replace(f'"format": {FORMAT}', f'"format": {FORMAT + 1}'))
    with pytest.raises(ArchiveError, match=f"an archive of format {FORMAT + 1}; this Flowsweep knows format"):
        read_archive(folder)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": None}, "seed: missing"),
        ({"seed": "x"}, "seed: Input should be a valid integer, unable to parse string as an integer"),
        ({"more": 1}, "more: not known"),
    ],
)
def test_a_campaign_file_that_was_changed_is_told_in_one_line(
    tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    folder = write_archive(tmp_path / "archive", [])
    path = folder / "campaign.json"
    found = json.loads(path.read_text()) | changed
    path.write_text(json.dumps({key: value for key, value in found.items() if value is not None}))
    with pytest.raises(ArchiveError) as told:
        read_archive(folder)
    what = "was changed since Flowsweep wrote it: restore it from a copy"
    assert str(told.value) == f"{path}: {said}; {what}"


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN[:1])
    (folder / "merged" / "1" / "flows-0000.parquet").unlink()
    with pytest.raises(ArchiveError, match=r"merged/1/flows-0000\.parquet, which is missing"):
        read_archive(folder)
    (folder / "journal").unlink()
    with pytest.raises(ArchiveError, match="its journal is missing"):
        open_archive_for_writing(folder)


@pytest.mark.parametrize("damaged", ["end", "middle"])
def test_a_file_that_cannot_be_read_is_named(damaged: str, tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", CAMPAIGN[:1])
    path = folder / "merged" / "1" / "samples-0000.parquet"
    data = path.read_bytes()
    match damaged:
        case "end":
            path.write_bytes(data[:100])
        case "middle":
            columns_at = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
            path.write_bytes(data[:4] + bytes(byte ^ 0x5A for byte in data[4:columns_at]) + data[columns_at:])
    archive = read_archive(folder)
    with pytest.raises(ArchiveError, match=rf"{path}: is damaged: "), archive.damage_named():
        summary_rows(archive.tables())


def test_an_engines_table_without_a_needed_column_is_refused(tmp_path: Path) -> None:
    outcome = make_outcome(make_trial())
    with create_archive(tmp_path / "archive", plan_json=PLAN, seed=1) as writer:
        with pytest.raises(ArchiveError, match="lack the column bytes"):
            writer.finished(replace(outcome, samples=outcome.samples.drop_columns(["bytes"])))
        writer.finished(outcome)
    assert len(read_archive(writer.folder).records) == 1
