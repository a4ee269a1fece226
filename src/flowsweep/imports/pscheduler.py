"""Results of pScheduler's throughput test: JSON as its archivers get it, one record, one a line, or an array.

Read by its published schemas (specification of the test, result). The result's numbers are the sender's; of
the receiver there are the mean rate and, of iperf3's UDP, lost datagrams and jitter. Where its tool was
nuttcp they are the receiver's: pScheduler takes them from nuttcp's rows, of all flows together, and cuts
their times off to whole seconds. `reverse` turns source and destination of the specification round.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from flowsweep.defaults import SECOND_NS
from flowsweep.imports.iperf3_flows import EndFlows
from flowsweep.imports.iperf3_model import Count, Document, End, EndOfStream, Interval, Signed
from flowsweep.imports.json_text import Part, Real, Seconds, Text, Whole, checked, first_line, json_texts
from flowsweep.imports.transfer import (
    Datagrams,
    FailedTestError,
    FarEnd,
    FlowReport,
    PlaceError,
    Report,
    Transfer,
    bounded,
    far_end,
)

NAME = "pscheduler"
_SIGN = '"throughput-bits"'
_OF_IPERF3 = re.compile(r'(?<!\\)"iperf 3')
"""Only there: in what a record quotes of its tool, a backslash stands before the quotation mark."""
_NUTTCP = "nuttcp"
_LONGER = 1.05
"""Times what the sender took, the receiver may have counted: it waits for the last datagrams."""
_PERIOD = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII)


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is JSON with a rate as pScheduler names it; scripts write remarks before it.

    Behind remarks, and in an array, it is a log of iperf3's if one of iperf3's own tests is there, too.
    """
    begun = first_line(lines)
    if begun is None or not any(_SIGN in line for line in lines[begun:]):
        return False
    is_first = lines[begun].startswith("{") and not any(line.strip() for line in lines[:begun])
    return is_first or not any(_OF_IPERF3.search(line) for line in lines[begun:])


def read(lines: Sequence[str]) -> tuple[Transfer | FailedTestError, ...]:
    """Read every record of a file: of a test that failed, or whose record is cut off, why.

    Raises:
        PlaceError: A record is no result of a throughput test.
        TooManyTestsError: There are more than a file may tell of.
    """
    return tuple(bounded(_test(text) for text in json_texts(lines)))


def _test(text: Text) -> Transfer | FailedTestError:
    try:
        record = _record(text)
    except FailedTestError as error:
        return error
    if record.result.succeeded:
        return _transfer(record, text.line)
    return FailedTestError(f"{text.line}$.result", f'the test failed: "{record.result.error}"')


class _Data(Part):
    """What was sent in a span of time: `throughput-data` of the schema."""

    stream: int | str | None = Field(None, alias="stream-id")
    start: Seconds
    end: Seconds
    rate_bps: Real = Field(alias="throughput-bits")
    size_bytes: Real | None = Field(None, alias="throughput-bytes")
    receiver_bps: Real | None = Field(None, alias="receiver-throughput-bits")
    sent: Whole | None = None
    lost: Signed | None = None
    jitter: Real | None = None
    """Milliseconds; of nuttcp the largest, elsewhere as RFC 3550 has it."""
    retransmits: Whole | None = None
    rtt: Real | None = None
    omitted: bool | None = None

    @property
    def told_bytes(self) -> int:
        """By rate and time where the record does not say it."""
        size = self.rate_bps * (self.end - self.start) / 8 if self.size_bytes is None else self.size_bytes
        return round(size)

    @property
    def carried_bytes(self) -> int:
        """Likewise where the record has what the rate carries in 1 s, as with iperf2, however long it was."""
        of_one_second = self.size_bytes is not None and int(self.size_bytes) == int(self.rate_bps / 8)
        return round(self.rate_bps * (self.end - self.start) / 8) if of_one_second else self.told_bytes

    def count(self, *, as_told: bool = False) -> dict[str, Any]:
        """The same, as iperf3 has it.

        Args:
            as_told: With the bytes that the record has, as earlier versions read it.
        """
        return {
            "start": self.start,
            "end": self.end,
            "bytes": self.told_bytes if as_told else self.carried_bytes,
            "bits_per_second": self.rate_bps,
            "omitted": bool(self.omitted),
            "retransmits": self.retransmits,
            "rtt": None if self.rtt is None else round(self.rtt),
            "packets": self.sent,
            "lost_packets": self.lost,
            "jitter_ms": self.jitter,
        }


