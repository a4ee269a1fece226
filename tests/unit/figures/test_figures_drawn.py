"""All figures of a campaign: which there are, what they belong to, and that the numbers in them are right."""

import math
import random
from dataclasses import replace

import pytest

from figures_support import SHARES, figures, finding, intervals_of, known, of_kind, trace, truncated_of
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import KIND_TITLES, Drawn, FigureData, figure_of
from report_support import KIB, MIB, failed, make_cells, make_row, make_rows

ONE_WAY = (("starlight", "sara"),)

NOT_OF_A_TCP_GRID = (
    "overlay", "shift", "line", "repeats", "prediction", "ratio", "offered", "jitter", "spacing", "shares",
    "hop_times", "hop_capacity", "trains", "streams", "rtt_time", "rtt_ecdf", "rtt_size", "rate_search",
    "stages", "paths", "search", "response", "best",
    "monitors",
)  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list:
    return make_rows(lengths=(2000, 8000), repeats=3, change=known)


@pytest.fixture(scope="module")
def drawn(rows) -> list[Drawn]:
    return figures(
        rows,
        intervals=intervals_of(rows),
        truncated=truncated_of(rows),
        findings=(finding(), finding("direction")),
    )


def test_every_kind_is_there_in_the_order_of_the_headings(drawn):
    kinds = list(dict.fromkeys(one.key.kind for one in drawn))
    assert kinds == [kind for kind in KIND_TITLES if kind not in NOT_OF_A_TCP_GRID]


def test_planes_over_window_and_length_have_one_panel_for_each_number_of_flows(drawn):
    planes = [one for one in of_kind(drawn, "plane") if one.key.axis == "length_bytes"]
    assert [one.title for one in planes[::4]] == [
        f"starlight → sara · flows {flows}" for flows in (1, 2, 4, 8, 16)
    ]
    surface, heatmap = planes[:2]
    assert (surface.needs_webgl, heatmap.needs_webgl) == (True, False)
    assert surface.rows == heatmap.rows
    assert list(surface.figure.data[0].y) == [math.log2(2000), math.log2(8000)]
    assert {row["length_bytes"] for row in surface.rows} == {2000, 8000}


def test_file_names_tell_figures_apart(drawn):
    names = [one.file_name for one in drawn]
    assert len(set(names)) == len(names)
    assert "windows-starlight-sara-length-2-kb-product" in names


def test_data_of_a_figure_have_equal_columns_with_units(drawn):
    for one in drawn:
        assert one.rows, one.file_name
        assert len({tuple(row) for row in one.rows}) == 1, one.file_name


def test_titles_and_captions_are_there(drawn):
    assert all(one.title and one.caption.endswith(".") for one in drawn)


def test_without_any_trial_nothing_is_drawn():
    assert figures([]) == []


def test_failed_trials_alone_give_nothing():
    assert figures([failed(make_row(src="starlight", dst="sara"))]) == []


def test_what_was_imported_has_neither_shares_nor_loads():
    nothing = dict.fromkeys([*SHARES, "cpu_send", "cpu_recv", "rtt_min_ms", "window_usable_bytes"])
    rows = make_rows(repeats=3, change=lambda row: row | nothing)
    kinds = {one.key.kind for one in figures(rows)}
    assert kinds == {"plane", "product", "per_flow", "ecdf", "time_series"}


def test_a_finding_leads_to_the_figure_of_its_direction_and_axis(drawn):
    asked = FigureKey("plane", "windows", "copy", "sara → starlight", "length_bytes")
    found = figure_of(asked, drawn)
    assert found is not None
    assert (found.key, found.needs_webgl) == (asked, False)


def test_a_finding_of_all_directions_leads_to_some_figure(drawn):
    found = figure_of(FigureKey("ecdf", "windows", "copy"), drawn)
    assert found is not None
    assert found.key.kind == "ecdf"


def test_a_plane_that_is_a_line_is_found():
    rows = make_rows(flows=[4], directions=ONE_WAY, change=known)
    found = figure_of(FigureKey("plane", "windows", "copy", "starlight → sara"), figures(rows))
    assert found is not None
    assert found.key.kind == "line"


