"""The command line. Importing a command's file adds it to the app."""

from flowsweep.cli import check, report, run, summary
from flowsweep.cli.app import main

__all__ = ["check", "main", "report", "run", "summary"]
