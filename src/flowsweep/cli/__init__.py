"""The command line: one file a command, imported when the command is invoked, which adds it to the app."""

import gc
import keyword
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module

from flowsweep.cli.deferred_imports import parts_of_rich_put_off
from flowsweep.cli.exit_codes import EXIT_INTERRUPTED, EXIT_UNFORESEEN
from flowsweep.cli.unneeded_imports import load_arrow_alone, load_without_tls, without
from flowsweep.defaults import BLAS_THREADS, GARBAGE_OBJECTS

__all__ = ["COMMANDS", "load", "main"]

COMMANDS = {
    "demo": "Measure an emulated path on this machine for about two minutes, and write a report.",
    "tcp": "Measure TCP goodput to a host now: a line a second, then the summary. Kept only with --save.",
    "udp": "Measure loss, jitter and goodput of datagrams to a host now. Kept only with --save.",
    "rtt": "Measure round-trip times to a host now: spread, loss, order. Kept only with --save.",
    "path": "Measure a path to a host now: hops, capacity, available bandwidth. Kept only with --save.",
    "quic": "Measure goodput of QUIC to a host now, and what it costs. Kept only with --save.",
    "mptcp": "Measure Multipath TCP to a host now: what each path carries. Kept only with --save.",
    "file": "Measure files from disk to disk to a host now, and what limits them. Kept only with --save.",
    "tune": "Say what limits transfers to a host now, what to set, and what it gains; no setting is changed.",
    "check": "Say what a plan would run: trials, seconds, bytes, and what is wrong with it.",
    "predict": "Predict goodput and bytes of every point of a plan, and its time, without sending a packet.",
    "run": "Run the trials of a plan, and keep every sample of them.",
    "service": "Run scheduled plans until stopped. After a crash or restart, resume where they left off.",
    "status": "Say what a campaign does now, what comes next, what it missed, and which paths are silent.",
    "alarms": "Say which alarms of a campaign are active and which were: shifts, rising loss, silent paths.",
    "serve": "Show campaigns on a page that follows them as they grow, and to Prometheus.",
    "note": "Note what happened around a campaign, such as a new kernel, at its time; or show all notes.",
    "summary": "Show goodput and what limited it, for each trial of a campaign.",
    "findings": "Draw conclusions from a campaign: what matters, what does not, what is undecided.",
    "report": "Write a campaign's figures, tables and facts into one HTML file that works offline.",
    "compare": "Compare two campaigns: whether B is faster or slower than A, at each point and overall.",
    "import": "Import results of other tools into an archive; what it already has stays as it is.",
    "export": "Write trials, flows, intervals and hops as files for other programs.",
    "verify": "Compare every data file of an archive with its hash and row count in the journal.",
}
"""What `flowsweep --help` says of each command, in its order: the beginning of the command's own help."""


_OF_ONE_TRIAL = ("tcp", "udp", "rtt", "path", "quic", "mptcp", "file")
_PARTS_OF_ARROW = {
    "status": (),
    "summary": (),
    "verify": ("parquet",),
    "run": ("compute", "parquet"),
    "service": ("compute", "parquet"),
    **dict.fromkeys((*_OF_ONE_TRIAL, "tune"), ("compute",)),
}
"""Commands that need tables, but no arrays of NumPy's, and that somebody waits for; parts of PyArrow."""


def main() -> None:
    """Run the command that the arguments name.

    Nothing that takes time is imported before: Ctrl-C is answered from here on.
    """
    try:
        # What is imported stays, and so do an analysis's expressions: to look through these for garbage took
        # a third of a summary's time.
        gc.disable()
        gc.set_threshold(GARBAGE_OBJECTS)
        # Pydantic would look through all installed packages for plug-ins, of which it needs none.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        # OpenBLAS reads it when NumPy is imported.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", str(BLAS_THREADS))
        for_spark = any(argument.startswith("--engine") for argument in sys.argv)
        # PyArrow looks for pandas when it first makes an array of values, Ibis when it first gives one back.
        with parts_of_rich_put_off(), nullcontext() if for_spark else without("pandas"):
            named = _named(sys.argv[1:])
            if named in _PARTS_OF_ARROW and not for_spark:
                load_arrow_alone(_PARTS_OF_ARROW[named])
            if named in _OF_ONE_TRIAL:
                load_without_tls()
            load(sys.argv[1:])
            app = import_module("flowsweep.cli.app")
            # Python would look through all of it once more at its end, which took a fifth of a check's time.
            gc.freeze()
            gc.enable()
            app.run_app()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except Exception:  # noqa: BLE001 - it is told in full
        sys.excepthook(*sys.exc_info())
        sys.exit(EXIT_UNFORESEEN)
    finally:
        if "duckdb" in sys.modules:
            # Its binding complains at the end of all that was not collected.
            gc.unfreeze()
        # The exit code stands. Python's own end would answer another Ctrl-C with a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def load(arguments: Sequence[str]) -> None:
    """Import the command that the arguments name, if they name one.

    Not more than needed: the libraries of the analysis take longer to load than most commands to run.
    """
    name = _named(arguments)
    if name is not None:
        # A module cannot be called `import`.
        import_module(f"flowsweep.cli.{name}{'_' if keyword.iskeyword(name) else ''}")


def _named(arguments: Sequence[str]) -> str | None:
    """The command that arguments name."""
    return next((argument for argument in arguments if argument in COMMANDS), None)
