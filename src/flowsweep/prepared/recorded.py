"""Rows of a summary with what the journal says of the same trials: all that one who watches a campaign needs.

Of parts that are over they are kept, so that neither samples nor journals of these are read again.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from flowsweep.archive import disk
from flowsweep.archive.campaign import open_folder
from flowsweep.archive.folder import Folder
from flowsweep.archive.kept_summary import RECORDED_SCHEMA, about, keep_summary, kept_rows, summary_alone
from flowsweep.archive.part_folders import opened_part, part_numbers
from flowsweep.archive.reader import Archive, read_archive
from flowsweep.archive.readers import ReadersLock
from flowsweep.defaults import SECOND_US
from flowsweep.errors import ArchiveError
from flowsweep.prepared.statement import analysis_id
from flowsweep.prepared.whole_summary import computed_summary, conforming, summary_table
from flowsweep.run.outcome import TrialRecord
from flowsweep.version import __version__


def recorded_rows(
    folder: Path,
    columns: Mapping[str, pa.DataType],
    tell_lost: Callable[[tuple[str, ...]], object] = tuple,
) -> pa.Table:
    """Read some columns of a summary, and all of RECORDED_SCHEMA, of all trials of an archive.

    Args:
        folder: The archive's.
        columns: Those of the summary, with the type that is wanted; null where a row has none.
        tell_lost: Called with what is damaged and left out, in sentences, of each part whose journal is read.

    Raises:
        ArchiveError: It is no archive, or something of it cannot be read; says what.
    """
    schema = pa.schema([*columns.items(), *RECORDED_SCHEMA])
    found = [schema.empty_table()]
    with disk.reported(folder, "cannot be read"):
        opened = open_folder(folder)
        hold = ReadersLock(opened)
        numbers = part_numbers(opened)
        for number in numbers:
            part = opened_part(opened, number)
            rows = None if number == numbers[-1] else _rows_kept(part, schema.names)
            if rows is None:
                with read_archive(folder, part=number) as archive:
                    rows = with_recorded(summary_table(archive), archive.records)
                    tell_lost(archive.losses)
            found.append(conforming(rows, schema))
        hold.release()
    return pa.concat_tables(found)


def summary_to_keep(archive: Archive) -> pa.Table:
    """The summary of a part that is over, as `flowsweep.archive.kept_summary.keep_summary` takes it.

    Args:
        archive: That part of an archive, read alone.

    Raises:
        ArchiveError: It is no part that is over, is damaged, or something of it cannot be read.
    """
    (part,) = archive.parts
    if part.state.continued_in is None or part.state.retired is not None or archive.losses:
        said = archive.losses[0] if archive.losses else "it is no part that is over and has its samples"
        raise ArchiveError(f"{part.folder.path}: its summary is not kept: {said}")
    return _to_keep(archive, computed_summary(archive))


def keep_at_end(archive: Archive, summary: pa.Table) -> None:
    """Keep the summary of a campaign that is over for now, so that nobody sums its trials up again.

    Args:
        archive: Of one part, or nothing is kept.
        summary: Of all its trials.

    Raises:
        ArchiveError: The disk does not take it.
    """
    if len(archive.parts) == 1 and archive.parts[0].state.retired is None and not archive.losses:
        keep_summary(archive.parts[0].folder, _to_keep(archive, summary))


def _rows_kept(part: Folder, columns: list[str]) -> pa.Table | None:
    """Of a part that is over; None if they are not as they were written, so that it is summed up."""
    kept = summary_alone(part, analysis_id())
    if kept is None:
        return None
    try:
        return kept_rows(part, kept.file, columns)
    except ArchiveError:
        return None


def _to_keep(archive: Archive, summary: pa.Table) -> pa.Table:
    (part,) = archive.parts
    table = with_recorded(summary, archive.records)
    return table.replace_schema_metadata(about(__version__, analysis_id(), part.journal_bytes))


def write_to_keep(archive: Path, part: int, stream: BinaryIO) -> None:
    """Write what is to be kept of a part as an Arrow IPC stream.

    Raises:
        ArchiveError: It is no part that is over, or something of it cannot be read.
    """
    with read_archive(archive, part=part) as found:
        table = summary_to_keep(found)
    with pa.ipc.new_stream(stream, table.schema) as written:
        written.write_table(table)
    stream.flush()


def with_recorded(summary: pa.Table, records: Mapping[str, TrialRecord]) -> pa.Table:
    """Add the columns of RECORDED_SCHEMA to rows of a summary; null of trials without a record."""
    rows = [_recorded(records.get(trial_id)) for trial_id in summary["trial_id"].to_pylist()]
    for field, column in zip(RECORDED_SCHEMA, zip(*rows, strict=True) if rows else ((),) * 4, strict=True):
        summary = summary.append_column(field, pa.array(column, field.type))
    return summary


def _recorded(record: TrialRecord | None) -> Sequence[object]:
    """In the order of RECORDED_SCHEMA. Each step of a search has a rate of its own, and is of no point."""
    if record is None:
        return (None,) * len(RECORDED_SCHEMA)
    began_us = round(record.started_at.timestamp() * SECOND_US)
    trial = record.trial
    if trial.search is not None:
        return None, None, record.status, began_us
    point = trial.model_copy(update={"repeat": 1}).trial_id
    return point, trial.parameters.in_words(trial.total_flows), record.status, began_us
