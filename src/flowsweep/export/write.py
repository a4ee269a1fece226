"""Tables into files: each is there completely or not at all, and nothing is written over unasked."""

from collections.abc import Callable, Mapping
from pathlib import Path

import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.parquet as pq

from flowsweep.archive.named_output import refuse_data_of_archive, where_it_leads
from flowsweep.csv_text import csv_text
from flowsweep.errors import ExportError
from flowsweep.export.workbook import write_workbook
from flowsweep.whole_file import whole_file

FORMATS = ("csv", "xlsx", "parquet")
_FILE_ENDINGS = (*FORMATS, "txt", "tsv", "json", "xls")
"""What a name ends in that is meant to be a file's; `v1.2` or a date behind a dot is as good for a folder."""
_ROWS_AT_A_TIME = 50_000


def write_tables(
    tables: Mapping[str, ir.Table], target: Path, form: str, *, overwrite: bool = False
) -> tuple[tuple[Path, int], ...]:
    """Write tables in one of FORMATS.

    Args:
        tables: By name.
        target: A file, with the format's ending, for one table or a workbook; a folder for several tables.
        form: One of FORMATS.
        overwrite: Replace files that are there.

    Returns:
        The files, and how many rows are in each.

    Raises:
        ExportError: A file is there already, has another ending, or cannot hold that many rows.
        ArchiveError: It would lie among an archive's own files.
        OSError: It cannot be written.
    """
    if form == "xlsx" or (len(tables) == 1 and target.suffix.lower() == f".{form}"):
        files = {target: tables}
    else:
        files = {target / f"{name}.{form}": {name: table} for name, table in tables.items()}
    _check(list(files), target, form, overwrite=overwrite)
    return tuple(
        (path, _write(where_it_leads(path) if path == target else path, content, form))
        for path, content in files.items()
    )


def _check(files: list[Path], target: Path, form: str, *, overwrite: bool) -> None:
    ending = f".{form}"
    for path in files:
        refuse_data_of_archive(path)
    if files == [target] and target.suffix.lower() != ending:
        raise ExportError(f"{target}: expected a name that ends in {ending}")
    if files != [target] and not target.is_dir():
        _check_folder(files, target, ending)
    if there := [path for path in files if path.exists()]:
        if not overwrite:
            names = ", ".join(map(str, there))
            raise ExportError(f"{names}: there already. Choose another place, or add --overwrite.")
        if folders := [path for path in there if path.is_dir()]:
            raise ExportError(f"{folders[0]}: is a folder, expected a file")


def _check_folder(files: list[Path], target: Path, ending: str) -> None:
    """Refuse a folder that is a file, or that would be made with the name of one."""
    kind = target.suffix.lower().removeprefix(".")
    if len(files) == 1 and (kind in _FILE_ENDINGS or target.exists()):
        raise ExportError(f"{target}: expected a name that ends in {ending}, or a folder")
    if target.exists():
        raise ExportError(f"{target}: is a file, and several tables need a folder")
    if kind in FORMATS:
        raise ExportError(
            f"{target}: several tables need a folder, and this is a name of a file: expected another name, "
            "or one table"
        )


def _write(path: Path, tables: Mapping[str, ir.Table], form: str) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    write: Callable[[Path, Mapping[str, ir.Table]], int]
    write = {"csv": _write_csv, "parquet": _write_parquet, "xlsx": write_workbook}[form]
    with whole_file(path) as unfinished:
        return write(unfinished, tables)


def _write_csv(path: Path, tables: Mapping[str, ir.Table]) -> int:
    content = _only(tables)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text([], content.column_names))
        # Rows as values of Python take far more memory than as a table.
        for batch in content.to_batches(max_chunksize=_ROWS_AT_A_TIME):
            _, _, body = csv_text(batch.to_pylist(), content.column_names).partition("\n")
            file.write(body)
    return int(content.num_rows)


def _write_parquet(path: Path, tables: Mapping[str, ir.Table]) -> int:
    content = _only(tables)
    # Arrow opens no path that is not UTF-8.
    with path.open("wb") as file:
        pq.write_table(content, file, compression="zstd")
    return int(content.num_rows)


def _only(tables: Mapping[str, ir.Table]) -> pa.Table:
    (table,) = tables.values()
    return table.to_pyarrow()
