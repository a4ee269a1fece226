"""The round-trip times of each hop: the least, and the lower quartile of each size."""

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import nearest_percentile

ARRIVED = ("destination", "port_unreachable")
"""Answers of the other end itself."""


class _OfSize(TypedDict):
    """The probes of one size of one hop, by who answered; of nobody, those that were lost."""

    trial_id: str
    ttl: int
    address: str | None
    size_bytes: int
    probes: int
    answers: int
    least_ns: int
    quartile_ns: int
    arrived: int


@dataclass(frozen=True, slots=True)
class HopTimes:
    """What was asked of one hop, and what came back."""

    ttl: int
    probes: int
    answers: int
    """Of those, the ones that came back in time, from whomever."""
    address: str | None
    """Who answered most often; the times are of that one alone."""
    addresses: int
    """How many answered: more than one where packets take several ways."""
    arrived: bool
    """The other end itself answered."""
    least_ns: int | None
    """Of all sizes."""
    quartile_ns: dict[int, int]
    """By size in bytes: a quarter of the answers took that long at most, by nearest rank."""


def hop_times(hops: ir.Table) -> dict[str, list[HopTimes]]:
    """Take the times of each size out of an archive's probes.

    Args:
        hops: Rows of `Tables.hops`: trial_id, ttl, size_bytes (of IP packets), rtt_ns (null: lost), address,
            answer.

    Returns:
        By trial_id the hops that were asked, up to the first where the other end answered.
    """
    sizes = hops.group_by("trial_id", "ttl", "address", "size_bytes").aggregate(
        probes=hops.count(),
        answers=hops.rtt_ns.count(),
        least_ns=hops.rtt_ns.min(),
        times_ns=hops.rtt_ns.collect(),
        arrived=hops.answer.isin(ARRIVED).cast("int64").max(),
    )
    order = [sizes.trial_id, sizes.ttl, ibis.coalesce(sizes.address, ""), sizes.size_bytes]
    quartile_ns = nearest_percentile(sizes.times_ns.sort(), percent=25)
    rows = sizes.order_by(order).mutate(quartile_ns=quartile_ns).drop("times_ns").to_pyarrow().to_pylist()
    found: dict[str, list[HopTimes]] = {}
    for (trial_id, ttl), of_hop in groupby(rows, key=itemgetter("trial_id", "ttl")):
        known = found.setdefault(trial_id, [])
        if not known or not known[-1].arrived:
            known.append(_of_hop(ttl, list(of_hop)))
    return found


def _of_hop(ttl: int, rows: list[_OfSize]) -> HopTimes:
    answered = [(address, row) for row in rows if (address := row["address"]) is not None and row["answers"]]
    counts: dict[str, int] = {}
    for name, row in answered:
        counts[name] = counts.get(name, 0) + row["answers"]
    address = max(counts, key=lambda name: counts[name], default=None)
    own = [row for name, row in answered if name == address]
    return HopTimes(
        ttl=ttl,
        probes=sum(row["probes"] for row in rows),
        answers=sum(row["answers"] for row in rows),
        address=address,
        addresses=len(counts),
        arrived=any(row["arrived"] for row in own),
        least_ns=min((row["least_ns"] for row in own), default=None),
        quartile_ns={row["size_bytes"]: row["quartile_ns"] for row in own},
    )
