"""The bounds of what a file may say: anything beyond fits no column of an archive, and is no measurement."""

import math
from collections.abc import Iterator
from itertools import chain

from flowsweep.defaults import (
    IMPORT_COUNT_MAX,
    IMPORT_FLOWS_MAX,
    IMPORT_INTERVAL_MAX_BYTES,
    IMPORT_INTERVAL_MAX_NS,
    IMPORT_RATE_MAX_BPS,
    IMPORT_SUM_MAX,
    IMPORT_TIME_MAX_NS,
    IMPORT_WINDOW_MAX_BYTES,
    IMPORT_YEARS,
    NAME_MAX_CHARACTERS,
    PORT_MAX,
)
from flowsweep.imports.transfer import MeanRate, Report, Transfer
from flowsweep.wording import printable

WHOLE = r"\d{1,18}"
DECIMAL = r"\d{1,18}\.\d{1,18}"
REAL = r"\d{1,18}(?:\.\d{1,18})?"
"""Numbers in patterns: with a bound on their digits a search takes time that is linear in a line's length."""

_Bounded = tuple[str, float | None, float]
"""What it is, the number, and the most that it may be; the least is 0."""
_SHOWN_CHARACTERS = 40
_LARGEST_SHOWN = 1e300


def beyond(transfer: Transfer) -> str | None:
    """Say what of a transfer cannot be kept: what was found, and what is expected; None if all can."""
    for name in (transfer.src, transfer.dst, transfer.congestion):
        if name is not None and len(name) > NAME_MAX_CHARACTERS:
            shown = printable(name[:_SHOWN_CHARACTERS])
            return f'found the name "{shown}…", expected up to {NAME_MAX_CHARACTERS} characters'
    at = transfer.started_at
    first, last = IMPORT_YEARS
    if at is not None and not first <= at.year <= last:
        return f"found the time {at.isoformat()}, expected one of the years {first} to {last}"
    for what, number, most in chain(_settings(transfer), _reported(transfer), _pings(transfer)):
        if number is not None and not 0 <= number <= most:
            return f"found {what} of {_shown(number)}, expected 0 to {_shown(most)}"
    return None


def _shown(number: float) -> str:
    """About how large a number is; a whole one may be larger than any real one."""
    return f"{number:.6g}" if abs(number) < _LARGEST_SHOWN else f"over {_LARGEST_SHOWN:g}"


def _settings(transfer: Transfer) -> Iterator[_Bounded]:
    windows = (
        transfer.window_send_bytes,
        transfer.window_recv_bytes,
        transfer.window_granted_send_bytes,
        transfer.window_granted_recv_bytes,
    )
    yield "a number of flows", transfer.flow_count, IMPORT_FLOWS_MAX
    for size in (*windows, transfer.length_bytes, transfer.mss_bytes):
        yield "a window or length in bytes", size, IMPORT_WINDOW_MAX_BYTES
    yield "a duration in ns", transfer.duration_ns, IMPORT_TIME_MAX_NS
    yield "an omitted time in ns", transfer.omit_ns, IMPORT_TIME_MAX_NS
    for rate_bps in (transfer.rate_bps, transfer.pacing_rate_bps):
        yield "a rate in bit/s", rate_bps, IMPORT_RATE_MAX_BPS
    for flow in (*transfer.flows, *(() if transfer.far is None else transfer.far.flows)):
        yield "a port", flow.source_port, PORT_MAX
        yield "a port", flow.sink_port, PORT_MAX


def _reported(transfer: Transfer) -> Iterator[_Bounded]:
    far, total = transfer.far, transfer.total
    yield from _amount(total)
    wholes: list[Report] = [total] if isinstance(total, Report) else []
    intervals: list[Report] = []
    for flow in (*transfer.flows, *(() if far is None else far.flows)):
        wholes.append(flow.whole)
        intervals += flow.intervals
    if far is not None:
        yield "a rate in bit/s", _real(far.rate_bps), IMPORT_RATE_MAX_BPS
        yield "bytes", far.size_bytes, IMPORT_SUM_MAX
        yield "a time in ns", far.lasted_ns, IMPORT_TIME_MAX_NS
    for report in intervals:
        yield "a length of an interval in ns", report.end_ns - report.start_ns, IMPORT_INTERVAL_MAX_NS
        yield "bytes of an interval", report.size_bytes, IMPORT_INTERVAL_MAX_BYTES
        if report.tcp is not None:
            tcp = report.tcp
            yield "retransmissions", tcp.retransmits, IMPORT_COUNT_MAX
            for number in (tcp.rtt_us, tcp.rttvar_us, tcp.snd_wnd_bytes, tcp.pmtu_bytes):
                yield "a state of TCP", number, IMPORT_WINDOW_MAX_BYTES
    for reports in (wholes, intervals):
        for report in reports:
            yield from _numbers(report, of_interval=reports is intervals)
        yield "a sum of bytes", sum(report.size_bytes for report in reports), IMPORT_SUM_MAX
        datagrams = [report.datagrams for report in reports if report.datagrams is not None]
        counts = (count for each in datagrams for count in (each.count, each.missing, each.reordered))
        yield "a sum of datagrams", sum(abs(count or 0) for count in counts), IMPORT_SUM_MAX


def _numbers(report: Report, *, of_interval: bool) -> Iterator[_Bounded]:
    yield "a time in ns", report.start_ns, IMPORT_TIME_MAX_NS
    yield from _amount(report)
    if report.datagrams is not None:
        datagrams = report.datagrams
        missing = datagrams.missing or 0
        for count in (datagrams.count, abs(missing) if of_interval else missing, datagrams.reordered):
            yield "a number of datagrams", count, IMPORT_COUNT_MAX
        yield "a jitter in ns", datagrams.jitter_ns, IMPORT_TIME_MAX_NS


def _amount(report: Report | MeanRate) -> Iterator[_Bounded]:
    yield "a time in ns", report.end_ns, IMPORT_TIME_MAX_NS
    yield "bytes", report.size_bytes, IMPORT_SUM_MAX
    yield "a rate in bit/s", _real(report.rate_bps), IMPORT_RATE_MAX_BPS


def _pings(transfer: Transfer) -> Iterator[_Bounded]:
    for echo in transfer.echoes:
        yield "a number of a ping", echo.sequence, IMPORT_COUNT_MAX
        yield "a time of a ping in ns, before or after the beginning", abs(echo.at_ns), IMPORT_TIME_MAX_NS
        yield "a round-trip time in ns", echo.rtt_ns, IMPORT_TIME_MAX_NS


def _real(rate_bps: float) -> float:
    """Infinity in place of what is no number: it is beyond any bound."""
    return math.inf if math.isnan(rate_bps) else rate_bps
