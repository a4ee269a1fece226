"""Trials of a path whose queue is full, and what their hosts allow."""

from typing import Any

from flowsweep.analysis.statistics.observations import DIRECTION, Observations

Row = dict[str, Any]
QUEUE, LOSS = "congestion window: queue", "congestion window: loss"
FAR: Row = {"test": "tcp", "verdict": "receive window", "window_send_bytes": None, "window_recv_bytes": None}


def trial(name: object, **changes: Any) -> Row:
    """A trial of 20 Mbit/s and 20 ms whose queue of 1 MB is full most of the time."""
    usual: Row = {
        "trial_id": str(name), "repeat": 1, "src": "a", "dst": "b", DIRECTION: "a → b", "flows": 1,
        "verdict": QUEUE, "goodput_bps": 19.3e6, "rtt_min_ms": 20.2, "rtt_median_ms": 305.0,
        "rtt_at_loss_ms": 420.0, "recoveries": 3, "link_payload_bps": 19.3e6, "window_send_bytes": None,
        "window_recv_bytes": None,
    }  # fmt: skip
    return usual | changes


def observed(*rows: Row) -> Observations:
    return Observations("s", "copy", rows, ())


def hosts(**limits: int) -> dict[str, dict[str, Any]]:
    """What two hosts allow autotuning."""
    settings = {f"net.ipv4.tcp_{name}": f"4096\t131072\t{value}" for name, value in limits.items()}
    return {name: {"sysctls": settings} for name in "ab"}
