"""Flows of one and the same window: what they do is not said of the window; what changed with one is."""

import math
from collections.abc import Callable
from dataclasses import replace

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import KIB, Grid, Row, campaign

MIB = 1024 * KIB
FLOWS = (1, 2, 4, 8, 16)
GRID = Grid(flows=FLOWS, window_sums=(4 * MIB,), directions=(("a", "b"),), repeats=4, noise=0.005)
Effect = Callable[[Row], float]


def of_one_window(effect: Effect, imported: str | None = "000.json") -> list[Row]:
    """As `iperf3 -w 4M -P 1`, `-P 2` and so on: window and window sum are those of the flows."""
    rows = campaign(replace(GRID, effect=effect), 1)
    for row in rows:
        row |= {f"window_{end}bytes": 4 * MIB for end in ("", "send_", "recv_")}
        row |= {"window_sum_bytes": 4 * MIB * row["flows"], "imported_from": imported}
    return rows


def each_as_much(row: Row) -> float:
    return math.log(row["flows"])


def up_to_four(row: Row) -> float:
    return math.log(min(row["flows"], 4))


def told(rows: list[Row], kind: str) -> Finding:
    [one] = [one for one in findings(rows) if one.kind == kind]
    return one


def test_of_own_trials_it_is_the_window_sum_and_what_changed_with_it_is_named() -> None:
    plateau = told(of_one_window(up_to_four, None), "plateau")
    assert plateau.claim.startswith("a → b, by window sum (with it the number of flows changed): 16 MiB was ")
    assert (plateau.axis, plateau.effect_unit) == ("window_sum_bytes", "bytes")


def test_a_plateau_that_flows_have_not_reached_is_said_of_flows() -> None:
    plateau = told(of_one_window(each_as_much), "plateau")
    assert plateau.claim.startswith(
        "a → b, window per flow 4 MiB: goodput has not reached its plateau up to 16 flows, the largest "
        "number of flows that was tried: there it is "
    )
    assert (plateau.axis, plateau.effect, plateau.effect_unit) == ("flows", 16, "flows")


def test_the_fewest_flows_that_suffice_and_not_their_window_sum() -> None:
    plateau = told(of_one_window(up_to_four), "plateau")
    assert plateau.claim.startswith(
        "a → b, window per flow 4 MiB: 4 flows were the smallest tested number of flows that sufficed, "
        "2 flows did not; goodput reaches its plateau of "
    )
    assert (plateau.effect, plateau.interval_low, plateau.interval_high) == (4, 3, 4)


def test_no_finding_is_about_windows_that_were_all_the_same() -> None:
    found = findings(of_one_window(up_to_four))
    assert not [one for one in found if one.axis == "window_sum_bytes"]
    [effect] = [one for one in found if one.axis == "flows" and one.kind in ("effect", "flows")]
    assert effect.kind == "effect", "their window sums are not equal"
    assert effect.claim.startswith("Number of flows (with it the window sum changed) matters: from 1 to 16 ")
    same = told(of_one_window(lambda _: 0.0), "plateau")
    assert "is enough: goodput is within 3 % of its highest there" in same.claim


def test_a_dip_is_said_of_flows() -> None:
    dip = told(of_one_window(lambda row: -0.3 * (row["flows"] == 4)), "dip")
    assert dip.axis == "flows"
    assert dip.claim.startswith("a → b, window per flow 4 MiB: goodput dips at 4 flows: −26")
    none = told(of_one_window(lambda _: 0.0), "dip")
    assert ": goodput dips at no number of flows between others by more than 3 %" in none.claim


def test_an_order_of_flows_leaves_the_same_doubt_as_one_of_windows() -> None:
    listed = sorted(of_one_window(up_to_four), key=lambda row: (row["repeat"], row["flows"]))
    starts = sorted(row["started_at"] for row in listed)
    rows = [
        row | {"started_at": at, "order_index": place}
        for place, (row, at) in enumerate(zip(listed, starts, strict=True))
    ]
    assert told(rows, "order").axis == "flows"
    alike = "A change over time that began anew with each repeat would look alike."
    assert told(rows, "plateau").claim.endswith(alike)


def together(**changed: dict[int, object]) -> dict[str, str]:
    """What is said where something else changed with each window of a single flow, by kind of finding."""
    grid = replace(
        GRID, flows=(1,), window_sums=tuple(MIB << place for place in range(4)),
        effect=lambda row: -0.3 * (row["window_sum_bytes"] in (2 * MIB, 8 * MIB)),
    )  # fmt: skip
    rows = campaign(grid, 1)
    for row in rows:
        size = row["window_sum_bytes"]
        row |= {name: of_window[size] for name, of_window in changed.items()}
    return {one.kind: one.claim for one in findings(rows) if one.axis == "window_sum_bytes"}


def test_what_changed_with_the_window_is_named_of_plateau_dip_and_decline() -> None:
    said = together(flows={MIB << place: 2 ** (3 - place) for place in range(4)})
    for kind in ("plateau", "dip", "decline"):
        assert said[kind].startswith("a → b, by window sum (with it the number of flows changed): ")
    assert "on average over" not in said["decline"], "no window has several numbers of flows"
    assert "changed" not in together()["plateau"]


def test_a_duration_that_changed_with_the_window_is_named() -> None:
    said = together(duration_s={MIB << place: 10.0 + place for place in range(4)})
    assert said["plateau"].startswith("a → b, by window sum (with it the duration changed): ")
