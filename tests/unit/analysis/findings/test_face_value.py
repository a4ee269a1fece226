"""What is said of plateaus where nothing tells by how much levels differ by chance."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.means import window_levels
from flowsweep.analysis.statistics.observations import observations
from synthetic_campaigns import KIB, Grid, Row, campaign

ONE_WAY = Grid(flows=(1,), directions=(("a", "b"),), repeats=1)
MIB = 1024 * KIB


def imported(carried_mbps: Mapping[int, Sequence[float]]) -> list[Row]:
    """Trials of another tool: windows in bytes, and what each of their repeats carried."""
    [repeats] = {len(own) for own in carried_mbps.values()}
    rows = campaign(replace(ONE_WAY, window_sums=tuple(carried_mbps), repeats=repeats), 1)
    for row in rows:
        rate_bps = 1e6 * carried_mbps[row["window_sum_bytes"]][row["repeat"] - 1]
        row |= {"goodput_bps": rate_bps, "goodput_mean_bps": rate_bps, "imported_from": "tests.csv"}
    return rows


def plateau_of(rows: list[Row]) -> Finding:
    [plateau] = [one for one in findings(rows) if one.kind == "plateau"]
    return plateau


def once(rates_mbps: Sequence[float]) -> str:
    plateau = plateau_of(imported({64 * KIB << place: [rate] for place, rate in enumerate(rates_mbps)}))
    assert plateau.decision == "undecided"
    assert (plateau.interval_low, plateau.interval_high) == (None, None), "nothing tells an interval"
    return plateau.claim


def test_the_largest_window_is_not_enough_where_goodput_still_rises() -> None:
    assert once([5, 10, 21, 40, 76, 94]) == (
        "a → b: it is undecided at which window sum the plateau of goodput begins, since these trials give "
        "no measure of chance; taken at face value, goodput still rises at the largest window sum that was "
        "tried, 2 MiB: to 94.0 Mbit/s, 23.7 % more than at 1 MiB."
    )


def test_a_dip_after_what_is_enough_is_said() -> None:
    assert once([5, 10, 21, 94, 50, 93, 95]).endswith(
        "; taken at face value, goodput is at its highest, 94.0 Mbit/s, from 512 KiB on, but 46.8 % less at "
        "1 MiB."
    )


def test_what_is_enough_at_face_value_is_still_said() -> None:
    assert once([5, 10, 21, 94, 93, 95]).endswith("; taken at face value, 512 KiB is enough.")


def test_what_has_all_that_the_link_carries_is_enough_at_face_value() -> None:
    rows = imported({MIB << place: [rate] for place, rate in enumerate((20, 40, 94))})
    full = plateau_of([row | {"link_payload_bps": 94.5e6} for row in rows])
    assert full.claim.endswith("; taken at face value, 4 MiB is enough.")


def on_days_of_their_own() -> list[Row]:
    """Eight tests of each window, on a day of its own, as an import numbers them."""
    noise = 0.02 * np.random.default_rng(1).standard_normal((3, 8))
    rates = 600 * np.exp(noise) * np.array([[1], [7 / 6], [8 / 6]])
    rows = imported({MIB << place: own.tolist() for place, own in enumerate(rates)})
    for row in rows:
        day = row["window_sum_bytes"].bit_length()
        row |= {
            "started_at": f"2024-03-{day:02}T08:{row['repeat']:02}:00Z",
            "repeat": 8 * day + row["repeat"],
        }
    return rows


def test_levels_that_ran_on_days_of_their_own_cannot_be_told_from_the_days() -> None:
    plateau = plateau_of(on_days_of_their_own())
    assert plateau.decision == "undecided"
    assert "since each level was measured on days of its own: days and levels cannot be told" in plateau.claim
    assert "taken at face value, goodput still rises at the largest window sum that was " in plateau.claim
    assert "enough" not in plateau.claim
    assert "one trial per level" not in plateau.method


def test_a_window_that_ran_in_repeats_of_its_own_is_not_compared_with_the_others() -> None:
    """Two windows share their repeats and tell the noise; of the third nothing is known beside them."""
    rows = on_days_of_their_own()
    for row in rows:
        if row["window_sum_bytes"] < 4 * MIB:
            row |= {"repeat": row["repeat"] % 8, "started_at": None}
    [observed] = observations(rows)
    [means] = window_levels(observed, design(observed))
    assert (means.fit, means.no_measure) == (None, "apart")
    logs = [np.mean(means.logs[means.level_of == level]) for level in range(3)]
    np.testing.assert_allclose(means.means, logs)
    plateau = plateau_of(rows)
    assert plateau.decision == "undecided"
    assert (
        "since levels ran in repeats of their own: repeats and levels cannot be told apart" in plateau.claim
    )
