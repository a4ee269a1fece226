"""Commands that are run in the process of the test."""

from pathlib import Path

from typer.testing import CliRunner, Result

from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import FlowsweepError


def invoke(*words: str | Path, given: str | None = None) -> Result:
    """What a command comes to; an error that it raises is in the result.

    Args:
        words: The command and its arguments.
        given: What it can read from standard input.
    """
    said = [str(word) for word in words]
    load(said)
    return CliRunner().invoke(app, said, input=given)


def code_and_text(*words: str | Path, given: str | None = None) -> tuple[int, str]:
    """The exit code of a command, and what it says or is refused with."""
    result = invoke(*words, given=given)
    if isinstance(result.exception, FlowsweepError):
        return 2, str(result.exception)
    return result.exit_code, result.output
