"""Distributions: a step for each value, as high as the share of all that are not above it."""

from typing import Any

from figures_support import figures, known, of_kind
from flowsweep.figures.drawing import FigureData, ecdf_steps
from flowsweep.figures.tests.rtt.round_trips import drawn_round_trips
from report_support import MIB, make_row, make_rows

ONE_WAY = (("starlight", "sara"),)


def test_values_that_are_alike_are_one_step():
    assert ecdf_steps([0, 0, 0, 5], 4, 100) == [(0, 75.0), (5, 100.0)]
    assert ecdf_steps([1.0] * 30, 30, 100) == [(1.0, 100.0)]
    assert ecdf_steps([2, 2, 3], 4, 100) == [(2, 50.0), (3, 75.0)]
    assert ecdf_steps([], 3, 100) == []


def test_quantiles_are_taken_only_of_more_values_than_are_drawn():
    many = [0.0] * 500 + [float(value) for value in range(1, 501)]
    steps = ecdf_steps(many, 1000, 100)
    assert len(steps) <= 100
    assert (steps[0], steps[-1]) == ((0.0, 50.0), (500.0, 100.0))
    assert all(share == 50 + value / 10 for value, share in steps)
    few = sorted([1.0, 2.0, 3.0] * 400)
    assert [share for _, share in ecdf_steps(few, 1200, 100)] == [33.33, 66.67, 100.0]


def test_each_curve_rises_from_zero_and_says_so_of_no_point():
    goodputs = (0.0, 0.0, 0.0, 5e9, 5e9)
    rows = make_rows(flows=(1,), window_sums=(MIB,), directions=ONE_WAY, repeats=5, change=known)
    rows = [row | {"goodput_bps": goodputs[row["repeat"] - 1]} for row in rows]
    (one,) = [one for one in of_kind(figures(rows), "ecdf") if one.title.endswith("over trials")]
    foot, curve = one.figure.data
    assert (list(foot.x), list(foot.y), foot.hoverinfo, foot.hovertemplate) == ([0, 0], [0, 60], "skip", None)
    assert (foot.showlegend, foot.legendgroup) == (False, curve.legendgroup)
    assert (list(curve.x), list(curve.y)) == ([0, 5], [60, 100])
    assert [(row["goodput_bps"], row["share_of_trials_percent"]) for row in one.rows] == [
        (0.0, 60.0), (5e9, 100.0),
    ]  # fmt: skip


def test_quantiles_are_told_of_where_curves_have_more_values_than_steps():
    rows = make_rows(flows=(1,), window_sums=(MIB,), directions=ONE_WAY, repeats=1, change=known)

    def over_intervals(distinct: int):
        intervals = [
            {"trial_id": row["trial_id"], "bin": at, "goodput_bps": 1e9 + at % distinct}
            for row in rows for at in range(300)
        ]  # fmt: skip
        return of_kind(figures(rows, intervals=intervals), "ecdf")[0]

    assert over_intervals(300).caption.endswith(" At most 100 quantiles of a curve are drawn.")
    assert "quantiles" not in over_intervals(20).caption
    assert len(over_intervals(20).rows) == 20


def test_probes_that_took_equally_long_are_one_step_that_is_seen():
    trial = make_row(test="rtt", mode=None, echo="udp", trial_id="r", goodput_bps=None)
    echoes: list[Any] = [
        {"trial_id": "r", "phase": "all", "sent_ns": at, "rtt_ns": None if at == 4 else 2_000_000}
        for at in range(5)
    ]
    _, one = drawn_round_trips(FigureData(trials=[trial], cells=(), echoes=echoes))
    foot, curve = one.figure.data
    assert (list(curve.x), list(curve.y)) == ([2], [80])
    assert (list(foot.x), list(foot.y), foot.hoverinfo) == ([2, 2], [0, 80], "skip")
    assert one.rows == ({"series": curve.name, "rtt_ms": 2, "share_of_probes_percent": 80},)
