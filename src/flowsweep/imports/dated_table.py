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
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, repeat

from flowsweep.defaults import SECOND_NS
from flowsweep.imports.transfer import FlowReport, LineError, Report, Transfer, bounded

NAME = "dated-table"

_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_WHOLE = re.compile(r"\d+", re.ASCII)
_PAGE_COLUMNS = (
    "from", "from address", "to", "to address", "port", "protocol", "window_send_bytes", "time", "flows",
    "duration_s", "bytes", "bandwidth_bps",
)  # fmt: skip
_PROTOCOL = _PAGE_COLUMNS.index("protocol")

_HEADINGS = {
    "from": ("from", "src", "source", "sender"),
    "to": ("to", "dst", "sink", "receiver"),
    "time": ("time", "date", "started_at", "start"),
    "flows": ("flows", "streams", "parallel"),
    "window_bytes": ("window_bytes", "window", "socket buffer size"),
    "window_send_bytes": ("window_send_bytes", "window_send"),
    "window_recv_bytes": ("window_recv_bytes", "window_recv"),
    "length_bytes": ("length_bytes", "length"),
    "congestion": ("congestion",),
    "duration_s": ("duration_s", "duration"),
    "bytes": ("bytes", "transfer"),
    "bandwidth_bps": ("bandwidth_bps", "bandwidth", "goodput_bps", "throughput", "bit/s", "bits/sec"),
}
_NEEDED = ("from", "to", "bandwidth_bps")
Cells = Mapping[str, str]


def recognises(lines: Sequence[str]) -> bool:
    """Whether there is a row of a page, or a header of CSV or TSV that names what is needed."""
    if _header(lines) is not None:
        return True
    try:
        return next(_page_rows(lines), None) is not None
    except LineError:
        return True  # a row that ends too early: whoever reads it says so


def read(lines: Sequence[str]) -> tuple[Transfer, ...]:
    """Read every row.

    Raises:
        LineError: A cell is not what its column has.
    """
    rows = _page_rows(lines) if _header(lines) is None else _named_rows(lines)
    return tuple(_transfer(line, cells) for line, cells in bounded(rows))


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


@dataclass(frozen=True, slots=True)
class _Header:
    line: int
    delimiter: str
    columns: tuple[str | None, ...]
    """By our names; None: a column that is not read."""


def _header(lines: Sequence[str]) -> _Header | None:
    number, first = next(((n, line) for n, line in enumerate(lines, start=1) if line.strip()), (0, ""))
    delimiter = max(("\t", ";", ","), key=first.count)
    columns = tuple(_column(heading) for heading in next(csv.reader([first], delimiter=delimiter), []))
    return _Header(number, delimiter, columns) if set(_NEEDED) <= set(columns) else None


def _column(heading: str) -> str | None:
    """Our name of a column, with or without a unit in brackets behind it."""
    plain = heading.partition("[")[0].partition("(")[0].strip().lower()
    return next((name for name, written in _HEADINGS.items() if plain in written), None)


def _named_rows(lines: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    header = _header(lines)
    if header is None:
        return
    for number, line in enumerate(lines[header.line :], start=header.line + 1):
        if not line.strip():
            continue
        cells = next(csv.reader([line], delimiter=header.delimiter))
        if len(cells) != len(header.columns):
            raise LineError(number, f"{len(cells)} cells, but the header has {len(header.columns)}")
        named = zip(header.columns, cells, strict=True)
        yield number, {name: cell.strip() for name, cell in named if name is not None and cell.strip()}


def _transfer(line: int, cells: Cells) -> Transfer:
    if cells.get("protocol", "tcp").lower() != "tcp":
        raise LineError(line, "a test of UDP: only tests of TCP can be imported")
    known = _Row(line, cells)
    rate_bps = known.real("bandwidth_bps")
    if rate_bps is None or not {"from", "to"} <= set(cells):
        raise LineError(line, f"a row needs the cells {', '.join(_NEEDED)}")
    duration_s, size = known.real("duration_s"), known.whole("bytes")
    if duration_s is None:
        duration_s = 0.0 if size is None or not rate_bps else size * 8 / rate_bps
    end_ns = round(duration_s * SECOND_NS)
    total = Report(0, end_ns, round(rate_bps * duration_s / 8) if size is None else size, rate_bps)
    flow_count = known.whole("flows") or 1
    window = known.whole("window_bytes")
    send, recv = known.whole("window_send_bytes"), known.whole("window_recv_bytes")
    return Transfer(
        src=cells["from"],
        dst=cells["to"],
        role="source",
        total=total,
        flow_count=flow_count,
        flows=(FlowReport(total),) if flow_count == 1 else (),
        started_at=known.time(),
        window_send_bytes=window if send is None else send,
        window_recv_bytes=window if recv is None else recv,
        length_bytes=known.whole("length_bytes"),
        congestion=cells.get("congestion"),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: Cells

    def whole(self, column: str) -> int | None:
        text = self.cells.get(column)
        return None if text is None else int(self._checked(column, text, _WHOLE, "a whole number"))

    def real(self, column: str) -> float | None:
        text = self.cells.get(column)
        return None if text is None else float(self._checked(column, text, _NUMBER, "a number"))

    def _checked(self, column: str, text: str, pattern: re.Pattern[str], what: str) -> str:
        if not pattern.fullmatch(text):
            raise LineError(self.line, f'{column}: found "{text}", expected {what} without a unit')
        return text

    def time(self) -> datetime | None:
        """Seconds since 1970, or RFC 3339; without a zone it is taken for UTC."""
        text = self.cells.get("time")
        if text is None:
            return None
        try:
            if _NUMBER.fullmatch(text):
                return datetime.fromtimestamp(float(text), UTC)
            at = datetime.fromisoformat(text)
        except (ValueError, OverflowError, OSError) as error:
            expected = "expected seconds since 1970 or a date as in 2001-11-28T11:46:48Z"
            raise LineError(self.line, f'time: found "{text}", {expected}') from error
        return at if at.tzinfo else at.replace(tzinfo=UTC)
