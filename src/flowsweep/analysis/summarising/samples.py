"""What a summary takes from samples: tables that are small, however many samples there are."""

from dataclasses import dataclass

import ibis.expr.types as ir

from flowsweep.analysis.background.shares import fairness, shares, traffic_bins
from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.binning.byte_balance import read_totals
from flowsweep.analysis.binning.interval_goodput import (
    Keep,
    as_it_is,
    trial_goodputs,
    trial_intervals,
    with_stalled_share,
)
from flowsweep.analysis.tests.tcp.flow_totals import flow_totals, rtt_medians
from flowsweep.analysis.tests.tcp.recoveries import quiet_runs
from flowsweep.analysis.tests.udp.datagrams import datagram_facts
from flowsweep.archive import Tables


@dataclass(frozen=True, slots=True)
class Sampled:
    """Facts of trials and flows, of one backend."""

    goodputs: ir.Table
    """From `flowsweep.analysis.binning.interval_goodput.with_stalled_share`."""
    read: ir.Table
    """From `flowsweep.analysis.binning.byte_balance.read_totals`."""
    flows: ir.Table
    """From `flowsweep.analysis.tests.tcp.flow_totals.flow_totals`."""
    rtts: ir.Table
    """From `flowsweep.analysis.tests.tcp.flow_totals.rtt_medians`."""
    datagrams: ir.Table
    """From `flowsweep.analysis.tests.udp.datagrams.datagram_facts`."""
    fairness: ir.Table
    """From `flowsweep.analysis.background.shares.fairness`."""


def sampled(tables: Tables, starts: ir.Table | None = None, keep: Keep = as_it_is) -> Sampled:
    """Sum up the samples of each trial.

    Args:
        tables: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.kept_starts`, if they were computed.
        keep: Called with a name and a table that others start from: returns it, or one that was computed.
    """
    samples, trials = tables.samples, tables.trials
    starts = kept_starts(tables) if starts is None else starts
    intervals = keep("intervals", trial_intervals(samples, trials, starts, keep))
    medians = keep("medians", trial_goodputs(intervals, trials))
    goodputs = keep("goodputs", with_stalled_share(medians, intervals))
    read = keep("read", read_totals(starts, intervals))
    # What goes before is needed no more, and may take much memory.
    runs = keep("runs", quiet_runs(samples))
    return Sampled(
        goodputs=goodputs,
        read=read,
        flows=keep("totals", flow_totals(samples, trials, starts, runs)),
        rtts=keep("rtts", rtt_medians(samples, trials, starts)),
        datagrams=keep("datagram_facts", datagram_facts(tables)),
        fairness=keep("fairness", fairness(shares(traffic_bins(tables), trials))),
    )
