"""The data of one attempt as Parquet files: the engine's columns as they came, and whose they are."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from flowsweep.archive import disk
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import FLOWS_SCHEMA, TrialOutcome, TrialRecord

KEY_FIELDS = (
    pa.field("trial_id", pa.string(), nullable=False),
    pa.field("attempt", pa.int16(), nullable=False),
    pa.field("host", pa.string(), nullable=False),
)
"""What the archive adds to each row: whose it is."""

NEEDED_SAMPLE_FIELDS = (
    pa.field("role", pa.string(), nullable=False),
    pa.field("flow", pa.int32(), nullable=False),
    pa.field("start_ns", pa.int64(), nullable=False),
    pa.field("end_ns", pa.int64(), nullable=False),
    pa.field("bytes", pa.int64(), nullable=False),
)
"""What every engine records; all other columns of its samples may be absent."""

NO_SAMPLES = pa.schema([*NEEDED_SAMPLE_FIELDS, *KEY_FIELDS]).empty_table()
NO_FLOWS = pa.schema([*FLOWS_SCHEMA, *KEY_FIELDS]).empty_table()

COMPRESSION = "zstd"


def write_attempt(folder: Path, outcome: TrialOutcome) -> None:
    """Write samples.parquet and flows.parquet into a new folder that appears as a whole or not at all.

    A table without rows gets no file: an attempt that failed early has no schema to speak of.
    """
    beside = folder.with_name(folder.name + ".tmp")
    disk.make_folder(beside)
    for name, table in (("samples", outcome.samples), ("flows", outcome.flows)):
        if table.num_rows:
            path = beside / f"{name}.parquet"
            pq.write_table(with_keys(table, outcome.record), path, compression=COMPRESSION)
            disk.sync(path)
    disk.sync(beside)
    disk.rename(beside, folder)


def with_keys(table: pa.Table, record: TrialRecord) -> pa.Table:
    """Return an engine's table with the columns that say whose rows they are.

    Raises:
        ArchiveError: The engine's samples lack what every analysis needs.
    """
    needed = {field.name for field in NEEDED_SAMPLE_FIELDS[:2]}
    if missing := sorted(needed - set(table.column_names)):
        raise ArchiveError(
            f"trial {record.trial_id}: the engine's table lacks the column {', '.join(missing)}"
        )
    sends = pc.equal(table["role"].cast(pa.string()), "source")
    hosts = pc.if_else(sends, record.trial.src, record.trial.dst)
    rows = table.num_rows
    keys = (
        pa.repeat(pa.scalar(record.trial_id), rows),
        pa.repeat(pa.scalar(record.attempt, pa.int16()), rows),
        hosts,
    )
    for field, column in zip(KEY_FIELDS, keys, strict=True):
        table = table.append_column(field, column)
    return table
