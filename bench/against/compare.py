"""Our modes against the best of their peers. Pure."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median, stdev

from scipy.stats import t as student_t

from against.contender import KINDS, Kind, is_peer_of
from against.model import Comparison, Measured, Metric, Run

CONFIDENCE = 0.95
TARGETS: Mapping[Kind, Mapping[Metric, float]] = {
    "copy": {"goodput": 1.05, "cpu": 0.95},
    "zerocopy": {"goodput": 1.4, "cpu": 0.7},
    "discard": {"goodput": 1.8, "cpu": 0.5},
}
PAIRS_MINIMUM = 2
BEHIND = 0.75
"""Of its best like in the scan: who reaches less, by both metrics, is left out of the rounds."""


def comparisons(measured: Sequence[Measured]) -> tuple[Comparison, ...]:
    """Every mode of ours that ran, by both metrics, against the peer with the best median."""
    return tuple(
        comparison
        for ours in measured
        if ours.ours and ours.runs
        for metric in ("goodput", "cpu")
        if (comparison := _comparison(ours, metric, _peers(ours.kind, measured))) is not None
    )


def geometric_ratio(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The first of each pair by the second: geometric mean, and its 95 % interval (t, of the logarithms).

    Needs two pairs.
    """
    logarithms = [math.log(first / second) for first, second in pairs]
    center = fmean(logarithms)
    quantile = float(student_t.ppf((1 + CONFIDENCE) / 2, len(logarithms) - 1))
    reach = quantile * stdev(logarithms) / math.sqrt(len(logarithms))
    return math.exp(center), math.exp(center - reach), math.exp(center + reach)


def worth_rounds(peer: Measured, others: Sequence[Measured]) -> bool:
    """Whether a peer, by the scan, may turn out the best of those that one of our modes is compared with."""
    for mode in KINDS:
        if not is_peer_of(peer.kind, mode):
            continue
        likes = [other for other in _peers(mode, others) if other.scan]
        best_bps = max(_scanned(like)[0] for like in likes)
        best_cpu = min(_scanned(like)[1] for like in likes)
        goodput_bps, cpu = _scanned(peer)
        if goodput_bps >= BEHIND * best_bps or cpu <= best_cpu / BEHIND:
            return True
    return False


def values(runs: Sequence[Run], metric: Metric) -> list[float]:
    """One metric of each run."""
    return [run.goodput_bps if metric == "goodput" else run.cpu_s_per_gb for run in runs]


def _comparison(ours: Measured, metric: Metric, peers: Sequence[Measured]) -> Comparison | None:
    enough = [peer for peer in peers if len(_pairs(ours, peer, metric)) >= PAIRS_MINIMUM]
    medians = {peer.name: median(values(peer.runs, metric)) for peer in enough}
    if not medians:
        return None
    best = max if metric == "goodput" else min
    name = best(medians, key=medians.__getitem__)
    peer = next(peer for peer in peers if peer.name == name)
    of_ours, of_peer = median(values(ours.runs, metric)), medians[name]
    _, low, high = geometric_ratio(_pairs(ours, peer, metric))
    ratio, target = of_ours / of_peer, TARGETS[ours.kind][metric]
    met = (ratio >= target and low > 1) if metric == "goodput" else (ratio <= target and high < 1)
    return Comparison(
        mode=ours.kind,
        metric=metric,
        ours=of_ours,
        peer=name,
        best=of_peer,
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        target=target,
        met=met,
    )


def _pairs(ours: Measured, peer: Measured, metric: Metric) -> list[tuple[float, float]]:
    of_peer = dict(zip((run.round for run in peer.runs), values(peer.runs, metric), strict=True))
    of_ours = zip((run.round for run in ours.runs), values(ours.runs, metric), strict=True)
    return [(value, of_peer[number]) for number, value in of_ours if number in of_peer]


def _peers(mode: Kind, measured: Sequence[Measured]) -> list[Measured]:
    return [peer for peer in measured if not peer.ours and is_peer_of(peer.kind, mode)]


def _scanned(peer: Measured) -> tuple[float, float]:
    """Highest goodput and lowest CPU s/GB of the scan."""
    return max(run.goodput_bps for run in peer.scan), min(run.cpu_s_per_gb for run in peer.scan)
