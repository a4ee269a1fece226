"""Times of a sweep are counted by days as if each of them were walked through, summer and winter."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.campaign import Timing
from flowsweep.schedule.due_times import count_before, place_after, times_from

DAY_NS = 24 * 3600 * SECOND_NS
MINUTES = st.integers(0, 24 * 60 - 1)
ZONES = st.sampled_from(
    ["UTC", "Europe/Vienna", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Africa/Casablanca"]
)
BEGUN = st.integers(1_200_000_000 * 10**9, 1_800_000_000 * 10**9)


def walked(timing: Timing, begun_ns: int) -> Iterator[int]:
    """Each time, looked at by itself."""
    zone = ZoneInfo(timing.timezone)
    if timing.between_minutes is None or timing.every_ns is None:
        day, last_ns = datetime.fromtimestamp(begun_ns // SECOND_NS, zone).date(), begun_ns - 1
        while True:
            for at_ns in sorted({shown_ns(day, minute, zone) for minute in timing.at_minutes}):
                if at_ns > last_ns:
                    last_ns = at_ns
                    yield at_ns
            day += timedelta(days=1)
    at_ns = last_ns = begun_ns
    first, last = timing.between_minutes
    while at_ns - last_ns <= 400 * DAY_NS:
        local = datetime.fromtimestamp(at_ns // SECOND_NS, zone)
        if (60 * local.hour + local.minute - first) % 1440 < (last - first) % 1440:
            yield at_ns
            last_ns = at_ns
        at_ns += timing.every_ns


def shown_ns(day: date, minute: int, zone: ZoneInfo) -> int:
    moment = datetime.combine(day, time(minute // 60, minute % 60), tzinfo=zone).astimezone(UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) * SECOND_NS


def parts_of_days(every_s: int, between: tuple[int, int], zone: str = "UTC", nanoseconds: int = 0) -> Timing:
    every_ns = every_s * SECOND_NS + nanoseconds
    return Timing(every_ns=every_ns, between_minutes=between, timezone=zone, slip_ns=0)


def times_of_days(minutes: tuple[int, ...], zone: str = "UTC") -> Timing:
    return Timing(at_minutes=minutes, timezone=zone, slip_ns=0)


TIMINGS = st.one_of(
    st.builds(
        parts_of_days, st.integers(900, 10_000), st.tuples(MINUTES, MINUTES), ZONES, st.sampled_from([0, 1])
    ),
    # Of some, nothing is due for months, or never again.
    st.builds(
        parts_of_days,
        st.sampled_from([3600, 86_400, 7 * 86_400, 150 * 86_400, 250 * 86_400, 401 * 86_400]),
        st.tuples(MINUTES, MINUTES),
        ZONES,
    ),
    st.builds(
        times_of_days,
        st.lists(MINUTES, min_size=1, max_size=6, unique=True).map(lambda found: tuple(sorted(found))),
        ZONES,
    ),
)


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp()) * SECOND_NS


@pytest.mark.long
@settings(max_examples=80, deadline=None)
@given(timing=TIMINGS, begun_ns=BEGUN, days=st.integers(0, 900), late_ns=st.integers(-1, 1))
@example(times_of_days((0, 150, 1439), "Pacific/Apia"), at("2011-11-20T00:00:00+00:00"), 50, 0)
@example(times_of_days((150, 165, 195, 210), "Europe/Vienna"), at("2027-03-28T00:00:00+00:00"), 40, 0)
@example(parts_of_days(86_400, (720, 780), "Europe/Vienna"), at("2027-01-01T10:30:00+00:00"), 800, 0)
@example(parts_of_days(250 * 86_400, (0, 1), "Europe/Vienna"), at("2027-01-01T10:30:00+00:00"), 900, 0)
@example(parts_of_days(1_800, (120, 180), "Europe/Vienna"), at("2026-10-20T00:00:07+00:00"), 20, 0)
def test_counts_and_places_are_those_of_a_walk(
    timing: Timing, begun_ns: int, days: int, late_ns: int
) -> None:
    until_ns = begun_ns + days * DAY_NS
    before = list(takewhile(lambda at_ns: at_ns < until_ns, walked(timing, begun_ns)))
    assert count_before(timing, begun_ns, until_ns) == len(before)
    for number in {len(before), max(0, len(before) - 2), len(before) // 2, 0}:
        place = place_after(timing, begun_ns, number)
        assert place.number <= number
        found = list(islice(times_from(timing, begun_ns, place), number - place.number + 30))
        expected = list(islice(walked(timing, begun_ns), number + 30))
        assert found == expected[place.number :]
    if before:
        moment_ns = before[-1] + late_ns
        assert count_before(timing, begun_ns, moment_ns) == sum(one < moment_ns for one in before)
