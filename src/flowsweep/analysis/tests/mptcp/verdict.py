"""What limited a trial of Multipath TCP: what tells without a look at what each subflow waited for."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.verdicts import BUSY, NOT_CLEAR, RATE_REACHED


def with_subflow_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of Multipath TCP; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict, goodput_bps, flows, rate_bps,
            thread_busy_send, thread_busy_recv.

    Method:
        The first rule that holds: the rate that was asked for came ("application rate"); the sources' or the
        sinks' threads were always busy ("sender CPU", "receiver CPU"; both: "not clear"). Else null: each
        subflow has windows and losses of its own, and none of them speaks for the connection.
    """
    reached = (rows.goodput_bps >= rows.rate_bps.cast("float64") * rows.flows * RATE_REACHED).coalesce(False)
    sending = (rows.thread_busy_send >= BUSY).coalesce(False)
    receiving = (rows.thread_busy_recv >= BUSY).coalesce(False)
    found = ibis.cases(
        (rows.goodput_bps.isnull(), ibis.null("string")),
        (reached, "application rate"),
        (sending & receiving, NOT_CLEAR),
        (sending, "sender CPU"),
        (receiving, "receiver CPU"),
        else_=ibis.null("string"),
    )
    return rows.mutate(verdict=(rows.test == "mptcp").ifelse(found, rows.verdict))
