"""The command line. Importing a command's file adds it to the app."""

from flowsweep.cli import check, report, summary
from flowsweep.cli.app import main

__all__ = ["check", "main", "run", "summary"]