def test_what_has_one_colour_is_not_said_to_have_several(drawn):
    assert of_kind(drawn, "time_series")[0].caption.startswith(
        "Each mark is a trial, at the time it began; colours are the window sum."
    )
    one = of_kind(figures(make_rows(flows=[4], window_sums=(MIB,), repeats=2)), "time_series")[0]
    assert one.caption.startswith("Each mark is a trial, at the time it began. ")


def test_effects_have_a_sign_and_the_name_of_their_axis():
    found = (
        finding(axis="flows_per_pair"),
        finding("direction", effect=-0.02, decision="undecided"),
        finding("direction", axis="simultaneous"),
    )
    (one,) = of_kind(figures(make_rows(repeats=2), findings=found), "effects")
    texts = {name: text for trace in one.figure.data for name, text in zip(trace.y, trace.text, strict=True)}
    assert texts == {
        "flows per pair of hosts": "+24.0 %", "length": "0.0 %", "traffic both ways": "+24.0 %"
    }  # fmt: skip


def test_another_sweep_mode_or_direction_shows_nothing(drawn):
    for key in (
        FigureKey("plane", "others", "copy"),
        FigureKey("plane", "windows", "zerocopy"),
        FigureKey("plane", "windows", "copy", "a → b"),
    ):
        assert figure_of(key, drawn) is None
    assert figure_of(None, drawn) is None


def test_modes_are_never_in_one_figure():
    rows = [
        row | {"mode": mode, "trial_id": row["trial_id"] + mode}
        for mode in ("copy", "zerocopy")
        for row in make_rows(directions=ONE_WAY, repeats=5, change=known)
    ]
    found = figures(rows, intervals=intervals_of(rows), truncated=truncated_of(rows))
    for kind in ("product", "limits", "cpu", "ecdf", "time_series", "duration"):
        assert {one.key.mode for one in of_kind(found, kind)} == {"copy", "zerocopy"}, kind
        assert all(("zerocopy" in one.title) == (one.key.mode == "zerocopy") for one in of_kind(found, kind))


# Goodput against window × flows


def test_the_window_limit_and_the_knee_are_where_theory_puts_them(drawn):
    product = of_kind(drawn, "product")[0]
    limit = trace(product, "window / RTT")
    for x, y in zip(limit.x, limit.y, strict=True):
        assert y == pytest.approx(2**x * 8 / 0.008 / 1e9, rel=1e-3)
    highest = max(row["goodput_median_bps"] for row in product.rows)
    knee = trace(product, "BDP")
    assert 2 ** knee.x[0] == pytest.approx(highest * 0.008 / 8)
    assert "highest median measured" in product.caption


def test_a_known_link_is_the_ceiling():
    rows = make_rows(directions=ONE_WAY, change=lambda row: known(row) | {"link_payload_bps": 9.5e9})
    (product,) = of_kind(figures(rows), "product")
    assert "9.50 MB = 9.50 Gbit/s (the link's payload rate)" in product.caption
    assert trace(product, "BDP").y == (0, 9.5)
    assert max(row["window_over_rtt_bps"] for row in product.rows) == 9.5e9


def test_goodput_stands_over_the_product_with_a_trace_for_each_number_of_flows(drawn):
    product = of_kind(drawn, "product")[0]
    one_flow = trace(product, "1 flow")
    assert list(one_flow.x) == [math.log2(MIB << step) for step in range(6)]
    assert [round(y * 1e9) for y in one_flow.y] == pytest.approx(
        [row["goodput_median_bps"] for row in product.rows if row["flows"] == 1], rel=1e-4
    )


def test_windows_of_both_ends_give_the_smaller():
    rows = [
        make_row(
            flows=2, window_bytes=None, window_sum_bytes=None, window_sum_asked_bytes=None,
            window_send_bytes=size, window_recv_bytes=2 * MIB, trial_id=str(size), rtt_min_ms=8.0,
        )
        for size in (64 * KIB, 256 * KIB)
    ]  # fmt: skip
    (product,) = of_kind(figures(rows), "product")
    assert [row["window_times_flows_bytes"] for row in product.rows] == [128 * KIB, 512 * KIB]


def test_without_a_round_trip_time_there_is_no_theory():
    rows = make_rows(directions=ONE_WAY, change=lambda row: row | {"rtt_min_ms": None})
    (product,) = of_kind(figures(rows), "product")
    assert "RTT" not in " ".join(trace.name for trace in product.figure.data)
    assert {row["window_over_rtt_bps"] for row in product.rows} == {None}


