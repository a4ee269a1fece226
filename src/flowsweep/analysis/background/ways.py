"""Which way background traffic goes: along that of a trial's own data, or the other way."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import ibis.expr.types as ir

from flowsweep.archive import Tables
from flowsweep.schedule.background import PROBE

_PAIR = ("trial_id", "src", "dst")


@dataclass(frozen=True, slots=True)
class OtherWays:
    """Trials, by trial_id, whose background traffic does not all share what their own data pass."""

    not_along: AbstractSet[str] = frozenset()
    """Some of it goes another way, or nobody knows that it does not: shares are not of one path."""
    back: AbstractSet[str] = frozenset()
    """Some of it goes from a sink of the trial to its source, so that acknowledgements wait in its queue."""


def other_ways(tables: Tables) -> OtherWays:
    """Name the trials of a campaign with background traffic of other ways."""
    found = background_ways(tables.flows, tables.background_flows, tables.links).to_pyarrow().to_pylist()
    return OtherWays(
        frozenset(row["trial_id"] for row in found if not row["beside_along"]),
        frozenset(row["trial_id"] for row in found if row["beside_back"]),
    )


def background_ways(flows: ir.Table, others: ir.Table, links: ir.Table) -> ir.Table:
    """Tell which way the traffic beside each trial goes, but for probes.

    Args:
        flows: As in an archive.
        others: Of background traffic, as in an archive.
        links: As in an archive.

    Returns:
        One row per trial with background traffic: trial_id; beside_along (boolean: all of it goes from a
        source of the trial to its sink); beside_apart (boolean: none of it sends over the path that the
        trial's data take); beside_back (boolean: some of it goes from a sink of the trial to its source).
        Where nobody knows whether traffic between other hosts meets the trial's, both of the first are false.

    Method:
        An emulated link carries what two hosts send each other, and nothing else. Of other paths only the
        same two hosts tell: others may share a part of them.
    """
    own = _pairs(flows)
    beside = _pairs(others.filter((others.background != PROBE).coalesce(True)))
    # Found is what has a host: of a literal in its place SQL that was merged knows no more if it was joined.
    along = own.mutate(along=own.src)
    back = own.select("trial_id", src="dst", dst="src", back="src")
    emulated = links.select("trial_id").distinct().select("trial_id", emulated="trial_id")
    met = (
        beside.left_join(along, list(_PAIR), rname="{name}_along")
        .left_join(back, list(_PAIR), rname="{name}_back")
        .left_join(emulated, "trial_id", rname="{name}_emulated")
    )
    told = met.select(
        "trial_id", along=met.along.notnull(), back=met.back.notnull(), emulated=met.emulated.notnull()
    )
    return told.group_by("trial_id").aggregate(
        beside_along=told.along.all(),
        beside_apart=(~told.along & (told.back | told.emulated)).all(),
        beside_back=told.back.any(),
    )


def load_at_least(rows: ir.Table, own_bps: ir.NumericValue) -> ir.NumericValue:
    """What a trial and the traffic beside it send over its path (bit/s), as far as is known.

    Args:
        rows: One row per trial, with share, and columns of `background_ways`, null where nothing runs beside.
        own_bps: What the trial sends by itself.
    """
    return own_bps / rows.beside_along.coalesce(False).ifelse(rows.share, 1.0).coalesce(1.0).nullif(0.0)


def load_at_most(rows: ir.Table, own_bps: ir.NumericValue) -> ir.NumericValue:
    """Likewise, if all that may go over the path does; null where nobody knows how much that is."""
    alone = rows.beside_along.isnull() | rows.beside_apart.coalesce(False)
    return own_bps / alone.ifelse(1.0, rows.share).nullif(0.0)


def _pairs(flows: ir.Table) -> ir.Table:
    """Hosts between which flows go, as either end tells: one row per trial and pair: trial_id, src, dst."""
    sends = flows.role == "source"
    ends = {"src": sends.ifelse(flows.host, flows.peer), "dst": sends.ifelse(flows.peer, flows.host)}
    return flows.select("trial_id", **ends).distinct()
