"""The round-trip times of each hop: the least, and the lower quartile of each size."""

from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

ARRIVED = ("destination", "port_unreachable")
"""Answers of the other end itself."""


_QUARTILE = 25
"""Percent."""
_SIZE = ("trial_id", "ttl", "address", "size_bytes")


class _OfSize(TypedDict):
    """The probes of one size of one hop, by who answered; of nobody, those that were lost."""

    trial_id: str
    ttl: int
    address: str | None
    size_bytes: int
    probes: int
    answers: int
    quartile_ns: int
    """0 without answers."""
    least_ns: int
    """Likewise."""
    arrived: bool


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


def hop_times(hops: pa.Table) -> dict[str, list[HopTimes]]:
    """Take the times of each size out of an archive's probes.

    Args:
        hops: Rows of `Tables.hops` (COLUMNS_OF_TABLES): sizes of IP packets; rtt_ns is null where a probe or
            its answer was lost.

    Returns:
        By trial_id the hops that were asked, up to the first where the other end answered.
    """
    found: dict[str, list[HopTimes]] = {}
    for (trial_id, ttl), of_hop in groupby(_sizes(hops), key=itemgetter("trial_id", "ttl")):
        known = found.setdefault(trial_id, [])
        if not known or not known[-1].arrived:
            known.append(_of_hop(ttl, list(of_hop)))
    return found


def _sizes(hops: pa.Table) -> list[_OfSize]:
    arrived = pc.is_in(hops["answer"], pa.array(ARRIVED))
    by_size = hops.select([*_SIZE, "rtt_ns"]).append_column("arrived", arrived).group_by(_SIZE)
    rows = by_size.aggregate([("rtt_ns", "list"), ("arrived", "any")]).to_pylist()
    rows.sort(key=lambda row: (row["trial_id"], row["ttl"], row["address"] or "", row["size_bytes"]))
    return [_of_size(row) for row in rows]


def _of_size(row: dict[str, Any]) -> _OfSize:
    times_ns = sorted(rtt_ns for rtt_ns in row["rtt_ns_list"] if rtt_ns is not None)
    return {
        "trial_id": row["trial_id"],
        "ttl": row["ttl"],
        "address": row["address"],
        "size_bytes": row["size_bytes"],
        "probes": len(row["rtt_ns_list"]),
        "answers": len(times_ns),
        "quartile_ns": times_ns[ceil(len(times_ns) * _QUARTILE / 100) - 1] if times_ns else 0,
        "least_ns": times_ns[0] if times_ns else 0,
        "arrived": bool(row["arrived_any"]),
    }


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
