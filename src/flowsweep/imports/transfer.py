"""What a file with past results says of one test, whatever tool wrote it: what every reader returns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from flowsweep.defaults import IMPORT_TESTS_MAX, MILLISECOND_NS
from flowsweep.run.outcome import EndRole

Test = Literal["tcp", "udp"]
_TENTH_NS = 100 * MILLISECOND_NS
"""Of a second: no tool rounds times more coarsely."""
_APART = 0.03
"""What share of a test flows may begin or end apart and last alike: netperf's end when all has arrived."""


class PlaceError(ValueError):
    """Something in a file is not what its kind has there."""

    def __init__(self, place: str, message: str) -> None:
        self.place = place
        """A line, from 1, or a path as in "3$.end.sum_sent.bytes": in the JSON text that begins at line 3."""
        super().__init__(message)


class FailedTestError(PlaceError):
    """A test gave no result, as its file tells: of a file with others, it is left out."""


class LineError(PlaceError):
    """A line is not what its kind of file has there."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(str(line), message)


class TooManyTestsError(ValueError):
    """A file tells of more tests than are read at once."""

    def __init__(self) -> None:
        super().__init__(f"it tells of over {IMPORT_TESTS_MAX} tests. Split it, and import the parts.")


_Anything = TypeVar("_Anything")


def bounded(tests: Iterable[_Anything]) -> Iterator[_Anything]:
    """Pass tests on as they are read, but no more than a file may tell of.

    Raises:
        TooManyTestsError: There are more.
    """
    for number, test in enumerate(tests, start=1):
        if number > IMPORT_TESTS_MAX:
            raise TooManyTestsError
        yield test


@dataclass(frozen=True, slots=True)
class TcpState:
    """What the sender's kernel said of a flow at the end of a span of time."""

    retransmits: int | None
    """Segments, since the first interval that counts; None before."""
    rtt_us: int | None
    rttvar_us: int | None
    snd_wnd_bytes: int | None
    pmtu_bytes: int | None


@dataclass(frozen=True, slots=True)
class Datagrams:
    """What became of a flow's datagrams in a span of time, at one end."""

    count: int
    """A source's: sent. A sink's: those that came."""
    missing: int | None = None
    """Of a sink: numbers that it waited for in vain; of an interval below 0 if more came late."""
    reordered: int | None = None
    jitter_ns: int | None = None
    """RFC 3550, of a sink."""

    def sent(self) -> "Datagrams":
        """What the source sent, of a sink's: all that came or was waited for."""
        return Datagrams(self.count + (self.missing or 0))


@dataclass(frozen=True, slots=True)
class Report:
    """What was carried in a span of time."""

    start_ns: int
    end_ns: int
    size_bytes: int
    rate_bps: float
    """As the file has it; it may differ from size over time by the tool's rounding."""
    tcp: TcpState | None = None
    datagrams: Datagrams | None = None
    size_before: int | None = None
    """What earlier versions made of the size where it was another: for `former_ids`."""
    rate_before: float | None = None
    """Likewise of the rate."""

    @property
    def is_of_no_time(self) -> bool:
        """Whether it is of a connection that ended as it began."""
        return self.start_ns == self.end_ns == 0


@dataclass(frozen=True, slots=True)
class MeanRate:
    """A mean rate of all flows together, of which the file does not say how much it was, or how long."""

    rate_bps: float
    size_bytes: int | None = None
    end_ns: int | None = None


@dataclass(frozen=True, slots=True)
class FlowReport:
    """One flow."""

    whole: Report
    intervals: tuple[Report, ...] = ()
    source_port: int | None = None
    sink_port: int | None = None


@dataclass(frozen=True, slots=True)
class FarEnd:
    """What one end learned of the other's counts."""

    rate_bps: float
    """Of all flows together."""
    size_bytes: int | None
    flows: tuple[FlowReport, ...] = ()
    lasted_ns: int | None = None
    """How long it took by the other's clock; None where the file has it of the end that wrote it only."""
    size_before: int | None = None
    """As a report has it, like the next one."""
    rate_before: float | None = None


