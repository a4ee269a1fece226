"""The command line: one file a command. Importing a command's file adds it to the app."""

import gc
import keyword
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from flowsweep.cli.exit_codes import EXIT_INTERRUPTED
from flowsweep.cli.without_pandas import forgo_pandas
from flowsweep.defaults import GARBAGE_OBJECTS

__all__ = ["COMMANDS", "load", "main"]

COMMANDS = (
    "demo",
    "tcp",
    "udp",
    "check",
    "run",
    "summary",
    "findings",
    "report",
    "compare",
    "import",
    "export",
    "verify",
)
"""In the order in which `flowsweep --help` shows them."""


def main() -> None:
    """Run the command that the arguments name.

    Nothing that takes time is imported before: Ctrl-C is answered from here on.
    """
    try:
        load(sys.argv[1:])
        if not any(argument.startswith("--engine") for argument in sys.argv):  # Spark needs pandas
            forgo_pandas()
        # An analysis's expressions stay: to look through them for garbage took a third of a summary's time.
        gc.set_threshold(GARBAGE_OBJECTS)
        import_module("flowsweep.cli.app").run_app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    finally:
        # The exit code stands. Python's own end would answer another Ctrl-C with a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def load(arguments: Sequence[str]) -> None:
    """Import the command that the arguments name; all of them if they name none.

    Not more than needed: the libraries of the analysis take longer to load than most commands to run.
    """
    named = [argument for argument in arguments if argument in COMMANDS][:1]
    for name in named or (() if "--version" in arguments else COMMANDS):
        # A module cannot be called `import`.
        import_module(f"flowsweep.cli.{name}{'_' if keyword.iskeyword(name) else ''}")
