"""When a plan's sweeps are due: pure, from the plan, the seed and the moment at which the campaign began."""

import heapq
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

from flowsweep.defaults import DAY_S, MICROSECOND_NS, SECOND_NS
from flowsweep.plan.campaign import Campaign, Timing
from flowsweep.plan.model import Plan, Sweep
from flowsweep.schedule.due_times import count_before, is_even, place_after, times_from


@dataclass(frozen=True, slots=True)
class Occasion:
    """One time that a sweep is due: all of its points are measured once."""

    sweep: str
    number: int
    """Of this sweep, from 1: the `repeat` of its trials."""
    due_unix_ns: int
    latest_unix_ns: int
    """When it may begin at the latest; before the sweep is due again."""

    @property
    def key(self) -> tuple[str, int]:
        """Sweep and number."""
        return self.sweep, self.number


def has_times(plan: Plan) -> bool:
    """Whether sweeps run when they are due, and not once."""
    return any(sweep.timing is not None for sweep in plan.sweeps)


def occasions(
    plan: Plan, begun_unix_ns: int, seed: int, after: Mapping[str, int] | None = None
) -> Iterator[Occasion]:
    """List when sweeps are due, as time goes on; at the same time in the order of the plan.

    Of two plans that were joined, a sweep of A and the same of B are due at the same times; which of them
    runs first is drawn each time.

    Args:
        plan: With times.
        begun_unix_ns: When the campaign began: `every` counts from then on.
        seed: Of the campaign; `jitter` is drawn from it, the sweep and the number.
        after: By sweep, the last number that is left out.

    Returns:
        Without end, where the plan has none.
    """
    after = after or {}
    ends_unix_ns = end_of(plan.campaign, begun_unix_ns)
    names = list(dict.fromkeys(sweep.plain_name for sweep in plan.sweeps))
    sweeps = {sweep.name: sweep for sweep in plan.sweeps}

    def turn(occasion: Occasion) -> tuple[int, int, bool]:
        sweep = sweeps[occasion.sweep]
        place = names.index(sweep.plain_name)
        if sweep.setting is None:
            return occasion.due_unix_ns, place, False
        a_is_first = _drawn(f"{seed}/{sweep.plain_name}/{occasion.number}/first") < 0.5
        return occasion.due_unix_ns, place, (sweep.setting == "A") != a_is_first

    return heapq.merge(
        *(
            _of_sweep(sweep, sweep.timing, begun_unix_ns, ends_unix_ns, seed, after.get(sweep.name, 0))
            for sweep in plan.sweeps
            if sweep.timing is not None
        ),
        key=turn,
    )


def surely_before(timing: Timing, begun_unix_ns: int, unix_ns: int) -> int:
    """A number up to which all times of a sweep were due before a moment: the last one, or a smaller one.

    So that whoever asks for what comes then need not count from the beginning.
    """
    if timing.every_ns is None or not is_even(timing):
        return count_before(timing, begun_unix_ns, unix_ns - timing.jitter_ns)
    return max(0, (unix_ns - begun_unix_ns - timing.jitter_ns) // timing.every_ns)


def end_of(campaign: Campaign, begun_unix_ns: int) -> int | None:
    """Nothing is due from this moment on, in Unix nanoseconds; None if the plan has no end."""
    if campaign.until is not None:
        return _unix_ns(campaign.until)
    return None if campaign.for_ns is None else begun_unix_ns + campaign.for_ns


def times_until_end(campaign: Campaign, sweep: Sweep, begun_unix_ns: int) -> int | None:
    """How often a sweep is due, of a campaign that began at a moment; None if it has no end."""
    if sweep.timing is None:
        return 1
    ends_unix_ns = end_of(campaign, begun_unix_ns)
    if ends_unix_ns is None:
        return None
    if sweep.timing.every_ns is None or not is_even(sweep.timing):
        return count_before(sweep.timing, begun_unix_ns, ends_unix_ns)
    return max(0, -((begun_unix_ns - ends_unix_ns) // sweep.timing.every_ns))


def _of_sweep(
    sweep: Sweep, timing: Timing, begun_unix_ns: int, ends_unix_ns: int | None, seed: int, after: int
) -> Iterator[Occasion]:
    number, times = _times(timing, begun_unix_ns, after)
    at_ns = next(times, None)
    while at_ns is not None and (ends_unix_ns is None or at_ns < ends_unix_ns):
        number += 1
        next_ns = next(times, None)
        if number > after:
            due_ns = at_ns
            if timing.jitter_ns:
                due_ns += round(_drawn(f"{seed}/{sweep.plain_name}/{number}") * timing.jitter_ns)
            latest_ns = due_ns + timing.slip_ns
            if next_ns is not None:
                latest_ns = min(latest_ns, max(due_ns, next_ns - 1))
            yield Occasion(sweep.name, number, due_ns, latest_ns)
        at_ns = next_ns


def _times(timing: Timing, begun_unix_ns: int, after: int) -> tuple[int, Iterator[int]]:
    """When a sweep is due, before jitter, in Unix nanoseconds that rise; and how many times are left out.

    These are among the first `after`, and most of them.
    """
    if timing.every_ns is not None and is_even(timing):
        return after, count(begun_unix_ns + after * timing.every_ns, timing.every_ns)
    place = place_after(timing, begun_unix_ns, after)
    return place.number, times_from(timing, begun_unix_ns, place)


def _drawn(what: str) -> float:
    """A number from 0 to below 1."""
    return random.Random(what).random()


def _unix_ns(moment: datetime) -> int:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * DAY_S + since.seconds) * SECOND_NS + since.microseconds * MICROSECOND_NS
