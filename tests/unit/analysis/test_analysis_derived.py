"""What is derived from the kernel's state of a flow, from samples whose truth is known."""

import random
from typing import Any

import pytest

from analysis_support import SECOND_NS, Row, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis import flow_states
from flowsweep.analysis.binning.alignment import flow_starts
from flowsweep.analysis.tests.tcp.columns import LIMITS
from flowsweep.analysis.tests.tcp.flow_totals import flow_totals
from flowsweep.analysis.tests.tcp.limits import trial_limits
from flowsweep.archive import Tables, tables_of
from flowsweep.run.outcome import TrialOutcome
from summary_support import summary_rows

MSS = 1000
FULL: Row = {
    "snd_mss_bytes": MSS, "snd_cwnd": 100, "snd_ssthresh": 80, "snd_wnd_bytes": 300_000, "unacked": 100,
    "sacked": 0, "lost": 0, "retrans": 0, "bytes_sent": 100_000, "bytes_retrans": 0, "bytes_acked": 0,
    "notsent_bytes": 500_000, "total_retrans": 0, "busy_time_us": 0, "rwnd_limited_us": 0,
    "sndbuf_limited_us": 0, "rtt_us": 40_000, "min_rtt_us": 39_000, "rto_us": 240_000, "rttvar_us": 500,
    "ca_state": 0,
    "delivery_rate_bytes_per_s": 2_500_000,
}  # fmt: skip
"""A flow of 100 segments of 1000 bytes, which fill its congestion window."""


def tables(*changes: Row, window_bytes: int | None = 1_000_000, **parameters: Any) -> Tables:
    """A trial with a sample each tenth of a second, none omitted: FULL, as changed."""
    trial = make_trial(window_bytes=window_bytes, **({"omit_ns": 0} | parameters))
    step_ns = SECOND_NS // 10
    rows = [
        FULL
        | {"role": "source", "flow": 0, "bytes": 0, "start_ns": k * step_ns, "end_ns": (k + 1) * step_ns}
        | change
        for k, change in enumerate(changes)
    ]
    flows = make_flows([{"role": role, "flow": 0, "bytes": 0} for role in ("source", "sink")])
    return tables_of([TrialOutcome(make_record(trial), make_samples(rows), flows)])


def states(*changes: Row, **settings: Any) -> list[Row]:
    found = tables(*changes, **settings)
    derived = flow_states(found.samples, found.trials, found.flows)
    return derived.order_by("start_ns").to_pyarrow().to_pylist()


def limits(*changes: Row, **settings: Any) -> Row:
    found = tables(*changes, **settings)
    starts = flow_starts(found.samples, found.flows)
    [row] = trial_limits(flow_totals(found.samples, found.trials, starts)).to_pyarrow().to_pylist()
    return row


