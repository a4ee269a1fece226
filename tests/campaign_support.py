"""Runs real campaigns through the command line, in the lab."""

import csv
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.lab import lab_possible

load(["summary"])
COMMAND = (sys.executable, "-m", "flowsweep")
LAB_MISSING = lab_possible()
SHORTENED = ("sweep.duration=2s", "sweep.interval=500ms")
"""What makes an example plan's trials short."""


def write_plan(
    folder: Path, *, link: str = "", sweep: str, repeats: int = 1, directions: str = "one", test: str = "tcp"
) -> Path:
    """A plan for two lab hosts, `left` and `right`, on one link."""
    congestion = 'congestion = "cubic"' if test == "tcp" else ""
    plan = folder / "plan.toml"
    plan.write_text(
        f"""
        [campaign]
        name = "test"
        repeats = {repeats}
        seed = 1

        [lab.links.wire]
        between = ["left", "right"]
        {link}

        [[sweep]]
        name = "sweep"
        test = "{test}"
        paths = [{{ from = "left", to = "right" }}]
        directions = "{directions}"
        {congestion}
        {sweep}
        """,
        encoding="utf-8",
    )
    return plan


def flowsweep(
    *arguments: str | Path,
    expect: int | None = 0,
    timeout_s: float = 300,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Run a command to its end; its standard output.

    Args:
        arguments: Of the command.
        expect: Its exit code; any if None.
        timeout_s: How long it may take.
        environment: What it has beside this process's.
    """
    result = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env=os.environ | dict(environment),
    )
    assert expect in (None, result.returncode), f"exit {result.returncode}:\n{result.stdout}\n{result.stderr}"
    return result.stdout


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start a command in the background; its output goes to pipes that hold a short campaign's lines."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def summary(archive: Path) -> list[dict[str, str]]:
    """The rows of `summary --format csv`, told by this process: another one takes seconds to begin."""
    words = ["summary", str(archive), "--format", "csv"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def finished_trials(archive: Path) -> int:
    """How many trials the journal has as finished, while the campaign may be running."""
    if not (archive / "campaign.json").exists():
        return 0
    return len(read_archive(archive).records)


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 180) -> None:
    """Poll until something outside this process has happened."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
