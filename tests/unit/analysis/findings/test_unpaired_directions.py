"""What one direction carries is told by its own trials, also where the other one has none."""

import math
from collections.abc import Callable
from functools import partial

import pytest

from flowsweep.analysis.findings.direction import direction_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.plateau.decline import decline_hypotheses
from flowsweep.analysis.findings.plateau.hypotheses import plateau_hypotheses
from flowsweep.analysis.findings.topics import findings, repeat_hypotheses
from flowsweep.analysis.statistics.observations import Observations, observations
from synthetic_campaigns import KIB, Grid, Row, campaign

SUMS = (256 * KIB, 1024 * KIB, 4096 * KIB)
RISING, FLAT = (1, 3, 8), (1, 1, 1)


def rows_of(
    there: tuple[float, ...], back: tuple[float, ...], without: Callable[[Row], bool] = lambda _: False
) -> list[Row]:
    """Goodput by window of each direction, four repeats; some trials failed, or were never tried."""

    def carried(row: Row) -> float:
        return math.log((there if row["dst"] == "b" else back)[SUMS.index(row["window_sum_bytes"])])

    grid = Grid(flows=(1,), window_sums=SUMS, repeats=4, noise=0.005, block=0.02, effect=carried)
    return [row for row in campaign(grid, 1) if not without(row)]


def both_ways(
    there: tuple[float, ...], back: tuple[float, ...], without: Callable[[Row], bool]
) -> Observations:
    [observed] = observations(rows_of(there, back, without))
    return observed


def largest(row: Row, sink: str) -> bool:
    return bool(row["dst"] == sink and row["window_sum_bytes"] == SUMS[-1])


largest_back = partial(largest, sink="a")


def plateau_of(observed: Observations, direction: str) -> Finding:
    [told] = [one for one in decided(plateau_hypotheses(observed))
              if (one.kind, one.direction) == ("plateau", direction)]  # fmt: skip
    return told


def test_a_window_that_failed_the_other_way_was_tried_this_way() -> None:
    """It was "not reached its plateau up to 1 MiB, the largest that was tried", and "b → a is faster"."""
    observed = both_ways(RISING, (1, 4, 4), largest_back)
    assert "has not reached its plateau up to 4 MiB, the largest window sum that was tried" in (
        plateau_of(observed, "a → b").claim
    )
    [direction] = decided(direction_hypotheses(observed))
    assert direction.decision == "undecided"
    assert direction.claim == (
        "Whether a → b or b → a is faster is undecided: b → a has its highest goodput at 1 MiB, the largest "
        "window sum of which trials ended well in that direction, and may have more at larger ones, as a → b "
        "ran with."
    )


def test_a_window_that_one_way_alone_was_tried_with_shows_its_plateau() -> None:
    observed = both_ways((1, 4, 4), (1, 4, 4), partial(largest, sink="b"))
    told = plateau_of(observed, "b → a")
    assert told.claim.startswith(
        "b → a: 1 MiB was the smallest tested window sum that sufficed, 256 KiB did not"
    )
    [direction] = decided(direction_hypotheses(observed))
    assert direction.decision == "undecided"
    assert "a → b has its highest goodput at 1 MiB" in direction.claim


def test_a_plateau_at_a_window_that_failed_the_other_way_is_held_against_one_that_is_seen() -> None:
    """The other way is as fast at two windows: what it has at a third is no more."""
    [direction] = decided(direction_hypotheses(both_ways(RISING, FLAT, largest_back)))
    assert direction.decision == "effect"
    assert direction.direction == "a → b"
    assert direction.effect == pytest.approx(700, abs=30)


def test_a_direction_that_is_faster_already_may_have_more_and_is_claimed() -> None:
    [direction] = decided(direction_hypotheses(both_ways((1, 1, 1), (1, 4, 4), largest_back)))
    assert (direction.decision, direction.direction) == ("effect", "b → a")
    assert direction.effect == pytest.approx(300, abs=20)


def test_a_slow_trial_is_named_though_that_of_the_other_direction_failed() -> None:
    rows = rows_of(FLAT, FLAT, lambda row: row["repeat"] == 2 and largest_back(row))
    [slow] = [row for row in rows if row["repeat"] == 2 and row["window_sum_bytes"] == SUMS[-1]]
    slow["goodput_bps"] /= 4
    [observed] = observations(rows)
    told = {one.kind: one for one in repeat_hypotheses(observed)}
    assert told["outliers"].evidence == (slow["trial_id"],)
    assert told["variation"].n == told["outliers"].n == len(rows)


def test_no_decline_is_spoken_of_where_goodput_still_rises_at_the_end() -> None:
    """It was "the largest window costs no more than 3 %" after "not reached its plateau"."""
    rising = rows_of(RISING, RISING)
    kinds = [one.kind for one in findings(rising)]
    assert "plateau" in kinds
    assert "decline" not in kinds
    [observed] = observations(rising)
    assert [one.p_value for one in decline_hypotheses(observed)] == [1.0, 1.0]
    assert "decline" in [one.kind for one in findings(rows_of(FLAT, FLAT))]


def test_what_failed_at_every_larger_window_is_not_the_largest_that_was_tried() -> None:
    rows = rows_of(RISING, RISING)
    failed = [row | {"status": "failed", "goodput_bps": None} if largest_back(row) else row for row in rows]
    [observed] = observations(failed)
    up_to = "goodput has not reached its plateau up to"
    assert f"{up_to} 4 MiB, the largest window sum that was tried: " in plateau_of(observed, "a → b").claim
    back = plateau_of(observed, "b → a").claim
    assert f"{up_to} 1 MiB, the largest window sum at which a trial ended ok: " in back


def test_what_carried_nothing_at_every_larger_window_is_told_apart_from_what_failed() -> None:
    rows = rows_of(RISING, RISING)
    empty = [row | {"goodput_bps": 0.0} if largest_back(row) else row for row in rows]
    [observed] = observations(empty)
    up_to = "goodput has not reached its plateau up to 1 MiB, the largest window sum at which a trial"
    assert f"{up_to} carried anything: " in plateau_of(observed, "b → a").claim
    both = [
        row | {"status": "failed", "goodput_bps": None} if largest_back(row) and row["repeat"] == 2 else row
        for row in empty
    ]
    [observed] = observations(both)
    assert f"{up_to} ended ok and carried anything: " in plateau_of(observed, "b → a").claim
