"""Figures of campaigns that are not whole, and of trials that do not count: they are drawn, and say so."""

from datetime import timedelta

import pytest

from figures_support import figures, known, of_kind
from flowsweep.defaults import SECOND_NS
from flowsweep.figures.campaign.monitors import drawn_monitors
from flowsweep.figures.drawing import FigureData
from flowsweep.monitors.reading import Poll
from flowsweep.report import render as rendering
from flowsweep.report.render import render
from monitored_campaigns import STARTED_AT, facts
from report_support import Row, failed, make_cells, make_report_data, make_rows

WAYS = (("a", "b"), ("b", "a"), ("a", "c"))


def plane(**more) -> list[Row]:
    return make_rows(flows=(1, 2, 4), window_sums=(1 << 20, 1 << 21, 1 << 22), directions=WAYS, **more)


@pytest.mark.parametrize("column", ["flows", "window_sum_asked_bytes"])
def test_a_direction_with_points_in_one_line_so_far_is_drawn(column):
    rows = [row for row in plane() if row["src"] != "b" or row[column] == plane()[0][column]]
    assert len(of_kind(figures(rows), "plane")) == 2 * len(WAYS), "each as a surface and as a map"


def test_a_direction_in_which_everything_failed_has_its_place():
    rows = [failed(row) if row["dst"] == "c" else row for row in plane()]
    assert "none ok" in render(make_report_data(rows))


def test_trials_over_a_late_link_are_marked_over_the_campaign_and_in_no_other_figure(monkeypatch):
    rows = plane(repeats=3, change=known)
    late = [
        row | {"path_emulation": "late", "goodput_bps": 3 * row["goodput_bps"]} if row["repeat"] == 2 else row
        for row in rows
    ]
    seen = []
    drawn_figures = rendering.drawn_figures
    monkeypatch.setattr(rendering, "drawn_figures", lambda data: seen.append(data) or drawn_figures(data))
    render(make_report_data(late))
    [data] = seen
    assert {row["repeat"] for row in data.trials} == {1, 3}
    assert {row["repeat"] for row in data.late} == {2}
    one = of_kind(drawn_figures(data), "time_series")[0]
    assert "Crosses: 9 trials over a link that this machine emulated too late." in one.caption
    [crosses] = [trace for trace in one.figure.data if trace.marker.symbol == "x-thin-open"]
    assert len(crosses.x) == 9
    assert all("over 1 ms late" in text for text in crosses.text)
    assert [row["deviation_percent"] for row in one.rows if row["repeat"] == 2] == [None] * 9


def test_all_trials_are_drawn_where_none_can_be_trusted():
    rows = [row | {"path_emulation": "late"} for row in plane()]
    assert "Crosses" not in render(make_report_data(rows))


def test_shorter_trials_say_nothing_of_cuts_of_longer_ones():
    rows = make_rows(flows=(1,), window_sums=(1 << 20,), directions=WAYS[:1], repeats=4)
    for row in rows:
        row["duration_s"] = 10.0 if row["repeat"] < 3 else 30.0
    cuts = [
        {
            "trial_id": row["trial_id"],
            "duration_ns": seconds * SECOND_NS,
            "goodput_bps": row["goodput_bps"] / 2,
        }
        for row in rows
        for seconds in (5, 10)
        if seconds < row["duration_s"]
    ]
    [one] = of_kind(figures(rows, truncated=cuts), "duration")
    found = {row["duration_s"]: (row["deviation_p50_percent"], row["trials"]) for row in one.rows}
    assert found == {5.0: (-50.0, 4), 10.0: (-50.0, 2), 30.0: (0.0, 2)}


def test_monitors_are_shown_until_the_last_trial_is_over():
    rows = make_rows(flows=(1,), window_sums=(1 << 20,), directions=WAYS[:1], repeats=2)
    for number, row in enumerate(rows):
        began = STARTED_AT + timedelta(seconds=60 * number)
        row |= {"started_at": began.isoformat(), "elapsed_s": 60.0}
    began_us = round(STARTED_AT.timestamp() * 1e6)
    interfaces = [f"et{number}" for number in range(5)]
    polls = [
        Poll("core", began_us + at * 10_000_000, 0, (("", "uptime_cs", 1000 * at), *(
            (name, counter, at * 10**7) for name in interfaces for counter in ("in_bytes", "out_bytes")
        )))
        for at in range(12)
    ]  # fmt: skip
    monitors = facts(polls)
    agent = monitors.monitors["core"].agent
    every = agent.model_copy(update={"interfaces": tuple(interfaces), "beyond": {}})
    core = monitors.monitors["core"].model_copy(update={"agent": every})
    monitors = type(monitors)({"core": core}, monitors.table)
    [drawn] = drawn_monitors(FigureData(rows, make_cells(rows), monitors=monitors))
    ends = [f"{STARTED_AT + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}" for seconds in (0, 120)]
    assert list(drawn.figure.layout.xaxis.range) == ends
    assert drawn.caption.endswith("8 of 10 counters are drawn.")


def test_usable_windows_of_a_panel_are_of_its_own_trials():
    def scarce(row: Row) -> Row:
        less = 4 if row["length_bytes"] == 2000 else 1
        return known(row) | {"window_usable_bytes": row["window_usable_bytes"] // less}

    def usable(one):
        return next(trace for trace in one.figure.data if trace.name == "usable")

    rows = make_rows(lengths=(2000, 8000), repeats=3, directions=WAYS[:1], change=scarce)
    small, large = (usable(one).y[0] for one in of_kind(figures(rows), "product"))
    assert small == pytest.approx(large / 4, rel=0.02)


def test_trials_whose_time_nobody_knows_are_not_drawn_over_time():
    rows = plane(repeats=3, change=known)
    some = [row | {"started_at": None} if row["repeat"] == 2 else row for row in rows]
    one = of_kind(figures(some), "time_series")[0]
    assert "Without 9 trials whose time is not known." in one.caption
    assert {row["repeat"] for row in one.rows} == {1, 3}
    assert "None" not in str(one.figure.to_dict())
    untimed = [row | {"started_at": None} for row in rows]
    assert of_kind(figures(untimed), "time_series") == []
    assert "None UTC" not in str([one.figure.to_dict() for one in figures(untimed)])
