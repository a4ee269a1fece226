"""What a sweep may search for, in place of a grid."""

import math
from typing import Literal, NamedTuple

from pydantic import Field

from flowsweep.defaults import CONFIDENCE, TRIAL_OVERHEAD_NS
from flowsweep.frozen import Frozen

FIRST_WINDOWS = (4, 8)
"""How many levels a first round for the plateau has, at least and at most."""
_FIRST_STEP = math.log(4)
"""Between two of them, at most, if as many as there may be reach so far."""


class RateSearch(Frozen):
    """A search for the highest rate that is carried: payload of all flows of a trial together."""

    low_bps: int
    high_bps: int
    resolution_bps: int
    """The two rates that a search ends between are no further apart."""
    loss_max: float
    """The largest share of lost datagrams with which a rate counts as carried."""
    delay_max_ns: int | None = Field(default=None, exclude_if=lambda most: most is None)
    """The largest 99th percentile of delays above the least of their flow with which it does, if any does."""

    @property
    def trials(self) -> int:
        """How many it takes, whatever they tell."""
        return _halvings(self.low_bps, self.high_bps, self.resolution_bps)


class Left(NamedTuple):
    """What a search may still spend."""

    trials: int
    duration_ns: int | None
    """None where it may take as long as it takes."""
    bytes: int | None
    """None where it may send as much as it sends."""

    def holds(self, trials: int, trial_bytes: float) -> bool:
        """Whether so many trials are within it, if each sends so much."""
        return trials <= self.trials and (self.bytes is None or trials * trial_bytes <= self.bytes)


class Beside(NamedTuple):
    """What a trial of a search takes beside how long it measures."""

    overhead_ns: int = TRIAL_OVERHEAD_NS
    """Until the next one may begin: pad and drain, what runs before and after it, preparing and reporting."""
    pad_ns: int = 0
    """How much longer it sends."""


class SearchInRounds(Frozen):
    """A search that tries levels round by round, until it knows enough or has spent what it may."""

    precision: float
    confidence: float = Field(default=CONFIDENCE, exclude_if=lambda share: share == CONFIDENCE)
    """Of what is said after all rounds."""
    trials_max: int
    duration_max_ns: int | None = Field(default=None, exclude_if=lambda most: most is None)
    """What its trials may take one after the other, with what each needs beside how long it lasts."""
    bytes_max: int | None = Field(default=None, exclude_if=lambda most: most is None)
    """Application bytes that it may send: no round begins that would send more than is left, with the highest
    goodput so far. Before the first round nothing is known, and it is not bounded. What failed trials sent
    does not count."""

    def trials_within(self, trial_ns: int) -> int:
        """How many trials it may take at most, if each takes so long."""
        if self.duration_max_ns is None:
            return self.trials_max
        return min(self.trials_max, self.duration_max_ns // trial_ns)

    def left(self, trials: int, trial_ns: int, spent_ns: int, sent_bytes: float) -> Left:
        """What is left after some trials.

        Args:
            trials: How many.
            trial_ns: What the next one may take, with what it needs beside how long it lasts.
            spent_ns: What those took together, likewise.
            sent_bytes: What they sent together.
        """
        left_ns = None if self.duration_max_ns is None else self.duration_max_ns - spent_ns
        left_trials = self.trials_max - trials
        return Left(
            trials=left_trials if left_ns is None else min(left_trials, left_ns // trial_ns),
            duration_ns=left_ns,
            bytes=None if self.bytes_max is None else max(0, self.bytes_max - round(sent_bytes)),
        )


class WindowSearch(SearchInRounds):
    """A search for the smallest window from which on goodput is on its plateau.

    It ends when the interval reaches no further from the estimate than `precision`, a share of it.
    """

    find: Literal["plateau"] = "plateau"
    of: Literal["window_bytes", "window_sum_bytes"]
    """Whether windows are of one flow or of all of a trial."""
    low_bytes: int
    high_bytes: int

    @property
    def low(self) -> int:
        """The smallest window."""
        return self.low_bytes

    @property
    def high(self) -> int:
        """The largest."""
        return self.high_bytes


class FlowsSearch(SearchInRounds):
    """A search for the fewest flows, between each pair of hosts, from which on goodput is on its plateau.

    It ends as one for a window does, or when the interval has no other whole number. Another may follow, for
    the smallest window with so many flows; what this one left of its budget is what that one has.
    """

    find: Literal["flows"] = "flows"
    low_flows: int
    high_flows: int
    window_shared: bool
    """Whether all flows share a window sum, as far as they are asked for windows; else each has its own."""
    then: WindowSearch | None = Field(default=None, exclude_if=lambda search: search is None)
    """What follows. Until then windows are the largest of its range."""

    @property
    def low(self) -> int:
        """The fewest flows that are tried."""
        return self.low_flows

    @property
    def high(self) -> int:
        """The most."""
        return self.high_flows


class BestSearch(SearchInRounds):
    """A search for the setting, of all that the axes span, with the highest goodput.

    It ends when no other setting has more by a share of more than `precision`.
    """

    find: Literal["best"] = "best"


OfPlateau = WindowSearch | FlowsSearch
"""Searches for the least that is enough: from `low` to `high`, in bytes or flows."""
Search = RateSearch | OfPlateau | BestSearch


def first_windows(search: OfPlateau) -> int:
    """Return how many levels its first round has at most: fewer where whole numbers coincide."""
    least, most = FIRST_WINDOWS
    return min(max(math.ceil(math.log(search.high / search.low) / _FIRST_STEP) + 1, least), most)


def _halvings(low: int, high: int, resolution: int) -> int:
    """Return how many trials find the last of evenly spaced rates that is carried, or that none is.

    With 2**n - 1 rates there are 2**n answers, so that it takes n trials, neither more nor fewer: as few as
    bring the rates no further apart than the resolution.

    Args:
        low: The lowest rate.
        high: The highest, above it.
        resolution: At most the difference of the two.
    """
    steps = -(-(high - low) // resolution)
    return (steps + 1).bit_length()
