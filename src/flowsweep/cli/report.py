"""`flowsweep report`: one HTML file that tells a campaign."""

from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.html_page import check_page_name, write_page
from flowsweep.cli.terminal import Screen, say


@app.command()
def report(
    archive: Annotated[Path, typer.Argument(help="The folder of a campaign.", metavar="DIR")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write it.", metavar="FILE.html")],
) -> None:
    """Write a campaign's figures, tables and facts into one HTML file that works offline."""
    check_page_name(output)
    from flowsweep.report.write import write_report

    found = read_with_warnings(archive)
    with found.damage_named(), Screen(stderr=True).status("reading the archive") as status:
        written = write_page(lambda target: write_report(found, target, status.update), output, "the report")
    say(written)
