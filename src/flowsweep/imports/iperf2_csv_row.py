"""Rows of Iperf's CSV."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from flowsweep.defaults import SECOND_NS
from flowsweep.imports import iperf2_datagrams
from flowsweep.imports.iperf2_row import FAILS
from flowsweep.imports.ranges import REAL
from flowsweep.imports.transfer import LineError, Report

COLUMNS = 9
_UDP_COLUMNS = COLUMNS + iperf2_datagrams.COLUMNS
TIME = re.compile(r"(?:([+-]\d{4}):)?(\d{14})(?:\.(\d{1,6}))?", re.ASCII)
_ANY = re.compile(r".*")
_COUNT = re.compile(r"-?\d+", re.ASCII)
_MILLISECONDS = re.compile(r"-?[\d.]+", re.ASCII)
INTERVAL = re.compile(rf"({REAL})-\s*({REAL})", re.ASCII)
IDS_OF_2_1 = ("1", "2")
_SUM_ID = "-1"
REMARK = re.compile(
    rf"-{{20}}|Client connecting|Server listening|TCP window|UDP buffer|Sending |{FAILS.pattern}"
)
"""What stands between the rows of an end that both listens and connects (-d, -r), or that could not."""
_CELLS = (
    TIME, _ANY, _COUNT, _ANY, _COUNT, _ANY, INTERVAL, _COUNT, _COUNT, _MILLISECONDS, _COUNT, _COUNT, _ANY,
)  # fmt: skip
"""What stands in the columns of a row, but for the last one."""
_CUT_OFF = 5
"""A rate without its last digit is ten times too low; rounded times make less of it."""
_NO_NUMBER = ("nan", "-nan")
_IPERF_BEGAN = 1999


@dataclass(frozen=True, slots=True)
class Row:
    """What a line says."""

    line: int
    at: datetime | None
    """When it was written, which is at the end of what it reports; Iperf 2.1 may leave it out."""
    first: str
    second: str
    first_port: int
    second_port: int
    flow_id: str
    report: Report
    udp: bool

    @property
    def is_sum(self) -> bool:
        """Whether it is of several connections."""
        return self.flow_id == _SUM_ID

    @property
    def key(self) -> tuple[str, str, int, int, bool]:
        """What rows of a connection have in common."""
        return self.first, self.second, self.first_port, self.second_port, self.is_sum

    @property
    def turned(self) -> tuple[str, str, int, int, bool]:
        """The key of a row that the other end wrote."""
        return self.second, self.first, self.second_port, self.first_port, self.is_sum


def rows_of(lines: Sequence[str]) -> Iterator[Row]:
    """Read all rows, but for the last one where it is cut off, as a tool that was killed leaves it.

    Raises:
        LineError: A row is none of Iperf's, or the only one is cut off.
    """
    known: dict[tuple[str, ...], bool] = {}
    last = max((number for number, line in enumerate(lines, start=1) if line.strip()), default=0)
    for number, line in enumerate(lines, start=1):
        if not line.strip() or REMARK.match(line):
            continue
        fields = next(csv.reader([line]))
        is_cut = number == last and _is_cut(fields, known)
        if is_cut and known:
            return
        row = _row(number, fields)
        if is_cut and row.report.start_ns == 0 and not row.is_sum:
            raise LineError(number, "the only row is cut off: its rate is too low for its bytes")
        known[tuple(fields[1:5])] = row.udp
        yield row


def _is_cut(fields: Sequence[str], known: Mapping[tuple[str, ...], bool]) -> bool:
    """Whether a row ends in the middle, its last number included.

    Args:
        fields: What the row has.
        known: For addresses and ports of the rows before, whether they have the columns of UDP.
    """
    cells = zip(_CELLS, fields[:-1], strict=False)
    if len(fields) >= _UDP_COLUMNS or not all(pattern.fullmatch(cell) for pattern, cell in cells):
        return False
    if len(fields) != COLUMNS:
        return True
    span, rate = INTERVAL.fullmatch(fields[6].strip()), fields[-1]
    if span is None or not _COUNT.fullmatch(rate):
        return not rate
    first, first_port, second, second_port = fields[1:5]
    # What a server told a client of 2.0 has the columns of UDP, too, and its ends turned round.
    of_udp = known.get((first, first_port, second, second_port), False)
    if fields[5] not in IDS_OF_2_1:
        of_udp = of_udp or not known.get((second, second_port, first, first_port), True)
    lasted_ns = _ns(span[2]) - _ns(span[1])
    return of_udp or (lasted_ns > 0 and int(rate) * _CUT_OFF * lasted_ns < int(fields[7]) * 8e9)


def _row(line: int, fields: list[str]) -> Row:
    if len(fields) not in (COLUMNS, _UDP_COLUMNS):
        expected = f"{COLUMNS} (TCP) or {_UDP_COLUMNS} (UDP)"
        raise LineError(line, f"{len(fields)} columns, expected {expected} as of Iperf's -y C")
    span = INTERVAL.fullmatch(fields[6].strip())
    if span is None:
        raise LineError(line, f'found the interval "{fields[6]}", expected seconds as in "0.0-10.0"')
    try:
        datagrams = iperf2_datagrams.of_csv(fields[COLUMNS:]) if len(fields) > COLUMNS else None
        report = Report(
            _ns(span[1]), _ns(span[2]), int(fields[7]), _rate(fields[8], span[2]), datagrams=datagrams
        )
        ports = int(fields[2]), int(fields[4])
    except ValueError as error:
        raise LineError(
            line, f"ports, bytes, bit/s and what was lost must be whole numbers: {error}"
        ) from error
    udp = len(fields) == _UDP_COLUMNS
    return Row(line, _time(line, fields[0]), fields[1], fields[3], *ports, fields[5], report, udp)


def _rate(text: str, end: str) -> float:
    """Read bit/s; over no time Iperf divides 0 by 0."""
    return 0.0 if text in _NO_NUMBER and float(end) == 0 else float(int(text))


def _time(line: int, text: str) -> datetime | None:
    found = TIME.fullmatch(text)
    if found is None:
        raise LineError(line, f'found the time "{text}", expected digits as in "20011128201500"')
    zone, digits, fraction = found.groups()
    try:
        at = datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=UTC if zone is None else _zone(zone))
    except ValueError as error:
        raise LineError(line, f'the time "{text}" is none: {error}') from error
    # Iperf 2.1 has the first second of 1970 where it took no time.
    return (
        at + timedelta(microseconds=int((fraction or "0").ljust(6, "0"))) if at.year >= _IPERF_BEGAN else None
    )


def _zone(text: str) -> timezone:
    minutes = int(text[1:3]) * 60 + int(text[3:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def _ns(seconds: str) -> int:
    return round(float(seconds) * SECOND_NS)