def flight(count: int) -> Row:
    return {"bytes_sent": count, "unacked": -(-count // MSS)}


def test_momentary_values_in_bytes() -> None:
    [row] = states({"bytes_sent": 250_000, "bytes_retrans": 50_000, "bytes_acked": 100_001})
    expected = {
        "bytes_in_flight": 99_999, "unsent_bytes": 500_000, "cwnd_bytes": 100_000,
        "cwnd_minus_ssthresh_bytes": 20_000,
        "rwnd_bytes": 300_000, "send_buffer_bytes": 2_000_000, "send_buffer_room_bytes": 1_400_001,
        "rtt_us": 40_000, "min_rtt_us": 39_000, "delivery_rate_bps": 20_000_000, "cwnd_fill": 1.0,
        "send_buffer_fill": 0.0499995,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_slow_start_is_below_the_threshold_and_no_threshold_is_no_difference() -> None:
    rows = states({"snd_ssthresh": 150}, {"snd_ssthresh": 2_147_483_647})
    assert [row["cwnd_minus_ssthresh_bytes"] for row in rows] == [-50_000, None]


def test_an_idle_flow_has_nothing_in_flight_and_an_older_kernel_counts_segments() -> None:
    rows = states(
        {"bytes_sent": 0, "bytes_acked": 1}, {"bytes_sent": None, "bytes_acked": None, "unacked": 7}
    )
    assert [row["bytes_in_flight"] for row in rows] == [0, 7 * MSS]


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        pytest.param({}, "cwnd", id="the congestion window is full"),
        pytest.param({"snd_wnd_bytes": 100_000}, "rwnd", id="both are full"),
        pytest.param({"snd_cwnd": 400, "snd_wnd_bytes": 100_500}, "rwnd", id="no segment fits"),
        pytest.param({"snd_cwnd": 400, "snd_wnd_bytes": 120_000}, "none", id="a pace"),
        pytest.param({"snd_cwnd": 400, "notsent_bytes": 0}, "none", id="nothing waits"),
        pytest.param({"notsent_bytes": 999}, "none", id="a full window, but nothing waits for it"),
        pytest.param({"snd_wnd_bytes": 0, **flight(0)}, "rwnd", id="a closed window"),
        pytest.param({"lost": 60, "snd_cwnd": 42}, "cwnd", id="what is lost does not fill it"),
        pytest.param({"lost": 60, "snd_cwnd": 90}, "none", id="what is lost leaves room"),
        pytest.param({"bytes_sent": None, "unacked": None}, None, id="the kernel does not say"),
        pytest.param({"snd_cwnd": 400, "snd_wnd_bytes": None}, None, id="an untold window may be full"),
        pytest.param({"snd_cwnd": 400, "snd_wnd_bytes": None, "notsent_bytes": 0}, "none", id="none waits"),
        pytest.param({"snd_wnd_bytes": None}, "cwnd", id="beside an untold window"),
    ],
)  # fmt: skip
def test_what_the_flight_fills_is_what_limits(change: Row, limit: str | None) -> None:
    [row] = states(change)
    assert row["limited_by"] == limit


@pytest.mark.parametrize(
    ("in_flight", "unsent", "limit"),
    [
        (100_000, 0, "send_buffer"),
        (70_000, 30_000, "send_buffer"),
        (60_000, 60_000, "none"),
        (59_000, 0, "none"),
        (400_000, 0, "send_buffer"),
    ],
)
def test_a_send_buffer_limits_when_the_flight_fills_it_and_little_waits(
    in_flight: int, unsent: int, limit: str
) -> None:
    roomy = {"snd_cwnd": 1000, "snd_wnd_bytes": 1_000_000}
    [row] = states(flight(in_flight) | roomy | {"notsent_bytes": unsent}, window_bytes=60_000)
    assert row["limited_by"] == limit
    [row] = states(flight(in_flight) | roomy | {"notsent_bytes": unsent}, window_bytes=None)
    assert row["limited_by"] == "none", "what was not granted cannot be filled"


def test_what_the_kernel_does_not_say_is_null_and_not_0() -> None:
    [row] = states(dict.fromkeys(FULL))
    known = {"trial_id", "flow", "start_ns", "end_ns", "counted", "send_buffer_bytes"}
    assert {name for name, value in row.items() if value is not None} == known
    [row] = states({}, window_bytes=None)
    assert {name for name, value in row.items() if value is None} == {
        "send_buffer_bytes", "send_buffer_room_bytes", "send_buffer_fill", "rtt_before_us",
    }  # fmt: skip


def test_shares_of_a_part_of_the_time_are_not_told() -> None:
    """What is untold is of one kind: data waited, perhaps for the receive window."""
    untold: Row = {"snd_cwnd": 400, "snd_wnd_bytes": None}
    idle = untold | {"notsent_bytes": 0}
    known = limits(untold, *[idle] * 19)
    assert (known["limit_none_share"], known["sender_idle_share"]) == (1.0, 1.0)
    for others in (idle, {"snd_wnd_bytes": None}):
        less = limits(*[untold] * 9, *[others] * 11)
        assert {less[f"limit_{limit}_share"] for limit in LIMITS} == {None}
        assert less["sender_idle_share"] is None
    [row] = summary_rows(tables(*[untold] * 20))
    assert row["verdict"] is None


@pytest.mark.parametrize(("options", "scaled"), [(7, True), (3, False), (12, True), (8, False), (None, None)])
def test_whether_windows_are_scaled_is_one_of_a_connection_s_options(
    options: int | None, *, scaled: bool | None
) -> None:
    assert limits({"options": options})["windows_scaled"] is scaled


def test_counts_are_differences_and_time_is_a_share() -> None:
    rows = states(
        {"bytes_retrans": 3_000, "total_retrans": 3, "busy_time_us": 100_000},
        {"bytes_retrans": 3_000, "total_retrans": 3, "busy_time_us": 150_000, "rwnd_limited_us": 25_000},
        {"bytes_retrans": 5_000, "total_retrans": 5, "busy_time_us": 250_000, "rwnd_limited_us": 25_000},
    )
    assert [row["retransmitted_bytes"] for row in rows] == [3_000, 0, 2_000]
    assert [row["retransmitted_segments"] for row in rows] == [3, 0, 2]
    assert [row["busy_share"] for row in rows] == [1.0, 0.5, 1.0]
    assert [row["rwnd_limited_share"] for row in rows] == [0.0, 0.25, 0.0]
    assert [row["send_buffer_limited_share"] for row in rows] == [0.0, 0.0, 0.0]


def test_recoveries_are_seen_by_their_state_or_by_what_they_leave() -> None:
    rows = states(
        {},
        {"ca_state": 3, "total_retrans": 1},
        {"ca_state": 3, "total_retrans": 2},
        {"total_retrans": 2},
        {"total_retrans": 4},
        {"ca_state": 4, "total_retrans": 4},
    )
    assert [row["recoveries"] for row in rows] == [0, 1, 0, 0, 1, 1]


def test_shares_of_a_trial_are_of_the_time_that_counts() -> None:
    peer, roomy = {"snd_wnd_bytes": 100_000}, {"snd_cwnd": 400}
    samples: list[Row] = [
        *[{"bytes_retrans": 900}] * 10, *[{"bytes_retrans": 1_000, "rtt_us": 60_000}] * 6, peer, peer,
        roomy, roomy | {"notsent_bytes": 0}, *[peer] * 10,
    ]  # fmt: skip
    times = {"omit_ns": SECOND_NS, "duration_ns": 2 * SECOND_NS}
    row = limits(*samples, **times)
    assert row["limit_cwnd_share"] == pytest.approx(0.6)
    assert row["limit_rwnd_share"] == pytest.approx(0.2)
    assert row["limit_send_buffer_share"] == 0
    assert row["limit_none_share"] == pytest.approx(0.2)
    assert row["sender_idle_share"] == pytest.approx(0.1)
    assert row["retransmitted_bytes"] == 100
    [summed] = summary_rows(tables(*samples, **times))
    assert summed["rtt_median_ms"] == 60


def test_a_kernel_that_says_too_little_leaves_the_shares_open() -> None:
    row = limits(dict.fromkeys(FULL))
    assert {name: value for name, value in row.items() if name.endswith("share")} == dict.fromkeys(
        [
            *(f"limit_{limit}_share" for limit in LIMITS),
            "sender_idle_share",
            "kernel_rwnd_share",
            "kernel_send_buffer_share",
        ]
    )


def test_the_summary_has_them() -> None:
    [row] = summary_rows(tables(*[{}] * 50))
    assert (row["limit_cwnd_share"], row["limit_none_share"], row["recoveries"]) == (1, 0, 0)


def test_every_sample_has_one_limit_and_shares_add_up() -> None:
    draw = random.Random(1)
    highest = {
        "snd_cwnd": 200, "unacked": 200, "sacked": 50, "lost": 50, "snd_wnd_bytes": 200_000,
        "notsent_bytes": 200_000, "bytes_sent": 200_000, "ca_state": 4,
    }  # fmt: skip
    changes = [{name: draw.randint(0, most) for name, most in highest.items()} for _ in range(1000)]
    rows = states(*changes, window_bytes=100_000)
    assert len(rows) == len(changes)
    assert {row["limited_by"] for row in rows} == set(LIMITS)
    assert all(row["bytes_in_flight"] >= 0 and row["send_buffer_room_bytes"] >= 0 for row in rows)
    summed = limits(*changes, window_bytes=100_000)
    assert sum(summed[f"limit_{limit}_share"] for limit in LIMITS) == pytest.approx(1)
    assert summed["sender_idle_share"] < summed["limit_none_share"]
