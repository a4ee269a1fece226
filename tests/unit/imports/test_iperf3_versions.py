"""Files as earlier versions of iperf3 write them: sums of both directions under one name, or none of UDP."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowsweep.imports import Transfer, read_file
from flowsweep.imports.transfer import Datagrams
from imported_trials import document

Document = dict[str, Any]


def read_text(tmp_path: Path, text: str) -> tuple[Transfer, ...]:
    (tmp_path / "results.json").write_text(text, "utf-8")
    return read_file(tmp_path / "results.json").transfers


def read(tmp_path: Path, told: Document) -> tuple[Transfer, ...]:
    return read_text(tmp_path, json.dumps(told))


@pytest.mark.parametrize("end", ["client", "server"])
def test_both_directions_whose_sums_have_the_same_names(tmp_path: Path, end: str) -> None:
    """3.7 to 3.10 do not have `_bidir_reverse`: of two equal keys a parser keeps the later one."""
    now = document(f"iperf3-3.12-bidir-{end}.json")
    there, back = read(tmp_path, now)
    before, behind = read_text(tmp_path, json.dumps(now).replace("_bidir_reverse", ""))
    for found, expected in ((before, there), (behind, back)):
        assert (found.src, found.dst, found.role) == (expected.src, expected.dst, expected.role)
        assert found.simultaneous
        assert found.flows == expected.flows
        assert found.total.size_bytes == expected.total.size_bytes
        assert found.total.rate_bps == pytest.approx(expected.total.rate_bps, rel=1e-3)
        assert (found.far is None) == (expected.far is None)
        if found.far is not None and expected.far is not None:
            assert found.far.size_bytes == expected.far.size_bytes
            assert found.far.rate_bps == pytest.approx(expected.far.rate_bps, rel=1e-3)
    assert before.total != behind.total


def test_both_directions_that_broke_off_are_two(tmp_path: Path) -> None:
    told = document("iperf3-3.12-bidir-client.json")
    told |= {"end": {}, "error": "control socket has closed unexpectedly"}
    there, back = read(tmp_path, told)
    assert (there.src, there.role, back.src, back.role) == ("10.77.0.1", "source", "10.77.0.2", "sink")
    assert there.unfinished == back.unfinished is not None


def datagrams_sent(lost: tuple[int, ...], jitter_ms: float = 0.5) -> Document:
    """A client that sent 1 875 datagrams of 1 000 B in each of some flows; what became of them."""
    told = document("iperf3-3.12-udp-client.json")
    del told["server_output_json"]
    end = told["end"]
    end["streams"] = end["streams"][: len(lost)]
    for part, missing in zip(end["streams"], lost, strict=True):
        part["udp"] |= {"lost_packets": missing, "jitter_ms": jitter_ms}
    sockets = {part["udp"]["socket"] for part in end["streams"]}
    for interval in told["intervals"]:
        interval["streams"] = [row for row in interval["streams"] if row["socket"] in sockets]
    told["start"]["connected"] = told["start"]["connected"][: len(lost)]
    end["sum_sent"] |= {"packets": 1_875 * len(lost), "bytes": 1_875_000 * len(lost)}
    end["sum"] |= end["sum_sent"] | {"end": 3.1, "lost_packets": sum(lost)}
    return told


def up_to_3_10(told: Document) -> Document:
    told["end"] = {key: part for key, part in told["end"].items() if key in ("streams", "sum")}
    return told


@pytest.mark.parametrize("lost", [(75,), (75, 875)])
def test_what_came_of_datagrams_where_the_only_sum_is_the_senders(
    tmp_path: Path, lost: tuple[int, ...]
) -> None:
    (test,) = read(tmp_path, up_to_3_10(datagrams_sent(lost)))
    assert (test.role, test.total.size_bytes) == ("source", 1_875_000 * len(lost))
    assert test.far is not None
    came = [1_875 - missing for missing in lost]
    assert test.far.size_bytes == 1_000 * sum(came)
    assert test.far.rate_bps == pytest.approx(8_000 * sum(came) / 3.1)
    assert [flow.whole.datagrams for flow in test.far.flows] == [
        Datagrams(count, missing, None, 500_000) for count, missing in zip(came, lost, strict=True)
    ]


def test_nothing_lost_and_nothing_that_came_cannot_be_told_apart_without_a_receivers_sum(
    tmp_path: Path,
) -> None:
    (nothing,) = read(tmp_path, up_to_3_10(datagrams_sent((0,), jitter_ms=0)))
    assert nothing.far is None
    omitted = up_to_3_10(datagrams_sent((75,)))
    omitted["start"]["test_start"]["omit"] = 1
    (test,) = read(tmp_path, omitted)
    assert test.far is None


def test_what_a_receiving_client_learns_of_the_sender_without_its_sum(tmp_path: Path) -> None:
    told = document("iperf3-3.12-udpreverse-client.json")
    (now,) = read(tmp_path, told)
    (then,) = read(tmp_path, up_to_3_10(told))
    assert now.far is not None
    assert then.far is not None
    assert then.flows == now.flows
    assert (then.far.size_bytes, then.far.flows) == (now.far.size_bytes, now.far.flows)


def test_parallel_datagrams_have_loss_and_jitter_of_each_flow(tmp_path: Path) -> None:
    told = datagrams_sent((100, 200))
    # 50 of the 3 750 were lost with nothing behind them: the receiver has no gap for these.
    received = {"packets": 3_700, "lost_packets": 300, "bytes": 3_400_000, "bits_per_second": 9e6}
    told["end"]["sum_received"] |= received
    (test,) = read(tmp_path, told)
    assert test.far is not None
    assert (test.far.size_bytes, test.far.rate_bps) == (3_400_000, 9e6)
    counts = [flow.whole.datagrams for flow in test.far.flows]
    assert counts == [Datagrams(1_749, 100, None, 500_000), Datagrams(1_651, 200, None, 500_000)]
    assert [flow.whole.size_bytes for flow in test.far.flows] == [1_749_000, 1_651_000]
    told["end"]["sum_received"] |= {"packets": 0, "lost_packets": 0, "bytes": 0, "bits_per_second": 0}
    (silent,) = read(tmp_path, told)
    assert silent.far is not None
    assert [flow.whole.datagrams and flow.whole.datagrams.count for flow in silent.far.flows] == [0, 0]


def test_a_rate_that_iperf3_could_not_compute_is_computed(tmp_path: Path) -> None:
    """It has null where it divided by a time of 0."""
    told = document("iperf3-3.12-interrupted-client.json")
    (before,) = read(tmp_path, told)
    last = told["intervals"][-1]["streams"][0]
    told["intervals"].append({"streams": [last | {"start": last["end"], "bits_per_second": None}]})
    told["intervals"][0]["streams"][0]["bits_per_second"] = None
    (test,) = read(tmp_path, told)
    assert len(test.flows[0].intervals) == len(before.flows[0].intervals)
    assert test.flows[0].intervals[0].rate_bps == pytest.approx(before.flows[0].intervals[0].rate_bps)
