"""Trials that differ in a setting are no repeats of each other in figures of echoes, paths and gaps."""

from typing import Any

from figures_support import of_kind
from flowsweep.analysis.tests.rtt.under_load import shown_echoes
from flowsweep.archive import tables_of
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.tests.path.hops import drawn_hops
from flowsweep.figures.tests.path.trains import drawn_trains
from flowsweep.figures.tests.rtt.message_size import drawn_sizes
from flowsweep.figures.tests.rtt.round_trips import drawn_round_trips
from flowsweep.figures.tests.udp.spacing import drawn_spacings
from report_support import make_cells, make_row
from rtt_support import make_rtt_outcome, make_rtt_trial
from summary_support import summary_rows


def probed(dscp: int, length_bytes: int, repeat: int) -> dict[str, Any]:
    least_ms = (10.0 if dscp == 0 else 30.0) + length_bytes * 1e-3
    return make_row(
        trial_id=f"{dscp}-{length_bytes}-{repeat}", test="rtt", echo="udp", dscp=dscp, repeat=repeat,
        length_bytes=length_bytes, rtt_probe_min_ms=least_ms, rtt_probe_median_ms=least_ms + 1,
    )  # fmt: skip


def test_each_path_has_a_line_of_its_own_over_the_size() -> None:
    rows = [probed(dscp, length, repeat) for dscp in (0, 46) for length in (64, 1000) for repeat in (1, 2)]
    (one,) = drawn_sizes(FigureData(trials=rows, cells=()))
    least = {trace.name: list(trace.y) for trace in one.figure.data if trace.name.endswith("minimum")}
    assert least == {"udp, DSCP 0, minimum": [10.064, 11.0], "udp, DSCP 46, minimum": [30.064, 31.0]}
    assert {row["setting"] for row in one.rows} == {"DSCP 0", "DSCP 46"}


def test_echoes_of_each_setting_are_shown_and_named() -> None:
    trials = [make_rtt_trial(dscp=dscp, repeat=repeat) for dscp in (0, 46) for repeat in (1, 2)]
    tables = tables_of([make_rtt_outcome(trial, [(0, 1.0), (10, 2.0)]) for trial in trials])
    rows = summary_rows(tables)
    echoes = shown_echoes(tables, rows)
    assert {row["trial_id"] for row in echoes} == {one.trial_id for one in trials if one.repeat == 1}
    over_time, _ = drawn_round_trips(FigureData(trials=rows, cells=(), echoes=echoes))
    assert sorted(trace.name for trace in over_time.figure.data) == ["udp, DSCP 0", "udp, DSCP 46"]


def test_repeats_of_the_same_number_of_two_points_are_two_traces() -> None:
    trials = [
        make_row(trial_id=f"{dscp}-{repeat}", dscp=dscp, repeat=repeat, test="path", path_capacity_bps=None)
        for repeat in (1, 2)
        for dscp in (0, 46)
    ]
    trains = [
        {
            "trial_id": row["trial_id"], "kind": "train", "train": 1, "rate_bps": 1e8, "source_bps": 2e8,
            "first_packet": 0,
        }
        for row in trials
    ]  # fmt: skip
    (one,) = drawn_trains(FigureData(trials=trials, cells=(), trains=trains))
    names = ["DSCP 0, repeat 1", "DSCP 46, repeat 1", "DSCP 0, repeat 2", "DSCP 46, repeat 2"]
    assert [trace.name for trace in one.figure.data] == names
    hops = [
        {
            "trial_id": row["trial_id"], "hop": 1, "address": "<b>", "sizes_bytes": [64],
            "quartile_ns": [1e6],
            "at_zero_ns": 1e6, "slope_ns_per_byte": 80.0, "capacity_bps": 1e8, "capacity_low_bps": 9e7,
            "capacity_high_bps": 1.1e8, "note": None, "rtt_min_ms": 1.0,
        }
        for row in trials
    ]  # fmt: skip
    found = drawn_hops(FigureData(trials=trials, cells=(), hops=hops))
    (capacities,) = of_kind(found, "hop_capacity")
    assert [trace.name for trace in capacities.figure.data if trace.showlegend is not False] == names
    assert all("<b>" not in str(one.figure.to_dict()) for one in found)


def test_gaps_of_datagrams_that_the_kernel_cuts_and_of_others_are_apart() -> None:
    trials = [
        make_row(trial_id=f"{gso}-{length}", test="udp", gso=gso, length_bytes=length, rate_sum_bps=1e8)
        for gso in (True, False)
        for length in (500, 1000)
    ]
    gaps = [
        {"trial_id": row["trial_id"], "role": "sink", "low_ns": 1000, "high_ns": 2000, "gaps": 5}
        for row in trials
    ]
    found = drawn_spacings(FigureData(trials=trials, cells=make_cells(trials), spacings=gaps))
    assert len(found) == len({one.title for one in found}) == len({one.file_name for one in found}) == 4
    assert [sum(row["gaps"] for row in one.rows) for one in found] == [5] * 4
    assert {(row["gso"], row["length_bytes"]) for one in found for row in one.rows} == {
        (row["gso"], row["length_bytes"]) for row in trials
    }
