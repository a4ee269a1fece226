"""Figures: trace types, axes in engineering units, holes, hover texts."""

import math
from itertools import pairwise

import pytest

from flowsweep.figures.frame import rate_scale
from flowsweep.figures.grid.heatmap import heatmap
from flowsweep.figures.grid.line import line
from flowsweep.figures.grid.panel import Panel, panels
from flowsweep.figures.grid.per_flow import per_flow
from flowsweep.figures.grid.surface import surface
from report_support import FLOWS, KIB, MIB, WINDOW_SUMS, failed, make_cells, make_row, make_rows


def only(rows: list) -> Panel:
    (panel,) = panels(make_cells(rows))
    return panel


def one_way(**changes) -> list:
    return make_rows(directions=[("starlight", "sara")], **changes)


def without(row: dict, flows: int, window_sum: int) -> dict:
    hit = row["flows"] == flows and row["window_sum_asked_bytes"] == window_sum
    return failed(row) if hit else row


def test_surface_stands_on_log2_axes_with_sizes_as_labels():
    figure = surface(only(one_way()))
    sheet = figure.data[0]
    assert sheet.type == "surface"
    assert list(sheet.x) == [math.log2(size) for size in WINDOW_SUMS]
    assert list(sheet.y) == [math.log2(flows) for flows in FLOWS]
    assert list(figure.layout.scene.xaxis.ticktext) == [
        "1 MiB",
        "2 MiB",
        "4 MiB",
        "8 MiB",
        "16 MiB",
        "32 MiB",
    ]
    assert list(figure.layout.scene.yaxis.ticktext) == ["1", "2", "4", "8", "16"]
    assert figure.layout.scene.zaxis.title.text == "Gbit/s"
    assert figure.layout.scene.zaxis.range[0] == 0


def test_height_is_the_median_over_repeats():
    rates = (1e9, 4e9, 3e9)
    rows = one_way(repeats=3, change=lambda row: row | {"goodput_bps": rates[row["repeat"] - 1]})
    assert {height for row in surface(only(rows)).data[0].z for height in row} == {3.0}


@pytest.mark.parametrize("draw", [surface, heatmap])
def test_a_point_without_goodput_is_a_hole_and_never_zero(draw):
    rows = one_way(change=lambda row: without(row, 4, 8 * MIB))
    heights = draw(only(rows)).data[0].z
    assert heights[2][3] is None
    assert sum(height is None for row in heights for height in row) == 1
    assert min(height for row in heights for height in row if height is not None) > 0


def test_a_point_that_was_tried_in_vain_is_marked_in_the_heatmap():
    figure = heatmap(only(one_way(change=lambda row: without(row, 4, 8 * MIB))))
    (mark,) = [trace for trace in figure.data if trace.name == "failed"]
    assert (list(mark.x), list(mark.y)) == ([math.log2(8 * MIB)], [2.0])
    assert "2 trials, none ok" in mark.hovertext[0]


def test_a_point_that_the_plan_does_not_have_is_not_marked():
    rows = [row for row in one_way() if (row["flows"], row["window_sum_asked_bytes"]) != (4, 8 * MIB)]
    figure = heatmap(only(rows))
    assert figure.data[0].z[2][3] is None
    assert [trace.name for trace in figure.data if trace.name == "failed"] == []


def test_hover_says_value_repeats_spread_and_place_with_units():
    rates = (1e9, 1.02e9, 1.06e9)
    rows = one_way(repeats=3, change=lambda row: row | {"goodput_bps": rates[row["repeat"] - 1]})
    hover = surface(only(rows)).data[0].customdata[0][0]
    assert hover == (
        "<b>1.02 Gbit/s</b><br>median of 3 repeats, 1.00 to 1.06 Gbit/s<br>window sum 1 MiB, flows 1"
    )


def test_trials_that_are_not_ok_do_not_count():
    rows = one_way(
        repeats=2, change=lambda row: row | {"status": "incomplete"} if row["repeat"] == 2 else row
    )
    panel = only(rows)
    first = next(row["goodput_bps"] for row in rows if row["repeat"] == 1)
    assert surface(panel).data[0].z[0][0] == pytest.approx(first / 1e9, rel=1e-4)
    assert "1 trial not ok, left out" in surface(panel).data[0].customdata[0][0]


