"""When a sweep is due, before jitter: its times in order, and where among them a moment or a number is.

Days are counted and not walked through: a time after years is found as soon as the first.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from flowsweep.defaults import DAY_MINUTES, DAY_S, SECOND_NS
from flowsweep.plan.campaign import Timing

_NEVER_NS = 400 * DAY_S * SECOND_NS
"""A part of the day in which nothing was due for so long, with summer and winter, will never see anything."""
_BLOCK_DAYS = 32
"""Days that are counted together, and remembered."""
_REMEMBERED = 4_096
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1)


class Place(NamedTuple):
    """The beginning of a day, among the times of a sweep."""

    day: int
    """Since 1970: of UTC, or of the zone where `at` has times of the day."""
    number: int
    """So many times were before."""
    last_ns: int
    """The last of them."""


class _Due(NamedTuple):
    """What is due on some days."""

    number: int
    first_ns: int
    last_ns: int


def is_even(timing: Timing) -> bool:
    """Whether all times are equally far apart, so that the place of each is known."""
    return timing.every_ns is not None and timing.between_minutes is None


def times_from(timing: Timing, begun_ns: int, place: Place) -> Iterator[int]:
    """List times that are not even, from a place on, in Unix nanoseconds that rise.

    Without end, but for times of which none lies within the part of the day that they must lie in.
    """
    day, _, last_ns = place
    while _starts_ns(day) - last_ns <= _NEVER_NS:
        for times in _of_day(timing, begun_ns, day, last_ns):
            if times[0] - last_ns > _NEVER_NS:
                return
            last_ns = times[-1]
            yield from times
        day += 1


def place_after(timing: Timing, begun_ns: int, number: int) -> Place:
    """The last place before which no more than so many times were."""
    return _place(timing, begun_ns, number, None)


def count_before(timing: Timing, begun_ns: int, unix_ns: int) -> int:
    """How many times that are not even were before a moment."""
    place = _place(timing, begun_ns, None, unix_ns)
    number = place.number
    for at_ns in times_from(timing, begun_ns, place):
        if at_ns >= unix_ns:
            break
        number += 1
    return number


def _place(timing: Timing, begun_ns: int, number: int | None, unix_ns: int | None) -> Place:
    """The last place before which there are so many times at most, all of them before a moment."""
    place = _first_place(timing, begun_ns)
    for days in (_BLOCK_DAYS, 1):
        while _starts_ns(place.day) - place.last_ns <= _NEVER_NS:
            if unix_ns is not None and _starts_ns(place.day) > unix_ns:
                break
            due = _due(timing, begun_ns, place.day, place.day + days, place.last_ns)
            behind = Place(place.day + days, place.number + due.number, due.last_ns)
            is_too_far = (number is not None and behind.number > number) or (
                unix_ns is not None and due.number > 0 and due.last_ns >= unix_ns
            )
            if is_too_far or due.first_ns - place.last_ns > _NEVER_NS:
                break
            place = behind
    return place


def _first_place(timing: Timing, begun_ns: int) -> Place:
    """Where the times begin that are not even."""
    if timing.every_ns is None:
        began = datetime.fromtimestamp(begun_ns // SECOND_NS, ZoneInfo(timing.timezone)).date()
        return Place((began - _FIRST_DAY).days, 0, begun_ns - 1)
    return Place(begun_ns // SECOND_NS // DAY_S, 0, begun_ns)


@lru_cache(maxsize=_REMEMBERED)
def _due(timing: Timing, begun_ns: int, day: int, behind: int, last_ns: int) -> _Due:
    """Count what is due from one day to before another, where the last time before was `last_ns`."""
    if timing.every_ns is None and (usual := _due_by_usual_days(timing, day, behind, last_ns)) is not None:
        return usual
    count, first_ns, until_ns = 0, last_ns, last_ns
    for one in range(day, behind):
        for times in _of_day(timing, begun_ns, one, until_ns):
            first_ns = first_ns if count else times[0]
            count, until_ns = count + len(times), times[-1]
    return _Due(count, first_ns, until_ns)


def _due_by_usual_days(timing: Timing, day: int, behind: int, last_ns: int) -> _Due | None:
    """Count times of days on which nobody sets clocks; None if somebody does."""
    zone = ZoneInfo(timing.timezone)
    if len({_offset_s(one * DAY_S, zone) for one in range(day - 1, behind + 2)}) > 1:
        return None
    first_ns = _moment_ns(day, min(timing.at_minutes), zone)
    if first_ns <= last_ns:
        return None
    until_ns = _moment_ns(behind - 1, max(timing.at_minutes), zone)
    return _Due(len(set(timing.at_minutes)) * (behind - day), first_ns, until_ns)


def _of_day(timing: Timing, begun_ns: int, day: int, last_ns: int) -> Iterator[Sequence[int]]:
    """The times of a day after the last one before, in some sequences that are not empty."""
    zone = ZoneInfo(timing.timezone)
    if timing.every_ns is None or timing.between_minutes is None:
        moments = sorted({_moment_ns(day, minute, zone) for minute in timing.at_minutes})
        found: Sequence[int] = [at_ns for at_ns in moments if at_ns > last_ns]
        if found:
            yield found
        return
    every_ns = timing.every_ns
    for from_s, until_s in _spans(timing.between_minutes, day, zone):
        first, behind = (-((begun_ns - at_s * SECOND_NS) // every_ns) for at_s in (from_s, until_s))
        found = range(begun_ns + max(0, first) * every_ns, begun_ns + behind * every_ns, every_ns)
        if found:
            yield found


def _spans(between_minutes: tuple[int, int], day: int, zone: ZoneInfo) -> Iterator[tuple[int, int]]:
    """Spans of a day of UTC in which a zone's clocks show a part of the day, in Unix seconds."""
    first, last = between_minutes
    long_s = (last - first) % DAY_MINUTES * 60
    for from_s, until_s, offset_s in _steady(day, zone):
        shown_from_s, shown_until_s = from_s + offset_s, until_s + offset_s
        for local_day in range(shown_from_s // DAY_S - 1, shown_until_s // DAY_S + 1):
            begin_s = local_day * DAY_S + first * 60
            span = max(begin_s, shown_from_s), min(begin_s + long_s, shown_until_s)
            if span[0] < span[1]:
                yield span[0] - offset_s, span[1] - offset_s


def _steady(day: int, zone: ZoneInfo) -> Iterator[tuple[int, int, int]]:
    """Parts of a day of UTC in which nobody sets a zone's clocks; in seconds, with what they are ahead."""
    from_s, until_s = day * DAY_S, (day + 1) * DAY_S
    while from_s < until_s:
        offset_s = _offset_s(from_s, zone)
        end_s = until_s
        if _offset_s(until_s - 1, zone) != offset_s:
            end_s = _set_at_s(from_s, until_s, zone)
        yield from_s, end_s, offset_s
        from_s = end_s


def _set_at_s(from_s: int, until_s: int, zone: ZoneInfo) -> int:
    """The first second within a span, of a day at most, at which clocks have been set."""
    offset_s = _offset_s(from_s, zone)
    while until_s - from_s > 1:
        middle_s = (from_s + until_s) // 2
        if _offset_s(middle_s, zone) == offset_s:
            from_s = middle_s
        else:
            until_s = middle_s
    return until_s


def _offset_s(unix_s: int, zone: ZoneInfo) -> int:
    """How far clocks of a zone are ahead of UTC."""
    ahead = datetime.fromtimestamp(unix_s, zone).utcoffset()
    return 0 if ahead is None else ahead // timedelta(seconds=1)


def _moment_ns(day: int, minute: int, zone: ZoneInfo) -> int:
    """When clocks show a time: one that they skip is as much later as they jump; of two the first counts."""
    shown = datetime.combine(_FIRST_DAY + timedelta(days=day), time(minute // 60, minute % 60), tzinfo=zone)
    return (shown.astimezone(UTC) - _EPOCH) // timedelta(seconds=1) * SECOND_NS


def _starts_ns(day: int) -> int:
    """When a day of UTC begins."""
    return day * DAY_S * SECOND_NS
