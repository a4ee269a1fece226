"""What pScheduler's records say otherwise than the tools that it ran."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowsweep.archive import ImportedTrial
from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import Numbering, content_ids, former_ids, outcome_of
from flowsweep.imports.transfer import Datagrams
from imported_trials import FILES

Row = dict[str, Any]


def span(start: float, end: float, rate_bps: float, size_bytes: float | None = None, **more: object) -> Row:
    size = round(rate_bps * (end - start) / 8) if size_bytes is None else size_bytes
    return {"start": start, "end": end, "throughput-bits": rate_bps, "throughput-bytes": size, **more}


def record(
    tool: str, intervals: list[list[Row]], streams: list[Row], whole: Row | None = None, **spec: object
) -> Row:
    """Of a test from a to b.

    Args:
        tool: Its name.
        intervals: Of each stream.
        streams: Each of the whole.
        whole: Of all streams; that of the only one if absent.
        spec: What was asked for.
    """
    asked = {"source": "a", "dest": "b", "duration": "PT10S", "schema": 1, **spec}
    result = {
        "succeeded": True,
        "intervals": [{"streams": parts} for parts in intervals],
        "summary": {"streams": streams, "summary": whole or streams[0]},
    }
    return {
        "test": {"type": "throughput", "spec": asked},
        "schedule": {"start": "2026-01-05T10:00:00Z"},
        "tool": {"name": tool, "version": "1.0"},
        "result": result,
    }


def read(tmp_path: Path, told: Row) -> Transfer:
    (tmp_path / "result.json").write_text(json.dumps(told), "utf-8")
    (test,) = read_file(tmp_path / "result.json").transfers
    return test


def trial(test: Transfer) -> ImportedTrial:
    return outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record


def of_iperf2(start: float, end: float, rate_bps: int, stream: str = "1") -> Row:
    """pScheduler has the bytes of one second there, whatever the time."""
    return span(start, end, rate_bps, int(rate_bps / 8), **{"stream-id": stream})


@pytest.mark.parametrize("tool", ["iperf2", "a tool that nobody names"])
def test_bytes_of_iperf2_are_rate_and_time(tmp_path: Path, tool: str) -> None:
    rates = (900_000_000, 800_000_004, 700_000_000, 800_000_000, 800_000_001)
    intervals = [[of_iperf2(2.0 * k, 2.0 * k + 2, rate)] for k, rate in enumerate(rates)]
    test = read(tmp_path, record(tool, intervals, [of_iperf2(0.0, 10.0, 800_000_001)]))
    (flow,) = test.flows
    assert [report.size_bytes for report in flow.intervals] == [rate // 4 for rate in rates]
    assert isinstance(test.total.size_bytes, int)
    assert flow.whole.size_bytes == test.total.size_bytes == 1_000_000_001
    assert trial(test).reported_bytes == 1_000_000_001


def test_bytes_of_iperf2_in_one_second_are_as_told(tmp_path: Path) -> None:
    whole = of_iperf2(0.0, 1.0, 8_000_004)
    test = read(tmp_path, record("iperf2", [[whole]], [whole]))
    assert (test.total.size_bytes, test.as_before) == (1_000_000, ())


def test_what_was_imported_with_the_bytes_of_one_second_is_known_again(tmp_path: Path) -> None:
    halves = [[of_iperf2(0.0, 5.0, 8_000)], [of_iperf2(5.0, 10.0, 8_000)]]
    test = read(tmp_path, record("iperf2", halves, [of_iperf2(0.0, 10.0, 8_000)]))
    assert former_ids([test]) == ["334f6939c7f3"] != content_ids([test])


def of_udp(
    lost: tuple[int, ...], jitter: float = 0.35, receiver_bps: float | None = None, **spec: object
) -> Row:
    """Of iperf3 up to 3.10, or of later ones with the receiver's rate: 1000 datagrams of 1000 B each."""
    streams = [
        span(0, 10, 8e5, sent=1000, lost=count, jitter=jitter, **{"stream-id": number})
        for number, count in enumerate(lost)
    ]
    whole = span(0, 10, 8e5 * len(lost), sent=1000 * len(lost), lost=sum(lost), jitter=jitter)
    if receiver_bps is not None:
        whole["receiver-throughput-bits"] = receiver_bps
    return record("iperf3", [], streams, whole, udp=True, parallel=len(lost), bandwidth=800_000, **spec)


