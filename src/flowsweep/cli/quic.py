"""`flowsweep quic`: what QUIC carries, without a plan."""

from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.one_trial import OneTrialRequest, measure_and_exit
from flowsweep.cli.options import DURATION, Address, AsJson, Duration, Host, Overrides, Reverse, Save
from flowsweep.cli.quic_summary import print_summary

_EXAMPLES = (
    "[bold]flowsweep quic ssh:server[/bold] sends from here to server, [bold]flowsweep quic ssh:server "
    "--streams 8[/bold] on eight streams of one connection; [bold]flowsweep quic local[/bold] shows what "
    "encryption and UDP cost on this machine."
)


@app.command(epilog=_EXAMPLES)
def quic(
    context: typer.Context,
    host: Host,
    flows: Annotated[str, typer.Option(help="Parallel connections.")] = "1",
    streams: Annotated[str, typer.Option(help="Streams of each connection.")] = "1",
    window: Annotated[
        str | None,
        typer.Option(help="Of each connection, both ends, as in 4MiB; the implementation's own if absent."),
    ] = None,
    length: Annotated[
        str | None, typer.Option(help="Bytes of one write; 256KiB, or what suits a rate, if absent.")
    ] = None,
    datagram: Annotated[
        str | None, typer.Option(help="UDP payload of packets, as in 1200B; found on the path if absent.")
    ] = None,
    congestion: Annotated[str | None, typer.Option(help="cubic (the default), newreno or bbr.")] = None,
    duration: Duration = DURATION,
    address: Address = None,
    overrides: Overrides = None,
    save: Save = None,
    *,
    reverse: Reverse = False,
    as_json: AsJson = False,
) -> None:
    """Measure goodput of QUIC to a host now, and what it costs. Kept only with --save."""
    keys = {
        "flows": flows,
        "streams_per_flow": streams,
        "window": window,
        "length": length,
        "datagram": datagram,
        "congestion": congestion,
        "duration": duration,
    }
    request = OneTrialRequest(
        "quic", context, host, address, keys, overrides, save, reverse=reverse, as_json=as_json
    )
    measure_and_exit(request, lambda measured: print_summary(measured.row))
