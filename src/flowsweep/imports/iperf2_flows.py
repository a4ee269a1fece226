"""One test in Iperf's text as far as it has been read, and the transfer that it becomes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from flowsweep.imports.iperf2_row import NO_TIME, Window
from flowsweep.imports.transfer import (
    NO_REPORT_OF_THE_WHOLE,
    Datagrams,
    FailedTestError,
    FlowReport,
    Report,
    Transfer,
    far_end,
    has_whole,
    split_reports,
    sum_of,
)
from flowsweep.imports.transfer import Test as Protocol
from flowsweep.run.outcome import EndRole

_APART = 0.05
"""By what share of it a sum may end apart from the flow that lasted longest."""
_NO_ROW = "a connection of which no row tells anything"
_ALL_OMITTED = "all of its intervals were omitted"


@dataclass(slots=True)
class Flow:
    """A connection and its rows."""

    line: int
    source_port: int
    sink_port: int
    reports: list[Report] = field(default_factory=list)
    from_server: list[Report] = field(default_factory=list)
    """What the other end reported to a client of its datagrams: one report."""
    sent: int | None = None
    """Datagrams, as a client counts them."""
    omitted_ns: int = 0
    """Where its last row ends that is marked as omitted."""

    @property
    def finished(self) -> bool:
        """Whether its last row is of all of it, or of all that is not omitted: that goes back in time."""
        if self.omitted_ns:
            return len(self.reports) > 1 and self.reports[-1].start_ns < self.reports[-2].end_ns
        return has_whole(self.reports)

    @property
    def told(self) -> bool:
        """Whether a row that counts is of more than no time."""
        if self.omitted_ns:
            return bool(self._counted())
        return bool(self.reports) and not self.reports[-1].is_of_no_time

    def _intervals(self) -> list[Report]:
        """Those of a flow of which some are omitted."""
        return self.reports[:-1] if self.finished else self.reports

    def _counted(self) -> list[Report]:
        """Those of them that are not."""
        after = self.omitted_ns
        return [report for report in self._intervals() if report.start_ns >= after < report.end_ns]

    def _apart_from_omitted(self) -> tuple[Report, tuple[Report, ...]]:
        """The sum of what counts, and all intervals: in its own sum Iperf may leave out too much."""
        counted = self._counted()
        size, lasted_ns = sum(report.size_bytes for report in counted), counted[-1].end_ns - self.omitted_ns
        return Report(0, lasted_ns, size, size * 8e9 / lasted_ns), tuple(self._intervals())

    def flow_report(self) -> FlowReport:
        """Put its rows together, with what the server reported of its datagrams.

        Raises:
            LineError: There is no row of the whole, nor the first one.
        """
        if self.omitted_ns:
            whole, intervals = self._apart_from_omitted()
        else:
            whole, intervals = split_reports(self.reports, self.line)
        if received := self.received():
            counted = received.whole.datagrams
            # What the client calls sent counts the one that ends the test, too, which the server leaves out.
            sent = None if counted is None else counted.sent()
            whole = replace(whole, datagrams=sent)
        elif self.sent is not None:
            whole = replace(whole, datagrams=Datagrams(self.sent))
        return FlowReport(whole, intervals, self.source_port, self.sink_port)

    def received(self) -> FlowReport | None:
        """What the server reported to a client."""
        if not self.from_server:
            return None
        return FlowReport(self.from_server[-1], (), self.source_port, self.sink_port)


@dataclass(slots=True)
class Setting:
    """What the lines above the connections say."""

    test: Protocol = "tcp"
    window: Window | None = None
    granted: Window | None = None
    length_bytes: int | None = None
    rate_bps: int | None = None
    congestion: str | None = None


@dataclass(slots=True)
class Test:
    """Connections with one host that are one test."""

    line: int
    local: str | None
    """None where no line tells of a connection (--sum-only)."""
    remote: str
    role: EndRole
    setting: Setting
    started_at: datetime | None
    begun_by: EndRole
    """Of the heading above: with --reverse the other one."""
    simultaneous: bool = False
    flows: list[Flow] = field(default_factory=list)
    """Without those of tests that are parts of it, until all have been read."""
    sums: list[Report] = field(default_factory=list)
    sums_omitted_ns: int = 0
    """Where the last one of them ends that is marked as omitted."""
    sum_before: Report | None = None
    """The last one that earlier versions took for one of this test."""
    count: int = 0
    """Flows, those of its parts included."""
    finished: int = 0
    """Those that are."""
    has_rows: bool = False
    cut_off: bool = False
    """Whether the file ends where a server's report begins."""
    failure: str | None = None
    """What Iperf said before any row."""
    after: list["Test"] = field(default_factory=list)
    """Those that began after a row of it that looked like the whole of a flow."""
    part_of: "Test | None" = None

    @property
    def looks_over(self) -> bool:
        """Whether a row that may be of the whole has been read, if only of one flow."""
        return self.finished > 0 or (not self.has_rows and self._summed.finished)

    @property
    def is_over(self) -> bool:
        """Whether every flow has a row that may be of the whole, or the sums have one."""
        return self.finished == self.count if self.has_rows else self._summed.finished

    @property
    def key(self) -> tuple[str, EndRole]:
        """Which of the tests that run it is."""
        return self.remote, self.role

    def whole_test(self) -> "Test":
        """The one that it is a part of, or itself."""
        test = self
        while test.part_of is not None:
            if test.part_of.part_of is not None:
                test.part_of = test.part_of.part_of
            test = test.part_of
        return test

    def add(self, flow: Flow, report: Report) -> bool:
        """Add a row to one of its flows; tells whether the only row before was of an interval after all."""
        before = flow.finished
        flow.reports.append(report)
        self.has_rows = True
        self.finished += flow.finished - before
        return before and not flow.finished

    def take_in_later(self) -> None:
        """Make those that began after it parts of it: it had not ended."""
        for test in self.after:
            test.part_of = self
            self.count += test.count
            self.finished += test.finished
            self.simultaneous |= test.simultaneous
        self.after = [later for test in self.after for later in test.after]

    def transfer(self) -> Transfer | FailedTestError:
        """What it became, with all of its flows, or with those that have rows."""
        told = [flow for flow in self.flows if flow.told]
        if not told and not self._sums_tell:
            return FailedTestError(str(self.line), self.failure or self._why_nothing)
        flows = tuple(flow.flow_report() for flow in told)
        total = self._total(flows, cut_off=not self._is_whole(told))
        sends, setting = self.role == "source", self.setting
        window = None if setting.window is None else setting.window.size_bytes
        granted = None if setting.granted is None else setting.granted.size_bytes
        return Transfer(
            src=self.local if sends else self.remote,
            dst=self.remote if sends else self.local,
            role=self.role,
            flow_count=len(self.flows) or self.count,
            flows=flows,
            total=total,
            started_at=self.started_at,
            window_send_bytes=window if sends else None,
            window_recv_bytes=None if sends else window,
            window_granted_send_bytes=granted if sends else None,
            window_granted_recv_bytes=None if sends else granted,
            length_bytes=setting.length_bytes,
            rate_bps=setting.rate_bps,
            congestion=setting.congestion,
            test=setting.test,
            omit_ns=self._omit_ns,
            simultaneous=self.simultaneous,
            far=far_end([flow.received() for flow in told]) if len(told) == len(self.flows) else None,
            unfinished=NO_REPORT_OF_THE_WHOLE if self.cut_off or not self._is_whole(told) else None,
            assumed=() if setting.window is None or setting.window.is_exact else (self._windows[0],),
            as_before=(
                ("rate_bps", None),
                *((("unfinished", None),) if self._is_whole(told) else ()),
                ("total", self._total_before(flows, total)),
                *self._windows_before(),
            ),
        )

    @property
    def _omit_ns(self) -> int:
        of_flows = max((flow.omitted_ns for flow in self.flows), default=0)
        return of_flows if self.has_rows else self.sums_omitted_ns

    @property
    def _summed(self) -> Flow:
        """The sums, as if they were the rows of one flow."""
        return Flow(self.line, 0, 0, self.sums, omitted_ns=self.sums_omitted_ns)

    @property
    def _sums_tell(self) -> bool:
        """Whether the sums tell of a test of which no flow does."""
        if self._omit_ns:
            return not self.has_rows and self._summed.told
        return bool(self.sums)

    @property
    def _why_nothing(self) -> str:
        if self._omit_ns:
            return _ALL_OMITTED
        return NO_TIME if self.has_rows else _NO_ROW

    @property
    def _windows(self) -> tuple[str, str]:
        """Fields of the window of its end: asked for, and granted."""
        end = "send" if self.role == "source" else "recv"
        return f"window_{end}_bytes", f"window_granted_{end}_bytes"

    def _windows_before(self) -> tuple[tuple[str, int], ...]:
        windows = zip(self._windows, (self.setting.window, self.setting.granted), strict=True)
        return tuple((name, window.before) for name, window in windows if window is not None)

    def _total(self, flows: tuple[FlowReport, ...], *, cut_off: bool) -> Report:
        """The sum of the file where it is of all flows, else one of theirs."""
        if not flows:
            return self._summed.flow_report().whole
        added = sum_of(flows, cut_off=cut_off)
        if self._omit_ns or not has_whole(self.sums):
            return added
        # That of a first interval begins at 0, too.
        is_of_all = abs(self.sums[-1].end_ns - added.end_ns) <= added.end_ns * _APART
        return self.sums[-1] if is_of_all else added

    def _total_before(self, flows: Sequence[FlowReport], total: Report) -> Report:
        """What earlier versions had."""
        if not flows:
            return total
        return self.sum_before if self.sum_before and has_whole([self.sum_before]) else sum_of(tuple(flows))

    def _is_whole(self, told: Sequence[Flow]) -> bool:
        if not told:
            return self._summed.finished
        return len(told) == len(self.flows) and all(flow.finished for flow in told)


def known_as(now: Transfer | FailedTestError, lately: Transfer | None) -> Transfer | FailedTestError:
    """Add what the version before this one read otherwise, and those before that one had."""
    if lately is None or isinstance(now, FailedTestError):
        return now
    named = (each.name for each in fields(now) if each.name not in ("as_before", "as_lately"))
    unlike = tuple(
        (name, getattr(lately, name)) for name in named if getattr(lately, name) != getattr(now, name)
    )
    return replace(now, as_before=(*unlike, *lately.as_before), as_lately=unlike)
