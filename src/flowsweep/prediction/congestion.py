"""How windows grow and shrink: CUBIC, Reno and BBR as Linux has them, on arrays of flows × runs.

Windows are in segments, times in seconds. A step is one round trip, or several where these are short.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

INITIAL_WINDOW = 10.0
"""RFC 6928."""
LEAST_WINDOW = 2.0
CUBIC_C = 0.4
CUBIC_BETA = 0.7
"""Both as RFC 9438 recommends, and as Linux has them."""
CUBIC_FRIENDLY = 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA)
"""Segments per round trip of the Reno-friendly region: RFC 9438, section 4.3."""
RENO_BETA = 0.5
CUBIC_GROWTH_BEFORE_LOSS = 1.05
"""Of Linux's CUBIC in a round trip, after HyStart and before the first loss (`bictcp_update`)."""
MOST_GROWTH = 1.5
"""Of CUBIC's window in a round trip: the bound of the target in RFC 9438, section 4.2."""
HYSTART_LEAST_WINDOW = 16.0
"""`hystart_low_window` of Linux."""
HYSTART_ACK_SPACING_S = 0.002
"""Acknowledgements further apart are no train (`hystart_ack_delta_us`)."""
HYSTART_DELAY_S = (0.004, 0.016)
"""Bounds of the queueing delay that ends slow start, an eighth of the round trip between them."""
BBR_FULL_GROWTH = 1.25
BBR_FULL_ROUNDS = 3
"""Rounds in which the rate grows less than that, after which the path is taken for full."""
BBR_PROBE_EVERY_S = 10.0
BBR_PROBE_S = 0.2
BBR_PROBE_WINDOW = 4.0
"""How often, how long and with what window a flow looks for the minimum round trip."""
BBR_LOSING = 1.05
BBR_ALONE, BBR_TOGETHER = 1.02, 1.7
"""What flies, in rate × minimum round trip: flows that share a queue fill it."""


@dataclass(frozen=True, slots=True)
class Step:
    """What flows saw in a step: arrays of runs, those of flows with an axis of flows before."""

    at_s: Array
    length_s: Array
    rtt_s: Array
    rtt_min_s: Array
    product_s: Array
    """What a flow's rate is multiplied by to fill the path: the minimum round trip, and a burst."""
    queue_before_s: Array
    """What waited a round trip ago, while windows double."""
    room: Array
    """Segments that the queue holds."""
    before_loss: Array
    """Share of a window that was sent before the queue overflows."""
    rate_per_s: Array
    """Of the bottleneck, in segments."""
    most: Array
    """Segments that the receiver's or sender's buffer lets fly."""
    ack_spacing_s: Array
    """Between acknowledgements of a flow's segments."""
    train_s: Array
    """How long the acknowledgements of a window take to arrive."""
    flying: Array
    """Segments of each flow."""
    delivered_per_s: Array
    """Segments of each flow."""
    flows: Array
    window_limited: Mask
    """Whether its congestion window holds a flow back."""
    hit: Mask
    """Whether a flow lost something."""

    @property
    def rounds(self) -> Array:
        """Round trips of the step, of each run."""
        return self.length_s / self.rtt_s

    @property
    def alone(self) -> Mask:
        """Whether there is one flow."""
        alone: Mask = self.flows == 1
        return alone


class Law(Protocol):
    """A congestion control: all its flows' state, and what a step changes of it."""

    window: Array
    """Congestion windows in segments."""

    def slow_starting(self) -> Mask:
        """Which flows double their window each round trip."""

    def advance(self, step: Step) -> None:
        """Grow and shrink the windows."""

    def keep(self, runs: Mask) -> None:
        """Forget all other runs: they are over."""


class _Flows:
    """Arrays of flows × runs: all that there is of them."""

    def keep(self, runs: Mask) -> None:
        """Forget all other runs."""
        for name, values in vars(self).items():
            setattr(self, name, values[:, runs])


