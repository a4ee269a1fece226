"""A row of Iperf's text, and sizes as it prints them.

Bytes come in units of 1024 (KBytes, MBytes), bit/s in units of 1000 (Kbits, Mbits), as Iperf has them.
"""

import math
import re
from dataclasses import dataclass

from flowsweep.defaults import SECOND_NS
from flowsweep.imports import iperf2_datagrams
from flowsweep.imports.ranges import REAL, WHOLE
from flowsweep.imports.transfer import Report

ROW = re.compile(
    rf"\[\s*(?P<id>[^\]\s]+)\]\s+(?P<start>{REAL})\s*-\s*(?P<end>{REAL})\s+sec\s+"
    rf"(?P<size>{REAL})\s+(?P<size_unit>[KMGT]?)(?P<size_of>Bytes|bits)\s+"
    rf"(?P<rate>{REAL})\s+(?P<rate_unit>[KMGT]?)(?P<rate_of>Bytes|bits)/sec(?P<rest>.*)"
)
_CUT_UNIT = "(?:B|By|Byt|Byte|Bytes|b|bi|bit|bits)?"
CUT_ROW = re.compile(
    rf"\[\s*(?:{WHOLE}|SUM[^\]\s]*)\]\s+{REAL}\s*-\s*(?:{REAL}\.?)?(?:\s+s?e?c?)?"
    rf"(?:\s+{REAL}\.?)?(?:\s+[KMGT]?{_CUT_UNIT})?(?:\s+{REAL}\.?)?"
    rf"(?:\s+[KMGT]?{_CUT_UNIT}(?:/|/s|/se)?)?"
)
"""A row without its end, each run of its spaces made one: in long runs a search would take too long."""
OMITTED = re.compile(r"\(omit(?:ted)?\)\s*$")
"""Behind a row, --omit of what comes after 2.2.1."""
NO_TIME = "the connection took no time at all: it says nothing about goodput"
FAILS = re.compile(r"(?:[a-z]\w{0,20} ){1,3}failed: ")
"""What Iperf says of a connection that was refused, or broke."""
BEGINS_LIKE_A_ROW = re.compile(rf"\[\s*({WHOLE}|SUM[^\]]*)\]\s+{REAL}\s*-\s*\d")
_TRIP_TIME = "trip-time"
TELLS_MORE = re.compile(
    rf"\[\s*[^\]\s]+\]\s+{REAL}\s*-\s*{REAL}\s++"
    rf"(?:(?:{'|'.join(_TRIP_TIME[:end] for end in range(len(_TRIP_TIME), 0, -1))})(?:$|(?<=time) )"
    rf"|sec\s++(?!.*(?:Bytes|bits)/sec)"
    rf"(?:(?!(?:s(?:ec?)?|nan|inf|[KMGT]?(?:Bytes|bits))\b)[A-Za-z]|{WHOLE}\s+datagrams\s))"
)
"""What Iperf says of an interval beside its row: histograms, the time of a whole connection, errors."""
_BINARY = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_STEPS = (2 << 10, 1 << 10)
_HAIR = 1e-6
_ENOUGH_DIGITS = 3
_DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class Window:
    """A window as it is printed."""

    size_bytes: int | None
    """None where no digit tells it."""
    is_exact: bool
    """Whether it has all the digits that Iperf prints of larger numbers."""
    before: int
    """What earlier versions took it for, in bytes."""


def report_of(found: re.Match[str]) -> Report:
    """Read a row that `ROW` found."""
    start_ns, end_ns = (round(float(found[name]) * SECOND_NS) for name in ("start", "end"))
    size = float(found["size"]) * _BINARY[found["size_unit"]] / (8 if found["size_of"] == "bits" else 1)
    units = _BINARY if found["rate_of"] == "Bytes" else _DECIMAL
    rate_bps = float(found["rate"]) * units[found["rate_unit"]] * (8 if found["rate_of"] == "Bytes" else 1)
    # Iperf prints few digits: the one of the two that is rounded less says better how many bytes it were.
    of_rate = rate_bps * (end_ns - start_ns) / 8e9
    by_rate = _rounding(found["rate"]) < _rounding(found["size"])
    told = round(of_rate if by_rate and _rate_tells(found, start_ns, end_ns) else size)
    before = round(of_rate if by_rate else size)
    return Report(
        start_ns,
        end_ns,
        told,
        float(round(rate_bps)),
        datagrams=iperf2_datagrams.of_text(found["rest"]),
        size_before=None if before == told else before,
    )


def _rate_tells(found: re.Match[str], start_ns: int, end_ns: int) -> bool:
    """Whether the bytes that follow from a rate are better than the size, the time's rounding included.

    A size without a prefix is exact. Iperf ends intervals by its clock, so a whole number of seconds is taken
    for exact, and so is an interval that does not begin at 0.
    """
    if not found["size_unit"] and found["size_of"] == "Bytes" and "." not in found["size"]:
        return False
    if start_ns or end_ns % SECOND_NS == 0:
        return True
    return _rounding(found["rate"]) + _rounding(found["end"]) < _rounding(found["size"])


def size_of(number: str, unit: str) -> int:
    """Bytes of a size that is printed with a unit."""
    return round(float(number) * _BINARY[unit])


def window_of(number: str, unit: str) -> Window:
    """Read a window, which with -f m or -f g may be below 1, with few digits.

    Of these it is the only multiple of 2 KiB that is printed so, or else of 1 KiB, where there is one.
    """
    printed = size_of(number, unit)
    if not unit or float(number) >= 1:
        return Window(printed or None, is_exact=True, before=printed)
    digits = number.replace(".", "").lstrip("0")
    half = _BINARY[unit] * 0.5 * 10.0 ** -len(number.partition(".")[2])
    least, most = float(number) * _BINARY[unit] - half, float(number) * _BINARY[unit] + half
    fitting = next(
        (
            last * step
            for step in _STEPS
            if (last := math.floor(most / step + _HAIR)) and last == math.ceil(least / step - _HAIR)
        ),
        None,
    )
    size = (fitting or printed) if digits else None
    return Window(size, is_exact=len(digits) >= _ENOUGH_DIGITS, before=printed)


def _rounding(text: str) -> float:
    """How large one unit of the last digit is, relative to the number."""
    value = float(text)
    return 10.0 ** -len(text.partition(".")[2]) / value if value else 1.0
