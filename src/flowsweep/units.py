"""Quantities: read from a plan ("87.5ms", "512KiB", "100Mbit/s"), written back exactly, and shown to people.

Times are whole nanoseconds, sizes whole bytes and rates whole bit/s; measured rates are floats.
KB, MB, GB are powers of 1000; KiB, MiB, GiB powers of 1024 (IEC 80000-13).
"""

import difflib
import math
import re
from dataclasses import dataclass
from fractions import Fraction

DURATION_UNITS: dict[str, int] = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
"""Nanoseconds in each unit."""

SIZE_UNITS: dict[str, int] = {
    "B": 1,
    "KB": 1_000,
    "KiB": 1 << 10,
    "MB": 1_000_000,
    "MiB": 1 << 20,
    "GB": 1_000_000_000,
    "GiB": 1 << 30,
}
"""Bytes in each unit."""

RATE_UNITS: dict[str, int] = {
    "bit/s": 1,
    "kbit/s": 1_000,
    "Mbit/s": 1_000_000,
    "Gbit/s": 1_000_000_000,
}
"""Bit per second in each unit."""

LARGEST = (1 << 63) - 1
"""What a signed 64-bit integer holds: the engine, Arrow and Parquet take no more."""

NUMBER_PATTERN = r"[0-9]+(\.[0-9]+)?"


class QuantityError(ValueError):
    """A text that is no quantity of its kind: what was found, what is expected and what to write instead."""


def parse_duration(text: str) -> int:
    """Nanoseconds of a duration such as "30s", "87.5ms" or "2min". Raises QuantityError."""
    return _parse(text, _DURATION)


def parse_size(text: str) -> int:
    """Bytes of a size such as "512KiB", "8KB" or "1.1MB". Raises QuantityError."""
    return _parse(text, _SIZE)


def parse_rate(text: str) -> int:
    """Bit/s of a rate such as "100Mbit/s" or "2.5Gbit/s". Raises QuantityError."""
    return _parse(text, _RATE)


def write_duration(duration_ns: int) -> str:
    """Write whole nanoseconds as a plan does, without loss: parse_duration gives them back."""
    return _write(duration_ns, _DURATION)


def write_size(size_bytes: int) -> str:
    """Write whole bytes as a plan does, without loss: parse_size gives them back."""
    return _write(size_bytes, _SIZE)


def write_rate(rate_bps: int) -> str:
    """Write whole bit/s as a plan does, without loss: parse_rate gives them back."""
    return _write(rate_bps, _RATE)


def format_rate(rate_bps: float) -> str:
    """Show a rate in bit/s with 3 significant digits: "193 Mbit/s", "5.20 Gbit/s"."""
    return _engineering(rate_bps, RATE_UNITS)


def format_size(size_bytes: float) -> str:
    """Show a size in bytes: "512 KiB" or "8 KB" where that is exact, else 3 significant digits: "1.10 MB"."""
    return (
        _exact(size_bytes, _BINARY_UNITS, below=_BINARY_COUNTS_BELOW)
        or _exact(size_bytes, _DECIMAL_UNITS, below=1_000)
        or _engineering(size_bytes, _DECIMAL_UNITS)
    )


