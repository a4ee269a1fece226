"""The trials of a campaign by their point, as comparisons match them."""

from collections.abc import Hashable, Mapping, Sequence

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.statistics.observations import carried
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped

Point = tuple[tuple[str, Hashable], ...]
"""Its value of each of POINT_COLUMNS that a summary has, with their names."""
Points = dict[Point, list[TrialRow]]


def by_point(rows: Sequence[TrialRow]) -> Points:
    """Put together the trials of each point that ended well with a goodput above 0, as they ran.

    Those whose emulated path this machine turned into another are left out.
    """
    ordered = sorted(trusted(rows), key=lambda row: row["order_index"])
    return grouped(filter(carried, ordered), point_of)


def in_order(points: Sequence[Point]) -> list[Point]:
    """Sort points by direction and levels: what is not set comes first, then numbers by size, then words.

    Sweeps stay in the order in which they come.
    """
    sweeps = list(dict.fromkeys(dict(point).get("sweep") for point in points))
    return sorted(points, key=lambda point: (sweeps.index(dict(point).get("sweep")), _places(point)))


def _places(point: Point) -> list[tuple[int, float, str]]:
    return [_place(level) for _, level in point]


def _place(level: Hashable) -> tuple[int, float, str]:
    if level is None:
        return (0, 0.0, "")
    return (1, level, "") if isinstance(level, int | float) else (2, 0.0, str(level))


def pairs(first: Points, second: Points) -> tuple[Points, Points]:
    """Leave what has a partner: trials of one `pair`, the two of each in the same place of both.

    Args:
        first: Trials of A that ended well, by point.
        second: Of B.

    Returns:
        Both without points of which nothing is left, in the order of the repeats.
    """
    kept: tuple[Points, Points] = ({}, {})
    for point in first:
        partners = {pair_of(row): row for row in second.get(point, ())}
        both = [(row, partners[pair_of(row)]) for row in first[point] if pair_of(row) in partners]
        if both:
            both.sort(key=lambda one: one[0]["repeat"])
            kept[0][point], kept[1][point] = [one for one, _ in both], [other for _, other in both]
    return kept


def point_of(row: Mapping[str, object]) -> Point:
    """Name the point of a trial."""
    return tuple((name, level_of(row, name)) for name in POINT_COLUMNS if name in row)


def pair_of(row: Mapping[str, object]) -> object:
    """What `both_settings` has added to a row."""
    return row["pair"]
