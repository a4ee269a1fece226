"""Repeats that carried nothing, or far less than the median that is shown, are named with it."""

from collections.abc import Sequence

from figures_support import finding
from flowsweep.analysis.findings.finding import Finding
from flowsweep.report.opening import opening
from report_support import MIB, Row, make_rows

ONE_WAY = (("starlight", "sara"),)


def rows_of(
    goodputs: Sequence[float], window: int = MIB, directions: Sequence[tuple[str, str]] = ONE_WAY
) -> list[Row]:
    rows = make_rows(
        flows=[1], window_sums=(window,), directions=directions, repeats=len(goodputs), change=lambda row: row
    )
    return [
        row | {"goodput_bps": bps, "goodput_mean_bps": bps, "link_payload_bps": None}
        for row in rows
        for bps in [goodputs[row["repeat"] - 1]]
    ]


def trust(rows: list[Row], *findings: Finding) -> str:
    told = opening(rows, findings)
    assert told is not None
    return dict(told.lines)["Trust"]


def test_repeats_that_carried_nothing_are_counted() -> None:
    """It was "All 6 trials are imported; 6 trials or more at this point"."""
    assert trust(rows_of((93e6, 94e6, 0, 95e6, 92e6, 0))) == "2 of 6 trials carried nothing, 0 bit/s."


def test_it_is_told_how_many_of_them_are_behind_what_is_shown() -> None:
    other, best = rows_of((0, 0, 40e6), MIB), rows_of((90e6, 91e6, 0), 2 * MIB)
    assert trust([*other, *best]) == (
        "3 of 6 trials carried nothing, 0 bit/s; of the 3 behind the highest goodput 1 did."
    )
    assert trust([*other, *rows_of((90e6, 91e6, 92e6), 2 * MIB)]).endswith("highest goodput none did.")
    assert (
        trust([*rows_of((0, 0, 0)), *rows_of((0, 0, 0), 2 * MIB)])
        == "6 of 6 trials carried nothing, 0 bit/s."
    )


def test_repeats_below_half_of_the_median_that_is_shown_are_counted() -> None:
    slow = rows_of((93e6, 94e6, 40e6, 95e6))
    assert trust(slow) == "1 of the 4 trials behind the highest goodput carried less than half of its median."
    assert "less than half of its median, and more than nothing." in trust(
        rows_of((93e6, 94e6, 40e6, 0, 95e6))
    )
    assert trust(rows_of((93e6, 94e6, 60e6, 95e6))).startswith("All 4 trials ended ok")
    both = (ONE_WAY[0], ONE_WAY[0][::-1])
    assert trust(rows_of((93e6, 94e6, 40e6, 95e6), directions=both)) == (
        "2 of the 8 trials behind the highest goodput carried less than half of the median of their "
        "direction."
    )


def test_of_a_point_at_two_levels_the_levels_are_told() -> None:
    rows = rows_of((93e6, 30e6, 94e6, 31e6, 95e6))
    low = tuple(row["trial_id"] for row in rows if row["goodput_bps"] < 50e6)
    modes = finding("modes", claim="Goodput comes out at two levels.", evidence=low, decision="effect")
    assert "less than half" in trust(rows)
    assert trust(rows, modes) == "Goodput comes out at two levels."
