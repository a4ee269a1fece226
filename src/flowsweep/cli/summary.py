"""`flowsweep summary`: what came out of each trial, as a table for people, CSV or JSON."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.measure import Measurement
from rich.table import Table

from flowsweep.analysis.axes import AXIS_NAMES, axes_needed, levels_apart
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.axes import SETTINGS
from flowsweep.cli.app import app
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.terminal import Screen, say, say_json
from flowsweep.csv_text import csv_text
from flowsweep.defaults import DUCKDB
from flowsweep.report.goodput_words import has_intervals
from flowsweep.schedule import planned_sweeps, planned_trials
from flowsweep.tests import facts_of
from flowsweep.wording import (
    asked_duration,
    asked_windows,
    counted,
    direction_of,
    format_milliseconds,
    format_rate,
    format_seconds,
    format_share,
    format_size,
    hosts_of_groups,
    window_marks,
)

if TYPE_CHECKING:
    from flowsweep.archive import Backend

Column = tuple[str, Callable[[TrialRow], str]]
"""A heading, and what to show of a row under it."""

_WIDTH_OF_NO_TERMINAL = 1000
"""A table is only as wide as it has to be; nothing must be cut off in a file."""


class Format(StrEnum):
    """How to write a summary."""

    table = "table"
    csv = "csv"
    json = "json"


_COLUMNS = (
    "csv and json have all columns, among them what limited the flows (limit_…_share), how well the clocks "
    "of several hosts agree (clock_bound_ms) and whether the emulator kept up (path_emulation). "
    "docs/explanation/statistics.md defines them."
)


_ENGINE_HELP = (
    "What computes it: duckdb, or a Spark cluster, as spark://HOST:PORT or local-cluster[2,1,1024]; "
    "this needs flowsweep[spark] and Java."
)


@app.command("summary", epilog=_COLUMNS)
def show_summary(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign.")],
    form: Annotated[Format, typer.Option("--format", help="For people, or for programs.")] = Format.table,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help=_ENGINE_HELP)] = DUCKDB,
) -> None:
    """Show goodput and what limited it, for each trial of a campaign."""
    from flowsweep.cli.summary_rows import summary_table

    found = read_with_warnings(archive)
    rows = summary_table(found, None if engine == DUCKDB else _backend(engine))
    match form:
        case Format.csv:
            say(csv_text(rows.to_pylist(), rows.column_names), end="")
        case Format.json:
            say_json(rows.to_pylist())
        case Format.table:
            console = Screen()
            if not console.is_terminal:
                console.width = _WIDTH_OF_NO_TERMINAL
            plan = found.campaign.plan
            sweeps = [sweep.name for sweep in planned_sweeps(plan)]
            print_table(rows.to_pylist(), console, sweeps=sweeps, planned=planned_trials(plan))


def _backend(engine: str) -> "Backend":
    from flowsweep.archive.backends import backend

    return backend(engine)


def print_table(
    rows: Sequence[TrialRow], console: Screen, *, sweeps: Sequence[str] = (), planned: int | None = None
) -> None:
    """Print one table for each sweep; what is the same in all of its trials stands below it.

    Args:
        rows: Of a summary.
        console: Where to print it.
        sweeps: The sweeps of the plan, in its order; the others follow as they ran.
        planned: How many trials the plan asks for; the last line says so if fewer have finished.
    """
    if not rows:
        console.print("No trial has finished yet.")
    ran = {row["sweep"] for row in rows}
    for sweep in dict.fromkeys([*(name for name in sweeps if name in ran), *(row["sweep"] for row in rows)]):
        trials = sorted((row for row in rows if row["sweep"] == sweep), key=_place)
        console.print(_fitting_table(sweep, trials, console))
        for row in trials:
            if row["error"] is not None:
                console.print(f"{row['trial_id']} {row['status']}: {row['error']}", soft_wrap=True)
        console.print()
    if planned is not None and planned > len(rows):
        console.print(f"{len(rows)} of {counted(planned, 'trial')} have finished.")


def _place(row: TrialRow) -> tuple[Any, ...]:
    """Where a trial stands among those of its sweep: as a person would look for it, not as it ran."""
    return tuple((row.get(column) is not None, row.get(column)) for column in _ORDER)


def _fitting_table(sweep: str, rows: Sequence[TrialRow], console: Screen) -> Table:
    """Leave out results that no trial has, and the last ones where the terminal is too narrow for all."""
    unlimited = console.options.update(max_width=_WIDTH_OF_NO_TERMINAL)
    results = [(heading, show) for heading, show in _RESULTS if any(show(row) for row in rows)]
    for count in range(len(results), 0, -1):
        table = _sweep_table(sweep, rows, results[:count], left_out=count < len(results))
        if Measurement.get(console, unlimited, table).maximum <= console.width:
            break
    return table


def _sweep_table(sweep: str, rows: Sequence[TrialRow], results: Sequence[Column], *, left_out: bool) -> Table:
    varying: list[Column] = []
    same: list[str] = []
    for heading, show in _parameters(rows):
        shown = {show(row) for row in rows}
        if len(shown) > 1:
            varying.append((heading, show))
        elif any(shown):
            same.append(f"{heading} {shown.pop()}")
    if left_out:
        same.append("more columns where there is more room")
    table = Table(title=sweep, title_style="bold", title_justify="left", box=box.SIMPLE_HEAD)
    # Terminals are narrow and the columns many.
    table.pad_edge, table.collapse_padding = False, True
    table.caption, table.caption_justify = " · ".join(same), "left"
    table.add_column("trial", no_wrap=True, style="dim")
    for heading, _ in (*varying, *results):
        table.add_column(
            heading.replace(" per flow", "\nper flow"),
            justify="left" if heading in _TEXTS else "right",
            vertical="bottom",
            no_wrap=True,
        )
    for row in rows:
        cells = [show(row) for _, show in (*varying, *results)]
        table.add_row(row["trial_id"], *cells, style=None if row["status"] == "ok" else "yellow")
    return table


def _parameters(rows: Sequence[TrialRow]) -> tuple[Column, ...]:
    """What tells trials apart: the usual columns, then axes by which some differ that look alike in those."""
    needed = axes_needed(rows, lambda row: tuple(show(row) for _, show in _PARAMETERS))
    return (*_PARAMETERS, *((AXIS_NAMES[axis], levels_apart(axis, rows)) for axis in needed))


def _cell(column: str, show: Callable[[Any], str]) -> Callable[[TrialRow], str]:
    def cell(row: Mapping[str, object]) -> str:
        value = row[column]
        return "" if value is None else show(value)

    return cell


_goodput = _cell("goodput_bps", format_rate)

_TEXTS = (
    "path", "window was", "congestion", "mode", "echo", "CPUs", "background", "emulation", "status",
    "limited by",
)  # fmt: skip

_ORDER = (
    "mode", "length_bytes", "src", "dst", "sources", "sinks", "flows", "window_sum_bytes",
    "window_send_bytes", "window_recv_bytes", "congestion", *AXIS_NAMES, "repeat", "order_index",
)  # fmt: skip
"""What trials are sorted by; what stands there twice counts where it stands first."""

_PARAMETERS: tuple[Column, ...] = (
    ("path", direction_of),
    ("hosts", lambda row: hosts_of_groups(row["sources"], row["sinks"])),
    ("flows", lambda row: "" if facts_of(row["test"]).answer else str(row["flows"])),
    ("window sum", _cell("window_sum_bytes", format_size)),
    ("window per flow", asked_windows),
    ("window was", window_marks),
    ("length", _cell("length_bytes", format_size)),
    ("congestion", _cell("congestion", str)),
    ("mode", lambda row: "" if row["imported_from"] else row["mode"] or ""),
    ("echo", _cell("echo", str)),
    ("duration", asked_duration),
    ("omitted", lambda row: format_seconds(row["omit_s"]) if row["omit_s"] else ""),
    ("interval", _cell("interval_s", format_seconds)),
    *((axis.title, axis.cell) for axis in SETTINGS),
    ("background", lambda row: ", ".join(row["background"])),
    ("repeat", _cell("repeat", str)),
    ("emulation", _cell("path_emulation", str)),
)

_RESULTS: tuple[Column, ...] = (
    ("status", _cell("status", str)),
    ("mean goodput", _cell("goodput_mean_bps", format_rate)),
    ("stalled", lambda row: format_share(row["stalled_share"]) if row["stalled_share"] else ""),
    ("limited by", _cell("verdict", str)),
    ("lost", _cell("loss", format_share)),
    ("median goodput", lambda row: _goodput(row) if has_intervals(row) else ""),
    ("capacity", _cell("path_capacity_bps", format_rate)),
    ("hops", _cell("path_hops", str)),
    ("available from", _cell("path_available_low_bps", format_rate)),
    ("round trip", _cell("rtt_probe_median_ms", format_milliseconds)),
    ("p99 of probes", _cell("rtt_probe_p99_ms", format_milliseconds)),
    ("probes lost", _cell("rtt_probe_loss", format_share)),
    ("idle", _cell("rtt_idle_ms", format_milliseconds)),
    ("loaded", _cell("rtt_loaded_ms", format_milliseconds)),
    ("jitter", _cell("jitter_ms", format_milliseconds)),
    ("coverage", _cell("coverage", format_share)),
    ("usable", _cell("window_usable_bytes", format_size)),
    ("retransmits", _cell("retransmits", str)),
    ("least RTT", _cell("rtt_min_ms", format_milliseconds)),
    ("p10", _cell("goodput_p10_bps", format_rate)),
    ("p90", _cell("goodput_p90_bps", format_rate)),
)
"""The most telling first."""