class _Interval(Part):
    streams: tuple[_Data, ...] = ()


class _Summary(Part):
    streams: tuple[_Data, ...] = ()
    summary: _Data


class _Result(Part):
    succeeded: bool
    error: str | None = None
    intervals: tuple[_Interval, ...] = ()
    summary: _Summary | None = None


_Period = Annotated[str, Field(max_length=64)]


class _Specification(Part):
    source: str | None = None
    dest: str | None = None
    duration: _Period | None = None
    omit: _Period | None = None
    parallel: Annotated[int, Field(ge=1, lt=1 << 20)] | None = None
    udp: bool = False
    bandwidth: Whole | None = None
    window: Whole | None = Field(None, alias="window-size")
    length: Whole | None = Field(None, alias="buffer-length")
    congestion: str | None = None
    tos: Annotated[int, Field(ge=0, le=255)] | None = Field(None, alias="ip-tos")
    mss: Whole | None = None
    pacing_bps: Whole | None = Field(None, alias="fq-rate")
    reverse: bool = False
    single_ended: bool = Field(default=False, alias="single-ended")


class _Test(Part):
    type: str = "throughput"
    spec: _Specification = _Specification()


class _Schedule(Part):
    start: datetime | None = None


class _Record(Part):
    test: _Test = _Test()
    schedule: _Schedule | None = None
    tool: Any = None
    participants: tuple[Any, ...] = ()
    result: _Result

    @property
    def of_receiver(self) -> bool:
        """Whether the numbers are the receiver's; a result alone does not name its tool."""
        return _name_in(self.tool, "name") == _NUTTCP


def _record(text: Text) -> _Record:
    """A record with its test, or a result alone."""
    whole = text.parsed(_Whole)
    if whole.result is not None:
        record = text.parsed(_Record)
    else:
        record = checked(_Record, {"result": text.parsed(_Result)}, text.line)
    if record.test.type != "throughput":
        raise PlaceError(
            f"{text.line}$.test.type", f'found "{record.test.type}": only throughput can be imported'
        )
    return record


class _Whole(Part):
    result: Any = None


def _transfer(record: _Record, line: int) -> Transfer:
    spec, summary = record.test.spec, record.result.summary
    if summary is None:
        raise PlaceError(f"{line}$.result.summary", "is missing: the result has no numbers")
    if summary.summary.end <= 0:
        raise PlaceError(f"{line}$.result.summary.summary.end", "the test took no time")
    hosts = [spec.source or _first_host(record.participants), spec.dest]
    source, sink = reversed(hosts) if spec.reverse else hosts
    omit_ns, duration_ns = _period_ns(spec.omit, line) or 0, _period_ns(spec.duration, line)
    if record.of_receiver:
        flows = _received(record.result, summary.summary) if spec.parallel in (None, 1) else ()
        far = _mean_of_receiver(summary.summary)
    else:
        sent = _sent(record.result, spec, omit_ns)
        flows, far = sent.near(), _far(summary.summary, sent)
    transfer = Transfer(
        src=source,
        dst=sink,
        role="sink" if record.of_receiver else "source",
        total=_report(summary.summary),
        flow_count=len(flows) or spec.parallel,
        flows=flows,
        started_at=_started_at(record),
        window_send_bytes=spec.window,
        window_recv_bytes=spec.window,
        length_bytes=spec.length,
        congestion=spec.congestion,
        duration_ns=None if duration_ns is None else duration_ns + omit_ns,
        test="udp" if spec.udp else "tcp",
        omit_ns=omit_ns,
        rate_bps=_rate_of_each(record),
        dscp=(spec.tos or 0) >> 2 or None,
        mss_bytes=spec.mss,
        pacing_rate_bps=spec.pacing_bps,
        cut_off_ns=SECOND_NS if record.of_receiver else None,
        far=far,
    )
    return replace(transfer, as_before=tuple(_as_before(record, summary.summary, transfer)))


def _rate_of_each(record: _Record) -> int | None:
    """What each flow was to send; pScheduler passes it to nuttcp as the limit of all together."""
    spec = record.test.spec
    if spec.bandwidth is None or not record.of_receiver:
        return spec.bandwidth
    return round(spec.bandwidth / (spec.parallel or 1))


