"""`flowsweep file`: how fast files get from disk to disk, without a plan."""

from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.far_host import refuse_not_utf8, toml_string
from flowsweep.cli.file_summary import print_summary
from flowsweep.cli.one_trial import HERE, THERE, OneTrialRequest, measure_and_exit
from flowsweep.cli.options import DURATION, Address, AsJson, Host, Overrides, Reverse, Save, options_written

_FOLDER = "/var/tmp"
"""On a disk where /tmp is often memory; files have no names there, and whoever may log in may write."""
_READ = "A file of the host that sends, or a folder, sent in place of files that are made."
_CACHE = "Page cache of the source: dropped (evicted first), warm, or direct (O_DIRECT at both ends)."
_SYNC = "When the sink syncs: file (fsync per file), write (O_DSYNC), or none."
_SET_READ = "sweep.read"
_PARTS = '["whole", "read", "network", "write"]'
_EXAMPLES = (
    "[bold]flowsweep file ssh:server --folder /data:/srv/data[/bold] sends from here to server, in that "
    "folder of each, and then measures either disk and the network alone; [bold]flowsweep file local[/bold] "
    "copies on this machine."
)


@app.command(epilog=_EXAMPLES)
def file(
    context: typer.Context,
    host: Host,
    folder: Annotated[
        str,
        typer.Option(
            metavar="HERE:THERE",
            help="Folders of this machine and of HOST in which files are made; one path for both. Files have "
            "no names, and are gone at the end.",
        ),
    ] = _FOLDER,
    read: Annotated[str | None, typer.Option(metavar="PATH", help=_READ)] = None,
    size: Annotated[str, typer.Option(help="Of each file that is made, as in 1GiB.")] = "256MiB",
    files: Annotated[str, typer.Option(help="How many.")] = "1",
    flows: Annotated[str, typer.Option(help="Parallel connections.")] = "1",
    cache: Annotated[str, typer.Option(help=_CACHE)] = "dropped",
    sync: Annotated[str, typer.Option(help=_SYNC)] = "file",
    duration: Annotated[str, typer.Option(help="The longest that each of four parts may send.")] = DURATION,
    address: Address = None,
    overrides: Overrides = None,
    save: Save = None,
    *,
    sendfile: Annotated[
        bool, typer.Option("--sendfile", help="The source's kernel sends files; they are not compared then.")
    ] = False,
    reverse: Reverse = False,
    as_json: AsJson = False,
) -> None:
    """Measure files from disk to disk to a host now, and what limits them. Kept only with --save."""
    for option, path in {"--folder": folder, "--read": read}.items():
        if path is not None:
            refuse_not_utf8(option, path)
    written = options_written(context)
    made = read is None and not any(one.strip().startswith(_SET_READ) for one in overrides or ())
    keys = {
        "part": _PARTS,
        "read": None if read is None else toml_string(read),
        # Files that are there have a size and a number: what was not asked for is not said.
        "file_size": size if made or "size" in written else None,
        "files": files if made or "files" in written else None,
        "flows": flows,
        "cache": cache,
        "sync": sync,
        **({"sendfile": "true", "verify": "none"} if sendfile else {}),
        "duration": duration,
    }
    request = OneTrialRequest(
        "file",
        context,
        host,
        address,
        keys,
        overrides,
        save,
        reverse=reverse,
        as_json=as_json,
        folders=_folders(folder),
    )
    measure_and_exit(request, lambda measured: print_summary(measured.row, measured.parts))


def _folders(written: str) -> dict[str, str]:
    """Of each host, of one path for both or of two with a colon between them."""
    here, colon, there = written.partition(":")
    return {HERE: here, THERE: there if colon else here}
