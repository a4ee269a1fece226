"""What trials of one point of a grid have in common, and the repeats of each point put together."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from flowsweep.analysis.axes import level_of
from flowsweep.axes import FLOWS, HOSTS, OTHERS, SettingColumns, columns_of
from flowsweep.grouping import grouped

POINT_COLUMNS = (
    "sweep", "src", "dst", "test", "simultaneous", *columns_of((*FLOWS, *HOSTS)),
    "window_bytes", "window_sum_bytes", "window_send_bytes", "window_recv_bytes", "window_sum_asked_bytes",
    *columns_of(OTHERS), "mode",
)  # fmt: skip
"""What trials of one point have in common: they differ in their repeat only."""


class CellRow(SettingColumns):
    """A point of a grid, its repeats put together."""

    sweep: str
    src: str
    dst: str
    test: str
    simultaneous: bool
    flows: int
    flows_per_pair: int
    sources: int
    sinks: int
    window_bytes: int | None
    window_sum_bytes: int | None
    window_send_bytes: int | None
    window_recv_bytes: int | None
    window_sum_asked_bytes: int | None
    length_bytes: int | None
    congestion_asked: str | None
    duration_s: float | None
    rate_sum_bps: float | None
    spacing_ns: int | None
    gso: bool | None
    gro: bool | None
    mode: str | None
    goodput_median_bps: float | None
    goodput_lowest_bps: float | None
    goodput_highest_bps: float | None
    goodputs_bps: list[float] | None
    repeats_ok: int
    trials: int
    window_capped: bool
    order_index: int


def points_of_rows(
    trials: Iterable[Mapping[str, Any]], asked: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """As `flowsweep.analysis.points`, of a summary's rows that are here.

    Args:
        trials: The rows.
        asked: Rows of the archive's table of trials, by trial_id.

    Returns:
        Those rows with window_sum_asked_bytes, one for each that was asked for; else the trial's own.
    """
    return [
        {**row, "window_sum_asked_bytes": sum_bytes}
        for row in trials
        for sum_bytes in asked[row["trial_id"]]["window_sums_asked_bytes"] or [row["window_sum_bytes"]]
    ]


def cells_of_rows(trials: Iterable[Mapping[str, Any]]) -> list[CellRow]:
    """As `flowsweep.analysis.cells`, of a summary's rows that are here, or of `points_of_rows`.

    To load Ibis and plan a query takes longer than a campaign's end or page may; the tables are for the
    Python API and for Spark. tests/unit/analysis/test_analysis_cells.py holds both to the same.
    """
    groups = grouped(trials, lambda row: tuple(level_of(row, name) for name in POINT_COLUMNS))
    order = ("order_index", "window_sum_asked_bytes")
    return sorted(map(_cell, groups.values()), key=lambda cell: [cell.get(name) or 0 for name in order])


def _cell(trials: Sequence[Mapping[str, Any]]) -> CellRow:
    first = trials[0]
    goodputs_bps = sorted(
        row["goodput_bps"] for row in trials if row["status"] == "ok" and row["goodput_bps"] is not None
    )
    found: Any = {name: first.get(name) for name in POINT_COLUMNS if name in first}
    cell: CellRow = found | {
        "goodput_median_bps": median(goodputs_bps) if goodputs_bps else None,
        "goodput_lowest_bps": min(goodputs_bps, default=None),
        "goodput_highest_bps": max(goodputs_bps, default=None),
        "goodputs_bps": goodputs_bps or None,
        "repeats_ok": len(goodputs_bps),
        "trials": len(trials),
        "window_capped": any(row["window_capped"] for row in trials),
        "order_index": min(row["order_index"] for row in trials),
    }
    return cell
