"""Monitors under the time series: rates that trials are in, gaps that stay gaps, silence with its reason."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from flowsweep.analysis.monitors.facts import MonitorFacts
from flowsweep.figures.campaign.monitors import drawn_monitors
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import FigureData
from flowsweep.monitors.reading import Poll, monitors_table
from monitored_campaigns import APART_S, STARTED_AT, TRIAL_S, facts, router
from report_support import Row, make_cells, make_rows

BEGAN_US = round(STARTED_AT.timestamp() * 1e6)


def trials(goodput_bps: Sequence[float]) -> list[Row]:
    """A trial of one point each minute."""
    count = len(goodput_bps)
    rows = make_rows(flows=(1,), window_sums=(1 << 20,), directions=(("a", "b"),), repeats=count)
    for number, (row, one) in enumerate(zip(rows, goodput_bps, strict=True)):
        began = STARTED_AT + timedelta(seconds=APART_S * number)
        row |= {"started_at": began.isoformat(), "goodput_bps": one, "elapsed_s": TRIAL_S}
    return rows


def told(*values: int | str) -> MonitorFacts:
    """A poll every 10 s: bytes out of et0, or why there is none."""
    return facts(
        [
            Poll("core", BEGAN_US + 10_000_000 * at, 0, silent=one)
            if isinstance(one, str)
            else Poll(
                "core",
                BEGAN_US + 10_000_000 * at,
                0,
                (("", "uptime_cs", 1000 * at), ("et0", "out_bytes", one)),
            )
            for at, one in enumerate(values)
        ]
    )


def test_they_stand_under_goodput_over_the_campaign() -> None:
    rows = trials([80e6, 70e6, 60e6])
    data = FigureData(rows, make_cells(rows), monitors=router(rows, [5e6, 5e6, 5e6]))
    kinds = [one.key.kind for one in drawn_figures(data)]
    assert kinds.index("monitors") == kinds.index("time_series") + 1
    assert "monitors" not in [one.key.kind for one in drawn_figures(replace(data, monitors=None))]
    [drawn] = drawn_monitors(data)
    [line] = drawn.figure.data
    assert line.name == "core et0 out"
    assert np.nanmax([float(height or 0) for height in line.y]) > 50


def test_a_gap_is_a_gap_and_silence_has_its_reason() -> None:
    rows = trials([80e6, 70e6])
    known = told(0, 1_000_000, "no <answer>", 5_000_000, 6_000_000)
    [drawn] = drawn_monitors(FigureData(rows, make_cells(rows), monitors=known))
    line, marks = drawn.figure.data
    assert [None if height is None else round(height, 3) for height in line.y] == [800, 800, None, 800, 800]
    assert line.connectgaps is False
    assert marks.hovertext == ("core, 1 poll: no &lt;answer&gt;",)
    assert [row["silent"] for row in drawn.rows] == [None, None, "no <answer>"]
    assert "1 time that a monitor gave nothing" in drawn.caption


def test_many_polls_are_put_together() -> None:
    rows = trials([80e6, 70e6])
    known = told(*range(0, 4_000_000, 1000))
    [drawn] = drawn_monitors(FigureData(rows, make_cells(rows), monitors=known))
    assert len(drawn.rows) <= 500
    assert {row["rate_bps"] for row in drawn.rows} == {800.0}


def test_load_is_a_share_of_all_processors() -> None:
    rows = trials([80e6, 70e6])
    polls = [
        Poll("core", BEGAN_US + 10_000_000 * at, 0,
             (("", "uptime_cs", 1000 * at), ("cpu", "cpu_busy", 25 * at), ("cpu", "cpu_total", 100 * at)))
        for at in range(4)
    ]  # fmt: skip
    known = MonitorFacts(facts([]).monitors, monitors_table(polls))
    [drawn] = drawn_monitors(FigureData(rows, make_cells(rows), monitors=known))
    [line] = drawn.figure.data
    assert line.yaxis == "y2"
    assert set(line.y) == {25.0}
