"""The command line: one file a command, this one joins them."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from flowsweep.cli import COMMANDS, load
from flowsweep.cli.completion import join_words_of_bash
from flowsweep.cli.exit_codes import EXIT_USAGE
from flowsweep.cli.terminal import Screen, bear_any_terminal, say
from flowsweep.errors import FlowsweepError
from flowsweep.version import __version__
from flowsweep.wording import printable


class _Commands(TyperGroup):
    """All commands, each loaded when it is invoked.

    What Typer says of wrong arguments quotes them, and names of files may be among them.
    """

    def __init__(self, *, commands: Mapping[str, Any], **settings: Any) -> None:  # noqa: ANN401 - Typer's
        known = {name: commands.get(name) or _Unloaded(name=name, help=COMMANDS[name]) for name in COMMANDS}
        super().__init__(commands=known, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer hides its class
        """Read what stands before the command."""
        with _harmless_messages():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401 - Typer hides its class
        """Read what stands behind the command, and run it."""
        with _harmless_messages():
            return super().invoke(ctx)


class _Unloaded(TyperCommand):
    """A command of which only what stands in the list of all is known."""

    def make_context(self, *given: Any, **settings: Any) -> Any:  # noqa: ANN401 - Typer hides its class
        """Load the command, which takes the place of this one."""
        load([str(self.name)])
        loaded = vars(get_command(app))["commands"][self.name]
        return loaded.make_context(*given, **settings)


@contextmanager
def _harmless_messages() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whose class Typer keeps to itself; it is raised again
        if isinstance(vars(error).get("message"), str):
            vars(error)["message"] = printable(vars(error)["message"])
        raise


app = typer.Typer(
    cls=_Commands,
    name="flowsweep",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Measure how fast a network path and its hosts really are, and what limits them.",
    epilog="New here? [bold]flowsweep demo[/bold] measures an emulated link here and writes a report.",
)


def run_app() -> None:
    """Run the command line; every expected error is one message on standard error and exit code 2."""
    join_words_of_bash()
    bear_any_terminal()
    try:
        app()
    except (FlowsweepError, OSError) as error:
        print_error(error)
        sys.exit(EXIT_USAGE)


def print_error(error: FlowsweepError | OSError) -> None:
    """Say on standard error what went wrong."""
    message = _refusal(error) if isinstance(error, OSError) else str(error)
    text = Text.assemble(("error:", "bold red"), f" {message}")
    Screen(stderr=True).print(text, soft_wrap=True)


def print_warning(sentence: str) -> None:
    """Say on standard error what a person should know of what follows."""
    text = Text.assemble(("warning:", "bold yellow"), f" {sentence}")
    Screen(stderr=True).print(text, soft_wrap=True)


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
        say(f"flowsweep {__version__}")
        raise typer.Exit