def format_duration(duration_ns: float) -> str:
    """Show a duration in nanoseconds: "2 h 5 min", "12 min 30 s", "30 s" where exact, else "1.20 ms"."""
    if duration_ns == 0:
        return "0 s"
    if duration_ns < 0:
        return "-" + format_duration(-duration_ns)
    if _rounded(duration_ns) < DURATION_UNITS["min"]:
        exact = _exact(duration_ns, _SHORT_DURATION_UNITS, below=1_000)
        return exact or _engineering(duration_ns, _SHORT_DURATION_UNITS)
    seconds = round(duration_ns / DURATION_UNITS["s"])
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(round(minutes + seconds / 60), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def format_share(share: float) -> str:
    """Show a share of 1 as a percentage with 3 significant digits: 0.987 is "98.7 %"."""
    return f"{format_number(share * 100)} %"


def format_number(value: float) -> str:
    """Show a number with 3 significant digits and without an exponent: "0.0512", "5.20", "193", "5200"."""
    rounded = _rounded(value)
    if rounded == 0:
        return "0"
    if not math.isfinite(rounded):
        return str(rounded)
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of quantity."""

    name: str
    units: dict[str, int]
    example: str
    aliases: dict[str, str]
    """What people write elsewhere, in lower case, and what it is here."""


_DURATION = _Kind(
    "duration",
    DURATION_UNITS,
    "30s",
    {
        "sec": "s",
        "secs": "s",
        "second": "s",
        "seconds": "s",
        "m": "min",
        "minute": "min",
        "minutes": "min",
        "hours": "h",
    },
)
_SIZE = _Kind("size", SIZE_UNITS, "64KiB", {"k": "KiB", "m": "MiB", "g": "GiB", "byte": "B", "bytes": "B"})
_RATE = _Kind(
    "rate",
    RATE_UNITS,
    "100Mbit/s",
    {
        "k": "kbit/s",
        "m": "Mbit/s",
        "g": "Gbit/s",
        "bps": "bit/s",
        "kbps": "kbit/s",
        "mbps": "Mbit/s",
        "gbps": "Gbit/s",
    },
)

_BINARY_UNITS = {unit: SIZE_UNITS[unit] for unit in ("KiB", "MiB", "GiB")}
_DECIMAL_UNITS = {unit: SIZE_UNITS[unit] for unit in ("B", "KB", "MB", "GB")} | {"TB": 10**12}
_SHORT_DURATION_UNITS = {unit: DURATION_UNITS[unit] for unit in ("ns", "us", "ms", "s")}
_BINARY_COUNTS_BELOW = 10_000
"""1536 KiB says more than 1.57 MB; 123456 KiB does not."""

_QUANTITY = re.compile(rf"\s*(?P<number>-?{NUMBER_PATTERN})\s*(?P<unit>[^0-9.\s]*)\s*", re.ASCII)
_LONGEST_TEXT = 40


def _parse(text: str, kind: _Kind) -> int:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None:
        raise QuantityError(
            f'"{_shortened(text)}" is not a {kind.name}: write a number and a unit, as in "{kind.example}"'
        )
    number, unit = match["number"], match["unit"]
    if not unit:
        raise QuantityError(
            f'{number} has no unit: write "{_proposal(number, kind)}" (units: {", ".join(kind.units)})'
        )
    if unit not in kind.units:
        nearest = _nearest_unit(unit, kind)
        hint = f'did you mean "{number}{nearest}"? ' if nearest else ""
        raise QuantityError(
            f'"{unit}" is not a unit of a {kind.name}: {hint}(units: {", ".join(kind.units)})'
        )
    value = Fraction(number) * kind.units[unit]
    if value < 0:
        raise QuantityError(f'"{text}" is negative: a {kind.name} is 0 or more')
    base = next(iter(kind.units))
    if value.denominator != 1:
        raise QuantityError(f'"{text}" is {float(value):g} {base}: a {kind.name} is a whole number of {base}')
    if value > LARGEST:
        raise QuantityError(f'"{text}" is too large: the most is {_write(LARGEST, kind)}')
    return int(value)


def _proposal(number: str, kind: _Kind) -> str:
    """Guess the unit that a bare number was meant in, from its magnitude."""
    value = abs(float(number))
    if kind is _DURATION:
        return f"{number}s"
    if kind is _SIZE:
        return f"{number}B" if value >= 1_000 else f"{number}KiB"
    return _write(int(value), kind) if value >= 100_000 else f"{number}Mbit/s"


def _nearest_unit(unit: str, kind: _Kind) -> str | None:
    lower = unit.lower()
    if lower in kind.aliases:
        return kind.aliases[lower]
    by_lower = {known.lower(): known for known in kind.units}
    nearest = difflib.get_close_matches(lower, by_lower, n=1, cutoff=0.5)
    return by_lower[nearest[0]] if nearest else None


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


def _write(value: int, kind: _Kind) -> str:
    """Take the shortest text of no more than 3 decimals, and of equal ones that with the largest unit."""
    texts = (_in_unit(value, unit, factor) for unit, factor in reversed(kind.units.items()))
    return min((text for text in texts if text is not None), key=len)


def _in_unit(value: int, unit: str, factor: int) -> str | None:
    thousandths, rest = divmod(value * 1000, factor)
    if rest or (value < factor and factor > 1):
        return None
    whole, decimals = divmod(thousandths, 1000)
    return f"{whole}.{decimals:03}".rstrip("0").rstrip(".") + unit


def _exact(value: float, units: dict[str, int], below: int) -> str | None:
    """Show a whole number of the largest unit that divides the value, if that is a short one."""
    for unit, factor in reversed(units.items()):
        count, rest = divmod(value, factor)
        if rest == 0 and 1 <= count < below:
            return f"{count:.0f} {unit}"
    return None


def _engineering(value: float, units: dict[str, int]) -> str:
    """Show 3 significant digits in the largest unit that leaves at least 1 before the point."""
    smallest = next(iter(units))
    unit = next(
        (unit for unit, factor in reversed(units.items()) if abs(_rounded(value)) >= factor), smallest
    )
    return f"{format_number(value / units[unit])} {unit}"


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
