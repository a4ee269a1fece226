"""A campaign as Ibis tables: trials, and what the engines and emulated links reported."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.archive.background_rows import OF_BACKGROUND, split
from flowsweep.archive.entries import TABLES
from flowsweep.archive.format_2 import with_names_of_today
from flowsweep.archive.imported import ImportedTrial
from flowsweep.archive.parquet import EMPTY_TABLES, KEY_FIELDS, PLANNED_PLAINLY_ROWS_MAX, keyed_tables
from flowsweep.archive.trials import trials_table
from flowsweep.plan.links.model import Link
from flowsweep.run.outcome import TrialOutcome, TrialRecord

if TYPE_CHECKING:
    from flowsweep.archive.backends import Backend

_ATTEMPT_KEY = pa.schema(KEY_FIELDS)


@dataclass(frozen=True, slots=True)
class Tables:
    """A campaign's facts, in one backend."""

    trials: ir.Table
    """One row per trial, columns as in `flowsweep.archive.trials.TRIALS_SCHEMA`."""
    flows: ir.Table
    """One row per trial, flow and end: `flowsweep.run.tables.FLOWS_SCHEMA`, trial_id, attempt, and what its
    samples are together (`flowsweep.archive.sampled_flows.SAMPLED_FIELDS`), which older archives lack."""
    samples: ir.Table
    """One row per trial, flow, end and sample interval: engine's columns, host, peer, trial_id, attempt."""
    cpu: ir.Table
    """One row per trial, end, interval and core or thread; columns as for samples."""
    counters: ir.Table
    """One row per trial, end and counter that rose: `COUNTERS_SCHEMA` and trial_id, attempt."""
    links: ir.Table
    """One row per trial, emulated link, direction and moment: `LINKS_SCHEMA` and trial_id, attempt."""
    datagrams: ir.Table
    """One row per trial, flow of datagrams, end and sample interval; columns as for samples."""
    histograms: ir.Table
    """One row per trial, flow of datagrams, end, quantity and step of its histogram."""
    echoes: ir.Table
    """One row per trial and probe of a round-trip time."""
    hops: ir.Table
    """One row per trial and probe of a hop."""
    trains: ir.Table
    """One row per trial and packet of a train or stream that arrived."""
    subflows: ir.Table
    """One row per trial, flow of MPTCP, end, subflow and sample interval."""
    quic: ir.Table
    """One row per trial, flow of QUIC, end and sample interval."""
    streams: ir.Table
    """One row per trial, flow of QUIC, end, stream and sample interval."""
    storage: ir.Table
    """One row per trial, flow that carries files, end and sample interval."""
    devices: ir.Table
    """One row per trial, end and sample interval: the block device below its files."""
    background_flows: ir.Table
    """Like `flows`, of what ran beside a trial; in all tables above are the trial's own flows only."""
    background_samples: ir.Table
    """Like `samples`, of what ran beside a trial."""


def tables_of(outcomes: Sequence[TrialOutcome]) -> Tables:
    """Make the tables of trials that no archive keeps, in the order given, on a new DuckDB connection."""
    from flowsweep.archive.backends import kept_by_duckdb

    records = [outcome.record for outcome in outcomes]
    connection = ibis.duckdb.connect()
    keyed = [keyed_tables(outcome) for outcome in outcomes]
    if sum(table.num_rows for tables in keyed for table in tables.values()) <= PLANNED_PLAINLY_ROWS_MAX:
        connection.raw_sql("PRAGMA disable_optimizer")

    def whole(name: str) -> ir.Table:
        pieces = [tables[name] for tables in keyed if name in tables]
        table = pa.concat_tables(pieces, promote_options="default") if pieces else EMPTY_TABLES[name]
        return kept_by_duckdb(connection, name, table)

    trials = kept_by_duckdb(connection, "trials", trials_table(records, attempts={}))
    empty = {
        name: kept_by_duckdb(connection, f"background_{name}", EMPTY_TABLES[name]) for name in OF_BACKGROUND
    }
    return Tables(trials=trials, **split(trials, {name: whole(name) for name in TABLES}, empty, records))


def tables_of_files(
    records: Collection[TrialRecord],
    *,
    imported: Collection[ImportedTrial] = (),
    attempts: Mapping[str, int],
    superseded: Sequence[tuple[str, int]],
    files: Mapping[str, Sequence[str]],
    links: Sequence[Link] = (),
    backend: "Backend",
    former: bool,
) -> Tables:
    """Make the tables of an archive in a backend that reads the Parquet files when it has to.

    Args:
        records: The attempts that count.
        imported: Trials of other tools.
        attempts: How often each trial was started, by trial_id, in the order of the campaign.
        superseded: Attempts, as trial_id and attempt, whose rows are left out.
        files: Parquet files of each of `TABLES`.
        links: Emulated ones, of the plan.
        backend: Without tables so far.
        former: Whether the campaign began under format 2 of the archive.
    """
    replaced = [{"trial_id": trial_id, "attempt": attempt} for trial_id, attempt in superseded]
    left_out = backend.keep("superseded", pa.Table.from_pylist(replaced, schema=_ATTEMPT_KEY))

    def counted(name: str) -> ir.Table:
        if not files[name]:
            return backend.keep(name, EMPTY_TABLES[name])
        # Engines of different versions may have recorded different columns.
        read = backend.read_parquet(name, files[name])
        rows = with_names_of_today(name, read) if former else read
        # Not without need: a join, even with an empty table, doubles the time of reading.
        return rows.anti_join(left_out, ["trial_id", "attempt"]) if superseded else rows

    trials = backend.keep("trials", trials_table(records, imported, attempts=attempts, links=links))
    empty = {name: backend.keep(f"background_{name}", EMPTY_TABLES[name]) for name in OF_BACKGROUND}
    return Tables(trials=trials, **split(trials, {name: counted(name) for name in TABLES}, empty, records))
