"""Runs real campaigns through the command line, in the lab."""

import csv
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.archive.journal import JOURNAL_FILE
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.errors import FlowsweepError
from flowsweep.lab import lab_possible
from flowsweep.lab.rootless import may_administer_networks

load(["summary"])
COMMAND = (sys.executable, "-m", "flowsweep")
LAB_MISSING = lab_possible()
runs_lab = [pytest.mark.lab, pytest.mark.skipif(LAB_MISSING is not None, reason=str(LAB_MISSING))]
RUN_TIMEOUT_S = 300
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
    timeout_s: float = RUN_TIMEOUT_S,
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


def flowsweep_here(*arguments: str | Path, expect: int = 0) -> str:
    """Run a command in this process: another one takes seconds to begin.

    Not in a thread, and not where a FlowsweepError is to end it. Where labs need a user namespace it is
    another process after all.
    """
    if not may_administer_networks():
        return flowsweep(*arguments, expect=expect)
    words = [str(argument) for argument in arguments]
    load(words)
    with _at_most(RUN_TIMEOUT_S):
        result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == expect, f"exit {result.exit_code}:\n{result.output}"
    return result.stdout


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Fail what takes longer, as the time limit of a process of its own would."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"it did not come to its end within {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_together(folder: Path, runs: Mapping[str, Sequence[str | Path]]) -> None:
    """Run campaigns side by side, each in a lab of its own.

    Args:
        folder: Where their archives are made.
        runs: By the name of the archive: what stands behind `flowsweep run`.
    """
    with ThreadPoolExecutor(len(runs)) as pool:
        list(pool.map(lambda name: flowsweep("run", *runs[name], "--archive", folder / name), runs))


def compared(*archives: Path, fail_if: str) -> tuple[int, str]:
    """Compare two campaigns, or the settings of one: the exit code, and what is printed.

    Raises:
        AssertionError: there is nothing to compare.
    """
    load(["compare"])
    words = ["compare", *map(str, archives), "--fail-if", fail_if]
    try:
        result = CliRunner().invoke(app, words, catch_exceptions=False)
    except FlowsweepError as error:
        raise AssertionError(str(error)) from error
    return result.exit_code, result.stdout


def start(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a command in the background; its output goes to pipes that hold a short campaign's lines."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=None if environment is None else {**os.environ, **environment},
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


def begun_attempts(archive: Path) -> int:
    """How many attempts the journal has as begun; cheap, since a trial must not end meanwhile."""
    journal = archive / JOURNAL_FILE
    return journal.read_bytes().count(b'"started"') if journal.exists() else 0
