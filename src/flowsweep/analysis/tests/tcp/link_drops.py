"""What emulated links did to the data of a trial: how long they queued, and where they were dropped."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null
from flowsweep.schedule.background import PROBE

_DATA_BYTES = 10_000
"""From so many bytes on a link has carried more than handshakes: the data have begun. Beside a probe, which
begins before, from a row on that brings so many,"""
_DATA_SHARE = 0.1
"""and this share of what the fullest row brings: a probe's rows bring less."""
_WAY = ("trial_id", "link", "src")


def link_drops(links: ir.Table, trials: ir.Table, flows: ir.Table, others: ir.Table) -> ir.Table:
    """Count the moments at which links dropped packets where a trial's data pass, by cause, or had queues.

    Whose packets they were links do not tell: beside background traffic they may be its own.

    Args:
        links: As in an archive.
        trials: As in an archive.
        flows: As in an archive.
        others: Of background traffic, as in an archive.

    Returns:
        One row per trial whose data went over emulated links: trial_id; link_queue_drops, link_random_drops,
        link_policer_drops (int64: rows of counters, 0.1 s apart, in which packets were dropped at a full
        queue, at random, or by a policer; the last is null where emulators knew no policer yet);
        link_queued_share (float64: share of these rows at which a queue held data, 0 to 1, of the link at
        which it is largest); link_shared (boolean: other traffic than a probe sends the same way over one of
        them).

    Method:
        Moments, not packets: congestion control answers once to all that is lost within a round trip, and one
        overshoot drops hundreds at a queue. The time that counts begins `omit` after the link has carried
        data other than a probe's, by the controller's clock, which is good to a row. Of a link of hops every
        hop counts, in the direction in which the data cross it.
    """
    sources = flows.filter(flows.role == "source").select("trial_id", src="host").distinct()
    asked = trials.select("trial_id", "omit_ns", "duration_ns", "background")
    links = links.mutate(dropped_policer_packets=column_or_null(links, "dropped_policer_packets"))
    ways = _on_the_way(links, sources).inner_join(asked, "trial_id")
    began = _began(ways)
    since_ns = began.at_ns - began.began_ns
    # The row in which the data began may hold some of them already: it belongs to what is omitted.
    counted = ((since_ns > began.omit_ns) & (since_ns <= began.duration_ns)).coalesce(False)
    of_ways = began.group_by(_WAY).aggregate(
        queue=(counted & (began.queue > 0)).coalesce(False).sum().cast("int64"),
        random=(counted & (began.random > 0)).coalesce(False).sum().cast("int64"),
        # Null where no row has the counter.
        policer=(counted.cast("int64") * (began.policer > 0).cast("int64")).sum().cast("int64"),
        queued_share=(began.queue_bytes > 0).mean(where=counted),
    )
    counts = of_ways.group_by("trial_id").aggregate(
        link_queue_drops=of_ways.queue.sum().cast("int64"),
        link_random_drops=of_ways.random.sum().cast("int64"),
        link_policer_drops=of_ways.policer.sum().cast("int64"),
        link_queued_share=of_ways.queued_share.max(),
    )
    shared = _shared(links, ways, others)
    # A literal in place of the key would be true of every trial in SQL that the prepared statement merged.
    found = counts.left_join(shared.select("trial_id", shared_id="trial_id"), "trial_id")
    return found.select(*counts.columns, link_shared=found.shared_id.notnull())


def _began(ways: ir.Table) -> ir.Table:
    """Add how far counters rose from row to row, and when the link began to carry a trial's data."""
    order = ibis.window(group_by=list(_WAY), order_by="at_ns")
    whole = ibis.window(group_by=list(_WAY))
    probed = ways.background.contains(PROBE).coalesce(False)
    risen = ways.mutate(
        queue=ways.dropped_queue_packets - ways.dropped_queue_packets.lag().over(order),
        random=ways.dropped_loss_packets - ways.dropped_loss_packets.lag().over(order),
        policer=ways.dropped_policer_packets - ways.dropped_policer_packets.lag().over(order),
        carried=ways.bytes_in - ways.bytes_in.min().over(whole),
        probed=probed,
        brought=ways.bytes_in - ways.bytes_in.lag().over(order),
    )
    risen = risen.mutate(most=risen.brought.max().over(whole))
    least = ibis.greatest(risen.most * _DATA_SHARE, float(_DATA_BYTES))
    data = ~risen.probed | (risen.brought >= least).coalesce(False)
    since = ((risen.carried >= _DATA_BYTES) & data).ifelse(risen.at_ns, None).min().over(whole)
    # A trial that sends next to nothing is not told from its probe.
    slow = (risen.carried >= _DATA_BYTES).ifelse(risen.at_ns, None).min().over(whole)
    return risen.mutate(began_ns=since.coalesce(slow))


def _shared(links: ir.Table, ways: ir.Table, others: ir.Table) -> ir.Table:
    """Tell the trials with other traffic than a probe over one of their ways."""
    beside = others.filter((others.role == "source") & (others.background != PROBE).coalesce(True))
    taken = _on_the_way(links, beside.select("trial_id", src="host").distinct())
    own = ways.select(*_WAY).distinct()
    return taken.select(*_WAY).distinct().inner_join(own, list(_WAY)).select("trial_id").distinct()


def _on_the_way(links: ir.Table, sources: ir.Table) -> ir.Table:
    """Leave the rows of the directions in which links carry the data of these sources.

    A source is the end of the first hop only: hop 2 of `wan`, `wan:2`, is between the routers `wan:1` and
    `wan:2`, and the last one ends at the other host. `wan:2/1` is the first of its paths side by side.
    """
    hop = links.link.split("/")[0]
    whole = hop.split(":")[0]
    from_router_before = links.src.startswith(whole.concat(":")) & (links.src != hop)
    onwards = ((links.dst == hop) | from_router_before).ifelse("onwards", "back")
    ways = links.mutate(_whole=whole, _way=hop.contains(":").ifelse(onwards, links.src))
    keys = ["trial_id", "_whole", "_way"]
    taken = ways.inner_join(sources, ["trial_id", "src"]).select(keys).distinct()
    return ways.inner_join(taken, keys)
