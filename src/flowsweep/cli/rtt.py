"""`flowsweep rtt`: how long a round trip takes, without a plan."""

from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.one_trial import Measured, OneTrialRequest, measure_and_exit
from flowsweep.cli.options import DURATION, Address, AsJson, Duration, Host, Overrides, Reverse, Save

_EXAMPLES = (
    "[bold]flowsweep rtt ssh:server[/bold] probes from here to server and back, "
    "[bold]flowsweep rtt ssh:server --reverse[/bold] from server to here and back; "
    "[bold]--echo tcp-connect[/bold] opens connections as an application would."
)


@app.command(epilog=_EXAMPLES)
def rtt(
    context: typer.Context,
    host: Host,
    echo: Annotated[
        str,
        typer.Option(
            help="What a round trip consists of: icmp, udp, tcp-connect; auto: icmp where it is possible, "
            "else udp."
        ),
    ] = "auto",
    every: Annotated[str, typer.Option(help="From one probe to the next.")] = "10ms",
    length: Annotated[
        str | None, typer.Option(help="Payload of a probe, as in 1400B; 64B if absent.")
    ] = None,
    duration: Duration = DURATION,
    address: Address = None,
    overrides: Overrides = None,
    save: Save = None,
    *,
    reverse: Reverse = False,
    as_json: AsJson = False,
) -> None:
    """Measure round-trip times to a host now: spread, loss, order. Kept only with --save."""
    keys = {"echo": echo, "every": every, "length": length, "duration": duration}
    request = OneTrialRequest(
        "rtt", context, host, address, keys, overrides, save, reverse=reverse, as_json=as_json
    )
    measure_and_exit(request, _in_words)


def _in_words(measured: Measured) -> None:
    # With the traffic over, the analysis may be loaded.
    from flowsweep.cli.rtt_summary import print_summary

    print_summary(measured)
