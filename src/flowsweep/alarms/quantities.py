"""What of a trial is watched, and on which scale its noise is of the same size everywhere."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from flowsweep.alarms.detector import Watching
from flowsweep.defaults import EQUIVALENCE_MARGIN, LOSS_LIMIT
from flowsweep.plan.alarms.model import Kind

_LEAST = 1.0
"""Of what is measured in bit/s: its logarithm needs some."""
_LEAST_MS = 1e-3


@dataclass(frozen=True, slots=True)
class WatchedQuantity:
    """A column of the summary that is watched."""

    column: str
    name: str
    kind: Kind
    worse: int
    """1 if more is worse, −1 if less is."""
    unit: str
    scaled: Callable[[float], float]
    unscaled: Callable[[float], float]
    change_min: float
    """On the scale; what is less has no practical effect."""
    sigma_min: float

    def watching(self, false_alarms_per_100_days: float) -> Watching:
        """How its series are watched."""
        return Watching(false_alarms_per_100_days, self.change_min, self.sigma_min)


def _arcsine(share: float) -> float:
    """Shares of counts have the same noise everywhere (Anscombe 1948, Biometrika 35)."""
    return math.asin(math.sqrt(min(max(share, 0.0), 1.0)))


def _share(arcsine: float) -> float:
    return math.sin(min(max(arcsine, 0.0), math.pi / 2)) ** 2


def _logarithmic(column: str, name: str, worse: int, unit: str, least: float) -> WatchedQuantity:
    return WatchedQuantity(
        column, name, "shift", worse, unit,
        scaled=lambda value: math.log(max(value, least)),
        unscaled=math.exp,
        change_min=math.log1p(EQUIVALENCE_MARGIN),
        sigma_min=EQUIVALENCE_MARGIN / 30,
    )  # fmt: skip


def _loss(column: str) -> WatchedQuantity:
    return WatchedQuantity(
        column, "loss", "loss", 1, "1",
        scaled=_arcsine,
        unscaled=_share,
        change_min=_arcsine(LOSS_LIMIT) / 2,
        sigma_min=_arcsine(LOSS_LIMIT) / 6,
    )  # fmt: skip


QUANTITIES = (
    _logarithmic("goodput_bps", "goodput", -1, "bit/s", _LEAST),
    _logarithmic("path_capacity_bps", "capacity", -1, "bit/s", _LEAST),
    _logarithmic("rtt_probe_median_ms", "round-trip time", 1, "ms", _LEAST_MS),
    _loss("loss"),
    _loss("rtt_probe_loss"),
    _loss("loss_share"),
)
"""A trial has those whose columns its row fills."""
