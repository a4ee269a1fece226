"""Merging the small files of many attempts into few: 2 000 files cost far more time to read than 20."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from flowsweep.archive.data_files import check_digest, new_parquet, opened_parquet
from flowsweep.archive.entries import MERGED_FOLDER, CompactedEntry, generation_folder
from flowsweep.archive.folder import UNFINISHED, Folder
from flowsweep.archive.state import State
from flowsweep.errors import ArchiveError

ROWS_PER_FILE = 5_000_000
ROWS_PER_GROUP = 10_000
"""Rows held in memory at a time: merging them takes some 2 KB a row."""
_TABLES_HELD_MAX = 64
"""Of which those are; each has a schema of its own, which takes more than its rows where these are few."""


def merge(folder: Folder, state: State, *, rows_per_file: int) -> CompactedEntry:
    """Write all data of the journal's attempts into a new generation of files, on disk on return.

    Nothing is removed, and nobody reads the new files before the journal names them.

    Raises:
        ArchiveError: A file has changed since it was written, or files do not go together.
    """
    try:
        return _merged(folder, state, rows_per_file)
    except pa.ArrowException as error:
        raise ArchiveError(f"{folder.path}: its files cannot be merged: {error}") from error


def _merged(folder: Folder, state: State, rows_per_file: int) -> CompactedEntry:
    for file, digest in state.digests.items():
        check_digest(folder, file, digest)
    generation = _newest(folder, state) + 1
    inside = generation_folder(generation)
    unfinished = inside + UNFINISHED
    folder.make_folder(MERGED_FOLDER)
    folder.make_empty_folder(unfinished)
    written = {
        table: dict(_merge_files(folder, files, f"{unfinished}/{table}", rows_per_file))
        for table, files in state.files.items()
    }
    folder.sync(unfinished)
    folder.rename(unfinished, inside)
    folder.sync()
    final = {
        table: {name.replace(unfinished, inside, 1): digest for name, digest in files.items()}
        for table, files in written.items()
    }
    return CompactedEntry(
        generation=generation,
        **{table: tuple(files) for table, files in final.items()},
        sha256={file: digest for files in final.values() for file, digest in files.items()},
        orphans=tuple(sorted(state.orphans)),
    )


def _newest(folder: Folder, state: State) -> int:
    """The highest number that a generation has or had."""
    there = [int(name) for name in folder.names(MERGED_FOLDER) if name.isascii() and name.isdecimal()]
    return max([*there, state.merged.generation if state.merged else 0])


def _merge_files(
    folder: Folder, sources: Sequence[str], name: str, rows_per_file: int
) -> Iterator[tuple[str, str]]:
    """Stream rows into files of at most `rows_per_file` rows; yields name and SHA-256 of each."""
    if not sources:
        return
    # Engines of different versions may have recorded different columns: what one has not is null.
    schema = _common_schema(folder, sources)
    groups = _groups(folder, sources, schema, min(ROWS_PER_GROUP, rows_per_file))
    pending = next(groups, None)
    number = 0
    while pending is not None:
        file = f"{name}-{number:04}.parquet"
        rows = 0
        with new_parquet(folder, file, schema) as writer:
            while pending is not None and rows + pending.num_rows <= rows_per_file:
                writer.write_table(pending)
                rows += pending.num_rows
                pending = next(groups, None)
        yield file, writer.digest
        number += 1


def _common_schema(folder: Folder, sources: Sequence[str]) -> pa.Schema:
    """All columns that files have; each kind of file counts once: thousands of schemas take much memory."""
    kinds: list[pa.Schema] = []
    for source in sources:
        found = _schema(folder, source)
        if not any(found.equals(known, check_metadata=True) for known in kinds):
            kinds.append(found)
    whole = pa.unify_schemas(kinds)
    # What one kind lacks is null there, however sure the others are of it.
    lacking = {name for name in whole.names if any(name not in kind.names for kind in kinds)}
    fields = [field.with_nullable(field.nullable or field.name in lacking) for field in whole]
    return pa.schema(fields, whole.metadata)


def _schema(folder: Folder, name: str) -> pa.Schema:
    with opened_parquet(folder, name) as parquet:
        return parquet.schema_arrow


def _groups(
    folder: Folder, sources: Sequence[str], schema: pa.Schema, rows_per_group: int
) -> Iterator[pa.Table]:
    """All rows in order, in tables of `rows_per_group` rows; the last may be smaller."""
    held = [schema.empty_table()]
    held_rows = 0
    for name in sources:
        with opened_parquet(folder, name) as parquet:
            # Threads cost more than they save where there are few rows.
            in_threads = parquet.metadata.num_rows > rows_per_group
            for batch in parquet.iter_batches(batch_size=rows_per_group, use_threads=in_threads):
                held.append(pa.Table.from_batches([batch]))
                held_rows += batch.num_rows
                if held_rows < rows_per_group:
                    if len(held) > _TABLES_HELD_MAX:
                        held = [pa.concat_tables(held, promote_options="default").combine_chunks()]
                    continue
                whole = pa.concat_tables(held, promote_options="default")
                while whole.num_rows >= rows_per_group:
                    yield whole.slice(0, rows_per_group).combine_chunks()
                    whole = whole.slice(rows_per_group)
                held, held_rows = [whole], whole.num_rows
    if held_rows:
        yield pa.concat_tables(held, promote_options="default").combine_chunks()