def test_figures_that_would_show_the_same_are_left_out():
    rows = make_rows(flows=[1], directions=ONE_WAY, change=lambda row: row | {"rtt_min_ms": None})
    kinds = [one.key.kind for one in figures(rows)]
    assert "line" in kinds
    assert not {"product", "per_flow"} & set(kinds)
    assert figure_of(FigureKey("product", "windows", "copy"), figures(rows)) is not None


# Over the campaign


def test_deviation_is_from_the_median_of_equal_trials():
    rates = (1.0e9, 1.1e9, 0.9e9)
    rows = make_rows(
        directions=ONE_WAY, flows=[1], window_sums=[MIB, 2 * MIB], repeats=3,
        change=lambda row: row | {"goodput_bps": rates[row["repeat"] - 1] * row["window_bytes"] / MIB},
    )  # fmt: skip
    (series,) = of_kind(figures(rows), "time_series")
    assert [row["deviation_percent"] for row in series.rows] == pytest.approx([0, 0, 10, 10, -10, -10])
    upper = [trace for trace in series.figure.data if trace.yaxis is None]
    assert [list(trace.y) for trace in upper] == [[1.0, 1.1, 0.9], [2.0, 2.2, 1.8]]
    assert upper[0].x[0] == "2026-03-01 12:00:00"


def test_trials_that_did_not_end_well_are_marked_in_time():
    rows = make_rows(directions=ONE_WAY, change=lambda row: failed(row) if row["flows"] == 8 else row)
    (series,) = of_kind(figures(rows), "time_series")
    (lost,) = [trace for trace in series.figure.data if trace.name == "not ok"]
    assert len(lost.x) == 12
    assert "window of 67108864" in lost.hovertext[0]
    assert "12 trials that did not end well" in series.caption


def test_shares_of_a_distribution_count_what_is_not_above(drawn, rows):
    over_intervals, over_trials = of_kind(drawn, "ecdf")[:2]
    first = [row for row in over_trials.rows if row["window_sum_bytes"] == MIB]
    mine = sorted(
        row["goodput_bps"] for row in rows if row["src"] == "starlight" and row["window_sum_bytes"] == MIB
    )
    assert [row["goodput_bps"] for row in first] == mine
    assert [row["share_of_trials_percent"] for row in first] == pytest.approx(
        [100 * (rank + 1) / 30 for rank in range(30)], rel=1e-3
    )
    assert len([row for row in over_intervals.rows if row["window_sum_bytes"] == MIB]) == 100
    assert "flows and length are put together" in over_intervals.caption


def test_a_legend_of_many_is_a_column_that_its_title_names():
    sums = [KIB << exponent for exponent in range(12)]
    rows = make_rows(directions=ONE_WAY, flows=[1], window_sums=sums, repeats=2)
    (series,) = of_kind(figures(rows), "time_series")
    legend = series.figure.layout.legend
    assert (legend.title.text, legend.orientation, legend.x) == ("window sum", None, 1.02)
    assert series.figure.data[0].name == "1 KiB"


def test_few_trials_have_no_distribution():
    rows = make_rows(directions=ONE_WAY, flows=[1], repeats=4)
    assert of_kind(figures(rows), "ecdf") == []


# CPU load and limits


def test_cpu_load_is_drawn_for_both_ends(drawn):
    against_goodput, against_flows = of_kind(drawn, "cpu")[:2]
    assert {value for trace in against_goodput.figure.data for value in trace.y} == {31.0, 44.0}
    receivers = [trace for trace in against_flows.figure.data if trace.yaxis == "y2"]
    assert {value for trace in receivers for value in trace.y} == {44.0}
    assert list(receivers[0].x) == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_bars_of_what_limits_add_up_to_the_whole_time(drawn):
    limits = of_kind(drawn, "limits")[0]
    bars = [trace for trace in limits.figure.data if trace.type == "bar"]
    assert {trace.name: trace.y[0] for trace in bars} == {
        "receive window": 20.0, "send buffer": 5.0, "congestion window": 50.0, "pace": 15.0,
        "application idle": 10.0,
    }  # fmt: skip
    assert all(sum(heights) == pytest.approx(100) for heights in zip(*(bar.y for bar in bars), strict=True))
    (kernel,) = [trace for trace in limits.figure.data if trace.type == "scatter"]
    assert (kernel.name, set(kernel.y)) == ("kernel: receive window", {15.0})


