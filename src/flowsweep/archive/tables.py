"""A campaign as three Ibis tables: trials, flows, samples."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.archive.parquet import KEY_FIELDS, NO_FLOWS, NO_SAMPLES, keyed_flows, keyed_samples
from flowsweep.archive.trials import trials_table
from flowsweep.run.outcome import TrialOutcome, TrialRecord

_ATTEMPT_KEY = pa.schema(KEY_FIELDS[:2])


@dataclass(frozen=True, slots=True)
class Tables:
    """A campaign's facts, in one backend."""

    trials: ir.Table
    """One row per trial, columns as in `flowsweep.archive.trials.TRIALS_SCHEMA`."""
    flows: ir.Table
    """One row per trial, flow and end: `flowsweep.run.outcome.FLOWS_SCHEMA` and trial_id, attempt, host."""
    samples: ir.Table
    """One row per trial, flow, end and sample interval: the engine's columns and trial_id, attempt, host."""


def tables_of(outcomes: Sequence[TrialOutcome]) -> Tables:
    """Make the tables of trials that no archive keeps, in the order given, on a new DuckDB connection."""
    records = [outcome.record for outcome in outcomes]
    connection = ibis.duckdb.connect()
    samples = [table for outcome in outcomes if (table := keyed_samples(outcome)) is not None]
    flows = [table for outcome in outcomes if (table := keyed_flows(outcome)) is not None]
    return Tables(
        trials=connection.create_table("trials", trials_table(records, attempts={})),
        flows=connection.create_table("flows", pa.concat_tables([NO_FLOWS, *flows])),
        samples=connection.create_table(
            "samples", pa.concat_tables(samples, promote_options="default") if samples else NO_SAMPLES
        ),
    )


def tables_of_files(
    records: Collection[TrialRecord],
    *,
    attempts: Mapping[str, int],
    superseded: Sequence[tuple[str, int]],
    samples: Sequence[str],
    flows: Sequence[str],
) -> Tables:
    """Make the tables of an archive on a new DuckDB connection, which reads the Parquet files when it has to.

    Args:
        records: The attempts that count.
        attempts: How often each trial was started, by trial_id, in the order of the campaign.
        superseded: Attempts, as trial_id and attempt, whose rows are left out.
        samples: Parquet files.
        flows: Parquet files.
    """
    connection = ibis.duckdb.connect()
    replaced = [{"trial_id": trial_id, "attempt": attempt} for trial_id, attempt in superseded]
    left_out = connection.create_table("superseded", pa.Table.from_pylist(replaced, schema=_ATTEMPT_KEY))

    def counted(name: str, files: Sequence[str], empty: pa.Table) -> ir.Table:
        if not files:
            return connection.create_table(name, empty)
        # Engines of different versions may have recorded different columns.
        rows = connection.read_parquet(list(files), table_name=name, union_by_name=True)
        # Not without need: a join, even with an empty table, doubles the time of reading.
        return rows.anti_join(left_out, ["trial_id", "attempt"]) if superseded else rows

    return Tables(
        trials=connection.create_table("trials", trials_table(records, attempts=attempts)),
        flows=counted("flows", flows, NO_FLOWS),
        samples=counted("samples", samples, NO_SAMPLES),
    )
