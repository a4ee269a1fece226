"""Days on which all points carried less, or more, than on the others: a fact, and no claim on why."""

from dataclasses import replace

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, over_time
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.analysis.statistics.unlike_days import UnlikeDays, unlike_days_of_each
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.wording import counted, format_number


def day_hypotheses(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Hypothesis]:
    """Name the days that were unlike the others.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        One description of all directions together, if the same days stand apart in all of them
        (`unlike_days_of_each`); else one for each direction that has such days; none where there are none.
        The effect is by how many percent goodput differs there, the median over points.
    """
    return [
        _described(observed if direction is None else replace(observed, direction=direction), found)
        for direction, found in unlike_days_of_each(observed, margin=margin).items()
    ]


def _described(observed: Observations, found: UnlikeDays) -> Hypothesis:
    return over_time(
        "days",
        observed.scope(),
        _say(observed, found),
        found.trials,
        Estimate(percent(found.change), "%"),
        trials=found.compared,
        method=(
            "medians of log goodput by point and day; days apart at every point by more than the margin, "
            "by 4 standard deviations of single trials and by twice what days on either side differ by; "
            "described, not tested"
        ),
    )


def _say(observed: Observations, found: UnlikeDays) -> str:
    count = len(found.trials)
    all_alike = found.like_these == count
    many = f"{'all' if all_alike else f'{found.like_these} of'} {counted(count, 'trial')}"
    points = "point" if len(found.changes) == 1 else f"{len(found.changes)} points"
    which = f" of the {points} that ran on other days, too," if found.left else ""
    sizes = sorted(abs(percent(change)) for change in found.changes)
    size, low, high = (format_number(value) for value in (abs(percent(found.change)), sizes[0], sizes[-1]))
    spread = f" ({low} to {high} % by point)" if low != high else ""
    less = "less" if found.change < 0 else "more"
    others = found.others[0] if len(found.others) == 1 else f"the {len(found.others)} other days"
    direction = f"{observed.direction}: on" if observed.direction else "On"
    return (
        f"{direction} {_listed(found.days)} {many}{which} carried about {size} % {less} than on {others}"
        f"{spread}; averages over all days mix both."
    )


def _listed(days: tuple[str, ...]) -> str:
    *first, last = days
    return f"{', '.join(first)} and {last}" if first else last
