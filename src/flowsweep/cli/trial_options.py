"""What commands without a plan have in common: options, and how their trial's summary is told."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NoReturn

import typer

from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.terminal import say_json

Address = Annotated[
    str | None,
    typer.Option(help="Where HOST is reached for the traffic; `local` and `ssh:` know by themselves."),
]
Duration = Annotated[str, typer.Option(help="How long to send.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="sweep.KEY=VALUE", help="Anything else that a plan can ask for."),
]
Reverse = Annotated[bool, typer.Option("--reverse", help="HOST sends and this machine receives.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]


def tell_and_exit(
    row: Mapping[str, Any],
    test: str,
    in_words: Callable[[Mapping[str, Any]], None],
    *,
    as_json: bool,
) -> NoReturn:
    """Print the summary of the one trial, in words or its test's columns as JSON, and end the command."""
    if as_json:
        from flowsweep.cli.summary_rows import ONE_TRIAL_COLUMNS

        say_json({name: row[name] for name in ONE_TRIAL_COLUMNS[test]})
    else:
        in_words(row)
    raise typer.Exit(0 if row["status"] == "ok" else EXIT_TRIALS_FAILED)
