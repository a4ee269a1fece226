"""A finding: one conclusion about a campaign, as data and as a sentence."""

from dataclasses import dataclass
from typing import Literal

FindingKind = Literal[
    "emulation", "broken", "empty", "failures", "stalls", "order",
    "path", "available", "routes", "rate", "loss", "reordering", "latency", "message_size",
    "verdict", "advice", "drops", "host_drops", "closed_window", "autotuning", "bufferbloat",
    "best", "plateau", "bounds", "share", "fairness", "harm", "dip", "decline", "effect", "flows",
    "congestion", "encryption", "direction", "drift",
    "step", "days", "cycle", "modes", "ecmp", "periodicity", "outliers", "correlation", "monitors", "polling",
    "duration", "early_slow_start",
    "slow_start", "segment_size", "paths", "model", "theory", "variation",
]  # fmt: skip
"""What a finding is about; the most important first, where decisions are alike."""

Decision = Literal["effect", "no practical effect", "undecided", "described"]
"""Whether there is one; "described" where nothing was to be decided, as of how much goodput varied."""

FigureKind = Literal[
    "plane", "line", "repeats", "prediction", "ratio", "product", "per_flow", "time_series", "ecdf", "cpu",
    "limits", "stages", "paths", "duration", "effects", "offered", "jitter", "spacing", "rate_search",
    "search", "response", "best", "hop_times", "hop_capacity", "trains", "streams", "shares", "rtt_time",
    "rtt_ecdf", "rtt_size", "overlay", "shift", "monitors",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureKey:
    """Which figure of a report shows why; a report without it links to nothing."""

    kind: FigureKind
    sweep: str
    mode: str | None
    direction: str | None = None
    """ "source → sink", where the figure is of one direction."""
    axis: str | None = None
    """Column of the summary, where there is one figure for each axis."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One conclusion. Numbers are null where a finding has none."""

    kind: FindingKind
    sweep: str
    mode: str | None
    """How TCP's bytes got into and out of the kernel, or which part of the way files went; null for other
    tests."""
    direction: str | None
    """ "source → sink"; null: of all directions of the sweep."""
    axis: str | None
    """Column of the summary that was varied; null where the finding is not about one."""
    decision: Decision
    claim: str
    """The sentence, with its numbers in engineering units."""
    effect: float | None
    """The estimate, in `effect_unit`."""
    effect_unit: str | None
    """"%" (relative change of goodput), "bytes", "flows", "s", "s/GB", "bit/s", "ns/byte", "1" (a share or a
    coefficient)."""
    interval_low: float | None
    """Ends of the 95 % interval of `effect`; of a search in rounds as sure as it was asked to be. Of kinds
    "rate", "loss" and "available" a bracket: of rates that were tried, or of what trends of delays leave
    open. Of "path" with two trials the lowest and the highest end of theirs."""
    interval_high: float | None
    p_value: float | None
    """Of "there is no effect", corrected for the levels that the finding was chosen from and not for other
    hypotheses; null where nothing was tested."""
    p_adjusted: float | None
    """By Holm's correction over all hypotheses that were put to the campaign."""
    n: int
    """Trials that the finding rests on."""
    method: str
    """How it was computed, in words that name the procedure."""
    evidence: tuple[str, ...]
    """trial_id of the rows that it rests on."""
    figure: FigureKey | None
