"""What limited a trial of Multipath TCP: what tells without a look at what each subflow waited for."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis import theory
from flowsweep.analysis.background.ways import load_at_least
from flowsweep.analysis.verdict_rules import first_rules
from flowsweep.analysis.verdicts import PATH_FULL, QUEUE
from flowsweep.packets import MPTCP_OPTION_BYTES, header_bytes


def with_subflow_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of Multipath TCP; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict, goodput_bps, goodput_mean_bps,
            flows, rate_bps, thread_busy_send, thread_busy_recv, path_rate_bps, path_mtu_bytes, family, share,
            and those of `flowsweep.analysis.background.ways.background_ways`.

    Method:
        The first rule that holds: the rate that was asked for came ("application rate"); the sources' or the
        sinks' threads were always busy ("sender CPU", "receiver CPU"; both: "not clear"); the higher of
        median and mean goodput, with what ran beside it the same way, is what all emulated links that its
        subflows may use carry together: each of them is full ("congestion window: queue"). Else null: each
        subflow has windows and losses of its own, and none of them speaks for the connection.
    """
    found = ibis.cases(
        (rows.goodput_bps.isnull(), ibis.null("string")),
        *first_rules(rows),
        (_links_are_full(rows), QUEUE),
        else_=ibis.null("string"),
    )
    return rows.mutate(verdict=(rows.test == "mptcp").ifelse(found, rows.verdict))


def _links_are_full(rows: ir.Table) -> ir.BooleanValue:
    headers = (rows.family == 6).coalesce(False).ifelse(header_bytes(6), header_bytes(4)) + MPTCP_OPTION_BYTES
    payload_bps = theory.link_payload_bps(
        rows.path_rate_bps.cast("float64"), rows.path_mtu_bytes.cast("float64"), headers.cast("float64")
    )
    own_bps = ibis.greatest(rows.goodput_bps, rows.goodput_mean_bps.coalesce(rows.goodput_bps))
    return (load_at_least(rows, own_bps) >= payload_bps * PATH_FULL).coalesce(False)
