"""The hops of measured paths as the page lists them."""

from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.path.rows import HopRow
from flowsweep.analysis.tests.path.words import hop_address, hop_capacity
from flowsweep.defaults import MILLISECOND_NS
from flowsweep.figures.direction_groups import path_groups
from flowsweep.wording import format_duration


@dataclass(frozen=True, slots=True)
class HopLine:
    """One hop in one trial."""

    path: str
    repeat: int
    hop: int
    address: str
    answers: str
    round_trip: str
    capacity: str
    """With its interval, or why there is none."""


def hop_lines(trials: Sequence[TrialRow], hops: Sequence[HopRow]) -> list[HopLine]:
    """List the hops of each trial that measured a path, direction by direction."""
    return [
        HopLine(
            path=group.direction,
            repeat=trial["repeat"],
            hop=row["hop"],
            address=hop_address(row),
            answers=f"{row['answers']} of {row['probes']}",
            round_trip=""
            if row["rtt_min_ms"] is None
            else format_duration(row["rtt_min_ms"] * MILLISECOND_NS),
            capacity=hop_capacity(row),
        )
        for group in path_groups(trials, hops)
        for trial in group.trials
        for row in hops
        if row["trial_id"] == trial["trial_id"]
    ]
