"""Signatures of drops that leave no queue to be seen: at random, at a shallow buffer, or at a policer.

After Flach et al., "An Internet-wide analysis of traffic policing", SIGCOMM 2016: a policer lets a burst
pass, then drops what exceeds its rate, while round trips stay as they were. What they read from packets is
here read from samples of TCP_INFO, 0.1 s apart: docs/explanation/statistics.md, "Drops".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flowsweep.analysis.statistics.intervals import mean_interval
from flowsweep.analysis.statistics.means import GeometricMean, geometric_mean
from flowsweep.defaults import SECOND_NS

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
DropCause = Literal["any rate", "shallow buffer", "policer", "not clear"]

LOSSES_MIN = 8
"""Fewer losses do not tell one cause from another."""
HIGH_RANK = 0.6
"""Between losses at any rate, whose mean rank is 0.5, and losses at the highest, where it was 0.7 to 0.85."""
BURST = 1.2
"""A beginning that is faster by this much than the best of what follows was let pass by a bucket."""
SPREAD_MIN = 0.03
"""Rates that deviate by a smaller share of their mean are all alike: ranks of them show nothing."""
GRID_S = 0.1
"""Steps of a trace."""
_TOP_PERCENT = 95
_BURST_SAMPLES = 2


@dataclass(frozen=True, slots=True)
class LossTrace:
    """What a trial's flows delivered together, sample by sample."""

    rates_bps: Floats
    """Of each sample, from the beginning of the connection on."""
    lossy: NDArray[np.bool_]
    """Whether segments were sent again in the sample."""
    counted: NDArray[np.bool_]
    """Whether the sample is of the time that counts."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What the losses of some trials have in common."""

    cause: DropCause
    losses: int
    """Episodes that it rests on."""
    rank: float | None
    """Mean rank, 0 to 1, of the rate before a loss among all rates; 0.5 where losses come at any."""
    rank_low: float | None
    rank_high: float | None
    burst: GeometricMean | None
    """How much faster trials were before their first loss than at their best later."""


def loss_ranks(trace: LossTrace) -> Floats:
    """Rank the rate before each loss among the rates that a loss could have followed.

    Returns:
        For each sample with losses that follows one without: the share of the bytes delivered in samples
        without losses at a lower rate, those at the same one counted half.

    Method:
        A packet that is lost whatever the rate is a packet like any other: the rate at which it was sent is
        then a draw from the rates at which bytes were sent (Bernoulli arrivals see time averages: Makowski,
        Melamed and Whitt, 1989), so that its rank is uniform, whatever the congestion control does about it.
        A path that drops what exceeds it drops at the highest rates. Of rates that are all alike, as where
        it is full all the time, there are no ranks.
    """
    before = np.flatnonzero(~trace.lossy[:-1] & trace.counted[:-1])
    rates = trace.rates_bps[before]
    if not before.size or rates.std() <= SPREAD_MIN * rates.mean():
        return np.empty(0)
    ranked = np.sort(rates)
    through = np.concatenate(([0.0], np.cumsum(ranked)))
    lost = rates[trace.lossy[before + 1]]
    below = through[np.searchsorted(ranked, lost, side="left")]
    reached = through[np.searchsorted(ranked, lost, side="right")]
    ranks: Floats = (below + reached) / 2 / through[-1]
    return ranks


def first_burst(trace: LossTrace) -> float | None:
    """Compare the fastest 0.2 s before the first loss with the best of what counts after it.

    Returns:
        Their ratio; None where nothing was lost, or nothing counts after that.
    """
    lost = np.flatnonzero(trace.lossy)
    if not lost.size or lost[0] < _BURST_SAMPLES:
        return None
    # The sample in which losses show holds most of what was delivered since they happened.
    early = trace.rates_bps[: lost[0] + 1]
    later = trace.rates_bps[lost[0] + 1 :][trace.counted[lost[0] + 1 :]]
    if later.size < LOSSES_MIN:
        return None
    windows = np.convolve(early, np.full(_BURST_SAMPLES, 1 / _BURST_SAMPLES), mode="valid")
    top = float(np.percentile(later, _TOP_PERCENT))
    return float(windows.max()) / top if top > 0 else None


def signature(traces: Sequence[LossTrace]) -> Signature:
    """Tell what drops packets of trials whose round trips do not say it.

    Args:
        traces: Of trials over one path.

    Returns:
        "not clear" below LOSSES_MIN losses, and where neither cause is excluded.

    Method:
        The mean rank of losses has a t interval. Above HIGH_RANK as a whole: at the path's limit; then a
        policer if the interval of the first burst lies above BURST, a shallow buffer if its mean does not.
        Below: at any rate, which losses at random are, and those of a buffer that single bursts overflow.
    """
    ranks = np.concatenate([np.empty(0), *(loss_ranks(trace) for trace in traces)])
    bursts = [ratio for trace in traces if (ratio := first_burst(trace)) is not None and ratio > 0]
    burst = geometric_mean(bursts) if bursts else None
    if ranks.size < LOSSES_MIN:
        return Signature("not clear", int(ranks.size), None, None, None, burst)
    mean, low, high = mean_interval(ranks)
    cause: DropCause = "not clear"
    if low > HIGH_RANK:
        cause = _at_the_limit(burst)
    elif high < HIGH_RANK:
        cause = "any rate"
    return Signature(cause, int(ranks.size), mean, low, high, burst)


def _at_the_limit(burst: GeometricMean | None) -> DropCause:
    if burst is None or burst.low is None or burst.high is None:
        return "not clear" if burst is not None and burst.value > BURST else "shallow buffer"
    if burst.low > BURST:
        return "policer"
    return "shallow buffer" if burst.value < BURST else "not clear"


def traces_of(rows: pa.Table) -> dict[str, LossTrace]:
    """Make traces of `loss_samples`, by trial_id; all flows of a trial on one grid of time."""
    columns = {name: rows[name].to_numpy() for name in rows.column_names}
    others = _changes(columns["trial_id"]) | _changes(columns["flow"])
    trials: dict[str, list[Columns]] = {}
    for first, last in pairwise((0, *(np.flatnonzero(others) + 1), rows.num_rows)):
        flow = {name: values[first:last] for name, values in columns.items()}
        if first < last:
            trials.setdefault(flow["trial_id"][0], []).append(flow)
    return {name: trace for name, flows in trials.items() if (trace := _trace(flows))}


def _changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(values[1:] != values[:-1], dtype=np.bool_)


def _trace(flows: Sequence[Columns]) -> LossTrace | None:
    ends_s = [flow["end_ns"].astype(np.float64) / SECOND_NS for flow in flows]
    start, stop = max(ends[0] for ends in ends_s), min(ends[-1] for ends in ends_s)
    grid_s = np.arange(start, stop, GRID_S)
    if grid_s.size < LOSSES_MIN:
        return None
    delivered = np.zeros(grid_s.size)
    resent = np.zeros(grid_s.size)
    counted = np.ones(grid_s.size - 1, dtype=np.bool_)
    for flow, ends in zip(flows, ends_s, strict=True):
        delivered += np.interp(grid_s, ends, flow["delivered_bytes"])
        # A sample says what was sent again until its end: it shows in the step that it ends in.
        place = np.searchsorted(ends, grid_s, side="right") - 1
        resent += flow["retransmitted"].astype(np.float64)[place]
        counted &= flow["counted"][place][1:]
    rates = np.maximum(np.diff(delivered), 0.0) * 8 / GRID_S
    return LossTrace(rates, np.diff(resent) > 0, counted)
