"""Modes are never mixed in a figure; hosts that take part are told apart where flows do not do it."""

from flowsweep.figures.grid.panel import panels
from flowsweep.report.headline import highest_goodputs
from report_support import make_cells, make_rows

ONE_WAY = (("starlight", "sara"),)


def rows(**changes):
    grid = make_rows(flows=(1, 2), window_sums=(1 << 20, 1 << 21), directions=ONE_WAY, repeats=1)
    return [row | changes | {"trial_id": f"{row['trial_id']}{changes}"} for row in grid]


def test_each_mode_has_panels_of_its_own_that_say_so():
    trials = [*rows(mode="copy"), *rows(mode="zerocopy", goodput_bps=5e10), *rows(mode="discard")]
    found = panels(make_cells(trials))
    assert [panel.title for panel in found] == [
        "starlight → sara · mode copy",
        "starlight → sara · mode zerocopy: the source's memory plays no part",
        "starlight → sara · mode discard: the memory of both ends plays no part",
    ]
    assert [len({row["mode"] for row in panel.rows}) for panel in found] == [1, 1, 1]
    assert found[1].top_bps == 5e10
    assert found[0].top_bps < 5e10


def test_a_line_has_one_mode_too():
    trials = [row for mode in ("copy", "zerocopy") for row in rows(mode=mode) if row["flows"] == 1]
    found = panels(make_cells(trials))
    assert [panel.y for panel in found] == [None, None]
    assert [{row["mode"] for row in panel.rows} for panel in found] == [{"copy"}, {"zerocopy"}]


def test_a_sweep_of_another_mode_alone_says_so():
    (panel,) = panels(make_cells(rows(mode="zerocopy")))
    assert "zerocopy" in panel.title


def test_the_highest_goodput_is_that_of_one_mode():
    found = highest_goodputs(
        [*rows(mode="copy"), *rows(mode="zerocopy", goodput_bps=5e10, goodput_mean_bps=5e10)]
    )
    assert [(highest.direction, highest.number) for highest in found[1:]] == [
        ("starlight → sara, zerocopy", "50.0")
    ]
    assert found[0].direction == "starlight → sara, copy"
    assert float(found[0].number) < 50


def of_hosts(row, hosts, per_pair):
    numbers = {"sources": hosts, "sinks": hosts, "flows_per_pair": per_pair, "flows": hosts**2 * per_pair}
    return row | numbers | {"trial_id": f"{row['trial_id']} {hosts} {per_pair}"}


def test_pairs_that_flows_settle_are_one_plane():
    trials = [of_hosts(row, hosts, 1) for hosts in (1, 2, 4) for row in rows() if row["flows"] == 1]
    (panel,) = panels(make_cells(trials))
    assert panel.y is not None
    assert {row["flows"] for row in panel.rows} == {1, 4, 16}


def test_as_many_flows_of_other_hosts_are_another_plane():
    """Four flows are one from each of two hosts to each of two, or four between two hosts."""
    points = [(hosts, per_pair) for hosts in (1, 2) for per_pair in (1, 4)]
    trials = [of_hosts(row, *point) for point in points for row in rows() if row["flows"] == 1]
    found = panels(make_cells(trials))
    assert [panel.title for panel in found] == [
        "starlight → sara · sources 1",
        "starlight → sara · sources 2",
    ]
    assert [sorted({row["flows"] for row in panel.rows}) for panel in found] == [[1, 4], [4, 16]]
