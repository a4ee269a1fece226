"""A trial that one window limits, as a row of the summary."""

from typing import Any

from flowsweep.analysis.statistics.observations import DIRECTION

Row = dict[str, Any]
KIB = 1024


def trial(**changes: Any) -> Row:
    """A trial from "slac" to "in2p3", 100 Mbit/s and 175 ms, that its receive window limits."""
    usual: Row = {
        "trial_id": "t", "test": "tcp", "sweep": "s", "repeat": 1, "src": "slac", "dst": "in2p3", "flows": 1,
        "window_sum_bytes": 1024 * KIB, "window_bytes": 1024 * KIB, "window_send_bytes": 1024 * KIB,
        "window_recv_bytes": 1024 * KIB, "rate_bps": None, "pacing_rate_bps": None, "length_bytes": 8192,
        "congestion": "cubic", "congestion_asked": "cubic", "goodput_bps": 63e6, "rtt_min_ms": 175.0,
        "verdict": "receive window", "link_payload_bps": 96.53e6, "theory_window_bps": 64e6,
        "theory_cubic_bps": None, "theory_padhye_bps": None, DIRECTION: "slac → in2p3",
    }  # fmt: skip
    return usual | changes
