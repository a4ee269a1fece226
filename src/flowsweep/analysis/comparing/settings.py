"""The trials of a campaign of two plans that were joined, apart by setting and matched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from flowsweep.analysis.comparing.comparison import Comparison, compare_settings
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.plan import Plan, setting_changes
from flowsweep.schedule import has_times, joined_plan, matched_trials


@dataclass(frozen=True, slots=True)
class SettingsCompared:
    """B against A, of one campaign."""

    comparison: Comparison
    changes: tuple[tuple[str, str, str], ...]
    """Keys in which they differ, each with its value in A and in B; none of a setting against itself."""


def settings_compared(
    stored_plan: Mapping[str, Any], rows: Sequence[TrialRow], margin: float = EQUIVALENCE_MARGIN
) -> SettingsCompared | None:
    """Compare the two settings of a campaign.

    Args:
        stored_plan: As its archive has it.
        rows: Of its summary.
        margin: Share of goodput that counts as the same, above 0.

    Returns:
        None where it has not two settings, or another version of Flowsweep wrote its plan.
    """
    plan = joined_plan(stored_plan)
    if plan is None:
        return None
    try:
        sides = both_settings(rows, plan)
    except ValueError:  # a plan that nobody joined: its sweeps do not match
        return None
    comparison = compare_settings(*sides, margin=margin, spread_out=has_times(plan))
    return SettingsCompared(comparison, setting_changes(plan))


def both_settings(rows: Sequence[TrialRow], plan: Plan) -> tuple[list[TrialRow], list[TrialRow]]:
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
    sides: tuple[list[TrialRow], list[TrialRow]] = ([], [])
    repeats = sorted({row["repeat"] for row in rows})
    for point, (sweep, trials) in enumerate(matched_trials(plan, repeats)):
        found = [
            (side, pair, by_id[trial.trial_id])
            for pair, both in enumerate(trials)
            for side, trial in enumerate(both)
            if trial.trial_id in by_id
        ]
        differing = _differing([row for _, _, row in found])
        for side, pair, row in found:
            alike = {name: value for name, value in row.items() if name not in differing}
            # Not quite the row of a trial: what tells the settings apart is missing, and the pair is there.
            sides[side].append(cast("TrialRow", alike | {"sweep": sweep, "pair": (point, pair)}))
    return sides


def _differing(rows: Sequence[Mapping[str, object]]) -> set[str]:
    """Columns of a point in which trials differ that are of one."""
    return {name for name in POINT_COLUMNS if any(row.get(name) != rows[0].get(name) for row in rows)}
