"""Campaigns whose slow trials fail: no outcome that rests on the ones that did not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compared_campaigns import Drawn, drawn, failing_slow, outcomes
from flowsweep.analysis.comparing.comparison import compare
from flowsweep.analysis.comparing.points import point_of
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.analysis.comparing.words import change, only_in
from flowsweep.cli.compare import FailIf, exit_code

COUNT = 60


def one_of_twenty(rng: np.random.Generator, deviations: Any) -> Any:
    return rng.random(deviations.shape) < 0.05


A = Drawn(8, 8, noise=0.15, block=0.0)
B_LOSES_ITS_SLOW_TRIALS = Drawn(8, 8, noise=0.15, block=0.0, fails=failing_slow)


def test_a_campaign_whose_slow_trials_fail_is_not_faster() -> None:
    rng = np.random.default_rng(40)
    compared = [compare(drawn(A, rng), drawn(B_LOSES_ITS_SLOW_TRIALS, rng)) for _ in range(COUNT)]
    assert sum("faster" in outcomes(comparison) for comparison in compared) <= 0.05 * COUNT
    assert all("failed in A" in " ".join(comparison.remarks) for comparison in compared)
    taken_back = [comparison for comparison in compared if "taken back" in " ".join(comparison.remarks)]
    assert len(taken_back) > COUNT / 4
    for comparison in taken_back:
        assert exit_code(comparison, FailIf.different) == 3


def test_a_true_shift_is_found_although_some_trials_fail_in_both() -> None:
    rng = np.random.default_rng(41)
    ways = [Drawn(8, 5, block=0.01, shift=shift, fails=one_of_twenty) for shift in (0.0, -0.1)]
    found = 0
    for _ in range(COUNT):
        overall = compare(drawn(ways[0], rng), drawn(ways[1], rng)).overall
        assert overall is not None
        found += overall.outcome == "slower"
    assert found >= 0.9 * COUNT


def test_a_comparison_says_how_many_failed_and_what_it_takes_back() -> None:
    rng = np.random.default_rng(42)
    a = drawn(Drawn(2, 6, noise=0.001, block=0.0), rng)
    b = drawn(Drawn(2, 6, noise=0.001, block=0.0, shift=0.1), rng)
    for row in b[:8]:
        row.update(status="failed", goodput_bps=None)
    comparison = compare(a, b)
    assert comparison.failures_p_value == pytest.approx(0.00135, rel=0.01)
    counts = "0 of 12 trials failed in A, 8 of 12 in B (Fisher's exact test, if they failed independently: "
    taken_back = 'Overall "faster" and what 2 points would be called are taken back'
    why = "the trials that failed may have been the slow ones"
    assert comparison.remarks == (f"{counts}p = 0.00135).", f"{taken_back}: {why}.")
    # Beside points that A alone ran, and of which it lost some: these are left out, and not counted here.
    alone = [row | {"flows": 99, "status": "failed"} for row in a[::2]]
    assert compare([*a, *alone], b).remarks[0].startswith(f"At the points that both ran, {counts}")
    # The same trials, of which the second campaign lost the slower ones.
    logs = np.log([row["goodput_bps"] for row in a]).reshape(6, 2)
    fell = ((logs - logs.mean(axis=0)) < 0.0004).ravel()
    b = [row | ({"status": "failed"} if slow else {}) for row, slow in zip(a, fell, strict=True)]
    shown = compare(a, b, margin=0.0001)
    assert "faster" not in outcomes(shown)


def test_campaigns_on_different_days_say_so() -> None:
    rng = np.random.default_rng(43)
    rows = drawn(Drawn(2, 3), rng)
    times = [[f"2026-11-{day}T09:{minute:02}:00+00:00" for minute in range(6)] for day in (20, 21)]
    a, b, late_a = (
        [row | {"started_at": time} for row, time in zip(rows, starts, strict=True)]
        for starts in (*times, [*times[0][:5], times[1][2]])
    )
    (remark,) = compare(a, b).remarks
    assert remark == (
        "A from 2026-11-20 09:00 to 2026-11-20 09:05 and B from 2026-11-21 09:00 to 2026-11-21 09:05 UTC "
        "did not overlap: what the day or the hour changed is part of every shift, and in no interval. "
        "Repeats of A and B in turn tell it apart: flowsweep run A.toml --against B.toml."
    )
    assert compare(late_a, b).remarks == ()
    close = [
        row | {"started_at": str(row["started_at"]).replace("-20T", "-21T").replace("09:0", "08:0")}
        for row in a
    ]
    soon = [row | {"started_at": "2026-11-21T08:05:30+00:00"} for row in b]
    assert "to 2026-11-21 08:05:00 and B from 2026-11-21 08:05:30" in compare(close, soon).remarks[0]
    a, b = ([row | {"imported_from": "dated-table a.csv"} for row in rows] for rows in (a, b))
    (remark,) = compare(a, b).remarks
    assert remark.endswith("Repeats of A and B in turn tell it apart.")


def test_times_of_trials_that_take_part_tell_whether_campaigns_overlapped() -> None:
    rows = drawn(Drawn(2, 3), np.random.default_rng(43))
    a, b = (
        [row | {"started_at": f"2026-11-{day}T09:{minute:02}:00+00:00"} for minute, row in enumerate(rows)]
        for day in (20, 21)
    )
    untimed = a[0] | {"started_at": None, "imported_from": "CSV b.csv"}
    (remark,) = compare(a, [*b, untimed]).remarks
    assert remark.startswith(
        "A from 2026-11-20 09:00 to 2026-11-20 09:05 and B from 2026-11-21 09:00 to 2026-11-21 09:05 UTC "
        "did not overlap (no time is known of 1 of 7 trials of B): what the day or the hour changed is"
    )
    # What takes no part has no say: neither do points that only one of them has.
    only_in_a = a[0] | {"flows": 99, "started_at": "2026-11-22T09:00:00+00:00"}
    assert any("did not overlap" in told for told in compare([*a, only_in_a], b).remarks)
    late = a[0] | {"path_emulation": "late"}
    carried_nothing = a[0] | {"goodput_bps": 0.0}
    for idle in (late, carried_nothing):
        assert any("did not overlap" in told for told in compare(a, [*b, idle]).remarks)
    assert compare(a, [row | {"started_at": None} for row in b]).remarks == ()


def test_a_point_at_which_all_trials_of_one_failed_is_told_and_forbids_an_overall_outcome() -> None:
    rng = np.random.default_rng(44)
    a = drawn(Drawn(2, 5, noise=0.001, block=0.0), rng)
    b = [row.copy() for row in drawn(Drawn(2, 5, noise=0.001, block=0.0), rng)]
    lost = [row for row in b if point_of(row) == point_of(b[0])]
    for row in lost:
        row.update(status="failed", goodput_bps=None)
    comparison = compare(a, b)
    assert comparison.overall is not None
    assert comparison.overall.outcome == "undecided"
    assert comparison.remarks[0].startswith("0 of 10 trials failed in A, 5 of 10 in B")
    assert comparison.failures_p_value == pytest.approx(0.0325, rel=0.01)
    assert [only.line for only in only_in(comparison)] == ["No trial of B takes part at 1 point"]
    assert exit_code(comparison, FailIf.slower) == 3
    # A single failed trial shows no rate; of that point it is all that B has.
    few = compare(a, [row for row in b if row["repeat"] == 1 or row not in lost])
    assert (few.failures_p_value or 0.0) > 0.3
    assert few.overall is not None
    assert few.overall.outcome == "undecided"


def test_repeats_that_resemble_each_other_are_not_called_none() -> None:
    rng = np.random.default_rng(45)
    a, b = (drawn(Drawn(2, 2, noise=0.001, block=0.0), rng) for _ in range(2))
    assert change(replace(shift_of(a, b), interval_low_percent=None)).endswith(" %, without an interval")
    once = [[row for row in rows if row["repeat"] == 1] for rows in (a, b)]
    assert change(shift_of(*once)).endswith(" %, without repeats")


def shift_of(a: Any, b: Any) -> Shift:
    overall = compare(a, b).overall
    assert overall is not None
    return overall


def test_probes_that_fail_take_nothing_back_of_goodput() -> None:
    rng = np.random.default_rng(43)
    a, b = (drawn(Drawn(2, 6, noise=0.001, block=0.0, shift=shift), rng) for shift in (0.0, 0.1))
    probes = [{**row, "test": "rtt", "sweep": "probes", "goodput_bps": None} for row in a]
    failed = [{**row, "status": "failed"} for row in probes]
    comparison = compare([*a, *probes], [*b, *failed])
    assert comparison.remarks == ()
    assert comparison.overall is not None
    assert comparison.overall.outcome == "faster"


def test_steps_of_searches_are_no_sample_of_their_points() -> None:
    rng = np.random.default_rng(44)
    a, b = (drawn(Drawn(2, 6, noise=0.001, block=0.0), rng) for _ in range(2))
    steps = [{**row, "search_precision": 0.1, "goodput_bps": 2 * row["goodput_bps"]} for row in b]
    comparison = compare([*a, *a], [*b, *steps])
    assert comparison.overall is not None
    assert comparison.overall.outcome == "same"
    counts = "0 of 24 trials of A and 12 of 24 of B are left out"
    assert comparison.remarks == (f"{counts}: a search chose what they try by what came before.",)
