"""How long a trial has to be, and how long it took to come up to speed."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest

from analysis_support import SECOND_NS, Steady, make_flows, make_outcome, make_samples, make_trial
from flowsweep.analysis import bins, intervals
from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.binning.shorter_durations import durations_cut
from flowsweep.analysis.findings.duration import cut_hypotheses, duration_hypotheses, shares_in_words
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.slow_start import slow_start_hypotheses
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.independent_trials import Independent, independent
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.tests.tcp.slow_start import slow_starts
from flowsweep.archive import Tables, tables_of
from flowsweep.run.outcome import TrialOutcome
from synthetic_campaigns import Grid, Row, campaign

RAMP_NS = 1_200_000_000
DURATION_S = 8
DURATIONS = (1, 2, 5, 30)


def shaped(steady: Steady, share: Callable[[int], float], *, repeat: int, flows: int = 1) -> TrialOutcome:
    """A trial of eight seconds whose flows carry a share of the steady rate, by the time."""
    trial = make_trial(repeat=repeat, flows=flows, duration_ns=DURATION_S * SECOND_NS, omit_ns=0)
    outcome = make_outcome(trial, steady)
    rows = [
        row | {"bytes": round(row["bytes"] * share(row["start_ns"] - row["flow"] * steady.stagger_ns))}
        for row in outcome.samples.to_pylist()
    ]
    ends = [(role, flow) for role in ("source", "sink") for flow in range(flows)]
    totals = [
        {
            "role": role,
            "flow": flow,
            "bytes": sum(row["bytes"] for row in rows if (row["role"], row["flow"]) == (role, flow)),
        }
        for role, flow in ends
    ]
    return replace(outcome, samples=make_samples(rows), flows=make_flows(totals))


def ramp(at_ns: int) -> float:
    return 0.1 if at_ns < RAMP_NS else 1.0


def stairs(at_ns: int) -> float:
    return (1 + at_ns // SECOND_NS) / 10


@pytest.fixture(scope="module")
def tables() -> Tables:
    outcomes = [
        shaped(Steady(), ramp, repeat=1),
        shaped(Steady(min_rtt_us=250_000), ramp, repeat=2, flows=2),
        shaped(Steady(), stairs, repeat=3),
    ]
    return tables_of(outcomes)


@pytest.fixture(scope="module")
def reached(tables: Tables) -> list[dict[str, Any]]:
    rates = {1: 100e6, 2: 200e6, 3: 1e12}
    trials = tables.trials.select("trial_id", "repeat").to_pyarrow().to_pylist()
    headline = [{"trial_id": row["trial_id"], "goodput_bps": rates[row["repeat"]]} for row in trials]
    found = slow_starts(
        tables.samples, tables.trials, kept_starts(tables), ibis.memtable(pa.Table.from_pylist(headline))
    )
    repeats = {row["trial_id"]: row["repeat"] for row in trials}
    return [row | {"repeat": repeats[row["trial_id"]]} for row in found.to_pyarrow().to_pylist()]


def test_slow_start_by_hand(reached: list[dict[str, Any]]) -> None:
    """The ramp ends at 1.2 s: steps of 0.1 s are fast from [1.2, 1.3) on, of 0.3 s from [1.2, 1.5)."""
    found = {row["repeat"]: (row["slow_start_ns"], row["step_ns"]) for row in reached}
    assert found == {1: (1_300_000_000, 100_000_000), 2: (1_500_000_000, 300_000_000)}


def test_trials_cut_by_hand(tables: Tables) -> None:
    """10, 20, 30 … Mbit/s, second by second: the first three have 20 as their median, the first four 25."""
    totals = intervals(bins(tables.samples, tables.trials, tables.flows), tables.trials)
    [stairs_id] = [
        row["trial_id"]
        for row in tables.trials.select("trial_id", "repeat").to_pyarrow().to_pylist()
        if row["repeat"] == 3
    ]
    found = durations_cut(totals, tables.trials).to_pyarrow().to_pylist()
    cuts = {
        row["duration_ns"] / SECOND_NS: row["goodput_bps"] for row in found if row["trial_id"] == stairs_id
    }
    assert cuts == pytest.approx({3: 20e6, 4: 25e6, 5: 30e6, 6: 35e6})


def long_trials(noise: float = 0.003, block: float = 0.002, repeats: int = 3) -> list[Row]:
    rows = campaign(Grid(flows=(1, 2), noise=noise, block=block, repeats=repeats), 1)
    for row in rows:
        row["duration_s"] = 30.0
    return rows


def cut_finding(rows: list[Row], shares: dict[int, Callable[[Row], float]]) -> Finding:
    [observed] = observations(rows)
    cuts = {
        row["trial_id"]: {
            seconds * SECOND_NS: row["goodput_bps"] * share(row) for seconds, share in shares.items()
        }
        for row in rows
    }
    [finding] = decided(cut_hypotheses(observed, cuts))
    return finding


def test_the_shortest_duration_that_tells_the_same() -> None:
    finding = cut_finding(
        long_trials(),
        {4: lambda row: 0.9, 8: lambda row: 1.005 + 0.002 * (row["repeat"] - 2), 15: lambda row: 1.0 + 0.0},
    )
    assert (finding.decision, finding.effect, finding.effect_unit) == ("described", 8.0, "s")
    assert finding.claim == (
        "Trials of 8 s would tell the same as those of 30 s: at least 99 % of independent ones come "
        "within 3 % of the mean of those of 30 s, from which they differ by 0.5 % [0.4, 0.6] on average. "
        "This is of median intervals, and says nothing of longer trials, nor of what losses cost."
    )


def test_a_duration_that_is_right_on_average_only_is_not_enough() -> None:
    def unsteady(row: Row) -> float:
        return 1.1 if row["order_index"] % 2 else 1 / 1.1

    finding = cut_finding(long_trials(), {10: unsteady})
    assert finding.effect == 30.0
    assert finding.claim.startswith(
        "No duration below 30 s is shown to tell the same, for which at least 90 % of trials have to: fewer "
        "than 1 % of independent trials of 10 s come "
    )


def test_a_share_stands_beside_its_lower_end_only_where_they_differ() -> None:
    """Rows of share and lower end; no share of trials to come is certain."""
    said = {
        (0.926, 0.921): "at least 92 % of independent trials of 15 s come within 3 %",
        (0.926, 0.871): "92 % (at least 87 % with 95 % confidence) of independent trials of 15 s come within",
        (1.0, 0.998): "at least 99 % of independent trials of 15 s come within 3 %",
        (0.004, 0.0): "fewer than 1 % of independent trials of 15 s come within 3 %",
    }
    for (share, least), words in said.items():
        estimate = Independent(0.0, 0.01, share, least)
        assert shares_in_words(estimate, "independent trials of 15 s", 0.03).startswith(words)


def test_trials_that_differ_by_more_than_the_margin_whatever_their_duration() -> None:
    """Repeats differ by 5 %: what was promised for parts of the same trials holds for no other trial."""
    finding = cut_finding(long_trials(block=0.05, repeats=6), {15: lambda row: 1.001})
    assert (finding.decision, finding.effect) == ("described", None)
    assert finding.claim.startswith("No duration is shown to be long enough, not even the longest, 30 s: ")
    assert "; of those of 30 s themselves " in finding.claim


def test_without_repeats_nobody_knows_how_much_trials_differ() -> None:
    finding = cut_finding(long_trials(repeats=1), {15: lambda row: 1.001})
    assert (finding.decision, finding.effect) == ("undecided", None)
    assert finding.claim == (
        "How long a trial has to be is undecided: only repeats tell how much trials differ."
    )


def test_a_promise_about_durations_holds_for_independent_trials() -> None:
    """Intervals of 5 %, neighbours correlated by 0.7: parts are near their wholes.

    Of independent trials of the length that parts alone would promise only 70 % come within 3 %.
    """
    generator = np.random.default_rng(1)
    length, margin, cuts = 30, 0.03, (5, 10, 15, 20, 25)

    def logs(count: int) -> Any:
        noise = generator.standard_normal((count, length))
        for second in range(1, length):
            noise[:, second] = 0.7 * noise[:, second - 1] + math.sqrt(1 - 0.49) * noise[:, second]
        return 0.05 * noise

    many = logs(20_000)
    level = np.median(many, axis=1).mean()
    truth = [
        float(np.mean(np.abs(np.median(many[:, :cut], axis=1) - level) <= math.log1p(margin))) for cut in cuts
    ]
    cells, blocks = np.repeat(np.arange(8), 5), np.tile(np.arange(5), 8)
    held, promised = 0, 0
    for _ in range(100):
        drawn = logs(len(cells))
        whole = np.median(drawn, axis=1)
        for cut, true in zip(cuts, truth, strict=True):
            part = np.median(drawn[:, :cut], axis=1)
            told = independent(part, whole, cells, blocks, margin)
            assert told is not None
            held += told.least_share <= true
            promised += told.least_share >= 0.9 and true < 0.9
    assert held >= 0.95 * 500
    assert promised <= 0.05 * 500


def test_a_duration_is_told_with_the_pair_that_was_tested() -> None:
    """Only 2 s differs from 30 s: the sentence says so, not what 1 s does."""
    finding = tried(lambda row: math.log(0.9) if row["length_bytes"] == 2 else 0.0)
    assert finding.decision == "effect"
    assert finding.claim.startswith("The duration matters: goodput in 2 s differs by −")


def test_one_stalled_trial_does_not_hide_that_durations_agree() -> None:
    grid = Grid(flows=(1,), window_sums=(1 << 20,), lengths=DURATIONS, repeats=6, noise=0.01)
    rows = campaign(grid, 1)
    for row in rows:
        row |= {"duration_s": float(row["length_bytes"]), "length_bytes": 8192}
    rows[7]["goodput_bps"] *= 0.1
    [observed] = observations(rows)
    [finding] = decided(duration_hypotheses(observed, design(observed)))
    assert finding.decision == "no practical effect"
    assert finding.method.endswith(
        "; 2 trials left out that stand out from their repeats, or are the counterpart of one"
    )


def tried(effect: Callable[[Row], float]) -> Finding:
    grid = Grid(flows=(1,), window_sums=(1 << 20,), lengths=DURATIONS, repeats=6, noise=0.01)
    rows = campaign(replace(grid, effect=effect), 1)
    for row in rows:
        row |= {"duration_s": float(row["length_bytes"]), "length_bytes": 8192}
    [observed] = observations(rows)
    [finding] = decided(duration_hypotheses(observed, design(observed)))
    return finding


def test_durations_that_were_tried() -> None:
    finding = tried(lambda row: math.log(0.8) if row["length_bytes"] == 1 else 0.0)
    assert (finding.decision, finding.effect) == ("effect", 2.0)
    assert finding.claim.startswith("The duration matters: goodput in 1 s differs by −19.8 % [")
    assert finding.claim.endswith("; from 2 s on they agree within 3 %.")


def test_durations_that_do_not_matter() -> None:
    finding = tried(lambda row: 0.0)
    assert (finding.decision, finding.effect) == ("no practical effect", 1.0)
    assert finding.claim == "The duration does not matter: 1 s tells the same as 30 s, within 3 %."


def test_trials_whose_duration_nobody_told_are_left_out() -> None:
    grid = Grid(flows=(1,), window_sums=(1 << 20,), lengths=DURATIONS, repeats=6, noise=0.01)
    rows = campaign(grid, 1)
    for row in rows:
        told = row["length_bytes"] != DURATIONS[1]
        row |= {"duration_s": float(row["length_bytes"]) if told else None, "length_bytes": 8192}
    [observed] = observations(rows)
    [finding] = decided(duration_hypotheses(observed, design(observed)))
    assert finding.claim == "The duration does not matter: 1 s tells the same as 30 s, within 3 %."
    assert finding.n == sum(row["duration_s"] is not None for row in rows) < len(rows)


def slow_start_finding(omit_s: float) -> Finding:
    rows = long_trials()
    for row in rows:
        row["omit_s"] = omit_s
    [observed] = observations(rows)
    reached = {row["trial_id"]: {"slow_start_ns": SECOND_NS * row["repeat"]} for row in rows}
    [finding] = decided(slow_start_hypotheses(observed, reached))
    return finding


def test_slow_start_in_words() -> None:
    """By hand: the geometric mean of 1, 2 and 3 s is the cube root of 6, 1.817 s."""
    finding = slow_start_finding(omit_s=3.0)
    assert finding.decision == "described"
    assert finding.effect == pytest.approx(6 ** (1 / 3))
    assert finding.interval_low < finding.effect < finding.interval_high
    assert finding.claim == (
        "Goodput reached 90 % of what it became within 1.82 s on average (1 s to 3 s), in 48 trials: what is "
        "omitted of each trial covers that. A loss in which slow start ends may still follow."
    )


def test_slow_start_that_outlasts_what_is_omitted() -> None:
    assert slow_start_finding(omit_s=2.0).claim.endswith(
        "16 trials were still speeding up when the omitted time ended: that time is included in the mean."
    )
    assert slow_start_finding(omit_s=0.0).claim.endswith(
        ", in 48 trials. Nothing is omitted of 48 trials: that time is included in the mean."
    )


def test_a_campaign_with_samples_has_both(tables: Tables) -> None:
    rows = long_trials()[:12]
    trials = tables.trials.select("trial_id").to_pyarrow().to_pylist()
    for row, trial in zip(rows, trials, strict=False):
        row |= {"trial_id": trial["trial_id"], "goodput_bps": 90e6}
    kinds = {finding.kind for finding in findings(rows, tables=tables)}
    assert {"slow_start", "duration"} <= kinds
