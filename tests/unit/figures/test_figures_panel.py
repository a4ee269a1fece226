"""Panels: how a sweep is split into figures."""

import pytest

from flowsweep.figures.grid.panel import panels
from report_support import KIB, LENGTHS, MIB, make_cells, make_row, make_rows


def test_the_grid_of_seed_000_gives_a_plane_for_each_direction_and_length():
    drawn = panels(make_cells(make_rows(lengths=LENGTHS)))
    assert len(drawn) == 16
    assert {(panel.x.column, panel.y.column) for panel in drawn} == {("window_sum_asked_bytes", "flows")}
    assert [panel.title for panel in drawn[:3]] == [
        "starlight → sara · length 2 KB",
        "sara → starlight · length 2 KB",
        "starlight → sara · length 4 KB",
    ]
    assert {len(panel.rows) for panel in drawn} == {30}


def test_sweeps_keep_the_order_of_the_rows():
    rows = make_rows(sweep="second") + make_rows(sweep="first")
    assert [panel.sweep for panel in panels(make_cells(rows))] == ["second", "second", "first", "first"]


def test_windows_asked_per_flow_are_the_axis_where_sums_would_leave_holes():
    rows = [
        make_row(
            flows=flows, window_bytes=window, window_send_bytes=window, window_recv_bytes=window,
            window_sum_bytes=window * flows, window_sum_asked_bytes=window * flows,
        )
        for flows in (1, 2, 4)
        for window in (64 * KIB, 128 * KIB, 256 * KIB)
    ]  # fmt: skip
    (panel,) = panels(make_cells(rows))
    assert (panel.x.column, panel.y.column) == ("window_bytes", "flows")


@pytest.mark.parametrize(
    ("rate_bps", "told_apart"),
    [(lambda total, flows: total // flows, "rate_sum_bps"), (lambda total, _: total, "rate_bps")],
    ids=["of all flows", "of each flow"],
)
def test_of_two_rates_that_follow_from_each_other_the_one_that_was_set_is_an_axis(rate_bps, told_apart):
    rows = []
    for flows in (1, 2, 4):
        for total in (50_000_000, 500_000_000):
            rate = rate_bps(total, flows)
            rows.append(
                make_row(
                    test="udp", mode=None, flows=flows, rate_bps=rate, rate_sum_bps=float(rate * flows),
                    trial_id=f"{flows}-{total}",
                )
            )  # fmt: skip
    (panel,) = panels([cell | row for cell, row in zip(make_cells(rows), rows, strict=True)])
    assert (panel.x.column, panel.y) == ("flows", None)
    assert panel.series is not None
    assert panel.series.column == told_apart
    assert panel.of_datagrams


def test_a_send_window_alone_is_an_axis():
    rows = [
        make_row(
            flows=flows, window_bytes=None, window_sum_bytes=None, window_sum_asked_bytes=None,
            window_send_bytes=window, window_recv_bytes=2 * MIB, trial_id=f"{flows}-{window}",
        )
        for flows in (1, 2)
        for window in (64 * KIB, 128 * KIB)
    ]  # fmt: skip
    (panel,) = panels(make_cells(rows))
    assert (panel.x.column, panel.y.column) == ("window_send_bytes", "flows")


def test_lists_of_windows_at_both_ends_are_not_mixed():
    rows = [
        make_row(
            flows=flows, window_bytes=None, window_sum_bytes=None, window_sum_asked_bytes=None,
            window_send_bytes=send, window_recv_bytes=recv, trial_id=f"{flows}-{send}-{recv}",
        )
        for flows in (1, 2)
        for send in (64 * KIB, 128 * KIB)
        for recv in (1 * MIB, 2 * MIB)
    ]  # fmt: skip
    drawn = panels(make_cells(rows))
    assert [panel.title for panel in drawn] == [
        "starlight → sara · receive window per flow 1 MiB",
        "starlight → sara · receive window per flow 2 MiB",
    ]
    assert {len(panel.rows) for panel in drawn} == {4}


@pytest.mark.parametrize(
    ("column", "values", "titles"),
    [
        ("congestion_asked", ("cubic", "bbr"), ["congestion control bbr", "congestion control cubic"]),
        ("congestion_asked", (None, "cubic"), ["congestion control not set", "congestion control cubic"]),
        ("duration_s", (10.0, 30.0), ["duration 10 s", "duration 30 s"]),
        ("rate_bps", (None, 100_000_000),
         ["application rate per flow not set", "application rate per flow 100 Mbit/s"]),
        ("mss_bytes", (536, 1448), ["MSS 536 B", "MSS 1448 B"]),
        ("affinity", ([], [0, 1]), ["CPUs any", "CPUs 0+1"]),
        ("no_delay", (False, True), ["no delay off", "no delay on"]),
    ],
)  # fmt: skip
def test_whatever_else_varies_makes_further_panels(column, values, titles):
    rows = [
        row
        for value in values
        for row in make_rows(
            directions=[("starlight", "sara")],
            change=lambda row, value=value: row | {column: value, "trial_id": f"{row['trial_id']} {value}"},
        )
    ]
    assert [panel.title for panel in panels(make_cells(rows))] == [
        f"starlight → sara · {title}" for title in titles
    ]


def test_both_directions_at_once_are_told_apart():
    rows = make_rows(directions=[("a", "b")], change=lambda row: row | {"simultaneous": True})
    assert [panel.title for panel in panels(make_cells(rows))] == ["a ⇄ b"]


def test_no_trials_give_no_panels():
    assert panels([]) == ()
