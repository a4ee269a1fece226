"""The alarms of a campaign: from its archive, its plan and the time alone, so the same each time."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from flowsweep.alarms.alarm import Alarm, Size, moment_of
from flowsweep.alarms.detector import Shift, shifts
from flowsweep.alarms.quantities import QUANTITIES, Quantity
from flowsweep.alarms.silence import silences
from flowsweep.analysis.summarising.trial_row import TrialRow, quantity_of
from flowsweep.defaults import FALSE_ALARMS_PER_100_DAYS, SECOND_NS
from flowsweep.plan import Plan
from flowsweep.run.outcome import TrialRecord


@dataclass(slots=True)
class _Series:
    """One quantity at one point of a sweep, of one direction."""

    record: TrialRecord
    quantity: Quantity
    times_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    @property
    def way(self) -> tuple[str, str]:
        return self.record.trial.src, self.record.trial.dst


def alarms_of(
    plan: Plan,
    begun_unix_ns: int,
    seed: int,
    records: Mapping[str, TrialRecord],
    rows: Sequence[TrialRow],
    now_unix_ns: int,
) -> list[Alarm]:
    """Find all alarms of a campaign so far.

    Args:
        plan: With times.
        begun_unix_ns: When the campaign began.
        seed: Of the campaign.
        records: Its trials, by trial_id.
        rows: Of its summary.
        now_unix_ns: Up to when a path may be silent.

    Returns:
        In the order in which they were found, with notes of what shifted for the better. What is said of a
        time depends on nothing that came after it, but whether it is over.
    """
    rate = FALSE_ALARMS_PER_100_DAYS if plan.alarms is None else plan.alarms.false_alarms_per_100_days
    series = _series(records, rows)
    of_way = Counter(one.way for one in series)
    found = [alarm for one in series for alarm in _shifted(one, rate / of_way[one.way])]
    measured: dict[tuple[str, str, str], list[int]] = {}
    for record in records.values():
        if record.status == "ok":
            key = (record.trial.sweep, record.trial.src, record.trial.dst)
            measured.setdefault(key, []).append(round(record.started_at.timestamp() * SECOND_NS))
    ascending = {path: sorted(times) for path, times in measured.items()}
    found += silences(plan, begun_unix_ns, seed, ascending, now_unix_ns)
    return sorted(found, key=lambda alarm: (alarm.found, alarm.name))


def _series(records: Mapping[str, TrialRecord], rows: Sequence[TrialRow]) -> list[_Series]:
    """Put together what is measured again and again; trials that failed have no values."""
    found: dict[tuple[str, str], _Series] = {}
    for row in rows:
        record = records.get(row["trial_id"])
        # Each step of a search has a rate of its own.
        if record is None or record.status != "ok" or record.trial.search is not None:
            continue
        point = record.trial.model_copy(update={"repeat": 1}).trial_id
        for quantity in QUANTITIES:
            value = quantity_of(row, quantity.column)
            if value is not None and np.isfinite(value):
                one = found.setdefault((point, quantity.column), _Series(record, quantity))
                one.times_s.append(record.started_at.timestamp())
                one.values.append(quantity.scaled(value))
    return list(found.values())


def _shifted(series: _Series, false_alarms_per_100_days: float) -> Iterator[Alarm]:
    times_s, values = np.array(series.times_s), np.array(series.values)
    order = np.argsort(times_s, kind="stable")
    quantity, trial = series.quantity, series.record.trial
    for shift in shifts(times_s[order], values[order], quantity.watching(false_alarms_per_100_days)):
        yield Alarm(
            kind=quantity.kind,
            worse=shift.score * quantity.worse > 0,
            sweep=trial.sweep,
            src=trial.src,
            dst=trial.dst,
            point=trial.parameters.in_words(trial.total_flows),
            quantity=quantity.name,
            unit=quantity.unit,
            since=moment_of(shift.since_s),
            found=moment_of(shift.found_s),
            over=None if shift.over_s is None else moment_of(shift.over_s),
            end=shift.end,
            size=_size(quantity, shift, (shift.change, shift.low, shift.high)),
            first_size=_size(quantity, shift, (shift.first_change, shift.first_low, shift.first_high)),
        )


def _size(quantity: Quantity, shift: Shift, change: tuple[float, float, float]) -> Size:
    before, *after = (quantity.unscaled(shift.before + by) for by in (0.0, *change))
    return Size(before, *after)
