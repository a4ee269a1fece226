"""What of a path is free, by whether delays grow while a stream of some rate is under way."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flowsweep.analysis.tests.path.trains import Train
from flowsweep.defaults import SECOND_NS, STREAM_PACKETS_TELL
from flowsweep.grouping import grouped

_LOST_TOO_MANY = 0.1
"""A stream that loses more than this was too fast, whatever its delays."""
_COMPARED = (0.54, 0.66)
_DIFFERENCE = (0.45, 0.55)
"""Below the first there is no trend, above the second there is one; between them the test does not say."""
_CLOCKS_APART = 1e-3
"""Delays that grow by less than this share of the time show two clocks, of which one is faster."""
_AGREED = 0.7
"""So many of the streams of a rate that say anything must say the same."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What one stream says."""

    number: int
    """Among the trains and streams of its trial."""
    asked_bps: int | None
    rate_bps: float
    """At which it was really sent, of IP packets."""
    lasted_s: float
    compared: float
    """PCT: of successive medians of delays, how many are higher than the one before, 0 to 1."""
    difference: float
    """PDT: last less first median, as a share of all steps, -1 to 1."""
    grows: bool | None
    """Whether delays grow; None: it does not say."""


@dataclass(frozen=True, slots=True)
class Available:
    """What of a path's capacity is free, in bit/s of IP packets: between these."""

    low_bps: float
    high_bps: float | None
    """None where neither the capacity is known nor a rate at which delays grow."""


def available(
    trial_streams: Sequence[Stream], capacity_bps: float | None, bucket_bytes: float = 0.0
) -> Available | None:
    """Bracket the available bandwidth: streams below it pass, in those above it packets queue up.

    Jain and Dovrolis, "End-to-end available bandwidth: measurement methodology, dynamics, and relation with
    TCP throughput", SIGCOMM 2002 (pathload): pairwise comparison and pairwise difference test of the medians
    of √n groups of one-way delays, with the thresholds of the authors' tool. The two clocks need not agree.
    Behind a token bucket delays do not grow before it is empty: a stream that passed may have been faster
    than what is free by the bucket over its length.

    Args:
        trial_streams: What the streams of one trial say.
        capacity_bps: Of the path, which bounds what can be free.
        bucket_bytes: What the path lets pass at once.

    Returns:
        None without streams that say anything.
    """
    fleets = grouped(trial_streams, lambda stream: stream.asked_bps)
    judged = sorted(
        (float(np.median([stream.rate_bps for stream in fleet])), grows)
        for fleet in fleets.values()
        if (grows := _grow(fleet)) is not None
    )
    if not judged:
        return None
    passed_bps = 0.0
    for rate_bps, grows in judged:
        if grows != "no":
            break
        passed_bps = rate_bps
    above = [rate_bps for rate_bps, grows in judged if grows == "yes" and rate_bps > passed_bps]
    high_bps = min([*above, *([] if capacity_bps is None else [capacity_bps])], default=None)
    longest_s = max(
        (stream.lasted_s for stream in trial_streams if stream.rate_bps >= passed_bps > 0), default=math.inf
    )
    low_bps = max(0.0, passed_bps - 8 * bucket_bytes / longest_s)
    return Available(low_bps if high_bps is None else min(low_bps, high_bps), high_bps)


def streams(trains: Sequence[Train]) -> list[Stream]:
    """Judge each stream of a trial that has packets enough."""
    whole = max((int(train.sequence[-1]) + 1 for train in trains if train.kind == "stream"), default=0)
    return [
        stream for train in trains if train.kind == "stream" if (stream := _stream(train, whole)) is not None
    ]


def _stream(train: Train, whole: int) -> Stream | None:
    count = len(train.sequence)
    if count < 2 or train.sent_ns[-1] <= train.sent_ns[0]:
        return None
    steps = int(train.sequence[-1] - train.sequence[0])
    lasted_ns = float(train.sent_ns[-1] - train.sent_ns[0])
    rate_bps = float(np.mean(train.size_bytes)) * 8 * steps * SECOND_NS / lasted_ns
    if count < (1 - _LOST_TOO_MANY) * whole:
        return Stream(train.number, train.asked_bps, rate_bps, lasted_ns / SECOND_NS, 1.0, 1.0, grows=True)
    if count < STREAM_PACKETS_TELL:
        return None
    medians = _medians(train.received_ns - train.sent_ns)
    changes = np.diff(medians)
    compared = float(np.mean(changes > 0))
    travelled = float(np.sum(np.abs(changes)))
    difference = float(medians[-1] - medians[0]) / travelled if travelled else 0.0
    grows = _says(compared, difference)
    if grows and medians[-1] - medians[0] < _CLOCKS_APART * lasted_ns:
        grows = False
    return Stream(
        train.number, train.asked_bps, rate_bps, lasted_ns / SECOND_NS, compared, difference, grows=grows
    )


def _medians(delays_ns: NDArray[np.float64]) -> NDArray[np.float64]:
    groups = np.array_split(delays_ns, int(len(delays_ns) ** 0.5))
    return np.array([np.median(group) for group in groups])


def _says(compared: float, difference: float) -> bool | None:
    """Both tests must agree, or one of them abstain."""
    votes = {_vote(compared, _COMPARED), _vote(difference, _DIFFERENCE)} - {None}
    return votes.pop() if len(votes) == 1 else None


def _vote(value: float, limits: tuple[float, float]) -> bool | None:
    low, high = limits
    return True if value > high else False if value < low else None


def _grow(fleet: Sequence[Stream]) -> str | None:
    said = [stream.grows for stream in fleet if stream.grows is not None]
    if not said:
        return None
    share = float(np.mean(said))
    return "yes" if share >= _AGREED else "no" if share <= 1 - _AGREED else "unclear"
