"""Whether a sweep should have run since it was measured: `status`, the page and alarms say it by this."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from flowsweep.plan.model import Plan
from flowsweep.schedule.timetable import Occasion, has_times, occasions, surely_before

_DUE = 2
"""How often it must have been due."""


def due_well_before(plan: Plan, begun_ns: int, unix_ns: int) -> Mapping[str, int]:
    """By sweep, up to which number it was due well before a moment: a year of times need not be counted."""
    return {
        sweep.name: max(0, surely_before(sweep.timing, begun_ns, unix_ns) - 2)
        for sweep in plan.sweeps
        if sweep.timing is not None
    }


@dataclass(frozen=True, slots=True)
class PastTimes:
    """Times that a sweep was due and can begin no more, in their order, in Unix nanoseconds."""

    due_ns: Sequence[int]
    latest_ns: Sequence[int]
    """When it might have begun at the latest."""

    def silent_from(self, since_ns: int, until_ns: int) -> int | None:
        """When a path became silent that was measured at a moment, and not again until another.

        That is when the second time was over that it was due since: once may be anything. None if it did not.
        """
        second = bisect_right(self.due_ns, since_ns) + _DUE - 1
        if second >= len(self.due_ns) or self.latest_ns[second] >= until_ns:
            return None
        return self.latest_ns[second]


def past_times(
    plan: Plan, begun_ns: int, seed: int, sweep: str, *, until_ns: int, since_ns: int | None = None
) -> PastTimes:
    """List when a sweep was due.

    Args:
        plan: With or without times; without, nothing is due.
        begun_ns: When the campaign began.
        seed: Of the campaign.
        sweep: Its name.
        until_ns: Times that were over before that.
        since_ns: As few of those after this moment as `silent_from` needs for it; all, if absent.
    """
    own = plan.model_copy(update={"sweeps": tuple(one for one in plan.sweeps if one.name == sweep)})
    if not has_times(own):
        return PastTimes((), ())
    after = None if since_ns is None else due_well_before(own, begun_ns, since_ns)
    past: Iterator[Occasion] = takewhile(
        lambda one: one.latest_unix_ns < until_ns, occasions(own, begun_ns, seed, after)
    )
    if since_ns is not None:
        past = islice((one for one in past if one.due_unix_ns > since_ns), _DUE)
    times = [(one.due_unix_ns, one.latest_unix_ns) for one in past]
    return PastTimes([due for due, _ in times], [latest for _, latest in times])


def was_due_twice(
    plan: Plan, begun_ns: int, seed: int, sweep: str, *, since_ns: int | None, now_ns: int
) -> bool:
    """Whether a sweep had to have run more than once between two moments, in Unix nanoseconds.

    Args:
        plan: With or without times; without, nothing is due.
        begun_ns: When the campaign began.
        seed: Of the campaign.
        sweep: Its name.
        since_ns: When it was measured last, by then; None if it never was. A later moment does not count.
        now_ns: The moment that is asked for.
    """
    since_ns = never_ns(begun_ns) if since_ns is None or since_ns > now_ns else since_ns
    return silent_from(plan, begun_ns, seed, sweep, since_ns, now_ns) is not None


def silent_from(plan: Plan, begun_ns: int, seed: int, sweep: str, since_ns: int, until_ns: int) -> int | None:
    """The same as `PastTimes.silent_from`, where no more times are listed than are needed."""
    times = past_times(plan, begun_ns, seed, sweep, until_ns=until_ns, since_ns=since_ns)
    return times.silent_from(since_ns, until_ns)


def up_to(now_ns: int, measured: Sequence[int]) -> Sequence[int]:
    """Those of ascending moments that are not in the future, where a clock that is set back leaves some."""
    return measured[: bisect_right(measured, now_ns)]


def never_ns(begun_ns: int) -> int:
    """Since when a path was not measured that never was: what was due as the campaign began counts, too."""
    return begun_ns - 1
