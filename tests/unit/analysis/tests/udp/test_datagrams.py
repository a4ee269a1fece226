"""Counts, losses and times of datagrams, against what can be worked out by hand."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from analysis_support import SECOND_NS, Row, make_outcome, make_trial
from datagram_support import MILLISECOND_NS, Stream, make_udp_outcome, make_udp_trial
from flowsweep.analysis import FURTHER_COLUMNS, STABLE_COLUMNS, bins, datagram_series, shown_steps
from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.binning.byte_balance import balance
from flowsweep.analysis.tests.udp.columns import COUNTED_COLUMNS
from flowsweep.analysis.tests.udp.datagrams import datagram_flows
from flowsweep.analysis.verdicts import VERDICTS
from flowsweep.archive import tables_of
from flowsweep.figures.trial_data import trial_data
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import COUNTERS_SCHEMA
from summary_support import summed

OUTCOMES: dict[str, TrialOutcome] = {"tcp": make_outcome(make_trial())}


def case(name: str, *streams: Stream, parameters: Row | None = None, **changes: Any) -> None:
    """Keep an outcome for the one summary that all tests look at: each by itself would take its time."""
    trial = make_udp_trial(flows=len(streams), repeat=len(OUTCOMES) + 1, **(parameters or {}))
    OUTCOMES[name] = make_udp_outcome(trial, streams, **changes)


def torn(name: str, role: str, column: str, value: int) -> None:
    """The outcome of a whole trial, one of whose counts is another."""
    case(name, Stream())
    told(name, {role: {column: value}})


def told(name: str, counts: dict[str, Row]) -> None:
    """Change what the ends of an outcome, source and sink, counted."""
    rows = [row | counts.get(row["role"], {}) for row in OUTCOMES[name].flows.to_pylist()]
    OUTCOMES[name] = replace(
        OUTCOMES[name], flows=pa.Table.from_pylist(rows, schema=OUTCOMES[name].flows.schema)
    )


case("whole", Stream(), Stream())
case("lossy", Stream(lost=100, bursts=7, longest_burst=40), Stream())
case("nothing came", Stream(lost=1000))
case("order", Stream(duplicates=2, reordered=3, extent=4, late=1), Stream(reordered=1, extent=9))
case("host drops", Stream(lost=100, socket_dropped=450), softnet_dropped=30)
case("drops of others", Stream(lost=1, socket_dropped=0), softnet_dropped=1_000)
case("silent kernel", Stream(lost=100, socket_dropped=None))
case("silent kernel, watched host", Stream(lost=100, socket_dropped=None))
OUTCOMES["silent kernel, watched host"] = replace(
    OUTCOMES["silent kernel, watched host"],
    counters=pa.Table.from_pylist(
        [{"host": "b", "role": "sink", "name": "Udp.InDatagrams", "value": 900}], schema=COUNTERS_SCHEMA
    ),
)
case("path loss", Stream(lost=100))
case("joined, drops", Stream(lost=100, socket_dropped=10), parameters={"gro": True})
case("joined, no drops", Stream(lost=100), parameters={"gro": True})
case(
    "joined, a drop for each run of lost ones",
    Stream(lost=100, socket_dropped=12, bursts=12, longest_burst=90),
    parameters={"gro": True},
)
case(
    "joined, fewer drops than runs",
    Stream(lost=100, socket_dropped=12, bursts=13, longest_burst=90),
    parameters={"gro": True},
)
case(
    "joined, more lost than pieces hold",
    Stream(lost=100, socket_dropped=7, bursts=7, longest_burst=100),
    parameters={"gro": True},
)
case("ring of the device", Stream(lost=100), device_dropped=490)
# 5 frames a second are nobody's, in the 5 s that threads ran.
case("stray frames", Stream(sent=20, lost=4), stray=25)
case("more than stray frames", Stream(sent=20, lost=4), stray=43)
case("stray frames and a ring", Stream(sent=20, lost=4), stray=25, device_dropped=18)
# 8 Mbit/s for 4.1 s, of which 2 % did not come; of each second that counts all came, or 2 % less.
OMITTED = {"omit_ns": SECOND_NS}
LOST = {"source": {"udp_datagrams": 4_100}, "sink": {"udp_datagrams": 4_018}}
case("lost while omitted", Stream(), parameters=OMITTED)
case("lost, nothing omitted", Stream())
case("lost all the time", Stream(lost=20), parameters=OMITTED)
for lost in ("lost while omitted", "lost, nothing omitted", "lost all the time"):
    told(lost, LOST)
case("jitter", Stream(jitter_ns=50_000), Stream(jitter_ns=150_000))
case("99 of 100", Stream(), delays=[(0, 1000, 98), (10**6, 10**6 + 1, 1), (8 * 10**6, 8 * 10**6 + 1, 1)])
case("98 of 100", Stream(), delays=[(0, 1000, 97), (10**6, 10**6 + 1, 1), (8 * 10**6, 8 * 10**6 + 1, 2)])
case(
    "gaps",
    Stream(),
    spacings=[
        ("source", 100_000, 100_001, 60),
        ("source", 300_000, 300_001, 40),
        ("sink", 80_000, 90_000, 50),
        ("sink", 200_000, 200_001, 50),
    ],
)
case(
    "clocks",
    Stream(delay_min_ns=25 * MILLISECOND_NS),
    Stream(delay_min_ns=26 * MILLISECOND_NS),
    clock_offset_ns=5 * MILLISECOND_NS,
    clock_bound_ns=100_000,
)
case("broken", Stream(lost=10), Stream(broken_at_s=2))
case(
    "broken, timed",
    Stream(broken_at_s=2, jitter_ns=900_000),
    Stream(jitter_ns=50_000),
    delays=[(0, 1000, 98), (8 * 10**6, 8 * 10**6 + 1, 2)],
    spacings=[("source", 100_000, 100_001, 60), ("sink", 80_000, 90_000, 50)],
)
case("spaced", Stream(), parameters={"rate_bps": None, "spacing_ns": 1_000_000})
torn("fewer bytes", "sink", "bytes", 4_999_000)
torn("fewer datagrams", "sink", "udp_datagrams", 4_999)
torn("more than sent", "sink", "udp_datagrams", 5_001)
torn("fewer bytes sent", "source", "bytes", 4_000_000)


def told_by_server(name: str, came: int, missing: int) -> None:
    """The outcome of a trial with an iperf3 server, which counted so many of 5000 datagrams."""
    case(name, Stream())
    told = {"bytes": came * 1000, "udp_datagrams": came, "udp_missing": missing}
    rows = [row | (told if row["role"] == "sink" else {}) for row in OUTCOMES[name].flows.to_pylist()]
    OUTCOMES[name] = TrialOutcome(
        record=OUTCOMES[name].record.model_copy(update={"far_side": "iperf3"}),
        samples=OUTCOMES[name].samples,
        flows=pa.Table.from_pylist(rows, schema=OUTCOMES[name].flows.schema),
    )


told_by_server("tail", 4_400, 100)
told_by_server("nothing counted", 0, 0)


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    found = summed(*OUTCOMES.values())
    return dict(zip(OUTCOMES, found, strict=True))


def test_a_whole_trial_has_goodput_and_no_loss(rows):
    row = rows["whole"]
    assert (row["status"], row["error"], row["goodput_bps"]) == ("ok", None, 16e6)
    assert (row["datagrams_sent"], row["datagrams"], row["lost"], row["loss"]) == (10_000, 10_000, 0, 0.0)
    assert (row["verdict"], row["rate_sum_bps"]) == ("application rate", 16e6)
    assert (row["pacing_lag_max_ms"], row["burst_max"]) == (0.09, 3)


def test_loss_alone_leaves_a_trial_whole(rows):
    row = rows["lossy"]
    assert (row["status"], row["error"], row["goodput_bps"]) == ("ok", None, 15.2e6)
    assert (row["datagrams_sent"], row["datagrams"], row["lost"], row["loss"]) == (10_000, 9_500, 500, 0.05)
    assert (row["loss_bursts"], row["loss_burst_max"]) == (7, 40)


def test_what_tcp_has_is_empty(rows):
    names = ("retransmits", "rtt_min_ms", "congestion", "window_usable_bytes")
    assert [rows["whole"][name] for name in names] == [None] * 4


def test_a_trial_of_tcp_has_none_of_these(rows):
    row = rows["tcp"]
    assert {name: row[name] for name in COUNTED_COLUMNS} == dict.fromkeys(COUNTED_COLUMNS)
    assert (row["test"], row["rate_sum_bps"], row["verdict"]) == ("tcp", None, "not clear")


def test_columns_follow_the_stable_ones(rows):
    row = rows["whole"]
    assert tuple(row) == (*STABLE_COLUMNS, *FURTHER_COLUMNS)
    assert (row["gso"], row["gro"], row["spacing_ns"]) == (True, False, None)


def test_order_and_copies_are_added_up_over_flows(rows):
    row = rows["order"]
    assert (row["duplicates"], row["reordered"], row["reordering_extent_max"], row["late"]) == (10, 20, 9, 1)


def test_loss_at_hosts_is_told_from_loss_on_the_path(rows):
    row = rows["host drops"]
    assert (row["lost"], row["loss_at_hosts"], row["loss_on_path"]) == (500, 480 / 5000, 20 / 5000)


def test_hosts_lose_no_more_than_was_lost(rows):
    row = rows["drops of others"]
    assert (row["loss_at_hosts"], row["loss_on_path"]) == (row["loss"], 0.0)


@pytest.mark.parametrize(
    ("name", "at_hosts"),
    [("stray frames", 0), ("more than stray frames", 18), ("stray frames and a ring", 18)],
)
def test_frames_that_nobody_asked_for_are_no_loss_at_hosts(rows, name, at_hosts):
    row = rows[name]
    assert (row["lost"], row["datagrams_sent"]) == (20, 100)
    assert row["loss_at_hosts"] == pytest.approx(at_hosts / 100)
    assert row["loss_on_path"] == pytest.approx((20 - at_hosts) / 100)
    assert row["verdict"] == ("host drops" if at_hosts else "path loss")


@pytest.mark.parametrize("name", ["silent kernel", "silent kernel, watched host"])
def test_where_the_kernel_does_not_say_the_place_of_loss_is_unknown(rows, name):
    """A counter that rose and counts no drops tells nothing of it."""
    row = rows[name]
    assert (row["loss_at_hosts"], row["loss_on_path"]) == (None, None)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("host drops", "host drops"),
        ("path loss", "path loss"),
        ("silent kernel", "not clear"),
        ("silent kernel, watched host", "not clear"),
        # One drop of a socket may be of several datagrams.
        ("joined, drops", "not clear"),
        ("joined, no drops", "path loss"),
        ("joined, a drop for each run of lost ones", "host drops"),
        ("joined, fewer drops than runs", "not clear"),
        ("joined, more lost than pieces hold", "not clear"),
        ("ring of the device", "host drops"),
        ("lost while omitted", "application rate"),
        ("lost, nothing omitted", "path loss"),
        ("lost all the time", "path loss"),
        ("spaced", "application rate"),
        ("broken", None),
    ],
)
def test_losses_tell_what_limits(rows, name, verdict):
    assert rows[name]["verdict"] == verdict
    assert verdict in {*VERDICTS, None}


def test_jitter_is_the_mean_over_intervals_and_flows(rows):
    assert rows["jitter"]["jitter_ms"] == pytest.approx(0.1)


def test_delay_variation_is_the_99th_percentile_above_the_least(rows):
    assert [rows[name]["delay_variation_ms"] for name in ("99 of 100", "98 of 100")] == [1.0, 8.0]


def test_gaps_of_both_ends(rows):
    row = rows["gaps"]
    assert (row["spacing_send_median_us"], row["spacing_send_p99_us"]) == (100.0, 300.0)
    assert (row["spacing_recv_median_us"], row["spacing_recv_p99_us"]) == (84.9995, 200.0)


def test_one_way_delay_takes_off_what_the_clocks_differ_by(rows):
    row = rows["clocks"]
    assert (row["delay_min_ms"], row["delay_bound_ms"]) == (20.0, 0.2)


def test_a_broken_flow_is_counted_and_its_datagrams_are_not(rows):
    row = rows["broken"]
    assert (row["flows_broken"], row["status"], row["error"]) == (
        1,
        "incomplete",
        "run on b: 1 of 2 flows broke: flow 0: no datagram for 10 s",
    )
    assert (row["datagrams_sent"], row["lost"], row["coverage"]) == (5_000, 50, 0.5)
    assert row["goodput_bps"] is None


def test_times_of_a_broken_flow_are_left_out(rows):
    row = rows["broken, timed"]
    assert (row["jitter_ms"], row["delay_variation_ms"]) == (0.05, None)
    assert (row["spacing_send_median_us"], row["spacing_recv_median_us"]) == (None, None)
    assert row["delay_min_ms"] == 20.0


def test_spacing_is_a_rate_too(rows):
    assert rows["spaced"]["rate_sum_bps"] == 8e6


def test_what_a_server_did_not_count_at_the_end_is_not_lost(rows):
    row = rows["tail"]
    assert (row["datagrams_sent"], row["datagrams"], row["lost"]) == (4_500, 4_400, 100)
    assert row["offered_share"] == pytest.approx(rows["whole"]["offered_share"])
    row = rows["nothing counted"]
    assert (row["datagrams_sent"], row["lost"], row["loss"]) == (5_000, 5_000, 1.0)


def test_sent_is_what_came_and_what_was_lost():
    tables = tables_of([OUTCOMES[name] for name in ("whole", "lossy", "nothing came")])
    resampled = bins(tables.samples, tables.trials, tables.flows)
    checked = balance(tables.flows, tables.samples, resampled).balanced.to_pyarrow().to_pylist()
    assert checked == [True] * 5
    flows = datagram_flows(tables.flows).to_pyarrow().to_pylist()
    assert [flow["sent"] for flow in flows] == [flow["came"] + flow["lost"] for flow in flows] == [5_000] * 5


@pytest.mark.parametrize("name", ["fewer bytes", "fewer datagrams", "more than sent", "fewer bytes sent"])
def test_a_count_that_does_not_fit_the_others_is_seen(rows, name):
    row = rows[name]
    assert (row["status"], row["error"]) == ("incomplete", "bytes sent, read and sampled differ in 1 flow")


def test_trials_of_several_tests_stand_in_one_summary(rows):
    assert (rows["tcp"]["duration_s"], rows["whole"]["duration_s"]) == (5.0, 4.0)
    assert rows["path loss"]["goodput_bps"] == 900 * 1000 * 8 * SECOND_NS / SECOND_NS


def test_a_trial_over_time_has_delay_jitter_and_what_is_missing():
    tables = tables_of([OUTCOMES["lossy"]])
    series = datagram_series(tables.datagrams, shown_steps(tables.trials, kept_starts(tables)))
    rows = series.order_by("flow", "step").to_pyarrow().to_pylist()
    assert [(row["flow"], row["step"], row["missing_datagrams"]) for row in rows] == [
        *((0, step, 100) for step in range(5)),
        *((1, step, 0) for step in range(5)),
    ]
    assert {(row["delay_low_us"], row["delay_high_us"], row["jitter_us"]) for row in rows} == {
        (0.0, 2000.0, 50.0)
    }
    [data] = trial_data(pa.table({}), pa.table({}), series.to_pyarrow()).values()
    assert [panel["title"] for panel in data["panels"]] == [
        "missing",
        "one-way delay above the least",
        "jitter",
    ]
