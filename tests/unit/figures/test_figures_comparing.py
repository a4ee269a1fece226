"""Figures of two campaigns: the same points on the same axes, and how much they differ."""

import math

import pytest

from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.figures.comparing.overlay import drawn_overlays
from flowsweep.figures.comparing.points import ComparedPoints, compared_points
from flowsweep.figures.comparing.shift_map import drawn_shift_maps
from flowsweep.figures.drawing import Drawn, FigureData
from flowsweep.figures.grid.goodput import drawn_planes
from flowsweep.figures.theme import UNDECIDED_COLOUR
from report_support import MIB, failed, make_cells, make_rows

NAMES = ("A: before", "B: <after>")
WINDOW_SUMS = (MIB, 2 * MIB, 4 * MIB)
ONE_WAY = (("starlight", "sara"),)


def grid(factor, **changes) -> list:
    """Goodput of 1 Gbit/s times a factor of the row; repeats vary by 0.4 %."""

    def change(row: dict) -> dict:
        noise = 1 + 0.004 * (row["repeat"] - 2)
        return row | {
            "goodput_bps": 1e9 * factor(row) * noise,
            "window_sum_bytes": row["window_sum_asked_bytes"],
        }

    settings = {"window_sums": WINDOW_SUMS, "flows": (1, 4), "repeats": 3, "directions": ONE_WAY}
    return make_rows(**(settings | changes), change=change)


def slower_at_large_windows(row: dict) -> float:
    return 0.8 if row["window_sum_asked_bytes"] == 4 * MIB else 1.0


def both(a: list, b: list) -> tuple[ComparedPoints, Comparison]:
    b = [row | {"trial_id": f"{row['trial_id']}-of-b"} for row in b]
    comparison = compare(a, b)
    return compared_points(comparison, NAMES, make_cells(a), make_cells(b)), comparison


def test_both_campaigns_are_drawn_with_the_numbers_of_the_table():
    points, comparison = both(grid(lambda _: 1.0), grid(slower_at_large_windows))
    drawn = drawn_overlays(points)
    assert [one.title for one in drawn] == ["starlight → sara · flows 1", "starlight → sara · flows 4"]
    for one in drawn:
        flows = one.rows[0]["flows"]
        own = [point for point in comparison.points if point.point["flows"] == flows]
        a, b = one.figure.data
        assert [y * 1e9 for y in a.y] == pytest.approx([point.goodput_a_bps for point in own], rel=1e-4)
        assert [y * 1e9 for y in b.y] == pytest.approx([point.goodput_b_bps for point in own], rel=1e-4)
        assert [row["goodput_b_bps"] for row in one.rows] == [point.goodput_b_bps for point in own]
        assert [row["outcome"] for row in one.rows] == [point.shift.outcome for point in own]
        assert b.error_y.array[0] == pytest.approx(0.004, rel=0.02)
        assert b.error_y.arrayminus[2] == pytest.approx(0.8 * 0.004, rel=0.02)
        assert "geometric means" in one.caption
    hover = drawn[0].figure.data[1].text[2].split("<br>")
    assert hover[:2] == ["<b>800 Mbit/s</b>", "mean of 3 trials, 797 to 803 Mbit/s"]
    assert hover[-1].startswith("B is slower, −20.0 %")


def test_a_and_b_differ_in_more_than_colour_and_are_named():
    points, _ = both(grid(lambda _: 1.0), grid(slower_at_large_windows))
    a, b = drawn_overlays(points)[0].figure.data
    assert (a.name, b.name) == ("A: before", "B: &lt;after&gt;")
    assert a.line.color != b.line.color
    assert a.line.dash != b.line.dash
    assert a.marker.symbol != b.marker.symbol
    assert all(x_of_a < x_of_b for x_of_a, x_of_b in zip(a.x, b.x, strict=True))


def test_overlays_of_a_sweep_end_at_the_highest_of_both():
    points, _ = both(grid(lambda _: 1.0), grid(lambda _: 1.5))
    tops = [one.figure.layout.yaxis.range[1] for one in drawn_overlays(points)]
    assert tops == pytest.approx([1.5 * 1.004 * 1.06] * 2, rel=1e-3)


def test_points_without_a_scale_stand_on_rows_of_their_own():
    settings = {"window_sums": (MIB,), "flows": (1,), "directions": (("a", "b"), ("b", "a"))}
    points, comparison = both(grid(lambda _: 1.0, **settings), grid(lambda _: 0.9, **settings))
    (drawn,) = drawn_overlays(points)
    a, b = drawn.figure.data
    assert list(drawn.figure.layout.yaxis.ticktext) == ["a → b", "b → a"]
    assert [x * 1e9 for x in b.x] == pytest.approx([one.goodput_b_bps for one in comparison.points], rel=1e-4)
    assert [y_of_a > y_of_b for y_of_a, y_of_b in zip(a.y, b.y, strict=True)] == [True, True]
    assert drawn_shift_maps(points) == []


