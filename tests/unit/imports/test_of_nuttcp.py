"""What nuttcp counted, in its files and in pScheduler's results: of which end, and what was sent again."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowsweep.archive import ImportedTrial
from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import Numbering, content_ids, former_ids, outcome_of
from flowsweep.imports.transfer import Datagrams
from imported_trials import FILES

SECOND_NS = 1_000_000_000


def test_what_the_senders_kernel_sent_again_is_kept(tmp_path: Path) -> None:
    """Of its connection; what all of the host sent again is another thing."""
    text = (FILES / "nuttcp-6.1.2-verbose.txt").read_text("utf-8")
    path = tmp_path / "results.txt"
    for told, kept in (("retrans = 7", [7]), ("host-retrans = 7", []), ("retrans=7", [7])):
        path.write_text(text.replace("retrans = 0", told), "utf-8")
        (test,) = read_file(path).transfers
        samples = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).samples
        rows = samples.to_pylist()
        assert [(row["role"], row["total_retrans"]) for row in rows] == [("source", count) for count in kept]
        assert [(row["start_ns"], row["end_ns"]) for row in rows] == [(0, 2 * SECOND_NS) for _ in kept]


def span(start: int, end: int, rate_bps: float, **more: float) -> dict[str, Any]:
    """As pScheduler's nuttcp has it: whole seconds, and always stream 1."""
    return {"start": start, "end": end, "stream-id": 1, "throughput-bits": rate_bps, **more}


def pscheduler(
    tmp_path: Path,
    spans: list[dict[str, Any]],
    whole: dict[str, Any],
    tool: object = {"name": "nuttcp", "version": "1.0"},
    **spec: object,
) -> Transfer:
    intervals = [{"summary": part, "streams": [part]} for part in spans]
    record = {
        "test": {"type": "throughput", "spec": {"source": "a", "dest": "b", "duration": "PT4S", **spec}},
        "tool": tool,
        "result": {
            "succeeded": True,
            "intervals": intervals,
            "summary": {"summary": whole, "streams": [whole]},
        },
    }
    path = tmp_path / "result.json"
    path.write_text(json.dumps(record), "utf-8")
    (test,) = read_file(path).transfers
    return test


RATES = (9e6, 1e6, 3e6, 5e6)
SPANS = [span(k, k + 1, rate, retransmits=k) for k, rate in enumerate(RATES)]
WHOLE = span(0, 4, 4.5e6, retransmits=6)


@pytest.mark.parametrize("tool", [{"name": "nuttcp", "version": "1.0"}, "nuttcp"])
def test_of_pschedulers_nuttcp_the_numbers_are_the_receivers(tmp_path: Path, tool: object) -> None:
    test = pscheduler(tmp_path, SPANS, WHOLE, tool)
    assert (test.src, test.dst, test.role, test.flow_count, test.far) == ("a", "b", "sink", 1, None)
    assert [report.rate_bps for report in test.flows[0].intervals] == list(RATES)
    outcome = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([]))
    assert outcome.record.goodput_method == "receiver_median"
    assert {(row["host"], row["role"], row["total_retrans"]) for row in outcome.samples.to_pylist()} == {
        ("b", "sink", None)
    }
    iperf3 = pscheduler(tmp_path, SPANS, WHOLE, {"name": "iperf3"})
    assert iperf3.role == "source"


def test_of_pschedulers_nuttcp_parallel_flows_are_told_together(tmp_path: Path) -> None:
    test = pscheduler(tmp_path, SPANS, WHOLE, parallel=4)
    assert (test.role, test.flow_count, test.flows, test.total.rate_bps) == ("sink", 4, (), 4.5e6)


def test_an_interval_that_pscheduler_cut_off_to_nothing_leaves_the_mean(tmp_path: Path) -> None:
    """0.99 s becomes 0 s, and what follows begins too early."""
    test = pscheduler(tmp_path, [SPANS[0], span(1, 1, 1e6), span(1, 2, 3e6)], WHOLE)
    assert (test.flows[0].intervals, test.total.rate_bps) == ((), 4.5e6)


def test_datagrams_of_pschedulers_nuttcp_are_those_that_came(tmp_path: Path) -> None:
    spans = [span(k, k + 1, 8e6, sent=1_000, lost=k) for k in range(3)]
    test = pscheduler(tmp_path, spans, span(0, 3, 8e6, sent=3_000, lost=3), udp=True)
    assert (test.test, test.role) == ("udp", "sink")
    assert test.flows[0].whole.datagrams == Datagrams(2_997, 3)
    assert [report.datagrams for report in test.flows[0].intervals] == [
        Datagrams(1_000, 0), Datagrams(999, 1), Datagrams(998, 2),
    ]  # fmt: skip


