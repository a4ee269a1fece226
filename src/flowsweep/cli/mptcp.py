"""`flowsweep mptcp`: what several paths give one connection, without a plan."""

from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.mptcp_summary import print_summary
from flowsweep.cli.one_trial import OneTrialRequest, measure_and_exit
from flowsweep.cli.options import (
    DURATION,
    Address,
    AsJson,
    Duration,
    Host,
    Length,
    Overrides,
    Reverse,
    Save,
    Window,
)

_EXAMPLES = (
    "[bold]flowsweep mptcp ssh:server[/bold] takes the subflows that both hosts make by themselves "
    "(`ip mptcp endpoint`); [bold]flowsweep mptcp ssh:server --path 198.51.100.7,203.0.113.9[/bold] makes "
    "one more, from that address of this machine to that one of server, for which it needs CAP_NET_ADMIN."
)


@app.command(epilog=_EXAMPLES)
def mptcp(
    context: typer.Context,
    host: Host,
    path: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HERE,THERE",
            help="A further path: an address of this machine, and one of HOST. Repeat it for more.",
        ),
    ] = None,
    flows: Annotated[str, typer.Option(help="Parallel connections.")] = "1",
    window: Window = None,
    length: Length = None,
    congestion: Annotated[
        str | None,
        typer.Option(help="Congestion control of each subflow, as in cubic; the host's default if absent."),
    ] = None,
    duration: Duration = DURATION,
    address: Address = None,
    overrides: Overrides = None,
    save: Save = None,
    *,
    reverse: Reverse = False,
    as_json: AsJson = False,
) -> None:
    """Measure Multipath TCP to a host now: what each path carries. Kept only with --save."""
    keys = {
        "flows": flows,
        "window": window,
        "length": length,
        "congestion": congestion,
        "duration": duration,
    }
    request = OneTrialRequest(
        "mptcp", context, host, address, keys, overrides, save, reverse=reverse, as_json=as_json, paths=path
    )
    measure_and_exit(request, print_summary)
