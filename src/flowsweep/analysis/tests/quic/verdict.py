"""What limited a trial of QUIC, from what its acknowledgements show, CPU time and emulated links."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.background.ways import load_at_least, load_at_most
from flowsweep.analysis.verdict_rules import first_rules, most_drops
from flowsweep.analysis.verdicts import (
    LOSS,
    MOST,
    NOT_CLEAR,
    PATH_FULL,
    PATH_NOT_FULL,
    QUEUE,
    RECEIVE_WINDOW,
    SEND_WINDOW,
)
from flowsweep.defaults import QUIC_SEND_WINDOW_BYTES, QUIC_STREAM_WINDOW_BYTES
from flowsweep.packets import udp_header_bytes

_UNLIMITED = 2**62
"""More than any window (RFC 9000, section 16)."""


def with_quic_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of QUIC; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict, goodput_bps, flows, rate_bps,
            far_side, thread_busy_send, thread_busy_recv, window_send_bytes, window_recv_bytes,
            stream_window_bytes, streams_per_flow, family, link_queue_drops, link_random_drops,
            link_policer_drops, link_shared, path_rate_bps, bytes_sent, share; those of `quic_facts`, and of
            `flowsweep.analysis.background.ways.background_ways`.

    Method:
        The first rule that holds: the rate that was asked for came; an end's threads were always busy; what
        the source sent, headers included, with what ran beside it the same way, was all that an emulated path
        carries: it was full; windows held
        the source back for most of the time (the source's own, where it is smaller than what the sink's
        windows allow, else the sink's; those that nobody asked for are the library's; of a server at the far
        end, whose windows nobody knows, that is "not clear"); congestion control did, and most
        drops at emulated links were at a queue: the path was full; or most were of a policer, or at random or
        of a policer on a path that had room left: losses did. Where others send the same way, "most" is all,
        as for TCP. What is no clear majority, or has no emulated link to tell, is "not clear".
    """
    # A server at the far end tells none of its windows.
    windows = (rows.flow_control_limited_share >= MOST).coalesce(False) & rows.far_side.isnull()
    congestion = (rows.congestion_limited_share >= MOST).coalesce(False)
    of_streams = rows.stream_window_bytes.coalesce(QUIC_STREAM_WINDOW_BYTES) * rows.streams_per_flow
    of_sink = ibis.least(rows.window_recv_bytes.coalesce(_UNLIMITED), of_streams)
    own = (rows.window_send_bytes.coalesce(QUIC_SEND_WINDOW_BYTES) < of_sink).coalesce(False)
    policed = rows.link_policer_drops.coalesce(0)
    at_random = most_drops(rows, rows.link_random_drops + policed)
    at_queue = most_drops(rows, rows.link_queue_drops)
    headers = (rows.family == 6).coalesce(False).ifelse(udp_header_bytes(6), udp_header_bytes(4))
    sent_bytes = rows.datagram_bytes_sent + rows.quic_datagrams_sent * headers
    wire_bps = rows.goodput_bps * sent_bytes.cast("float64") / rows.bytes_sent.nullif(0)
    full = (load_at_least(rows, wire_bps) >= rows.path_rate_bps * PATH_FULL).coalesce(False)
    # A path without a limit always has room left.
    room = rows.path_rate_bps.isnull() | (load_at_most(rows, wire_bps) < rows.path_rate_bps * PATH_NOT_FULL)
    losses = most_drops(rows, policed) | (at_random & room.coalesce(False))
    found = ibis.cases(
        (rows.goodput_bps.isnull() | rows.congestion_limited_share.isnull(), ibis.null("string")),
        *first_rules(rows),
        (full, QUEUE),
        (windows & own, SEND_WINDOW),
        (windows, RECEIVE_WINDOW),
        (congestion & losses, LOSS),
        (congestion & at_queue, QUEUE),
        else_=NOT_CLEAR,
    )
    return rows.mutate(verdict=(rows.test == "quic").ifelse(found, rows.verdict))