def test_what_counts_of_pschedulers_iperf3_begins_where_the_omitted_time_ends() -> None:
    (test,) = read_file(FILES / "pscheduler-tcp.json").transfers
    starts = [[round(report.start_ns / SECOND_NS, 3) for report in flow.intervals] for flow in test.flows]
    assert starts == [[0.0, 1.0, 2.0, 3.0]] * 2
    assert [flow.intervals[-1].tcp.retransmits for flow in test.flows if flow.intervals[-1].tcp] == [2, 3]


def test_what_pscheduler_writes_as_0_was_not_asked_for(tmp_path: Path) -> None:
    test = pscheduler(tmp_path, SPANS, WHOLE, bandwidth=0, **{"buffer-length": 0, "window-size": 0})
    record = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).record
    assert (record.rate_bps, record.length_bytes, record.window_send_bytes) == (None, None, None)
    # Archives of earlier versions have it.
    asked = dict.fromkeys(("rate_bps", "length_bytes", "mss_bytes", "pacing_rate_bps"), 0)
    read = ImportedTrial.model_validate_json(json.dumps(json.loads(record.model_dump_json()) | asked))
    assert read == record


NEGATIVE = """\
    1.1826 MB /   1.00 sec =    9.9197 Mbps     5 /  1240 ~drop/pkt  0.40 ~%loss
    1.1921 MB /   1.00 sec =    9.9791 Mbps    -5 /  1250 ~drop/pkt -0.40 ~%loss
    1.1845 MB /   1.00 sec =    9.9567 Mbps     0 /  1242 ~drop/pkt  0.00 ~%loss

    3.5686 MB /   3.01 sec =    9.9392 Mbps 39 %TX 0 %RX 0 / 3742 drop/pkt 0.00 %loss
"""


def test_late_datagrams_are_counted_back(tmp_path: Path) -> None:
    """They were dropped ones, once more."""
    path = tmp_path / "results.txt"
    path.write_text(NEGATIVE, "utf-8")
    (test,) = read_file(path).transfers
    (flow,) = test.flows
    assert [report.datagrams for report in flow.intervals] == [
        Datagrams(1235, 5), Datagrams(1255, -5), Datagrams(1242, 0),
    ]  # fmt: skip
    assert flow.whole.datagrams == Datagrams(3742, 0)
    tables = outcome_of(test, "0" * 12, sweep="s", imported_from="", numbering=Numbering([])).of_tests
    assert tables["datagrams"].column("missing").to_pylist() == [5, -5, 0]
    assert former_ids([test]) == ["e706181ca6a6"] != content_ids([test])


@pytest.mark.parametrize("whole", ["%RX -3 / 3742 drop/pkt -0.08 %loss", "rx_cpu=0 drop=-3 pkt=3742"])
def test_of_a_whole_nothing_is_late(tmp_path: Path, whole: str) -> None:
    path = tmp_path / "results.txt"
    row = "    3.5686 MB /   3.01 sec =    9.9392 Mbps 39 %TX 0 "
    if "drop=" in whole:
        row = "megabytes=3.5686 real_seconds=3.01 rate_Mbps=9.9392 tx_cpu=39 "
    path.write_text(f"{row}{whole}\n", "utf-8")
    (test,) = read_file(path).transfers
    assert test.flows[0].whole.datagrams == Datagrams(3742, 0)


def test_an_interval_of_iperf3_in_which_more_came_late_is_read(tmp_path: Path) -> None:
    """The file was refused."""
    told = json.loads((FILES / "iperf3-3.12-udp-server.json").read_text("utf-8"))
    (lost,), (late,) = ([interval["streams"][0]] for interval in told["intervals"][:2])
    lost["lost_packets"], late["lost_packets"] = 5, -8
    (tmp_path / "results.json").write_text(json.dumps(told), "utf-8")
    (test,) = read_file(tmp_path / "results.json").transfers
    flow = test.flows[0]
    missing = [report.datagrams.missing for report in flow.intervals if report.datagrams]
    assert missing[:3] == [5, -8, 0]
    assert flow.whole.datagrams is not None
    assert flow.whole.datagrams.missing == 0
