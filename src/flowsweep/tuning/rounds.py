"""Types of a search: trials that were made, rounds of them, and what is left to spend."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import BITS_PER_BYTE, MILLISECOND_NS, PAD_NS, PAD_PER_DURATION, SECOND_NS
from flowsweep.tuning.settings import Setting, Way
from flowsweep.units import write_duration

Stage = Literal["round trip", "first look", "screening", "narrowing", "finals", "verification"]
"""Of a search, in their order; `narrowing` only where many settings are left and the budget allows it."""

CONGESTION_FORBIDDEN = "congestion_forbidden"
"""Kind of failure of a trial whose congestion control is loaded, and not allowed to everybody."""
ROUND_TRIP_NS = SECOND_NS
"""How long the idle path is probed, before all else."""
_LEAST_NS, _LEAST_ROUND_TRIPS = 600 * MILLISECOND_NS, 15
TRIALS_OF_ALL = 32
"""What a budget has to hold: both directions with 3 settings at first, 5 screened, and 2 in 3 blocks."""
LEAST_BYTES = 100_000
"""With less no trial would send enough to tell anything, however slow a path is."""
_OMIT_SHARE, _OMIT_ROUND_TRIPS, _OMIT_MIN_NS = 0.4, 10, 100 * MILLISECOND_NS
_BINS = 6
_SAMPLES_PER_BIN = 4
_SAMPLE_MAX_NS = 100 * MILLISECOND_NS
_STEP_NS = 10 * MILLISECOND_NS


@dataclass(frozen=True, slots=True)
class Timing:
    """How long each trial of a search sends, and what of it counts."""

    duration_ns: int
    omit_ns: int
    interval_ns: int
    sample_interval_ns: int
    slow_start_ns: int = 0
    """In which one flow grows to what the path carries; 0 where that is not known."""

    @property
    def cost_ns(self) -> int:
        """Of traffic: the duration, and what a source sends beyond it."""
        return cost_ns(self.duration_ns)

    @property
    def has_growth(self) -> bool:
        """Whether one flow may still grow in the part that counts, where more flows have grown."""
        return self.omit_ns < self.slow_start_ns


def cost_ns(duration_ns: int) -> int:
    """What a trial of a duration takes of a budget of time."""
    return duration_ns + PAD_NS + round(duration_ns * PAD_PER_DURATION)


def least_ns(rtt_ms: float, grows_ns: int = 0) -> int:
    """How long a trial has to be, at least, for what counts of it to tell something; in whole milliseconds.

    Args:
        rtt_ms: Round trip of the idle path.
        grows_ns: What has to be left out of it.
    """
    shortest_ns = max(_LEAST_NS, round(_LEAST_ROUND_TRIPS * rtt_ms * MILLISECOND_NS))
    whole_ns = max(shortest_ns, grows_ns + round((1 - _OMIT_SHARE) * shortest_ns))
    return -(-whole_ns // MILLISECOND_NS) * MILLISECOND_NS


def needed_ns(rtt_ms: float) -> int:
    """How much traffic a budget has to hold, at least.

    Args:
        rtt_ms: Round trip of the idle path.
    """
    return cost_ns(least_ns(rtt_ms)) * TRIALS_OF_ALL + ROUND_TRIP_NS


def shown_needed(rtt_ms: float) -> str:
    """The same for people, in whole seconds."""
    return write_duration(math.ceil(needed_ns(rtt_ms) / SECOND_NS) * SECOND_NS)


def timing(duration_ns: int, rtt_ms: float, grows_ns: int = 0) -> Timing:
    """Divide a trial: what slow start may take is left out, the rest is six intervals.

    Args:
        duration_ns: Of a trial.
        rtt_ms: Round trip of the idle path. Ten of them are left out, up to 40 % of the trial.
        grows_ns: In which one flow grows to what the path carries, once that is known: all of it is left out
            of a trial that is long enough.
    """
    usual_ns = max(_OMIT_MIN_NS, round(_OMIT_ROUND_TRIPS * rtt_ms * MILLISECOND_NS))
    omit_ns = min(usual_ns, round(duration_ns * _OMIT_SHARE))
    if duration_ns >= least_ns(rtt_ms, grows_ns):
        omit_ns = max(omit_ns, grows_ns)
    interval_ns = max(1, (duration_ns - omit_ns) // _BINS // _STEP_NS) * _STEP_NS
    omit_ns = duration_ns - _BINS * interval_ns
    sample_ns = min(_SAMPLE_MAX_NS, interval_ns // _SAMPLES_PER_BIN)
    return Timing(duration_ns, omit_ns, interval_ns, sample_ns, grows_ns)


@dataclass(frozen=True, slots=True)
class Round:
    """Settings that are measured together, in randomised blocks."""

    stage: Stage
    settings: Mapping[Way, tuple[Setting, ...]]
    """Of each direction, what runs today first; a direction without is left out."""
    blocks: int
    """How often each of them runs."""
    timing: Timing
    cap_bps: int | None = None
    """What all flows of a trial together may send: only under a budget of bytes."""
    held_by_budget: bool = False
    """Whether a larger budget would have more blocks."""

    @property
    def trials(self) -> int:
        """How many."""
        return self.blocks * sum(map(len, self.settings.values()))

    @property
    def cost_ns(self) -> int:
        """Of traffic."""
        return self.trials * self.timing.cost_ns


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial of a setting, that ended well."""

    stage: Stage
    way: Way
    setting: Setting
    block: int
    goodput_bps: float
    """Mean over the part that counts, of what arrived at the sink (`measured.arrived_bps`). What its
    application read then also has what a loss in slow start kept back until then: 107 Mbit/s in the mean,
    and 99 in the median interval, were seen on links that carry 96.5."""
    rtt_median_ms: float | None
    """Under its own load, as the sender's kernel saw it."""
    rtt_p95_ms: float | None
    row: TrialRow
    """Of the summary."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What traffic may be spent."""

    traffic_ns: int
    traffic_bytes: int | None = None
    """Absent: no bound but the time."""

    def spent(self, traffic_ns: int, traffic_bytes: int) -> "Budget":
        """What is left after some more was spent."""
        left = None if self.traffic_bytes is None else self.traffic_bytes - traffic_bytes
        return Budget(self.traffic_ns - traffic_ns, left)

    def share(self, share: float) -> "Budget":
        """A part of it."""
        most = None if self.traffic_bytes is None else int(self.traffic_bytes * share)
        return Budget(int(self.traffic_ns * share), most)

    def time_ns(self, cap_bps: int | None) -> int:
        """How long trials may send that send at most at a rate."""
        if self.traffic_bytes is None or cap_bps is None:
            return self.traffic_ns
        return min(self.traffic_ns, self.traffic_bytes * BITS_PER_BYTE * SECOND_NS // cap_bps)


def of_way(tried: Iterable[Tried], way: Way, *stages: Stage) -> list[Tried]:
    """The trials of one direction, of some stages or of all."""
    return [one for one in tried if one.way == way and (not stages or one.stage in stages)]
