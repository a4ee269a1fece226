"""The alarms of a campaign: from its archive, its plan and the time alone, so the same each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flowsweep.alarms.alarm import Alarm, Size, moment_of
from flowsweep.alarms.detector import FEWEST_S, Shift, shifts
from flowsweep.alarms.level import Floats
from flowsweep.alarms.quantities import QUANTITIES, WatchedQuantity
from flowsweep.alarms.silence import Path, silences
from flowsweep.defaults import FALSE_ALARMS_PER_100_DAYS, MICROSECOND_NS
from flowsweep.grouping import grouped
from flowsweep.plan import Plan

WATCHED = {
    "sweep": pa.string(),
    "src": pa.string(),
    "dst": pa.string(),
    "status": pa.string(),
    **{quantity.column: pa.float64() for quantity in QUANTITIES},
}
"""Columns of a summary that are looked at, with their types; `flowsweep.prepared.recorded` reads them."""
_MICROSECONDS = 1e6


@dataclass(frozen=True, slots=True)
class _Series:
    """One quantity at one point of a sweep, of one direction, in the order of time."""

    sweep: str
    src: str
    dst: str
    point: str
    quantity: WatchedQuantity
    times_s: Floats
    values: Floats

    @property
    def way(self) -> tuple[str, str]:
        return self.src, self.dst


def alarms_of(plan: Plan, begun_unix_ns: int, seed: int, trials: pa.Table, now_unix_ns: int) -> list[Alarm]:
    """Find all alarms of a campaign so far.

    Args:
        plan: With times.
        begun_unix_ns: When the campaign began.
        seed: Of the campaign.
        trials: All of them, from `flowsweep.prepared.recorded.recorded_rows`, with the columns of WATCHED.
        now_unix_ns: Up to when a path may be silent.

    Returns:
        In the order in which they were found, with notes of what shifted for the better. What is said of a
        time depends on nothing that came after it, but whether it is over.
    """
    rate = FALSE_ALARMS_PER_100_DAYS if plan.alarms is None else plan.alarms.false_alarms_per_100_days
    # A summary alone sees that what was recorded as ok does not hold together.
    whole = pc.and_(pc.equal(trials["recorded_status"], "ok"), pc.equal(trials["status"], "ok"))
    good = trials.filter(whole).sort_by("began_us")
    series = list(_series(good))
    ways = grouped(series, lambda one: one.way)
    found = [alarm for one in series for alarm in _shifted(one, rate / _sharing(one, ways[one.way]))]
    found += silences(plan, begun_unix_ns, seed, _measured(good), now_unix_ns)
    return sorted(found, key=lambda alarm: (alarm.found, alarm.name))


def _series(good: pa.Table) -> Iterator[_Series]:
    """Put together what is measured again and again; trials that failed have no values."""
    of_points = good.filter(pc.is_valid(good["point"]))
    began_s = of_points["began_us"].to_numpy() / _MICROSECONDS
    for places in _groups(of_points, "point"):
        first = of_points.slice(int(places[0]), 1).to_pylist()[0]
        for quantity in QUANTITIES:
            values = of_points[quantity.column].to_numpy(zero_copy_only=False)[places]
            known = np.isfinite(values)
            if known.any():
                yield _Series(
                    first["sweep"], first["src"], first["dst"], first["point_words"], quantity,
                    began_s[places][known],
                    np.array([quantity.scaled(value) for value in values[known].tolist()]),
                )  # fmt: skip


def _sharing(one: _Series, of_path: Sequence[_Series]) -> int:
    """Among how many series of its path the rate is divided: those that began before anything of it is found.

    `of_path`: All series of its path.

    Of what begins later nothing is known then. With a share that counted it, alarms of before would be found
    at another time: they would end, and others of another name begin.
    """
    known_s = one.times_s[0] + FEWEST_S
    return sum(other.times_s[0] < known_s for other in of_path)


def _measured(good: pa.Table) -> dict[Path, list[int]]:
    """By path, when trials began that are whole, ascending, in Unix nanoseconds."""
    began_ns = good["began_us"].to_numpy() * MICROSECOND_NS
    found = {}
    for places in _groups(good, "sweep", "src", "dst"):
        first = good.slice(int(places[0]), 1).to_pylist()[0]
        found[first["sweep"], first["src"], first["dst"]] = began_ns[places].tolist()
    return found


def _groups(rows: pa.Table, *names: str) -> Iterator[np.ndarray]:
    """Places of rows that are alike in some columns, in their order; in the order of their first ones."""
    if not rows.num_rows:
        return
    code = np.zeros(rows.num_rows, np.int64)
    for name in names:
        column = rows[name].combine_chunks().dictionary_encode()
        code = code * len(column.dictionary) + column.indices.to_numpy()
    order = np.argsort(code, kind="stable")
    edges = np.flatnonzero(np.diff(code[order])) + 1
    yield from sorted(np.split(order, edges), key=lambda places: int(places[0]))


def _shifted(series: _Series, false_alarms_per_100_days: float) -> Iterator[Alarm]:
    quantity = series.quantity
    for shift in shifts(series.times_s, series.values, quantity.watching(false_alarms_per_100_days)):
        yield Alarm(
            kind=quantity.kind,
            worse=shift.score * quantity.worse > 0,
            sweep=series.sweep,
            src=series.src,
            dst=series.dst,
            point=series.point,
            quantity=quantity.name,
            unit=quantity.unit,
            since=moment_of(shift.since_s),
            found=moment_of(shift.found_s),
            over=None if shift.over_s is None else moment_of(shift.over_s),
            end=shift.end,
            size=_size(quantity, shift, (shift.change, shift.low, shift.high)),
            first_size=_size(quantity, shift, (shift.first_change, shift.first_low, shift.first_high)),
        )


def _size(quantity: WatchedQuantity, shift: Shift, change: tuple[float, float, float]) -> Size:
    before, *after = (quantity.unscaled(shift.before + by) for by in (0.0, *change))
    return Size(before, *after)
