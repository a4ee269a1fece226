"""The flows of one direction of a test of iperf3: their intervals, and their wholes at both ends."""

from dataclasses import replace
from itertools import accumulate, pairwise

from flowsweep.defaults import MILLISECOND_NS, SECOND_NS
from flowsweep.imports.iperf3_model import Count, Document, EndOfStream
from flowsweep.imports.transfer import Datagrams, FlowReport, Report, TcpState

_SAME_MOMENT_NS = 10 * MILLISECOND_NS
"""iperf3 takes the time of an interval's end and of the next one's beginning one after the other."""


class EndFlows:
    """Flows of one direction, as the end that wrote the file saw them."""

    def __init__(self, document: Document, *, sends: bool, datagrams: bool, omit_ns: int) -> None:
        self._sends = sends
        self._broken_off = document.error is not None
        self._omit_ns = omit_ns
        self._datagrams = datagrams
        only_sum = None if document.both_ways() else document.end.sum
        self._far_end_s = None if only_sum is None else only_sum.end
        """Of UDP the sender's sum has the receiver's time."""
        self._streams = {
            socket: stream
            for stream in document.end.streams
            if (socket := _socket_of(stream, sends=sends)) is not None
        }
        self._connections = {connection.socket: connection for connection in document.start.connected}
        self._rows: dict[int, list[Count]] = {}
        for interval in document.intervals:
            for row in interval.streams:
                if row.socket is not None and row.sender in (None, sends):
                    _append(self._rows.setdefault(row.socket, []), row)
        for rows in self._rows.values():
            _begin_at_0(rows)

    def near(self) -> tuple[FlowReport, ...]:
        """What this end counted of each flow; made of the intervals if the test was broken off.

        Its summary then has all bytes until somebody ended it, but may have the time of the interval before.
        """
        sockets = dict.fromkeys([*self._streams, *self._rows])
        return tuple(
            self._flow(socket, whole, self._intervals(socket) or self._instead(socket))
            for socket in sockets
            if (whole := self._whole(socket)) is not None
        )

    def far(self, total: Count | None) -> tuple[FlowReport, ...]:
        """What this end learned of each flow's other end; empty if of any it did not.

        Args:
            total: What the other end counted of all flows together, if the file has it.
        """
        streams = self._streams.values()
        sent = [stream.udp for stream in streams if stream.udp is not None]
        if self._sends and sent and len(sent) == len(streams):
            wholes: list[Report | None] = [*self._that_arrived(sent, total)]
        else:
            wholes = [self._told_of_far(stream) for stream in streams]
        if len(wholes) != len(streams):
            return ()
        flows = [
            self._flow(socket, whole, () if self._sends else self._told_at_last(socket))
            for socket, whole in zip(self._streams, wholes, strict=True)
            if whole is not None
        ]
        return tuple(flows) if len(flows) == len(streams) else ()

    def _told_of_far(self, stream: EndOfStream) -> Report | None:
        if stream.udp is not None and not self._sends:
            sent = None if stream.udp.packets is None else Datagrams(stream.udp.packets)
            return _report(stream.udp, sent)
        part = stream.receiver if self._sends else stream.sender
        return None if part is None else _report(part)

    def _that_arrived(self, sent: list[Count], total: Count | None) -> list[Report]:
        """What the receiver told the sender of each flow's datagrams; empty where it cannot be told.

        A sender's flow has its own packets and bytes, and the receiver's lost ones and jitter. Those that
        nothing followed are not among the lost ones: only the receiver's total has them, of all flows.
        """
        if total is not None and len(sent) == 1:
            return [_report(total, _came_in_all(total))]
        told = [_came_in_all(count) for count in sent]
        of_flows = [datagrams for datagrams in told if datagrams is not None]
        of_all = None if total is None else _came_in_all(total)
        if len(of_flows) < len(told) or (total is not None and of_all is None):
            return []
        if of_all is None and not self._told_apart(of_flows):
            return []
        arrived = [one.count for one in of_flows]
        counts = arrived if of_all is None else _shared(of_all.count, arrived)
        ends_s = (
            [self._far_end_s or count.end for count in sent] if total is None else [total.end] * len(sent)
        )
        return [
            _arrived(one, replace(datagrams, count=count, reordered=None), _ns(end_s))
            for one, datagrams, count, end_s in zip(sent, of_flows, counts, ends_s, strict=True)
        ]

    def _told_apart(self, of_flows: list[Datagrams]) -> bool:
        """Whether what a receiver told is enough without a total of its own, as up to 3.10.

        Then the lost ones include those of the omitted time, and what nothing at all came of has 0 lost.
        """
        return not self._omit_ns and all(one.missing or one.jitter_ns for one in of_flows)

    def _flow(self, socket: int, whole: Report, intervals: tuple[Report, ...]) -> FlowReport:
        connection = self._connections.get(socket)
        if connection is None:
            return FlowReport(whole, intervals)
        ports = connection.local_port, connection.remote_port
        return FlowReport(whole, intervals, *(ports if self._sends else ports[::-1]))

    def _whole(self, socket: int) -> Report | None:
        stream = self._streams.get(socket)
        if stream is None or self._broken_off:
            return self._of_intervals(socket)
        if stream.udp is None:
            part = stream.sender if self._sends else stream.receiver
            return None if part is None else _report(part)
        if self._sends:
            sent = None if stream.udp.packets is None else Datagrams(stream.udp.packets)
            return _report(stream.udp, sent)
        return self._received(socket, stream.udp)

    def _of_intervals(self, socket: int) -> Report | None:
        """The sum of a flow's intervals without the omitted ones; None if there is none of any time."""
        rows = self._counted(socket)
        size, end_ns = sum(row.size_bytes for row in rows), _ns(rows[-1].end) if rows else 0
        if end_ns <= 0:
            return None
        datagrams = None
        if self._datagrams:
            packets = sum(row.packets or 0 for row in rows)
            datagrams = Datagrams(packets) if self._sends else self._that_came(rows, rows[-1])
        return Report(0, end_ns, size, size * 8e9 / end_ns, datagrams=datagrams)

    def _counted(self, socket: int) -> list[Count]:
        return [row for row in self._rows.get(socket, ()) if not row.omitted]

    def _received(self, socket: int, stream: Count) -> Report:
        """Of datagrams iperf3 sums up what was sent only: what came is the sum of the intervals."""
        rows = self._counted(socket)
        size, end_ns = sum(row.size_bytes for row in rows), _ns(stream.end)
        datagrams = self._that_came(rows, stream)
        return Report(0, end_ns, size, size * 8e9 / end_ns if end_ns else 0.0, datagrams=datagrams)

    @staticmethod
    def _that_came(rows: list[Count], last: Count) -> Datagrams:
        packets = sum(row.packets or 0 for row in rows)
        missing = max(sum(row.lost_packets or 0 for row in rows), 0)
        return Datagrams(max(packets - missing, 0), missing, last.out_of_order, _jitter_ns(last))

    def _intervals(self, socket: int) -> tuple[Report, ...]:
        """One after the other: iperf3 begins at 0 again when what is omitted is over."""
        reports: list[Report] = []
        retransmits = 0
        for row in self._rows.get(socket, []):
            start_ns, end_ns = self._span(row)
            if reports and abs(start_ns - reports[-1].end_ns) < _SAME_MOMENT_NS:
                start_ns = reports[-1].end_ns
            if not row.omitted:
                retransmits += row.retransmits or 0
            if end_ns > start_ns:
                state = _tcp(row, None if row.omitted else retransmits)
                datagrams = self._datagrams_of(row)
                reports.append(
                    Report(start_ns, end_ns, row.size_bytes, row.bits_per_second, state, datagrams)
                )
        return tuple(reports)

    def _instead(self, socket: int) -> tuple[Report, ...]:
        """What stands for this end's intervals where there are none."""
        return self._told_at_last(socket) if self._sends else ()

    def _told_at_last(self, socket: int) -> tuple[Report, ...]:
        """What the sender's kernel said at the end, as one interval: where the file has no other one."""
        stream = self._streams.get(socket)
        part = None if stream is None or self._broken_off else stream.sender
        if part is None or part.retransmits is None or part.end <= 0:
            return ()
        state = TcpState(part.retransmits, rtt_us=None, rttvar_us=None, snd_wnd_bytes=None, pmtu_bytes=None)
        end_ns = self._omit_ns + _ns(part.end)
        return (Report(self._omit_ns, end_ns, part.size_bytes, part.bits_per_second, state),)

    def _span(self, row: Count) -> tuple[int, int]:
        """Where an interval lies in the whole test: what is omitted ends where what counts begins."""
        start_ns, end_ns = _ns(row.start), _ns(row.end)
        if not row.omitted:
            return self._omit_ns + start_ns, self._omit_ns + end_ns
        return start_ns, self._omit_ns if end_ns > self._omit_ns - _SAME_MOMENT_NS else end_ns

    def _datagrams_of(self, row: Count) -> Datagrams | None:
        if not self._datagrams or row.packets is None:
            return None
        return Datagrams(row.packets) if self._sends else _came(row)


