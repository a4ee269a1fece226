"""Columns of the summary that are of no one test, each with its type; those of a test lie in its folder.

A column that may be null is one with `| None`.
"""

from typing import TypedDict


class StableColumns(TypedDict):
    """The first columns of every summary, in this order; programs outside rely on them."""

    trial_id: str
    sweep: str
    repeat: int
    started_at: str | None
    src: str
    dst: str
    test: str
    flows: int
    window_bytes: int | None
    window_sum_bytes: int | None
    length_bytes: int | None
    congestion: str | None
    duration_s: float | None
    status: str
    error: str | None
    goodput_bps: float | None
    goodput_p10_bps: float | None
    goodput_p90_bps: float | None
    coverage: float | None
    bytes: int | None
    retransmits: int | None
    rtt_min_ms: float | None
    window_granted_send_bytes: int | None
    window_granted_recv_bytes: int | None
    verdict: str | None
    cpu_send: float | None
    cpu_recv: float | None
    goodput_mean_bps: float | None
    goodput_method: str
    window_usable_bytes: int | None
    mode: str | None


GOODPUTS = ("goodput_bps", "goodput_p10_bps", "goodput_p90_bps", "goodput_mean_bps", "stalled_share")
"""Columns that only a trial with a result has."""
STABLE_COLUMNS = tuple(StableColumns.__annotations__)
"""Their names."""


class SearchColumns(TypedDict):
    """A step of a search in rounds: for the plateau, of windows or flows, or for the best setting."""

    search_precision: float | None
    search_confidence: float | None
    searched_for: str | None


class StoppingColumns(TypedDict):
    """A trial that may end as soon as its mean is known."""

    until_share: float | None
    lasted_s: float | None
    ended_by: str | None
    held_by: str | None
    half_width_share: float | None


class AttemptColumns(TypedDict):
    """How a trial ran, and what was asked for and granted."""

    order_index: int
    attempt: int
    attempts: int
    simultaneous: bool
    window_send_bytes: int | None
    window_recv_bytes: int | None
    window_capped: bool
    window_raised: bool | None
    window_clipped: bool | None
    bins: int
    bins_expected: int
    bytes_sent: int | None
    rejected_connections: int | None
    failure_phase: str | None
    failure_host: str | None
    failure_kind: str | None
    congestion_asked: str | None


class ScopeColumns(TypedDict):
    """What of a trial counts, the hosts that it is of, and how well they kept time."""

    omit_s: float
    interval_s: float | None
    path_emulation: str | None
    flows_per_pair: int
    sources: int
    sinks: int
    clock_bound_ms: float | None


class OriginColumns(TypedDict):
    """Where a trial is from, and how long it took."""

    throttled_us: int | None
    elapsed_s: float | None
    imported_from: str | None


class HostLoadColumns(TypedDict):
    """How busy the hosts were, as shares from 0 to 1, and the packets that they dropped."""

    throttled_send_share: float | None
    throttled_recv_share: float | None
    thread_busy_send: float | None
    thread_busy_recv: float | None
    cpu_send_s_per_gb: float | None
    cpu_recv_s_per_gb: float | None
    cores_busy_send: float | None
    cores_busy_recv: float | None
    softirq_core_recv: float | None
    host_dropped_packets: int | None


COST_COLUMNS = ("cpu_send_s_per_gb", "cpu_recv_s_per_gb")
"""Of sender and receiver."""


class FairnessColumns(TypedDict):
    """How flows, and traffic that ran at the same time, shared the path."""

    share: float | None
    jain_flows: float | None
    jain_groups: float | None
    flows_beside: int | None


FAIRNESS_COLUMNS = tuple(FairnessColumns.__annotations__)
"""Their names."""


class BackgroundColumns(TypedDict):
    """What ran beside a trial."""

    background: list[str]


class StallColumns(TypedDict):
    """How much of its time a trial stood still."""

    stalled_share: float | None
