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
    for name, table in (("samples", keyed_samples(outcome)), ("flows", keyed_flows(outcome))):
        if table is not None:
            path = beside / f"{name}.parquet"
            pq.write_table(table, path, compression=COMPRESSION)
            disk.sync(path)
    disk.sync(beside)
    disk.rename(beside, folder)


def check_file(path: Path) -> None:
    """Read a file of data to its end, to see whether that is possible.

    Raises:
        ArchiveError: It is not.
    """
    with disk.reported(path, "cannot be read"):
        try:
            with pq.ParquetFile(path) as file:
                for _ in file.iter_batches():
                    pass
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = " ".join(str(error).split()).rstrip(":.")
            raise ArchiveError(
                f"{path}: is damaged: {reason}. Nothing was altered; restore the file from a copy."
            ) from error


def keyed_samples(outcome: TrialOutcome) -> pa.Table | None:
    """Return the engine's samples with the columns that say whose rows they are; none if there are no rows.

    Raises:
        ArchiveError: They lack what every analysis needs.
    """
    if not outcome.samples.num_rows:
        return None
    needed = {field.name for field in NEEDED_SAMPLE_FIELDS}
    if missing := sorted(needed - set(outcome.samples.column_names)):
        raise ArchiveError(
            f"trial {outcome.record.trial_id}: the engine's samples lack the column {', '.join(missing)}"
        )
    return _with_keys(outcome.samples, outcome.record)


def keyed_flows(outcome: TrialOutcome) -> pa.Table | None:
    """Return the outcome's flows with the columns that say whose rows they are; none if there are no rows."""
    return _with_keys(outcome.flows, outcome.record) if outcome.flows.num_rows else None


def _with_keys(table: pa.Table, record: TrialRecord) -> pa.Table:
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
