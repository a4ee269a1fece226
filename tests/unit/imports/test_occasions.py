"""Repeats of imported tests are blocks of one occasion: days are not mixed up with what was varied."""

from datetime import datetime, timedelta

import pytest

from flowsweep.imports.outcome import Numbering
from flowsweep.occasions import Occasions
from imported_campaigns import DAY, POINT, every, repeats, simpson


@pytest.mark.parametrize(
    ("starts", "occasions"),
    [
        (every(10, 6), [0] * 6),
        ([*every(10, 3), *every(10, 3, DAY + timedelta(days=1))], [0, 0, 0, 1, 1, 1]),
        ([*every(10, 3), *every(10, 3, DAY + timedelta(hours=5))], [0, 0, 0, 1, 1, 1]),
        # Three minutes are no pause, and an hour is none between tests of every hour.
        ([*every(10, 3), *every(10, 3, DAY + timedelta(minutes=4))], [0] * 6),
        (every(3600, 6), [0] * 6),
        # One test a day leaves nothing to compare within a day.
        (every(86400, 6), [0] * 6),
        ([None, DAY], [None, 0]),
    ],
)
def test_occasions(starts: list[datetime | None], occasions: list[int | None]) -> None:
    told = Occasions(starts)
    assert [told.of(start) for start in starts] == occasions


def test_repeats_of_one_sitting_are_counted_as_ever() -> None:
    times = every(10, 6)
    assert repeats(list(zip([1, 2, 3, 1, 2, 3], times, strict=True))) == [1, 1, 1, 2, 2, 2]
    assert repeats([(1, None), (2, None), (1, None)]) == [1, 1, 2]


def test_no_repeat_reaches_over_two_days() -> None:
    first, second = every(10, 4), every(10, 4, DAY + timedelta(days=1))
    tests = [*zip([1, 1, 1, 2], first, strict=True), *zip([1, 2, 2, 2], second, strict=True)]
    assert repeats(tests) == [1, 2, 3, 1, 4, 4, 5, 6]


def test_trials_that_an_archive_has_keep_their_repeats_and_others_join_their_day() -> None:
    times = every(10, 4)
    numbering = Numbering((), times)
    point = POINT | {"window_send_bytes": 1}
    assert [numbering.next_repeat(point, time) for time in times[:2]] == [1, 2]
    assert numbering.next_repeat(POINT | {"window_send_bytes": 2}, times[3]) == 1


def test_simpsons_case_is_not_reversed() -> None:
    """With a count for a repeat, windows were compared between days: it fell where it rises by 10 %."""
    told = [simpson(seed, blocked=True) for seed in range(10)]
    assert all(one.effect is not None and one.effect > 0 for one in told)
    assert sum(one.decision == "effect" for one in told) >= 9
    inside = [
        one.interval_low < 10 < one.interval_high for one in told if one.interval_low and one.interval_high
    ]
    assert sum(inside) >= 8
    assert sum((simpson(seed, blocked=False).effect or 0) < 0 for seed in range(10)) >= 9