def _as_before(record: _Record, whole: _Data, transfer: Transfer) -> Iterator[tuple[str, Any]]:
    """What earlier versions read otherwise."""
    if whole.told_bytes != whole.carried_bytes:
        yield "total", _report(whole, as_told=True)
        yield "flows", _sent(record.result, record.test.spec, transfer.omit_ns, as_told=True).near()
    if transfer.far != (mean := _mean_of_receiver(whole)):
        yield "far", mean
    if transfer.rate_bps != record.test.spec.bandwidth:
        yield "rate_bps", record.test.spec.bandwidth


def _far(whole: _Data, sent: EndFlows) -> FarEnd | None:
    """The receiver: its mean rate, and what came of each flow's datagrams.

    Of lost ones the record has those that others followed. Where its rate shows that more did not come,
    nobody can tell how many.
    """
    mean, received = _mean_of_receiver(whole), sent.far(None)
    if mean is None:
        return far_end(received)
    counted_bps = sum(flow.whole.rate_bps for flow in received)
    return replace(mean, flows=received) if counted_bps <= mean.rate_bps * _LONGER else mean


def _mean_of_receiver(whole: _Data) -> FarEnd | None:
    return None if whole.receiver_bps is None else FarEnd(whole.receiver_bps, None)


def _report(data: _Data, datagrams: Datagrams | None = None, *, as_told: bool = False) -> Report:
    count = Count(**data.count(as_told=as_told))
    start_ns, end_ns = (round(at * SECOND_NS) for at in (count.start, count.end))
    return Report(start_ns, end_ns, count.size_bytes, count.bits_per_second, datagrams=datagrams)


def _received(result: _Result, whole: _Data) -> tuple[FlowReport, ...]:
    """The only flow, by its receiver; without intervals where one of them was cut off to no time at all."""
    intervals = tuple(
        _report(data, _came(data)) for interval in result.intervals for data in interval.streams
    )
    exact = all(report.end_ns > report.start_ns for report in intervals)
    return (FlowReport(_report(whole, _came(whole)), intervals if exact else ()),)


def _came(data: _Data) -> Datagrams | None:
    if data.sent is None or data.lost is None:
        return None
    return Datagrams(max(data.sent - data.lost, 0), data.lost)


def _sent(result: _Result, spec: _Specification, omit_ns: int, *, as_told: bool = False) -> EndFlows:
    """The flows by their sender."""
    document = _document(result, spec, as_told=as_told)
    return EndFlows(document, sends=True, datagrams=spec.udp, omit_ns=omit_ns)


def _document(result: _Result, spec: _Specification, *, as_told: bool) -> Document:
    """The flows as iperf3 would write them; streams are numbered in the order of the summary."""
    streams = () if result.summary is None else result.summary.streams
    sockets = {data.stream: index for index, data in enumerate(streams)}
    key = "udp" if spec.udp else "sender"
    ends = [
        EndOfStream(**{key: Count(socket=sockets[data.stream], **data.count(as_told=as_told))})
        for data in streams
    ]
    # A single end that receives tells of what it received, not of what was sent.
    of_sender = () if spec.single_ended and spec.reverse else result.intervals
    intervals = [
        Interval(
            streams=tuple(
                Count(socket=sockets[data.stream], **data.count(as_told=as_told))
                for data in interval.streams
                if data.stream in sockets
            )
        )
        for interval in of_sender
    ]
    return Document(intervals=tuple(intervals), end=End(streams=tuple(ends)))


def _first_host(participants: Sequence[Any]) -> str | None:
    first = participants[0] if participants else None
    return _name_in(first, "host")


def _name_in(part: object, key: str) -> str | None:
    """A name that stands alone, or in an object."""
    name = part.get(key) if isinstance(part, dict) else part
    return name if isinstance(name, str) else None


def _started_at(record: _Record) -> datetime | None:
    at = None if record.schedule is None else record.schedule.start
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)


def _period_ns(text: str | None, line: int) -> int | None:
    if text is None:
        return None
    found = _PERIOD.fullmatch(text)
    if found is None:
        raise PlaceError(f"{line}$.test.spec", f'found "{text}", expected a duration as in "PT30S"')
    days, hours, minutes, seconds = (float(number or 0) for number in found.groups())
    return round((days * 86_400 + hours * 3_600 + minutes * 60 + seconds) * SECOND_NS)
