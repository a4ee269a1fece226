"""Rules of verdicts that several tests have, each a condition and the verdict where it holds."""

import ibis.expr.types as ir

from flowsweep.analysis.verdicts import (
    APPLICATION_RATE,
    BUSY,
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
