"""Shares of mixed traffic, and when bursts are sent, against packets that the receiving host took down."""

from datetime import datetime
from pathlib import Path

import pytest
from lab_support import needs_lab

from campaign_support import write_plan
from captured_campaign import run_captured
from captured_shares import SECOND_NS, Capture, captured_bytes, first_data_ns
from flowsweep.analysis.background.shares import OWN, shares, traffic_bins
from flowsweep.archive import Tables, read_archive
from witness import judged

pytestmark = needs_lab

LINK = 'rate = "20Mbit/s"\ndelay = "5ms"\nqueue = "150KB"'
OFF_AT_MOST = 0.005
"""Of 1: how far a share may be from that of the packets."""
LATE_S = 0.1
"""A burst may begin or end later than the plan says: handshake, and what waits in the queue."""


def run(folder: Path, sweep: str) -> tuple[Tables, Capture]:
    folder.mkdir()
    archive, packets = folder / "archive", folder / "packets"
    assert run_captured(write_plan(folder, link=LINK, sweep=sweep), archive, packets, host="right") == 0
    return read_archive(archive).tables(), Capture(packets)


def test_shares_are_those_of_the_packets(tmp_path: Path) -> None:
    """One flow of QUIC beside four of TCP."""

    def measure(attempt: int) -> tuple[Tables, Capture]:
        background = '[[sweep.background]]\nname = "quic"\ntest = "quic"\ncongestion = "cubic"\n'
        sweep = f'flows = 4\nduration = "6s"\nomit = "1s"\n{background}'
        return run(tmp_path / str(attempt), sweep)

    def check(measured: tuple[Tables, Capture]) -> None:
        tables, capture = measured
        came = {True: 0, False: 0}
        for flow in captured_bytes(tables, capture, quic=("quic",)):
            came[flow.traffic == OWN] += flow.payload_bytes
        rows = shares(traffic_bins(tables), tables.trials).to_pyarrow().to_pylist()
        (own,) = [row["share"] for row in rows if row["traffic"] == OWN]
        assert own == pytest.approx(came[True] / sum(came.values()), abs=OFF_AT_MOST)

    judged(measure, check, bears_s=0.03)


def test_packets_of_bursts_come_when_the_plan_says(tmp_path: Path) -> None:
    """From 1 s on for 1 s of every 2 s, until the trial is over after 6 s."""

    def measure(attempt: int) -> tuple[Tables, Capture]:
        background = '[[sweep.background]]\nname = "bursts"\ntest = "udp"\nrate = "4Mbit/s"\n'
        sweep = f'duration = "6s"\n{background}flows = 2\nstart = "1s"\non = "1s"\noff = "1s"\n'
        return run(tmp_path / str(attempt), sweep)

    def check(measured: tuple[Tables, Capture]) -> None:
        tables, capture = measured
        (trial,) = tables.trials.to_pyarrow().to_pylist()
        begun_ns = round(datetime.fromisoformat(trial["started_at"]).timestamp() * SECOND_NS)
        of = tables.background_flows
        flows = of.filter(of.role == "sink").order_by("flow").to_pyarrow().to_pylist()
        own = tables.flows.filter(tables.flows.role == "sink").to_pyarrow().to_pylist()
        packets = [capture.of(flow, begun_ns, begun_ns + trial["elapsed_ns"]) for flow in (*own, *flows)]
        zero_ns = first_data_ns(packets[0])
        assert zero_ns is not None
        assert len(flows) == 6
        for index, sent in enumerate(packets[1:]):
            # Before the trial a source tries out whether its kernel cuts several datagrams from one buffer.
            data = [packet.at_ns for packet in sent if packet.payload_bytes > 1000 and packet.at_ns > zero_ns]
            begin_s, end_s = ((at_ns - zero_ns) / SECOND_NS for at_ns in (data[0], data[-1]))
            assert begin_s == pytest.approx(1 + index // 2 * 2, abs=LATE_S)
            assert end_s == pytest.approx(begin_s + 1, abs=LATE_S)
        rows = shares(traffic_bins(tables), tables.trials).to_pyarrow().to_pylist()
        (bursts,) = [row for row in rows if row["traffic"] == "bursts"]
        # Of the 5 s from the first burst on they send for 3.
        assert (bursts["flows"], bursts["intervals"]) == (2, 5)
        assert bursts["goodput_bps"] == pytest.approx(8e6 * 3 / 5, rel=0.05)

    judged(measure, check, bears_s=0.03)
