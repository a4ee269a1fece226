"""What a search knows of its trials."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import Beside, Left, SearchInRounds


class Tried(NamedTuple):
    """One trial of a search that was whole."""

    level: int
    """The window in bytes; in a search for the best setting the number of the setting."""
    round: int
    log_goodput: float
    """Natural logarithm of bit/s."""
    lasted_ns: int | None = None
    """None: its whole duration."""


NOTHING_BESIDE = Beside()
"""Of a trial that neither pads nor drains, with nothing beside it."""
_FAILURES_MAX = 3


def bounds_of(tried: Sequence[Tried], failed: Sequence[int], low: int, high: int) -> tuple[int, int]:
    """Say which levels may be enough.

    Args:
        tried: Trials that were whole.
        failed: Levels of those that were not.
        low: The smallest level of the range.
        high: The largest.

    Returns:
        The smallest and the largest: of the range, or that worked where smaller ones, or larger ones, failed.
        Hosts refuse windows above a limit.
    """
    levels = [one.level for one in tried]
    least, most = min(levels, default=low), max(levels, default=high)
    return (
        least if any(level < least for level in failed) else low,
        most if any(level > most for level in failed) else high,
    )


def least_to_try(failed: Sequence[int], least: int, low: int) -> int:
    """Say from which level on levels are tried.

    Args:
        failed: Levels of trials that were not whole.
        least: The smallest that may be enough, as `bounds_of` has it.
        low: The smallest of the range.

    Returns:
        Beyond those that failed below it; itself once too many of these did.
    """
    below = [level for level in failed if level < least]
    return least if len(below) >= _FAILURES_MAX else max([low - 1, *below]) + 1


def too_many_failed(tried: Sequence[Tried], failed: Sequence[int]) -> bool:
    """Whether too many trials failed, but for those of levels beyond all that worked, on either side.

    These are not tried again: the range ends at the largest that worked, and begins beyond the smaller ones
    that failed, or at the smallest that worked (`least_to_try`).
    """
    levels = [one.level for one in tried]
    return bool(levels) and sum(min(levels) <= level <= max(levels) for level in failed) >= _FAILURES_MAX


def left_of(
    search: SearchInRounds,
    trial_ns: int,
    tried: Sequence[Tried],
    failed: Sequence[int],
    beside: Beside = NOTHING_BESIDE,
) -> Left:
    """What a search may still spend.

    Args:
        search: What is wanted.
        trial_ns: How long a trial sends, at most. One that failed counts as if it had.
        tried: All trials so far that were whole.
        failed: Levels of those that were not.
        beside: What each takes beside.
    """
    trials = len(tried) + len(failed)
    lasted = [_lasted_ns(one, trial_ns) for one in tried]
    spent_ns = sum(lasted) + len(failed) * trial_ns + trials * beside.overhead_ns
    sent = sum(
        math.exp(one.log_goodput) * _bytes_per_bps(took + beside.pad_ns)
        for one, took in zip(tried, lasted, strict=True)
    )
    return search.left(trials, trial_ns + beside.overhead_ns, spent_ns, sent)


def most_bytes(tried: Sequence[Tried], trial_ns: int, beside: Beside = NOTHING_BESIDE) -> float:
    """What a whole trial sends with the highest goodput so far, its pad included; 0 before the first."""
    highest_bps = max((math.exp(one.log_goodput) for one in tried), default=0.0)
    return highest_bps * _bytes_per_bps(trial_ns + beside.pad_ns)


def _lasted_ns(one: Tried, trial_ns: int) -> int:
    return trial_ns if one.lasted_ns is None else one.lasted_ns


def _bytes_per_bps(trial_ns: int) -> float:
    return trial_ns / (8 * SECOND_NS)
