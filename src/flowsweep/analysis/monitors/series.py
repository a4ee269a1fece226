"""From polls to courses over time: what a counter rose between two polls, gaps where nobody can know."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.monitors.quantities import DISCONTINUITY, QUANTITIES, UP_TIME, increase
from flowsweep.monitors.reading import SILENT

Key = tuple[str, str, str]
"""Monitor, object and counter."""
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


_CS_US = 10_000
_CLOCKS_DIFFER = 0.01
"""The share by which the clock of whoever counts may be slow or fast."""
_JITTER_CS = 10.0
"""By which times differ beside the time that answers took, however near to each other polls are."""
_TICK_MAX_CS = 100
"""Agents may count their uptime in whole seconds."""


@dataclass(frozen=True, slots=True)
class Course:
    """A counter over time: stretches from one poll to the next, in order, without those that nobody knows."""

    begins_us: Integers
    ends_us: Integers
    """µs since 1970 UTC, on the controller's clock."""
    rises: Floats
    """How much it rose in each."""

    def over(self, begin_us: int, end_us: int) -> tuple[int, int, float] | None:
        """Find the polls around a time: when they were, and how much it rose between them.

        None where a poll before or after is missing, or a stretch between them is not known.
        """
        first = int(np.searchsorted(self.begins_us, begin_us, side="right")) - 1
        last = int(np.searchsorted(self.ends_us, end_us, side="left"))
        if first < 0 or last >= len(self.ends_us) or last < first:
            return None
        whole = np.array_equal(self.begins_us[first + 1 : last + 1], self.ends_us[first:last])
        if not whole or self.ends_us[first] <= begin_us:
            return None
        return int(self.begins_us[first]), int(self.ends_us[last]), float(self.rises[first : last + 1].sum())


@dataclass(frozen=True, slots=True)
class _UpTimes:
    """How long whoever counts had been running at each poll."""

    at: Mapping[int, tuple[int, int]]
    """Its uptime in cs, and how long the answer took in µs, by the time of the poll."""
    tick_cs: int
    """In what steps the uptime is counted, as far as it tells."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Polls in a row that gave nothing."""

    begin_us: int
    end_us: int
    reason: str
    """Of the first of them."""
    polls: int


def courses(table: pa.Table) -> dict[Key, Course]:
    """Make the course of each counter; gauges have none.

    Args:
        table: `monitors` of an archive, with the rows of `uptime_cs` and `silent` of the same monitors.

    Returns:
        No stretch goes over a poll that gave nothing, a restart of whoever counts (its uptime went back, or
        grew by less than the time between the polls), a discontinuity of an interface or a step of the
        controller's clock (the uptime grew by more or by less; polls of before and after may lie between each
        other): then nobody knows what was counted in which time, and there is a gap, no spike.
    """
    found: dict[Key, Course] = {}
    for monitor, rows in _by(table, "monitor").items():
        up_times = _up_times(rows)
        silent_us = np.sort(rows.filter(pc.equal(rows["counter"], SILENT))["at_us"].to_numpy())
        for name, of_object in _by(rows, "object").items():
            anew = _series(of_object, name, DISCONTINUITY)
            for counter in pc.unique(of_object["counter"]).to_pylist():
                quantity = QUANTITIES.get(counter)
                if quantity is not None and quantity.bits is not None:
                    series = _series(of_object, name, counter)
                    course = _course(series, quantity.bits, up_times, anew, silent_us)
                    found[monitor, name, counter] = course
    return found


def gauges(table: pa.Table, counter: str) -> dict[tuple[str, str], tuple[Integers, Floats]]:
    """Times (µs since 1970 UTC) and values of a gauge, by monitor and object."""
    found = {}
    for monitor, rows in _by(table.filter(pc.equal(table["counter"], counter)), "monitor").items():
        for name, of_object in _by(rows, "object").items():
            series = _series(of_object, name, counter)
            found[monitor, name] = (np.array(list(series)), np.array(list(series.values()), dtype=float))
    return found


def silences(table: pa.Table) -> dict[str, list[Silence]]:
    """When monitors gave nothing, and why, by monitor."""
    found: dict[str, list[Silence]] = {}
    for monitor, rows in _by(table, "monitor").items():
        polls = sorted(
            {(row["at_us"], row["reason"]) for row in rows.select(["at_us", "reason"]).to_pylist()},
            key=lambda poll: (poll[0], poll[1] or ""),
        )
        open_one: Silence | None = None
        for at_us, reason in polls:
            if reason is None:
                _close(found, monitor, open_one)
                open_one = None
            elif open_one is None:
                open_one = Silence(at_us, at_us, reason, 1)
            else:
                open_one = Silence(open_one.begin_us, at_us, open_one.reason, open_one.polls + 1)
        _close(found, monitor, open_one)
    return found


def _close(found: dict[str, list[Silence]], monitor: str, silence: Silence | None) -> None:
    if silence is not None:
        found.setdefault(monitor, []).append(silence)


def _course(
    series: Mapping[int, int],
    bits: int,
    up_times: _UpTimes,
    anew: Mapping[int, int],
    silent_us: Integers,
) -> Course:
    times = sorted(series)
    kept: list[tuple[int, int, float]] = []
    for before, after in pairwise(times):
        if np.searchsorted(silent_us, before) != np.searchsorted(silent_us, after):
            continue
        if _is_torn(before, after, up_times) or anew.get(after) != anew.get(before):
            continue
        rise = increase(series[before], series[after], bits)
        if rise is not None:
            kept.append((before, after, float(rise)))
    columns = list(zip(*kept, strict=True)) or [(), (), ()]
    begins, ends = (np.array(column, dtype=np.int64) for column in columns[:2])
    return Course(begins, ends, np.array(columns[2], dtype=np.float64))


def _is_torn(before_us: int, after_us: int, up_times: _UpTimes) -> bool:
    """Whether whoever counts began anew between two polls, or our clock was set, as its uptime says."""
    before, after = up_times.at.get(before_us), up_times.at.get(after_us)
    if before is None or after is None:
        return before is not None
    (before_cs, before_took_us), (after_cs, after_took_us) = before, after
    apart_cs = (after_us - before_us) / _CS_US
    # The values are of any moment of an answer, whose middle is the time of the poll.
    answering_cs = (before_took_us + after_took_us) / 2 / _CS_US
    allowed_cs = apart_cs * _CLOCKS_DIFFER + answering_cs + _JITTER_CS + up_times.tick_cs
    return abs(after_cs - before_cs - apart_cs) > allowed_cs


def _up_times(rows: pa.Table) -> _UpTimes:
    own = rows.filter(pc.and_(pc.equal(rows["object"], ""), pc.equal(rows["counter"], UP_TIME)))
    columns = zip(*(own[name].to_pylist() for name in ("at_us", "value", "took_us")), strict=True)
    known = {at_us: (value, took_us) for at_us, value, took_us in columns if value is not None}
    return _UpTimes(known, min(_TICK_MAX_CS, math.gcd(*(up_cs for up_cs, _ in known.values()))))


def _series(rows: pa.Table, name: str, counter: str) -> dict[int, int]:
    """Values by the times of their polls."""
    own = rows.filter(pc.and_(pc.equal(rows["object"], name), pc.equal(rows["counter"], counter)))
    pairs = zip(own["at_us"].to_pylist(), own["value"].to_pylist(), strict=True)
    return {at_us: value for at_us, value in pairs if value is not None}


def _by(rows: pa.Table, column: str) -> dict[str, pa.Table]:
    return {name: rows.filter(pc.equal(rows[column], name)) for name in pc.unique(rows[column]).to_pylist()}
