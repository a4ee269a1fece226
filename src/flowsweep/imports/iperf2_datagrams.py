"""What Iperf 1 and 2 say of datagrams, in a row of its CSV or of its text.

The end that sends knows how many it wrote; the one that receives has jitter, lost and all, and what came
out of order.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from flowsweep.defaults import MILLISECOND_NS
from flowsweep.imports.ranges import REAL, WHOLE
from flowsweep.imports.transfer import Datagrams, FlowReport, Report
from flowsweep.run.outcome import EndRole

COLUMNS = 5
"""Of the CSV, behind those of TCP: jitter in ms, lost, all, percent, out of order."""
_RECEIVED = re.compile(rf"(?P<jitter>\d{{1,12}}\.\d{{1,9}}) ms\s+(?P<lost>{WHOLE})/\s*(?P<all>{WHOLE}) \(")
_WRITTEN = re.compile(rf"\s*(?P<count>{WHOLE})/{WHOLE}\s+-?{WHOLE} pps")
_ASKED = re.compile(rf"Sending ({WHOLE}) byte datagrams(?:, IPG target: ({REAL}) us)?")
_LATE_WORDS = " datagrams received out-of-order"
LATE = re.compile(
    rf"\[\s*([^\]\s]+)\]\s+{REAL}\s*-\s*{REAL}\s+sec\s+"
    rf"({WHOLE}) datagrams\s+received out-of-order"
)
"""Of a flow, how many."""
CUT_LATE = re.compile(
    rf"\[\s*[^\]\s]+\]\s+{REAL}\s*-\s*{REAL}\s+sec\s+{WHOLE}"
    rf"(?:{'|'.join(_LATE_WORDS[:end] for end in range(len(_LATE_WORDS) - 1, 1, -1))})"
)
"""Likewise, without its end, each run of its spaces made one."""
_JITTER = re.compile(r"-?\d{1,12}\.\d{1,9}", re.ASCII)


def of_csv(columns: Sequence[str]) -> Datagrams | None:
    """Read the columns of datagrams, as if the row was of the end that received; None where a sender has -1.

    Raises:
        ValueError: They are no numbers.
    """
    jitter, lost, datagrams, _, reordered = columns
    if not _JITTER.fullmatch(jitter):
        raise ValueError(f'found the jitter "{jitter}", expected milliseconds')
    if int(datagrams) < 0:
        return None
    return _received(jitter, int(lost), int(datagrams), int(reordered))


def of_text(rest: str) -> Datagrams | None:
    """Read what stands behind the bandwidth of a row; of a receiver, or of a sender with `-e`."""
    if found := _RECEIVED.search(rest):
        return _received(found["jitter"], int(found["lost"]), int(found["all"]), None)
    if found := _WRITTEN.match(rest):
        return Datagrams(int(found["count"]))
    return None


def asked(line: str) -> tuple[int, int | None] | None:
    """Read what a client is to send: bytes of a datagram, and bit/s of each flow where Iperf has the gap.

    The rate has as many digits as the gap.
    """
    found = _ASKED.search(line)
    if found is None:
        return None
    length_bytes, gap_us = int(found[1]), float(found[2] or 0)
    if not gap_us:
        return length_bytes, None
    digits = len(found[2].replace(".", "").lstrip("0"))
    return length_bytes, round(float(f"{length_bytes * 8e6 / gap_us:.{digits}g}"))


def role_of_csv(reports: Sequence[Report]) -> EndRole | None:
    """Which end wrote a flow's rows: the sender has no number of all in the last one, and no jitter."""
    if reports[-1].start_ns == 0 and reports[-1].datagrams is None:
        return "source"
    datagrams = [report.datagrams for report in reports if report.datagrams is not None]
    return "sink" if any(row.jitter_ns or row.missing or row.reordered for row in datagrams) else None


def as_sent(flow: FlowReport) -> FlowReport:
    """Take all that was counted as sent: what is lost or late a sender does not know."""
    return replace(flow, whole=_sent(flow.whole), intervals=tuple(_sent(report) for report in flow.intervals))


def with_late(report: Report, late: int) -> Report:
    """Add how many came behind later ones."""
    datagrams = report.datagrams
    return report if datagrams is None else replace(report, datagrams=replace(datagrams, reordered=late))


def _sent(report: Report) -> Report:
    datagrams = report.datagrams
    return report if datagrams is None else replace(report, datagrams=datagrams.sent())


def _received(jitter_ms: str, lost: int, datagrams: int, reordered: int | None) -> Datagrams:
    return Datagrams(
        max(datagrams - lost, 0), lost, reordered, round(max(float(jitter_ms), 0.0) * MILLISECOND_NS)
    )
