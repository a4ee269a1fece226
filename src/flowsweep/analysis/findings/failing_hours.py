"""Whether trials fail more often at some hours of the day."""

from collections.abc import Iterator, Sequence
from functools import partial

from flowsweep.analysis.axes import AXIS_NAMES, level_of
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.hours_of_events import HOURS, ROTATIONS, UnlikeHours, unlike_hours
from flowsweep.analysis.statistics.observations import all_observations, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, is_searched
from flowsweep.wording import direction_of


def failing_hour_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Ask whether trials fail more often at some hours of the day.

    Trials in which flows broke are not asked about: `broken_hypotheses` names them.

    Args:
        summary: Rows of a campaign.

    Yields:
        For each sweep and mode one, where trials failed (`status` other than ok) on three days or more, but
        not all of them. The effect is the difference of the shares that failed, at these hours and at others.
        Method: `unlike_hours`.
    """
    whole = [row for row in summary if not is_searched(row) and not row.get("flows_broken")]
    for observed in all_observations(whole):
        failed = [row for row in observed.rows if _failed(row)]
        found = unlike_hours(observed.rows, _failed, _point) if len(failed) < len(observed.rows) else None
        if found is None:
            continue
        (here, elsewhere), (size, other_size) = found.counts, found.sizes
        yield Hypothesis(
            "failures",
            observed.scope(),
            partial(_say, found),
            trial_ids(failed),
            Estimate(here / size - elsewhere / other_size, "1"),
            axis="started_at",
            figure="time_series",
            trials=len(observed.rows),
            p_value=found.p_value,
            method=(
                f"likelihood ratio of any 1 to 12 hours of the day; p by {ROTATIONS} rotations of what "
                "failed within each day, of all points alike; no interval"
            ),
        )


def _failed(row: TrialRow) -> bool:
    return row["status"] != "ok"


def _point(row: TrialRow) -> tuple[object, ...]:
    return direction_of(row), *(level_of(row, axis) for axis in AXIS_NAMES)


def _say(found: UnlikeHours, decision: Decision) -> str:
    (here, elsewhere), (size, other_size) = found.counts, found.sizes
    when = f"from {found.first:02d}:00 to {(found.first + found.length) % HOURS:02d}:00 UTC"
    counts = f"{here} of {size} did not end ok {when}, {elsewhere} of {other_size} at other hours"
    if decision == "effect":
        return f"Trials fail more often at some hours of the day: {counts}."
    return (
        f"Whether trials fail more often at some hours of the day is undecided: that {counts} may be chance."
    )
