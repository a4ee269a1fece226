"""Figures of datagrams: what came against what was asked for, and how evenly."""

from dataclasses import replace

import pytest

from analysis_support import SECOND_NS, Row
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from figures_support import of_kind
from flowsweep.analysis import cells, points, spacing_steps
from flowsweep.archive import tables_of
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.tests.udp.offered import drawn_offered
from summary_support import summary_table

LOSSES = {8_000_000: 0, 16_000_000: 0, 32_000_000: 400}
"""Lost of a thousand, by the rate of all flows."""


def outcomes():
    for flows in (1, 2):
        for rate_sum, lost in LOSSES.items():
            sent = rate_sum // flows // 8_000
            stream = Stream(sent=sent, lost=sent * lost // 1000, jitter_ns=10_000 * flows)
            gap_ns = SECOND_NS // sent
            yield make_udp_outcome(
                make_udp_trial(flows=flows, rate_bps=rate_sum // flows, rate_sum_bps=rate_sum),
                [stream] * flows,
                delays=[(0, 1_000, 90), (2_000_000, 2_000_001, 10)],
                spacings=[
                    (role, gap_ns + late, gap_ns + late + 1, 10)
                    for role in ("source", "sink")
                    for late in (0, 5_000)
                ],
            )


@pytest.fixture(scope="module")
def data() -> FigureData:
    tables = tables_of(list(outcomes()))
    told = summary_table(tables)
    rows: list[Row] = told.to_pyarrow().to_pylist()
    grid = cells(points(told, tables.trials)).to_pyarrow().to_pylist()
    gaps = spacing_steps(tables.histograms).to_pyarrow().to_pylist()
    return FigureData(rows, grid, spacings=gaps)


@pytest.fixture(scope="module")
def drawn(data) -> list[Drawn]:
    return drawn_figures(data)


def test_goodput_and_loss_are_drawn_over_the_rate(drawn):
    (one,) = of_kind(drawn, "offered")
    medians = [trace for trace in one.figure.data if trace.mode == "lines+markers"]
    assert [(trace.name, trace.yaxis) for trace in medians] == [
        ("1 flow", "y"), ("2 flows", "y"), ("1 flow", "y2"), ("2 flows", "y2")
    ]  # fmt: skip
    assert list(medians[0].x) == [8.0, 16.0, 32.0]
    assert list(medians[0].y) == pytest.approx([8.0, 16.0, 19.2])
    assert list(medians[2].y) == pytest.approx([0.0, 0.0, 40.0])
    assert "Mbit/s" in one.figure.layout.xaxis.title.text
    assert one.figure.layout.yaxis2.title.text == "loss, %"


def test_what_is_drawn_is_also_a_table(drawn):
    (one,) = of_kind(drawn, "offered")
    assert len(one.rows) == 6
    assert one.rows[2]["loss"] == pytest.approx(0.4)
    assert one.rows[2]["rate_sum_bps"] == 32e6


def test_rates_are_traces_of_one_figure_and_windows_no_axis(drawn):
    (line,) = of_kind(drawn, "line")
    assert [trace.name for trace in line.figure.data if trace.mode == "lines+markers"] == [
        "rate of all flows 8.00 Mbit/s", "rate of all flows 16.0 Mbit/s", "rate of all flows 32.0 Mbit/s",
    ]  # fmt: skip
    assert not {"product", "per_flow", "repeats"} & {one.key.kind for one in drawn}


def test_jitter_and_delay_variation_are_drawn_over_the_rate(drawn):
    (one,) = of_kind(drawn, "jitter")
    medians = [trace for trace in one.figure.data if trace.mode == "lines+markers"]
    assert [list(trace.y) for trace in medians] == [[0.01] * 3, [0.02] * 3, [2.0] * 3, [2.0] * 3]


def test_gaps_are_drawn_for_both_ends(drawn):
    one, two = of_kind(drawn, "spacing")
    assert ["2 flows" in figure.title for figure in (one, two)] == [False, True]
    names = [trace.name for trace in one.figure.data]
    assert names == [
        f"{rate} Mbit/s, {word}" for rate in ("8.00", "16.0", "32.0") for word in ("sent", "received")
    ]
    first = one.figure.data[0]
    assert (list(first.x), list(first.y)) == ([1000.0, 1005.0], [50.0, 100.0])


def test_a_trial_without_datagrams_has_no_such_figures():
    assert not {"offered", "jitter", "spacing"} & {one.key.kind for one in drawn_figures(FigureData([], []))}


def test_goodput_is_the_mean_as_loss_is_and_the_medians_where_there_is_none(data):
    half = [
        row | {"goodput_mean_bps": row["goodput_bps"] / 2 if row["flows"] == 1 else None}
        for row in data.trials
    ]
    one = drawn_offered(replace(data, trials=half))[0]
    first, second = (
        trace for trace in one.figure.data if trace.mode == "lines+markers" and trace.yaxis == "y"
    )
    assert list(first.y) == pytest.approx([4.0, 8.0, 9.6])
    assert list(second.y) == pytest.approx([8.0, 16.0, 19.2])
    assert "mean over the trial" in one.caption
