"""For plans: quantities ("87.5ms", "512KiB", "100Mbit/s"), read and written back exactly.

Times are whole nanoseconds, sizes whole bytes and rates whole bit/s.
KB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024 (IEC 80000-13). What people read, in few
digits, is in `flowsweep.wording`.
"""

import difflib
import re
from collections.abc import Iterator
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

AGE_UNITS: dict[str, int] = {"h": 3_600_000_000_000, "d": 86_400_000_000_000}
"""Nanoseconds in each unit of how long something is kept."""

SIZE_UNITS: dict[str, int] = {
    "B": 1,
    "KB": 1_000,
    "KiB": 1 << 10,
    "MB": 1_000_000,
    "MiB": 1 << 20,
    "GB": 1_000_000_000,
    "GiB": 1 << 30,
    "TB": 1_000_000_000_000,
    "TiB": 1 << 40,
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


Limits = tuple[int, int]
"""The least and the most that is allowed, and that is proposed for a number without a unit."""


class QuantityError(ValueError):
    """A text that is no quantity of its kind: what was found, what is expected and what to write instead."""


def parse_duration(text: str, within: Limits | None = None) -> int:
    """Nanoseconds of a duration such as "30s", "87.5ms" or "2min". Raises QuantityError."""
    return _parse(text, _DURATION, within)


def parse_age(text: str, within: Limits | None = None) -> int:
    """Nanoseconds of an age such as "30d" or "12h". Raises QuantityError."""
    return _parse(text, _AGE, within)


def parse_size(text: str, within: Limits | None = None) -> int:
    """Bytes of a size such as "512KiB", "8KB" or "1.1MB". Raises QuantityError."""
    return _parse(text, _SIZE, within)


def parse_rate(text: str, within: Limits | None = None) -> int:
    """Bit/s of a rate such as "100Mbit/s" or "2.5Gbit/s". Raises QuantityError."""
    return _parse(text, _RATE, within)


def write_duration(duration_ns: int) -> str:
    """Write whole nanoseconds as a plan does, without loss: parse_duration gives them back."""
    return _write(duration_ns, _DURATION)


def write_age(age_ns: int) -> str:
    """Write whole hours as a plan does, without loss: parse_age gives them back."""
    return _write(age_ns, _AGE)


def write_size(size_bytes: int) -> str:
    """Write whole bytes as a plan does, without loss: parse_size gives them back."""
    return _write(size_bytes, _SIZE)


def write_rate(rate_bps: int) -> str:
    """Write whole bit/s as a plan does, without loss: parse_rate gives them back."""
    return _write(rate_bps, _RATE)


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of quantity."""

    name: str
    units: dict[str, int]
    example: str
    aliases: dict[str, str]
    """What people write elsewhere, in lower case, and what it is here."""
    bare: tuple[str, ...]
    """The units that a small number without one may be in, the likeliest first."""


_DURATION = _Kind(
    "duration",
    DURATION_UNITS,
    "30s",
    {
        "\N{MICRO SIGN}s": "us",
        "\N{GREEK SMALL LETTER MU}s": "us",
        "sec": "s",
        "secs": "s",
        "second": "s",
        "seconds": "s",
        "m": "min",
        "minute": "min",
        "minutes": "min",
        "hours": "h",
    },
    ("s", "ms"),
)
_AGE = _Kind("time that something is kept", AGE_UNITS, "30d", {"day": "d", "days": "d", "hours": "h"}, ("d",))
_SIZE = _Kind(
    "size",
    SIZE_UNITS,
    "64KiB",
    {"k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB", "byte": "B", "bytes": "B"},
    ("KiB", "B"),
)
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
    ("Mbit/s",),
)

_QUANTITY = re.compile(rf"\s*(?P<number>-?{NUMBER_PATTERN})\s*(?P<unit>[^0-9.\s]*)\s*", re.ASCII)
_BYTE_RATE = re.compile(r"(?P<size>[kmgt]?i?b)(?P<word>ytes?)?(/s|ps|/sec)", re.IGNORECASE)
"""MB/s, GiB/s, Mbyte/s and the like; `bps` itself is bit/s."""
_TERA = re.compile(r"t(bit|b)?(/s|ps)?", re.IGNORECASE)
_LONGEST_TEXT = 40


def _parse(text: str, kind: _Kind, within: Limits | None) -> int:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None:
        raise QuantityError(
            f'"{_shortened(text)}" is not a {kind.name}: write a number and a unit, as in "{kind.example}"'
        )
    number, unit = match["number"], match["unit"]
    if not unit:
        proposed = _proposal(number, kind, within)
        raise QuantityError(f'{number} has no unit: write "{proposed}" (units: {", ".join(kind.units)})')
    if unit not in kind.units:
        meant = (
            _of_bytes(number, unit, kind)
            or _of_tera(number, unit, kind)
            or _in_nearest_unit(number, unit, kind)
        )
        hint = f': did you mean "{meant}"?' if meant else ""
        raise QuantityError(f'"{unit}" is not a unit of a {kind.name}{hint} (units: {", ".join(kind.units)})')
    value = Fraction(number) * kind.units[unit]
    if value < 0:
        raise QuantityError(f'"{text}" is negative: a {kind.name} is 0 or more')
    base = next(iter(kind.units))
    if value.denominator != 1:
        raise QuantityError(f'"{text}" is {float(value):g} {base}: a {kind.name} is a whole number of {base}')
    if value > LARGEST:
        raise QuantityError(f'"{text}" is too large: the most is {_write(LARGEST, kind)}')
    return int(value)


def _proposal(number: str, kind: _Kind, within: Limits | None) -> str:
    """Guess the unit that a bare number was meant in, from its magnitude and what is allowed."""
    least, most = within or (0, LARGEST)
    meant = list(_meant(number, kind))
    allowed = (text for text, unit in meant if least <= Fraction(number) * kind.units[unit] <= most)
    return next(allowed, meant[0][0])


def _meant(number: str, kind: _Kind) -> Iterator[tuple[str, str]]:
    """What a bare number may stand for, the likeliest first, and in which unit."""
    value = abs(float(number))
    if kind is _RATE and value >= _RATE_IN_BITS:
        yield _write(int(value), kind), "bit/s"
        return
    for unit in ("B",) if kind is _SIZE and value >= _SIZE_IN_BYTES else kind.bare:
        yield number + unit, unit


_SIZE_IN_BYTES = 1_000
_RATE_IN_BITS = 100_000
"""From so much on a bare number is in the smallest unit."""


def _of_tera(number: str, unit: str, kind: _Kind) -> str | None:
    """A rate in Tbit/s or the like, in Gbit/s, the largest unit there is."""
    if kind is not _RATE or _TERA.fullmatch(unit) is None:
        return None
    value = Fraction(number) * 10**12
    return _write(int(value), kind) if value.denominator == 1 else None


def _of_bytes(number: str, unit: str, kind: _Kind) -> str | None:
    """The rate in bit/s of one in bytes, such as "50MB/s" or "50Mbyte/s"; a small b alone is a bit."""
    match = _BYTE_RATE.fullmatch(unit) if kind is _RATE else None
    if match is None or (match["size"].endswith("b") and match["word"] is None):
        return None
    sizes = {known.lower(): factor for known, factor in SIZE_UNITS.items()}
    value = Fraction(number) * sizes[match["size"].lower()] * 8
    return _write(int(value), kind) if value.denominator == 1 else None


def _in_nearest_unit(number: str, unit: str, kind: _Kind) -> str | None:
    lower = unit.lower()
    if kind is _RATE and "byte" in lower:
        return None  # what looks alike is in bits
    by_lower = {known.lower(): known for known in kind.units}
    nearest = [kind.aliases[lower]] if lower in kind.aliases else []
    nearest += [by_lower[near] for near in difflib.get_close_matches(lower, by_lower, n=1, cutoff=0.5)]
    return f"{number}{nearest[0]}" if nearest else None


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
