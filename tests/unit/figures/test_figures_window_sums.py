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


def test_what_a_gb_takes_of_the_cpu_is_drawn_against_flows_at_equal_window_sum():
    """Thirty flows take a third more than one, whatever the sum; the receiver twice as much as the sender."""

    def with_cost(row: dict) -> dict:
        cost = (0.5 if row["window_sum_asked_bytes"] == SUMS[0] else 0.4) * (1 + (row["flows"] - 1) / 87)
        return undivided(row) | {"cpu_send_s_per_gb": cost, "cpu_recv_s_per_gb": 2 * cost}

    rows = make_rows(flows=(1, 2, 7, 30), window_sums=SUMS, directions=ONE_WAY, change=with_cost)
    *others, cost = of_kind(figures(rows), "cpu")
    assert len(others) == 2
    assert cost.title.endswith("for each GB, against flows")
    assert "at equal window sum." in cost.caption
    heights = {(trace.name, trace.yaxis): list(trace.y) for trace in cost.figure.data}
    assert {key: (ys[0], ys[-1], len(ys)) for key, ys in heights.items()} == {
        ("32 MB", "y"): (0.5, 0.6667, 4), ("32 MB", "y2"): (1.0, 1.333, 4),
        ("64 MB", "y"): (0.4, 0.5333, 4), ("64 MB", "y2"): (0.8, 1.067, 4),
    }  # fmt: skip
    assert cost.figure.layout.yaxis.title.text == "CPU time, s/GB"
    assert "sender 0.500 s/GB" in cost.figure.data[0].text[0]
    assert {"cpu_send_s_per_gb", "cpu_recv_s_per_gb", "flows"} <= set(cost.rows[0])


def test_without_its_cost_or_of_one_number_of_flows_no_cpu_time_is_drawn(rows):
    assert len(of_kind(figures(rows), "cpu")) == 2
    cost = {"cpu_send_s_per_gb": 0.5, "cpu_recv_s_per_gb": None}
    one_flow = [row | cost for row in rows if row["flows"] == 1]
    assert len(of_kind(figures(one_flow), "cpu")) == 1
    of_sender = of_kind(figures([row | cost for row in rows]), "cpu")[-1]
    assert {trace.yaxis for trace in of_sender.figure.data if trace.y} == {"y"}


def test_where_no_window_sum_has_several_numbers_of_flows_they_are_compared_otherwise():
    """As of a plan that has `window`: each number of flows has a sum of its own."""

    def of_one_window(row: dict) -> dict:
        return row | {
            "window_sum_bytes": (1 << 18) * row["flows"], "window_bytes": 1 << 18,
            "window_send_bytes": 1 << 18, "window_recv_bytes": 1 << 18,
            "cpu_send_s_per_gb": 0.5, "cpu_recv_s_per_gb": 1.0,
        }  # fmt: skip

    rows = make_rows(flows=(1, 4, 16), window_sums=SUMS[:1], directions=ONE_WAY, change=of_one_window)
    *_, cost = of_kind(figures(rows), "cpu")
    assert [len(trace.y) for trace in cost.figure.data] == [3, 3]
    assert "equal window sum" not in cost.caption


def test_trials_of_unlike_settings_that_share_a_median_are_named():
    def of_lengths(row: dict) -> dict:
        cost = 0.5 if row["repeat"] % 2 else 1.5
        return row | {"length_bytes": 2000 if row["repeat"] % 2 else 1 << 18,
                      "cpu_send_s_per_gb": cost, "cpu_recv_s_per_gb": cost}  # fmt: skip

    rows = make_rows(flows=(1, 2), window_sums=SUMS, directions=ONE_WAY, change=of_lengths)
    *_, cost = of_kind(figures(rows), "cpu")
    assert cost.caption.endswith("at equal window sum; trials that differ in length are taken together.")
