"""The command line: one file a command, this one joins them."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from flowsweep.cli.exit_codes import EXIT_USAGE
from flowsweep.errors import FlowsweepError
from flowsweep.version import __version__
from flowsweep.wording import printable

app = typer.Typer(
    name="flowsweep",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    help="Measure how fast a network path and its hosts really are, and what limits them.",
    epilog="New here? [bold]flowsweep demo[/bold] measures an emulated link here and writes a report.",
)


def run_app() -> None:
    """Run the command line; every expected error is one message on standard error and exit code 2."""
    try:
        app()
    except (FlowsweepError, OSError) as error:
        tell_error(error)
        sys.exit(EXIT_USAGE)


def tell_error(error: FlowsweepError | OSError) -> None:
    """Say on standard error what went wrong."""
    message = _refusal(error) if isinstance(error, OSError) else str(error)
    text = f"[bold red]error:[/bold red] {escape(printable(message))}"
    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


def tell_warning(sentence: str) -> None:
    """Say on standard error what a person should know of what follows."""
    text = f"[bold yellow]warning:[/bold yellow] {escape(printable(sentence))}"
    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


def _refusal(error: OSError) -> str:
    """What the operating system refused where nobody expected it, such as to take more output."""
    what = "cannot go on" if error.filename is None else f"cannot go on with {error.filename}"
    return f"{what}: {error.strerror or error}"


@app.callback(invoke_without_command=True)
def version_option(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Measure how fast a network path and its hosts really are, and what limits them."""
    if version:
        typer.echo(f"flowsweep {__version__}")
        raise typer.Exit
