"""`flowsweep export`: a campaign's tables for other programs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.app import app, print_warning
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.reading import told_if_long
from flowsweep.cli.terminal import say
from flowsweep.errors import ExportError
from flowsweep.export import TABLES, export_tables, write_tables
from flowsweep.wording import counted, retired_words


class Format(StrEnum):
    """What to write."""

    csv = "csv"
    xlsx = "xlsx"
    parquet = "parquet"


class Which(StrEnum):
    """Which tables to write."""

    trials = "trials"
    flows = "flows"
    intervals = "intervals"
    hops = "hops"
    all = "all"


_EPILOG = (
    "trials: one row per trial, with goodput and the settings of the trial. flows: one per flow and end. "
    "intervals: one per trial and exact interval. hops: one per measurement of a path and hop. "
    "Several tables go into a folder, one file each; in a workbook each is a sheet."
)


@app.command(epilog=_EPILOG)
def export(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign.")],
    form: Annotated[Format, typer.Option("--format", help="csv, parquet, or xlsx for a spreadsheet.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE|DIR", help="Where to write.")],
    which: Annotated[
        Which, typer.Option("--table", metavar="TABLE", help=f"{', '.join(Which)}.")
    ] = Which.all,
    *,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Write trials, flows, intervals and hops as files for other programs."""
    from flowsweep.prepared.whole_summary import summary_table

    found = read_with_warnings(archive)
    names = TABLES if which is Which.all else (which.value,)
    try:
        with found.damage_named(), told_if_long("writing tables"):
            trials = summary_table(found) if Which.trials in names else None
            tables = export_tables(found.tables(), names, trials=trials)
            written = write_tables(tables, output, form.value, overwrite=overwrite)
    except OSError as error:
        raise ExportError(f"{error.filename or output}: cannot be written: {error.strerror}") from error
    retired = retired_words(found.state.retired_at)
    if retired is not None and set(names) != {Which.trials.value}:
        print_warning(f"{retired}; they are in the table trials alone")
    for path, rows in written:
        say(f"{path}: {counted(rows, 'row')}")
