"""What nuttcp prints: intervals (`-i`) and a summary, for people, with `-v`, or for programs (`-fparse`).

Bytes come in units of 1024 × 1024, as nuttcp has them. Who the hosts are and how many flows there were it
says with `-v` only. Intervals and the summary are the receiver's; `-v` has the sender's summary, too, and
what its kernel sent again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from flowsweep.defaults import SECOND_NS
from flowsweep.imports.ranges import DECIMAL, WHOLE
from flowsweep.imports.transfer import (
    NO_REPORT_OF_THE_WHOLE,
    Datagrams,
    FarEnd,
    FlowReport,
    LineError,
    Report,
    TcpState,
    Test,
    Transfer,
    bounded,
    split_reports,
)
from flowsweep.run.outcome import EndRole

NAME = "nuttcp"

_AMOUNT = rf"(?P<mb>{DECIMAL}) MB (?:/|in)\s+(?P<seconds>{DECIMAL}) (?:sec|real seconds)\s+="
_SIDE = r"(?:nuttcp-(?P<side>[tr])(?:\d[^:]*)?:\s+)?"
_PRINTED = re.compile(rf"\s*{_SIDE}{_AMOUNT}.*?(?P<mbps>{DECIMAL}) Mbps(?P<rest>.*)")
_PARSED = re.compile(
    rf"\s*{_SIDE}megabytes=(?P<mb>{DECIMAL}) real_sec(?P<whole>onds)?=(?P<seconds>{DECIMAL}) "
    rf"(?:rate_KBps=\S+ )?rate_Mbps=(?P<mbps>{DECIMAL})(?P<rest>.*)"
)
_SUMMARY = re.compile(r"%TX|%RX")
_DROPS = re.compile(rf"(?:(-?{WHOLE}) /\s+({WHOLE}) ~?drop/pkt|drop=(-?{WHOLE}) pkt=({WHOLE}))")
"""Dropped ones are below 0 where more came late than were dropped: nuttcp counts them back."""
_SETTING = re.compile(
    rf"nuttcp-[tr]\S*: buflen=(?P<length>{WHOLE}),? (?:nbuf=(?P<buffers>{WHOLE}),? )?"
    rf"nstream=(?P<flows>{WHOLE}),? port={WHOLE} (?:mode=)?(?P<test>tcp|udp)"
    r"(?: (?:-> |host=)(?P<to>\S+))?"
)
"""Here and below in words or, with `-fparse`, as a key and a value."""
_ACCEPTED = re.compile(r"nuttcp-r\S*: accept(?: from |=)(\S+)")
_WINDOWS = re.compile(
    rf"nuttcp-([tr])\S*: send[ _]window[ _]size ?= ?({WHOLE}),? receive[ _]window[ _]size ?= ?({WHOLE})"
)
_ASKED_WINDOW = re.compile(
    r"nuttcp-(?:t\S*: Warning(?:: |=\")send|r\S*: Warning(?:: |=\")receive)[ _]window[ _]size[ _]"
    rf"{WHOLE}[ _]<[ _]requested[ _]window[ _]size[ _]({WHOLE})"
)
"""Comes before all else of a test, where its standard error is in the file."""
_LIMIT = re.compile(rf"nuttcp-t\S*: time[ _]limit ?= ?({DECIMAL})\b")
_RATE_LIMIT = re.compile(rf"nuttcp-t\S*: rate[ _]limit ?= ?({DECIMAL}) (?:Mbps|rate_unit=Mbps)")
"""Of all flows together."""
_LOST = re.compile(rf"nuttcp-r\S*: (?:-?{WHOLE} / {WHOLE} drop/pkt|drop=-?{WHOLE} pkt=)")
_RETRANSMITTED = re.compile(rf"nuttcp-t\S*: retrans ?= ?({WHOLE})\b")
"""Of the connection; of all of its host nuttcp has "host-retrans"."""
_LATER = re.compile(
    r"nuttcp-[tr]\S*: "
    r"(?:buflen=\d+(?: |, nbuf)|accept=|send_window|time_limit|time limit = \S+ second$|rate|drop|Warning)"
)
"""What earlier versions did not read."""
_VERSION = re.compile(r"nuttcp-([tr])\S*: v\d")
_MEGABYTE = 1 << 20
_OF_ANOTHER = (
    "its intervals last longer than its summary says: some are of a test before it, which has no summary"
)
_ROUNDED = 0.01
"""Intervals are told to 0.01 s each."""


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is a line as only nuttcp writes it."""
    return any(_VERSION.match(line) or _PRINTED.match(line) or _PARSED.match(line) for line in lines)


