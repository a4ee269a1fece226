"""Sums over the subflows of each trial, from their last samples at the source."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import columns_added
from flowsweep.analysis.summarising.columns import GOODPUTS
from flowsweep.analysis.tests.mptcp.columns import SUBFLOW_COLUMNS
from flowsweep.analysis.tests.tcp.flow_states import RTT_UNKNOWN_US


def subflow_totals(subflows: ir.Table) -> ir.Table:
    """Take what each subflow had sent at its last sample: running counts never fall.

    Args:
        subflows: As in an archive.

    Returns:
        One row per trial, flow and subflow of a source: trial_id, flow, subflow, local_address,
        remote_address; path_bytes (int64: payload, each byte of the subflow counted once),
        retransmitted_bytes, retransmits (segments), rtt_least_us, reinjected_bytes (of its whole flow).

    A subflow that ends within a trial is there up to its last sample: what it sent later is missing.
    """
    source = subflows.filter(subflows.role == "source")
    subflow = ["trial_id", "flow", "subflow", "local_address", "remote_address"]
    totals = source.group_by(subflow).aggregate(
        sent=source.bytes_sent.max(),
        retransmitted_bytes=source.bytes_retrans.max(),
        retransmits=source.total_retrans.max(),
        rtt_least_us=source.min_rtt_us.nullif(RTT_UNKNOWN_US).min(),
        reinjected_bytes=source.connection_reinjected_bytes.max(),
    )
    return totals.mutate(path_bytes=totals.sent - totals.retransmitted_bytes).drop("sent")


def subflow_facts(subflows: ir.Table, trials: ir.Table) -> ir.Table:
    """Sum up the subflows of each trial.

    Args:
        subflows: As in an archive.
        trials: As in an archive.

    Returns:
        One row per trial with subflows: trial_id; subflows_used (int64: those that carried payload, of all
        flows), busiest_path_share (float64: of all payload, what the pair of addresses that carried most
        carried), reinjected_bytes (int64: sent once more by MPTCP, Σ over flows);
        subflow_retransmits (int64, Σ), subflow_retransmitted_bytes (int64, Σ; in the time that counts),
        subflow_rtt_min_ms (float64, least);
        subflow_flows (int64: of how many flows these are).
    """
    totals = subflow_totals(subflows)
    paths = totals.group_by("trial_id", "local_address", "remote_address").aggregate(
        path_bytes=totals.path_bytes.sum().cast("int64")
    )
    busiest = paths.group_by("trial_id").aggregate(
        busiest_path_share=paths.path_bytes.max().cast("float64") / paths.path_bytes.sum().nullif(0)
    )
    flows = totals.group_by("trial_id", "flow").aggregate(
        used=(totals.path_bytes > 0).sum(),
        reinjected_bytes=totals.reinjected_bytes.max(),
        retransmits=totals.retransmits.sum(),
        rtt_least_us=totals.rtt_least_us.min(),
    )
    facts = flows.group_by("trial_id").aggregate(
        subflow_flows=flows.count(),
        subflows_used=flows.used.sum().cast("int64"),
        reinjected_bytes=flows.reinjected_bytes.sum().cast("int64"),
        subflow_retransmits=flows.retransmits.sum().cast("int64"),
        subflow_rtt_min_ms=flows.rtt_least_us.min().cast("float64") / 1000,
    )
    counted = _retransmitted(subflows, trials)
    return columns_added(facts.inner_join(busiest, "trial_id"), [counted], ["trial_id"])


def _retransmitted(subflows: ir.Table, trials: ir.Table) -> ir.Table:
    """What was retransmitted behind what is omitted and within the duration."""
    times = trials.select("trial_id", "omit_ns", "duration_ns")
    rows = subflows.filter(subflows.role == "source").inner_join(times, "trial_id")
    within = rows.bytes_retrans.max(where=rows.start_ns < rows.duration_ns)
    before = rows.bytes_retrans.max(where=rows.start_ns < rows.omit_ns).coalesce(0)
    each = rows.group_by("trial_id", "flow", "subflow").aggregate(risen=within - before)
    return each.group_by("trial_id").aggregate(subflow_retransmitted_bytes=each.risen.sum().cast("int64"))


def with_subflows(rows: ir.Table) -> ir.Table:
    """Tell of connections of several subflows what these say together, where TCP's would say it of one.

    Args:
        rows: One row per trial, with columns as in a summary and those of `subflow_facts`.

    Returns:
        The rows; retransmits, retransmitted_bytes and rtt_min_ms are those of the subflows where the flows
        have none. Where a flow's source told nothing, what is of all flows is null: a sum over the others
        would be too low. Where something fell back to TCP, it is no result of several paths: no goodput.
    """
    whole = rows.subflow_flows == rows.flows
    fell_back = (rows.test == "mptcp") & (rows.failure_kind == "fell_back_to_tcp").coalesce(False)
    return rows.mutate(
        retransmits=rows.retransmits.coalesce(ibis.cases((whole, rows.subflow_retransmits))),
        retransmitted_bytes=rows.retransmitted_bytes.coalesce(
            ibis.cases((whole, rows.subflow_retransmitted_bytes))
        ),
        rtt_min_ms=rows.rtt_min_ms.coalesce(rows.subflow_rtt_min_ms),
        **{name: ibis.cases((whole, rows[name])) for name in SUBFLOW_COLUMNS},
        **{name: fell_back.ifelse(ibis.null("float64"), rows[name]) for name in GOODPUTS},
    )
