"""A quantity of a path over time: each trial, or medians of many where a picture could not part them."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flowsweep.serve.rows import OK, STATUSES, Rows, trial_id_of

DRAWN_MAX = 1_500
"""Values of all points together; more would not be told apart."""
FAILURES_MAX = 500
_GAP = 4.0
"""Times as far apart as values are as a rule: nothing was measured in between, and no line is drawn there."""
_SECONDS_DIGITS = 3


@dataclass
class Line:
    """What one point says over time."""

    point: int
    began: list[float] = field(default_factory=list)
    """Unix seconds; of several trials, of the one in the middle."""
    value: list[float | None] = field(default_factory=list)
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)
    trial: list[str] = field(default_factory=list)
    """Which trial it is; of several, one whose value is the median, or next to it."""
    count: list[int] = field(default_factory=list)
    """How many trials it stands for; 0 where a line ends, since nothing was measured for long after it."""


def lines(rows: Rows, quantity: str, points: int) -> list[Line]:
    """Make the lines of all points.

    Args:
        rows: Trials in the order in which they began.
        quantity: Its key.
        points: How many the path has.

    Returns:
        One for each point that has a value, in their order.
    """
    good = rows[(rows["status"] == OK) & ~np.isnan(rows[quantity][:, 0])]
    present = [point for point in range(points) if np.any(good["point"] == point)] if points > 1 else [0]
    found = [
        _line(point, good[good["point"] == point], quantity, max(1, DRAWN_MAX // len(present)))
        for point in present
    ]
    return [line for line in found if line.began]


def failures(rows: Rows) -> list[dict[str, Any]]:
    """Trials that did not go well: the last ones, where there are very many."""
    bad = rows[rows["status"] != OK][-FAILURES_MAX:]
    return [
        {
            "began": round(float(row["began"]), _SECONDS_DIGITS),
            "status": STATUSES[row["status"]],
            "trial": trial_id_of(int(row["trial"])),
        }
        for row in bad
    ]


def failed(rows: Rows) -> int:
    """How many trials did not go well."""
    return int(np.count_nonzero(rows["status"] != OK))


def as_json(found: Sequence[Line]) -> list[dict[str, Any]]:
    """The lines, ready for JSON."""
    return [asdict(line) for line in found]


def _line(point: int, rows: Rows, quantity: str, most: int) -> Line:
    line = Line(point)
    if len(rows) == 0:
        return line
    values = rows[quantity]
    stretches = _stretches(rows["began"], most)
    starts = rows["began"][[first for first, _ in stretches]]
    steps = np.diff(starts)
    far = _GAP * float(np.median(steps)) if len(steps) else math.inf
    for number, (first, behind) in enumerate(stretches):
        if number and steps[number - 1] > far:
            _end_line(line, float(starts[number - 1] + starts[number]) / 2)
        middle = first + _middle(values[first:behind, 0])
        line.began.append(round(float(rows["began"][middle]), _SECONDS_DIGITS))
        line.value.append(rounded(values[middle, 0]))
        line.low.append(rounded(_end(values[first:behind, 1], values[first:behind, 0], np.min)))
        line.high.append(rounded(_end(values[first:behind, 2], values[first:behind, 0], np.max)))
        line.trial.append(trial_id_of(int(rows["trial"][middle])))
        line.count.append(int(behind - first))
    return line


def _end_line(line: Line, began: float) -> None:
    line.began.append(round(began, _SECONDS_DIGITS))
    for part in (line.value, line.low, line.high):
        part.append(None)
    line.trial.append("")
    line.count.append(0)


def _stretches(began: NDArray[Any], most: int) -> list[tuple[int, int]]:
    """Where trials are to be put together: equally long times; each trial by itself where they are few."""
    if len(began) <= most:
        return [(index, index + 1) for index in range(len(began))]
    span = max(began[-1] - began[0], 1e-9)
    places = np.minimum(((began - began[0]) / span * most).astype(np.int64), most - 1)
    edges = np.flatnonzero(np.diff(places)) + 1
    return list(zip([0, *edges.tolist()], [*edges.tolist(), len(began)], strict=True))


def _middle(values: NDArray[Any]) -> int:
    """Which of them is the median, or the lower one of the two next to it."""
    return 0 if len(values) == 1 else int(np.argsort(values, kind="stable")[(len(values) - 1) // 2])


def _end(ends: NDArray[Any], values: NDArray[Any], furthest: Any) -> float:  # noqa: ANN401 - of NumPy
    """The outer end of several intervals; of values without any, the outermost value of several."""
    known = ends[~np.isnan(ends)]
    if len(known):
        return float(furthest(known))
    return float(furthest(values)) if len(values) > 1 else float("nan")


def rounded(value: float) -> float | None:
    """A number with 5 significant digits, more than a picture shows; None for what is no number of JSON."""
    return None if not math.isfinite(value) else float(f"{value:.5g}")
