"""`flowsweep check --hosts`: every host of a plan is reached and looked at; imported only then."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import typer
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from flowsweep.campaigns.reach import reached_hosts
from flowsweep.cli.check_packed import seed_to_count_with
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.stopping import Stopped, stopped_by_signals
from flowsweep.cli.terminal import WIDTH_OF_NO_TERMINAL, Screen, say, wrapped
from flowsweep.lab import enter_user_namespace_if_needed
from flowsweep.plan import Plan
from flowsweep.run.host_checks import look_at_hosts
from flowsweep.run.preflight import HostCheck
from flowsweep.schedule import schedule
from flowsweep.wording import counted

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "not known": "dim"}
_LONGEST_STATUS = max(len(status) for status in _STYLES)


def check_hosts(plan: Plan, files: Iterable[Path | None] = ()) -> int:
    """Print a row for each host and thing that was looked at; returns the exit code.

    Args:
        plan: Whose hosts are looked at.
        files: That it was read from; None is none.

    Raises:
        LabError, LaunchError: The plan's lab cannot be built.
    """
    if plan.links:
        enter_user_namespace_if_needed(named=files)
    seed = seed_to_count_with(plan)
    slots = schedule(plan, seed)
    try:
        with stopped_by_signals() as stopper, reached_hosts(plan, seed) as (accesses, _):
            checks = stopper.run(look_at_hosts(slots, accesses))
    except Stopped as stopped:
        raise typer.Exit(stopped.exit_code) from None
    console = Screen()
    if console.is_terminal:
        _print_table(console, checks)
    else:
        _print_plain(checks)
    statuses = Counter[str](check.status for check in checks)
    counts = ", ".join(_counted(count, status) for status in _STYLES if (count := statuses[status]))
    say(f"{counted(len(plan.hosts), 'host')}, {counted(len(checks), 'check')}: {counts}")
    return EXIT_TRIALS_FAILED if statuses["problem"] else 0


def _counted(count: int, status: str) -> str:
    return counted(count, status) if status in ("warning", "problem") else f"{count} {status}"


def _print_table(console: Screen, checks: Sequence[HostCheck]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("host", "check", "", "found", "expected", "what to do"):
        table.add_column(title, overflow="fold")
    for check in checks:
        cells = (check.host, check.what, check.status, check.found, check.expected, check.advice)
        table.add_row(*cells, style=_style(check))
    unlimited = console.options.update(max_width=WIDTH_OF_NO_TERMINAL)
    if Measurement.get(console, unlimited, table).minimum <= console.width:
        console.print(table)
        return
    # Words would be broken to fit.
    for check in checks:
        line = wrapped(_line(check), "  ", console.width, first="")
        console.print(Text(line, style=_style(check)), soft_wrap=True)


def _style(check: HostCheck) -> str:
    return "" if check.status == "ok" else _STYLES[check.status]


def _print_plain(checks: Sequence[HostCheck]) -> None:
    """One line each, parts behind each other: whoever reads them may be a program."""
    for check in checks:
        say(_line(check))


def _line(check: HostCheck) -> str:
    advice = f"; to do: {check.advice}" if check.advice else ""
    return (
        f"{check.status:<{_LONGEST_STATUS}}  {check.host}  {check.what}: found {check.found}; "
        f"expected {check.expected}{advice}"
    )
