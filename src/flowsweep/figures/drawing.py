"""What every figure of a report comes with: which findings it belongs to, words around it, its data."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go

from flowsweep.analysis.background.shares import ShareIntervalRow, ShareRow
from flowsweep.analysis.binning.interval_goodput import IntervalRow
from flowsweep.analysis.binning.shorter_durations import CutRow
from flowsweep.analysis.findings.finding import FigureKey, FigureKind, Finding
from flowsweep.analysis.grid_rows import CellRow
from flowsweep.analysis.monitors.facts import MonitorFacts
from flowsweep.analysis.summarising.trial_row import TrialRow, is_searched
from flowsweep.analysis.tests.mptcp.paths import PathRate
from flowsweep.analysis.tests.path.rows import HopRow, TrainRow
from flowsweep.analysis.tests.rtt.under_load import ShownEcho
from flowsweep.analysis.tests.udp.datagrams import SpacingRow
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.figures.stepped import Sides, cells_since, point_of, sides_of
from flowsweep.wording import counted

KIND_TITLES: Mapping[FigureKind, str] = {
    "shift": "How much B differs from A",
    "overlay": "A and B on the same axes",
    "hop_capacity": "Capacity of each hop",
    "hop_times": "Round-trip time to each hop over size",
    "trains": "Trains of packets",
    "streams": "Streams of packets",
    "rtt_time": "Round-trip time while a trial ran",
    "rtt_ecdf": "Distribution of round-trip times",
    "rtt_size": "Round-trip time against the size of a message",
    "effects": "What makes a difference",
    "rate_search": "Search for the highest rate",
    "search": "Search for what is enough",
    "response": "Goodput as the search knows it",
    "best": "Search for the best setting",
    "offered": "Goodput and loss against the rate that was asked for",
    "jitter": "Jitter and delay variation against the rate",
    "spacing": "Gaps between datagrams",
    "shares": "Shares of what was shared",
    "plane": "Goodput over the grid",
    "line": "Goodput over one parameter",
    "repeats": "Goodput of each repeat",
    "prediction": "Goodput as predicted",
    "ratio": "Measured ÷ predicted",
    "product": "Goodput against window × flows",
    "per_flow": "Goodput per flow against window per flow",
    "limits": "What the flight filled",
    "stages": "What files waited for",
    "paths": "What each path carried",
    "cpu": "CPU load",
    "ecdf": "Distribution of goodput",
    "time_series": "Goodput over the campaign",
    "monitors": "What monitors saw over the campaign",
    "duration": "How long a trial has to be",
}
"""Headings of the kinds, in the order in which a reader meets them."""

_OF_THE_GRID: tuple[FigureKind, ...] = ("product", "per_flow")
_SAME_PLACE = {"line": "plane", "repeats": "plane"}
"""A sweep has one of these: a finding that names another means the one that there is."""


@dataclass(frozen=True, slots=True)
class FigureData:
    """All that the figures of a report are drawn from."""

    trials: Sequence[TrialRow]
    """Rows of `flowsweep.analysis.summary`, in any order."""
    cells: Sequence[CellRow]
    """Rows of `flowsweep.analysis.grid_rows`, in the order in which sweeps and directions shall stand."""
    intervals: Sequence[IntervalRow] = ()
    """Rows of `flowsweep.analysis.binning.interval_goodput`; none of an imported archive."""
    truncated: Sequence[CutRow] = ()
    """Rows of `flowsweep.analysis.binning.shorter_durations`, likewise."""
    spacings: Sequence[SpacingRow] = ()
    """Rows of `flowsweep.analysis.spacing_steps`; none without trials of datagrams."""
    hops: Sequence[HopRow] = ()
    """Rows of `flowsweep.analysis.tests.path.hop_rows`; none without measurements of paths."""
    trains: Sequence[TrainRow] = ()
    """Rows of `flowsweep.analysis.tests.path.rows`, likewise."""
    path_rates: Sequence[PathRate] = ()
    """Rows of `flowsweep.analysis.tests.mptcp.paths.path_rates`; none without trials of MPTCP."""
    shares: Sequence[ShareRow] = ()
    """Rows of `flowsweep.analysis.background.shares.shares`; none without traffic beside trials."""
    share_series: Sequence[ShareIntervalRow] = ()
    """Rows of `flowsweep.analysis.background.shares.series`, likewise."""
    echoes: Sequence[ShownEcho] = ()
    """Rows of `flowsweep.analysis.tests.rtt.under_load.shown_echoes`; none where there were none."""
    monitors: MonitorFacts | None = None
    """What routers and hosts told meanwhile; none without monitors."""
    findings: Sequence[Finding] = ()
    margin: float = EQUIVALENCE_MARGIN
    """The margin that the findings were decided with, as a share."""
    late: Sequence[TrialRow] = ()
    """Trials whose emulated path was another than the plan's: beside `trials`, and in no other rows."""
    beside: Sequence[CellRow] = ()
    """Cells of a campaign whose figures stand beside these: scales end at the highest of both."""

    @property
    def searched(self) -> frozenset[str]:
        """Sweeps in which something was searched for: what was tried is a way, and no grid or sample."""
        return frozenset(row["sweep"] for row in self.trials if is_searched(row))

    @property
    def grid(self) -> list[CellRow]:
        """The cells of sweeps whose points the plan chose."""
        searched = self.searched
        return [row for row in self.told_cells if row["sweep"] not in searched]

    @property
    def sides(self) -> Sides:
        """The trials since their goodput stepped, and those before."""
        return sides_of(self.trials, self.findings)

    @property
    def told_cells(self) -> list[CellRow]:
        """All cells, since goodput stepped; those in which no trial ended well say why, as `failure`."""
        reasons: dict[tuple[object, ...], dict[str, None]] = {}
        sides = self.sides
        cells = cells_since(self.cells, sides)
        if all(row["goodputs_bps"] for row in cells):
            return cells
        for trial in sides.counted:
            if trial["status"] != "ok":
                said = f"{trial['status']}: {trial['error']}" if trial["error"] else trial["status"]
                reasons.setdefault(point_of(trial), {})[said] = None
        return [self._told(row, list(reasons.get(point_of(row), ()))) for row in cells]

    @staticmethod
    def _told(row: CellRow, reasons: Sequence[str]) -> CellRow:
        if row["goodputs_bps"] or not reasons:
            return row
        more = f" (and {counted(len(reasons) - 1, 'other reason')})" if len(reasons) > 1 else ""
        told: Any = {**row, "failure": reasons[0] + more}
        found: CellRow = told
        return found


