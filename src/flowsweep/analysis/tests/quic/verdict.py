"""What limited a trial of QUIC, from what its acknowledgements show, CPU time and emulated links."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.tests.tcp.verdict import PATH_FULL
from flowsweep.analysis.verdicts import BUSY, LOSS, MOST, NOT_CLEAR, QUEUE, RATE_REACHED

_HEADERS_BYTES = 28
"""Of IPv4 and UDP."""
_UNLIMITED = 2**62
"""More than any window (RFC 9000, section 16)."""


def with_quic_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of QUIC; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict, goodput_bps, flows, rate_bps,
            thread_busy_send, thread_busy_recv, window_send_bytes, window_recv_bytes, link_queue_drops,
            link_random_drops, path_rate_bps, bytes_sent, packets_lost and those of `quic_facts`.

    Method:
        The first rule that holds: the rate that was asked for came; an end's threads were always busy; what
        the source sent, headers included, was all that an emulated path carries: it was full; windows held
        the source back for most of the time (the smaller one, of those that were asked for; else the
        receiver's); congestion control did: with no packet lost, or most drops at an emulated link's queue,
        the path was full; with most drops at random, losses did. What is no clear majority is "not clear".
    """
    reached = (rows.goodput_bps >= rows.rate_bps.cast("float64") * rows.flows * RATE_REACHED).coalesce(False)
    sending = (rows.thread_busy_send >= BUSY).coalesce(False)
    receiving = (rows.thread_busy_recv >= BUSY).coalesce(False)
    windows = (rows.flow_control_limited_share >= MOST).coalesce(False)
    congestion = (rows.congestion_limited_share >= MOST).coalesce(False)
    own = (rows.window_send_bytes < rows.window_recv_bytes.coalesce(_UNLIMITED)).coalesce(False)
    at_random = (rows.link_random_drops > rows.link_queue_drops).coalesce(False)
    at_queue = (rows.link_queue_drops > rows.link_random_drops).coalesce(False)
    sent_bytes = rows.datagram_bytes_sent + rows.quic_datagrams_sent * _HEADERS_BYTES
    wire_bps = rows.goodput_bps * sent_bytes.cast("float64") / rows.bytes_sent.nullif(0)
    full = (wire_bps >= rows.path_rate_bps * PATH_FULL).coalesce(False)
    found = ibis.cases(
        (rows.goodput_bps.isnull() | rows.congestion_limited_share.isnull(), ibis.null("string")),
        (reached, "application rate"),
        (sending & receiving, NOT_CLEAR),
        (sending, "sender CPU"),
        (receiving, "receiver CPU"),
        (full, QUEUE),
        (windows & own, "send window"),
        (windows, "receive window"),
        (congestion & at_random, LOSS),
        (congestion & (at_queue | (rows.packets_lost == 0)), QUEUE),
        else_=NOT_CLEAR,
    )
    return rows.mutate(verdict=(rows.test == "quic").ifelse(found, rows.verdict))
