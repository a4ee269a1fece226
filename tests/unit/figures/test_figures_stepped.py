"""Goodput that stepped: no figure has a median or mean at which no trial ever was."""

from datetime import timedelta
from typing import Any

import pytest

from figures_support import figures, finding, of_kind
from flowsweep.figures.drawing import Drawn
from report_support import MIB, STARTED_AT, Row, make_rows

ONE_WAY = (("starlight", "sara"),)
REPEATS = 12
"""Of which the first half ran before the step, at 300 Mbit/s, and the others at 180."""


def rows_of(*windows: int, repeats: int = REPEATS) -> list[Row]:
    rows = make_rows(flows=[1], window_sums=windows, directions=ONE_WAY, repeats=repeats)
    rows.sort(key=lambda row: row["repeat"])
    for number, row in enumerate(rows):
        middle_bps = 300e6 if row["repeat"] <= REPEATS // 2 else 180e6
        row["goodput_bps"] = row["goodput_mean_bps"] = middle_bps * (1 + row["repeat"] % 3 / 100)
        row["started_at"] = (STARTED_AT + timedelta(hours=number)).isoformat()
    return rows


def drawn(rows: list[Row], kind: str) -> Drawn:
    since = tuple(row["trial_id"] for row in rows if row["repeat"] > REPEATS // 2)
    step = finding("step", axis=None, effect=-40.0, evidence=since)
    (one,) = of_kind(figures(rows, findings=[step]), kind)
    return one


def test_the_mean_of_repeats_is_of_those_since_then() -> None:
    """It was "232 [217, 248] Mbit/s", where no trial was between 185 and 291 Mbit/s."""
    one = drawn(rows_of(MIB), "repeats")
    marks, mean = one.figure.data
    assert mean.text[0].startswith("182 [")
    assert mean.x[0] == pytest.approx(181.8, abs=0.1)
    assert mean.hovertext[0].split("<br>")[1:] == [
        "<b>182 Mbit/s</b>",
        "median of 6 repeats since goodput stepped, 180 to 184 Mbit/s",
        "before that 300 to 306 Mbit/s in 6 repeats",
    ]
    told = list(zip(marks.x, marks.marker.symbol, marks.text, strict=True))
    assert [symbol for x, symbol, _ in told] == ["circle-open" if x > 200 else "circle" for x, *_ in told]
    assert len(told) == REPEATS
    assert told[0][2].endswith("one of 6 since goodput stepped")
    assert told[-1][2].endswith("one of 6 before goodput stepped")
    assert one.caption.endswith(
        "Where goodput stepped, what stands for a point is of the repeats since then; open marks are those "
        "before."
    )
    (row,) = one.rows
    assert (row["goodput_median_bps"], row["repeats_ok"]) == (pytest.approx(181.8e6), 6)
    assert (row["before_step_repeats_ok"], row["before_step_goodput_lowest_bps"]) == (6, 300e6)


def test_the_median_over_a_parameter_is_of_those_since_then() -> None:
    rows = rows_of(MIB, 2 * MIB)
    only_before = [row for row in rows_of(4 * MIB) if row["repeat"] <= 2]
    one = drawn([*rows, *only_before], "line")
    (middle,) = [trace for trace in one.figure.data if trace.mode == "lines+markers"]
    assert list(middle.y) == pytest.approx([181.8, 181.8, 304.5], abs=0.1)
    assert "median of 2 repeats before goodput stepped, " in middle.text[2]
    assert one.caption.endswith(
        "open marks are those before. Some points ran before goodput stepped only: hover to see which."
    )
    assert [row["before_step_only"] for row in one.rows] == [False, False, True]
    (marks,) = [trace for trace in one.figure.data if trace.mode == "markers"]
    assert list(marks.marker.symbol).count("circle-open") == REPEATS


def test_points_whose_trials_all_failed_since_then_carry_what_they_did_before() -> None:
    rows = rows_of(MIB, 2 * MIB)
    for row in rows:
        if row["window_sum_bytes"] == MIB and row["repeat"] > REPEATS // 2:
            row |= {"status": "failed", "error": "no route", "goodput_bps": None, "goodput_mean_bps": None}
    one = drawn(rows, "line")
    (failed,) = [trace for trace in one.figure.data if trace.hovertext is not None]
    assert failed.hovertext[0].split("<br>")[:3] == [
        "no goodput: 6 trials, none ok since goodput stepped",
        "failed: no route",
        "before that 300 to 306 Mbit/s in 6 repeats",
    ]


def test_trials_over_time_are_held_against_their_side_of_the_step() -> None:
    """Those before were 53 % above their point's median."""
    one = drawn(rows_of(MIB), "time_series")
    off: list[Any] = [row["deviation_percent"] for row in one.rows]
    assert max(map(abs, off)) < 1.5
    assert one.caption.endswith("repeats with equal parameters, since goodput stepped or before that.")


def test_distributions_say_that_both_sides_are_in_them() -> None:
    assert "Goodput stepped meanwhile" in drawn(rows_of(MIB), "ecdf").caption


def test_without_a_step_nothing_is_told_of_one() -> None:
    rows = rows_of(MIB)
    for one in figures(rows):
        assert "stepped" not in one.caption
        assert not any("before" in name for row in one.rows for name in row)
    undecided = finding("step", decision="undecided", evidence=tuple(row["trial_id"] for row in rows[6:]))
    (one,) = of_kind(figures(rows, findings=[undecided]), "repeats")
    assert one.rows[0]["repeats_ok"] == REPEATS


def test_planes_and_products_are_of_the_trials_since_then() -> None:
    rows = make_rows(flows=(1, 2), window_sums=(MIB, 2 * MIB), directions=ONE_WAY, repeats=REPEATS)
    for row in rows:
        row["goodput_bps"] = row["goodput_mean_bps"] = 300e6 if row["repeat"] <= REPEATS // 2 else 180e6
    since = tuple(row["trial_id"] for row in rows if row["repeat"] > REPEATS // 2)
    found = figures(rows, findings=[finding("step", axis=None, effect=-40.0, evidence=since)])
    _, heatmap = of_kind(found, "plane")
    assert {height for line in heatmap.figure.data[0].z for height in line} == {180}
    assert "before that each 300 Mbit/s in 6 repeats" in heatmap.figure.data[0].hovertext[0][0]
    assert heatmap.caption.endswith(
        "Where goodput stepped, what stands for a point is of the repeats since then; hover for those before."
    )
    for kind in ("product", "per_flow"):
        (one,) = of_kind(found, kind)
        middles = [trace for trace in one.figure.data if trace.mode == "lines+markers" and trace.text]
        assert {height for trace in middles for height in trace.y} <= {180, 90}, kind
        assert "open marks are those before." in one.caption
        assert "circle-open" in one.figure.data[0].marker.symbol
