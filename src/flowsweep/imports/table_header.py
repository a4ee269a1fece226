"""The header of a table of tests: what each column has, and in which unit its numbers are.

A unit follows a name, in brackets or not: "Bandwidth (Mbit/s)", "throughput_mbps", "Window KiB". Numbers
without one are bit/s, bytes and seconds.
"""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flowsweep.imports.transfer import LineError

NEEDED = "bandwidth"
"""The column without which there is nothing to import."""
_LONGEST = 80
"""Characters of a heading that may be one of ours."""
_OF_OUR_SUMMARY = {"trial_id", "sweep", "status", "goodput_bps"}
"""Headings that `flowsweep summary --format csv` has."""
_ENOUGH = 2
"""A first line with so many columns that are known is a header, whatever it lacks."""

_PREFIXES = {
    "": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
    "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40,
}  # fmt: skip
_RATE = re.compile(
    r"(?P<prefix>[kKmMgGtT]i?|)(?P<what>[bB]its?|b|[bB]ytes?|B) ?(?:/ ?s|/ ?sec|/ ?second|ps| per second)"
)
_SIZE = re.compile(r"(?P<prefix>[kKmMgGtT]i?|)(?P<what>B|[bB]ytes?)")
_SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("min", "minute", "minutes"), Fraction(60)),
    **dict.fromkeys(("h", "hour", "hours"), Fraction(3600)),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), Fraction(1, 1000)),
}


def _rate(unit: str) -> Fraction | None:
    """Bit/s in a unit: a small b is a bit, a large one a byte."""
    found = _RATE.fullmatch(unit.replace("_", " "))
    if found is None:
        return None
    is_byte = found["what"] == "B" or found["what"].lower().startswith("byte")
    return Fraction(_PREFIXES[found["prefix"].lower()] * (8 if is_byte else 1))


def _size(unit: str) -> Fraction | None:
    found = _SIZE.fullmatch(unit)
    return None if found is None else Fraction(_PREFIXES[found["prefix"].lower()])


def _since_1970(unit: str) -> Fraction | None:
    return (
        Fraction(1) if unit.lower() in ("s", "utc", "gmt", "unix", "epoch", "rfc 3339", "iso 8601") else None
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a column has, how headings name it, and its units."""

    headings: tuple[str, ...]
    """In lower case, with spaces."""
    unit: Callable[[str], Fraction | None] = lambda _: None
    """How many of ours are in a unit; None if it is none."""
    units: str = ""
    """As a message says which are understood; empty for what has none."""


_SIZES = (_size, "bytes, KB, KiB, MB, MiB")
_KINDS = {
    "from": _Kind(("from", "src", "source", "sender", "source host", "src host")),
    "to": _Kind(("to", "dst", "destination", "dest", "sink", "receiver", "destination host", "dst host")),
    "protocol": _Kind(("protocol", "proto")),
    "time": _Kind(
        ("time", "date", "started at", "start", "start time", "timestamp"), _since_1970, "UTC, s since 1970"
    ),
    "flows": _Kind(("flows", "streams", "parallel", "parallel streams", "parallel flows")),
    "window": _Kind(("window", "window size"), *_SIZES),
    "socket_buffer": _Kind(("socket buffer size", "socket buffer"), *_SIZES),
    "window_send": _Kind(("window send", "send window"), *_SIZES),
    "window_recv": _Kind(("window recv", "receive window"), *_SIZES),
    "length": _Kind(("length", "write length"), *_SIZES),
    "congestion": _Kind(("congestion", "congestion control", "cc")),
    "duration": _Kind(("duration",), _SECONDS.get, "s, ms, min"),
    "bytes": _Kind(("bytes", "transfer", "transferred", "size"), *_SIZES),
    "bandwidth": _Kind(("bandwidth", "goodput", "throughput"), _rate, "bit/s, kbit/s, Mbit/s, Gbit/s, MB/s"),
}
_BRACKETS = re.compile(r"([^(\[]*)[(\[]([^)\]]*)[)\]]")


@dataclass(frozen=True, slots=True)
class Column:
    """One column that is read."""

    name: str
    """Ours, a key of the cells of a row."""
    heading: str
    """The file's."""
    factor: Fraction | None = None
    """How many bit/s, bytes or seconds its unit is; None: the heading has none."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a table that is not empty."""

    line: int
    delimiter: str
    columns: tuple[Column | None, ...]
    """None: a column that is not read."""

    @property
    def by_name(self) -> Mapping[str, Column]:
        """The columns that are read, by our names."""
        return {column.name: column for column in self.columns if column is not None}


def find_header(lines: Sequence[str]) -> Header | None:
    """The header of CSV or TSV; None if the first line is none: too little of it is known.

    Raises:
        LineError: A unit is not understood, two columns are the same, or one that is needed is missing; or it
            is a summary of Flowsweep's.
    """
    number, first = next(((n, line) for n, line in enumerate(lines, start=1) if line.strip()), (0, ""))
    delimiter = max(("\t", ";", ","), key=first.count)
    headings = [" ".join(cell.split()) for cell in next(csv.reader([first], delimiter=delimiter), [])]
    if _OF_OUR_SUMMARY.issubset(headings):
        raise LineError(
            number,
            "a summary that Flowsweep wrote, which has a part only of what its archive has, and no archive "
            "needs an import: give findings, report or compare the archive itself",
        )
    named = [_named(heading) for heading in headings]
    if len({name for name, _ in named if name is not None}) < _ENOUGH:
        return None
    columns = tuple(
        None if name is None else Column(name, heading, _factor(number, heading, name, unit))
        for heading, (name, unit) in zip(headings, named, strict=True)
    )
    header = Header(number, delimiter, columns)
    _check(header, headings)
    return header


def _named(heading: str) -> tuple[str | None, str | None]:
    """Our name of a column, and the unit of its heading; None for what is not known."""
    if len(heading) > _LONGEST:
        return None, None
    if (name := _known(heading)) is not None:
        return name, None
    if _rate(heading) is not None:
        return "bandwidth", heading
    if (bracket := _BRACKETS.fullmatch(heading)) is not None:
        return _known(bracket[1]), bracket[2].strip()
    for at in (place for place, character in enumerate(heading) if character in " _"):
        name, unit = _known(heading[:at].removesuffix(" in")), heading[at + 1 :]
        if name is not None and _KINDS[name].unit(unit) is not None:
            return name, unit
    return None, None


def _known(words: str) -> str | None:
    plain = words.replace("_", " ").strip().lower()
    return next((name for name, kind in _KINDS.items() if plain in kind.headings), None)


def _factor(line: int, heading: str, name: str, unit: str | None) -> Fraction | None:
    kind = _KINDS[name]
    if unit is None or not kind.units:
        return None
    factor = kind.unit(unit)
    if factor is None:
        raise LineError(
            line, f'the column "{heading}": found the unit "{unit}", expected one as {kind.units}'
        )
    return factor


def _check(header: Header, headings: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for column in header.columns:
        if (
            column is not None
            and (first := seen.setdefault(column.name, column.heading)) is not column.heading
        ):
            both = f'the columns "{first}" and "{column.heading}" both have the {column.name}'
            raise LineError(header.line, f"{both}: leave one of them out")
    if NEEDED not in seen:
        found = ", ".join(f'"{heading}"' for heading in headings)
        expected = ", ".join(f'"{heading}"' for heading in _KINDS[NEEDED].headings)
        raise LineError(header.line, f"no column has the rate: found {found}, expected one of {expected}")
