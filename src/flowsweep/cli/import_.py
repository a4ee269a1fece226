"""`flowsweep import`: past results of other tools into an archive."""

import json
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from flowsweep.archive import ArchiveWriter, create_archive, disk
from flowsweep.archive.campaign import CAMPAIGN_FILE, is_imported, read_campaign, refuse_what_is_there
from flowsweep.archive.folder import Folder
from flowsweep.cli.app import app
from flowsweep.cli.archives import go_on_with, make_ready
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED, EXIT_USAGE
from flowsweep.cli.import_progress import import_progress
from flowsweep.cli.terminal import say
from flowsweep.defaults import NAME_MAX_CHARACTERS
from flowsweep.errors import PlanError
from flowsweep.imports import KINDS, SWEEP, Imported, import_files, parse_known
from flowsweep.plan.readers import shown
from flowsweep.wording import counted, is_utf8, printable

_EXAMPLES = (
    "[bold]flowsweep import server.txt --archive old[/bold] takes in what `iperf -s -i 1` printed, "
    "[bold]flowsweep import *.csv --archive old --set window=64KiB[/bold] what `iperf -c … -w 64K -y C` did. "
    "Then [bold]flowsweep report old -o old.html[/bold]. docs/guide/import.md has all kinds of files."
)


@app.command("import", epilog=_EXAMPLES)
def import_results(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Files of other tools, or folders of them.")
    ],
    archive: Annotated[
        Path, typer.Option("--archive", metavar="DIR", help="Archive to add to; created if necessary.")
    ],
    kind: Annotated[
        str | None,
        typer.Option(help=f"What the files are: {', '.join(KINDS)}. Recognised, file by file, if absent."),
    ] = None,
    sweep: Annotated[str, typer.Option(help="Name of the sweep that the trials belong to.")] = SWEEP,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="What the files do not contain, as in window=64KiB."),
    ] = None,
) -> None:
    """Import results of other tools into an archive; what it already has stays as it is."""
    if kind is not None and kind not in KINDS:
        raise PlanError("--kind", (f'found "{kind}", expected one of {", ".join(KINDS)}',))
    if not 0 < len(sweep) <= NAME_MAX_CHARACTERS:
        raise PlanError("--sweep", (f"found {len(sweep)} characters, expected 1 to {NAME_MAX_CHARACTERS}",))
    if not is_utf8(sweep):
        raise PlanError("--sweep", (f"found {shown(sweep)}, expected UTF-8 text",))
    if not sweep.isprintable():
        raise PlanError(
            "--sweep", (f"found {shown(sweep)}, expected one line of characters that can be printed",)
        )
    known = parse_known(settings or [])
    with import_progress() as progress:
        result = import_files(
            _all_files(files),
            lambda: _writer(archive),
            kind=kind,
            sweep=sweep,
            known=known,
            progress=progress,
        )
    for told in (*result.problems, *result.remarks, *_beside_own(archive, result)):
        say(told, err=True)
    if result.files_read:
        were = "was" if result.known == 1 else "were"
        already = f", {result.known} {were} there already" if result.known else ""
        say(f"{counted(result.taken, 'trial')} imported from {counted(result.files_read, 'file')}{already}")
        say(f"archive: {archive}\nnext: flowsweep report {quote(str(archive))} -o report.html")
    raise typer.Exit(_exit_code(result))


def _all_files(paths: list[Path]) -> list[Path]:
    """All files, and those in folders, also in folders in these.

    Raises:
        PlanError: There is none.
    """
    found: list[Path] = []
    empty: list[str] = []
    for path in paths:
        inside = sorted(inner for inner in path.rglob("*") if inner.is_file()) if path.is_dir() else [path]
        found += inside
        if not inside:
            empty.append(f"{path}: no file is in it, expected files of {', '.join(KINDS)}")
    if not found:
        raise PlanError("FILE", tuple(empty))
    for told in empty:
        say(told, err=True)
    return found


def _beside_own(folder: Path, result: Imported) -> Iterator[str]:
    """Say of a campaign that was measured what now has trials of others, too."""
    if result.taken and not is_imported(read_campaign(Folder(folder))):
        yield (
            f"{folder}: is a campaign with a plan. Imported trials stand beside its own in `summary`, "
            "`findings` and `report`; `status` and the end of `run` count its own alone"
        )


def _exit_code(result: Imported) -> int:
    if not result.problems:
        return 0
    return EXIT_TRIALS_FAILED if result.files_read else EXIT_USAGE


def _writer(folder: Path) -> ArchiveWriter:
    if (folder / CAMPAIGN_FILE).exists():
        writer = go_on_with(folder)
        make_ready(writer)
        return writer
    if folder.is_dir():
        with disk.reported(folder, "no archive can be made there"):
            refuse_what_is_there(Folder(folder), ", or an archive to add to")
    plan = {"campaign": {"name": printable(folder.absolute().name)}, "sweeps": []}
    return create_archive(folder, plan_json=json.dumps(plan), seed=0)
