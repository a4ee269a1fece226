"""Columns of the summary that Multipath TCP fills, each with its type."""

from typing import TypedDict

from flowsweep.analysis.summarising.columns import COST_COLUMNS


class SubflowColumns(TypedDict):
    """What the subflows of a trial's connections did, as the source's kernel counted."""

    subflows_used: int | None
    busiest_path_share: float | None
    reinjected_bytes: int | None


SUBFLOW_COLUMNS = tuple(SubflowColumns.__annotations__)
"""Their names."""
ONE_TRIAL_COLUMNS = (*SUBFLOW_COLUMNS, "stalled_share", *COST_COLUMNS)
"""What `flowsweep mptcp --format json` has beside the columns of all tests."""
