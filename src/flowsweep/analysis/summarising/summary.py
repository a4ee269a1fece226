"""The summary: one row per trial, what a person wants to know of it."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.background.shares import jain
from flowsweep.analysis.background.ways import background_ways
from flowsweep.analysis.binning.byte_balance import balanced
from flowsweep.analysis.binning.interval_goodput import Keep, as_it_is
from flowsweep.analysis.expressions import columns_added
from flowsweep.analysis.hosts import host_load
from flowsweep.analysis.path_emulation import path_emulation
from flowsweep.analysis.summarising.columns import GOODPUTS, STABLE_COLUMNS
from flowsweep.analysis.summarising.samples import Sampled, sampled
from flowsweep.analysis.summarising.trial_row import FURTHER_COLUMNS
from flowsweep.analysis.tests.file.jobs import file_facts, with_jobs
from flowsweep.analysis.tests.file.verdict import with_file_verdict
from flowsweep.analysis.tests.mptcp.subflows import subflow_facts, with_subflows
from flowsweep.analysis.tests.mptcp.verdict import with_subflow_verdict
from flowsweep.analysis.tests.path.from_tables import UNANSWERED, path_facts, unanswered
from flowsweep.analysis.tests.quic.connections import quic_facts, with_connections
from flowsweep.analysis.tests.quic.verdict import with_quic_verdict
from flowsweep.analysis.tests.rtt.under_load import rtt_facts
from flowsweep.analysis.tests.tcp.limits import trial_limits
from flowsweep.analysis.tests.tcp.link_drops import link_drops
from flowsweep.analysis.tests.tcp.predictions import flow_predictions, with_predictions
from flowsweep.analysis.tests.tcp.source import sender_facts
from flowsweep.analysis.tests.tcp.verdict import with_verdict
from flowsweep.analysis.tests.udp.datagrams import with_rate_sum
from flowsweep.analysis.tests.udp.sender_drops import send_errors, senders_beside, with_sender_drops
from flowsweep.analysis.tests.udp.verdict import with_datagram_verdict
from flowsweep.archive import Tables
from flowsweep.defaults import MINIMUM_BINS
from flowsweep.schedule.background import PROBE
from flowsweep.tests import BULK_TESTS, TIMED_TESTS

SUMS_OVER_FLOWS = {"bytes": "flows_read", "bytes_sent": "flows_sent", "retransmits": "flows_counted"}
"""Sums over all flows, and the column that says of how many flows each of them is."""


def summary(tables: Tables, *, paths: ir.Table | None = None) -> ir.Table:
    """Sum up each trial.

    Args:
        tables: In any backend.
        paths: From `path_facts`, of these trials and maybe more; if absent it is computed, at once.

    Returns:
        One row per trial, in the order of the campaign: STABLE_COLUMNS, then FURTHER_COLUMNS. What is not
        known is null. Definitions: docs/explanation/statistics.md.
    """
    return concluded(tables, sampled(tables), path_facts(tables) if paths is None else paths)


def concluded(tables: Tables, found: Sampled, paths: ir.Table, keep: Keep = as_it_is) -> ir.Table:
    """Sum up as `summary`, with what was found in the samples.

    Args:
        tables: As in an archive.
        found: From `sampled`.
        paths: From `path_facts`.
        keep: As for `sampled`.
    """
    parts = (
        found.goodputs,
        keep("volume", _volume(balanced(tables.flows, found.read))),
        keep("cpu_busy", _cpu(tables.flows)),
        keep("sender", sender_facts(found.flows, tables.trials)),
        keep("limits", trial_limits(found.flows)),
        found.rtts,
        keep("predictions", flow_predictions(found.flows)),
        keep("host_load", host_load(tables.cpu, tables.counters, tables.flows)),
        keep("path_emulation", path_emulation(tables.links)),
        keep("link_drops", link_drops(tables.links, tables.trials, tables.flows, tables.background_flows)),
        keep("background_ways", background_ways(tables.flows, tables.background_flows, tables.links)),
        paths,
        found.datagrams,
        keep("send_errors", send_errors(tables.counters)),
        keep("senders_beside", _senders_beside(tables)),
        found.fairness,
        keep("rtt", rtt_facts(tables)),
        keep("quic_facts", quic_facts(tables.quic, tables.trials)),
        keep("subflow_facts", subflow_facts(tables.subflows, tables.trials)),
        keep("file_facts", file_facts(tables.storage, tables.devices, tables.flows)),
    )
    # What was asked with stands in the echoes, since the plan may have left the choice to the source.
    joined = tables.trials.rename(echo_planned="echo")
    joined = columns_added(joined, [_side_by_side(tables.trials, parts)], ["trial_id"])
    judged = with_predictions(with_connections(with_subflows(with_jobs(_judged(_settled(joined))))))
    judged = keep("judged", with_sender_drops(with_rate_sum(judged)))
    judged = with_quic_verdict(with_subflow_verdict(with_datagram_verdict(with_verdict(judged))))
    judged = with_file_verdict(judged)
    return judged.select(*STABLE_COLUMNS, *FURTHER_COLUMNS).order_by("order_index")


def _senders_beside(tables: Tables) -> ir.Table:
    return senders_beside(tables.flows, tables.background_flows, tables.background_samples)


def _side_by_side(trials: ir.Table, parts: Sequence[ir.Table]) -> ir.Table:
    """Put all parts into one table, the wider the later.

    A database carries each column through all joins that come after it: those of `trials`, by far the most,
    come last.
    """
    narrow_first = sorted(parts, key=lambda part: len(part.columns))
    return columns_added(trials.select("trial_id"), narrow_first, ["trial_id"])


def _volume(flows: ir.Table) -> ir.Table:
    """Per trial: bytes sent and read, of how many flows, and how many flows do not add up."""
    return flows.group_by("trial_id").aggregate(
        bytes=flows.bytes_read.sum().cast("int64"),
        bytes_sent=flows.bytes_sent.sum().cast("int64"),
        flows_read=flows.bytes_read.count(),
        flows_sent=flows.bytes_sent.count(),
        jain_of_own=_jain(flows.bytes_read.cast("float64")),
        unbalanced=(~flows.balanced).sum(),
    )


def _alone(background: ir.ArrayColumn) -> ir.BooleanValue:
    """Whether no other traffic ran beside a trial; a probe is none."""
    return (background.length() == 0) | ((background.length() == 1) & background.contains(PROBE))


def _jain(amounts: ir.FloatingColumn) -> ir.FloatingValue:
    """Jain's index over all flows of a trial, where there are several."""
    index = jain(amounts.sum(), (amounts * amounts).sum(), amounts.count())
    return ibis.cases((amounts.count() > 1, index))