def sheet_and_undecided(drawn: Drawn):
    found = {trace.name: trace for trace in drawn.figure.data}
    return found["ratio"], found.get("undecided"), found["numbers"]


def test_differences_have_colours_that_start_at_0_and_what_is_the_same_has_none():
    points, comparison = both(grid(lambda _: 1.0), grid(slower_at_large_windows))
    assert {point.shift.outcome for point in comparison.points} == {"same", "slower"}
    (drawn,) = drawn_shift_maps(points)
    sheet, undecided, numbers = sheet_and_undecided(drawn)
    assert undecided is None
    assert (sheet.zmin, sheet.zmid) == (-sheet.zmax, 0)
    assert sheet.zmax == pytest.approx(-math.log(0.8), rel=1e-3)
    for line in sheet.z:
        assert list(line) == [0, 0, pytest.approx(math.log(0.8), rel=1e-3)]
    assert list(numbers.text)[:3] == ["=<br>0.0", "=<br>0.0", "−20.0"]
    assert drawn.rows[2]["shift_percent"] == pytest.approx(-20, rel=1e-6)


def test_undecided_points_are_marked_and_coloured_as_no_difference():
    def wild(row: dict) -> float:
        return {1: 0.5, 2: 1.0, 3: 2.0}[row["repeat"]] if row["flows"] == 4 else 1.0

    points, comparison = both(grid(lambda _: 1.0), grid(wild))
    outcomes = {point.point["flows"]: point.shift.outcome for point in comparison.points}
    assert outcomes[4] == "undecided"
    (drawn,) = drawn_shift_maps(points)
    sheet, undecided, numbers = sheet_and_undecided(drawn)
    assert list(sheet.z[1]) == [None] * 3
    assert list(undecided.z[1]) == [0] * 3
    assert {colour for _, colour in undecided.colorscale} == {UNDECIDED_COLOUR}
    assert all(text.startswith("?") for text in list(numbers.text)[3:])


def test_differences_of_all_panels_have_one_scale():
    two_ways = {"directions": (("a", "b"), ("b", "a"))}

    def slower_back(row: dict) -> float:
        return 0.5 if row["src"] == "b" else 0.9

    points, _ = both(grid(lambda _: 1.0, **two_ways), grid(slower_back, **two_ways))
    maps = drawn_shift_maps(points)
    assert [one.title for one in maps] == ["a → b", "b → a"]
    assert len({one.figure.data[0].zmax for one in maps}) == 1


def test_a_line_of_series_is_a_map_too():
    """Windows were left to autotuning: flows over length is no plane, but has two axes."""
    settings = {"window_sums": (None,), "lengths": (2000, 8000), "directions": ONE_WAY}
    points, _ = both(grid(lambda _: 1.0, **settings), grid(lambda _: 0.9, **settings))
    (drawn,) = drawn_shift_maps(points)
    assert {axis.title.text for axis in (drawn.figure.layout.xaxis, drawn.figure.layout.yaxis)} == {
        "flows",
        "length",
    }
    assert len(drawn.rows) == 4


def test_what_only_one_campaign_has_and_what_failed_is_not_drawn():
    a = grid(lambda _: 1.0, flows=(1, 2, 4))
    b = [failed(row) if row["window_sum_asked_bytes"] == MIB else row for row in grid(lambda _: 1.0)]
    points, _ = both(a, b)
    assert {(row["flows"], row["window_sum_asked_bytes"]) for row in points.rows} == {
        (flows, size) for flows in (1, 4) for size in (2 * MIB, 4 * MIB)
    }
    assert len(points.cells_a) == len(points.cells_b) == len(points.rows)


def test_what_stands_side_by_side_has_one_scale():
    a, b = grid(lambda _: 1.0), grid(lambda _: 1.5)
    cells = {"a": make_cells(a), "b": make_cells(b)}
    alone, of_a, of_b = (
        drawn_planes(FigureData(rows, own, beside=other))[1].figure.data[0].zmax
        for rows, own, other in (
            (a, cells["a"], ()),
            (a, cells["a"], cells["b"]),
            (b, cells["b"], cells["a"]),
        )
    )
    assert alone == pytest.approx(1.004)
    assert of_a == of_b == pytest.approx(1.5 * 1.004)


def test_settings_that_differ_in_their_flows_are_drawn():
    """The column in which settings differ is null in both."""

    def without(rows: list) -> list:
        return [row | {"flows": None} for row in rows]

    a, b = (without(grid(factor, flows=(1,))) for factor in (lambda _: 1.0, lambda _: 0.9))
    points, _ = both(a, b)
    (drawn,) = drawn_overlays(points)
    assert len(drawn.rows) == len(WINDOW_SUMS)
