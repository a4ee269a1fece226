"""What each measurement of a path adds up to: a row for the summary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import pyarrow as pa

from flowsweep.analysis.row_schema import schema_of
from flowsweep.analysis.tests.path.columns import PathColumns
from flowsweep.analysis.tests.path.dispersion import (
    Dispersion,
    RateEstimate,
    bucket_bytes_of,
    dispersion_rate,
    dispersions,
)
from flowsweep.analysis.tests.path.hop_capacity import Hop, hop_capacities
from flowsweep.analysis.tests.path.hop_times import hop_times
from flowsweep.analysis.tests.path.pairs import pair_capacity
from flowsweep.analysis.tests.path.trains import Train, trains_of
from flowsweep.analysis.tests.path.trend import Available, Stream, available, streams
from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.defaults import MILLISECOND_NS, SECOND_NS

_SAME = 0.15
"""How far the capacity of a hop and that of the path may be apart to be of the same link."""


class _OfTrial(TypedDict):
    trial_id: str


class FactsRow(_OfTrial, PathColumns):
    """What is known of a measurement of a path, with the trial that it is of."""


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
    """By packet pairs, or by trains that nothing held up."""
    available: Available | None

    @property
    def arrived(self) -> bool:
        """Whether the other end itself answered a probe."""
        return bool(self.hops) and self.hops[-1].times.arrived

    @property
    def narrow_hop(self) -> int | None:
        """The hop that limits the path; None where another one could be it. Of one hop it is that."""
        if self.arrived and self.hops[-1].times.ttl == 1:
            return 1
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


def path_facts_of(hops: pa.Table, trains: pa.Table) -> list[PathFacts]:
    """Analyse each measurement of a path, by trial_id.

    Args:
        hops: An archive's probes of hops, with the columns of COLUMNS_OF_TABLES.
        trains: Likewise its packets of trains and streams.
    """
    times, packets = hop_times(hops), trains_of(trains)
    return [
        _facts(trial_id, hop_capacities(times.get(trial_id, [])), packets.get(trial_id, []))
        for trial_id in sorted(times.keys() | packets.keys())
    ]


def facts_rows(measured: Iterable[PathFacts]) -> pa.Table:
    """Sum up trials that have been analysed: one row each, in FACTS_SCHEMA."""
    return pa.Table.from_pylist([_row(facts) for facts in measured], schema=FACTS_SCHEMA)


def _facts(trial_id: str, hops: list[Hop], trains: Sequence[Train]) -> PathFacts:
    spread, trial_streams = dispersions(trains), streams(trains)
    rate = dispersion_rate(spread)
    of_pairs = pair_capacity(trains, spread, rate)
    facts = PathFacts(trial_id, hops, spread, trial_streams, rate, of_pairs, available=None)
    whole = facts.whole
    free = available(trial_streams, None if whole is None else whole.bps, bucket_bytes_of(spread))
    return replace(facts, available=free)


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
