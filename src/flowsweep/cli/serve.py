"""`flowsweep serve`: campaigns as a page that is always up to date, and as metrics for Prometheus."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.terminal import say
from flowsweep.errors import ServeError
from flowsweep.serve.prometheus_files import write_rules as written

_ADDRESS = "127.0.0.1:8420"


@app.command(epilog="Exit code 130 after Ctrl-C; 2: something is no archive, or cannot be served there.")
def serve(
    archives: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR…", help="Archives, or folders of them; runs may be writing them."),
    ] = None,
    address: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT", help="Where to listen. Access from other machines needs a token, or a proxy."
        ),
    ] = _ADDRESS,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the access token: one word, at least 16 characters."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Host name to accept in requests, for example that of a reverse proxy. Repeatable.",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to keep what was read, for the next start; in the user's cache if absent.",
        ),
    ] = None,
    write_rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write Prometheus's alert rules and Grafana's dashboard there, and exit."
        ),
    ] = None,
) -> None:
    """Show campaigns on a page that follows them as they grow, and to Prometheus.

    Archives are only read.
    """
    if write_rules is not None:
        for file in written(write_rules):
            say(str(file))
        return
    if not archives:
        raise ServeError("flowsweep serve: no archive is named: expected the folders of campaigns")
    _serve(archives, address, token_file, name or (), cache)


def _serve(
    archives: Sequence[Path], address: str, token_file: Path | None, names: Sequence[str], cache: Path | None
) -> None:
    from flowsweep.serve.server import (
        cache_folder,
        listening_socket,
        look_for_more,
        make_server,
        read_address,
        read_token,
        watched_in,
    )

    token = None if token_file is None else read_token(token_file)
    kept = cache or cache_folder()
    watched = watched_in(archives, kept)
    opened = listening_socket(read_address(address), token)
    host, port = opened.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    with opened:
        make_server(
            watched,
            opened,
            names=names,
            token=token,
            more=lambda: look_for_more(archives, watched, kept),
            ready=lambda: say(f"http://{shown}:{port}/ (Ctrl-C ends it)"),
        ).serve_until_signal()
