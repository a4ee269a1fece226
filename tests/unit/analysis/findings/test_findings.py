"""What is concluded from campaigns whose truth is known, and in which words."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats
from typer.testing import CliRunner

from analysis_support import make_campaign, write_archive
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.design import AXES, design
from flowsweep.analysis.statistics.observations import Scope, observations
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.cli.options import read_margin
from flowsweep.errors import PlanError
from literature import PENICILLIN, SLEEP
from synthetic_campaigns import KIB, Grid, Row, campaign, heavy_tailed

QUIET = Grid(noise=0.003)
POWER = 0.95

load(["findings"])


def found(rows: list[Row], kind: str, axis: str | None = None, *, margin: float = 0.03) -> Finding:
    [one] = [
        finding
        for finding in findings(rows, margin=margin)
        if finding.kind == kind and axis in (None, finding.axis)
    ]
    return one


def towards_a(row: Row) -> float:
    return 0.04 if row["dst"] == "a" else 0.0


def test_the_size_of_an_effect_is_told_with_its_interval() -> None:
    grid = replace(QUIET, effect=lambda row: math.log(1.1) * (row["window_sum_bytes"] > 3000 * KIB))
    window = found(campaign(grid, 1), "effect", "window_sum_bytes")
    assert window.decision == "effect"
    assert window.effect == pytest.approx(10, abs=0.5)
    assert window.interval_low < window.effect < window.interval_high
    assert window.claim.startswith("Window sum matters: from 512 KiB to 4 MiB goodput rises by ")
    assert f"{window.effect:.1f} % [{window.interval_low:.1f}, {window.interval_high:.1f}]" in window.claim
    assert window.p_value <= window.p_adjusted < 1e-6
    assert "permutation within blocks: p = 0.001" in window.method
    assert (window.n, len(window.evidence), window.figure.kind) == (120, 120, "effects")


def test_large_changes_are_told_as_multiples() -> None:
    grid = replace(QUIET, effect=lambda row: math.log(row["window_sum_bytes"]))
    window = found(campaign(grid, 1), "effect", "window_sum_bytes")
    assert window.effect == pytest.approx(700, rel=0.01)
    ends = (1 + percent / 100 for percent in (window.effect, window.interval_low, window.interval_high))
    told = "{:.2f}-fold [{:.2f}, {:.2f}]".format(*ends)
    assert window.claim == f"Window sum matters: from 512 KiB to 4 MiB goodput rises {told}."


def test_a_length_that_does_not_matter() -> None:
    grid = replace(QUIET, flows=(1,), lengths=(2000, 4000, 8000, 16000))
    length = found(campaign(grid, 1), "effect", "length_bytes")
    assert length.decision == "no practical effect"
    assert length.claim.startswith("Length 2 KB … 16 KB changes goodput by ")
    assert length.claim.endswith("]: no practical effect.")


def test_too_much_noise_leaves_it_undecided() -> None:
    length = found(campaign(Grid(noise=0.2, flows=(1,), lengths=(2000, 16000)), 1), "effect", "length_bytes")
    assert length.decision == "undecided"
    assert length.claim.startswith("Whether length matters is undecided: 2 KB … 16 KB changes goodput by ")
    assert length.claim.endswith("]; up to 3 % would be of no practical effect.")


def test_the_margin_is_a_person_s_choice() -> None:
    rows = campaign(Grid(), 1)
    assert found(rows, "flows").decision == "no practical effect"
    assert found(rows, "flows", margin=0.005).decision == "undecided"


def test_flows_at_equal_window_sum_although_the_window_per_flow_differs() -> None:
    # 1 MiB does not divide by 3: the sum is a byte short there, and still the same level.
    rows = campaign(
        replace(QUIET, flows=(1, 3), effect=lambda row: 0.5 * (row["window_sum_bytes"] > 600_000)), 1
    )
    [observed] = observations(rows)
    assert design(observed).axes == ("window_sum_bytes", "flows")
    assert len(design(observed).levels("window_sum_bytes")) == 4
    assert found(rows, "flows").claim.startswith(
        "At equal window sum the number of flows 1 … 3 changes goodput by "
    )


def test_windows_per_flow_are_the_axis_where_they_span_the_grid() -> None:
    rows = campaign(replace(QUIET, flows=(1, 2, 4)), 1)
    for row in rows:
        row["window_sum_bytes"] = row["window_sum_bytes"] * row["flows"]
        for end in ("", "_send", "_recv"):
            row[f"window{end}_bytes"] = row["window_sum_bytes"] // row["flows"]
    [observed] = observations(rows)
    assert design(observed).axes == ("window_bytes", "flows")
    assert {finding.kind for finding in findings(rows) if finding.axis == "flows"} == {"effect"}


def test_an_interaction_is_not_noise() -> None:
    """Below the plateau goodput doubles with the window: no mean of levels plus levels fits that."""

    def knee(row: Row) -> float:
        return math.log(min(row["window_sum_bytes"], row["flows"] * 300_000))

    flows = found(campaign(replace(QUIET, effect=knee), 1), "flows")
    assert flows.decision == "effect"
    assert flows.interval_high - flows.interval_low < 0.02 * flows.effect
    told = re.search(
        r"on average \((.*)-fold at window sum 4 MiB, (.*)-fold at window sum 512 KiB\)", flows.claim
    )
    assert told is not None
    assert float(told[1]) == pytest.approx(4096 * KIB / 300_000, rel=0.01)
    assert float(told[2]) == pytest.approx(512 * KIB / 300_000, rel=0.01)
    once = found(campaign(replace(QUIET, effect=knee, repeats=1), 1), "flows")
    assert "one repeat: additive model" in once.method
    assert once.interval_high - once.interval_low > 0.5 * once.effect


def test_a_mean_over_the_grid_does_not_hide_what_happens_in_a_part_of_it() -> None:
    def crossed(row: Row) -> float:
        few = row["flows"] == 1
        return {512 * KIB: 0.06, 1024 * KIB: -0.06}.get(row["window_sum_bytes"], 0.0) * few

    flows = found(campaign(replace(QUIET, effect=crossed), 1), "flows")
    assert flows.decision == "undecided"
    assert flows.claim.endswith("but it may be more in some part of the grid.")


def test_a_peak_between_the_ends_is_named() -> None:
    grid = replace(QUIET, effect=lambda row: 0.1 * (row["flows"] == 4))
    flows = found(campaign(grid, 1), "flows")
    assert flows.decision == "effect"
    assert "at 4 goodput is 10." in flows.claim
    assert "(the highest and the lowest mean of " in flows.claim
    assert "interval likewise" in flows.method


def test_small_is_not_important_however_certain() -> None:
    grid = replace(QUIET, noise=0.001, effect=lambda row: 0.01 * (row["flows"] == 16))
    flows = found(campaign(grid, 1), "flows")
    assert flows.decision == "effect"
    assert flows.claim.startswith("At equal window sum the number of flows: from ")
    assert flows.claim.endswith("], beyond chance, but less than the margin of 3 %.")


def test_the_faster_direction() -> None:
    direction = found(campaign(replace(QUIET, effect=towards_a), 1), "direction")
    assert direction.decision == "effect"
    assert direction.claim.startswith("b → a is 4.")
    assert direction.claim.endswith("] faster than a → b.")
    assert (direction.direction, direction.effect) == ("b → a", pytest.approx(4.1, abs=0.3))
    assert direction.interval_low < direction.effect < direction.interval_high
    assert "60 pairs" in direction.method


def test_directions_side_by_side_count_once() -> None:
    """What both directions of a minute share is no error of their difference, but of everything else."""
    rows = campaign(replace(QUIET, pair=0.05, effect=towards_a), 1)
    direction, flows = found(rows, "direction"), found(rows, "flows")
    assert direction.interval_high - direction.interval_low < 0.4
    assert flows.interval_high - flows.interval_low > 4


def test_student_s_sleep_as_a_difference_of_directions() -> None:
    """The same t as in Student 1908: logarithms that differ as the hours of sleep did, in hundredths."""
    rows = campaign(Grid(flows=(1,), window_sums=(512 * KIB,), repeats=10), 1)
    for row in rows:
        hours = SLEEP[int(row["src"] == "a"), row["repeat"] - 1]
        row["goodput_bps"] = 1e8 * math.exp(hours / 100)
    direction = found(rows, "direction")
    assert direction.p_value == pytest.approx(0.002833, abs=5e-7)
    shifts = [direction.effect, direction.interval_low, direction.interval_high]
    told = [100 * math.log1p(percent / 100) for percent in shifts]
    assert told == pytest.approx([1.58, 0.7001, 2.4599], abs=5e-5)


def test_penicillin_as_a_choice_of_congestion_control() -> None:
    """Blends are repeats and treatments are levels; variance 226 / 12 on 12 degrees of freedom."""
    names = ("bbr", "cubic", "reno", "vegas")
    rows = campaign(
        Grid(flows=(1,), window_sums=(512 * KIB,), congestions=names, directions=(("a", "b"),), repeats=5), 1
    )
    for row in rows:
        grams = PENICILLIN[row["repeat"] - 1, names.index(row["congestion_asked"])]
        row["goodput_bps"] = 1e8 * math.exp(grams / 1000)
    congestion = found(rows, "congestion")
    difference, error = 89 - 84, math.sqrt(226 / 12 * 2 / 5)
    assert 1000 * math.log1p(congestion.effect / 100) == pytest.approx(difference)
    assert congestion.p_value == pytest.approx(6 * 2 * stats.t.sf(difference / error, 12))
    half = error * stats.t.ppf(1 - 0.025 / 6, 12)
    assert 1000 * math.log1p(congestion.interval_high / 100) == pytest.approx(difference + half)


def test_a_direction_that_is_many_times_as_fast() -> None:
    direction = found(campaign(replace(QUIET, effect=lambda row: 2 * (row["dst"] == "a")), 1), "direction")
    assert direction.claim.startswith(f"b → a is {math.exp(2):.2f} times [7.3")
    assert direction.claim.endswith("] as fast as a → b.")


def test_trials_that_tell_nothing_make_no_numbers() -> None:
    rows = campaign(Grid(noise=3, repeats=1, flows=(1,), lengths=(2000, 16000)), 1)
    length = found(rows, "effect", "length_bytes")
    assert length.claim == (
        "Whether length matters is undecided: the trials do not even tell a change by a factor of 3."
    )


def test_a_trial_without_its_other_direction_is_left_out_and_said_so() -> None:
    rows = campaign(replace(QUIET, effect=lambda row: 0.5 if row["dst"] == "a" else 0.0), 1)
    for row in rows:
        if row["flows"] == 16 and row["dst"] == "a" and row["repeat"] == 2:
            row["status"] = "failed"
    flows = found(rows, "flows")
    assert flows.decision == "no practical effect"
    assert flows.n == 112
    assert "4 trials left out: that of the other direction is missing" in flows.method


def test_congestion_controls_are_ranked() -> None:
    gains = {"bbr": 0.1, "cubic": 0.0, "reno": 0.05}
    grid = Grid(
        flows=(1,), congestions=tuple(gains), noise=0.003, effect=lambda row: gains[row["congestion_asked"]]
    )
    congestion = found(campaign(grid, 1), "congestion")
    assert congestion.decision == "effect"
    assert congestion.claim.startswith("Congestion control matters: with bbr goodput is 10.")
    assert congestion.claim.endswith("] higher than with cubic (the highest and the lowest mean of 3).")


def test_one_repeat_of_one_direction_and_axis_decides_nothing() -> None:
    alone = Grid(flows=(1,), directions=(("a", "b"),), repeats=1)
    window = found(campaign(alone, 1), "effect", "window_sum_bytes")
    assert (window.decision, window.p_value, window.effect) == ("undecided", None, None)
    assert "more repeats would" in window.claim


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("levels", [(None, 2), (None, 2, 3)])
def test_levels_that_nobody_told_are_borne_on_every_axis(axis: str, levels: Sequence[int | None]) -> None:
    """A file of another tool may say the duration of some tests only, or the number of flows."""
    rows = campaign(Grid(flows=(1,), window_sums=(1 << 20,), lengths=range(len(levels)), repeats=6), 1)
    for row in rows:
        level = levels[row["length_bytes"]]
        row["length_bytes"] = 8192
        words = {"congestion_asked": f"cubic{level}", "affinity": (level,), "family": f"ipv{level}"}
        row[axis] = None if level is None else words.get(axis, level)
    assert findings(rows)


def test_nothing_that_went_well_gives_no_findings() -> None:
    rows = campaign(Grid(), 1)
    assert findings([row | {"status": "failed", "goodput_bps": None} for row in rows]) == ()
    assert findings([]) == ()


def test_what_matters_stands_first() -> None:
    told = findings(campaign(replace(QUIET, effect=towards_a), 1))
    order = [finding.decision for finding in told if finding.kind in {"direction", "flows", "effect"}]
    assert order == ["effect", "no practical effect", "no practical effect"]


def asked(p_value: float | None, **changes: object) -> Hypothesis:
    settings = {"method": "m", "p_value": p_value}
    return Hypothesis("effect", Scope("s", "copy"), lambda decision: decision, ("1",), **(settings | changes))


def test_every_hypothesis_asked_counts() -> None:
    alone, *_ = decided([asked(0.02)])
    assert (alone.decision, alone.p_adjusted) == ("effect", 0.02)
    among, *_ = decided([asked(0.02), asked(0.9), asked(0.9)])
    assert (among.decision, among.p_adjusted) == ("undecided", 0.06)


def test_hypotheses_without_a_test_are_described_and_do_not_count() -> None:
    tested, told, untold = decided([asked(0.02), asked(None), asked(None, untestable=True)])
    assert (tested.p_adjusted, told.decision, untold.decision) == (0.02, "described", "undecided")


def test_a_second_opinion_is_asked_only_for_claims_and_may_refuse_them() -> None:
    def never() -> float:
        pytest.fail("nothing is claimed")

    borne_out, refused, within = decided(
        [
            asked(1e-6, second_opinion=lambda: 0.01),
            asked(1e-6, second_opinion=lambda: 0.2, within_margin=True),
            asked(0.5, second_opinion=never, within_margin=True),
        ]
    )
    assert (borne_out.decision, refused.decision, within.decision) == (
        "effect", "undecided", "no practical effect",
    )  # fmt: skip
    assert refused.method == "m; permutation within blocks: p = 0.2, which does not bear it out"


@pytest.mark.long
@pytest.mark.parametrize("draw", [None, heavy_tailed])
def test_a_hundred_campaigns_without_effects(draw: object) -> None:
    """A small form of tests/truth/test_false_alarms.py, with fixed seeds."""
    grid = Grid() if draw is None else Grid(draw=draw)
    told = [findings(campaign(grid, (draw is None, seed))) for seed in range(100)]
    alarms = sum(any(one.decision == "effect" for one in campaign_findings) for campaign_findings in told)
    # Of 100 × 5 % = 5 expected at most, 11 or more have a probability of 1 %.
    assert alarms < 11
    intervals = [
        one for all_of_one in told for one in all_of_one if one.kind in {"effect", "flows", "direction"}
    ]
    covered = sum(one.interval_low <= 0 <= one.interval_high for one in intervals)
    assert len(intervals) == 300
    assert 0.92 < covered / len(intervals) < 0.98


@pytest.mark.long
def test_a_hundred_campaigns_with_an_effect_of_ten_percent() -> None:
    truth = math.log(1.1)
    grid = Grid(effect=lambda row: truth * (row["window_sum_bytes"] - 512 * KIB) / (3584 * KIB))
    told = [found(campaign(grid, seed), "effect", "window_sum_bytes") for seed in range(100)]
    assert sum(one.decision == "effect" for one in told) >= POWER * 100
    covered = sum(one.interval_low <= 10 <= one.interval_high for one in told)
    assert 0.90 < covered / 100 < 0.99


def test_the_command_tells_people_and_programs(tmp_path: Path) -> None:
    archive = write_archive(
        tmp_path / "archive", make_campaign(flows=(1, 2), window_sums=(1 << 18, 1 << 20), repeats=2)
    )
    text = CliRunner().invoke(app, ["findings", str(archive), "--all"], catch_exceptions=False)
    assert text.exit_code == 0
    assert text.stdout.startswith("In short\n  Highest goodput  a → b: ")
    assert (
        "  a → b is 7.5 % [7.5, 7.5] faster than b → a; this rests on the 6 of 14 trials on the plateau, with"
        in text.stdout
    )
    assert "100 Mbit/s a → b and 93.0 Mbit/s b → a.\n    6 trials · p < 0.001 after Holm" in text.stdout
    told = json.loads(CliRunner().invoke(app, ["findings", str(archive), "--format", "json"]).stdout)
    [direction] = [one for one in told if one["kind"] == "direction"]
    assert direction["effect"] == pytest.approx(100 * (100 / 93 - 1), rel=1e-4)
    assert direction["figure"]["kind"] == "effects"
    conclusions, methods = text.stdout.split("\nMethods\n")
    numbers = {int(number) for number in re.findall(r" · method (\d+)$", conclusions, re.MULTILINE)}
    assert numbers == set(range(1, len({one["method"] for one in told}) + 1))
    assert {int(number) for number in re.findall(r"^ {1,3}(\d+)  ", methods, re.MULTILINE)} == numbers
    assert " ".join(methods.split()).count(direction["method"]) == 1


def test_the_command_prints_the_ten_that_matter_most_unless_asked_for_all(tmp_path: Path) -> None:
    archive = write_archive(
        tmp_path / "archive", make_campaign(flows=(1, 2), window_sums=(1 << 18, 1 << 20), repeats=2)
    )
    some, every = (
        CliRunner().invoke(app, ["findings", str(archive), *options], catch_exceptions=False).stdout
        for options in ((), ("--all",))
    )
    count = every.count(" · method ")
    assert (some.count(" · method "), count > 10) == (10, True)
    assert re.search(
        rf"^--all prints {count - 10} more findings(, \d+ of them undecided)?\.$", some, re.MULTILINE
    )
    assert "--all prints" not in every


def test_the_command_says_where_there_is_nothing_to_conclude(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "archive", [])
    text = CliRunner().invoke(app, ["findings", str(archive)], catch_exceptions=False).stdout
    assert text == "Nothing to conclude: of 0 trials 0 ended well.\n"
    assert CliRunner().invoke(app, ["findings", str(archive), "--format", "json"]).stdout == "[]\n"


def test_a_margin_is_a_percentage() -> None:
    assert read_margin("3%") == read_margin(" 3.0 % ") == 0.03
    for text in ("3", "0%", "60%", "-1%", "three %", ""):
        with pytest.raises(PlanError, match="expected a percentage above 0 and up to 50, as in 3%"):
            read_margin(text)