class _LossBased(_Flows, ABC):
    """What Reno and CUBIC have in common: slow start, and a window that shrinks once in a recovery."""

    beta: ClassVar[float]

    def __init__(self, shape: tuple[int, int]) -> None:
        self.window = np.full(shape, INITIAL_WINDOW)
        self.threshold = np.full(shape, np.inf)
        self.recovering = np.zeros(shape, bool)
        self.bursting = np.zeros(shape, bool)

    def slow_starting(self) -> Mask:
        """Below the threshold, and no loss to repair."""
        return (self.window < self.threshold) & ~self.recovering

    def advance(self, step: Step) -> None:
        """Grow in slow start or congestion avoidance, shrink where something was lost."""
        slow = self.slow_starting()
        self.threshold = np.where(
            slow, np.minimum(self.threshold, self._slow_start_end(step)), self.threshold
        )
        # The kernel raises a window only where it was used: in slow start to twice of what flies at most.
        doubled = np.minimum(
            self.window * 2.0 ** np.minimum(step.rounds, 1), np.maximum(self.window, 2 * step.flying)
        )
        # A recovery takes a round trip, over which it shrinks the window (PRR, RFC 6937), and nothing grows.
        settled = np.where(self.recovering, np.minimum(self.threshold, self.window), self.window)
        growing = np.maximum(step.rounds - self.recovering, 0)
        avoiding = ~slow & (growing > 0) & step.window_limited
        grown = np.where(slow, np.minimum(doubled, np.maximum(self.threshold, self.window)), settled)
        grown = np.where(avoiding, self._avoided(step, settled, growing, avoiding), grown)
        hit = step.hit | self.bursting
        # What was sent before the first loss still doubles, until that loss is known.
        at_loss = np.where(slow, self.window + step.before_loss * step.flying, settled)
        reduced = np.maximum(at_loss * self.beta, LEAST_WINDOW)
        shrinking = np.where(slow, reduced, reduced + (settled - reduced) / 2 / np.maximum(step.rounds, 1))
        # While a recovery lasts, the receiver's window may let nothing new out; then all comes at once.
        flown = np.where(self.bursting, np.minimum(settled, step.most), step.flying)
        burst = reduced - np.maximum(step.most - flown, 0)
        self._remember(hit, at_loss)
        self.threshold = np.where(hit, reduced, self.threshold)
        self.window = np.where(hit, shrinking, grown)
        self.recovering = hit
        self.bursting = hit & (burst > step.room)

    def _slow_start_end(self, step: Step) -> Array:
        """Windows at which slow start ends without a loss."""
        return np.full_like(self.window, np.inf)

    @abstractmethod
    def _avoided(self, step: Step, window: Array, rounds: Array, avoiding: Mask) -> Array:
        """The windows after some round trips of congestion avoidance."""

    def _remember(self, hit: Mask, window: Array) -> None:
        """Keep what a loss tells."""


class Reno(_LossBased):
    """RFC 5681 and RFC 3465: a segment each round trip."""

    beta = RENO_BETA

    def _avoided(self, step: Step, window: Array, rounds: Array, avoiding: Mask) -> Array:
        del step, avoiding
        return window + rounds


