"""From one JSON text of iperf3 to a transfer for each direction that it tested."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from flowsweep.defaults import SECOND_NS
from flowsweep.imports.iperf3_flows import EndFlows
from flowsweep.imports.iperf3_model import Connection, Count, Document, TestStart
from flowsweep.imports.transfer import FarEnd, FlowReport, PlaceError, Report, Transfer, far_end, sum_of
from flowsweep.run.outcome import EndRole


def transfers_of(document: Document, line: int) -> tuple[Transfer, ...]:
    """Read a test: one transfer, or one for each direction if they were tested at the same time.

    Args:
        document: What the file says.
        line: Where it begins in its file.

    Raises:
        PlaceError: It does not say what was tested, or no flow carried anything.
    """
    start, test = document.start, document.start.test_start
    if test is None:
        raise PlaceError(f"{line}$.start.test_start", "is missing: nobody can tell what was tested")
    if test.protocol == "SCTP":
        raise PlaceError(f"{line}$.start.test_start.protocol", "SCTP: only TCP and UDP can be imported")
    if not start.connected:
        found = "is empty" if "connected" in start.model_fields_set else "is missing"
        raise PlaceError(f"{line}$.start.connected", f"{found}: no flow was ever connected")
    by_server = start.accepted_connection is not None
    both = document.both_ways()
    forward = (True, False) if both else (not test.reverse,)
    return tuple(_Way(document, test, line, way, by_server, both).transfer() for way in forward)


@dataclass(frozen=True, slots=True)
class _Way:
    """One direction of a test, as one end saw it."""

    document: Document
    test: TestStart
    line: int
    forward: bool
    """From the client to the server."""
    by_server: bool
    both: bool
    """The other direction was tested, too."""

    @property
    def _broken_off(self) -> bool:
        """Then the ends did not tell each other their counts: what stands for the other's is 0."""
        return self.document.error is not None

    @property
    def _sends(self) -> bool:
        """Whether the end that wrote the file is the source."""
        return self.forward != self.by_server

    def transfer(self) -> Transfer:
        start, test = self.document.start, self.test
        near = self._flows().near()
        if not near:
            raise PlaceError(f"{self.line}$.end.streams", "tells of no flow in this direction")
        total = self._total(near)
        if total.end_ns <= 0:
            raise PlaceError(f"{self.line}$.end", "the test took no time: it says nothing about goodput")
        server = self._of_server()
        far = None if self.by_server or self._broken_off else self._far(near, server)
        before = self._as_before(near, far, server)
        if far is not None and test.omit:
            near, far = self._counted_by_sink(near, far)
        local, remote = (_plain(host) for host in _hosts(start.connected[0]))
        window = start.sock_bufsize or None
        # Without a request the kernel only says with what its buffers begin.
        granted = None if window is None else (start.sndbuf_actual if self._sends else start.rcvbuf_actual)
        of_server = None if server is None else _either(server)
        return Transfer(
            src=local if self._sends else remote,
            dst=remote if self._sends else local,
            role="source" if self._sends else "sink",
            total=total,
            flow_count=len(near),
            flows=near,
            started_at=self._started_at(),
            window_send_bytes=window,
            window_recv_bytes=window,
            window_granted_send_bytes=granted if self._sends else of_server,
            window_granted_recv_bytes=of_server if self._sends else granted,
            of_linux=(*self._of_linux(), *(() if server is None else server.of_linux)),
            length_bytes=test.blksize or None,
            congestion=self._congestion(),
            duration_ns=self._duration_ns,
            test="udp" if test.protocol == "UDP" else "tcp",
            omit_ns=test.omit * SECOND_NS,
            rate_bps=(start.target_bitrate if test.target_bitrate is None else test.target_bitrate) or None,
            dscp=test.tos >> 2 or None,
            mss_bytes=start.tcp_mss or None,
            pacing_rate_bps=(start.fq_rate if test.fqrate is None else test.fqrate) or None,
            asked_bytes=test.asked_bytes,
            simultaneous=self.both,
            far=far,
            unfinished=self.document.unfinished() or (None if server is None else server.unfinished),
            as_before=(*before, *self._duration_before()),
        )

    @property
    def _duration_ns(self) -> int | None:
        """None where the test was to end by what it carried: up to 3.3 a server has the usual 10 s there."""
        return None if self.test.asked_bytes else self._told_duration_ns

    @property
    def _told_duration_ns(self) -> int | None:
        return (self.test.duration + self.test.omit) * SECOND_NS if self.test.duration else None

    def _duration_before(self) -> tuple[tuple[str, Any], ...]:
        """What earlier versions took for the duration, where it is none."""
        told_ns = self._told_duration_ns
        return () if told_ns == self._duration_ns else (("duration_ns", told_ns),)

    def _of_linux(self) -> tuple[EndRole, ...]:
        if not (self.document.start.system_info or "").startswith("Linux "):
            return ()
        return ("source" if self._sends else "sink",)

    def _flows(self) -> EndFlows:
        return EndFlows(
            self.document,
            sends=self._sends,
            datagrams=self.test.protocol == "UDP",
            omit_ns=self.test.omit * SECOND_NS,
        )

    def _sum(self, *, sent: bool) -> Count | None:
        """The summary of all flows at one end; None where the file has none that is surely of this direction.

        Up to 3.10 iperf3 writes those of both directions under the same names, where the later one is left.
        """
        end = self.document.end
        if self.both and end.sum_sent_bidir_reverse is None:
            return None
        if self.both and not self.forward:
            return end.sum_sent_bidir_reverse if sent else end.sum_received_bidir_reverse
        return end.sum_sent if sent else end.sum_received

    def _total(self, flows: tuple[FlowReport, ...]) -> Report:
        if self._broken_off:
            return sum_of(flows)
        found = self._sum(sent=self._sends)
        if found is None and self._sends and not self.both:
            # Of UDP iperf3 had one sum only, the sender's, until 3.10.
            found = self.document.end.sum
        return sum_of(flows) if found is None else _report(found)

    def _started_at(self) -> datetime | None:
        at = self.document.start.timestamp
        if at is None:
            return None
        milliseconds = at.timesecs * 1000 if at.timemillisecs is None else at.timemillisecs
        return datetime.fromtimestamp(milliseconds / 1000, UTC)

    def _congestion(self) -> str | None:
        """The source's; with both directions the "sender" is the server, whoever wrote the file."""
        end = self.document.end
        return end.receiver_tcp_congestion if self.both and self.forward else end.sender_tcp_congestion

    def _of_server(self) -> Transfer | None:
        """The same direction in what the server says."""
        document = self.document.server_output_json
        if document is None or document.start.test_start is None or not document.start.connected:
            return None
        return _Way(document, self.test, self.line, self.forward, by_server=True, both=self.both).transfer()

    def _far(self, near: tuple[FlowReport, ...], server: Transfer | None) -> FarEnd | None:
        """What the client learned of the server's counts."""
        if server is not None:
            total = server.total
            in_order = _in_order(server.flows, near)
            before = total.rate_before if isinstance(total, Report) else None
            return FarEnd(total.rate_bps, total.size_bytes, in_order, total.end_ns, rate_before=before)
        found = self._sum(sent=not self._sends)
        flows = self._flows().far(found)
        if found is not None:
            return FarEnd(
                found.bits_per_second, found.size_bytes, flows, round(found.end * SECOND_NS) or None
            )
        return far_end(flows)

    def _as_before(
        self, near: tuple[FlowReport, ...], far: FarEnd | None, server: Transfer | None
    ) -> tuple[tuple[str, Any], ...]:
        """What earlier versions had of the flows: nothing of the other end without its sum.

        Of several flows' datagrams a sender had the receiver's sum alone.
        """
        if far is None or server is not None:
            return ()
        if self._sum(sent=not self._sends) is None:
            return () if self.both else (("flows", near), ("far", None))
        if self._sends and self.test.protocol == "UDP" and len(near) > 1:
            return (("flows", near), ("far", replace(far, flows=())))
        return ()

    def _counted_by_sink(
        self, near: tuple[FlowReport, ...], far: FarEnd
    ) -> tuple[tuple[FlowReport, ...], FarEnd]:
        """Take the sink's counts of datagrams for both ends.

        What is under way when the omitted time is over counts at the sink, and not at the source: the
        difference of the two is not what was lost.
        """
        if len(far.flows) != len(near):
            return near, far
        if self._sends:
            return tuple(map(_sent_as_received, near, far.flows)), far
        return near, replace(far, flows=tuple(map(_sent_as_received, far.flows, near)))


def _sent_as_received(source: FlowReport, sink: FlowReport) -> FlowReport:
    counted = sink.whole.datagrams
    if counted is None:
        return source
    return replace(source, whole=replace(source.whole, datagrams=counted.sent()))


def _either(transfer: Transfer) -> int | None:
    return transfer.window_granted_send_bytes or transfer.window_granted_recv_bytes


def _report(count: Count) -> Report:
    return Report(0, round(count.end * SECOND_NS), count.size_bytes, count.bits_per_second)


def _hosts(connection: Connection) -> tuple[str, str]:
    return connection.local_host, connection.remote_host


def _plain(host: str) -> str:
    """An IPv4 address without the prefix that a socket of IPv6 puts before it."""
    return host.removeprefix("::ffff:")


def _in_order(flows: tuple[FlowReport, ...], as_in: tuple[FlowReport, ...]) -> tuple[FlowReport, ...]:
    """Flows of the server in the order of the client's: both name the ports."""
    by_ports = {(flow.source_port, flow.sink_port): flow for flow in flows}
    ports = [(flow.source_port, flow.sink_port) for flow in as_in]
    return tuple(by_ports[port] for port in ports) if set(ports) == set(by_ports) else flows
