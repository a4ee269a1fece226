"""The analysis: table to table, in Ibis only, so that it runs where the data are.

Definitions with formulas: docs/explanation/statistics.md.
"""

from typing import TYPE_CHECKING

from flowsweep.on_demand import names_of

if TYPE_CHECKING:
    from flowsweep.analysis.binning.interval_goodput import interval_goodputs
    from flowsweep.analysis.binning.resampling import bins, intervals
    from flowsweep.analysis.binning.time_series import (
        datagram_series,
        receiver_series,
        sender_series,
        shown_steps,
    )
    from flowsweep.analysis.grid_tables import cells, points
    from flowsweep.analysis.hosts import core_loads
    from flowsweep.analysis.summarising.bounded_memory import summarised
    from flowsweep.analysis.summarising.columns import STABLE_COLUMNS
    from flowsweep.analysis.summarising.summary import summary
    from flowsweep.analysis.summarising.trial_row import FURTHER_COLUMNS
    from flowsweep.analysis.tests.tcp.flow_states import flow_states, shown_states
    from flowsweep.analysis.tests.udp.datagrams import spacing_steps
else:
    __getattr__ = names_of(
        __name__,
        {
            "binning.interval_goodput": ("interval_goodputs",),
            "binning.resampling": ("bins", "intervals"),
            "binning.time_series": (
                "datagram_series",
                "receiver_series",
                "sender_series",
                "shown_steps",
            ),
            "grid_tables": ("cells", "points"),
            "hosts": ("core_loads",),
            "summarising.bounded_memory": ("summarised",),
            "summarising.columns": ("STABLE_COLUMNS",),
            "summarising.summary": ("summary",),
            "summarising.trial_row": ("FURTHER_COLUMNS",),
            "tests.tcp.flow_states": ("flow_states", "shown_states"),
            "tests.udp.datagrams": ("spacing_steps",),
        },
    )

__all__ = [
    "FURTHER_COLUMNS",
    "STABLE_COLUMNS",
    "bins",
    "cells",
    "core_loads",
    "datagram_series",
    "flow_states",
    "interval_goodputs",
    "intervals",
    "points",
    "receiver_series",
    "sender_series",
    "shown_states",
    "shown_steps",
    "spacing_steps",
    "summarised",
    "summary",
]
