"""The command line. Importing a command's file adds it to the app."""

from flowsweep.cli import check, demo, report, run, summary, tcp
from flowsweep.cli.app import main

__all__ = ["check", "demo", "main", "report", "run", "summary", "tcp"]
