"""Columns of the summary that QUIC fills, each with its type."""

from typing import TypedDict

from flowsweep.analysis.summarising.columns import COST_COLUMNS


class QuicColumns(TypedDict):
    """What held the sources back, as shares of the time from 0 to 1, and what their packets cost."""

    congestion_limited_share: float | None
    flow_control_limited_share: float | None
    application_limited_share: float | None
    packets_lost: int | None
    quic_overhead_percent: float | None


QUIC_COLUMNS = tuple(QuicColumns.__annotations__)
"""Their names."""
ONE_TRIAL_COLUMNS = (*QUIC_COLUMNS, "stalled_share", *COST_COLUMNS)
"""What `flowsweep quic --format json` has beside the columns of all tests."""
