"""How values of a plan file are read: a reader takes what a person wrote or says what it expected instead."""

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from flowsweep import defaults, units

_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """How one kind of value is read, for pydantic, and how a JSON Schema describes it, for editors."""

    read: Callable[[object], object]
    """Returns the checked value; raises ValueError with what was found and what is expected."""
    schema: Mapping[str, object]

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return dict(self.schema)


def shown(value: object) -> str:
    """Write a value the way a TOML file has it, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    text = f'"{value}"' if isinstance(value, str) else str(value).replace("'", '"')
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def wrong(value: object, expected: str) -> ValueError:
    """Make the error of a value that is not as expected."""
    return ValueError(f"found {shown(value)}, expected {expected}")


def did_you_mean(found: str, known: Sequence[str]) -> str:
    """Propose the nearest known word, as the end of a sentence; empty if none is near."""
    nearest = difflib.get_close_matches(found, known, n=1, cutoff=0.6)
    return f"; did you mean `{nearest[0]}`?" if nearest else ""


def listed(words: Sequence[str | int]) -> str:
    """Write values as a plan has them, the last one after an "or"."""
    *most, last = [shown(word) for word in words]
    return f"{', '.join(most)} or {last}" if most else last


def whole(first: int, last: int) -> Reader:
    """Read a whole number from first to last."""

    def read(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and first <= value <= last:
            return value
        raise wrong(value, f"a whole number from {first} to {last}")

    return Reader(read, {"type": "integer", "minimum": first, "maximum": last})


def quantity(
    parse: Callable[[str, units.Limits], int],
    write: Callable[[int], str],
    known: Mapping[str, int],
    example: str,
    limits: tuple[int, int],
) -> Reader:
    """Read a number with a unit, within limits in the smallest unit."""
    first, last = limits

    def read(value: object) -> int:
        if isinstance(value, bool | dict | list):
            raise wrong(value, f'text such as "{example}"')
        parsed = parse(str(value), limits)
        if first <= parsed <= last:
            return parsed
        raise wrong(value, f"{write(first)} to {write(last)}")

    pattern = rf"^{units.NUMBER_PATTERN} ?({'|'.join(known)})$"
    return Reader(read, {"type": "string", "pattern": pattern})


def duration(first: int, last: int) -> Reader:
    """Read a duration of whole microseconds, which is what an engine counts in."""
    limits = (first, last)
    reader = quantity(units.parse_duration, units.write_duration, units.DURATION_UNITS, "30s", limits)

    def read(value: object) -> object:
        parsed = reader.read(value)
        if isinstance(parsed, int) and parsed % defaults.MICROSECOND_NS:
            raise wrong(value, "whole microseconds")
        return parsed

    return Reader(read, reader.schema)


def age(first: int, last: int) -> Reader:
    """Read how long something is kept."""
    return quantity(units.parse_age, units.write_age, units.AGE_UNITS, "30d", (first, last))


def spacing(first: int, last: int) -> Reader:
    """Read a time between datagrams, to the nanosecond."""
    limits = (first, last)
    return quantity(units.parse_duration, units.write_duration, units.DURATION_UNITS, "120us", limits)


def size(first: int, last: int) -> Reader:
    """Read a size in bytes."""
    return quantity(units.parse_size, units.write_size, units.SIZE_UNITS, "64KiB", (first, last))


def rate(first: int) -> Reader:
    """Read a rate in bit/s."""
    limits = (first, defaults.RATE_MAX_BPS)
    return quantity(units.parse_rate, units.write_rate, units.RATE_UNITS, "100Mbit/s", limits)


def one_of(*known: str | int, later: Sequence[str] = ()) -> Reader:
    """Read one of a few words; those of `later` are words that this version does not have yet."""

    def read(value: object) -> object:
        if value in known and not isinstance(value, bool):
            return value
        if value in later:
            raise ValueError(
                f"{shown(value)} is not in this version of Flowsweep yet; it has {listed(known)}"
            )
        hint = did_you_mean(value, [str(word) for word in known]) if isinstance(value, str) else ""
        raise wrong(value, f"{listed(known)}{hint}")

    return Reader(read, {"enum": list(known)})


def probability() -> Reader:
    """Read a probability below 1: a number, or a percentage such as "0.1%"."""
    pattern = rf"({units.NUMBER_PATTERN}) ?%"

    def read(value: object) -> float:
        if isinstance(value, str) and (percentage := re.fullmatch(pattern, value.strip(), re.ASCII)):
            found = float(Fraction(percentage[1]) / 100)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = float(value)
        else:
            found = math.nan
        if 0 <= found < 1:
            return found
        raise wrong(value, 'a probability from 0 to below 1, such as 0.001 or "0.1%"')

    texts = {"type": "string", "pattern": f"^{pattern}$"}
    return Reader(read, {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, texts]})


def matching(value: object, pattern: str, expected: str) -> str:
    """Return a text that matches the whole pattern; raises ValueError otherwise."""
    if isinstance(value, str) and re.fullmatch(pattern, value):
        return value
    raise wrong(value, expected)
