"""Which tables are exported: trials, flows, intervals and hops."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.analysis import bins, intervals, summary
from flowsweep.analysis.tests.path import hop_table
from flowsweep.archive import Tables

TABLES = ("trials", "flows", "intervals", "hops")
"""In the order of a workbook's sheets."""


def export_tables(
    tables: Tables, names: Sequence[str] = TABLES, *, trials: pa.Table | None = None
) -> dict[str, ir.Table]:
    """Select tables of a campaign.

    Args:
        tables: Of an archive.
        names: Some of TABLES.
        trials: The summary of the same campaign, if it is there already.

    Returns:
        Some of TABLES by name: `trials` is the summary; `flows` has one row per trial, flow and end;
        `intervals` one per trial and exact interval that counts, with `start_s`, its beginning since what is
        omitted was over; `hops` one per trial that measured a path, and hop. Units are in the columns' names.
    """
    build = {"trials": summary, "flows": _flows, "intervals": _intervals, "hops": _hops}
    there = {} if trials is None else {"trials": ibis.memtable(trials)}
    return {name: there[name] if name in there else build[name](tables) for name in names}


def _flows(tables: Tables) -> ir.Table:
    order = tables.trials.select("trial_id", "sweep", "repeat", "order_index")
    first = ("trial_id", "sweep", "repeat", "flow", "role", "host", "peer", "bytes", "end")
    joined = order.inner_join(tables.flows, "trial_id").order_by("order_index", "role", "flow")
    return joined.select(*first, *(name for name in tables.flows.columns if name not in first))


def _intervals(tables: Tables) -> ir.Table:
    trials = tables.trials
    whole = intervals(bins(tables.samples, trials, tables.flows), trials)
    order = trials.select("trial_id", "sweep", "repeat", "order_index", "interval_ns", "expected_bins")
    joined = order.inner_join(whole, "trial_id")
    counted = joined.filter((joined.bin >= 0) & (joined.bin < joined.expected_bins))
    started = counted.mutate(
        start_s=counted.bin.cast("float64") * counted.interval_ns / 1e9,
        interval_s=counted.interval_ns.cast("float64") / 1e9,
    )
    return started.order_by("order_index", "bin").select(
        "trial_id", "sweep", "repeat", "bin", "start_s", "interval_s", "bytes", "goodput_bps",
        "flows_covering", "complete",
    )  # fmt: skip


def _hops(tables: Tables) -> ir.Table:
    return hop_table(tables).drop("sizes_bytes", "quartile_ns")
