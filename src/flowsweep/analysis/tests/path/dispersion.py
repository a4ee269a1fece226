"""The dispersion rate of a path: how fast trains of packets arrive, other traffic between them or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from flowsweep.analysis.tests.path.trains import Train
from flowsweep.defaults import CONFIDENCE, SECOND_NS

_PACKETS_NEEDED = 8
_BREAKS = 24
"""At how many places of a train it is asked whether it slows down there."""
_SLOWER = 1.25
"""How much slower the later part must be to be a token bucket that ran empty."""
_BETTER = 0.25
"""Of the squares that one line leaves, two must leave no more than this."""
_FASTER = 1.1
"""How much faster than they arrive packets must be sent, to show the path and not the source."""
_TRAINS_NEEDED = 3
_APART = 0.25
"""Interquartile range of trains, as a share of their median, beyond which they have no common rate."""
_ALIKE = 0.05
"""The same of trains that may show the source."""


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """The capacity of a path or its dispersion rate, in bit/s of IP packets."""

    bps: float
    low_bps: float | None
    """Ends of the 95 % interval; none with fewer than six trains."""
    high_bps: float | None
    trains: int


@dataclass(frozen=True, slots=True)
class Dispersion:
    """How one train arrived."""

    number: int
    """Of the train in its trial."""
    rate_bps: float
    source_bps: float
    """At which the same packets were sent."""
    first: int
    """Packet that the rate counts from: those before passed a token bucket at once."""
    bucket_bytes: float
    """What they were more than came at that rate meanwhile; 0 where none passed at once."""

    @property
    def is_spread(self) -> bool:
        """Whether the path pulled it apart: else the source, or a device of its own, was as slow."""
        return self.source_bps > _FASTER * self.rate_bps


def dispersions(trains: Sequence[Train]) -> list[Dispersion]:
    """Look at each train of a trial; streams among them do not count, nor trains that say nothing."""
    return [found for train in trains if train.kind == "train" if (found := dispersion(train))]


def dispersion_rate(trains: Sequence[Dispersion]) -> RateEstimate | None:
    """Estimate how fast trains leave a path: the median over them.

    Packets that are sent back to back leave the narrowest link one after the other, at its rate, and what
    other packets come between them pull them further apart: the asymptotic dispersion rate lies between the
    available bandwidth and the capacity, and is neither (Dovrolis, Ramanathan and Moore, "What do packet
    dispersion techniques measure?", INFOCOM 2001). On an idle path it is the capacity. The interval is that
    of a median, by order statistics (scipy's `quantile_test`).

    Trains that the source sent no faster than they arrived are left out. Where most are like that, all must
    agree: then a device of the source is the narrowest link, and not its busy processor.

    Args:
        trains: Of one trial.

    Returns:
        None without trains, or where they are too far apart to tell.
    """
    spread = [train.rate_bps for train in trains if train.is_spread]
    enough = len(spread) >= max(_TRAINS_NEEDED, len(trains) / 2)
    rates = spread if enough else [train.rate_bps for train in trains]
    apart = _APART if enough else _ALIKE
    if not rates or scipy.stats.iqr(rates) > apart * np.median(rates):
        return None
    interval = scipy.stats.quantile_test(rates, q=float(np.median(rates)), p=0.5).confidence_interval(
        CONFIDENCE
    )
    low, high = (float(end) if np.isfinite(end) else None for end in interval)
    return RateEstimate(float(np.median(rates)), low, high, len(rates))


def bucket_bytes_of(trains: Sequence[Dispersion]) -> float:
    """What a token bucket on the path lets pass at once: the median over trains; 0 where most show none."""
    return float(np.median([train.bucket_bytes for train in trains])) if trains else 0.0


def dispersion(train: Train) -> Dispersion | None:
    """Find the rate at which a train arrived, by least squares; of one that slows down, of its later part.

    Lost packets are not missed: a queue that drops them is one that is never empty.

    Returns:
        None where too few packets arrived, or all of them at once.
    """
    if len(np.unique(train.received_ns)) < _PACKETS_NEEDED:
        return None
    by_arrival = np.argsort(train.received_ns, kind="stable")
    arrived = np.cumsum(train.size_bytes[by_arrival])
    times = train.received_ns[by_arrival]
    first = _slows_down_at(arrived, times)
    slope_ns = _line(arrived[first:], times[first:]).slope
    if slope_ns <= 0:
        return None
    at_once = float(arrived[first] - arrived[0] - (times[first] - times[0]) / slope_ns)
    sent = train.sent_ns[by_arrival][first:]
    took_ns = max(float(sent[-1] - sent[0]), 1.0)
    source_bps = 8 * SECOND_NS * float(arrived[-1] - arrived[first]) / took_ns
    return Dispersion(train.number, 8 * SECOND_NS / slope_ns, source_bps, first, max(0.0, at_once))


def _slows_down_at(arrived: NDArray[np.float64], times: NDArray[np.float64]) -> int:
    """Where the line of arrivals has a kink that a token bucket would make; 0 if it has none."""
    whole = _line(arrived, times)
    least = _PACKETS_NEEDED
    places = np.unique(np.linspace(least, len(times) - least, _BREAKS, dtype=np.int64))
    best, at = whole.squares * _BETTER, 0
    for place in places if len(times) >= 2 * least else ():
        early, late = (_line(arrived[part], times[part]) for part in (slice(None, place), slice(place, None)))
        left = early.squares + late.squares
        if left < best and late.slope > _SLOWER * early.slope:
            best, at = left, int(place)
    return at


class _Line(NamedTuple):
    slope: float
    squares: float
    """Of what is left: the sum."""


def _line(arrived: NDArray[np.float64], times: NDArray[np.float64]) -> _Line:
    """Fit by least squares, as scipy's `linregress` does, which takes longest to test each line."""
    squares, products, *_ = np.cov(arrived, times, bias=True).flat
    slope = products / squares
    intercept = np.mean(times) - slope * np.mean(arrived)
    return _Line(float(slope), float(np.sum((times - intercept - slope * arrived) ** 2)))