def _append(rows: list[Count], row: Count) -> None:
    """Add an interval; the end whose peer broke the test off writes the last one once more."""
    if not rows or (row.start, row.end, row.omitted) != (rows[-1].start, rows[-1].end, rows[-1].omitted):
        rows.append(row)


def _begin_at_0(rows: list[Count]) -> None:
    """Correct the first interval that counts: its bytes are those since the omitted time ended.

    iperf3 has it begin as far from there as the interval before ended, and has its rate over that time, too.
    """
    place = next((place for place, row in enumerate(rows) if not row.omitted), 0)
    if place == 0:
        return
    row = rows[place]
    rate_bps = row.bits_per_second
    if _ns(row.start) >= _SAME_MOMENT_NS and row.end > 0:
        rate_bps = row.size_bytes * 8 / row.end
    rows[place] = row.model_copy(update={"start": 0.0, "reported_bps": rate_bps})


def _socket_of(stream: EndOfStream, *, sends: bool) -> int | None:
    """The flow's socket, if it is one of the direction."""
    part = stream.any_part()
    return None if part is None or part.sender not in (None, sends) else part.socket


def _came(count: Count) -> Datagrams | None:
    if count.packets is None:
        return None
    lost = count.lost_packets or 0
    return Datagrams(max(count.packets - lost, 0), lost, count.out_of_order, _jitter_ns(count))


