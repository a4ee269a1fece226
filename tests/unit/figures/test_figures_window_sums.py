"""One sum of windows is one, also where some numbers of flows do not divide it."""

import pytest

from figures_support import figures, intervals_of, known, of_kind
from report_support import make_rows

ONE_WAY = (("starlight", "sara"),)
SUMS = (32_000_000, 64_000_000)


def undivided(row: dict) -> dict:
    """What came of the sum that was asked for: 10666666 bytes for each of three flows are 31999998."""
    return known(row) | {"window_sum_bytes": row["window_sum_asked_bytes"] // row["flows"] * row["flows"]}


@pytest.fixture(scope="module")
def rows() -> list:
    return make_rows(flows=(1, 3, 7), window_sums=SUMS, directions=ONE_WAY, repeats=3, change=undivided)


@pytest.mark.parametrize("kind", ["ecdf", "time_series", "cpu"])
def test_each_sum_that_was_asked_for_has_one_colour(rows, kind):
    assert len({row["window_sum_bytes"] for row in rows}) == 5
    drawn = of_kind(figures(rows, intervals=intervals_of(rows)), kind)[-1]
    assert [trace.name for trace in drawn.figure.data if trace.showlegend is not False] == ["32 MB", "64 MB"]


def test_what_differs_in_flows_alone_does_not_differ_in_the_sum(rows):
    over_intervals = of_kind(figures(rows, intervals=intervals_of(rows)), "ecdf")[0]
    assert "Trials that differ in flows are put together." in over_intervals.caption
    same = [row for row in rows if row["window_sum_asked_bytes"] == SUMS[0]]
    [series] = of_kind(figures(same), "time_series")
    assert not any("window sum" in text for trace in series.figure.data for text in trace.text)


def test_data_have_the_sum_that_each_trial_had(rows):
    [series] = of_kind(figures(rows), "time_series")
    assert [row["window_sum_bytes"] for row in series.rows] == [row["window_sum_bytes"] for row in rows]
