"""Sentences and figures about shares, from rows whose shares are known."""

import math

import pytest

from figures_support import figures, of_kind
from flowsweep.analysis.background.findings import share_hypotheses
from flowsweep.analysis.background.words import place_of
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.observations import observations
from report_support import make_row

SHARES = (0.70, 0.71, 0.73)


def rows(shares: tuple[float | None, ...] = SHARES, flows: tuple[int, ...] = (1,)) -> list[dict]:
    found = []
    for flow in flows:
        for repeat, share in enumerate(shares, start=1):
            found.append(
                make_row(
                    trial_id=f"t{flow}-{repeat}", repeat=repeat, flows=flow, order_index=len(found),
                    congestion="bbr", congestion_asked="bbr", share=share, jain_flows=0.8, jain_groups=0.8,
                    background=["probe", "cubic"], interval_ns=10**9, duration_s=60.0,
                )
            )  # fmt: skip
    return found


def told(summary: list[dict]) -> list:
    return decided([hypothesis for one in observations(summary) for hypothesis in share_hypotheses(one)])


def test_a_share_is_told_with_its_interval_over_repeats() -> None:
    (finding,) = told(rows())
    odds = [math.log(share / (1 - share)) for share in SHARES]
    mean = sum(odds) / 3
    half = 4.302653 * math.sqrt(sum((value - mean) ** 2 for value in odds) / 2 / 3)
    expected = [1 / (1 + math.exp(-value)) for value in (mean, mean - half, mean + half)]
    assert [finding.effect, finding.interval_low, finding.interval_high] == pytest.approx(expected, rel=1e-6)
    assert finding.claim == (
        "starlight → sara: bbr takes 71.3 % [67.4, 75.0] on average of the goodput that it shares with "
        "cubic; 3 trials, Jain's index over the flows 0.800."
    )
    assert (finding.decision, finding.n, finding.figure.kind) == ("described", 3, "shares")


def test_a_single_trial_has_no_interval() -> None:
    (finding,) = told(rows((0.5,)))
    assert (finding.effect, finding.interval_low) == (0.5, None)
    assert "takes 50.0 % of the goodput" in finding.claim


def test_each_point_has_its_own_sentence_and_many_have_one() -> None:
    one, two = told(rows(flows=(1, 2)))
    assert "shares with cubic (1 flow)" in one.claim
    assert "shares with cubic (2 flows)" in two.claim
    (finding,) = told(rows((0.2, 0.9), flows=tuple(range(1, 9))))
    assert "takes 20.0 % to 90.0 % of the goodput that it shares with cubic, over 8 points" in finding.claim


def test_without_traffic_beside_trials_nothing_is_said() -> None:
    assert told(rows((None, None))) == []


def drawn(summary: list[dict], *, last: str | None = None) -> list:
    """The figures; `last`: traffic whose rows come in another place than its name has in the plan."""
    shares, share_series = [], []
    for row in summary:
        parts = [("cubic", 1 - row["share"]), ("", row["share"])]
        for traffic, share in [*parts, (last, 0.1)] if last else parts:
            known = {"trial_id": row["trial_id"], "traffic": traffic, "goodput_bps": share * 48e6}
            shares.append(known | {"share": share, "jain_flows": 0.8, "jain_groups": 0.8})
            share_series += [known | {"bin": number, "common": number >= 0} for number in range(-1, 4)]
    return of_kind(figures(summary, shares=shares, share_series=share_series), "shares")


def test_the_figure_has_a_bar_for_each_traffic_and_jains_index() -> None:
    bars, over_time = drawn(rows())
    own, other = bars.figure.data
    assert (own.name, other.name) == ("the trial: bbr", "cubic")
    assert own.y[0] == pytest.approx(48 * sum(SHARES) / 3, rel=1e-4)
    # The same numbers as in the finding.
    assert own.x[0] == "the trial: bbr 71.3 %<br>cubic 28.7 %<br>Jain's index 0.800"
    assert own.error_y.array[0] == pytest.approx(48 * (0.73 - sum(SHARES) / 3), rel=1e-3)
    assert len(bars.rows) == 6
    # Over time the trial with the median share.
    assert {row["trial_id"] for row in over_time.rows} == {"t1-2"}
    assert list(over_time.figure.data[0].x) == [-1, 0, 1, 2, 3]
    assert over_time.figure.data[0].y[1] + over_time.figure.data[1].y[1] == pytest.approx(48)
    pale, *whole = over_time.figure.data[0].marker.opacity
    assert pale < whole[0]
    assert set(whole) == {1.0}


def test_each_traffic_has_one_colour_in_both_figures() -> None:
    found = drawn([row | {"background": ["probe", "zeta", "cubic"]} for row in rows()], last="zeta")
    colours = [[(trace.name, trace.marker.color) for trace in one.figure.data] for one in found]
    assert colours[0] == colours[1]
    assert [name for name, _ in colours[0]] == ["the trial: bbr", "zeta", "cubic"]


def test_many_points_leave_no_room_for_shares_below_them() -> None:
    bars, _ = drawn(rows(flows=(1, 2, 4, 8, 16)))
    assert bars.figure.data[0].x[0] == "flows 1<br>Jain's index 0.800"


def test_without_shares_there_is_no_such_figure() -> None:
    assert of_kind(figures(rows((None,))), "shares") == []


def test_a_place_has_names_and_units_of_its_levels() -> None:
    levels = (("flows", 4), ("flows_per_pair", 4), ("window_sum_bytes", 1 << 20), ("window_bytes", 1 << 18))
    assert (
        place_of((*levels, ("congestion_asked", "bbr")))
        == " (4 flows, window sum 1 MiB, congestion control bbr)"
    )
    assert place_of((("flows", 8), ("flows_per_pair", 4))) == " (8 flows, flows per pair of hosts 4)"
    assert place_of(()) == ""


@pytest.mark.parametrize(
    ("flows", "claim"),
    [
        ((1,), "71.3 % [67.4, 75.0] on average of {}; 3 trials."),
        (tuple(range(1, 8)), "70.0 % to 73.0 % of {}, over 7 points."),
    ],
)
def test_nothing_is_said_to_be_shared_with_traffic_of_another_way(flows: tuple[int, ...], claim: str) -> None:
    summary = rows(flows=flows)
    trials = frozenset(row["trial_id"] for row in summary)
    (observed,) = observations(summary)
    (finding,) = decided(share_hypotheses(observed, trials))
    whole = "the goodput of all traffic, that of cubic included"
    assert finding.claim == f"starlight → sara: bbr takes {claim.format(whole)}"