def test_capped_points_are_marked_in_both():
    def capped(row: dict) -> dict:
        return row | {"window_capped": row["flows"] == 1 and row["window_sum_asked_bytes"] == 32 * MIB}

    panel = only(one_way(change=capped))
    (mark,) = [trace for trace in surface(panel).data if trace.name == "capped"]
    assert (mark.type, list(mark.x), list(mark.y)) == ("scatter3d", [25.0], [0.0])
    (numbers,) = [trace for trace in heatmap(panel).data if trace.name == "numbers"]
    assert sum("◇" in text for text in numbers.text) == 1
    assert "capped" in surface(panel).data[0].customdata[0][5]


def test_a_point_without_neighbours_is_drawn_beside_the_sheet():
    rows = one_way(flows=(1, 2, 4), window_sums=(MIB, 2 * MIB, 4 * MIB))
    rows = [
        row
        for row in rows
        if (row["flows"], row["window_sum_asked_bytes"]) not in {(2, 4 * MIB), (4, 2 * MIB)}
    ]
    (alone,) = [trace for trace in surface(only(rows)).data if trace.name == "alone"]
    assert list(zip(alone.x, alone.y, strict=True)) == [(22.0, 0.0), (20.0, 2.0), (22.0, 2.0)]


def test_heatmap_writes_numbers_of_three_digits_that_contrast_with_their_cell():
    figure = heatmap(only(one_way(change=lambda row: row | {"goodput_bps": row["window_sum_bytes"] * 300.0})))
    (numbers,) = [trace for trace in figure.data if trace.name == "numbers"]
    assert dict(zip(numbers.x, numbers.text, strict=True)) == {
        20.0: "0.315", 21.0: "0.629", 22.0: "1.26", 23.0: "2.52", 24.0: "5.03", 25.0: "10.1",
    }  # fmt: skip
    assert set(numbers.textfont.color) == {"#ffffff", "#14181c"}
    by_height = dict(zip(zip(numbers.x, numbers.y, strict=True), numbers.textfont.color, strict=True))
    assert by_height[20.0, 0.0] == "#ffffff"
    assert by_height[25.0, 0.0] == "#14181c"


def test_all_panels_of_a_sweep_share_colours_and_heights():
    drawn = panels(make_cells(make_rows(lengths=(2000, 8000))))
    assert len(drawn) == 4
    assert len({heatmap(panel).data[0].zmax for panel in drawn}) == 1
    assert len({tuple(surface(panel).layout.scene.zaxis.range) for panel in drawn}) == 1
    assert {heatmap(panel).data[0].zmin for panel in drawn} == {0}


def test_autotuned_windows_give_a_line_over_flows_with_a_trace_for_each_direction():
    panel = only(make_rows(window_sums=[None], repeats=3))
    figure = line(panel)
    assert panel.y is None
    assert {trace.type for trace in figure.data} == {"scatter"}
    medians = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [trace.name for trace in medians] == ["starlight → sara", "sara → starlight"]
    assert list(medians[0].x) == [math.log2(flows) for flows in FLOWS]
    assert list(figure.layout.xaxis.ticktext) == ["1", "2", "4", "8", "16"]
    (faint, _) = [trace for trace in figure.data if trace.mode == "markers"]
    assert len(faint.x) == 15
    assert figure.layout.yaxis.range[0] == 0


def test_one_window_and_several_lengths_give_lines_over_flows_with_a_trace_for_each_length():
    drawn = panels(make_cells(make_rows(window_sums=[8 * MIB], lengths=(2000, 8000))))
    assert [panel.title for panel in drawn] == ["starlight → sara", "sara → starlight"]
    assert [trace.name for trace in line(drawn[0]).data if trace.showlegend is None] == [
        "length 2 KB",
        "length 8 KB",
    ]


def test_only_the_length_varies():
    panel = only(one_way(flows=[4], window_sums=[8 * MIB], lengths=(2000, 4000, 8000)))
    assert list(line(panel).layout.xaxis.ticktext) == ["2 KB", "4 KB", "8 KB"]


