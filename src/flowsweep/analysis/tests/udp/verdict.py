"""What limited a trial of datagrams: nothing holds a source back but its pace, so losses tell."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import quotient
from flowsweep.analysis.verdict_rules import always_busy
from flowsweep.analysis.verdicts import (
    APPLICATION_RATE,
    CORES_BUSY,
    HOST_DROPS,
    MOST,
    NOT_CLEAR,
    PATH_LOSS,
    RATE_REACHED,
    SEND_WINDOW,
    SENDER_CPU,
)
from flowsweep.defaults import LOSS_MATTERS, OFFERED_SHARE_MIN

PIECE_DATAGRAMS = 128
"""The kernel joins no more datagrams to a piece (UDP_MAX_SEGMENTS; 64 of older ones)."""
PIECE_BYTES = 65_507
"""Nor more payload: a piece is an IP packet to it."""


def with_datagram_verdict(rows: ir.Table) -> ir.Table:
    """Settle `verdict` of trials of datagrams; others keep theirs.

    Args:
        rows: One row per trial, with columns as in a summary: test, verdict, goodput_bps, goodput_mean_bps,
            rate_sum_bps, loss, loss_at_hosts, loss_at_sender, offered_share, send_errors, gro_granted,
            gso_granted, thread_busy_send, cores_busy_send, datagrams_sent, loss_bursts, length_bytes,
            link_queue_drops, link_random_drops, link_policer_drops; omit_ns and imported_from, as of trials.

    Method:
        The first rule that holds: hosts dropped most of what was lost, the sinks' and the sources' own
        together ("host drops"; what a source dropped never came to a sink); the path did ("path loss"); the
        rate that was asked for came ("application rate"); the source was refused datagrams, since its
        socket's buffer was full of what its device had not sent ("send window"); its threads or all its cores
        were always busy ("sender CPU"); else "not clear". Where the kernel hands datagrams over several at a
        time it counts one drop for all of them. Then hosts dropped what was lost if their drops can account
        for all of it (`_in_pieces`); else any drop leaves unclear what the path lost. What was lost while it
        did not count, in the omitted time, limits no goodput: loss has no say where goodput without that time
        is the rate that was asked for.
    """
    lossy = (rows.loss >= LOSS_MATTERS).coalesce(False) & ~_lost_while_omitted(rows)
    at_sender = rows.loss_at_sender.coalesce(0.0)
    at_hosts = (rows.loss_at_hosts.coalesce(0.0) + at_sender >= rows.loss * MOST).coalesce(False)
    few_at_hosts = rows.loss_at_hosts + at_sender < rows.loss * (1 - MOST)
    exact = (rows.loss_at_hosts == 0) | ~rows.gro_granted.coalesce(False)
    refused = (rows.send_errors > 0).coalesce(False)
    few_at_sender = (rows.loss_at_sender < rows.loss * (1 - MOST)).coalesce(False)
    not_there = ~refused | (few_at_sender & ~rows.gso_granted.coalesce(False))
    on_path = (few_at_hosts & exact).coalesce(False) & not_there
    reached = (rows.goodput_bps >= rows.rate_sum_bps * RATE_REACHED).coalesce(False)
    # A source without a rate is refused datagrams all the time, which is how it is held back.
    offered = (rows.offered_share >= OFFERED_SHARE_MIN).coalesce(False)
    crowded = (rows.cores_busy_send >= CORES_BUSY).coalesce(False) & rows.offered_share.notnull()
    busy = always_busy(rows.thread_busy_send) | (crowded & ~offered)
    found = ibis.cases(
        (rows.goodput_bps.isnull() | rows.loss.isnull(), ibis.null("string")),
        (lossy & (at_hosts | (_in_pieces(rows) & not_there)), HOST_DROPS),
        (lossy & on_path, PATH_LOSS),
        (lossy, NOT_CLEAR),
        (reached, APPLICATION_RATE),
        (refused & ~offered, SEND_WINDOW),
        (busy, SENDER_CPU),
        else_=NOT_CLEAR,
    )
    return rows.mutate(verdict=(rows.test == "udp").ifelse(found, rows.verdict))


def _lost_while_omitted(rows: ir.Table) -> ir.BooleanValue:
    """Whether what was lost was lost before time counts: `loss` is of all datagrams, goodput is not.

    After that too little is missing of the rate that the source was asked for to matter. Other tools count
    neither of what was omitted.
    """
    came = (rows.goodput_mean_bps > rows.rate_sum_bps * (1 - LOSS_MATTERS)).coalesce(False)
    return (rows.omit_ns > 0).coalesce(False) & rows.imported_from.isnull() & came


def _in_pieces(rows: ir.Table) -> ir.BooleanValue:
    """Whether drops at the sinks' hosts, each of a piece of several datagrams, account for all that was lost.

    A piece is of consecutive numbers, so that hosts that dropped everything counted at least one drop for
    each run of lost numbers, and no more datagrams are missing than such pieces hold. A path that lost more
    than a third as well would have had to lose runs half as long as pieces; links that count saw none of it.
    """
    joined = rows.gro_granted.coalesce(False) | rows.gso_granted.coalesce(False)
    drops = (rows.loss_at_hosts * rows.datagrams_sent).round()
    fitting = quotient(ibis.literal(PIECE_BYTES, "int64"), rows.length_bytes.nullif(0))
    largest = ibis.least(ibis.literal(PIECE_DATAGRAMS, "int64"), fitting)
    each_run = (rows.loss_bursts > 0) & (drops >= rows.loss_bursts)
    enough = drops * largest >= rows.loss * rows.datagrams_sent
    names = ("link_queue_drops", "link_random_drops", "link_policer_drops")
    at_links = sum((rows[name].coalesce(0) for name in names), start=ibis.literal(0, "int64"))
    return (joined & each_run & enough & (at_links == 0)).coalesce(False)