@dataclass(frozen=True, slots=True)
class Echo:
    """One question for a round-trip time."""

    sequence: int
    at_ns: int
    """Since the transfer began; below 0 where it was before."""
    rtt_ns: int | None
    """None: no answer came."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One test. What the file does not say is None."""

    src: str | None
    dst: str | None
    role: EndRole | None
    """The end that counted; where nobody says, the source is taken to be it."""
    total: Report | MeanRate
    """Of all flows together."""
    flow_count: int | None
    """1 where nobody says."""
    flows: tuple[FlowReport, ...] = ()
    """None where the file tells of all flows together only."""
    started_at: datetime | None = None
    window_send_bytes: int | None = None
    """Asked for."""
    window_recv_bytes: int | None = None
    window_granted_send_bytes: int | None = None
    window_granted_recv_bytes: int | None = None
    of_linux: tuple[EndRole, ...] = ()
    """Ends of which the file says so: what Linux grants is twice of what it uses."""
    length_bytes: int | None = None
    congestion: str | None = None
    duration_ns: int | None = None
    """Asked for; `total` has how long it took."""
    level_ns: int | None = None
    """How long it took, where tests of the file differ in that as in something that was asked for."""
    test: Test = "tcp"
    omit_ns: int = 0
    """Lies inside the duration: what was carried then is in the intervals, and in no report of a whole."""
    rate_bps: int | None = None
    """Of each flow, asked for."""
    dscp: int | None = None
    """Asked for, as what follows; None where the tool left it to the hosts."""
    mss_bytes: int | None = None
    pacing_rate_bps: int | None = None
    """Of each flow, by the kernel."""
    asked_bytes: int | None = None
    """What the test was to carry, where it was to end by that and not by time."""
    simultaneous: bool = False
    """The other direction was tested at the same time."""
    far: FarEnd | None = None
    """What the file has of the end that did not write it."""
    echoes: tuple[Echo, ...] = ()
    """Of pings beside the transfer, from the source."""
    failure: str | None = None
    """Why the test gave no result, as the file tells it; then `total` says nothing of what was carried."""
    cut_off_ns: int | None = None
    """How much longer than told the transfer may have taken, where its time was cut off to whole units."""
    unfinished: str | None = None
    """Why the file tells of a part of the test only: `total` is of that part."""
    assumed: tuple[str, ...] = ()
    """Fields that are not in the file, though they are set: what somebody knows better takes their place."""
    as_before: tuple[tuple[str, Any], ...] = ()
    """Fields that earlier versions did not read, or less of, and what these had there: for `former_ids`."""
    as_lately: tuple[tuple[str, Any], ...] = ()
    """Likewise, of versions that read all else as this one does."""


def sum_of(flows: tuple[FlowReport, ...], *, cut_off: bool = False) -> Report:
    """Put flows together where the file does not: bytes add up, the longest decides the time.

    Rates add up where all flows last alike. Where they do not, theirs are means over unlike times: the rate
    is that of all bytes over the time from the first flow's beginning to the last one's end.

    Args:
        flows: One or more.
        cut_off: Whether the file may lack the last intervals of some: then flows that end within an interval
            of each other last alike.
    """
    wholes = [flow.whole for flow in flows]
    begins_ns, ends_ns = min(whole.start_ns for whole in wholes), max(whole.end_ns for whole in wholes)
    size = sum(whole.size_bytes for whole in wholes)
    before = sum(whole.size_bytes if whole.size_before is None else whole.size_before for whole in wholes)
    added_bps = sum(whole.rate_bps for whole in wholes)
    last_intervals = (report for flow in flows for report in flow.intervals[-1:])
    lacking_ns = max((report.end_ns - report.start_ns for report in last_intervals), default=0)
    alike = _last_alike(wholes, lacking_ns if cut_off else 0)
    return Report(
        begins_ns,
        ends_ns,
        size,
        added_bps if alike else size * 8e9 / (ends_ns - begins_ns),
        size_before=None if before == size else before,
        rate_before=None if alike else added_bps,
    )


def _last_alike(wholes: Sequence[Report], lacking_ns: int) -> bool:
    """Whether flows begin and end together, but for what is rounded or lacks; or of one no time is known."""
    begins, ends = [whole.start_ns for whole in wholes], [whole.end_ns for whole in wholes]
    if any(end <= begin for begin, end in zip(begins, ends, strict=True)):
        return True
    in_tenths = not any(at_ns % _TENTH_NS for at_ns in (*begins, *ends))
    rounded_ns = _TENTH_NS if in_tenths else 0
    alike_ns = max(rounded_ns, lacking_ns, _APART * (max(ends) - min(begins)))
    return max(max(begins) - min(begins), max(ends) - min(ends)) <= alike_ns


def far_end(received: Sequence[FlowReport | None]) -> FarEnd | None:
    """Put together what one end learned of each flow; None if of some it did not: that is not the whole."""
    flows = tuple(flow for flow in received if flow is not None)
    if not flows or len(flows) < len(received):
        return None
    total = sum_of(flows)
    return FarEnd(total.rate_bps, total.size_bytes, flows, total.end_ns, total.size_before, total.rate_before)


NO_REPORT_OF_THE_WHOLE = (
    "the file has no report of the whole test: the tool was ended before it, or the file is cut off"
)
"""Why a transfer is unfinished, where the tool would have written one at the end."""


def has_whole(reports: Sequence[Report]) -> bool:
    """Whether a flow's reports, in the order of the file, end with that of all of it: it begins at 0."""
    return bool(reports) and reports[-1].start_ns == 0


def split_reports(reports: list[Report], line: int) -> tuple[Report, tuple[Report, ...]]:
    """Tell the report of a whole flow from those of its intervals, in the order of the file.

    The whole comes last and begins at 0 again. Where it is missing, as of a tool that was killed, it is made
    of the intervals.

    Raises:
        LineError: There is neither.
    """
    *intervals, last = reports
    if last.end_ns <= 0:
        raise LineError(line, "the flow's report is of no time at all: it says nothing about goodput")
    if has_whole(reports):
        whole = last
    elif intervals:
        intervals = reports
        size = sum(report.size_bytes for report in reports)
        whole = Report(0, last.end_ns, size, size * 8e9 / last.end_ns)
    else:
        raise LineError(line, "the flow's only report does not begin at 0: the rows before it are missing")
    return whole, tuple(intervals)
