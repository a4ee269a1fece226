"""`flowsweep tune`: what limits transfers to a host now, what to set, and what that gains."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from flowsweep.cli.app import app, print_error
from flowsweep.cli.completion import complete_host
from flowsweep.cli.exit_codes import CODES_OF_TUNE, EXIT_TRIALS_FAILED
from flowsweep.cli.html_page import check_page_name, check_page_place
from flowsweep.cli.options import Address, AsJson, Host
from flowsweep.cli.stopping import Stopped, stopped_by_signals
from flowsweep.cli.terminal import say
from flowsweep.cli.tune_rounds import TuneRequest, begun
from flowsweep.errors import FlowsweepError
from flowsweep.tuning.plans import round_trip_plan
from flowsweep.wording import counted

_EXAMPLES = (
    "[bold]flowsweep tune ssh:server[/bold] searches for two minutes of traffic, "
    "[bold]flowsweep tune ssh:b --from ssh:a[/bold] between two others; "
    "[bold]--verify[/bold] measures before and after once more. "
)


@app.command(epilog=_EXAMPLES + CODES_OF_TUNE)
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
            help="Maximum traffic, both directions together: a time (2min, 90s) or a volume (5GB). Minimum "
            "24s, more if the RTT exceeds 40 ms. A volume also limits the time to two minutes, and caps the "
            "rate of each trial.",
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
        check_page_place(report, "--report")
    _tune_and_exit(
        TuneRequest(host, near, address, budget, verify=verify, as_json=as_json, save=save, report=report)
    )


def _tune_and_exit(request: TuneRequest) -> NoReturn:
    """Search, say what was found, and end the command; errors before the first transfer are raised."""
    rounds = begun(request)
    try:
        with stopped_by_signals() as stopper:
            idle = rounds.run("round trip", round_trip_plan(rounds.hosts_text, rounds.ends), stopper)
            # Only now, with hosts that answer, the analysis is loaded.
            from flowsweep.cli.tune_search import searched, tell

            found = searched(rounds, idle, stopper)
    except Stopped as stopped:
        kept = f"; {counted(len(rounds.stages), 'round')} kept in {request.save}"
        is_there = request.save is not None and request.save.exists()
        say(f"{stopped}{kept if is_there else ''}", err=True)
        raise typer.Exit(stopped.exit_code) from None
    except FlowsweepError as error:
        if len(rounds.stages) < 2:  # a search that never began
            raise
        for failure in rounds.failures[:1]:
            say(failure, err=True)
        print_error(error)
        raise typer.Exit(EXIT_TRIALS_FAILED) from error
    whole = tell(rounds, found)
    if rounds.stopped is not None:
        raise typer.Exit(rounds.stopped.exit_code)
    raise typer.Exit(EXIT_TRIALS_FAILED if rounds.failures or not whole else 0)
