"""What each measurement of a path adds up to: a row for the summary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.analysis.row_schema import schema_of
from flowsweep.analysis.tests.path.columns import PathColumns
from flowsweep.analysis.tests.path.dispersion import Dispersion, RateEstimate, dispersion_rate, dispersions
from flowsweep.analysis.tests.path.hop_capacity import Hop, hop_capacities
from flowsweep.analysis.tests.path.hop_times import hop_times
from flowsweep.analysis.tests.path.pairs import pair_capacity
from flowsweep.analysis.tests.path.trains import Train, trains_of
from flowsweep.analysis.tests.path.trend import Available, Stream, available, streams
from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.archive import Tables, keep_with
from flowsweep.defaults import MILLISECOND_NS, SECOND_NS

_SAME = 0.15
"""How far the capacity of a hop and that of the path may be apart to be of the same link."""


class _OfTrial(TypedDict):
    trial_id: str


class FactsRow(_OfTrial, PathColumns):
    """What is told of a measurement of a path, with the trial that it is of."""


FACTS_SCHEMA = schema_of(FactsRow)


@dataclass(frozen=True, slots=True)
class PathFacts:
    """One trial of a path."""

    trial_id: str
    hops: list[Hop]
    dispersions: list[Dispersion]
    streams: list[Stream]
    dispersion_rate: RateEstimate | None
    """At which trains arrived: between what of the path is free and its capacity."""
    capacity: RateEstimate | None
    """By packet pairs."""
    available: Available | None

    @property
    def arrived(self) -> bool:
        """Whether the other end itself answered a probe."""
        return bool(self.hops) and self.hops[-1].times.arrived

    @property
    def narrow_hop(self) -> int | None:
        """The hop that limits the path; None where another one could be it."""
        known = [hop for hop in self.hops if hop.about_bps is not None]
        if not known:
            return None
        narrow, *others = sorted(known, key=lambda hop: hop.about_bps or 0.0)
        carried = narrow.about_bps or 0.0
        if any((hop.low_bps or 0.0) < carried for hop in others):
            return None
        if self.capacity is not None:
            return narrow.times.ttl if abs(carried - self.capacity.bps) <= _SAME * carried else None
        unknown = [hop for hop in self.hops if hop.about_bps is None]
        certain = self.arrived and all((hop.low_bps or 0.0) > carried for hop in unknown)
        return narrow.times.ttl if certain else None

    @property
    def whole(self) -> RateEstimate | None:
        """The capacity by packet pairs; without any, that of the narrow hop, if it is known well enough."""
        if self.capacity is not None or self.narrow_hop is None:
            return self.capacity
        narrow = next(hop for hop in self.hops if hop.times.ttl == self.narrow_hop)
        if narrow.capacity_bps is None:
            return None
        return RateEstimate(narrow.capacity_bps, narrow.low_bps, narrow.high_bps, 0)

    @property
    def rtt_min_ns(self) -> int | None:
        """To the other end and back; None where it never answered."""
        return self.hops[-1].times.least_ns if self.arrived else None


UNANSWERED = "the other end answered no probe, and no packets of trains tell the capacity"
"""Why a measurement of a path says nothing."""


def unanswered(rows: ir.Table) -> ir.BooleanValue:
    """Whether a trial measured a path, and found neither a hop nor a capacity."""
    return (rows.test == "path") & rows.path_capacity_bps.isnull() & rows.path_hops.isnull()


def path_facts(tables: Tables) -> ir.Table:
    """Sum up each measurement of a path, now, in memory.

    Returns:
        One row per trial of test "path" with data: trial_id and PATH_COLUMNS; rates in bit/s of IP packets,
        intervals of 95 %. Methods: docs/guide/path.md.
    """
    return facts_table(tables, path_facts_of(tables))


def facts_table(tables: Tables, measured: Iterable[PathFacts]) -> ir.Table:
    """Make the rows of `path_facts` of trials that have been analysed, in the backend of `tables`."""
    rows = [_row(facts) for facts in measured]
    return keep_with(tables.trials, "path_facts", pa.Table.from_pylist(rows, schema=FACTS_SCHEMA))


def path_facts_of(tables: Tables) -> list[PathFacts]:
    """Analyse each measurement of a path, in the order of the campaign; none costs hardly anything."""
    measured = tables.trials.filter(tables.trials.test == "path").order_by("order_index")
    trial_ids = measured.select("trial_id").to_pyarrow()["trial_id"].to_pylist()
    if not trial_ids:
        return []
    times, trains = hop_times(tables.hops), trains_of(tables.trains)
    return [
        _facts(trial_id, hop_capacities(times.get(trial_id, [])), trains.get(trial_id, []))
        for trial_id in trial_ids
        if trial_id in times or trial_id in trains
    ]


def _facts(trial_id: str, hops: list[Hop], trains: Sequence[Train]) -> PathFacts:
    spread, told = dispersions(trains), streams(trains)
    rate = dispersion_rate(spread)
    whole = pair_capacity(trains, spread, rate)
    free = available(told, None if whole is None else whole.bps)
    return PathFacts(trial_id, hops, spread, told, rate, whole, free)


def _row(facts: PathFacts) -> FactsRow:
    whole, free, rtt_ns = facts.whole, facts.available, facts.rtt_min_ns
    rate = facts.dispersion_rate
    return {
        "trial_id": facts.trial_id,
        "path_hops": facts.hops[-1].times.ttl if facts.arrived else None,
        "path_capacity_bps": None if whole is None else whole.bps,
        "path_capacity_low_bps": None if whole is None else whole.low_bps,
        "path_capacity_high_bps": None if whole is None else whole.high_bps,
        "path_dispersion_rate_bps": None if rate is None else rate.bps,
        "path_narrow_hop": facts.narrow_hop,
        "path_available_low_bps": None if free is None else free.low_bps,
        "path_available_high_bps": None if free is None else free.high_bps,
        "path_rtt_min_ms": None if rtt_ns is None else rtt_ns / MILLISECOND_NS,
        "path_window_bytes": None
        if whole is None or rtt_ns is None
        else round(bandwidth_delay_bytes(whole.bps, rtt_ns / SECOND_NS)),
    }
