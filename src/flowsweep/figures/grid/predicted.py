"""What theory predicts for each point of a plane, drawn like what was measured there.

Usable window × flows / round-trip time, and at most the link's payload rate (RFC 6349, section 3.3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.grid_points import POINT_COLUMNS
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.figures.axis import Value
from flowsweep.figures.grid.panel import Panel, PanelRow

_ASKED = "window_sum_asked_bytes"
"""A trial may answer several of them: it is no part of what names a trial's point."""

Predictions = Mapping[tuple[Value, ...], float]


def predictions(trials: Sequence[TrialRow]) -> Predictions:
    """Predict the goodput of each point in bit/s: the median over its trials, where the link is known."""
    found: dict[tuple[Value, ...], list[float]] = {}
    for row in trials:
        by_window, payload = row.get("theory_window_bps"), row.get("link_payload_bps")
        if row["status"] == "ok" and by_window and payload:
            found.setdefault(_point(row), []).append(min(by_window, payload))
    return {point: median(rates) for point, rates in found.items()}


def predicted(panel: Panel, predicted_bps: Predictions) -> Panel | None:
    """Put predictions in the place of a panel's medians; absent unless each measured point has one.

    The scale is that of the measurement, further up if a prediction is above all that was measured.
    """
    measured = [row for row in panel.rows if row["goodput_median_bps"] is not None]
    rates = [predicted_bps.get(_point(row)) for row in measured]
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
            "measured_bps": row["goodput_median_bps"],
        }
        for row, rate in zip(measured, known, strict=True)
    ]
    return replace(panel, rows=tuple(rows), top_bps=max(panel.top_bps, *known))


def _point(row: Mapping[str, object]) -> tuple[Value, ...]:
    return tuple(level_of(row, name) for name in POINT_COLUMNS if name != _ASKED)
