"""Trials over time: equal steps with their extremes, some of many flows, compact data."""

import json
from itertools import pairwise

import pyarrow as pa
import pytest

from analysis_support import (
    SECOND_NS,
    Steady,
    make_flows,
    make_outcome,
    make_record,
    make_samples,
    make_trial,
)
from flowsweep.analysis import flow_states, receiver_series, sender_series, shown_states, shown_steps
from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.archive.tables import Tables, tables_of
from flowsweep.figures.trial_data import trial_data
from flowsweep.run.outcome import TrialOutcome

STEP_NS = SECOND_NS // 10
SAWTOOTH = (10, 20, 30, 40)
"""Congestion window in segments, sample by sample, again and again."""


def both(tables: Tables) -> tuple[pa.Table, pa.Table]:
    steps = shown_steps(tables.trials, kept_starts(tables))
    sender = sender_series(shown_states(tables.samples), steps)
    return sender.to_pyarrow(), receiver_series(tables.samples, steps).to_pyarrow()


def sawtooth(*, seconds: int, flows: int) -> TrialOutcome:
    """Windows go up and down; each flow reads more than the one before; a segment is lost each second."""
    trial = make_trial(flows=flows, window_bytes=1 << 18, duration_ns=seconds * SECOND_NS)
    rows = [
        {"role": role, "flow": flow, "start_ns": index * STEP_NS, "end_ns": (index + 1) * STEP_NS}
        | {"bytes": 125_000 * (flow + 1), "snd_mss_bytes": 1_000, "snd_cwnd": SAWTOOTH[index % 4]}
        | {"snd_ssthresh": 20, "rtt_us": 40_000 + index % 4, "unacked": 9, "total_retrans": index // 10}
        for flow in range(flows)
        for role in ("source", "sink")
        for index in range(seconds * 10)
    ]
    ends = [
        {"role": role, "flow": flow, "bytes": 125_000 * (flow + 1) * seconds * 10}
        for flow in range(flows)
        for role in ("source", "sink")
    ]
    return TrialOutcome(record=make_record(trial), samples=make_samples(rows), flows=make_flows(ends))


@pytest.fixture(scope="module")
def outcomes() -> list[TrialOutcome]:
    return [sawtooth(seconds=5, flows=1), sawtooth(seconds=5, flows=40), sawtooth(seconds=400, flows=1)]


@pytest.fixture(scope="module")
def series(outcomes) -> tuple[pa.Table, pa.Table]:
    return both(tables_of(outcomes))


@pytest.fixture(scope="module")
def data(series):
    return trial_data(*series)


def test_a_short_trial_keeps_every_sample(series, outcomes, data):
    trial_id = outcomes[0].record.trial_id
    rows = [row for row in series[0].sort_by("step").to_pylist() if row["trial_id"] == trial_id]
    assert [row["step"] for row in rows] == list(range(50))
    assert [row["cwnd_low_bytes"] for row in rows[:4]] == [10_000, 20_000, 30_000, 40_000]
    assert all(row["cwnd_low_bytes"] == row["cwnd_high_bytes"] for row in rows)
    assert {row["ssthresh_bytes"] for row in rows} == {20_000}
    assert sum(row["retransmitted_segments"] for row in rows) == 4
    assert not data[trial_id]["thinned"]


def test_what_is_drawn_of_a_flow_is_part_of_its_states(outcomes):
    tables = tables_of([outcomes[0]])
    states = flow_states(tables.samples, tables.trials, tables.flows)
    shown = shown_states(tables.samples).drop("bytes_acked", "reord_seen")
    assert shown.order_by("start_ns").to_pyarrow() == (
        states.select(*shown.columns).order_by("start_ns").to_pyarrow()
    )


def test_goodput_is_the_bits_of_a_step_over_its_time(series, outcomes):
    trial_id = outcomes[0].record.trial_id
    rates = {row["goodput_bps"] for row in series[1].to_pylist() if row["trial_id"] == trial_id}
    assert rates == {10e6}  # 125 000 bytes in 0.1 s


def test_of_many_flows_slowest_and_fastest_are_shown(series, outcomes):
    trial_id = outcomes[1].record.trial_id
    shown = sorted({row["flow"] for row in series[1].to_pylist() if row["trial_id"] == trial_id})
    assert len(shown) == 16
    assert (shown[0], shown[-1]) == (0, 39)
    assert max(after - before for before, after in pairwise(shown)) <= 3


def test_a_long_trial_keeps_lowest_and_highest_and_every_retransmission(series, outcomes, data):
    trial_id = outcomes[2].record.trial_id
    rows = [row for row in series[0].to_pylist() if row["trial_id"] == trial_id]
    assert {row["samples_in_step"] for row in rows} == {3}  # 4 000 samples in at most 1 600 steps
    assert len(rows) == 4_000 // 3 + 1
    assert min(row["cwnd_low_bytes"] for row in rows) == 10_000
    assert max(row["cwnd_high_bytes"] for row in rows) == 40_000
    assert sum(row["retransmitted_segments"] for row in rows) == 399
    assert data[trial_id]["thinned"]


def test_each_panel_says_what_is_drawn_of_a_step_and_of_how_many_flows(series, outcomes):
    flows = {one.record.trial_id: count for one, count in zip(outcomes, (1, 40, 1), strict=True)}
    found = trial_data(*series, flows=flows)
    short, many, long = (
        {panel["title"]: panel["caption"] for panel in found[one.record.trial_id]["panels"]}
        for one in outcomes
    )
    assert set(short.values()) == {""}
    assert set(many.values()) == {"16 of 40 flows, from the slowest to the fastest."}
    several = "A step holds several samples: drawn is "
    assert long["goodput"] == several + "the mean of them."
    assert long["congestion window"] == (
        several + "the lowest and the highest of cwnd, the lowest of ssthresh."
    )
    assert long["data in flight"] == several + "the lowest and the highest of them."
    assert long["retransmitted"] == several + "the sum of them."


def test_data_are_whole_numbers_of_a_quantum_in_engineering_units(data, outcomes):
    found = data[outcomes[0].record.trial_id]
    assert [(panel["title"], panel["unit"]) for panel in found["panels"]] == [
        ("goodput", "Mbit/s"),
        ("congestion window", "KB"),
        ("data in flight", "KB"),
        ("round-trip time", "ms"),
        ("retransmitted", "segments"),
    ]
    window = found["panels"][1]
    cwnd, ssthresh = window["lines"]
    assert (cwnd["name"], ssthresh["name"], ssthresh["dash"]) == ("cwnd", "ssthresh", "dot")
    assert [value * window["quantum"] for value in cwnd["values"][0][:4]] == pytest.approx([10, 20, 30, 40])
    assert (cwnd["first_s"], cwnd["step_s"]) == (0.05, 0.1)


def test_two_values_a_step_rise_and_fall_as_the_window_did(data, outcomes):
    found = data[outcomes[2].record.trial_id]["panels"][1]
    cwnd, ssthresh = found["lines"]
    assert cwnd["step_s"] * 2 == pytest.approx(ssthresh["step_s"]) == pytest.approx(0.3)
    assert [value * found["quantum"] for value in cwnd["values"][0][:6]] == [10, 30, 10, 40, 10, 40]


def test_what_a_kernel_does_not_say_has_no_panel():
    tables = tables_of([make_outcome(make_trial(window_bytes=1 << 18), Steady())])
    (found,) = trial_data(*both(tables)).values()
    (window,) = [panel for panel in found["panels"] if panel["title"] == "congestion window"]
    assert [line["name"] for line in window["lines"]] == ["cwnd"]


def test_both_ends_are_side_by_side_and_running_counts_become_differences():
    trial = make_trial(window_bytes=1 << 18)
    rows = [
        {"role": role, "flow": 0, "start_ns": index * STEP_NS, "end_ns": (index + 1) * STEP_NS}
        | {"bytes": 125_000, "snd_wnd_bytes": 60_000 + 1_000 * index, "snd_mss_bytes": 1_000}
        | {"bytes_acked": 100_000 * (index + 1), "reord_seen": index // 2, "rcv_ooopack": 3 * index}
        for role in ("source", "sink")
        for index in range(10)
    ]
    ends = [{"role": role, "flow": 0, "bytes": 1_250_000} for role in ("source", "sink")]
    tables = tables_of(
        [TrialOutcome(record=make_record(trial), samples=make_samples(rows), flows=make_flows(ends))]
    )
    sender, receiver = both(tables)
    steps = sorted(sender.to_pylist(), key=lambda row: row["step"])
    assert [row["acknowledged_bps"] for row in steps] == pytest.approx([8e6] * 10)
    assert [row["reordering_events"] for row in steps] == [0, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    (found,) = trial_data(sender, receiver).values()
    panels = {panel["title"]: panel for panel in found["panels"]}
    goodput, window, order = (panels[name] for name in ("goodput", "receive window", "reordering"))
    assert [line["name"] for line in goodput["lines"]] == ["read at the sink", "acknowledged at the source"]
    assert [line["values"][0][0] * goodput["quantum"] for line in goodput["lines"]] == [10, 8]
    assert window["lines"][0]["values"][0][-1] * window["quantum"] == pytest.approx(69)
    assert order["lines"][0]["values"][0] == [0, *[3] * 9]


def test_what_a_kernel_did_not_say_once_makes_no_peak_of_what_came_before():
    trial = make_trial(window_bytes=1 << 18)
    rows = [
        {"role": "source", "flow": 0, "start_ns": index * STEP_NS, "end_ns": (index + 1) * STEP_NS}
        | {"bytes": 125_000, "bytes_acked": None if index == 4 else 100_000 * (index + 1)}
        for index in range(10)
        if index != 7
    ]
    sink = [{**row, "role": "sink"} for row in rows]
    ends = [{"role": role, "flow": 0, "bytes": 1_125_000} for role in ("source", "sink")]
    tables = tables_of(
        [
            TrialOutcome(
                record=make_record(trial), samples=make_samples([*rows, *sink]), flows=make_flows(ends)
            )
        ]
    )
    rates = {row["step"]: row["acknowledged_bps"] for row in both(tables)[0].to_pylist()}
    assert {step for step, rate in rates.items() if rate is None} == {4, 5, 8}
    assert {rate for rate in rates.values() if rate is not None} == {8e6}


def test_a_trial_of_many_flows_is_small_as_json(data, outcomes):
    text = json.dumps(data[outcomes[1].record.trial_id], separators=(",", ":"))
    assert len(text) < 30_000


def test_no_rows_give_no_data(series):
    assert trial_data(*(table.slice(0, 0) for table in series)) == {}
