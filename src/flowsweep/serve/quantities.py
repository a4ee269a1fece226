"""The quantities of a path that are kept over time, and the columns of a summary that they are taken from."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ShownQuantity:
    """Something that is better the higher, or the lower, it is."""

    key: str
    title: str
    unit: str
    """Of what is kept: a base unit, which pages write in engineering units."""
    factor: float
    """From the summary's unit."""
    columns: tuple[str, ...]
    """Of a summary; the first that a trial has a value in counts."""
    band: tuple[tuple[str, ...], tuple[str, ...]]
    """Columns of the lower and of the upper end of its interval, likewise."""
    band_words: str
    more_is_better: bool
    chosen: Callable[[Iterable[float]], float]
    """Which point speaks for all of a sweep: that with the highest value, or the lowest."""
    metric: str
    """What Prometheus calls it."""
    help: str


QUANTITIES = (
    ShownQuantity(
        "goodput",
        "Goodput",
        "bit/s",
        1.0,
        ("goodput_bps",),
        (("goodput_p10_bps",), ("goodput_p90_bps",)),
        "10th to 90th percentile of a trial's intervals",
        more_is_better=True,
        chosen=max,
        metric="flowsweep_goodput_bits_per_second",
        help="Goodput of the last trial that went well.",
    ),
    ShownQuantity(
        "rtt",
        "Round-trip time",
        "s",
        1e-3,
        ("rtt_probe_median_ms", "rtt_median_ms"),
        (("rtt_probe_min_ms", "rtt_min_ms"), ("rtt_probe_p99_ms",)),
        "lowest to 99th percentile of a trial's probes; of TCP from the lowest",
        more_is_better=False,
        chosen=min,
        metric="flowsweep_round_trip_seconds",
        help="Median round-trip time of the last trial that has one.",
    ),
    ShownQuantity(
        "loss",
        "Loss",
        "share",
        1.0,
        ("rtt_probe_loss", "loss", "loss_share"),
        ((), ()),
        "",
        more_is_better=False,
        chosen=max,
        metric="flowsweep_loss_ratio",
        help="Share of packets that were lost in the last trial: datagrams, probes, or retransmitted by TCP.",
    ),
    ShownQuantity(
        "capacity",
        "Capacity",
        "bit/s",
        1.0,
        ("path_capacity_bps",),
        (("path_capacity_low_bps",), ("path_capacity_high_bps",)),
        "interval of the estimate",
        more_is_better=True,
        chosen=max,
        metric="flowsweep_path_capacity_bits_per_second",
        help="Capacity that the last measurement of the path found.",
    ),
)
"""In the order in which they are offered."""
BY_KEY = {quantity.key: quantity for quantity in QUANTITIES}
_KEPT_MAX = 1e38
"""Of a value: what 32 bits hold. A stranger's archive may say more."""
Triple = tuple[float, float, float]
"""A value and the ends of its interval; NaN where there is none."""


def triple(quantity: ShownQuantity, row: Mapping[str, Any]) -> Triple:
    """Take a quantity out of a row of a summary, in its base unit."""
    low, high = quantity.band
    value, low_end, high_end = (_first(row, columns) for columns in (quantity.columns, low, high))
    return value * quantity.factor, low_end * quantity.factor, high_end * quantity.factor


def _first(row: Mapping[str, Any], columns: Sequence[str]) -> float:
    for column in columns:
        value = row.get(column)
        if value is not None:
            return float(value) if abs(value) <= _KEPT_MAX else math.nan
    return math.nan
