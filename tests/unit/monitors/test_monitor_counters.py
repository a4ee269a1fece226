"""Counters that wrap or begin anew, and polls that gave nothing: a gap, never a spike."""

import pytest

from flowsweep.analysis.monitors.series import courses, silences
from flowsweep.monitors.quantities import increase
from flowsweep.monitors.reading import Poll, monitors_table

SECOND_US = 1_000_000


def polls(*told: dict[str, int] | str | None) -> list[Poll]:
    """A poll every 10 s: values by quantity, of the interface et0 or of the agent; or why there are none."""
    found = []
    for number, one in enumerate(told):
        at_us = (100 + 10 * number) * SECOND_US
        if isinstance(one, str):
            found.append(Poll("core", at_us, 1000, silent=one))
        elif one is not None:
            of_agent = {"uptime_cs": one.pop("uptime_cs", 1000 * (number + 1))}
            values = [("", name, value) for name, value in of_agent.items()]
            values += [("et0", name, value) for name, value in one.items()]
            found.append(Poll("core", at_us, 1000, tuple(values)))
    return found


def rises(counter: str, *told: dict[str, int] | str | None) -> list[tuple[int, int, float]]:
    course = courses(monitors_table(polls(*told)))["core", "et0", counter]
    begins, ends = (course.begins_us // SECOND_US, course.ends_us // SECOND_US)
    return list(zip(begins.tolist(), ends.tolist(), course.rises.tolist(), strict=True))


@pytest.mark.parametrize(
    ("before", "after", "bits", "rise"),
    [
        (5, 9, 64, 4),
        (5, 5, 32, 0),
        ((1 << 32) - 10, 5, 32, 15),
        ((1 << 64) - 1, 0, 64, 1),
        (3_000_000_000, 2_900_000_000, 32, None),
        (1000, 10, 32, None),
        (1 << 40, 0, 64, None),
    ],
)
def test_a_counter_that_wraps_is_no_counter_that_was_reset(
    before: int, after: int, bits: int, rise: int | None
) -> None:
    assert increase(before, after, bits) == rise


def test_a_rise_is_between_two_polls() -> None:
    told = [{"in_bytes": 100}, {"in_bytes": 350}, {"in_bytes": 350}]
    assert rises("in_bytes", *told) == [(100, 110, 250), (110, 120, 0)]


def test_an_agent_that_restarted_leaves_a_gap() -> None:
    told = [
        {"in_bytes": 100, "uptime_cs": 900_000},
        {"in_bytes": 7_000_000, "uptime_cs": 200},
        {"in_bytes": 7_000_050, "uptime_cs": 1200},
    ]
    assert rises("in_bytes", *told) == [(110, 120, 50)]


def test_an_interface_that_began_anew_leaves_a_gap() -> None:
    told = [{"in_bytes": 100 * number, "discontinuity_cs": 7 * (number > 1)} for number in range(4)]
    assert rises("in_bytes", *told) == [(100, 110, 100), (120, 130, 100)]


def test_a_counter_that_went_back_leaves_a_gap() -> None:
    told = [{"in_bytes": value} for value in (5000, 6000, 10, 20)]
    assert rises("in_bytes", *told) == [(100, 110, 1000), (120, 130, 10)]


def test_small_counters_wrap() -> None:
    told = [{"in_errors": value} for value in ((1 << 32) - 3, 2)]
    assert rises("in_errors", *told) == [(100, 110, 5)]


def test_nothing_is_counted_over_a_silence() -> None:
    told = [{"in_bytes": 0}, "no answer", {"in_bytes": 900}, {"in_bytes": 1000}]
    assert rises("in_bytes", *told) == [(120, 130, 100)]


def test_silence_has_its_reason_and_its_time() -> None:
    table = monitors_table(polls({"in_bytes": 0}, "no answer", "refused", {"in_bytes": 9}, "no answer"))
    found = silences(table)["core"]
    assert [(one.begin_us // SECOND_US, one.end_us // SECOND_US, one.reason, one.polls) for one in found] == [
        (110, 120, "no answer", 2),
        (140, 140, "no answer", 1),
    ]


def test_polls_around_a_time() -> None:
    told = [{"in_bytes": 100 * number} for number in range(4)] + ["no answer", {"in_bytes": 0}]
    course = courses(monitors_table(polls(*told)))["core", "et0", "in_bytes"]
    spans = ((101, 109), (100, 110), (105, 125), (95, 105), (125, 135))
    found = [course.over(begin * SECOND_US, end * SECOND_US) for begin, end in spans]
    times = [None if one is None else (one[0] // SECOND_US, one[1] // SECOND_US, one[2]) for one in found]
    assert times == [(100, 110, 100), (100, 110, 100), (100, 130, 300), None, None]