@pytest.mark.parametrize(
    ("lost", "receiver_bps", "goodput_bps"),
    [((100,), None, 7.2e5), ((100, 0), None, 1.52e6), ((100,), 7.19e5, 7.19e5), ((-2,), None, 8e5)],
)
def test_lost_datagrams_and_jitter_of_iperf3_are_kept(
    tmp_path: Path, lost: tuple[int, ...], receiver_bps: float | None, goodput_bps: float
) -> None:
    """The sender's rate was told for goodput."""
    test = read(tmp_path, of_udp(lost, receiver_bps=receiver_bps))
    assert test.far is not None
    counted = [max(count, 0) for count in lost]
    assert [flow.whole.datagrams for flow in test.far.flows] == [
        Datagrams(1000 - count, count, None, 350_000) for count in counted
    ]
    assert [flow.whole.datagrams for flow in test.flows] == [Datagrams(1000)] * len(lost)
    assert trial(test).goodput_method == "receiver_mean"
    assert trial(test).reported_goodput_bps == pytest.approx(goodput_bps)


@pytest.mark.parametrize(
    "told",
    [
        of_udp((0,), jitter=0.0, receiver_bps=8e5),
        of_udp((100,), receiver_bps=5e5),
        of_udp((100,), receiver_bps=7.2e5, omit="PT1S"),
    ],
    ids=["the sender does not know", "the last ones did not come", "some are of the omitted time"],
)
def test_losses_that_the_record_does_not_tell_are_not_told(tmp_path: Path, told: Row) -> None:
    test = read(tmp_path, told)
    assert test.far is not None
    assert (test.far.flows, test.as_before) == ((), ())


@pytest.mark.parametrize(("receiver_bps", "former_id"), [(None, "4c3ec0c5e37a"), (7.19e5, "c5cc9f0fa03c")])
def test_what_was_imported_without_losses_is_known_again(
    tmp_path: Path, receiver_bps: float | None, former_id: str
) -> None:
    test = read(tmp_path, of_udp((100,), receiver_bps=receiver_bps))
    assert former_ids([test]) == [former_id] != content_ids([test])


@pytest.mark.parametrize(
    ("tool", "rate_bps", "former_id"),
    [("nuttcp", 250_000_000, "f922216ea563"), ("iperf3", 1_000_000_000, "0274ae5726d7")],
)
def test_the_rate_that_nuttcp_was_given_is_of_all_flows(
    tmp_path: Path, tool: str, rate_bps: int, former_id: str
) -> None:
    whole = {"start": 0, "end": 10, "stream-id": 1, "throughput-bits": 99e7, "sent": 85000, "lost": 100}
    test = read(tmp_path, record(tool, [], [whole], udp=True, parallel=4, bandwidth=1_000_000_000))
    assert (trial(test).rate_bps, test.flow_count) == (rate_bps, 4 if tool == "nuttcp" else 1)
    assert former_ids([test]) == [former_id]


def test_tests_of_unlike_tos_mss_or_pacing_are_no_repeats(tmp_path: Path) -> None:
    numbering, whole = Numbering([]), span(0, 10, 9e8)
    asked: list[Row] = [
        {},
        {"ip-tos": 184},
        {"mss": 1000},
        {"fq-rate": 500_000_000},
        {"ip-tos": 0},
        {"ip-tos": None},
    ]
    found = []
    for spec in asked:
        test = read(tmp_path, record("iperf3", [], [whole], None, **spec))
        one = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=numbering).record
        found.append((one.repeat, one.dscp, one.mss_bytes, one.pacing_rate_bps))
    assert found == [
        (1, None, None, None), (1, 46, None, None), (1, None, 1000, None), (1, None, None, 500_000_000),
        (2, None, None, None), (3, None, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_and_a_remark_before_a_record_are_recognised(tmp_path: Path, indent: int | None) -> None:
    told = json.loads((FILES / "pscheduler-tcp.json").read_text("utf-8"))
    one, two = json.dumps(told, indent=indent), json.dumps([told, told], indent=indent)
    for text, count in ((one, 1), (f"$ pscheduler result\n{one}", 1), (two, 2)):
        (tmp_path / "records.json").write_text(text, "utf-8")
        tests = read_file(tmp_path / "records.json")
        assert (tests.kind.name, len(tests.transfers)) == ("pscheduler", count)
