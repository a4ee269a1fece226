"""Figures that another tool rounded to equal ones tell no chance: nothing is certain by them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import KIB, Grid, Row, campaign

MIB = 1024 * KIB
ONE_WAY = Grid(flows=(1,), directions=(("a", "b"),), repeats=3)
DIP = {4 * MIB: 9.41, 8 * MIB: 9.26, 16 * MIB: 9.41, 32 * MIB: 9.41}
DECLINE = {MIB: 9.41, 4 * MIB: 9.41, 8 * MIB: 9.05}
RISE = {MIB: 7.8, 4 * MIB: 9.41, 8 * MIB: 9.41}


def rounded(carried_gbps: Mapping[int, float]) -> list[Row]:
    """Three repeats of each window, all with the same figure."""
    rows = campaign(replace(ONE_WAY, window_sums=tuple(carried_gbps)), 1)
    for row in rows:
        rate_bps = 1e9 * carried_gbps[row["window_sum_bytes"]]
        row |= {"goodput_bps": rate_bps, "goodput_mean_bps": rate_bps, "imported_from": "tests.csv"}
    return rows


def both_ways() -> list[Row]:
    rows = campaign(Grid(flows=(1,), window_sums=(MIB,)), 1)
    for row in rows:
        rate_bps = 9.41e9 if row["src"] == "a" else 9.37e9
        row |= {"goodput_bps": rate_bps, "goodput_mean_bps": rate_bps, "imported_from": "tests.csv"}
    return rows


def only(found: tuple[Finding, ...], kind: str) -> Finding:
    [one] = [one for one in found if one.kind == kind]
    return one


@pytest.mark.parametrize("rows", [rounded(DIP), rounded(DECLINE), rounded(RISE), both_ways()])
def test_nothing_is_certain_by_figures_without_noise(rows: list[Row]) -> None:
    for one in findings(rows):
        assert one.p_value is None, one.claim
        assert (one.interval_low, one.interval_high) == (None, None), one.claim
        assert one.decision in ("undecided", "described")
        assert "[" not in one.claim
        assert "0.0000" not in one.claim


def test_a_plateau_of_rounded_figures_is_said_at_face_value() -> None:
    found = findings(rounded(RISE))
    assert only(found, "plateau").claim == (
        "a → b: it is undecided at which window sum the plateau of goodput begins, since what differs "
        "between repeats was rounded away in the imported figures, which give no measure of chance; taken at "
        "face value, 4 MiB is enough."
    )
    assert not {"dip", "decline"} & {one.kind for one in found}


def test_a_direction_of_rounded_figures_is_said_at_face_value() -> None:
    direction = only(findings(both_ways()), "direction")
    assert direction.decision == "undecided"
    assert direction.claim.endswith("; taken at face value, a → b is 0.4 % faster than b → a.")


def test_repeats_that_are_equal_do_not_scatter_by_nothing_and_none_deviates_most() -> None:
    found = findings(rounded(RISE))
    variation, outliers = only(found, "variation"), only(found, "outliers")
    assert variation.claim == "Repeats of the same point are equal to the digits of the imported figures."
    assert variation.effect is None
    assert outliers.claim == "No trial stands out from its repeats: none differs by more than 3 %."
    assert outliers.effect == 0
    assert outliers.n == len(outliers.evidence) == 9


def test_what_a_whole_repeat_shares_is_no_difference_within_it() -> None:
    rows = rounded(RISE)
    for row in rows:
        row["goodput_bps"] *= 1.01 ** row["repeat"]
    assert only(findings(rows), "variation").claim == (
        "Repeats of the same point differ by nothing but what a whole repeat shares, to the digits of the "
        "imported figures."
    )


def test_figures_of_the_engine_are_whole_bytes_and_not_rounded() -> None:
    rows = [row | {"imported_from": None} for row in rounded(DECLINE)]
    assert only(findings(rows), "decline").decision == "effect"