def _cpu(flows: ir.Table) -> ir.Table:
    """Per trial and end: how busy the busiest thread was, 0 to 1."""
    busy = (flows.cpu_user_us + flows.cpu_system_us).cast("float64") / flows.cpu_elapsed_us.nullif(0)
    return flows.group_by("trial_id").aggregate(
        cpu_send=busy.max(where=flows.role == "source"), cpu_recv=busy.max(where=flows.role == "sink")
    )


def _throttled(held_us: ir.IntegerValue, of_us: ir.FloatingValue) -> ir.FloatingValue:
    """Share of their time that a quota held threads back; other threads of an end may have been, too."""
    share = held_us.cast("float64") / of_us.nullif(0.0)
    return (share > 1).ifelse(1.0, share)


def _settled(rows: ir.Table) -> ir.Table:
    """Choose where two parts tell the same, and count what no part tells of as 0.

    The goodput that another tool reported is what an imported trial has.
    """
    reported = rows.reported_goodput_bps
    mean = rows.goodput_method.endswith("_mean").ifelse(reported, ibis.null("float64"))
    return rows.mutate(
        goodput_bps=ibis.coalesce(reported, rows.goodput_bps),
        goodput_mean_bps=ibis.coalesce(mean, rows.goodput_mean_bps),
        echo=rows.echo.coalesce(rows.echo_planned),
        bins=rows.bins.coalesce(0),
        unbalanced=rows.unbalanced.coalesce(0),
    )


def _reported_bytes(rows: ir.Table, name: str) -> ir.IntegerValue:
    """What another tool reported of all flows together, where it did and where this sum is that."""
    ends = {"bytes": "receiver_", "bytes_sent": "sender_"}
    if name not in ends:
        return ibis.null("int64")
    return ibis.cases((rows.goodput_method.startswith(ends[name]), rows.reported_bytes))


def _judged(rows: ir.Table) -> ir.Table:
    """Settle status and error, and leave out a goodput that would mislead."""
    bulk = rows.test.isin(BULK_TESTS)
    few = rows.test.isin(TIMED_TESTS) & (rows.bins < MINIMUM_BINS) & rows.reported_goodput_bps.isnull()
    unseen = unanswered(rows)
    # Of an imported trial one end alone reported: there is nothing to compare it with. An iperf3 server does
    # not read on when it knows of the end, and a QUIC perf server tells nothing.
    torn = bulk & (rows.unbalanced > 0) & rows.imported_from.isnull() & rows.far_side.isnull()
    went_well = rows.status == "ok"
    too_few = (
        rows.bins.cast("string")
        + " of "
        + rows.expected_bins.cast("string")
        + f" intervals are complete, {MINIMUM_BINS} are needed"
    )
    flows = (rows.unbalanced == 1).ifelse("1 flow", rows.unbalanced.cast("string") + " flows")
    unequal = "bytes sent, read and sampled differ in " + flows
    known = ~few & (rows.status != "failed")
    jain_of_own = ibis.cases((rows.flows_read == rows.flows, rows.jain_of_own))
    return rows.mutate(
        status=(went_well & (few | torn | unseen)).ifelse("incomplete", rows.status),
        error=ibis.coalesce(
            rows.error,
            ibis.cases(
                (went_well & few, too_few), (went_well & torn, unequal), (went_well & unseen, UNANSWERED)
            ),
        ),
        coverage=rows.bins.cast("float64") / rows.expected_bins.nullif(0),
        bins_expected=rows.expected_bins,
        # The axis is what was asked for; what it lasted beside it.
        duration_s=rows.duration_max_ns.coalesce(rows.duration_ns).cast("float64") / 1e9,
        lasted_s=rows.ended_by.notnull().ifelse(rows.duration_ns, ibis.null("int64")).cast("float64") / 1e9,
        omit_s=rows.omit_ns.cast("float64") / 1e9,
        interval_s=rows.interval_ns.cast("float64") / 1e9,
        elapsed_s=rows.elapsed_ns.cast("float64") / 1e9,
        jain_flows=_alone(rows.background).ifelse(jain_of_own, rows.jain_flows),
        clock_bound_ms=rows.clock_bound_ns.cast("float64") / 1e6,
        throttled_send_share=_throttled(rows.throttled_send_us, rows.throttleable_send_us),
        throttled_recv_share=_throttled(rows.throttled_recv_us, rows.throttleable_recv_us),
        # Of a host that died nothing is known: a sum over the other flows would be too low.
        **{
            name: (rows[flow_count] == rows.flows).ifelse(rows[name], _reported_bytes(rows, name))
            for name, flow_count in SUMS_OVER_FLOWS.items()
        },
        **{name: known.ifelse(rows[name], ibis.null("float64")) for name in GOODPUTS},
    )
