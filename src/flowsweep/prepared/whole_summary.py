"""The summary of an archive, in which parts that are over are read from the summary that was kept of them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.archive.kept_summary import (
    BEGAN_US,
    POINT,
    RECORDED_STATUS,
    about,
    kept_rows,
    summary_alone,
)
from flowsweep.errors import ArchiveError
from flowsweep.prepared.statement import analysis_id
from flowsweep.prepared.summary import summary_of_archive
from flowsweep.run.outcome import TrialRecord
from flowsweep.version import __version__

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from flowsweep.archive import Archive, Backend
    from flowsweep.archive.reader import ReadPart


def summary_table(
    archive: "Archive",
    backend: "Backend | None" = None,
    *,
    paths: "Callable[[], ir.Table] | None" = None,
) -> pa.Table:
    """One row per trial, as `flowsweep.analysis.summarised` has them.

    Parts that are over are summed up once: from then on their rows are read, unless the analysis has changed
    since. Where samples were retired there is nothing else: columns that the analysis of that time had not
    are null.

    Args:
        archive: What to sum up.
        backend: What computes it, of all trials that have their samples; if absent, DuckDB, by whichever way
            is the shorter.
        paths: Makes what is known of measured paths (`flowsweep.analysis.tests.path.facts_table`), in the
            backend of the archive's tables, where they are there already.

    Raises:
        ArchiveError: A file of data cannot be read, or has changed since it was written; says which.
    """
    kept = {one.number: rows for one in archive.parts if (rows := _rows_kept(one, backend)) is not None}
    if not kept:
        return computed_summary(archive, backend, paths=paths)
    rest = archive.of_parts([one for one in archive.parts if one.number not in kept])
    return _joined(computed_summary(rest, backend), kept.values(), archive.state.attempts)


def computed_summary(
    archive: "Archive",
    backend: "Backend | None" = None,
    *,
    paths: "Callable[[], ir.Table] | None" = None,
) -> pa.Table:
    """The same, from samples alone."""
    with archive.damage_named():
        table = summary_of_archive(archive) if backend is None else None
        if table is None:
            from flowsweep.analysis.summarising.bounded_memory import summarised

            tables = archive.tables() if backend is None else archive.tables_in(backend)
            table = summarised(tables, paths=None if paths is None else paths()).to_pyarrow()
    return table


def summary_to_keep(archive: "Archive") -> pa.Table:
    """The summary of a part that is over, as `flowsweep.archive.kept_summary.keep_summary` takes it.

    Args:
        archive: That part of an archive, read alone.

    Raises:
        ArchiveError: It is no part that is over, is damaged, or something of it cannot be read.
    """
    (part,) = archive.parts
    if part.state.continued_in is None or part.state.retired is not None or archive.losses:
        said = archive.losses[0] if archive.losses else "it is no part that is over and has its samples"
        raise ArchiveError(f"{archive.folder}: its summary is not kept: {said}")
    journal_bytes = part.folder.file_bytes(JOURNAL_FILE)
    table = computed_summary(archive)
    records = [archive.records.get(trial_id) for trial_id in table["trial_id"].to_pylist()]
    added: dict[str, pa.Array] = {
        POINT: pa.array([None if one is None else point_id(one) for one in records], pa.string()),
        RECORDED_STATUS: pa.array([None if one is None else one.status for one in records], pa.string()),
        BEGAN_US: pa.array([None if one is None else began_us(one) for one in records], pa.int64()),
    }
    for name, column in added.items():
        table = table.append_column(name, column)
    return table.replace_schema_metadata(about(__version__, analysis_id(), journal_bytes))


def point_id(record: TrialRecord) -> str:
    """What all repeats of a trial have in common: the trial_id of the first one."""
    return record.trial.model_copy(update={"repeat": 1}).trial_id


def began_us(record: TrialRecord) -> int:
    """When an attempt began, in Unix microseconds, which is what a record has."""
    return round(record.started_at.timestamp() * 1_000_000)


def _rows_kept(part: "ReadPart", backend: "Backend | None") -> pa.Table | None:
    """The rows that were kept of a part, if they stand for it."""
    state = part.state
    if state.retired is not None:
        return kept_rows(part.folder, state.retired.file)
    if backend is not None or state.continued_in is None:
        return None
    kept = summary_alone(part.folder, analysis_id())
    return None if kept is None else kept_rows(part.folder, kept.file)


def _joined(table: pa.Table, kept: Iterable[pa.Table], attempts: Mapping[str, int]) -> pa.Table:
    """Put together what was summed up and what was kept, in the order of the campaign."""
    whole = pa.concat_tables([table, *(_conforming(rows, table.schema) for rows in kept)])
    places = {trial_id: place for place, trial_id in enumerate(attempts)}
    order = pa.array([places[trial_id] for trial_id in whole["trial_id"].to_pylist()], pa.int64())
    column = whole.schema.get_field_index("order_index")
    return whole.set_column(column, whole.schema.field(column), order).sort_by("order_index")


def _conforming(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the columns of today: what another version did not know is null, what it alone knew is left."""
    columns = [
        rows[field.name].cast(field.type)
        if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