class Cubic(_LossBased):
    """RFC 9438 with fast convergence, and HyStart as in Linux: ACK trains and delay."""

    beta = CUBIC_BETA

    def __init__(self, shape: tuple[int, int]) -> None:
        super().__init__(shape)
        self.highest, self.origin = np.zeros(shape), np.zeros(shape)
        self.until_origin_s, self.friendly = np.zeros(shape), np.zeros(shape)
        self.since_s = np.full(shape, np.nan)

    def _slow_start_end(self, step: Step) -> Array:
        """HyStart: where acknowledgements in a row take half of a round trip, or the queue grows.

        A train is that of one flow: another one's burst in it makes a gap. The queue is the one that the
        first packets of a window find: of the window before.
        """
        low, high = HYSTART_DELAY_S
        half_s = step.rtt_min_s / 2
        train = step.alone & (step.train_s > half_s) & (step.ack_spacing_s < HYSTART_ACK_SPACING_S)
        delayed = step.queue_before_s > np.clip(step.rtt_min_s / 8, low, high)
        at_half = self.window + (half_s * step.rate_per_s)
        ends = np.where(train, at_half, np.where(delayed, self.window, np.inf))
        return np.where(self.window >= HYSTART_LEAST_WINDOW, ends, np.inf)

    def _avoided(self, step: Step, window: Array, rounds: Array, avoiding: Mask) -> Array:
        at_s = step.at_s
        begins = avoiding & np.isnan(self.since_s)
        below = window < self.highest
        self.since_s = np.where(begins, at_s, self.since_s)
        to_origin = np.cbrt(np.maximum(self.highest[begins] - window[begins], 0) / CUBIC_C)
        self.until_origin_s[begins] = to_origin
        self.origin = np.where(begins, np.where(below, self.highest, window), self.origin)
        self.friendly = np.where(begins, window, self.friendly)
        self.friendly = np.where(avoiding, self.friendly + CUBIC_FRIENDLY * rounds, self.friendly)
        from_origin_s = at_s + step.length_s + step.rtt_min_s - self.since_s - self.until_origin_s
        target = self.origin + CUBIC_C * from_origin_s * from_origin_s * from_origin_s
        most = window * MOST_GROWTH ** np.minimum(rounds, 4)
        grown: Array = np.fmax(np.clip(target, window, most), self.friendly)
        unlost = np.where(self.highest == 0, window * CUBIC_GROWTH_BEFORE_LOSS ** np.minimum(rounds, 4), 0)
        return np.maximum(grown, unlost)

    def _remember(self, hit: Mask, window: Array) -> None:
        converging = np.where(window < self.highest, window * (1 + self.beta) / 2, window)
        self.highest = np.where(hit, converging, self.highest)
        self.since_s = np.where(hit, np.nan, self.since_s)


class CubicWithoutHystart(Cubic):
    """RFC 9438 as quinn has it: slow start ends with a loss."""

    def _slow_start_end(self, step: Step) -> Array:
        del step
        return np.full_like(self.window, np.inf)


class Bbr(_Flows):
    """BBRv1 (Cardwell et al. 2016): a window from rate and minimum round trip, which losses do not shrink."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.window = np.full(shape, INITIAL_WINDOW)
        self.rate_per_s, self.flat_rounds = np.zeros(shape), np.zeros(shape)
        self.filled = np.zeros(shape, bool)
        self.probe_at_s = np.full(shape, BBR_PROBE_EVERY_S)

    def slow_starting(self) -> Mask:
        """Until the path is taken for full."""
        return ~self.filled

    def advance(self, step: Step) -> None:
        """Double until the rate grows no more, then keep what the path holds; look for its round trip."""
        grew = step.delivered_per_s > BBR_FULL_GROWTH * self.rate_per_s
        self.rate_per_s = np.where(grew, step.delivered_per_s, self.rate_per_s)
        self.flat_rounds = np.where(grew, 0.0, self.flat_rounds + np.minimum(step.rounds, 1))
        self.filled |= self.flat_rounds >= BBR_FULL_ROUNDS
        doubled = np.minimum(
            self.window * 2.0 ** np.minimum(step.rounds, 1), np.maximum(self.window, 2 * step.flying)
        )
        product = step.rate_per_s / step.flows * step.product_s
        # Together they fill the queue, or lose a little all the time where it is short.
        share = step.room / step.flows
        steady = np.where(
            step.alone,
            BBR_ALONE * product,
            np.minimum(BBR_TOGETHER * product, BBR_LOSING * (product + share)),
        )
        at_s = step.at_s
        lasts_s = BBR_PROBE_S + step.rtt_min_s
        probing = self.filled & ~step.alone & (at_s >= self.probe_at_s)
        over = probing & (at_s >= self.probe_at_s + lasts_s)
        self.probe_at_s = np.where(over, at_s + BBR_PROBE_EVERY_S, self.probe_at_s)
        self.window = np.where(self.filled, np.where(probing & ~over, BBR_PROBE_WINDOW, steady), doubled)


Beginning = Callable[[tuple[int, int]], Law]
"""Starts flows of runs, an array of that shape."""
KERNEL_LAWS: Mapping[str, Beginning] = {"cubic": Cubic, "reno": Reno, "bbr": Bbr}
"""Those that Linux has."""
LAWS: Mapping[str, Beginning] = {**KERNEL_LAWS, "cubic without HyStart": CubicWithoutHystart}
