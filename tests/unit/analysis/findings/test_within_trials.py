"""What is computed of trials over their own time is the same by the short way and by the long one."""

from dataclasses import replace
from typing import Any

import pytest

from analysis_support import SECOND_NS, Steady, make_outcome, make_samples, make_trial
from flowsweep.analysis import bins, intervals, summary
from flowsweep.analysis.binning.shorter_durations import durations_cut
from flowsweep.analysis.findings.duration import cuts_of
from flowsweep.analysis.findings.within_trials import within_trial_hypotheses, within_trials
from flowsweep.analysis.statistics.observations import observations
from flowsweep.archive import tables_of
from flowsweep.run.outcome import TrialOutcome

TORN_S = 2
"""In this second one flow lacks a sample, and the other has one twice."""


def outcome(*, torn: bool) -> TrialOutcome:
    """Eight seconds of two flows."""
    trial = make_trial(flows=2, duration_ns=8 * SECOND_NS, omit_ns=0)
    whole = make_outcome(trial, Steady())
    rows: list[dict[str, Any]] = whole.samples.to_pylist()
    if torn:
        lacking, twice = (_sample(rows, flow) for flow in (0, 1))
        rows = [row for row in rows if row is not lacking] + [twice]
    return replace(whole, samples=make_samples(rows))


def _sample(rows: list[dict[str, Any]], flow: int) -> dict[str, Any]:
    asked = ("sink", flow)
    middle_ns = TORN_S * SECOND_NS + SECOND_NS // 2
    return next(row for row in rows if (row["role"], row["flow"]) == asked and row["start_ns"] >= middle_ns)


@pytest.mark.parametrize("torn", [pytest.param(False, marks=pytest.mark.long), True])
def test_trials_are_cut_as_the_bins_of_each_flow_say(*, torn: bool) -> None:
    tables = tables_of([outcome(torn=torn)])
    resampled = intervals(bins(tables.samples, tables.trials, tables.flows), tables.trials)
    exact = cuts_of(durations_cut(resampled, tables.trials).to_pyarrow().to_pylist())
    complete = resampled.filter(resampled.complete).count().to_pyarrow().as_py()
    assert complete == 8 - torn
    found = within_trials(tables, summary(tables).to_pyarrow().to_pylist())
    assert found.cuts == exact
    assert len(found.reached) == 1


@pytest.mark.long
def test_trials_whose_samples_are_gone_are_not_said_to_be_slow() -> None:
    tables = tables_of([outcome(torn=False)])
    [row] = summary(tables).to_pyarrow().to_pylist()
    within = within_trials(tables, [row])
    retired = [row | {"trial_id": f"{number:012x}"} for number in range(1, 5)]
    [observed] = observations([row, *retired])
    [found] = [one for one in within_trial_hypotheses(observed, within) if one.kind == "slow_start"]
    assert ", in 1 trial. " in found.say("described")
    assert "did not within" not in found.say("described")
    # Trials with samples that never got there still are.
    never = replace(within, sampled=None)
    [found] = [one for one in within_trial_hypotheses(observed, never) if one.kind == "slow_start"]
    assert "; 4 trials did not within 1 min" in found.say("described")
