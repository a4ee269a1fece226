"""Imported tests of known truth that ran on several days."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.imports.outcome import Numbering
from synthetic_campaigns import EMPTY, KIB

DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)
POINT = dict.fromkeys(
    (
        "sweep", "src", "dst", "test", "simultaneous", "flows", "window_send_bytes", "window_recv_bytes",
        "length_bytes", "congestion", "duration_ns", "omit_ns", "rate_bps", "dscp", "mss_bytes",
        "pacing_rate_bps",
    )
)  # fmt: skip


def every(seconds: float, count: int, start: datetime = DAY) -> list[datetime]:
    """When so many tests begin, one after the other."""
    return [start + timedelta(seconds=seconds * number) for number in range(count)]


def repeats(tests: Sequence[tuple[int, datetime | None]]) -> list[int]:
    """Number tests, each a window and its start."""
    numbering = Numbering((), [start for _, start in tests])
    return [numbering.next_repeat(POINT | {"window_send_bytes": window}, start) for window, start in tests]


def simpson(seed: int, *, blocked: bool) -> Finding:
    """The larger window is 10 % faster, and was mostly tested on the slow day, which is 30 % slower."""
    rng = np.random.default_rng(seed)
    counts = {0: {64 * KIB: 12, 256 * KIB: 4}, 1: {64 * KIB: 4, 256 * KIB: 12}}
    tests = []
    for day, windows in counts.items():
        order = rng.permutation([window for window, count in windows.items() for _ in range(count)])
        tests += list(zip(order.tolist(), every(20, len(order), DAY + timedelta(days=day)), strict=True))
    numbers = repeats(tests if blocked else [(window, None) for window, _ in tests])
    rows: list[dict[str, Any]] = [
        EMPTY
        | {
            "trial_id": f"{order:012x}", "sweep": "imported", "repeat": repeat, "src": "a", "dst": "b",
            "test": "tcp", "flows": 1, "status": "ok", "simultaneous": False, "order_index": order,
            "window_bytes": window, "window_sum_bytes": window, "started_at": start.isoformat(),
            "goodput_bps": math.exp(
                math.log(90e6) + math.log(1.1) * (window > 64 * KIB) + math.log(0.7) * (start.day > 1)
                + 0.02 * rng.standard_normal()
            ),
        }
        for order, ((window, start), repeat) in enumerate(zip(tests, numbers, strict=True))
    ]  # fmt: skip
    [found] = [
        one
        for one in findings(rows)
        if one.kind in ("effect", "plateau") and one.effect_unit == "%" and one.axis == "window_sum_bytes"
    ]
    return found
