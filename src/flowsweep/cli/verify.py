"""`flowsweep verify`: whether an archive is as it was written."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.archive.verify import Verified, verify_archive
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import EXIT_DAMAGED
from flowsweep.cli.options import Format, TextOrJson
from flowsweep.cli.reading import bytes_read
from flowsweep.cli.terminal import Screen, say, say_json
from flowsweep.wording import counted, format_size


@app.command(
    epilog="Exit code 0: all is as it was written; 1: something is damaged or lost; "
    "2: it is no archive, or too damaged to be read."
)
def verify(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="The archive.")],
    form: TextOrJson = Format.text,
) -> None:
    """Compare every data file of an archive with its hash and row count in the journal."""
    with Screen(stderr=True).status("reading the archive") as status:
        found = verify_archive(archive, bytes_read(status.update))
    if form is Format.json:
        say_json(asdict(found))
    else:
        _print(archive, found)
    raise typer.Exit(EXIT_DAMAGED if found.problems else 0)


def _print(archive: Path, found: Verified) -> None:
    for problem in found.problems:
        say(problem)
    read = f"{counted(found.files, 'file')} of data, {format_size(float(f'{found.data_bytes:.3g}'))}"
    verdict = counted(len(found.problems), "problem") if found.problems else "as it was written"
    say(f"{archive}: {read}: {verdict}")
    if found.without_digest:
        say(
            f"{counted(found.without_digest, 'file')} without a hash: written by a version that kept none; "
            "rows were counted, a changed number would not be seen"
        )
    if found.retired:
        say(f"{counted(found.retired, 'trial')} whose samples were retired: their summary is read")
    for name in found.aside:
        say(f"{name}: was put aside when the archive was gone on with")
