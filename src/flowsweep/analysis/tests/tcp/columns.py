"""Columns of the summary that TCP fills, each with its type."""

from typing import TypedDict

from flowsweep.analysis.summarising.columns import COST_COLUMNS

LIMITS = {"cwnd": "congestion window", "rwnd": "receive window", "send_buffer": "send buffer", "none": "none"}
"""What data in flight may fill, as columns name it (limit_cwnd_share), and its words everywhere."""


class FlowStateColumns(TypedDict):
    """What limited the senders, as shares of the time from 0 to 1, and what they saw of the path."""

    limit_cwnd_share: float | None
    limit_rwnd_share: float | None
    limit_send_buffer_share: float | None
    limit_none_share: float | None
    sender_idle_share: float | None
    retransmitted_bytes: int | None
    recoveries: int | None
    rtt_median_ms: float | None


class KernelColumns(TypedDict):
    """What the senders' kernels say themselves, and how open the receivers' windows were."""

    kernel_rwnd_share: float | None
    kernel_send_buffer_share: float | None
    rtt_at_loss_ms: float | None
    rtt_variation_ms: float | None
    rwnd_open_share: float | None
    windows_scaled: bool | None


class PredictionColumns(TypedDict):
    """What theory says."""

    path_rate_bps: int | None
    link_payload_bps: float | None
    theory_window_bps: float | None
    theory_mathis_bps: float | None
    theory_padhye_bps: float | None
    theory_cubic_bps: float | None
    loss_share: float | None
    loss_event_share: float | None
    tcp_efficiency_percent: float | None
    buffer_delay_percent: float | None
    transfer_time_ratio: float | None


class LinkColumns(TypedDict):
    """What emulated links counted of the data."""

    link_queue_drops: int | None
    link_random_drops: int | None
    link_policer_drops: int | None
    link_queued_share: float | None


ONE_TRIAL_COLUMNS = ("stalled_share", *COST_COLUMNS)
"""What `flowsweep tcp --format json` has beside the columns of all tests."""