def _came_in_all(count: Count) -> Datagrams | None:
    """Of a whole none can have come late: below 0 are lost ones where more came twice."""
    lost = count.lost_packets or 0
    return _came(count.model_copy(update={"lost_packets": max(lost, 0)}))


def _shared(total: int, parts: list[int]) -> list[int]:
    """A total in whole parts that are to each other as those given."""
    of_all = sum(parts) or 1
    bounds = [total * before // of_all for before in accumulate(parts, initial=0)]
    return [after - before for before, after in pairwise(bounds)]


def _arrived(sent: Count, datagrams: Datagrams, end_ns: int) -> Report:
    """What came of a flow, whose datagrams have one length."""
    size = sent.size_bytes * datagrams.count // sent.packets if sent.packets else 0
    return Report(0, end_ns, size, size * 8e9 / end_ns if end_ns else 0.0, datagrams=datagrams)


def _jitter_ns(count: Count) -> int | None:
    return None if count.jitter_ms is None else round(count.jitter_ms * MILLISECOND_NS)


def _tcp(row: Count, retransmits: int | None) -> TcpState | None:
    """What the sender's kernel said; a receiver's file has nothing of it."""
    if row.retransmits is None and row.rtt is None:
        return None
    risen = None if row.retransmits is None else retransmits
    return TcpState(risen, row.rtt or None, row.rttvar, row.snd_wnd, row.pmtu)


def _report(count: Count, datagrams: Datagrams | None = None) -> Report:
    return Report(0, _ns(count.end), count.size_bytes, count.bits_per_second, datagrams=datagrams)


def _ns(seconds: float) -> int:
    return round(seconds * SECOND_NS)
