"""Files of iperf3 that differ from those of one test on Linux: other systems and settings, several runs."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.imports import FlowReport, Transfer, read_file
from flowsweep.imports.outcome import Numbering, content_ids, outcome_of
from imported_trials import FILES, document

load(["import"])

Document = dict[str, Any]
SECOND_NS = 1_000_000_000


def read(tmp_path: Path, *documents: Document) -> tuple[Transfer, ...]:
    path = tmp_path / "results.json"
    path.write_text("\n".join(json.dumps(document) for document in documents), "utf-8")
    return read_file(path).transfers


def imported_together(tmp_path: Path, *documents: Document) -> list[Document]:
    """Rows of the trials that a log of several tests becomes."""
    path = tmp_path / "log.json"
    path.write_text("\n".join(json.dumps(document) for document in documents), "utf-8")
    done = CliRunner().invoke(app, ["import", str(path), "--archive", str(tmp_path / "old")])
    assert done.exit_code == 0, done.output
    return read_archive(tmp_path / "old").tables().trials.to_pyarrow().to_pylist()


def events(name: str) -> list[Document]:
    lines = (FILES / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"event"')]


def changed(value: object, change: Callable[[Document], None]) -> None:
    """Change every object in a document."""
    if isinstance(value, dict):
        change(value)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        changed(part, change)


def test_a_file_of_many_flows_is_recognised(tmp_path: Path) -> None:
    """iperf3 has the version behind all connections: seven lines each, 128 of them at most."""
    told = document("iperf3-3.12-tcp-client.json")
    told["start"]["connected"] += [told["start"]["connected"][0]] * 126
    path = tmp_path / "results.json"
    path.write_text(json.dumps(told, indent="\t"), "utf-8")
    assert read_file(path).kind.name == "iperf3-json"


def test_what_a_kernel_does_not_tell_is_unknown(tmp_path: Path) -> None:
    """BSD and macOS: iperf3 has -1, also for retransmits."""
    told = document("iperf3-3.12-tcp-client.json")
    unknown = ("retransmits", "rttvar", "snd_wnd", "pmtu", "snd_cwnd")

    def forget(part: Document) -> None:
        part |= {name: -1 for name in unknown if name in part}

    changed(told, forget)
    (test,) = read(tmp_path, told)
    states = [report.tcp for flow in test.flows for report in flow.intervals if report.tcp is not None]
    assert {
        (state.retransmits, state.rttvar_us, state.snd_wnd_bytes, state.pmtu_bytes) for state in states
    } == {(None, None, None, None)}
    assert all(state.rtt_us is not None and state.rtt_us > 0 for state in states)
    changed(told, lambda part: part.update(rtt=-1) if "rtt" in part else None)
    (silent,) = read(tmp_path, told)
    assert {report.tcp for flow in silent.flows for report in flow.intervals} == {None}
    assert silent.total == test.total


def test_a_sender_of_datagrams_does_not_know_which_came_late(tmp_path: Path) -> None:
    (test,) = read(tmp_path, *events("iperf3-3.21-udpstream-client.json"))
    assert test.far is not None
    received = [flow.whole.datagrams for flow in test.far.flows]
    assert [counts.reordered for counts in received if counts is not None] == [None]
    (back,) = read(tmp_path, document("iperf3-3.12-udpreverse-client.json"))
    came = [flow.whole.datagrams for flow in back.flows]
    assert {counts.reordered for counts in came if counts is not None} == {0}


def omitting(omit_s: int, rows: list[tuple[float, float, bool]]) -> Document:
    """Intervals with 1 MB each, of a client that sends."""
    told = document("iperf3-3.12-interrupted-client.json")
    told["start"]["test_start"]["omit"] = omit_s
    first = told["intervals"][0]["streams"][0]
    told["intervals"] = [
        {
            "streams": [
                first
                | {"start": start, "end": end, "omitted": omitted, "bytes": 1_000_000, "bits_per_second": 5e6}
            ]
        }
        for start, end, omitted in rows
    ]
    return told


def spans(test: Transfer) -> list[tuple[float, float]]:
    return [(row.start_ns / SECOND_NS, row.end_ns / SECOND_NS) for row in test.flows[0].intervals]


def test_omitted_time_that_is_no_multiple_of_the_interval(tmp_path: Path) -> None:
    """`-O 2 -i 0.75`, as iperf3 3.12 wrote it: what counts began at 2 s, and the row with it says 0.5."""
    rows = [
        (0, 0.750081, True), (0.750081, 1.500089, True), (0.500021, 0.750074, False),
        (0.750074, 1.500072, False), (1.500072, 2.250069, False), (2.250069, 2.999982, False),
    ]  # fmt: skip
    (test,) = read(tmp_path, omitting(2, rows))
    assert spans(test) == [
        (0, 0.750081), (0.750081, 1.500089), (2, 2.750074), (2.750074, 3.500072), (3.500072, 4.250069),
        (4.250069, 4.999982),
    ]  # fmt: skip
    rates = [row.rate_bps for row in test.flows[0].intervals]
    assert rates[2] == pytest.approx(8e6 / 0.750074)
    assert rates[3:] == [5e6] * 3
    # The row before the end of what is omitted took longer than what counts: it ended before it began.
    late = [(0, 1.5, True), (0.5, 0.25, False), (0.25, 1.75, False)]
    (test,) = read(tmp_path, omitting(1, late))
    assert spans(test)[1:] == [(1, 1.25), (1.25, 2.75)]


def test_what_counts_begins_where_the_omitted_time_ends(tmp_path: Path) -> None:
    """Also where the last omitted interval ended a little early, or there was none."""
    early = [(0, 0.99998, True), (2e-5, 1.0, False), (1.0, 2.0, False)]
    assert spans(read(tmp_path, omitting(1, early))[0]) == [(0, 1), (1, 2), (2, 3)]
    assert spans(read(tmp_path, omitting(1, [(0, 3, False), (3, 6, False)]))[0]) == [(1, 4), (4, 7)]


def test_the_median_is_over_the_intervals_that_count(tmp_path: Path) -> None:
    told = omitting(3, [*((k, k + 1, True) for k in range(3)), *((k, k + 1, False) for k in range(3))])
    for interval in told["intervals"][:3]:
        interval["streams"][0]["bits_per_second"] = 1e9
    (test,) = read(tmp_path, told)
    record = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    assert (record.goodput_method, record.reported_goodput_bps) == ("sender_median", 5e6)


def retransmitted(test: Transfer, source: FlowReport) -> list[tuple[float, float, int | None]]:
    """What the samples of a flow's source say: beginning, end, and what was sent again until then."""
    samples = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).samples
    return [
        (row["start_ns"] / SECOND_NS, row["end_ns"] / SECOND_NS, row["total_retrans"])
        for row in samples.to_pylist()
        if row["role"] == "source" and row["bytes"] == source.whole.size_bytes
    ]


