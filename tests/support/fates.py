"""What becomes of trials of synthetic campaigns: they fail or stall, by chance or not."""

from collections.abc import Callable

import numpy as np

from synthetic_campaigns import KIB, Row

Fate = Callable[[np.random.Generator, list[Row]], None]
"""Changes the rows of a campaign."""


def fail(row: Row) -> None:
    """Make a trial one that failed."""
    row.update(status="failed", goodput_bps=None, goodput_mean_bps=None)


def half_of_the_slow_at_the_largest_window(rng: np.random.Generator, rows: list[Row]) -> None:
    """A trial at the largest window that is slow, below the point's mean, fails; so half of them do."""
    for row in rows:
        if row["window_sum_bytes"] > 2048 * KIB and row["goodput_bps"] < 90e6:
            fail(row)


def one_of_twenty(rng: np.random.Generator, rows: list[Row]) -> None:
    """Trials fail at random, at any level."""
    for row in rows:
        if rng.random() < 0.05:
            fail(row)


def an_outage(rng: np.random.Generator, rows: list[Row]) -> None:
    """Fifteen trials, one after the other."""
    first = int(rng.integers(len(rows) - 15))
    for row in rows[first : first + 15]:
        fail(row)


def some_stall(rng: np.random.Generator, rows: list[Row]) -> None:
    """A quarter of the trials at the largest window carry a tenth."""
    for row in rows:
        if row["window_sum_bytes"] > 2048 * KIB and rng.random() < 0.25:
            row["goodput_bps"] *= 0.1
