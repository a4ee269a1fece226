"""Columns of the summary that a measurement of a path fills, each with its type."""

from typing import TypedDict


class PathColumns(TypedDict):
    """What a measurement of a path says; rates of IP packets."""

    path_hops: int | None  # links up to the other end; null where it never answered
    path_capacity_bps: float | None
    path_capacity_low_bps: float | None
    path_capacity_high_bps: float | None
    path_dispersion_rate_bps: float | None  # of trains: from what is available to the capacity
    path_narrow_hop: int | None  # from 1; null where it is not known
    path_available_low_bps: float | None
    path_available_high_bps: float | None
    path_rtt_min_ms: float | None
    path_window_bytes: int | None  # capacity × minimum round-trip time


PATH_COLUMNS = tuple(PathColumns.__annotations__)
"""Their names."""
ONE_TRIAL_COLUMNS = (*PATH_COLUMNS, "remarks")
"""What `flowsweep path --format json` has beside the columns of all tests."""
COLUMNS_OF_TABLES = {
    "hops": ("trial_id", "ttl", "size_bytes", "rtt_ns", "address", "answer"),
    "trains": ("trial_id", "train", "kind", "sequence", "rate_bps", "size_bytes", "sent_ns", "received_ns"),
}
"""What of an archive's rows they are made of, by table."""