def test_what_a_sender_sent_again_is_kept_where_the_file_has_none_of_its_intervals(tmp_path: Path) -> None:
    """A receiving client has of the sender the whole only; so has a sender without -i."""
    (back,) = read(tmp_path, document("iperf3-3.12-reverse-client.json"))
    assert back.far is not None
    assert retransmitted(back, *back.far.flows) == [(0.0, 3.015962, 4_813)]
    there, reverse = read(tmp_path, document("iperf3-3.12-bidir-client.json"))
    assert reverse.far is not None
    assert retransmitted(reverse, *reverse.far.flows) == [(0.0, 3.000092, 51)]
    assert [row.tcp.retransmits for row in there.flows[0].intervals if row.tcp is not None][-1] == 77
    told = document("iperf3-3.12-bidir-client.json") | {"intervals": []}
    told["start"]["test_start"]["omit"] = 1
    alone, back = read(tmp_path, told)
    assert retransmitted(alone, *alone.flows) == [(1.0, 4.000092, 77)]
    assert [flow.intervals for flow in back.flows] == [()]
    changed(told, lambda part: part.update(retransmits=-1) if "retransmits" in part else None)
    assert [flow.intervals for flow in read(tmp_path, told)[0].flows] == [()]


ERROR: Document = {"event": "error", "data": "unable to connect to server: Connection refused"}


