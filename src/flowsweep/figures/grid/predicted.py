"""What is predicted for each point of a plane, drawn like what was measured there.

By the fluid model, where the plan's links say what it has to know of the path; else by the lesser of usable
window × flows / round-trip time and the link's payload rate (RFC 6349, section 3.3).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.predicted import BEYOND_COMPARED, PREDICTED, PREDICTED_RATE
from flowsweep.analysis.summarising.trial_row import TrialRow, quantity_of
from flowsweep.figures.axis import Value
from flowsweep.figures.grid.panel import Panel, PanelRow
from flowsweep.wording import counted

_ASKED = "window_sum_asked_bytes"
"""A trial may answer several of them: it is no part of what names a trial's point."""
_Point = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Predictions:
    """What is predicted for points, and what was measured there that compares with it."""

    predicted_bps: Mapping[_Point, float]
    measured_bps: Mapping[_Point, float]
    measured: str
    """What that is: the beginning of a sentence."""
    source: str
    """Where the predictions are from."""
    beyond: frozenset[_Point] = frozenset()
    """Points that are beyond what the model was compared with."""

    def beyond_words(self, panel: Panel) -> str:
        """The sentence that says of how many points of a panel that is so; empty where of none."""
        count = sum(_point(row) in self.beyond for row in panel.rows)
        if not count:
            return ""
        return f" Beyond what the model was compared with: {counted(count, 'point')}."


def predictions(trials: Sequence[TrialRow]) -> Predictions:
    """Predict the goodput of each point in bit/s, where the link is known."""
    ended_well = [row for row in trials if row["status"] == "ok"]
    if any(quantity_of(row, PREDICTED) for row in ended_well):
        return Predictions(
            _of_points(ended_well, lambda row: quantity_of(row, PREDICTED)),
            {
                point: fmean(rates)
                for point, rates in _by_point(ended_well, lambda row: row["goodput_mean_bps"]).items()
            },
            "Mean goodput over the repeats",
            f"a fluid model on {_path(ended_well)} (docs/explanation/prediction.md)",
            frozenset(_by_point(ended_well, lambda row: quantity_of(row, BEYOND_COMPARED))),
        )
    return Predictions(
        _of_points(ended_well, _by_theory),
        _of_points(ended_well, lambda row: row["goodput_bps"]),
        "Measured goodput (median over the repeats)",
        "the lesser of usable window × flows / RTT and the payload rate of the link",
    )


def _path(rows: Sequence[TrialRow]) -> str:
    if all(quantity_of(row, PREDICTED_RATE) is None for row in rows):
        return "the plan's link"
    return "a path with the highest goodput and the minimum RTT of a direction's trials, and no random loss"


def _by_theory(row: TrialRow) -> float | None:
    by_window, payload = row.get("theory_window_bps"), row.get("link_payload_bps")
    return min(by_window, payload) if by_window and payload else None


def _of_points(rows: Sequence[TrialRow], value: Callable[[TrialRow], float | None]) -> dict[_Point, float]:
    return {point: median(rates) for point, rates in _by_point(rows, value).items()}


def _by_point(
    rows: Sequence[TrialRow], value: Callable[[TrialRow], float | None]
) -> dict[_Point, list[float]]:
    found: dict[_Point, list[float]] = {}
    for row in rows:
        if (rate := value(row)) is not None:
            found.setdefault(_point(row), []).append(rate)
    return found


def predicted(panel: Panel, by_point: Predictions) -> Panel | None:
    """Put predictions in the place of a panel's medians; absent unless each measured point has one.

    The scale is that of the measurement, further up if a prediction is above all that was measured.
    """
    measured = [row for row in panel.rows if row["goodput_median_bps"] is not None]
    # A trial may have intervals and no mean, as imported ones: nothing there compares with the prediction.
    rates = [
        by_point.predicted_bps.get(point) if point in by_point.measured_bps else None
        for point in map(_point, measured)
    ]
    known = [rate for rate in rates if rate is not None]
    if not known or len(known) < len(rates):
        return None
    rows: list[PanelRow] = [
        {
            **row,
            "goodput_median_bps": rate,
            "goodput_lowest_bps": None,
            "goodput_highest_bps": None,
            "goodputs_bps": [],
            "measured_bps": by_point.measured_bps[_point(row)],
        }
        for row, rate in zip(measured, known, strict=True)
    ]
    return replace(panel, rows=tuple(rows), top_bps=max(panel.top_bps, *known))


def _point(row: Mapping[str, object]) -> tuple[Value, ...]:
    return tuple(level_of(row, name) for name in POINT_COLUMNS if name != _ASKED)
