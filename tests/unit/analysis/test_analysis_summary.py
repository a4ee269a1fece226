"""The summary of trials whose answers are known."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from analysis_support import (
    SECOND_NS,
    Steady,
    make_campaign,
    make_end,
    make_failed,
    make_flows,
    make_incomplete,
    make_outcome,
    make_samples,
    make_trial,
)
from flowsweep.analysis import FURTHER_COLUMNS, STABLE_COLUMNS, bins, intervals, points, summary
from flowsweep.analysis.binning.byte_balance import balance
from flowsweep.archive import tables_of
from summary_support import summary_table, summed, uneven


def test_columns_stand_in_their_order() -> None:
    columns = summary(tables_of([])).columns
    assert columns == (*STABLE_COLUMNS, *FURTHER_COLUMNS)
    assert "window" not in columns


def test_a_steady_trial() -> None:
    trial = make_trial(flows=4, window_bytes=1 << 16)
    [row] = summed(
        make_outcome(trial, Steady(bytes_per_second=1_250_000, in_flight_bytes=60_000, stagger_ns=0))
    )
    expected = {
        "trial_id": trial.trial_id, "sweep": "windows", "repeat": 1, "src": "a", "dst": "b", "test": "tcp",
        "flows": 4, "window_bytes": 1 << 16, "window_sum_bytes": 1 << 18, "length_bytes": 8192,
        "congestion": "cubic", "duration_s": 5.0, "status": "ok", "error": None, "goodput_bps": 40e6,
        "goodput_p10_bps": 40e6, "goodput_p90_bps": 40e6, "goodput_mean_bps": 40e6, "coverage": 1.0,
        "bytes": 4 * 51 * 125_000, "bytes_sent": 4 * 51 * 125_000, "retransmits": 28, "rtt_min_ms": 40.0,
        "window_granted_send_bytes": 1 << 17, "window_granted_recv_bytes": 1 << 17, "verdict": "not clear",
        "cpu_send": 0.1, "cpu_recv": 0.1, "mode": "copy", "goodput_method": "receiver_median",
        "window_usable_bytes": 60_000, "bins": 4, "bins_expected": 4, "rejected_connections": 0,
        "omit_s": 1.0,
        "interval_s": 1.0,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_goodput_is_the_median_over_intervals_and_its_percentiles_are_interpolated() -> None:
    [row] = summed(uneven([4, 1, 3, 2], flows=2))
    assert row["goodput_bps"] == 8 * 2 * 2.5
    assert row["goodput_p10_bps"] == pytest.approx(8 * 2 * 1.3)
    assert row["goodput_p90_bps"] == pytest.approx(8 * 2 * 3.7)
    assert row["goodput_mean_bps"] == 8 * 2 * 2.5
    [row] = summed(uneven([100, 1, 3]))
    assert row["goodput_bps"] == 8 * 3
    assert row["goodput_mean_bps"] == pytest.approx(8 * 104 / 3)


def test_what_is_omitted_counts_as_bytes_but_not_as_goodput() -> None:
    [row] = summed(uneven([1000, 1000, 5, 5, 5], omit_ns=2 * SECOND_NS))
    assert (row["goodput_bps"], row["bytes"], row["bins_expected"], row["coverage"]) == (40.0, 2015, 3, 1.0)


def test_what_comes_after_the_duration_does_not_count_as_goodput() -> None:
    [row] = summed(uneven([5, 5, 5, 900], duration_ns=3 * SECOND_NS))
    assert (row["goodput_p90_bps"], row["bins"], row["bytes"]) == (40.0, 3, 915)


def test_time_begins_when_the_last_flow_does() -> None:
    early = uneven([7] * 5, flows=2)
    rows = [
        row | {key: row[key] + (SECOND_NS if row["flow"] else 0) for key in ("start_ns", "end_ns")}
        for row in early.samples.to_pylist()
    ]
    tables = tables_of([replace(early, samples=make_samples(rows))])
    found = (
        intervals(bins(tables.samples, tables.trials, tables.flows), tables.trials)
        .order_by("bin")
        .to_pyarrow()
        .to_pylist()
    )
    assert [(row["bin"], row["bytes"], row["complete"]) for row in found] == [
        (-1, 7, False), (0, 14, True), (1, 14, True), (2, 14, True), (3, 14, True), (4, 7, False),
    ]  # fmt: skip


def test_fewer_than_three_intervals_are_no_goodput() -> None:
    [row] = summed(uneven([5, 5], duration_ns=4 * SECOND_NS))
    assert row["status"] == "incomplete"
    assert row["error"] == "2 of 4 intervals are complete, 3 are needed"
    assert (row["goodput_bps"], row["goodput_mean_bps"], row["coverage"]) == (None, None, 0.5)


def test_three_intervals_of_an_incomplete_trial_are_its_goodput() -> None:
    [row] = summed(make_incomplete(make_trial(flows=2, duration_ns=9 * SECOND_NS)))
    assert (row["status"], row["bins"]) == ("incomplete", 3)
    assert row["goodput_bps"] == pytest.approx(200e6)
    assert row["error"] == "run on a: flow 1: connection reset"


def test_a_failed_trial_has_no_goodput_however_much_it_moved() -> None:
    whole = make_outcome(make_trial())
    record = whole.record.model_copy(update={"status": "failed"})
    [row] = summed(replace(whole, record=record))
    assert (row["status"], row["bins"], row["goodput_bps"]) == ("failed", 4, None)


def test_a_trial_that_never_ran() -> None:
    [row] = summed(make_failed(make_trial(window_bytes=1 << 26)))
    assert (row["failure_phase"], row["failure_host"], row["failure_kind"]) == (
        "prepare",
        "a",
        "window_clipped",
    )
    assert row["error"].startswith("prepare on a: send window of 67108864 bytes asked")
    unknown = ("goodput_bps", "bytes", "retransmits", "rtt_min_ms", "window_granted_send_bytes", "cpu_send")
    assert all(row[name] is None for name in unknown)
    assert (row["coverage"], row["congestion"]) == (0.0, "cubic")


@pytest.mark.parametrize(
    ("source_us", "sink_us", "most_us"), [(None, None, None), (0, None, 0), (70_000, 30_000, 70_000)]
)
def test_the_end_that_quotas_held_back_most_is_told(
    source_us: int | None, sink_us: int | None, most_us: int | None
) -> None:
    whole = make_outcome(make_trial())
    ends = {
        "sources": (make_end("a", window_bytes=None, throttled_us=source_us),),
        "sinks": (make_end("b", window_bytes=None, throttled_us=sink_us),),
    }
    [row] = summed(replace(whole, record=whole.record.model_copy(update=ends)))
    assert row["throttled_us"] == most_us


def test_throttling_is_a_share_of_the_time_that_threads_ran() -> None:
    """The kernel adds up what it held back on each CPU."""
    whole = make_outcome(make_trial(flows=4))
    flows = [row | {"cpu_elapsed_us": 10_000_000} for row in whole.flows.to_pylist()]

    def shares(source_us: int, sink_us: int) -> tuple[float, float]:
        ends = {
            "sources": (make_end("a", window_bytes=None, throttled_us=source_us),),
            "sinks": (make_end("b", window_bytes=None, throttled_us=sink_us),),
        }
        record = whole.record.model_copy(update=ends)
        [row] = summed(replace(whole, record=record, flows=make_flows(flows)))
        return row["throttled_send_share"], row["throttled_recv_share"]

    assert shares(30_000_000, 0) == (0.75, 0.0)
    assert shares(2_000_000, 41_000_000) == (0.05, 1.0)


@pytest.mark.parametrize("silent", ["source", "sink"])
def test_a_sum_over_flows_is_of_all_of_them_or_empty(silent: str) -> None:
    whole = make_outcome(make_trial(flows=2))

    def told(table: pa.Table) -> pa.Table:
        missing = pc.and_(pc.equal(table["role"], silent), pc.equal(table["flow"], 1))
        return table.filter(pc.invert(missing))

    [row] = summed(replace(whole, flows=told(whole.flows), samples=told(whole.samples)))
    sent, read = (row["bytes_sent"], row["retransmits"]), (row["bytes"],)
    unknown, known = (sent, read) if silent == "source" else (read, sent)
    assert set(unknown) == {None}
    assert None not in known


def test_how_alike_flows_are_is_of_all_of_them_or_empty() -> None:
    whole = make_outcome(make_trial(flows=3))
    missing = pc.and_(pc.equal(whole.flows["role"], "sink"), pc.equal(whole.flows["flow"], 1))
    other = make_outcome(make_trial(flows=3, repeat=2))
    rows = summed(whole, replace(other, flows=whole.flows.filter(pc.invert(missing))))
    assert [row["jain_flows"] for row in rows] == [1.0, None]


@pytest.mark.parametrize("role", ["source", "sink"])
def test_a_byte_too_many_at_either_end_makes_a_trial_incomplete(role: str) -> None:
    whole = make_outcome(make_trial(flows=3))
    ends = whole.flows.to_pylist()
    [end] = [end for end in ends if (end["role"], end["flow"]) == (role, 1)]
    end["bytes"] += 1
    wrong = replace(whole, flows=make_flows(ends))
    [row] = summed(wrong)
    assert (row["status"], row["error"]) == ("incomplete", "bytes sent, read and sampled differ in 1 flow")
    tables = tables_of([wrong])
    checked = balance(
        tables.flows, tables.samples, bins(tables.samples, tables.trials, tables.flows)
    ).order_by("flow")
    assert checked.to_pyarrow()["balanced"].to_pylist() == [True, False, True]


def test_the_usable_window_is_the_plateau_of_the_median_flow() -> None:
    whole = make_outcome(make_trial(flows=3), Steady(in_flight_bytes=100_000))
    rows = whole.samples.to_pylist()
    for row in rows:
        if row["role"] == "source":
            row["bytes_sent"] += 1_000 * row["flow"]
            if row["start_ns"] < SECOND_NS:
                row["bytes_sent"] += 10**9  # omitted
            if row["start_ns"] % SECOND_NS < SECOND_NS // 2:
                row["bytes_sent"] -= 90_000  # dips in half of the samples
    [row] = summed(replace(whole, samples=make_samples(rows)))
    assert row["window_usable_bytes"] == 101_000


def test_the_usable_window_of_an_older_kernel_is_counted_in_segments() -> None:
    whole = make_outcome(make_trial())
    without = whole.samples.drop_columns(["bytes_sent", "bytes_retrans", "bytes_acked"])
    [row] = summed(replace(whole, samples=without))
    assert row["window_usable_bytes"] == 300 * 1448


@pytest.mark.parametrize("limit", ["rate_bps", "pacing_rate_bps"])
def test_a_trial_that_its_rate_holds_down_has_no_usable_window(limit: str) -> None:
    [row] = summed(make_outcome(make_trial(**{limit: 10**6})))
    assert (row["status"], row["window_usable_bytes"]) == ("ok", None)


@pytest.mark.parametrize(("in_flight_bytes", "usable_bytes"), [(0, None), (1447, None), (1448, 1448)])
def test_less_than_a_segment_in_flight_is_no_usable_window(
    in_flight_bytes: int, usable_bytes: int | None
) -> None:
    [row] = summed(make_outcome(make_trial(), Steady(in_flight_bytes=in_flight_bytes)))
    assert row["window_usable_bytes"] == usable_bytes


def test_what_the_kernel_did_not_say_is_empty() -> None:
    whole = make_outcome(make_trial())
    kept = ["host", "peer", "role", "flow", "start_ns", "end_ns", "bytes"]
    [row] = summed(replace(whole, samples=whole.samples.select(kept)))
    assert (row["status"], row["goodput_bps"]) == ("ok", 100e6)
    assert (row["retransmits"], row["rtt_min_ms"], row["window_usable_bytes"]) == (None, None, None)


def test_a_round_trip_time_that_was_not_measured_yet_is_no_round_trip_time() -> None:
    [row] = summed(make_outcome(make_trial(), Steady(min_rtt_us=0xFFFF_FFFF)))
    assert row["rtt_min_ms"] is None


def test_capped_points_stand_where_they_were_asked_for() -> None:
    sums = (1 << 20, 1 << 21, 1 << 22)
    capped = make_trial(window_bytes=1 << 20, window_sums_asked_bytes=sums, window_capped=True)
    tables = tables_of([make_outcome(capped), make_outcome(make_trial(repeat=2))])
    found = points(summary_table(tables), tables.trials).to_pyarrow().to_pylist()
    asked = [(row["repeat"], row["window_sum_asked_bytes"]) for row in found]
    assert sorted(asked, key=str) == [(1, 1 << 20), (1, 1 << 21), (1, 1 << 22), (2, None)]
    assert {row["goodput_bps"] for row in found} == {100e6}


def test_a_campaign_finds_the_goodput_it_was_made_with() -> None:
    rows = summed(*make_campaign(rate_bps=80_000_000, rtt_us=50_000))
    for row in rows:
        if row["status"] == "ok":
            made = min(80e6, row["window_sum_bytes"] * 8 / 0.05) * (1 if row["dst"] == "b" else 0.93)
            assert row["goodput_bps"] == pytest.approx(made, rel=1e-4)
    assert sorted(row["status"] for row in rows)[:2] == ["failed", "incomplete"]
