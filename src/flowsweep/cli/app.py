"""The command line: one file a command, this one joins them."""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer
from rich.text import Text
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.main import get_command

from flowsweep.cli import COMMANDS, load
from flowsweep.cli.completion import join_words_of_bash
from flowsweep.cli.exit_codes import EXIT_SIGNALLED, EXIT_USAGE
from flowsweep.cli.terminal import Screen, bear_any_terminal, say
from flowsweep.errors import FlowsweepError
from flowsweep.version import __version__
from flowsweep.wording import printable

_WORDS = "flowsweep.words"
"""Of a context: the command line."""
_PLAIN_TYPES = (str, int)
_VALUES = {
    "congestion": "NAME",
    "datagram": "SIZE",
    "duration": "TIME",
    "every": "TIME",
    "files": "COUNT",
    "flows": "COUNT",
    "length": "SIZE",
    "margin": "SHARE",
    "rate": "RATE",
    "size": "SIZE",
    "streams": "COUNT",
    "sweep": "NAME",
    "window": "SIZE",
}
"""What an option takes, in its help, where its own name does not say it."""
_NO_SUCH_OPTION = "No such option"
_NO_SUCH_CHOICE = re.compile(
    r"(?:Value error, )?(['\"])(?P<found>.*)\1 is not one of (?P<words>'[^']*'(?:, '[^']*')*)\.", re.DOTALL
)
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Help:
    """A command's help as it is meant: lines joined, flags without a value, arguments as they are written."""

    help: str | None
    params: list[Any]

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - Typer's
        super().__init__(**settings)
        self.help = _lines_joined(self.help or "")
        for one in self.params:
            _name_value(one)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - Typer hides its class
        """Give all arguments and options, `--help` among them."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc] # of what stands beside it as a base
        for one in found:
            _name_value(one)
        return found

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer hides its class
        """Give what follows the command's name in its usage."""
        return [
            "[OPTIONS]",
            *(_usage(one) for one in self.get_params(ctx) if isinstance(one, TyperArgument)),
        ]


class _Commands(_Help, TyperGroup):
    """All commands, each loaded when it is invoked.

    What Typer says of wrong arguments quotes them, and names of files may be among them.
    """

    def __init__(self, *, commands: Mapping[str, Any], **settings: Any) -> None:  # noqa: ANN401 - Typer's
        known = {name: commands.get(name) or _Unloaded(name=name, help=COMMANDS[name]) for name in COMMANDS}
        super().__init__(commands=known, **settings)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer hides its class
        """Give what follows the program's name in its usage."""
        return [*super().collect_usage_pieces(ctx), "COMMAND [ARGS]..."]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer hides its class
        """Read what stands before the command."""
        ctx.meta[_WORDS] = list(args)
        with _harmless_messages(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> object:  # noqa: ANN401 - Typer hides its class
        """Read what stands behind the command, and run it."""
        with _harmless_messages(ctx):
            return super().invoke(ctx)


class _Command(_Help, TyperCommand):
    """Any command."""


class _Unloaded(_Command):
    """A command of which only what stands in the list of all is known."""

    def make_context(self, *given: Any, **settings: Any) -> Any:  # noqa: ANN401 - Typer hides its class
        """Load the command, which takes the place of this one."""
        load([str(self.name)])
        loaded = vars(get_command(app))["commands"][self.name]
        return loaded.make_context(*given, **settings)


def _name_value(one: Any) -> None:  # noqa: ANN401 - Typer's
    """Have help say what an argument or an option takes: the language's name of its type says nothing."""
    if isinstance(one, TyperArgument):
        one.metavar = one.metavar or str(one.name).upper()
        one.display_type_rich = lambda ctx: None  # type: ignore[method-assign] # of this one
    elif one.is_flag:
        one.metavar = ""
    elif one.metavar is None and one.type_descriptor.annotation in _PLAIN_TYPES:
        one.metavar = _VALUES.get(str(one.name), str(one.name).upper())


def _lines_joined(help_text: str) -> str:
    """Leave the lines of a paragraph to the terminal: Rich would keep those that docstrings have."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in help_text.split("\n\n"))


def _usage(argument: Any) -> str:  # noqa: ANN401 - Typer's
    name: str = argument.metavar
    shown = name if argument.required else f"[{name}]"
    return shown if argument.nargs == 1 or name.endswith(("…", "...")) else f"{shown}..."


@contextmanager
def _harmless_messages(ctx: Any) -> Iterator[None]:  # noqa: ANN401 - Typer hides its class
    try:
        yield
    except Exception as error:  # whose class Typer keeps to itself; it is raised again
        said = vars(error)
        if (how := _how_to_set(said, ctx.meta[_WORDS])) is not None:
            said |= {"message": f"{said['message']}; {how}", "possibilities": ()}
        elif (wrong := _wrong_choice(said)) is not None:
            said["message"] = wrong
        if isinstance(said.get("message"), str):
            said["message"] = printable(said["message"])
        raise


def _how_to_set(said: Mapping[str, Any], words: Sequence[str]) -> str | None:
    """Of an option that a command does not have, since it is a key of a sweep."""
    option, of = said.get("option_name"), said.get("ctx")
    if option is None or of is None or not said.get("message", "").startswith(_NO_SUCH_OPTION):
        return None
    from flowsweep.cli.unknown_option import how_to_set

    return how_to_set(option, of.command.name, words)


def _wrong_choice(said: Mapping[str, Any]) -> str | None:
    """Of a value that is none of an option's words: Typer's own words are those of what it checks with."""
    match = _NO_SUCH_CHOICE.fullmatch(said.get("message") or "")
    if match is None:
        return None
    from flowsweep.cli.unknown_option import unknown_word

    return unknown_word(match["found"], re.findall(r"'([^']*)'", match["words"]))


class _App(typer.Typer):
    def command(self, name: str | None = None, **settings: Any) -> Callable[[_Function], _Function]:  # noqa: ANN401 - Typer's
        """Add a command."""
        return super().command(name, cls=_Command, **settings)


app = _App(
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
        with _ended_by_a_closed_pipe():
            app()
    except (FlowsweepError, OSError) as error:
        with _ended_by_a_closed_pipe():
            print_error(error)
        sys.exit(EXIT_USAGE)


@contextmanager
def _ended_by_a_closed_pipe() -> Iterator[None]:
    """End as a program that SIGPIPE ended where nobody reads any more what is said.

    Rich and Typer would end with 1 then, which elsewhere says that B is slower, or an alarm on.
    """
    try:
        yield
    except BrokenPipeError:
        pass
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
    else:
        return
    hushed = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except BrokenPipeError:
            # Python's own end would write once more what is left, and complain.
            os.dup2(hushed, stream.fileno())
    sys.exit(EXIT_SIGNALLED + signal.SIGPIPE)


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
