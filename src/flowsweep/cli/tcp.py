"""`flowsweep tcp`: the five-second question, without a plan."""

import json
from typing import Annotated

import typer

from flowsweep.analysis import STABLE_COLUMNS
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.one_trial import one_trial
from flowsweep.cli.tcp_summary import tell_summary

_EXAMPLES = (
    "[bold]flowsweep tcp ssh:server[/bold] sends from here to server, "
    "[bold]flowsweep tcp ssh:server --reverse[/bold] from server to here; "
    "[bold]flowsweep tcp local[/bold] shows what this machine can do with itself."
)


@app.command(epilog=_EXAMPLES)
def tcp(
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST",
            help="The other end: `local`, `ssh:DESTINATION`, `netns:NAME`, or `exec:COMMAND` with a command "
            "that starts programs there, as in 'exec:kubectl exec -i pod --'. Nothing has to be installed "
            "or started there before.",
        ),
    ],
    flows: Annotated[int, typer.Option(help="Parallel TCP connections.")] = 1,
    window: Annotated[
        str | None, typer.Option(help="Socket buffer per flow, as in 256KiB; autotuning if absent.")
    ] = None,
    length: Annotated[
        str | None, typer.Option(help="Bytes of one write or read; 256KiB, or what suits a rate, if absent.")
    ] = None,
    congestion: Annotated[
        str | None, typer.Option(help="Congestion control, as in cubic; the host's default if absent.")
    ] = None,
    duration: Annotated[str, typer.Option(help="How long to send.")] = "5s",
    mode: Annotated[
        str | None,
        typer.Option(
            help="copy (the default): as applications do. zerocopy: the source's memory is out of it. "
            "discard: the sink's, too."
        ),
    ] = None,
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
    """Measure TCP goodput to a host now: a line a second, then the summary. Nothing is kept."""
    asked = {
        "flows": str(flows),
        "window": window,
        "length": length,
        "congestion": congestion,
        "duration": duration,
        "mode": mode,
    }
    row = one_trial("tcp", host, address, asked, overrides or [], reverse=reverse, quiet=as_json)
    if as_json:
        typer.echo(json.dumps({name: row[name] for name in STABLE_COLUMNS}, indent=2, ensure_ascii=False))
    else:
        tell_summary(row)
    raise typer.Exit(0 if row["status"] == "ok" else EXIT_TRIALS_FAILED)
