"""An alarm: something about a path that began, and perhaps is over."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from flowsweep.plan.alarms.model import Kind
from flowsweep.wording import direction, format_change, format_number, format_rate, format_share


@dataclass(frozen=True, slots=True)
class Size:
    """How large a shift is: what was usual, and the change from it with its 95 % interval."""

    before: float
    after: float
    after_low: float
    after_high: float

    @property
    def percent(self) -> tuple[float, float, float] | None:
        """The change in percent of what was before, and its interval; None if that was nothing."""
        if self.before <= 0:
            return None
        after, low, high = (
            100 * (value / self.before - 1) for value in (self.after, self.after_low, self.after_high)
        )
        return after, low, high


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something about a path and direction that a person should know."""

    kind: Kind
    worse: bool
    """False of a shift for the better, of which nobody is told: a note."""
    sweep: str
    src: str
    dst: str
    point: str | None
    """Which point of the sweep, in words; None of what is said of all of them."""
    quantity: str | None
    unit: str | None
    since: datetime
    """When it probably began."""
    found: datetime
    """With the measurement of which time it was found; it is named after that."""
    over: datetime | None
    """With the measurement of which time it was over; None: it is on."""
    end: str | None
    """Why it is over: "back" to the old level, "new level": it is the usual one now, "measured" again, or
    "plan changed": nothing is measured in this archive any more."""
    size: Size | None
    """By all measurements while it is on."""
    first_size: Size | None
    """When it was found."""

    @property
    def is_on(self) -> bool:
        """Whether it goes on."""
        return self.over is None

    @property
    def name(self) -> str:
        """12 hexadecimal digits: the same whenever the archive is looked at."""
        parts = [self.kind, self.sweep, self.src, self.dst, self.point or "", self.quantity or ""]
        text = "\0".join([*parts, self.found.isoformat()])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        fields = asdict(self)
        for key in ("since", "found", "over"):
            fields[key] = None if fields[key] is None else moment_text(fields[key])
        for key, size in (("size", self.size), ("first_size", self.first_size)):
            if size is not None:
                percent = size.percent
                named = dict.fromkeys(("change_percent", "change_low_percent", "change_high_percent"))
                if percent is not None:
                    named = dict(zip(named, percent, strict=True))
                fields[key] = asdict(size) | named
        return {"id": self.name, "on": self.is_on, **fields}


def sentence(alarm: Alarm, *, when_found: bool = False) -> str:
    """Say what it is, in one line.

    Args:
        alarm: What to say.
        when_found: With the size that it had then; else with the one that is known now.
    """
    point = "" if alarm.point is None else f", {alarm.point}"
    way = f"{direction(alarm.src, alarm.dst)} ({alarm.sweep}{point})"
    since = f"since {moment_text(alarm.since)}"
    size = alarm.first_size if when_found else alarm.size
    if size is None or alarm.quantity is None:
        return f"{way}: not measured for longer than it should be, {since}"
    values = f"from {_value(size.before, alarm.unit)} to {_value(size.after, alarm.unit)}"
    if alarm.kind == "loss":
        low, high = (_value(value, alarm.unit) for value in (size.after_low, size.after_high))
        return f"{way}: {alarm.quantity} {values} [{low}, {high}], {since}"
    change = "" if size.percent is None else f" {format_change(*size.percent)}"
    return f"{way}: {alarm.quantity}{change}, {values}, {since}"


def moment_text(moment: datetime) -> str:
    """Write a moment as RFC 3339 does, in UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def moment_of(unix_s: float) -> datetime:
    """The moment of a time in Unix seconds."""
    return datetime.fromtimestamp(unix_s, UTC)


def is_of(alarm: Alarm, watch: Mapping[str, object] | tuple[str, ...]) -> bool:
    """Whether people are told of it."""
    return alarm.worse and alarm.kind in watch


def _value(value: float, unit: str | None) -> str:
    match unit:
        case "bit/s":
            return format_rate(value)
        case "1":
            return format_share(value)
        case _:
            return f"{format_number(value)} {unit}"
