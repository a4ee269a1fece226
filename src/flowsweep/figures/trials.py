"""Single trials as figures show them: which belong together, and what each says of itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.findings.finding import FigureKey, FigureKind
from flowsweep.analysis.grid_rows import POINT_COLUMNS, CellRow
from flowsweep.analysis.statistics.sum_levels import SUMS, sum_levels
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.axes import ECHO
from flowsweep.figures.axis import (
    FLOWS,
    LENGTH,
    MODE,
    OTHERS,
    WINDOW_SUM,
    WINDOW_SUM_OF_TRIAL,
    WINDOWS,
    DrawnAxis,
    Value,
)
from flowsweep.figures.grid.panel import TEST, mode_rank, modes_named, panels
from flowsweep.grouping import grouped
from flowsweep.wording import direction_of, format_rate, several_tests


@dataclass(frozen=True)
class TrialGroup:
    """Trials of one sweep, test, mode and direction, as they ran; also those that did not end well."""

    sweep: str
    direction: str
    named_mode: str
    """For the title; empty where the mode needs no word."""
    named_test: str
    """For the title; empty where the sweep has one test only."""
    rows: tuple[TrialRow, ...]
    x: DrawnAxis
    """The axis that the sweep's main figures are drawn over."""

    @cached_property
    def good(self) -> list[TrialRow]:
        """Those that ended well, with a goodput."""
        return [row for row in self.rows if row["status"] == "ok" and row["goodput_bps"] is not None]

    @property
    def title(self) -> str:
        """What tells it from the others of its sweep."""
        return " · ".join(part for part in (self.direction, self.named_mode, self.named_test) if part)

    def key(self, kind: FigureKind, axis: str | None = None) -> FigureKey:
        """Name a figure of these trials."""
        return FigureKey(kind, self.sweep, self.rows[0]["mode"], self.direction, axis)

    def has(self, row: TrialRow) -> bool:
        """Whether a trial that is none of these is of their sweep, test, mode and direction."""
        return _together(row) == _together(self.rows[0])

    def varying(self) -> list[DrawnAxis]:
        """Parameters that differ among the trials that ended well, in the order of figures."""
        return self._varying

    @cached_property
    def _varying(self) -> list[DrawnAxis]:
        axes = [of_trials(axis, self.good) for axis in (*WINDOWS, FLOWS, *OTHERS)]
        return [axis for axis in axes if len(axis.values(self.good)) > 1]

    def describe(self, row: TrialRow) -> str:
        """Lines for people: goodput, parameters that vary, which repeat and when."""
        said = [
            f"<b>{format_rate(row['goodput_bps'])}</b>" if row["goodput_bps"] is not None else "no goodput"
        ]
        said += [escape(axis.text(axis.value(row)), quote=False) for axis in self.varying()]
        began = moment(row)
        said.append(f"repeat {row['repeat']}" + (f", {began} UTC" if began else ""))
        return "<br>".join(said)


def trial_groups(trials: Sequence[TrialRow], cells: Sequence[CellRow]) -> list[TrialGroup]:
    """Group trials by sweep, test, mode and direction, in the order of the cells."""
    axes = {(panel.sweep, panel.rows[0]["mode"]): panel.x for panel in panels(cells)}
    order = list(dict.fromkeys((row["sweep"], direction_of(row)) for row in cells))
    groups = grouped(
        sorted(trials, key=lambda row: row["order_index"]),
        _together,
    )
    named = modes_named(trials)
    apart = {sweep for sweep, own in grouped(cells, lambda row: row["sweep"]).items() if several_tests(own)}
    found = [
        TrialGroup(
            sweep,
            where,
            MODE.text(mode) if named and mode else "",
            TEST.text(test) if sweep in apart and test else "",
            tuple(rows),
            of_trials(axes[sweep, mode], rows),
        )
        for (sweep, where, mode, test), rows in groups.items()
    ]
    return sorted(found, key=lambda one: (order.index((one.sweep, one.direction)), mode_rank(one.rows[0])))


def _together(row: TrialRow) -> tuple[str, str, str | None, str | None]:
    return row["sweep"], direction_of(row), MODE.value(row), row.get("test")


def point_of(row: TrialRow) -> tuple[Value, ...]:
    """What a trial has in common with its repeats."""
    # Beside a transfer the kind of echo is no matter of the point.
    echo = row.get("echo") if row.get("test") in ECHO.tests else None
    return (*(level_of(row, name) for name in POINT_COLUMNS), echo)


def trial_axis(axis: DrawnAxis) -> DrawnAxis:
    """Take the column of a trial in place of that of a point that was asked for."""
    return WINDOW_SUM_OF_TRIAL if axis is WINDOW_SUM else axis


def of_trials(axis: DrawnAxis, rows: Sequence[TrialRow]) -> DrawnAxis:
    """Take one sum that was asked for as one, also where some numbers of flows do not divide it."""
    own = trial_axis(axis)
    return replace(own, levels=sum_levels(rows, own.column)) if own.column in SUMS else own


def moment(row: TrialRow) -> str:
    """When a trial began, as an axis of time takes it: UTC, to the second; empty if that is not known."""
    return str(row["started_at"] or "")[:19].replace("T", " ")


def facts(group: TrialGroup, row: TrialRow) -> dict[str, object]:
    """Say which trial a row of data is of."""
    return {
        "trial_id": row["trial_id"],
        "sweep": group.sweep,
        "direction": group.direction,
        **{
            axis.column: level_of(row, axis.column)
            for axis in (trial_axis(WINDOW_SUM), FLOWS, LENGTH, group.x)
        },
        "repeat": row["repeat"],
        "started_at": row["started_at"],
        "status": row["status"],
    }
