"""`flowsweep path`: the hops of a path, its capacity and what of that is free, without a plan."""

from typing import Annotated

import typer

from flowsweep.cli.app import app
from flowsweep.cli.one_trial import Measured, OneTrialRequest, measure_and_exit
from flowsweep.cli.options import Address, AsJson, Host, Overrides, Reverse, Save

_EXAMPLES = (
    "[bold]flowsweep path ssh:server[/bold] measures the path from here to server, "
    "[bold]flowsweep path ssh:server --reverse[/bold] the reverse path, which may be different."
)


@app.command(epilog=_EXAMPLES)
def path(
    context: typer.Context,
    host: Host,
    duration: Annotated[
        str, typer.Option(help="The longest it may take; it ends with the last response.")
    ] = "1min",
    address: Address = None,
    overrides: Overrides = None,
    save: Save = None,
    *,
    reverse: Reverse = False,
    as_json: AsJson = False,
) -> None:
    """Measure a path to a host now: hops, capacity, available bandwidth. Kept only with --save."""
    keys = {"duration": duration}
    request = OneTrialRequest(
        "path", context, host, address, keys, overrides, save, reverse=reverse, as_json=as_json
    )
    measure_and_exit(request, _in_words)


def _in_words(measured: Measured) -> None:
    # With the traffic over, the analysis may be loaded.
    from flowsweep.cli.path_summary import print_summary

    print_summary(measured)
