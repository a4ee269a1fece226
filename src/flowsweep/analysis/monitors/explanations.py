"""Per trial: what monitors saw of others' traffic and of the load of hosts, and whether they were asked."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from flowsweep.analysis.monitors.facts import MonitorFacts
from flowsweep.analysis.monitors.series import Course, Key, courses
from flowsweep.analysis.statistics.campaign_series import seconds
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import BITS_PER_BYTE, MICROSECOND_NS, SECOND_US
from flowsweep.schedule.background import PROBE

AGENT_CACHE_US = 5_000_000
"""How old may be what an agent says: net-snmp's keeps counters for some seconds."""

_EVERY_APART = 2
"""How much further apart than `every` two polls may be between which none was: asking may be late by one."""

Kind = Literal["cross", "cpu", "poll"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A quantity of each trial that may go with its goodput."""

    kind: Kind
    called: str
    """As in a sentence: "the traffic of others at et0 of core"."""
    values: dict[str, float]
    """By trial_id: bit/s, a share, or 1 where the monitor was asked during the trial. None is left out."""


class _Carried:
    """What trials sent through an interface in one direction, and when.

    A summary does not know what background traffic sent where: while any ran, what others sent is not known.
    """

    def __init__(self, trials: "Spanned", beyond: Sequence[str], counter: str) -> None:
        own = [
            (*span, float(row["bytes_sent"] or row["bytes"] or 0))
            for row, span in trials
            if crossed(row["src"], row["dst"], beyond) == counter
        ]
        found = np.array(sorted(own), dtype=np.float64).reshape(-1, 3)
        self._begins_us, self._ends_us, self._bytes = found.T
        lengths = self._ends_us - self._begins_us
        self._longest_us = float(lengths.max(initial=0.0))
        self._mixed = [span for row, span in trials if set(row["background"] or ()) - {PROBE}]

    def between(self, begin_us: int, end_us: int) -> float:
        """Bytes that trials sent in a time; of each, as evenly as it ran."""
        first = np.searchsorted(self._begins_us, begin_us - self._longest_us)
        last = np.searchsorted(self._begins_us, end_us)
        begins, ends = self._begins_us[first:last], self._ends_us[first:last]
        overlaps = np.minimum(ends, end_us) - np.maximum(begins, begin_us)
        shares = np.maximum(overlaps, 0) / np.maximum(ends - begins, 1)
        return float(self._bytes[first:last] @ shares)

    def is_mixed(self, begin_us: int, end_us: int) -> bool:
        """Whether the plan's own background traffic ran in a time."""
        return any(begin < end_us and end > begin_us for begin, end in self._mixed)


def explanations(summary: Sequence[TrialRow], facts: MonitorFacts) -> tuple[Explanation, ...]:
    """Make all quantities that monitors give.

    Args:
        summary: All trials of a campaign, since each is among what routers counted.
        facts: What its monitors told.

    Returns:
        Traffic of others: what the interface counted between the last poll before a trial and the first one
        that is later than its end by more than an agent may keep counters, less what trials carried there in
        that time (their bytes as far as their time overlaps it), per second; of no trial while background
        traffic of the plan ran. Load: the busy share of the
        host's processors between the polls around a trial. And whether a monitor was asked during a trial.
    """
    found = courses(facts.table)
    trials = [(row, span) for row in summary if (span := _span(row)) is not None]
    return tuple(
        one
        for one in (
            *_cross(trials, facts, found),
            *_cpu(trials, facts, found),
            *_polls(trials, facts),
        )
        if one.values
    )


def _span(row: TrialRow) -> tuple[float, float] | None:
    """When a trial ran, in µs since 1970 UTC; None of an imported one that does not tell."""
    if row["started_at"] is None or row["elapsed_s"] is None:
        return None
    begin_us = seconds(row["started_at"]) * SECOND_US
    return begin_us, begin_us + row["elapsed_s"] * SECOND_US


Spanned = Sequence[tuple[TrialRow, tuple[float, float]]]


def _cross(trials: Spanned, facts: MonitorFacts, found: Mapping[Key, Course]) -> Iterator[Explanation]:
    for name, monitor in facts.monitors.items():
        for interface, beyond in ({} if monitor.agent is None else monitor.agent.beyond).items():
            carried = {counter: _Carried(trials, beyond, counter) for counter in ("in_bytes", "out_bytes")}
            values = {}
            for row, (begin_us, end_us) in trials:
                counter = crossed(row["src"], row["dst"], beyond)
                course = found.get((name, interface, counter or ""))
                if counter is None or course is None:
                    continue
                counted = course.over(int(begin_us), math.ceil(end_us) + AGENT_CACHE_US)
                if counted is not None:
                    first_us, last_us, size_bytes = counted
                    if carried[counter].is_mixed(first_us, last_us):
                        continue
                    others = size_bytes - carried[counter].between(first_us, last_us)
                    values[row["trial_id"]] = BITS_PER_BYTE * others / ((last_us - first_us) / SECOND_US)
            yield Explanation("cross", f"the traffic of others at {interface} of {name}", values)


def crossed(src: str, dst: str, beyond: Sequence[str]) -> str | None:
    """Which counter of an interface a trial's payload is in; None if it does not go through it."""
    if (src in beyond) == (dst in beyond):
        return None
    return "out_bytes" if dst in beyond else "in_bytes"


def _cpu(trials: Spanned, facts: MonitorFacts, found: Mapping[Key, Course]) -> Iterator[Explanation]:
    for name, monitor in facts.monitors.items():
        busy, total = (found.get((name, "cpu", counter)) for counter in ("cpu_busy", "cpu_total"))
        if monitor.host is None or busy is None or total is None:
            continue
        values = {}
        for row, (begin_us, end_us) in trials:
            spent, there = (one.over(int(begin_us), math.ceil(end_us)) for one in (busy, total))
            if spent is not None and there is not None and there[2] > 0:
                values[row["trial_id"]] = spent[2] / there[2]
        yield Explanation("cpu", f"the load of {monitor.host}'s processors", values)


def _polls(trials: Spanned, facts: MonitorFacts) -> Iterator[Explanation]:
    """Whether a monitor was asked while a trial ran; the time that asking took counts.

    Of a trial without a poll that is known only where one came before it and one after, as near to each other
    as they are to come: polls that an archive no longer took were asked all the same.
    """
    asked = facts.table.group_by(["monitor", "at_us", "took_us"]).aggregate([]).to_pylist()
    for name, monitor in facts.monitors.items():
        polls = [(row["at_us"], row["took_us"]) for row in asked if row["monitor"] == name]
        if not polls:
            continue
        begins = np.sort([at_us - took_us / 2 for at_us, took_us in polls])
        ends = np.sort([at_us + took_us / 2 for at_us, took_us in polls])
        apart_us = _EVERY_APART * monitor.every_ns / MICROSECOND_NS
        values = {}
        for row, (begin_us, end_us) in trials:
            # Polls that have begun by a trial's end, without those that were over before it began.
            begun, over = np.searchsorted(begins, end_us), np.searchsorted(ends, begin_us)
            if begun > over:
                values[row["trial_id"]] = 1.0
            elif over > 0 and begun < len(begins) and begins[begun] - ends[over - 1] <= apart_us:
                values[row["trial_id"]] = 0.0
        yield Explanation("poll", name, values)
