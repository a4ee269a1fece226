"""The hops of measured paths as the page lists them."""

from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.defaults import MILLISECOND_NS
from flowsweep.figures.axis import Row
from flowsweep.figures.direction_groups import path_groups
from flowsweep.wording import format_duration, format_rate


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


def hop_lines(trials: Sequence[Row], hops: Sequence[Row]) -> list[HopLine]:
    """List the hops of each trial that measured a path, direction by direction."""
    return [
        HopLine(
            path=group.direction,
            repeat=row["repeat"],
            hop=row["hop"],
            address=_addresses(row),
            answers=f"{row['answers']} of {row['probes']}",
            round_trip=""
            if row["rtt_min_ms"] is None
            else format_duration(row["rtt_min_ms"] * MILLISECOND_NS),
            capacity=_capacity(row),
        )
        for group in path_groups(trials, hops)
        for row in group.rows
    ]


def _addresses(row: Row) -> str:
    others = row["addresses"] - 1
    return f"{row['address'] or ''}{f' and {others} more' if others > 0 else ''}"


def _capacity(row: Row) -> str:
    low = None if row["capacity_low_bps"] is None else format_rate(row["capacity_low_bps"])
    if row["capacity_bps"] is not None:
        return f"{format_rate(row['capacity_bps'])} [{low}, {format_rate(row['capacity_high_bps'])}]"
    if low is None:
        return str(row["note"])
    if row["capacity_high_bps"] is not None:
        return f"{low} to {format_rate(row['capacity_high_bps'])}"
    return f"above {low}" + ("" if row["note"] == "above" else f" ({row['note']})")
