"""What each traffic of a trial got, by the packets that its sink's host received."""

import socket
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from captured_packets import Packet, read_packets
from flowsweep.analysis.background.shares import OWN, traffic_bins
from flowsweep.archive import Tables
from flowsweep.schedule.background import PROBE

SECOND_NS = 10**9
OPENING_BYTES = 256
"""A packet with more payload carries data, and not only what both ends show each other first."""
QUIC_LONG_HEADER = 0x80
QUIC_OVERHEAD_BYTES = 36
"""Of a datagram of QUIC with data: short header (1), identifier of the connection (8), number (2), tag (16);
type, stream, offset and length of its frame (9). RFC 9000, 17.3 and 19.8."""
SEQUENCES = 1 << 32

Row = dict[str, Any]
Counted = list[tuple[int, int]]
"""When (Unix, ns) how many bytes had come in order, rising."""


class Capture:
    """Packets of a campaign, by the ports of their flows."""

    def __init__(self, file: Path) -> None:
        self._of_flows: dict[tuple[int, int], list[Packet]] = {}
        for packet in read_packets(file):
            self._of_flows.setdefault((packet.dst_port, packet.src_port), []).append(packet)

    def of(self, flow: Row, from_ns: int, to_ns: int) -> list[Packet]:
        """Those of one flow that came within a time: its port may serve another trial later."""
        packets = self._of_flows.get((flow["local_port"], flow["remote_port"]), [])
        first = bisect_left(packets, from_ns, key=lambda packet: packet.at_ns)
        return packets[first : bisect_right(packets, to_ns, key=lambda packet: packet.at_ns)]


class FlowBytes(NamedTuple):
    """What came of one flow."""

    trial_id: str
    traffic: str
    """`OWN` or a name."""
    flow: int
    payload_bytes: int


def captured_bytes(tables: Tables, capture: Capture, quic: Collection[str] = ()) -> Iterator[FlowBytes]:
    """Count what came of each flow of trials with background traffic over the time that shares are of.

    Args:
        tables: Of the archive.
        capture: At the sinks.
        quic: Names of the traffic that is QUIC (`OWN` is the trials' own): its headers are subtracted.

    Method:
        The time is that of `traffic_bins`: from the last flow's first sample and what is omitted on, for as
        many intervals as are common. Where it lies by the clock of the capture follows from the first packet
        with data of each of the trial's own flows, and when its sink read the first byte: the median of all.
    """
    every_bin = traffic_bins(tables)
    common = every_bin.filter(every_bin.common).select("trial_id", "bin").distinct().to_pyarrow().to_pylist()
    for trial in tables.trials.to_pyarrow().to_pylist():
        bins = [row["bin"] for row in common if row["trial_id"] == trial["trial_id"]]
        if not trial["background"] or not bins:
            continue
        flows = _sink_flows(tables, trial["trial_id"])
        begun_ns = round(datetime.fromisoformat(trial["started_at"]).timestamp() * SECOND_NS)
        kept = {flow["flow"]: capture.of(flow, begun_ns, begun_ns + trial["elapsed_ns"]) for flow in flows}
        moved_ns = median(
            first_ns - flow["origin_ns"] - flow["first_byte_ns"]
            for flow in flows
            if flow["background"] is None and (first_ns := first_data_ns(kept[flow["flow"]])) is not None
        )
        origin_ns = moved_ns + _last_begin_ns(tables, trial["trial_id"], flows) + trial["omit_ns"]
        window_ns = [round(origin_ns + edge * trial["interval_ns"]) for edge in (min(bins), max(bins) + 1)]
        for flow in flows:
            name = flow["background"] or OWN
            came = _counted(kept[flow["flow"]], quic=name in quic)
            begin, end = (_until(came, edge_ns) for edge_ns in window_ns)
            yield FlowBytes(trial["trial_id"], name, flow["flow"], end - begin)


def _sink_flows(tables: Tables, trial_id: str) -> list[Row]:
    rows: list[Row] = []
    for table in (tables.flows, tables.background_flows):
        own = table.filter((table.trial_id == trial_id) & (table.role == "sink"))
        rows += own.to_pyarrow().to_pylist()
    return [row for row in rows if row["background"] != PROBE]


def _last_begin_ns(tables: Tables, trial_id: str, flows: Sequence[Row]) -> int:
    """When the first sample of the last flow begins, on the trial's axis."""
    starts: dict[int, int] = {}
    for samples in (tables.samples, tables.background_samples):
        sinks = samples.filter((samples.trial_id == trial_id) & (samples.role == "sink"))
        first = sinks.group_by("flow").aggregate(start_ns=sinks.start_ns.min())
        starts |= {row["flow"]: row["start_ns"] for row in first.to_pyarrow().to_pylist()}
    return max(int(flow["origin_ns"]) + starts[flow["flow"]] for flow in flows if flow["flow"] in starts)


def first_data_ns(packets: Iterable[Packet]) -> int | None:
    """When the first packet came that carries data."""
    return next((packet.at_ns for packet in packets if packet.payload_bytes > OPENING_BYTES), None)


def _counted(packets: Sequence[Packet], *, quic: bool) -> Counted:
    if packets and packets[0].protocol == socket.IPPROTO_TCP:
        return _in_order(packets)
    counted, total = [], 0
    for packet in packets:
        if packet.payload_bytes <= OPENING_BYTES:
            continue
        if quic and packet.first_byte & QUIC_LONG_HEADER:
            continue
        total += packet.payload_bytes - (QUIC_OVERHEAD_BYTES if quic else 0)
        counted.append((packet.at_ns, total))
    return counted


def _in_order(packets: Sequence[Packet]) -> Counted:
    """What a stream's application can have read: nothing behind a packet that is missing."""
    counted: Counted = []
    expected: int | None = None
    total = 0
    waiting: dict[int, int] = {}
    for packet in packets:
        if expected is None:
            expected = packet.sequence
        offset = (packet.sequence - expected) % SEQUENCES
        if offset >= SEQUENCES // 2:  # it begins before what is expected
            offset -= SEQUENCES
        at = total + offset
        waiting[at] = max(waiting.get(at, 0), packet.payload_bytes)
        before = total
        while (reach := _reach(waiting, total)) > total:
            total = reach
        if total > before:
            expected = (expected + total - before) % SEQUENCES
            counted.append((packet.at_ns, total))
    return counted


def _reach(waiting: dict[int, int], total: int) -> int:
    """How far what is there goes on from `total`."""
    if total in waiting:
        return total + waiting.pop(total)
    for at in [at for at in waiting if at < total]:
        end = at + waiting.pop(at)
        if end > total:
            return end
    return total


def _until(counted: Counted, at_ns: int) -> int:
    index = bisect_right(counted, at_ns, key=lambda one: one[0])
    return counted[index - 1][1] if index else 0