def test_a_single_point_is_still_drawn():
    figure = line(only([make_row(goodput_bps=2e9)]))
    medians = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [list(trace.y) for trace in medians] == [[2.0]]


def test_line_has_a_gap_at_failed_points():
    rows = one_way(window_sums=[None], change=lambda row: failed(row) if row["flows"] == 4 else row)
    median = line(only(rows)).data[1]
    assert [x for x, y in zip(median.x, median.y, strict=True) if y is not None] == [0.0, 1.0, 3.0, 4.0]
    assert list(median.x) == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_goodput_per_flow_has_a_trace_for_each_number_of_flows():
    figure = per_flow(only(one_way()))
    medians = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [trace.name for trace in medians] == ["1 flow", "2 flows", "4 flows", "8 flows", "16 flows"]
    assert [list(trace.x) for trace in medians][4] == [math.log2(size // 16) for size in WINDOW_SUMS]
    assert figure.layout.yaxis.title.text == "goodput per flow, Gbit/s"
    assert "window per flow 64 KiB" in medians[4].text[0]


def test_goodput_per_flow_divides_by_the_flows():
    rows = one_way(repeats=1, change=lambda row: row | {"goodput_bps": 8e9})
    medians = [trace for trace in per_flow(only(rows)).data if trace.mode == "lines+markers"]
    assert [set(trace.y) for trace in medians] == [{8.0}, {4.0}, {2.0}, {1.0}, {0.5}]


def test_a_trial_that_answers_two_asked_points_counts_once_per_flow():
    row = make_row(window_bytes=MIB, goodput_bps=1e9)
    rows = [
        row,
        row | {"window_sum_asked_bytes": 2 * MIB, "window_capped": True},
        make_row(window_bytes=MIB // 2, window_sum_asked_bytes=MIB // 2),
    ]
    medians = [trace for trace in per_flow(only(rows)).data if trace.mode == "lines+markers"]
    assert "1 repeat" in medians[0].text[-1]


def test_goodput_per_flow_tells_apart_what_the_panel_does():
    rows = [
        row
        for name in ("bbr", "cubic")
        for row in one_way(
            flows=[2], repeats=1, change=lambda row, name=name: row | {"congestion_asked": name}
        )
    ]
    medians = [trace for trace in per_flow(only(rows)).data if trace.mode == "lines+markers"]
    assert [trace.name for trace in medians] == [
        "2 flows, congestion control bbr",
        "2 flows, congestion control cubic",
    ]
    assert "1 repeat" in medians[0].text[0]


def test_goodput_per_flow_needs_windows():
    assert per_flow(only(one_way(window_sums=[None]))) is None


def test_traces_differ_in_colour_and_in_shape():
    medians = [trace for trace in per_flow(only(one_way())).data if trace.mode == "lines+markers"]
    assert len({trace.line.color for trace in medians}) == len(medians)
    assert len({trace.marker.symbol for trace in medians}) == len(medians)


@pytest.mark.parametrize(
    ("highest_bps", "unit", "ticks"),
    [
        (9.44e9, "Gbit/s", [2, 4, 6, 8]),
        (193e6, "Mbit/s", [50, 100, 150]),
        (100e6, "Mbit/s", [20, 40, 60, 80, 100]),
        (0.0, "bit/s", [0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_one_unit_for_all_rates(highest_bps, unit, ticks):
    scale = rate_scale(highest_bps)
    assert (scale.unit, scale.ticks()) == (unit, ticks)


def test_many_windows_get_only_some_labels():
    sums = [KIB << exponent for exponent in range(16)]
    labels = surface(only(one_way(window_sums=sums))).layout.scene.xaxis
    assert len(labels.ticktext) == 8
    assert {after - before for before, after in pairwise(labels.tickvals)} == {2.0}


def test_labels_that_would_stand_in_each_other_are_left_out():
    sizes = [KIB * count for count in (4, 8, 16, 32, 64, 96, 128, 160, 192, 256, 320, 480, 512, 1024)]
    ticks = line(only(one_way(flows=[1], window_sums=sizes))).layout.xaxis.ticktext
    assert list(ticks) == [
        "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB", "512 KiB", "1 MiB",
    ]  # fmt: skip