def test_bars_are_of_the_repeats_mean():
    shares = (0.2, 0.6)
    rows = make_rows(
        directions=ONE_WAY, flows=[1], window_sums=[MIB], repeats=2,
        change=lambda row: known(row)
        | {
            "limit_cwnd_share": shares[row["repeat"] - 1],
            "limit_rwnd_share": 0.75 - shares[row["repeat"] - 1] - 0.05,
        },
    )  # fmt: skip
    (limits,) = of_kind(figures(rows), "limits")
    assert limits.rows[0]["limit_cwnd_share"] == pytest.approx(0.4)
    assert limits.rows[0]["repeats_ok"] == 2


# Duration and effects


def test_shorter_trials_are_compared_with_the_whole(drawn):
    duration = of_kind(drawn, "duration")[0]
    assert [(row["duration_s"], row["deviation_p50_percent"]) for row in duration.rows] == [
        (12.0, pytest.approx(-10)),
        (16.0, pytest.approx(-5)),
        (60.0, 0.0),
    ]
    (median,) = [trace for trace in duration.figure.data if trace.name == "median of the trials"]
    assert list(median.x) == [math.log2(12), 4.0, math.log2(60)]


def test_an_effect_is_drawn_with_its_interval_beside_the_margin(drawn):
    (effects,) = of_kind(drawn, "effects")
    (shown,) = effects.figure.data
    assert list(shown.x) == [24.0, 24.0]
    assert list(shown.y) == ["length (1)", "length (2)"]
    assert (list(shown.error_x.array), list(shown.error_x.arrayminus)) == ([2.0, 2.0], [2.0, 2.0])
    (band,) = effects.figure.layout.shapes
    assert (band.x0, band.x1) == (-3.0, 3.0)


def test_an_effect_beyond_the_axis_stands_at_its_end_and_says_its_size(rows):
    far = finding(axis="window_sum_bytes", effect=712.0, interval_low=690.0, interval_high=740.0)
    (effects,) = of_kind(figures(rows, findings=(far, finding())), "effects")
    (shown,) = effects.figure.data
    end = effects.figure.layout.xaxis.range[1]
    assert list(zip(shown.y, shown.x, shown.text, shown.marker.symbol, strict=True)) == [
        ("length", 24.0, "+24.0 %", "diamond"),
        ("window sum", end, "+712 %", "triangle-right"),
    ]
    assert 26 < end < 50
    assert {row["effect_percent"] for row in effects.rows} == {24.0, 712.0}


def test_the_axis_of_effects_does_not_reach_where_goodput_would_be_negative(rows):
    far = finding(axis="window_sum_bytes", effect=512.0, interval_low=490.0, interval_high=540.0)
    (effects,) = of_kind(figures(rows, findings=(far,)), "effects")
    assert tuple(effects.figure.layout.xaxis.range) == (-115.0, pytest.approx(540 * 1.15))


def test_findings_without_an_effect_on_goodput_are_not_in_the_effects_figure(rows):
    others = (
        finding("plateau", effect_unit="bytes"),
        finding(effect=None),
        replace(finding(), decision="described"),
    )
    assert of_kind(figures(rows, findings=others), "effects") == []


def test_names_that_look_like_tags_are_text():
    rows = make_rows(directions=[("<b>a", "z")], repeats=5, change=known)
    drawn = figures(rows, intervals=intervals_of(rows), findings=(finding(direction="<b>a → z"),))
    for one in drawn:
        for drawn_trace in one.figure.data:
            assert "<b>a" not in f"{drawn_trace.name} {drawn_trace.y if one.key.kind == 'effects' else ''}"


def test_same_data_give_the_same_figures(rows):
    mixed = random.Random(1).sample(rows, len(rows))
    cells = make_cells(rows)
    one, other = (
        [drawn.figure.to_json() for drawn in drawn_figures(FigureData(trials=trials, cells=cells))]
        for trials in (rows, mixed)
    )
    assert one == other
