"""`flowsweep udp`: what becomes of datagrams, without a plan."""

import json
from typing import Annotated

import typer

from flowsweep.analysis import STABLE_COLUMNS
from flowsweep.analysis.datagrams import DATAGRAM_COLUMNS
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.one_trial import one_trial
from flowsweep.cli.udp_summary import tell_summary

AS_FAST_AS_IT_CAN = "max"

_EXAMPLES = (
    "[bold]flowsweep udp ssh:server --rate 100Mbit/s[/bold] sends from here to server, "
    "[bold]flowsweep udp ssh:server --reverse[/bold] from server to here; "
    "[bold]flowsweep udp local --rate max[/bold] shows what this machine can do with itself."
)


@app.command(epilog=_EXAMPLES)
def udp(
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST",
            help="The other end: `local`, `ssh:DESTINATION`, `netns:NAME`, or `exec:COMMAND`, as of "
            "`flowsweep tcp`.",
        ),
    ],
    rate: Annotated[
        str,
        typer.Option(help="Payload per second and flow; `max`: as fast as the source can, whatever is lost."),
    ] = "10Mbit/s",
    flows: Annotated[int, typer.Option(help="Parallel streams.")] = 1,
    length: Annotated[
        str | None, typer.Option(help="Payload of a datagram, as in 512B; 1470B if absent.")
    ] = None,
    window: Annotated[
        str | None, typer.Option(help="Socket buffer per flow, as in 4MiB; the host's default if absent.")
    ] = None,
    duration: Annotated[str, typer.Option(help="How long to send.")] = "5s",
    address: Annotated[
        str | None,
        typer.Option(help="Where HOST is reached for the traffic; `local` and `ssh:` know by themselves."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="sweep.KEY=VALUE", help="Anything else that a plan can ask for."),
    ] = None,
    *,
    reverse: Annotated[bool, typer.Option("--reverse", help="HOST sends and this machine receives.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")] = False,
) -> None:
    """Measure loss, jitter and goodput of datagrams to a host now. Nothing is kept."""
    asked = {
        "rate": None if rate == AS_FAST_AS_IT_CAN else rate,
        "flows": str(flows),
        "length": length,
        "window": window,
        "duration": duration,
    }
    row = one_trial("udp", host, address, asked, overrides or [], reverse=reverse, quiet=as_json)
    if as_json:
        told = {name: row[name] for name in (*STABLE_COLUMNS, *DATAGRAM_COLUMNS)}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        tell_summary(row)
    raise typer.Exit(0 if row["status"] == "ok" else EXIT_TRIALS_FAILED)
