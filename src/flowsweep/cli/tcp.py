"""`flowsweep tcp`: the five-second question, without a plan."""

from typing import Annotated

import typer

from flowsweep.cli.app import app
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
from flowsweep.cli.tcp_summary import print_summary

_EXAMPLES = (
    "[bold]flowsweep tcp ssh:server[/bold] sends from here to server, "
    "[bold]flowsweep tcp ssh:server --reverse[/bold] from server to here; "
    "[bold]flowsweep tcp local[/bold] shows the limit of this machine itself, "
    "[bold]--encryption tls[/bold] what TLS costs."
)


@app.command(epilog=_EXAMPLES)
def tcp(
    context: typer.Context,
    host: Host,
    flows: Annotated[str, typer.Option(help="Parallel TCP connections.")] = "1",
    window: Window = None,
    length: Length = None,
    congestion: Annotated[
        str | None, typer.Option(help="Congestion control, as in cubic; the host's default if absent.")
    ] = None,
    duration: Duration = DURATION,
    mode: Annotated[
        str | None,
        typer.Option(
            help="copy (the default): as applications do. zerocopy: the source does not copy data. "
            "discard: the sink does not either."
        ),
    ] = None,
    encryption: Annotated[
        str | None, typer.Option(help="none (the default), or tls: TLS 1.3 in the thread of each flow.")
    ] = None,
    address: Address = None,
    overrides: Overrides = None,
    save: Save = None,
    *,
    reverse: Reverse = False,
    as_json: AsJson = False,
) -> None:
    """Measure TCP goodput to a host now: a line a second, then the summary. Kept only with --save."""
    keys = {
        "flows": flows,
        "window": window,
        "length": length,
        "congestion": congestion,
        "duration": duration,
        "encryption": encryption,
        "mode": mode,
    }
    request = OneTrialRequest(
        "tcp", context, host, address, keys, overrides, save, reverse=reverse, as_json=as_json
    )
    measure_and_exit(request, lambda measured: print_summary(measured.row))
