"""`flowsweep udp`: what becomes of datagrams, without a plan."""

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
    Overrides,
    Reverse,
    Save,
    options_written,
)
from flowsweep.cli.udp_summary import print_summary

AS_FAST_AS_IT_CAN = "max"
_OTHER_PACES = ("rate_sum", "spacing", "rate_search")
"""Keys of a plan that say in another way how fast flows send."""

_EXAMPLES = (
    "[bold]flowsweep udp ssh:server --rate 100Mbit/s[/bold] sends from here to server, "
    "[bold]flowsweep udp ssh:server --reverse[/bold] from server to here; "
    "[bold]flowsweep udp local --rate max[/bold] shows what this machine can do with itself."
)


@app.command(epilog=_EXAMPLES)
def udp(
    context: typer.Context,
    host: Host,
    rate: Annotated[
        str,
        typer.Option(help="Payload per second and flow; `max`: as fast as the source can, whatever is lost."),
    ] = "10Mbit/s",
    flows: Annotated[str, typer.Option(help="Parallel streams.")] = "1",
    length: Annotated[
        str | None, typer.Option(help="Payload of a datagram, as in 512B; 1470B if absent.")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="Socket buffer per flow, as in 4MiB; if absent, the sink requests 4MiB and the source has "
            "its host's default."
        ),
    ] = None,
    duration: Duration = DURATION,
    address: Address = None,
    overrides: Overrides = None,
    save: Save = None,
    *,
    reverse: Reverse = False,
    as_json: AsJson = False,
) -> None:
    """Measure loss, jitter and goodput of datagrams to a host now. Kept only with --save."""
    set_keys = {one.partition("=")[0].strip() for one in overrides or ()}
    paced = not set_keys.isdisjoint(f"sweep.{key}" for key in _OTHER_PACES)
    unlimited = rate.strip().lower() == AS_FAST_AS_IT_CAN
    keys = {
        # The default gives way to another pace that was asked for.
        "rate": None if unlimited or (paced and "rate" not in options_written(context)) else rate,
        **dict.fromkeys(_OTHER_PACES),
        "flows": flows,
        "length": length,
        "window": window,
        "duration": duration,
    }
    request = OneTrialRequest(
        "udp", context, host, address, keys, overrides, save, reverse=reverse, as_json=as_json
    )
    measure_and_exit(request, lambda measured: print_summary(measured.row))
