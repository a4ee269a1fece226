"""`flowsweep tune`: what limits transfers to a host now, what to set, and what that gains."""

from pathlib import Path
from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.completion import complete_host
from flowsweep.cli.html_page import check_page_name
from flowsweep.cli.options import Address, AsJson, Host
from flowsweep.cli.tune_rounds import TuneRequest, tune_and_exit

_EXAMPLES = (
    "[bold]flowsweep tune ssh:server[/bold] searches for two minutes of traffic, "
    "[bold]flowsweep tune ssh:b --from ssh:a[/bold] between two others; "
    "[bold]--verify[/bold] measures before and after once more."
)


@app.command(epilog=_EXAMPLES)
def tune(
    host: Host,
    near: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="HOST",
            autocompletion=complete_host,
            help="The near end, likewise; this machine if absent.",
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME|SIZE",
            help="Traffic of both directions together, at most: as in 2min, 90s, or 5GB. A size is bounded "
            "by two minutes, too, and holds trials below a rate.",
        ),
    ] = "2min",
    address: Address = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep an archive of each round in a folder, empty or new, and what to set.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the answer as one page of HTML.")
    ] = None,
    *,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Then measure before and after once more, in random order, with what applications may set: "
            "up to half as much traffic again.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what limits transfers to a host now, what to set, and what it gains; no setting is changed."""
    if report is not None:
        check_page_name(report, "--report")
    tune_and_exit(
        TuneRequest(host, near, address, budget, verify=verify, as_json=as_json, save=save, report=report)
    )
