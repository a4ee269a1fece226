"""The trials of a campaign of two plans that were joined, apart by setting and matched."""

from collections.abc import Mapping, Sequence
from typing import Any

from flowsweep.analysis.comparing.points import Row
from flowsweep.analysis.grid_points import POINT_COLUMNS
from flowsweep.plan import Plan
from flowsweep.schedule import matched_trials


def both_settings(rows: Sequence[Row], plan: Plan) -> tuple[list[Row], list[Row]]:
    """Take the trials of A and of B apart.

    Args:
        rows: Of the campaign's summary.
        plan: That was joined.

    Returns:
        The rows of A and of B. Matched trials have the same point: the sweep has the name that both plans
        give it, and columns in which the settings differ are left out. `pair` is the same for the two trials
        of a point that ran in one repeat.

    Raises:
        ValueError: The sweeps of the plan have not the same points.
    """
    by_id = {row["trial_id"]: row for row in rows}
    sides: tuple[list[Row], list[Row]] = ([], [])
    for point, (sweep, trials) in enumerate(matched_trials(plan)):
        found = [
            (side, pair, by_id[trial.trial_id])
            for pair, both in enumerate(trials)
            for side, trial in enumerate(both)
            if trial.trial_id in by_id
        ]
        differing = _differing([row for _, _, row in found])
        for side, pair, row in found:
            alike = {name: value for name, value in row.items() if name not in differing}
            sides[side].append(alike | {"sweep": sweep, "pair": (point, pair)})
    return sides


def _differing(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Columns of a point in which trials differ that are of one."""
    return {name for name in POINT_COLUMNS if any(row.get(name) != rows[0].get(name) for row in rows)}
