"""The capacity of a path, by packet pairs: how far apart neighbours in trains are, with nothing between."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from flowsweep.analysis.tests.path.dispersion import Dispersion, RateEstimate
from flowsweep.analysis.tests.path.trains import Train
from flowsweep.defaults import CONFIDENCE, SECOND_NS

_STEPS = (1, 2, 4, 8)
"""How many packets apart those of a pair are: more where times of arrival are too coarse."""
_FASTEST, _SLOWEST = 0.5, 1.02
"""Where a mode is looked for, as a share of the time that trains take for a byte: a queue that other traffic
does not fill leaves a train more than half of the link."""
_SENT_FASTER = 1.1
"""Than at the fastest of these rates pairs must have left: others show the source."""
_HALF_WIDTH = 0.05
"""Of a mode, as a share of its place."""
_SHARE = 0.1
"""So many of all pairs must be in a mode."""
_STANDS_OUT = 1.25
"""So many times as many as in the place beside it, where pairs are faster."""
_PAIRS_NEEDED = 30
_WIDTH_MOST = 0.025
"""Standard deviation of what is in a mode, at most, as a share of its place; of even spread it is 0.029."""
_WIDTH_SHARP = 0.01
"""The same of a mode that says more than trains that hardly scatter: packets that come evenly add the same to
each train."""
_ERROR_LEAST, _ERROR_MOST, _ERRORS = 0.03, 0.1, 1.5
"""How far a mode is off, at least; how far stamps of arrival may move one that least delayed packets confirm,
at most, and in standard errors."""
_APART_NS = 40e3
"""Packets of a pair must be so far apart: whoever stamps arrivals is no faster."""
_UNDELAYED_NS = 100e3
"""The same of the least delayed packets, two of which a waking source may have held up."""
_UNDELAYED_APART = 0.07
"""How far a mode may be from what the least delayed packets say."""
_UNDELAYED_SPREAD = 1.25
"""How far apart the ends of the middle 80 % of what they say may be, when trains are drawn again."""
_UNDELAYED_STEPS = (1, 2, 3)
_TRAINS_NEEDED = 3
_BETWEEN = 4.0
"""What other packets may add to a train, over the square of how trains scatter: two since they may be half as
large, twice that since a scatter is not known well."""
_QUIET, _ALONE = 0.02, 0.05
"""What other packets may add, at most, where trains stand for pairs that agree with them, or that say
nothing."""
_RESAMPLED = 400
_TRAINS_FOR_ENDS = 6
_Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Mode:
    bps: float
    low_bps: float | None
    """Ends of the interval, by trains drawn again."""
    high_bps: float | None
    width: float
    """Standard deviation of what is in it, as a share of its place."""
    error: float
    """How far it may be off, as a share: by that, or by what stamps of arrival do."""


def pair_capacity(
    trains: Sequence[Train], shown: Sequence[Dispersion], whole: RateEstimate | None
) -> RateEstimate | None:
    """Estimate what the narrowest link of a path carries, whatever else crosses it.

    Two packets that are in its queue together leave it at its rate if nothing came between them; other
    packets put them further apart, and a queue behind it may push them together. So distances have several
    modes (Dovrolis, Ramanathan and Moore, "What do packet dispersion techniques measure?", INFOCOM 2001). The
    mode of the capacity is the fastest that the least delayed packets confirm: nothing can make them come
    earlier (Kapoor et al., "CapProbe", SIGCOMM 2004). Trains that scatter so little that hardly anything can
    have come between their packets tell it better than pairs.

    Args:
        trains: Of one trial.
        shown: How they arrived.
        whole: Their dispersion rate, if they agree.

    Returns:
        None where no mode stands out, and trains scatter.
    """
    spread = [one for one in shown if one.is_spread]
    if len(spread) < max(_TRAINS_NEEDED, len(shown) / 2):
        # Most left no faster than they arrived: only trains of one rate can show a device of the source.
        return whole if whole is not None and _added(trains, shown) <= _ALONE else None
    by_number = {train.number: train for train in trains}
    kept = [by_number[one.number] for one in spread]
    least = _undelayed_bps(kept, spread)
    mode = None if least is None else _fastest(kept, spread, least)
    added = _added(kept, spread)
    if whole is not None and added <= (_ALONE if mode is None else _QUIET) and _agree(mode, whole):
        return _by_trains(whole, max(added, _hidden(kept, spread, mode)), mode)
    if mode is None or least is None:
        return None
    if mode.low_bps is None or mode.high_bps is None:
        return RateEstimate(mode.bps, None, None, len(spread))
    ends = [mode.low_bps, mode.high_bps, mode.bps * (1 - mode.error), mode.bps * (1 + mode.error), least]
    return RateEstimate(mode.bps, min(ends), max(ends), len(spread))


def _added(trains: Sequence[Train], shown: Sequence[Dispersion]) -> float:
    """What other packets may have added to trains, as a share of their time: it comes by chance."""
    rates = [one.rate_bps for one in shown]
    scatter = float(scipy.stats.iqr(rates, scale="normal") / np.median(rates))
    packets = np.mean([len(train.sequence) for train in trains]) - np.mean([one.first for one in shown])
    return _BETWEEN * float(packets) * scatter**2


def _hidden(trains: Sequence[Train], shown: Sequence[Dispersion], mode: _Mode | None) -> float:
    """What packets that come evenly may add to each train, as a share of its time, and pairs do not show."""
    if mode is not None:
        return mode.width if mode.width > _WIDTH_SHARP else 0.0
    rate_bps = float(np.median([one.rate_bps for one in shown]))
    return max(_ERROR_LEAST, _ERRORS * _stamps_error(trains, shown, rate_bps))


def _agree(mode: _Mode | None, whole: RateEstimate) -> bool:
    """Whether pairs do not contradict trains."""
    if mode is None:
        return True
    return abs(mode.bps / whole.bps - 1) <= (
        _QUIET if mode.width <= _WIDTH_SHARP else max(_QUIET, mode.error)
    )


def _by_trains(whole: RateEstimate, added: float, mode: _Mode | None) -> RateEstimate:
    """The rate of trains, with the mode of pairs, as far as that is known, in its interval."""
    low_bps, high_bps = whole.low_bps, whole.high_bps
    if low_bps is None or high_bps is None:
        return whole
    high_bps *= 1 + added
    if mode is not None and mode.low_bps is not None and mode.high_bps is not None:
        reach_bps = mode.high_bps if mode.width > _WIDTH_SHARP else mode.low_bps
        low_bps, high_bps = min(low_bps, mode.high_bps), max(high_bps, reach_bps)
    return RateEstimate(whole.bps, low_bps, high_bps, whole.trains)


def _fastest(trains: Sequence[Train], shown: Sequence[Dispersion], least_bps: float) -> _Mode | None:
    """The fastest mode that the least delayed packets confirm, of pairs as close as stamps allow."""
    each_ns = float(trains[0].size_bytes[0]) * 8e9 / least_bps
    for step in _STEPS:
        found = _mode(trains, shown, step, least_bps) if step * each_ns >= _APART_NS else None
        if found is not None:
            return found
    return None


def _mode(trains: Sequence[Train], shown: Sequence[Dispersion], step: int, least_bps: float) -> _Mode | None:
    rate_bps = float(np.median([one.rate_bps for one in shown]))
    of_trains = [
        _distances(train, one.first, rate_bps, step) for train, one in zip(trains, shown, strict=True)
    ]
    distances = np.sort(np.concatenate(of_trains))
    if len(distances) < _PAIRS_NEEDED:
        return None
    places = np.geomspace(_FASTEST * (1 - _HALF_WIDTH), _SLOWEST, 200)
    inside = (
        np.searchsorted(distances, places * (1 + _HALF_WIDTH), "right")
        - np.searchsorted(distances, places * (1 - _HALF_WIDTH))
    ) / len(distances)
    reach = round(2 * _HALF_WIDTH / float(np.log(places[1] / places[0])))
    for at in range(reach, len(places)):
        highest = inside[at] == inside[at - reach : at + reach + 1].max()
        if highest and inside[at] >= max(_SHARE, _STANDS_OUT * inside[at - reach]):
            place = _middle(distances, float(places[at]))
            if abs(rate_bps / place / least_bps - 1) > _UNDELAYED_APART:
                continue
            mode = _with_ends(of_trains, place, rate_bps, _stamps_error(trains, shown, rate_bps) / step)
            if mode.width <= _WIDTH_MOST:
                return mode
    return None


def _distances(train: Train, first: int, rate_bps: float, step: int) -> _Times:
    """How long after another each packet came, over what trains take for as many bytes."""
    took_ns, sent_ns = (times[step:] - times[:-step] for times in (train.received_ns, train.sent_ns))
    arrived = np.cumsum(train.size_bytes)
    expected_ns = (arrived[step:] - arrived[:-step]) * 8e9 / rate_bps
    whole = train.sequence[step:] - train.sequence[:-step] == step
    back_to_back = sent_ns <= _FASTEST / _SENT_FASTER * expected_ns
    return np.asarray((took_ns / expected_ns)[first:][(whole & back_to_back)[first:]])


def _middle(distances: _Times, place: float) -> float:
    for _ in range(5):
        place = float(np.mean(distances[np.abs(distances - place) <= _HALF_WIDTH * place]))
    return place


def _with_ends(of_trains: Sequence[_Times], place: float, rate_bps: float, stamps: float) -> _Mode:
    own = [part[np.abs(part - place) <= _HALF_WIDTH * place] for part in of_trains]
    width = float(np.std(np.concatenate(own))) / place
    error = max(_ERROR_LEAST, width, min(_ERROR_MOST, _ERRORS * stamps / place))
    if len(own) < _TRAINS_FOR_ENDS:
        return _Mode(rate_bps / place, None, None, width, error)
    sums, counts = np.array([part.sum() for part in own]), np.array([len(part) for part in own])
    drawn = np.random.default_rng(0).integers(0, len(own), (_RESAMPLED, len(own)))
    total = counts[drawn].sum(axis=1)
    places = sums[drawn].sum(axis=1)[total > 0] / total[total > 0]
    early, late = np.quantile(places, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return _Mode(rate_bps / place, rate_bps / float(late), rate_bps / float(early), width, error)


def _stamps_error(trains: Sequence[Train], shown: Sequence[Dispersion], rate_bps: float) -> float:
    """Standard error of a distance, as a share of what trains take for a packet.

    A stamp that is late makes one distance longer and the next one shorter; other packets do not.
    """
    products = [
        (part[1:] - part.mean()) * (part[:-1] - part.mean())
        for train, one in zip(trains, shown, strict=True)
        if len(part := _distances(train, one.first, rate_bps, 1)) > 1
    ]
    return float(np.sqrt(max(0.0, -2 * np.mean(np.concatenate(products))))) if products else 0.0


def _undelayed_bps(trains: Sequence[Train], shown: Sequence[Dispersion]) -> float | None:
    """The rate at which the least delayed packets came.

    Of all trains the first packet that came soonest after it was sent, and of those some packets later the
    one that came soonest after the first of its train was sent. Whatever comes between makes that slower, so
    that the fastest of several distances counts.

    Returns:
        None where that depends on which trains there are.
    """
    rate_bps = float(np.median([one.rate_bps for one in shown]))
    each_ns = float(trains[0].size_bytes[0]) * 8e9 / rate_bps
    step = max(1, int(np.ceil(_UNDELAYED_NS / each_ns)))
    first = int(np.median([one.first for one in shown]))
    places = [first + step * many for many in (0, *_UNDELAYED_STEPS)]
    came = np.array(
        [
            train.received_ns[places] - train.sent_ns[0]
            for train in trains
            if len(train.sequence) > places[-1] and train.sequence[places[-1]] == places[-1]
        ]
    )
    if len(came) < _TRAINS_NEEDED:
        return None
    bits = float(trains[0].size_bytes[0]) * 8 * step * np.array(_UNDELAYED_STEPS)
    drawn = np.random.default_rng(0).integers(0, len(came), (_RESAMPLED, len(came)))
    low, high = np.quantile([_soonest_bps(came[own], bits) for own in drawn], [0.1, 0.9])
    return _soonest_bps(came, bits) if 0 < high <= _UNDELAYED_SPREAD * low else None


def _soonest_bps(came: _Times, bits: _Times) -> float:
    apart_ns = came[:, 1:].min(axis=0) - came[:, 0].min()
    return float(np.max(bits * SECOND_NS / np.maximum(apart_ns, 1.0)))
