"""A synthetic archive of any size, with the files and the journal that a campaign leaves."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from flowsweep.archive import create_archive
from flowsweep.archive.compaction import ROWS_PER_FILE, ROWS_PER_GROUP
from flowsweep.archive.data_files import COMPRESSION
from flowsweep.archive.entries import MERGED_FOLDER, CompactedEntry, FinishedEntry
from flowsweep.archive.journal import JOURNAL_FILE, frame
from flowsweep.archive.parquet import keyed_tables
from flowsweep.defaults import DRAIN_TIMEOUT_NS, LENGTH_BYTES, MILLISECOND_NS, SECOND_NS
from flowsweep.run.outcome import End, TrialOutcome, TrialRecord
from flowsweep.run.tables import FLOWS_SCHEMA
from flowsweep.schedule import TcpParameters, Trial
from scale.traffic import MSS_BYTES, samples_of, tcp_parameters

FLOWS = (1, 2, 4, 8, 16, 32)
WINDOWS = (1 << 17, 1 << 18, 1 << 19, 1 << 20)
PATHS = (("left", "right"), ("right", "left"))
DURATION_S = 60
STARTED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GENERATION = 1


def write_synthetic_archive(folder: Path, rows: int, *, processes: int = 2) -> int:
    """Write an archive with at least so many rows of samples, always the same for the same number.

    The grid is 6 numbers of flows × 4 windows × 2 directions, with as many repeats as it takes, of a minute
    each, sampled at 10 Hz at both ends: 12 700 rows a trial.

    Returns:
        The number of rows.
    """
    files = list(_files(rows))
    with create_archive(folder, plan_json="{}", seed=1) as archive:
        archive.hosts({})
    merged = folder / MERGED_FOLDER / str(GENERATION)
    merged.mkdir(parents=True)
    paths = [
        (merged / f"samples-{n:04}.parquet", merged / f"flows-{n:04}.parquet") for n in range(len(files))
    ]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        entries = list(pool.map(_write_file, files, *zip(*paths, strict=True)))
    finished = sorted(
        (entry for of_file in entries for entry in of_file), key=lambda one: one.record.started_at
    )
    names = [
        [f"{MERGED_FOLDER}/{GENERATION}/{path.name}" for path in kind] for kind in zip(*paths, strict=True)
    ]
    compacted = CompactedEntry(generation=GENERATION, samples=tuple(names[0]), flows=tuple(names[1]))
    with (folder / JOURNAL_FILE).open("ab") as journal:
        for entry in (*finished, compacted):
            journal.write(frame(entry.model_dump_json().encode()))
    return sum(entry.sample_rows for entry in finished)


def _files(rows: int) -> Iterator[list[tuple[int, Trial]]]:
    """Trials and their places in the campaign, file by file, in the order in which `compact` merges them."""
    trials: list[tuple[int, Trial]] = []
    count = 0
    while count < rows:
        for flows, window, path in product(FLOWS, WINDOWS, PATHS):
            trial = _trial(
                flows, window, path, repeat=1 + len(trials) // (len(FLOWS) * len(WINDOWS) * len(PATHS))
            )
            trials.append((len(trials), trial))
            count += _rows(trial)
    trials.sort(key=lambda placed: placed[1].trial_id)
    held: list[tuple[int, Trial]] = []
    room = ROWS_PER_FILE
    for place, trial in trials:
        if held and room < _rows(trial):
            yield held
            held, room = [], ROWS_PER_FILE
        held.append((place, trial))
        room -= _rows(trial)
    yield held


def _rows(trial: Trial) -> int:
    parameters = tcp_parameters(trial)
    each = (parameters.duration_ns + trial.pad_ns) // parameters.sample_interval_ns + 2
    return 2 * parameters.flows * each


def _trial(flows: int, window_bytes: int, path: tuple[str, str], *, repeat: int) -> Trial:
    src, dst = path
    parameters = TcpParameters(
        flows=flows, window_send_bytes=window_bytes, window_recv_bytes=window_bytes,
        length_bytes=LENGTH_BYTES, congestion="cubic", duration_ns=DURATION_S * SECOND_NS,
        omit_ns=5 * SECOND_NS, interval_ns=SECOND_NS, sample_interval_ns=100 * MILLISECOND_NS, rate_bps=None,
        pacing_rate_bps=None, mss_bytes=None, dscp=None, no_delay=False, affinity=(), family=None,
        mode="copy", clip_allowed=False,
        drain_timeout_ns=DRAIN_TIMEOUT_NS,
    )  # fmt: skip
    return Trial(
        sweep="windows", repeat=repeat, src=src, dst=dst, sources=(src,), sinks=(dst,), test="tcp",
        simultaneous=False, parameters=parameters, window_sums_asked_bytes=(flows * window_bytes,),
        window_capped=False,
    )  # fmt: skip


def _write_file(trials: Sequence[tuple[int, Trial]], samples: Path, flows: Path) -> list[FinishedEntry]:
    outcomes = (_outcome(place, trial) for place, trial in trials)
    entries: list[FinishedEntry] = []
    ends: list[pa.Table] = []
    held: list[pa.Table] = []
    writer: pq.ParquetWriter | None = None
    for outcome in outcomes:
        keyed = keyed_tables(outcome)
        record = outcome.record
        counts = (outcome.samples.num_rows, outcome.flows.num_rows)
        entries.append(FinishedEntry(record=record, sample_rows=counts[0], flow_rows=counts[1]))
        ends.append(keyed["flows"])
        held.append(keyed["samples"])
        writer = writer or pq.ParquetWriter(samples, keyed["samples"].schema, compression=COMPRESSION)
        if sum(table.num_rows for table in held) >= ROWS_PER_GROUP:
            whole = pa.concat_tables(held)
            writer.write_table(whole.slice(0, ROWS_PER_GROUP).combine_chunks())
            held = [whole.slice(ROWS_PER_GROUP)]
    if writer is not None:
        writer.write_table(pa.concat_tables(held).combine_chunks())
        writer.close()
    pq.write_table(pa.concat_tables(ends), flows, compression=COMPRESSION)
    return entries


def _outcome(place: int, trial: Trial) -> TrialOutcome:
    samples = samples_of(trial, seed=place)
    totals = samples.group_by(["role", "flow"]).aggregate([("bytes", "sum")]).to_pylist()
    here = {"source": trial.src, "sink": trial.dst}
    there = {"source": trial.dst, "sink": trial.src}
    rows = [
        {
            "host": here[row["role"]], "peer": there[row["role"]], "origin_ns": 0, "role": row["role"],
            "flow": row["flow"], "bytes": row["bytes_sum"], "first_byte_ns": 0,
            "end_ns": pc.max(samples["end_ns"]).as_py(), "end": "drained", "error": None,
            "local_port": 40_000 + row["flow"], "remote_port": 5_300, "cpu_user_us": 100_000,
            "cpu_system_us": 4_000_000, "cpu_elapsed_us": DURATION_S * 1_000_000,
            "cpu_voluntary_switches": 9, "cpu_involuntary_switches": 1,
        }
        for row in totals
    ]  # fmt: skip
    return TrialOutcome(_record(place, trial), samples, pa.Table.from_pylist(rows, schema=FLOWS_SCHEMA))


def _record(place: int, trial: Trial) -> TrialRecord:
    started_at = STARTED_AT + timedelta(seconds=place * (DURATION_S + 1))

    def end(host: str, peer: str) -> End:
        return End(
            host=host, peer=peer, window_granted_bytes=2 * (tcp_parameters(trial).window_send_bytes or 0),
            window_clipped=False, window_raised=False, congestion="cubic", mss_bytes=MSS_BYTES,
            origin_unix_ns=int(started_at.timestamp()) * SECOND_NS, clock_offset_ns=0, clock_bound_ns=0,
            rejected_connections=0, sample_rows_lost=0, throttled_us=0,
        )  # fmt: skip

    return TrialRecord(
        trial_id=trial.trial_id, attempt=1, trial=trial, status="ok", started_at=started_at,
        elapsed_ns=DURATION_S * SECOND_NS, failure=None, sources=(end(trial.src, trial.dst),),
        sinks=(end(trial.dst, trial.src),),
    )  # fmt: skip
