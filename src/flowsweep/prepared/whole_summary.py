"""The summary of an archive, in which parts are read from the summary that was kept of them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from flowsweep.analysis.row_schema import schema_of
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.archive.kept_summary import RECORDED_SCHEMA, kept_rows, summary_alone
from flowsweep.errors import ArchiveError
from flowsweep.prepared.statement import analysis_id

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

    Parts of which a summary was kept are not summed up again: their rows are read, unless something was
    recorded, or the analysis has changed, since. Where samples were retired there is nothing else: columns
    that the analysis of that time had not are null.

    Args:
        archive: What to sum up.
        backend: What computes it, of all trials that have their samples; if absent, DuckDB, by whichever way
            is the shorter.
        paths: Makes what is known of measured paths (`flowsweep.analysis.tests.path.facts_table`), in the
            backend of the archive's tables, where they are there already.

    Raises:
        ArchiveError: A file of data cannot be read, or has changed since it was written; says which.
    """
    kept = {
        part.number: rows
        for part in archive.parts
        if (rows := _rows_kept(archive, part, backend)) is not None
    }
    if not kept:
        return computed_summary(archive, backend, paths=paths)
    rest = [part for part in archive.parts if part.number not in kept]
    if rest or archive.state.retired_at:
        table = computed_summary(archive.of_parts(rest), backend)
    else:
        archive.of_parts(archive.parts[-1:]).check_small_files()
        rows = next(iter(kept.values()))
        table = rows.slice(0, 0).select(list(schema_of(TrialRow).names))
    try:
        return _joined(table.replace_schema_metadata(None), kept.values(), archive.state.attempts)
    except pa.ArrowException as error:
        said = f"a summary that was kept does not fit the rest: {' '.join(str(error).split())}"
        raise ArchiveError(f"{archive.folder}: {said}") from error


def computed_summary(
    archive: "Archive",
    backend: "Backend | None" = None,
    *,
    paths: "Callable[[], ir.Table] | None" = None,
) -> pa.Table:
    """The same, from samples alone."""
    from flowsweep.prepared.summary import summary_of_archive

    with archive.damage_named():
        table = summary_of_archive(archive) if backend is None else None
        if table is None:
            from flowsweep.analysis.summarising.bounded_memory import summarised

            tables = archive.tables() if backend is None else archive.tables_in(backend)
            table = summarised(tables, paths=None if paths is None else paths()).to_pyarrow()
    return table


def _rows_kept(archive: "Archive", part: "ReadPart", backend: "Backend | None") -> pa.Table | None:
    """The rows that were kept of a part, if they stand for it as it was when it was read."""
    if part.state.retired is not None:
        return _rows_left(part, part.state.retired.file)
    is_over = part.state.continued_in is not None
    if backend is not None or (archive.losses and not is_over):
        return None
    try:
        kept = summary_alone(part.folder, analysis_id())
        if kept is None or not (is_over or kept.journal_bytes == part.journal_bytes):
            return None
        rows = kept_rows(part.folder, kept.file)
    except ArchiveError:
        return None  # Samples are there, and are summed up.
    return rows if _fits(rows, part) else None


def _rows_left(part: "ReadPart", file: str) -> pa.Table:
    """The rows that are left of a part whose samples were retired.

    Raises:
        ArchiveError: They are not of its trials.
    """
    rows = kept_rows(part.folder, file)
    where = part.folder.path / file
    if "trial_id" not in rows.column_names:
        raise ArchiveError(f"{where}: does not say whose rows it has")
    trials = rows["trial_id"].to_pylist()
    if len(trials) != len(set(trials)):
        raise ArchiveError(f"{where}: has several rows of a trial")
    if foreign := set(trials) - part.state.done.keys() - part.state.imported.keys():
        shown = str(next(iter(foreign)))[:40]
        raise ArchiveError(f"{where}: has a row of trial {shown!r}, which the journal beside it has not")
    return rows


def _fits(rows: pa.Table, part: "ReadPart") -> bool:
    """Whether these are a row for each trial of a part, with the columns of a summary."""
    schema, there = schema_of(TrialRow), dict(zip(rows.schema.names, rows.schema.types, strict=True))
    if not {*schema.names, *RECORDED_SCHEMA.names} <= there.keys():
        return False
    unsure = [one for one in schema if not _holds(one.type, there[one.name])]
    try:
        conforming(rows, pa.schema(unsure))
    except pa.ArrowException:
        return False
    trials = rows["trial_id"].to_pylist()
    state = part.state
    return len(trials) == len(set(trials)) and set(trials) == state.done.keys() | state.imported.keys()


def _holds(wanted: pa.DataType, found: pa.DataType) -> bool:
    """Whether any number of an integer type is one of another."""
    is_signed = pa.types.is_signed_integer
    return bool(is_signed(wanted) and is_signed(found) and found.bit_width <= wanted.bit_width)


def _joined(table: pa.Table, kept: Iterable[pa.Table], attempts: Mapping[str, int]) -> pa.Table:
    """Put together what was summed up and what was kept, in the order of the campaign."""
    whole = pa.concat_tables([table, *(conforming(rows, table.schema) for rows in kept)])
    places = {trial_id: place for place, trial_id in enumerate(attempts)}
    order = [places[trial_id] for trial_id in whole["trial_id"].to_pylist()]
    column = whole.schema.get_field_index("order_index")
    whole = whole.set_column(column, whole.schema.field(column), pa.array(order, pa.int64()))
    return whole if order == sorted(order) else whole.sort_by("order_index")


def conforming(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the columns of a schema: what they have not is null, what it has not is left out."""
    there = dict(zip(rows.column_names, rows.columns, strict=True))
    columns = [
        _of_type(there[field.name], field.type)
        if field.name in there
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _of_type(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    # What casts and sorts takes a quarter of a summary's time to load; rows that were kept seldom need it.
    return column if column.type == wanted else column.cast(wanted)
