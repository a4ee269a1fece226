"""For which share of its time a trial stood still, by its exact intervals."""

import pytest

from analysis_support import SECOND_NS, make_failed, make_trial
from flowsweep.defaults import STALLED_SHARE
from summary_support import summed, uneven


@pytest.mark.parametrize(
    ("counts", "stalled"),
    [
        ([100] * 26, 0),
        ([100] * 25 + [0], 1),
        ([100, 0, 110, 49, 90, 100, 100, 100], 2),
        ([100, 100, 51, 100], 0),
        ([100, 100, 50, 100], 0),
        ([101, 101, 50, 101], 1),
        ([100, 0, 0, 0], 3),
    ],
)
def test_an_interval_below_half_of_the_median_or_without_a_byte_has_stalled(
    counts: list[int], stalled: int
) -> None:
    assert STALLED_SHARE == 0.5
    [row] = summed(uneven(counts, flows=2))
    assert row["stalled_share"] == stalled / len(counts)


@pytest.mark.parametrize(
    ("counts", "stalled"),
    [([30, 100, 100, 100], 0), ([1, 40, 100, 0, 100, 100, 100], 1), ([0, 0, 0, 100], 0), ([0, 0, 0, 0], 0)],
)
def test_a_slow_beginning_is_no_stall(counts: list[int], stalled: int) -> None:
    [row] = summed(uneven(counts))
    assert row["stalled_share"] == stalled / len(counts)


def test_what_is_omitted_and_what_comes_after_is_no_stall() -> None:
    [row] = summed(uneven([0, 1, 9, 9, 9], omit_ns=2 * SECOND_NS))
    assert row["stalled_share"] == 0.0
    [row] = summed(uneven([9, 9, 9, 0], duration_ns=3 * SECOND_NS))
    assert row["stalled_share"] == 0.0


def test_where_no_interval_tells_it_is_not_known() -> None:
    [row] = summed(make_failed(make_trial()))
    assert row["stalled_share"] is None
    [row] = summed(uneven([5, 0], duration_ns=4 * SECOND_NS))
    assert (row["goodput_bps"], row["stalled_share"]) == (None, None)
