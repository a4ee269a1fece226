"""`flowsweep summary`: what came out of each trial, as a table for people, CSV or JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.verdict_words import limit_name
from flowsweep.cli.app import app
from flowsweep.cli.archives import read_with_warnings
from flowsweep.cli.options import TableCsvOrJson, TableFormat
from flowsweep.cli.reading import told_if_long
from flowsweep.cli.sweep_tables import Column, cell, fitting_table, in_order
from flowsweep.cli.terminal import Screen, bytes_out, say, say_json
from flowsweep.csv_text import csv_text
from flowsweep.defaults import DUCKDB
from flowsweep.report.goodput_words import has_intervals
from flowsweep.schedule import planned_sweeps, planned_trials
from flowsweep.wording import (
    counted,
    format_milliseconds,
    format_number,
    format_rate,
    format_share,
    format_size,
)

if TYPE_CHECKING:
    from flowsweep.archive import Backend

_COLUMNS = (
    "csv and json have all columns, among them what limited the flows (limit_…_share), how well the clocks "
    "of several hosts agree (clock_bound_ms) and whether the emulator kept up (path_emulation). "
    "docs/explanation/statistics.md defines them."
)


_ENGINE_HELP = (
    "What computes it: duckdb, or a Spark cluster, as spark://HOST:PORT or local-cluster[2,1,1024]; "
    "this needs PySpark and Java."
)


@app.command("summary", epilog=_COLUMNS)
def show_summary(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign.")],
    form: TableCsvOrJson = TableFormat.table,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help=_ENGINE_HELP)] = DUCKDB,
    *,
    to_keep: Annotated[int | None, typer.Option("--to-keep", metavar="PART", hidden=True)] = None,
) -> None:
    """Show goodput and what limited it, for each trial of a campaign."""
    if to_keep is not None:
        from flowsweep.prepared.recorded import write_to_keep

        write_to_keep(archive, to_keep, bytes_out())
        return
    from flowsweep.prepared.whole_summary import summary_table

    found = read_with_warnings(archive)
    with told_if_long("summing up the archive"):
        rows = summary_table(found, None if engine == DUCKDB else _backend(engine))
    match form:
        case TableFormat.csv:
            say(csv_text(rows.to_pylist(), rows.column_names), end="")
        case TableFormat.json:
            say_json(rows.to_pylist())
        case TableFormat.table:
            console = Screen.for_tables()
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
        trials = in_order([row for row in rows if row["sweep"] == sweep])
        console.print(fitting_table(sweep, trials, _RESULTS, console, first=_FIRST))
        for row in trials:
            if row["error"] is not None:
                console.print(f"{row['trial_id']} {row['status']}: {row['error']}", soft_wrap=True)
        console.print()
    if planned is not None and planned > len(rows):
        console.print(f"{len(rows)} of {counted(planned, 'trial')} have finished.")


_goodput = cell("goodput_bps", format_rate)

_FIRST: tuple[Column, ...] = (("trial", lambda row: str(row["trial_id"])),)

_RESULTS: tuple[Column, ...] = (
    ("mean goodput", cell("goodput_mean_bps", format_rate)),
    ("stalled", lambda row: format_share(row["stalled_share"]) if row["stalled_share"] else ""),
    ("limited by", lambda row: limit_name(row) or ""),
    ("lost", cell("loss", format_share)),
    ("median goodput", lambda row: _goodput(row) if has_intervals(row) else ""),
    ("capacity", cell("path_capacity_bps", format_rate)),
    ("hops", cell("path_hops", str)),
    ("available from", cell("path_available_low_bps", format_rate)),
    ("round trip", cell("rtt_probe_median_ms", format_milliseconds)),
    ("p99 of probes", cell("rtt_probe_p99_ms", format_milliseconds)),
    ("probes lost", cell("rtt_probe_loss", format_share)),
    ("idle", cell("rtt_idle_ms", format_milliseconds)),
    ("loaded", cell("rtt_loaded_ms", format_milliseconds)),
    ("jitter", cell("jitter_ms", format_milliseconds)),
    ("coverage", cell("coverage", format_share)),
    ("usable", cell("window_usable_bytes", format_size)),
    ("retransmits", cell("retransmits", str)),
    ("minimum RTT", cell("rtt_min_ms", format_milliseconds)),
    ("p10", cell("goodput_p10_bps", format_rate)),
    ("p90", cell("goodput_p90_bps", format_rate)),
    ("CPU s/GB sent", cell("cpu_send_s_per_gb", format_number)),
    ("read", cell("cpu_recv_s_per_gb", format_number)),
)
"""The most telling first."""
