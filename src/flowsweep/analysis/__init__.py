"""The analysis: table to table, in Ibis only, so that it runs where the data are.

Definitions with formulas: docs/explanation/statistics.md.
"""

from flowsweep.analysis.alignment import flow_starts, kept_starts
from flowsweep.analysis.balance import balance
from flowsweep.analysis.cells import cells
from flowsweep.analysis.core_load import core_loads
from flowsweep.analysis.datagrams import spacing_steps
from flowsweep.analysis.derived import flow_states
from flowsweep.analysis.durations_cut import durations_cut
from flowsweep.analysis.flow_totals import flow_totals
from flowsweep.analysis.grid import points
from flowsweep.analysis.interval_goodputs import interval_goodputs
from flowsweep.analysis.limit import LIMITS, trial_limits
from flowsweep.analysis.resampling import bins, intervals
from flowsweep.analysis.summarised import summarised
from flowsweep.analysis.summarising import FURTHER_COLUMNS, STABLE_COLUMNS, summary
from flowsweep.analysis.trial_series import datagram_series, receiver_series, sender_series

__all__ = [
    "FURTHER_COLUMNS",
    "LIMITS",
    "STABLE_COLUMNS",
    "balance",
    "bins",
    "cells",
    "core_loads",
    "datagram_series",
    "durations_cut",
    "flow_starts",
    "flow_states",
    "flow_totals",
    "interval_goodputs",
    "intervals",
    "kept_starts",
    "points",
    "receiver_series",
    "sender_series",
    "spacing_steps",
    "summarised",
    "summary",
    "trial_limits",
]
