"""Columns of the summary that a measurement of a path fills."""

import pyarrow as pa

FACTS_SCHEMA = pa.schema(
    [
        pa.field("trial_id", pa.string(), nullable=False),
        pa.field("path_hops", pa.int64()),  # links up to the other end; null where it never answered
        pa.field("path_capacity_bps", pa.float64()),
        pa.field("path_capacity_low_bps", pa.float64()),
        pa.field("path_capacity_high_bps", pa.float64()),
        pa.field(
            "path_dispersion_rate_bps", pa.float64()
        ),  # of trains: from what is available to the capacity
        pa.field("path_narrow_hop", pa.int64()),  # from 1; null where it cannot be told
        pa.field("path_available_low_bps", pa.float64()),
        pa.field("path_available_high_bps", pa.float64()),
        pa.field("path_rtt_min_ms", pa.float64()),
        pa.field("path_window_bytes", pa.int64()),  # capacity × least round-trip time
    ]
)
PATH_COLUMNS = tuple(FACTS_SCHEMA.names[1:])
"""Columns of the summary that a measurement of a path fills."""
