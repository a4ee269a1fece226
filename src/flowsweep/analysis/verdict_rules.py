"""Rules of verdicts that several tests have, each a condition and the verdict where it holds."""

import ibis.expr.types as ir

from flowsweep.analysis.verdicts import (
    APPLICATION_RATE,
    BUSY,
    MOST,
    NOT_CLEAR,
    RATE_REACHED,
    RECEIVER_CPU,
    SENDER_CPU,
    Verdict,
)


def first_rules(rows: ir.Table) -> tuple[tuple[ir.BooleanValue, Verdict], ...]:
    """Rules that come before all that a connection shows of itself.

    Args:
        rows: One row per trial, with goodput_bps, flows, rate_bps, thread_busy_send and thread_busy_recv.

    Returns:
        The first that holds counts: the rate that was asked for came; an end's threads were always busy, or
        both ends', which is not clear.
    """
    sending, receiving = always_busy(rows.thread_busy_send), always_busy(rows.thread_busy_recv)
    return (
        (rate_reached(rows, rows.rate_bps), APPLICATION_RATE),
        (sending & receiving, NOT_CLEAR),
        (sending, SENDER_CPU),
        (receiving, RECEIVER_CPU),
    )


def rate_reached(rows: ir.Table, flow_bps: ir.NumericValue) -> ir.BooleanValue:
    """Whether goodput came to what each flow was let send; not where no rate was asked for."""
    asked_bps = flow_bps.cast("float64") * rows.flows
    return (rows.goodput_bps >= asked_bps * RATE_REACHED).coalesce(False)


def always_busy(share: ir.FloatingValue) -> ir.BooleanValue:
    """Whether a thread ran all of the time; not where nobody knows."""
    return (share >= BUSY).coalesce(False)


def most_drops(rows: ir.Table, drops: ir.IntegerValue) -> ir.BooleanValue:
    """Whether links dropped, and most of all that they dropped for this reason; beside others, all of it.

    Args:
        rows: One row per trial, with link_queue_drops, link_random_drops, link_policer_drops and link_shared.
        drops: Those for this reason.
    """
    total = rows.link_queue_drops + rows.link_random_drops + rows.link_policer_drops.coalesce(0)
    least = rows.link_shared.coalesce(False).ifelse(1.0, MOST)
    return (drops > 0).coalesce(False) & (drops >= total * least).coalesce(False)
