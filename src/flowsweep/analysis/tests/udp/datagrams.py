"""What became of a trial's datagrams: how many came, in what order, when, where the others were lost."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null, columns_added
from flowsweep.analysis.hosts import dropped_before_sockets
from flowsweep.analysis.tests.udp.columns import COUNTED_COLUMNS
from flowsweep.archive import Tables
from flowsweep.defaults import MILLISECOND_NS

_MS_NS = float(MILLISECOND_NS)
_US_NS = 1e3

OF_SOURCE = {
    "sent": "udp_datagrams", "refused": "udp_refused", "behind_max_ns": "udp_behind_max_ns",
    "burst_max": "udp_burst_max", "began_ns": "first_byte_ns", "stopped_ns": "end_ns",
    "source_clock_ns": "clock_offset_ns", "source_bound_ns": "clock_bound_ns",
}  # fmt: skip
OF_SINK = {
    "came": "udp_datagrams", "missing": "udp_missing", "duplicates": "udp_duplicates",
    "reordered": "udp_reordered", "reordering_extent_max": "udp_reordering_extent_max", "late": "udp_late",
    "loss_bursts": "udp_loss_bursts", "loss_burst_max": "udp_loss_burst_max",
    "socket_dropped": "udp_socket_dropped", "delay_by_clocks_ns": "udp_delay_min_ns",
    "sink_clock_ns": "clock_offset_ns", "sink_bound_ns": "clock_bound_ns",
}  # fmt: skip

_OF_SENDERS = ("datagrams_refused", "datagrams_handed", "sending_ns", "sent_by_server")


def datagram_flows(flows: ir.Table) -> ir.Table:
    """Put the two ends of each flow of datagrams together.

    Args:
        flows: As in an archive.

    Returns:
        One row per trial and flow of datagrams that either end reported: trial_id, flow; broken (boolean: an
        end says so). int64, of the source: sent, refused (which its kernel had no room for at first),
        behind_max_ns (how far it fell behind its pace), burst_max (datagrams sent at once), began_ns and
        stopped_ns (since its origin, when it sent first and was over), handed (all that it sent); of the
        sink: came (different ones, before the drain was over), duplicates (RFC 5560),
        reordered and reordering_extent_max (RFC 4737), late (after the drain, part of lost), loss_bursts,
        loss_burst_max, socket_dropped; of both: lost (sent - came, RFC 7680), delay_min_ns (the least one-way
        delay, RFC 7679: by the hosts' clocks, less what these differ by) and delay_bound_ns (how far the
        estimates of the clocks may be wrong). Null where an end did not report, but for sent and lost of an
        imported trial without its source: there the sink's numbers that did not come are lost. So they are of
        a server that counted any, since it stops to when it hears of the end: what was sent after its last
        number is only in handed.
    """
    columns = {name: column_or_null(flows, name) for name in {*OF_SOURCE.values(), *OF_SINK.values()}}
    rows = flows.select("trial_id", "flow", "role", "end", **columns)
    datagrams = rows.filter(rows.udp_datagrams.notnull())
    ends = {"source": OF_SOURCE, "sink": OF_SINK}
    both = datagrams.group_by("trial_id", "flow").aggregate(
        broken=(datagrams.end == "broken").any().coalesce(False),
        **{
            name: datagrams[column].max(where=datagrams.role == role)
            for role, names in ends.items()
            for name, column in names.items()
        },
        # Only of a server both are known: other tools' flows have no end.
        of_server=(datagrams.end.notnull() & datagrams.udp_missing.notnull()).any().coalesce(False),
    )
    told_of = (both.came + both.missing).nullif(0)
    both = both.mutate(
        handed=both.sent.coalesce(both.came + both.missing),
        sent=both.of_server.ifelse(told_of, ibis.null("int64")).coalesce(both.sent, both.came + both.missing),
    ).drop("missing", "of_server")
    ahead_ns = both.sink_clock_ns - both.source_clock_ns
    return both.mutate(
        lost=both.sent - both.came,
        delay_min_ns=both.delay_by_clocks_ns - ahead_ns,
        delay_bound_ns=both.sink_bound_ns + both.source_bound_ns,
    ).drop("delay_by_clocks_ns", "source_clock_ns", "sink_clock_ns", "source_bound_ns", "sink_bound_ns")


def datagram_facts(tables: Tables) -> ir.Table:
    """Sum up each trial's datagrams.

    Args:
        tables: As in an archive.

    Returns:
        One row per trial with datagrams: trial_id, COUNTED_COLUMNS, datagrams_refused (int64: which the
        sources' kernels had no room for at first; null where a source does not say), datagrams_handed
        (int64: that the sources sent, those that no server counted included), sending_ns (float64: how long
        the sources sent, the mean of all flows; null where one does not say) and sent_by_server (boolean: a
        server told sending_ns, which leaves out what is omitted). Of flows that are whole;
        those that broke off are counted in flows_broken, and in nothing else. Definitions: docs/guide/udp.md.
    """
    flows = datagram_flows(tables.flows)
    broken = flows.filter(flows.broken).select("trial_id", "flow")
    dropped = dropped_before_sockets(tables.counters, tables.flows)
    parts = (dropped, _jitter(tables, broken), *_percentiles(_of_others(tables.histograms, broken)))
    joined = columns_added(_counts(flows), parts, ["trial_id"])
    sent = joined.datagrams_sent.nullif(0).cast("float64")
    # What the sinks' hosts dropped may also have been somebody else's.
    at_hosts = ibis.least(joined.socket_dropped.coalesce(0) + joined.dropped.coalesce(0), joined.lost)
    known = joined.lost.notnull() & (joined.socket_dropped.notnull() | joined.dropped.notnull())
    lost_at_hosts = ibis.cases((known, at_hosts))
    return joined.mutate(
        loss=joined.lost.cast("float64") / sent,
        loss_at_hosts=lost_at_hosts.cast("float64") / sent,
        loss_on_path=(joined.lost - lost_at_hosts).cast("float64") / sent,
    ).select("trial_id", *COUNTED_COLUMNS, *_OF_SENDERS)


def _counts(flows: ir.Table) -> ir.Table:
    whole = ~flows.broken & flows.lost.notnull()

    def total(name: str) -> ir.IntegerValue:
        return flows[name].sum(where=whole).cast("int64")

    def most(name: str) -> ir.IntegerValue:
        return flows[name].max(where=whole)

    refused_known = (flows.refused.notnull() | ~whole).all()
    sending_known = (flows.stopped_ns.notnull() | ~whole).all()
    return flows.group_by("trial_id").aggregate(
        datagrams_refused=ibis.cases((refused_known, total("refused"))),
        sending_ns=ibis.cases((sending_known, flows.stopped_ns.mean(where=whole))),
        sent_by_server=(whole & flows.stopped_ns.notnull() & flows.began_ns.isnull()).any(),
        datagrams_handed=total("handed"),
        datagrams_sent=total("sent"), datagrams=total("came"), lost=total("lost"),
        duplicates=total("duplicates"), reordered=total("reordered"), late=total("late"),
        loss_bursts=total("loss_bursts"), socket_dropped=total("socket_dropped"),
        reordering_extent_max=most("reordering_extent_max"), loss_burst_max=most("loss_burst_max"),
        burst_max=most("burst_max"), pacing_lag_max_ms=most("behind_max_ns").cast("float64") / _MS_NS,
        delay_min_ms=flows.delay_min_ns.min(where=whole).cast("float64") / _MS_NS,
        delay_bound_ms=most("delay_bound_ns").cast("float64") / _MS_NS,
        flows_broken=flows.broken.sum().cast("int64"),
    )  # fmt: skip


def _of_others(rows: ir.Table, broken: ir.Table) -> ir.Table:
    return rows.anti_join(broken, ["trial_id", "flow"])


def _jitter(tables: Tables, broken: ir.Table) -> ir.Table:
    """Mean of the running estimates of RFC 3550 (6.4.1) at the ends of all sample intervals of all sinks.

    A flow that fell silent keeps its last one to the end: those that broke off do not count. Of imported
    trials without intervals of the sink: the mean over its flows of what it had at the end.
    """
    rows = _of_others(tables.datagrams.filter(tables.datagrams.role == "sink"), broken)
    sampled = rows.group_by("trial_id").aggregate(sampled_ns=rows.jitter_ns.mean())
    jitter = column_or_null(tables.flows, "udp_jitter_ns")
    ends = tables.flows.select("trial_id", "flow", "role", jitter_ns=jitter).filter(ibis._.role == "sink")
    flows = _of_others(ends, broken)
    at_end = flows.group_by("trial_id").aggregate(at_end_ns=flows.jitter_ns.mean())
    both = at_end.left_join(sampled, "trial_id")
    return both.select("trial_id", jitter_ms=both.sampled_ns.coalesce(both.at_end_ns) / _MS_NS)


def _percentiles(histograms: ir.Table) -> tuple[ir.Table, ...]:
    """Delay variation (RFC 3393: p99 of each flow's delays above their least), and gaps at both ends."""
    delay = percentiles(histograms.filter(histograms.quantity == "delay"), ["trial_id"], {"p99": 99})
    parts = [delay.select("trial_id", delay_variation_ms=delay.p99 / _MS_NS)]
    gaps = histograms.filter(histograms.quantity == "spacing")
    for role, end in (("source", "send"), ("sink", "recv")):
        found = percentiles(gaps.filter(gaps.role == role), ["trial_id"], {"median": 50, "p99": 99})
        names = {f"spacing_{end}_{name}_us": found[name] / _US_NS for name in ("median", "p99")}
        parts.append(found.select("trial_id", **names))
    return tuple(parts)


class SpacingRow(TypedDict):
    """How many gaps between datagrams of a trial were so long, at one end."""

    trial_id: str
    role: str
    low_ns: int
    high_ns: int
    gaps: int


def spacing_steps(histograms: ir.Table) -> ir.Table:
    """Add up the gaps between datagrams over the flows of each trial and end.

    Args:
        histograms: As in an archive.

    Returns:
        One row per trial, end and step of the histogram with gaps: trial_id, role, low_ns, high_ns
        (exclusive) and gaps (int64: how many), by ascending low_ns.
    """
    rows = histograms.filter(histograms.quantity == "spacing")
    steps = rows.group_by("trial_id", "role", low_ns=rows.low, high_ns=rows.high)
    return steps.aggregate(gaps=rows["count"].sum().cast("int64")).order_by("trial_id", "role", "low_ns")


def with_rate_sum(rows: ir.Table) -> ir.Table:
    """Add rate_sum_bps to trials: the payload that all flows were asked to send, null if they had no pace."""
    spaced = rows.length_bytes.cast("float64") * 8e9 / rows.spacing_ns.nullif(0)
    per_flow = ibis.coalesce(spaced, rows.rate_bps.cast("float64"))
    asked = ibis.coalesce(rows.rate_sum_bps.cast("float64"), per_flow * rows.flows)
    return rows.mutate(rate_sum_bps=ibis.cases((rows.test == "udp", asked)))


def percentiles(histograms: ir.Table, keys: Sequence[str], shares: Mapping[str, int]) -> ir.Table:
    """Find percentiles of histograms that belong together, all their steps joined.

    Args:
        histograms: As in an archive, of one quantity.
        keys: Columns; what is alike in them belongs together.
        shares: Names of the percentiles, and which they are, in per cent.

    Returns:
        One row for each combination of the keys: these, and each percentile (float64, in the quantity's
        unit), null where nothing was counted.

    Method:
        The nearest rank (Hyndman and Fan, 1996, definition 1), and of the step that it falls into the middle
        of the whole numbers in it, so that it is off by at most half a step.
    """
    counts = histograms["count"].sum().cast("int64")
    steps = histograms.group_by(*keys, "low", "high").aggregate(counted=counts)
    through = ibis.window(group_by=list(keys), order_by="low", preceding=None, following=0)
    whole = ibis.window(group_by=list(keys))
    ranked = steps.mutate(
        middle=(steps.low + steps.high - 1).cast("float64") / 2,
        reached=steps.counted.sum().over(through),
        total=steps.counted.sum().over(whole),
    )

    def value(share: int) -> ir.FloatingValue:
        enough = ranked.reached * 100 >= ranked.total * share
        return ranked.middle.min(where=enough & (ranked.counted > 0))

    return ranked.group_by(*keys).aggregate(**{name: value(share) for name, share in shares.items()})