def read(lines: Sequence[str]) -> tuple[Transfer, ...]:
    """Read every test of a file.

    Raises:
        LineError: A row cannot be read, or nothing but intervals of no time follows.
    """
    return tuple(bounded(_tests(lines)))


def _tests(lines: Sequence[str]) -> Iterator[Transfer]:
    test = _Test()
    for number, line in enumerate(lines, start=1):
        begun = _VERSION.match(line)
        if (begun and (test.complete or begun[1] in test.sides)) or (
            test.complete and _ASKED_WINDOW.match(line)
        ):
            if test.told:
                yield test.transfer(number)
            test = _Test()
        if begun:
            test.sides.add(begun[1])
        if found := _PRINTED.match(line) or _PARSED.match(line):
            if test.complete and found["side"] is None:
                yield test.transfer(number)
                test = _Test()
            test.row(number, found)
        else:
            test.remark(line)
    if test.told:
        yield test.transfer(len(lines))


_OF_REMARKS = (
    "protocol", "to", "by", "flows", "length", "window_send", "window_recv", "granted_send", "granted_recv",
    "duration_ns", "rate_sum_bps", "lost",
)  # fmt: skip
"""Fields that lines beside the rows tell."""


@dataclass(slots=True)
class _Test:
    """A test as far as it has been read."""

    rows: list[Report] = field(default_factory=list)
    """Intervals, then the receiver's summary."""
    sent: Report | None = None
    complete: bool = False
    received_whole: bool = False
    """Whether the last row is the receiver's summary."""
    protocol: Test = "tcp"
    to: str | None = None
    by: str | None = None
    flows: int | None = None
    length: int | None = None
    buffers: int | None = None
    """How many of that length were to be sent, by all flows together."""
    window_send: int | None = None
    window_recv: int | None = None
    granted_send: int | None = None
    granted_recv: int | None = None
    duration_ns: int | None = None
    rate_sum_bps: float | None = None
    retransmits: int | None = None
    lost: Datagrams | None = None
    """Of the receiver's summary, where they follow it in a line of their own."""
    sides: set[str] = field(default_factory=set)
    """Whose version was told: each end tells it once."""
    before: dict[str, Any] = field(default_factory=dict)
    """Fields as earlier versions had them, where it was otherwise."""

    @property
    def told(self) -> bool:
        """Whether there is anything of either end."""
        return bool(self.rows) or self.sent is not None

    def row(self, number: int, found: re.Match[str]) -> None:
        size = round(float(found["mb"]) * _MEGABYTE)
        time_ns = round(float(found["seconds"]) * SECOND_NS)
        summary = found["side"] is not None or bool(_SUMMARY.search(found["rest"]))
        summary = summary or bool(found.groupdict().get("whole"))
        begins_ns = 0 if summary or not self.rows else self.rows[-1].end_ns
        datagrams = _datagrams(found["rest"], of_whole=summary)
        if datagrams is not None:
            self.protocol = "udp"
            self.before.pop("protocol", None)
        report = Report(
            begins_ns, begins_ns + time_ns, size, round(float(found["mbps"]) * 1e6, 1), datagrams=datagrams
        )
        if summary and time_ns == 0:
            raise LineError(number, "the test took no time: it says nothing about goodput")
        if found["side"] == "t":
            self.sent = report
        elif summary or time_ns > 0:
            self.rows.append(report)
            self.received_whole = summary
        self.complete = self.complete or (summary and found["side"] is None)

    def remark(self, line: str) -> None:
        unread = {name: getattr(self, name) for name in _OF_REMARKS} if _LATER.match(line) else {}
        self._remark(line)
        for name, value in unread.items():
            if getattr(self, name) != value:
                self.before.setdefault(name, value)
        self.complete = self.complete or (bool(self.rows) and self.sent is not None)

    def _remark(self, line: str) -> None:
        if found := _SETTING.match(line):
            self.protocol = "udp" if found["test"] == "udp" else "tcp"
            self.length, self.flows = int(found["length"]), int(found["flows"])
            self.buffers = int(found["buffers"]) if found["buffers"] else None
            self.to = found["to"] or self.to
        elif found := _ACCEPTED.match(line):
            self.by = found[1]
        elif found := _LIMIT.match(line):
            self.duration_ns = round(float(found[1]) * SECOND_NS)
        elif found := _RATE_LIMIT.match(line):
            self.rate_sum_bps = float(found[1]) * 1e6
        elif found := _RETRANSMITTED.match(line):
            self.retransmits = int(found[1])
        elif _LOST.match(line) and self.rows:
            self.lost = _datagrams(line, of_whole=True)
        else:
            self._windows(line)

    def _windows(self, line: str) -> None:
        if found := _WINDOWS.match(line):
            if found[1] == "t":
                self.granted_send = int(found[2])
            else:
                self.granted_recv = int(found[3])
        elif found := _ASKED_WINDOW.match(line):
            if line.startswith("nuttcp-t"):
                self.window_send = int(found[1])
            else:
                self.window_recv = int(found[1])

    def transfer(self, line: int) -> Transfer:
        now = self._transfer(line)
        rows = [*map(_without_sign, self.rows)]
        if not self.before and rows == self.rows:
            return now
        former = replace(self, **self.before, rows=rows, before={}).transfer(line)
        names = (each.name for each in fields(now))
        unlike = ((name, getattr(former, name)) for name in names)
        return replace(now, as_before=tuple(each for each in unlike if each[1] != getattr(now, each[0])))

    def _transfer(self, line: int) -> Transfer:
        role, near, far = self._ends(line)
        return Transfer(
            src=self.by,
            dst=self.to,
            role=role,
            total=near.whole,
            flow_count=self.flows,
            flows=(near,) if self._single else (),
            window_send_bytes=self.window_send,
            window_recv_bytes=self.window_recv,
            window_granted_send_bytes=self.granted_send,
            window_granted_recv_bytes=self.granted_recv,
            length_bytes=self.length,
            duration_ns=self.duration_ns,
            test=self.protocol,
            rate_bps=None if not self.rate_sum_bps else round(self.rate_sum_bps / (self.flows or 1)),
            asked_bytes=self.length * self.buffers if self.length and self.buffers else None,
            far=far,
            unfinished=self._unfinished(near),
        )

    @property
    def _single(self) -> bool:
        """Whether there was one flow: what nuttcp tells is of all flows together."""
        return self.flows in (None, 1)

    def _ends(self, line: int) -> tuple[EndRole, FlowReport, FarEnd | None]:
        """The receiver and, with `-v`, the sender; where nothing of the receiver follows, the sender."""
        source = None if self.sent is None else self._source(self.sent)
        if source is not None and not self.rows:
            return "source", source, None
        rows = self.rows
        if self.lost is not None:
            rows = [*rows[:-1], replace(rows[-1], datagrams=self.lost)]
        sink = FlowReport(*split_reports(rows, line))
        if source is None:
            return "sink", sink, None
        if sink.whole.datagrams is not None:
            source = replace(source, whole=replace(source.whole, datagrams=sink.whole.datagrams.sent()))
        flows = (source,) if self._single else ()
        sent = source.whole
        return "sink", sink, FarEnd(sent.rate_bps, sent.size_bytes, flows, sent.end_ns)

    def _source(self, sent: Report) -> FlowReport:
        """The sender's summary; what its kernel said at the end is of one interval, the whole."""
        if self.retransmits is None:
            return FlowReport(sent)
        state = TcpState(self.retransmits, rtt_us=None, rttvar_us=None, snd_wnd_bytes=None, pmtu_bytes=None)
        return FlowReport(sent, (replace(sent, tcp=state),))

    def _unfinished(self, flow: FlowReport) -> str | None:
        if not self.received_whole:
            return NO_REPORT_OF_THE_WHOLE
        longest_ns = max((report.end_ns - report.start_ns for report in flow.intervals), default=0)
        over_ns = flow.intervals[-1].end_ns - flow.whole.end_ns if flow.intervals else 0
        return _OF_ANOTHER if over_ns > longest_ns / 2 + flow.whole.end_ns * _ROUNDED else None


def _datagrams(text: str, *, of_whole: bool) -> Datagrams | None:
    """Dropped and all datagrams; what came is the difference. In a whole, none can have come late."""
    found = _DROPS.search(text)
    if found is None:
        return None
    dropped, sent = (int(number) for number in found.groups() if number is not None)
    if of_whole:
        dropped = max(dropped, 0)
    return Datagrams(max(sent - dropped, 0), dropped)


def _without_sign(row: Report) -> Report:
    """An interval as earlier versions had it: late datagrams were dropped ones."""
    if row.datagrams is None or (row.datagrams.missing or 0) >= 0:
        return row
    late = -(row.datagrams.missing or 0)
    sent = row.datagrams.count - late
    return replace(row, datagrams=Datagrams(max(sent - late, 0), late))