@dataclass(frozen=True, slots=True)
class Drawn:
    """One figure of a report."""

    key: FigureKey
    title: str
    """What tells it from the others of its kind and sweep; plain text. The kind itself: `KIND_TITLES`."""
    caption: str
    """How to read it, in a sentence or two; plain text."""
    file_name: str
    """Of the picture and of the data, without ending."""
    figure: go.Figure
    """It may have several axes (`xaxis2` …) and annotations."""
    rows: tuple[Mapping[str, object], ...]
    """What is drawn, for a table: all rows have the same columns, with units in their names."""
    needs_webgl: bool = False
    """It is a surface, of which a browser can show few at once; a map of the same data follows it."""


def figure_of(key: FigureKey | None, drawn: Sequence[Drawn]) -> Drawn | None:
    """Find the figure that shows why a finding holds: of its kind, sweep, mode, and direction if it has one.

    Of several the first, preferring one of the same axis and of the same direction. Where there is none of a
    kind that shows points of the grid, goodput over the grid shows them.
    """
    if key is None:
        return None
    found = [one for one in drawn if _shows(one.key, key)]
    if not found and key.kind in _OF_THE_GRID:
        found = [one for one in drawn if _shows(one.key, replace(key, kind="plane", axis=None))]
    return max(
        found,
        key=lambda one: (one.key.axis == key.axis, one.key.direction == key.direction, not one.needs_webgl),
        default=None,
    )


def ecdf_steps(ascending: Sequence[float], of: int, most: int) -> list[tuple[float, float]]:
    """Each distinct value and the share in percent of `of` values that is not above it.

    Where there are more than `most`, those that so many quantiles, evenly spaced, have.
    """
    distinct = list(dict.fromkeys(ascending))
    if len(distinct) > most:
        ranks = (step * (len(ascending) - 1) // max(most - 1, 1) for step in range(most))
        distinct = list(dict.fromkeys(ascending[rank] for rank in ranks))
    return [(value, float(f"{bisect_right(ascending, value) / of * 100:.4g}")) for value in distinct]


def ecdf_foot(curve: go.Scatter) -> go.Scatter:
    """Draw how a curve of such steps rises from zero: there is no value, so it says nothing to who hovers."""
    return go.Scatter(
        x=[curve.x[0]] * 2,
        y=[0, curve.y[0]],
        mode="lines",
        line=curve.line,
        name=curve.name,
        legendgroup=curve.legendgroup,
        showlegend=False,
        hoverinfo="skip",
    )


def file_stem(*parts: str | None) -> str:
    """Make the name of a file that any system takes: "windows-a-b-length-8-kb-limits"."""
    text = " ".join(part for part in parts if part)
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower() or "figure"


def _shows(drawn: FigureKey, asked: FigureKey) -> bool:
    return (
        _SAME_PLACE.get(drawn.kind, drawn.kind) == _SAME_PLACE.get(asked.kind, asked.kind)
        and (drawn.sweep, drawn.mode) == (asked.sweep, asked.mode)
        and (None in (drawn.direction, asked.direction) or drawn.direction == asked.direction)
    )
