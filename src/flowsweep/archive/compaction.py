"""Merging the small files of many attempts into few: 2 000 files cost far more time to read than 20."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from flowsweep.archive import disk
from flowsweep.archive.entries import MERGED_FOLDER, CompactedEntry, State
from flowsweep.archive.parquet import COMPRESSION

ROWS_PER_FILE = 5_000_000
ROWS_PER_GROUP = 250_000
"""Rows held in memory at a time."""


def merge(archive: Path, state: State, *, rows_per_file: int) -> CompactedEntry:
    """Write all data of the journal's attempts into a new generation of files, on disk on return.

    Nothing is removed, and nobody reads the new files before the journal names them.
    """
    generation = state.merged.generation + 1 if state.merged else 1
    folder = archive / MERGED_FOLDER / str(generation)
    beside = folder.with_name(folder.name + ".tmp")
    folder.parent.mkdir(exist_ok=True)
    disk.make_folder(beside)
    names = {
        table: [
            f"{MERGED_FOLDER}/{generation}/{path.name}"
            for path in _merge_files([archive / file for file in files], beside, table, rows_per_file)
        ]
        for table, files in state.files.items()
    }
    disk.sync(beside)
    disk.remove_folder(folder)
    disk.rename(beside, folder)
    disk.sync(archive)
    return CompactedEntry(generation=generation, **{table: tuple(files) for table, files in names.items()})


def _merge_files(sources: list[Path], folder: Path, name: str, rows_per_file: int) -> Iterator[Path]:
    """Stream rows into files of at most `rows_per_file` rows; yields each file once it is on disk."""
    if not sources:
        return
    # Engines of different versions may have recorded different columns: what one has not is null.
    schema = pa.unify_schemas([pq.read_schema(path) for path in sources])
    groups = _groups(sources, schema, min(ROWS_PER_GROUP, rows_per_file))
    pending = next(groups, None)
    number = 0
    while pending is not None:
        path = folder / f"{name}-{number:04}.parquet"
        rows = 0
        with pq.ParquetWriter(path, schema, compression=COMPRESSION) as writer:
            while pending is not None and rows + pending.num_rows <= rows_per_file:
                writer.write_table(pending)
                rows += pending.num_rows
                pending = next(groups, None)
        disk.sync(path)
        yield path
        number += 1


def _groups(sources: Iterable[Path], schema: pa.Schema, rows_per_group: int) -> Iterator[pa.Table]:
    """All rows in order, in tables of `rows_per_group` rows; the last may be smaller."""
    held = [schema.empty_table()]
    held_rows = 0
    for path in sources:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=rows_per_group):
                held.append(pa.Table.from_batches([batch]))
                held_rows += batch.num_rows
                if held_rows < rows_per_group:
                    continue
                whole = pa.concat_tables(held, promote_options="default")
                while whole.num_rows >= rows_per_group:
                    yield whole.slice(0, rows_per_group).combine_chunks()
                    whole = whole.slice(rows_per_group)
                held, held_rows = [whole], whole.num_rows
    if held_rows:
        yield pa.concat_tables(held, promote_options="default").combine_chunks()
