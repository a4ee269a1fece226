"""The trials of a campaign by their point, as comparisons match them."""

from collections.abc import Hashable, Mapping, Sequence

from flowsweep.analysis.grid_points import POINT_COLUMNS
from flowsweep.analysis.summarising.trial_row import TrialRow

Point = tuple[tuple[str, Hashable], ...]
"""Its value of each of POINT_COLUMNS that a summary has, with their names."""
Points = dict[Point, list[TrialRow]]


def by_point(rows: Sequence[TrialRow]) -> Points:
    """Put together the trials of each point that ended well with a goodput above 0, as they ran."""
    found: Points = {}
    for row in sorted(rows, key=lambda row: row["order_index"]):
        if row["status"] == "ok" and (row["goodput_bps"] or 0) > 0:
            found.setdefault(point_of(row), []).append(row)
    return found


def point_of(row: Mapping[str, object]) -> Point:
    """Name the point of a trial."""
    return tuple((name, _hashable(row[name])) for name in POINT_COLUMNS if name in row)


def _hashable(value: object) -> Hashable:
    return tuple(value) if isinstance(value, list) else value
