"""What limited a trial of datagrams: nothing holds a source back but its pace, so losses tell."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.tests.tcp.verdict import BUSY, MOST, RATE_REACHED
from flowsweep.defaults import LOSS_MATTERS


def with_datagram_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of datagrams; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict, goodput_bps, rate_sum_bps, loss,
            loss_at_hosts, loss_on_path, gro_granted, thread_busy_send.

    Method:
        The first rule that holds: hosts dropped most of what was lost ("host drops"); the path did ("path
        loss"); the rate that was asked for came ("application rate"); the source's threads were always busy
        ("sender CPU"); else "not clear". Where the kernel hands datagrams over several at a time it counts
        one drop for all of them: then any drop leaves unclear what the path lost.
    """
    lossy = (rows.loss >= LOSS_MATTERS).coalesce(False)
    at_hosts = (rows.loss_at_hosts >= rows.loss * MOST).coalesce(False)
    few_at_hosts = rows.loss_at_hosts < rows.loss * (1 - MOST)
    exact = (rows.loss_at_hosts == 0) | ~rows.gro_granted.coalesce(False)
    on_path = (few_at_hosts & exact).coalesce(False)
    reached = (rows.goodput_bps >= rows.rate_sum_bps * RATE_REACHED).coalesce(False)
    busy = (rows.thread_busy_send >= BUSY).coalesce(False)
    found = ibis.cases(
        (rows.goodput_bps.isnull() | rows.loss.isnull(), ibis.null("string")),
        (lossy & at_hosts, "host drops"),
        (lossy & on_path, "path loss"),
        (lossy, "not clear"),
        (reached, "application rate"),
        (busy, "sender CPU"),
        else_="not clear",
    )
    return rows.mutate(verdict=(rows.test == "udp").ifelse(found, rows.verdict))
