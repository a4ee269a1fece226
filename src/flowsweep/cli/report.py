"""`flowsweep report`: one HTML file that tells a campaign."""

from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.terminal import Screen, say
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.plan.readers import shown
from flowsweep.wording import format_size

SUFFIXES = (".html", ".htm")
"""What a report may be called: no plan and no file of an archive is, so none can be written over."""


@app.command()
def report(
    archive: Annotated[Path, typer.Argument(help="The folder of a campaign.", metavar="DIR")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write it.", metavar="FILE.html")],
) -> None:
    """Write a campaign's figures, tables and facts into one HTML file that works offline."""
    if output.suffix.lower() not in SUFFIXES:
        expected = "expected a name that ends in .html or .htm"
        raise PlanError("--output", (f"found {shown(str(output))}, {expected}",))
    from flowsweep.report.write import write_report

    found = read_with_warnings(archive)
    try:
        with found.damage_named(), Screen(stderr=True).status("reading the archive") as status:
            write_report(found, output, status.update)
    except OSError as error:
        raise ArchiveError(f"{output}: the report cannot be written: {error.strerror}") from error
    say(f"{output}: {format_size(float(f'{output.stat().st_size:.3g}'))}")
