"""Tables of dated tests, one row each, as laboratories published them.

Either the text of a web page, whose cells are separated by "|" and line ends, with the columns of the tests
between UCL and Bristol in 2001: from (name, address), to (name, address), port, protocol, socket buffer size
of the sender in bytes, time (seconds since 1970), streams, duration in s, bytes, bit/s. Or CSV or TSV with a
header that names its columns.
"""

import csv
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import chain, pairwise, repeat
from typing import Any

from flowsweep.defaults import IMPORT_YEARS, SECOND_NS
from flowsweep.imports.table_header import NEEDED, Column, Header, find_header
from flowsweep.imports.transfer import FlowReport, LineError, MeanRate, Report, Transfer, bounded

NAME = "dated-table"

_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_SEPARATED = re.compile(r"[+-]?[0-9]+(?:[.,\s'\u2019_][0-9]+)+")
"""A decimal comma, or separators of thousands: which of the two "1,094" has, nobody can tell."""
_LONGEST_NUMBER = 40
"""In characters."""
_PAGE_COLUMNS = (
    "from", "from address", "to", "to address", "port", "protocol", "window_send", "time", "flows",
    "duration", "bytes", "bandwidth",
)  # fmt: skip
_PROTOCOL = _PAGE_COLUMNS.index("protocol")

_NO_RESULT = ("", "-", "nan", "null", "none", "n/a", "na", "failed", "failure", "error", "timeout")
"""Instead of a rate, in lower case: the test was made, and gave none."""
_FIRST_YEAR = 1990
"""A number of seconds that is a date before it is a duration, or counts from the beginning of a campaign."""
_WITH_A_POINT = "a number with a decimal point and without separators of thousands"
_WITHOUT_A_UNIT = "a number without a unit, which its heading may have"
_COMMA_WITHIN = ": commas separate cells, so numbers need a decimal point and no separators of thousands"
_LEAST_BPS = 10_000.0
"""Rates of a table that are all below it are in a unit that its header does not name."""
_APART = 1.2
"""How many times the next shorter one durations are that somebody chose, at least."""
Cells = Mapping[str, str]


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is a row of a page, or a header of CSV or TSV."""
    try:
        return find_header(lines) is not None or next(_page_rows(lines), None) is not None
    except LineError:
        return True  # a header that lacks something, a row that ends too early: whoever reads it says so


def read(lines: Sequence[str]) -> tuple[Transfer, ...]:
    """Read every row.

    Raises:
        LineError: A cell is not what its column has.
    """
    header = find_header(lines)
    if header is None:
        return tuple(_transfer(_Row(line, cells)) for line, cells in bounded(_page_rows(lines)))
    columns = header.by_name
    rows = bounded(_named_rows(header, lines))
    transfers = tuple(_transfer(_Row(line, cells, columns)) for line, cells in rows)
    _check_unit(header, transfers)
    return _told_apart(transfers) if "duration" in columns else transfers


def _check_unit(header: Header, transfers: Sequence[Transfer]) -> None:
    """Refuse rates that cannot be bit/s, which a heading without a unit stands for."""
    column = header.by_name[NEEDED]
    most_bps = max((transfer.total.rate_bps for transfer in transfers if transfer.failure is None), default=0)
    if column.factor is None and 0 < most_bps < _LEAST_BPS:
        raise LineError(
            header.line,
            f'the column "{column.heading}" has no unit, which means bit/s, and its highest rate is '
            f'{most_bps:g}: name the unit there, as in "{column.heading} (Mbit/s)"',
        )


def _told_apart(transfers: tuple[Transfer, ...]) -> tuple[Transfer, ...]:
    """Give tests of unlike durations these as levels, where somebody chose them.

    So are whole seconds that lie apart. Others were measured, and tests that carried the same number of bytes
    took as long as that took.
    """
    lasted = {transfer.total.end_ns for transfer in transfers} - {None}
    told_ns = sorted(end_ns for end_ns in lasted if end_ns)
    apart = all(later >= _APART * earlier for earlier, later in pairwise(told_ns))
    sizes = {transfer.total.size_bytes for transfer in transfers if transfer.failure is None}
    if len(told_ns) < 2 or not apart or len(sizes) == 1 or any(end_ns % SECOND_NS for end_ns in told_ns):
        return transfers
    return tuple(replace(transfer, level_ns=transfer.total.end_ns or None) for transfer in transfers)


def _page_rows(lines: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    """Find rows by their protocol, which stands behind two addresses and a port."""
    width = len(_PAGE_COLUMNS)
    seen: deque[tuple[int, str]] = deque(maxlen=width)
    for number, cell in chain(_page_cells(lines), repeat((0, ""), width)):
        seen.append((number, cell))
        if len(seen) < width or seen[_PROTOCOL][1].lower() not in ("tcp", "udp"):
            continue
        row = [text for _, text in seen]
        if not (_ADDRESS.fullmatch(row[1]) and _ADDRESS.fullmatch(row[3])):
            continue
        line, cells = seen[_PROTOCOL][0], sum(1 for text in row if text)
        if cells < width:
            raise LineError(line, f"the row ends after {cells} cells, expected {width}")
        yield line, dict(zip(_PAGE_COLUMNS, row, strict=True))


def _page_cells(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Cells that are not empty, with their lines."""
    for number, line in enumerate(lines, start=1):
        for cell in line.split("|"):
            if stripped := cell.strip():
                yield number, stripped


