"""A trial that ended when it knew: what counts of it, and what is said of it."""

from dataclasses import replace

import pytest

from analysis_support import SECOND_NS, Steady, make_outcome, make_trial
from flowsweep.plan.until.model import Until
from flowsweep.run.outcome import Decided, TrialOutcome
from flowsweep.wording import asked_duration, ending_words, lasted_words
from summary_support import summed

UNTIL = Until(share=0.02, at_least_ns=3 * SECOND_NS)


def ended(decided: Decided | None, *, lasted_s: float) -> TrialOutcome:
    """One that might have lasted 20 s, with 12.5 MB/s for as long as it did."""
    settings = {"duration_ns": 20 * SECOND_NS, "omit_ns": 0, "interval_ns": SECOND_NS // 2}
    # Samples are made for the whole duration; the pad takes off what did not happen.
    steady = Steady(pad_ns=round((lasted_s + 0.2 - 20) * SECOND_NS))
    outcome = make_outcome(make_trial(until=UNTIL, **settings), steady)
    return replace(outcome, record=outcome.record.model_copy(update={"decided": decided}))


def test_its_intervals_are_those_that_it_lasted() -> None:
    decided = Decided(
        counted_from_ns=1_250_000_000, ended_ns=4_250_000_000, half_width_share=0.0123, held_by=None
    )
    (row,) = summed(ended(decided, lasted_s=4.25))
    assert (row["status"], row["error"]) == ("ok", None)
    assert (row["bins"], row["bins_expected"], row["coverage"]) == (6, 6, 1.0)
    assert row["goodput_bps"] == pytest.approx(1e8)
    assert (row["duration_s"], row["lasted_s"], row["omit_s"]) == (20.0, 4.25, 1.25)
    assert (row["until_share"], row["ended_by"], row["held_by"]) == (0.02, "known", None)
    assert row["half_width_share"] == 0.0123
    assert asked_duration(row) == "until known to ±2 %, up to 20 s"
    assert lasted_words(row) == "4.25 s, known"
    assert ending_words(row) == (
        "It ended after 4.25 s, when its mean was known to ±1.2 %; what counts begins 1.25 s after the start."
    )


def test_its_time_may_be_over_first() -> None:
    decided = Decided(
        counted_from_ns=0, ended_ns=20_000_000_000, half_width_share=0.2, held_by="window_grows"
    )
    (row,) = summed(ended(decided, lasted_s=20))
    assert (row["bins"], row["bins_expected"]) == (40, 40)
    assert (row["ended_by"], row["held_by"]) == ("at_most", "window_grows")
    assert ending_words(row).startswith(
        "Its mean was not known to ±2 % after 20 s: a flow's window still grew"
    )


def test_what_was_cut_off_did_not_end() -> None:
    (row,) = summed(ended(None, lasted_s=2))
    assert (row["until_share"], row["lasted_s"], row["ended_by"]) == (0.02, None, None)
    assert (row["bins_expected"], row["duration_s"]) == (40, 20.0)
    assert (ending_words(row), lasted_words(row)) == ("", "")


def test_a_trial_that_cannot_end_early_says_nothing_of_it() -> None:
    (row,) = summed(make_outcome(make_trial()))
    names = ("until_share", "lasted_s", "ended_by", "held_by", "half_width_share")
    assert [row[name] for name in names] == [None] * 5
    assert (row["duration_s"], asked_duration(row)) == (5.0, "5 s")
