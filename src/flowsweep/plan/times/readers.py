"""How times in a plan are read: times of the day, time zones, the moment at which a campaign ends."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from flowsweep.plan.readers import Reader, did_you_mean, wrong

_TIME = r"([01][0-9]|2[0-3]):([0-5][0-9])"
_TIME_EXPECTED = 'a time of the day such as "02:00"'
_PART_EXPECTED = 'two times of the day, from and to, such as ["22:00", "06:00"]'
_MOMENT_EXPECTED = "a time with its offset from UTC, such as 2027-01-31T18:00:00Z"
_TIME_SCHEMA = {"type": "string", "pattern": f"^{_TIME}$"}


def zone_name(value: str) -> str:
    """A name, if there is a time zone of it.

    Raises:
        ValueError: There is none.
    """
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"found {value[:40]!r}, expected the name of a time zone") from error
    return value


def _read_time(value: object) -> int:
    found = re.fullmatch(_TIME, value) if isinstance(value, str) else None
    if found is None:
        raise wrong(value, _TIME_EXPECTED)
    return 60 * int(found[1]) + int(found[2])


def _read_part(value: object) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(value, _PART_EXPECTED)
    first, last = (_read_time(time) for time in value)
    if first == last:
        raise wrong(value, f"{_PART_EXPECTED}, not the same")
    return first, last


def _read_zone(value: object) -> str:
    expected = 'the name of a time zone such as "Europe/Vienna"'
    if not isinstance(value, str):
        raise wrong(value, expected)
    try:
        return zone_name(value)
    except ValueError as error:
        raise wrong(value, expected + did_you_mean(value, sorted(available_timezones()))) from error


def _read_moment(value: object) -> datetime:
    with suppress(OverflowError):  # the last day of the calendar ends later elsewhere
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(UTC)
    raise wrong(value, _MOMENT_EXPECTED)


TimeOfDay = Annotated[int, Reader(_read_time, _TIME_SCHEMA)]
"""Minutes since midnight."""
DayPart = Annotated[
    tuple[int, int],
    Reader(_read_part, {"type": "array", "items": _TIME_SCHEMA, "minItems": 2, "maxItems": 2}),
]
ZoneName = Annotated[str, Reader(_read_zone, {"type": "string"})]
Moment = Annotated[datetime, Reader(_read_moment, {"type": "string", "format": "date-time"})]