@pytest.mark.parametrize(
    "failed", [[ERROR, {"event": "end", "data": {}}], [ERROR], [{"event": "end", "data": {}}]]
)
def test_a_run_that_failed_does_not_spoil_the_one_before_it_in_a_log(
    tmp_path: Path, failed: list[Document]
) -> None:
    good = events("iperf3-3.21-stream-client.json")
    (alone,) = read(tmp_path, *good)
    assert read(tmp_path, *good, *failed) == (alone,)
    assert read(tmp_path, *good, *failed, *good) == (alone, alone)
    assert read(tmp_path, *failed, *good) == (alone,)


@pytest.mark.parametrize("name", ["iperf3-3.12-bidir-client.json", "iperf3-3.12-bidir-server.json"])
def test_of_both_directions_each_has_the_congestion_control_of_its_source(tmp_path: Path, name: str) -> None:
    """By both ends' files the server is the "sender": iperf3 has the direction that it sums up last."""
    told = document(name)
    told["end"] |= {"sender_tcp_congestion": "bbr", "receiver_tcp_congestion": "reno"}
    there, back = read(tmp_path, told)
    assert (there.congestion, back.congestion) == ("reno", "bbr")


def test_what_was_asked_for_tells_points_apart(tmp_path: Path) -> None:
    """DSCP, MSS and --fq-rate; of a test with none of them the id is that of earlier versions."""
    plain = document("iperf3-3.12-tcp-client.json")
    tests = [plain]
    for setting in ({"tos": 184}, {"fqrate": 10**9}, {"fqrate": 5 * 10**9}):
        told = deepcopy(plain)
        told["start"]["test_start"] |= setting
        tests.append(told)
    tests.append(plain | {"start": plain["start"] | {"tcp_mss": 1000}})
    tests.append(plain | {"start": plain["start"] | {"fq_rate": 2 * 10**9}})
    for number, test in enumerate(tests):
        timestamp = {"timesecs": 1_795_308_467 + number}
        test["start"] = test["start"] | {"timestamp": timestamp}
    rows = imported_together(tmp_path, *tests)
    assert [(row["dscp"], row["mss_bytes"], row["pacing_rate_bps"]) for row in rows] == [
        (None, None, None), (46, None, None), (None, None, 10**9), (None, None, 5 * 10**9),
        (None, 1000, None), (None, None, 2 * 10**9),
    ]  # fmt: skip
    assert {row["repeat"] for row in rows} == {1}
    tests[1]["start"]["timestamp"] = tests[0]["start"]["timestamp"]
    unset, marked = read(tmp_path, *tests[:2])
    assert content_ids([unset]) == content_ids([marked])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([{"bytes": 1 << 20}, {"bytes": 10 << 30}], "(1 MiB, 10 GiB)"),
        ([{"bytes": 1 << 20}, {"blocks": 64}, {"bytes": 0}], "(1 MiB, 2 MiB)"),
        ([{"bytes": 1 << 20}, {"blocks": 32}], None),
    ],
)
def test_tests_of_different_amounts_are_no_silent_repeats(
    tmp_path: Path, settings: list[Document], said: str | None
) -> None:
    tests = []
    for number, setting in enumerate(settings):
        test = document("iperf3-3.12-tcp-client.json")
        test["start"]["timestamp"]["timesecs"] += number
        test["start"]["test_start"] |= {"duration": 0} | setting
        tests.append(test)
    path = tmp_path / "log.json"
    path.write_text("\n".join(map(json.dumps, tests)), "utf-8")
    done = CliRunner().invoke(app, ["import", str(path), "--archive", str(tmp_path / "old")])
    assert done.exit_code == 0
    remark = f"tests that were to carry different amounts became repeats of one point {said}"
    assert done.output.startswith(remark) if said else "amounts" not in done.output


def test_a_file_need_not_say_how_many_streams_were_asked_for(tmp_path: Path) -> None:
    told = document("iperf3-3.12-tcp-client.json")
    (whole,) = read(tmp_path, told)
    assert told["start"]["test_start"].pop("num_streams")
    assert read(tmp_path, told) == (whole,)