def _named_rows(header: Header, lines: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    for number, line in enumerate(lines[header.line :], start=header.line + 1):
        if not line.strip():
            continue
        cells = next(csv.reader([line], delimiter=header.delimiter))
        if len(cells) != len(header.columns):
            more = len(cells) > len(header.columns) and header.delimiter == ","
            hint = _COMMA_WITHIN if more else ""
            raise LineError(number, f"{len(cells)} cells, but the header has {len(header.columns)}{hint}")
        named = zip(header.columns, cells, strict=True)
        yield (
            number,
            {column.name: cell.strip() for column, cell in named if column is not None and cell.strip()},
        )


def _transfer(row: "_Row") -> Transfer:
    cells = row.cells
    if cells.get("protocol", "tcp").lower() != "tcp":
        raise LineError(row.line, "a test of UDP: only tests of TCP can be imported")
    if lacking := [name for name in ("from", "to") if name in row.columns and name not in cells]:
        raise LineError(row.line, f"the row has an empty cell: expected a host in {' and '.join(lacking)}")
    result = cells.get("bandwidth", "")
    failure = None if result.lower() not in _NO_RESULT else _no_result(result)
    rate_bps = 0.0 if failure is not None else row.real("bandwidth") or 0.0
    total = _total(rate_bps, row.real("duration"), row.whole("bytes"), failed=failure is not None)
    flow_count = row.whole("flows") or 1
    send, recv, as_before = _windows(row)
    return Transfer(
        src=cells.get("from"),
        dst=cells.get("to"),
        role="source",
        assumed=("role",) if "flows" in cells else ("role", "flow_count"),
        total=total,
        flow_count=flow_count,
        flows=(FlowReport(total),) if flow_count == 1 and isinstance(total, Report) else (),
        started_at=row.time(),
        window_send_bytes=send,
        window_recv_bytes=recv,
        length_bytes=row.whole("length"),
        congestion=cells.get("congestion"),
        failure=failure,
        as_before=as_before,
    )


def _windows(row: "_Row") -> tuple[int | None, int | None, tuple[tuple[str, Any], ...]]:
    """Windows that sender and receiver asked for, and in what earlier versions read them otherwise.

    A socket buffer is the sender's, as on pages; beside a column of the sender's it can only be the other's.
    """
    window, buffer = row.whole("window"), row.whole("socket_buffer")
    if "window_send" in row.columns and window is None:
        window, buffer = buffer, None
    send, recv = row.whole("window_send"), row.whole("window_recv")
    if send is None:
        send = window if buffer is None else buffer
    if recv is None:
        recv = window
    # They took a socket buffer for that of both ends.
    before = () if buffer is None or recv is not None else (("window_recv_bytes", buffer),)
    return send, recv, before


def _total(rate_bps: float, duration_s: float | None, size: int | None, *, failed: bool) -> Report | MeanRate:
    """All that is known: of rate, duration and bytes two tell the third, unless the rate is 0 or absent."""
    if not failed:
        if duration_s is None and size is not None and rate_bps:
            duration_s = size * 8 / rate_bps
        elif size is None and duration_s is not None:
            size = round(rate_bps * duration_s / 8)
    end_ns = None if duration_s is None else round(duration_s * SECOND_NS)
    if failed or size is None or end_ns is None:
        return MeanRate(rate_bps, size, end_ns)
    return Report(0, end_ns, size, rate_bps)


def _no_result(cell: str) -> str:
    return f'the table has "{cell}" instead of a rate' if cell else "the table has no rate of it"


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: Cells
    columns: Mapping[str, Column] = field(default_factory=dict)
    """Of the header; a page has none."""

    def whole(self, column: str) -> int | None:
        value = self._value(column)
        if value is not None and value.denominator != 1:
            raise self._wrong(column, "a whole number")
        return None if value is None else int(value)

    def real(self, column: str) -> float | None:
        value = self._value(column)
        return None if value is None else float(value)

    def _value(self, column: str) -> Fraction | None:
        """In bit/s, bytes or seconds, exactly: 1.1 MB are 1100000 bytes."""
        text = self.cells.get(column)
        if text is None or text.lower() in _NO_RESULT:
            return None
        if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
            separated = len(text) <= _LONGEST_NUMBER and _SEPARATED.fullmatch(text)
            raise self._wrong(column, _WITH_A_POINT if separated else _WITHOUT_A_UNIT)
        named = self.columns.get(column)
        return Fraction(text) * (1 if named is None or named.factor is None else named.factor)

    def _wrong(self, column: str, expected: str) -> LineError:
        found = self.cells[column]
        shown = found if len(found) <= _LONGEST_NUMBER else f"{found[:_LONGEST_NUMBER]}…"
        return LineError(self.line, f'{column}: found "{shown}", expected {expected}')

    def time(self) -> datetime | None:
        """Seconds since 1970, or RFC 3339; without a zone it is taken for UTC."""
        text = self.cells.get("time")
        if text is None:
            return None
        try:
            if _NUMBER.fullmatch(text):
                at = datetime.fromtimestamp(float(text), UTC)
            else:
                at = datetime.fromisoformat(text)
        except (ValueError, OverflowError, OSError) as error:
            expected = "expected seconds since 1970 or a date as in 2001-11-28T11:46:48Z"
            raise LineError(self.line, f'time: found "{text}", {expected}') from error
        if IMPORT_YEARS[0] <= at.year < _FIRST_YEAR:
            raise LineError(
                self.line,
                f'time: found "{text}", which is a date of {at.year}, expected seconds since 1970 or a date '
                f'from {_FIRST_YEAR} on. If it is how long the test took, call the column "duration"; if '
                "neither, leave it out.",
            )
        return at if at.tzinfo else at.replace(tzinfo=UTC)
