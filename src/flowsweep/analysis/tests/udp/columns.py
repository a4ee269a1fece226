"""Columns of the summary that datagrams fill, each with its type."""

from typing import TypedDict

from flowsweep.analysis.summarising.columns import COST_COLUMNS


class AskedColumns(TypedDict):
    """Settings of datagrams, as the plan asks for them."""

    spacing_ns: int | None
    gso: bool | None
    gro: bool | None
    rate_sum_bps: float | None


class CountedColumns(TypedDict):
    """What was counted and timed at both ends."""

    datagrams_sent: int | None
    datagrams: int | None
    lost: int | None
    loss: float | None
    duplicates: int | None
    reordered: int | None
    reordering_extent_max: int | None
    late: int | None
    loss_bursts: int | None
    loss_burst_max: int | None
    loss_at_hosts: float | None
    loss_on_path: float | None
    jitter_ms: float | None
    delay_variation_ms: float | None
    delay_min_ms: float | None
    delay_bound_ms: float | None
    flows_broken: int | None
    spacing_send_median_us: float | None
    spacing_send_p99_us: float | None
    spacing_recv_median_us: float | None
    spacing_recv_p99_us: float | None
    pacing_lag_max_ms: float | None
    burst_max: int | None


COUNTED_COLUMNS = tuple(CountedColumns.__annotations__)
"""Their names."""


class DatagramColumns(AskedColumns, CountedColumns):
    """All that is of datagrams, and what could not be had."""

    gso_granted: bool | None
    gro_granted: bool | None
    remarks: str | None


DATAGRAM_COLUMNS = tuple(DatagramColumns.__annotations__)
"""Their names."""
ONE_TRIAL_COLUMNS = (*DATAGRAM_COLUMNS, "stalled_share", *COST_COLUMNS)
"""What `flowsweep udp --format json` has beside the columns of all tests."""


class RateSearchColumns(TypedDict):
    """A step of a search for the highest rate."""

    rate_search_loss_max: float | None
    rate_search_delay_max_ms: float | None
    rate_search_trials: int | None
    rate_carried: bool | None


class SenderColumns(TypedDict):
    """What the sender's own host did to datagrams."""

    send_errors: int | None
    offered_share: float | None
    loss_at_sender: float | None
