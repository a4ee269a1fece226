"""What monitors explain, in campaigns of which it is known: others' traffic, polls, and neither."""

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc
import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import repeat_hypotheses
from flowsweep.analysis.monitors.explanations import crossed, explanations
from flowsweep.analysis.monitors.facts import MonitorFacts
from flowsweep.analysis.monitors.series import courses
from flowsweep.analysis.statistics.observations import observations
from flowsweep.monitors.reading import Poll
from monitored_campaigns import APART_S, STARTED_AT, TRIAL_S, facts, router, trials
from synthetic_campaigns import Row

TRIALS = 48
KINDS = ("monitors", "polling")


def found(rows: Sequence[Row], known: MonitorFacts) -> list[Finding]:
    [observed] = observations(rows)
    asked = repeat_hypotheses(observed, explained=explanations(rows, known))
    return decided([hypothesis for hypothesis in asked if hypothesis.kind in KINDS])


def of_kind(kind: str, conclusions: Sequence[Finding]) -> Finding:
    [one] = [finding for finding in conclusions if finding.kind == kind]
    return one


def hourly(rows: Sequence[Row], every: int) -> MonitorFacts:
    """A monitor that is asked at every so many trials, in their middle."""
    began_s = STARTED_AT.timestamp()
    times_s = [APART_S * number + TRIAL_S / 2 for number in range(0, len(rows), every)]
    polls = [Poll("core", round((began_s + at_s) * 1e6), 2000, (("", "uptime_cs", 1),)) for at_s in times_s]
    return facts(polls, every_s=APART_S * every)


@pytest.mark.parametrize("stale_s", [0.0, 5.0])
def test_others_that_take_what_is_there_are_found(stale_s: float) -> None:
    generator = np.random.default_rng(3)
    others = generator.uniform(0, 40e6, TRIALS)
    rows = trials(100e6 - others + generator.normal(0, 5e6, TRIALS))
    one = of_kind("monitors", found(rows, router(rows, others, stale_s=stale_s)))
    assert one.decision == "effect"
    assert one.effect_unit == "1"
    truth = 1 - 25 / (25 + 40**2 / 12)
    assert one.interval_low < truth < one.interval_high
    assert "the traffic of others at et0 of core explains" in one.claim
    assert "Mbit/s of it goes with" in one.claim


def test_trials_at_the_ends_of_which_polls_tell_nothing_are_left_out() -> None:
    generator = np.random.default_rng(5)
    others = generator.uniform(0, 40e6, TRIALS)
    rows = trials(100e6 - others + generator.normal(0, 5e6, TRIALS))
    known = router(rows, others)
    begin_us, end_us = (
        round((STARTED_AT.timestamp() + at_s) * 1e6) for at_s in (3.0, APART_S * (TRIALS - 1) + 12.0)
    )
    times = known.table["at_us"]
    inside = known.table.filter(pc.and_(pc.greater(times, begin_us), pc.less(times, end_us)))
    one = of_kind("monitors", found(rows, MonitorFacts(known.monitors, inside)))
    assert one.decision == "effect"
    assert one.n == TRIALS - 2


def test_what_others_sent_is_what_is_counted_beyond_our_own() -> None:
    others = np.linspace(1e6, 40e6, 12)
    rows = trials(np.full(12, 80e6))
    [cross] = [one for one in explanations(rows, router(rows, others)) if one.kind == "cross"]
    assert [cross.values[row["trial_id"]] for row in rows] == pytest.approx(others, rel=0.01, abs=2e4)


def test_background_traffic_of_the_plan_is_not_taken_for_others() -> None:
    rows = trials(np.full(12, 80e6))
    known = router(rows, np.linspace(1e6, 40e6, 12))
    beside = [row | {"background": ["probe"]} for row in rows]
    beside[5]["background"] = ["probe", "large"]
    [cross] = [one for one in explanations(beside, known) if one.kind == "cross"]
    assert cross.values.keys() == {row["trial_id"] for row in rows} - {beside[5]["trial_id"]}


@pytest.mark.parametrize(
    ("up_cs", "rises"),
    [
        (600_001, [45e9]), (596_501, [45e9]), (603_501, [45e9]), (300_001, []), (101, []), (603_701, []),
        (596_301, []), (None, [45e9]),
    ],
)  # fmt: skip
def test_a_restart_between_rare_polls_leaves_a_gap(up_cs: int | None, rises: list[float]) -> None:
    begun_us, hour_us = round(STARTED_AT.timestamp() * 1e6), 3_600 * 10**6
    polls = []
    for number, (cs, counted) in enumerate(((240_000 if up_cs else None, 5 * 10**9), (up_cs, 50 * 10**9))):
        up_time = (("", "uptime_cs", cs),) if cs else ()
        values = (*up_time, ("et0", "in_bytes", counted))
        polls.append(Poll("core", begun_us + number * hour_us, 2000, values))
    course = courses(facts(polls).table)["core", "et0", "in_bytes"]
    assert list(course.rises) == rises


@pytest.mark.parametrize("tick_cs", [1, 100])
@pytest.mark.parametrize("back_s", [-9.0, -3.0, 0.0, 3.0, 5.0, 9.0, 11.0, 300.0, 303.0, 3600.0])
def test_polls_of_before_and_after_a_clock_was_set_give_gaps_and_no_spikes(
    back_s: float, tick_cs: int
) -> None:
    """A router that counts 1 MB each second is asked each 10 s; the controller's clock is set."""
    begun_s = STARTED_AT.timestamp()
    polls = []
    for at_s in range(0, 2000, 10):
        shown_s = begun_s + at_s - back_s * (at_s >= 1000)
        up_cs = (100 * at_s + 50_001) // tick_cs * tick_cs
        values = (("", "uptime_cs", up_cs), ("et0", "in_bytes", at_s * 10**6))
        polls.append(Poll("core", round(shown_s * 1e6), 2000, values))
    course = courses(facts(polls).table)["core", "et0", "in_bytes"]
    lengths_s = (course.ends_us - course.begins_us) / 1e6
    assert len(course.rises) > 100
    assert len(course.rises) == 199 or back_s
    assert np.all(np.abs(course.rises / 1e6 / lengths_s - 1) <= 0.05)
    assert np.all(np.diff(course.begins_us) > 0)


@pytest.mark.parametrize(("took_s", "tick_cs"), [(1.0, 1), (0.0, 100), (4.0, 100)])
def test_late_answers_and_uptimes_in_whole_seconds_leave_no_gaps(took_s: float, tick_cs: int) -> None:
    """Values are of any moment of an answer, and polls begin when they can."""
    generator = np.random.default_rng(17)
    polls = []
    for at_s in range(0, 2000, 10):
        begun_s, moment_s, own_s = at_s + generator.uniform(0, 0.05), *generator.uniform(0, took_s, 2)
        took_us = round(max(moment_s, own_s) * 1e6)
        up_cs = int(100 * (begun_s + moment_s) + 50_001) // tick_cs * tick_cs
        values = (("", "uptime_cs", up_cs), ("et0", "in_bytes", at_s * 10**6))
        at_us = round((STARTED_AT.timestamp() + begun_s) * 1e6) + took_us // 2
        polls.append(Poll("core", at_us, took_us, values))
    assert len(courses(facts(polls).table)["core", "et0", "in_bytes"].rises) == 199


@pytest.mark.parametrize("stale_s", [0.0, 5.0])
def test_nothing_is_claimed_of_others_that_are_not_there(stale_s: float) -> None:
    claimed = 0
    for seed in range(10):
        generator = np.random.default_rng((7, seed))
        rows = trials(80e6 + generator.normal(0, 8e6, TRIALS))
        one = of_kind("monitors", found(rows, router(rows, np.zeros(TRIALS), stale_s=stale_s)))
        claimed += one.decision == "effect"
    assert claimed == 0


def test_our_own_bytes_in_the_wrong_time_are_not_taken_for_others() -> None:
    # An agent whose counters are older than is allowed for: more goodput looks like less of others.
    generator = np.random.default_rng(11)
    rows = trials(80e6 + generator.normal(0, 8e6, TRIALS))
    one = of_kind("monitors", found(rows, router(rows, np.zeros(TRIALS), stale_s=14.0)))
    assert one.decision == "undecided"
    assert "it cannot" in one.claim


def polled_hourly(seed: int, effect: float) -> Finding:
    """Seed 003: a trial every so often, and a poll at each twelfth, as every hour."""
    generator = np.random.default_rng((19, seed))
    polled = np.arange(TRIALS * 3) % 12 == 0
    rows = trials(90e6 * np.exp(generator.normal(0, 0.02, TRIALS * 3) + effect * polled))
    return of_kind("polling", found(rows, hourly(rows, 12)))


def test_hourly_polling_that_shows_is_found() -> None:
    one = polled_hourly(0, -0.12)
    assert one.decision == "effect"
    assert one.interval_low < 100 * np.expm1(-0.12) < one.interval_high
    assert "Asking the monitor core shows: trials during which it was asked have less goodput" in one.claim


@pytest.mark.long
def test_hourly_polling_that_does_not_show_is_no_practical_effect() -> None:
    conclusions = [polled_hourly(seed, 0.0) for seed in range(12)]
    # One hypothesis by itself is wrongly claimed in 5 % of campaigns.
    assert sum(one.decision == "effect" for one in conclusions) <= 2
    assert sum("does not show" in one.claim for one in conclusions) >= 9


def test_polls_during_all_trials_leave_nothing_to_compare() -> None:
    generator = np.random.default_rng(23)
    rows = trials(90e6 * np.exp(generator.normal(0, 0.02, 12)))
    one = of_kind("polling", found(rows, hourly(rows, 1)))
    assert one.decision == "undecided"
    assert "it was asked during all of these trials" in one.claim


def test_polls_that_are_not_kept_are_none_that_were_not_asked() -> None:
    """Beyond what an archive keeps of monitors, or while its disk is full, they are asked all the same."""
    rows = trials([90e6] * 48)
    known = hourly(rows, 4)
    times = known.table["at_us"]
    first_us, last_us = (round((STARTED_AT.timestamp() + APART_S * number) * 1e6) for number in (13, 30))
    kept = known.table.filter(pc.or_(pc.less(times, first_us), pc.greater(times, last_us)))
    for table, told in ((known.table, range(45)), (kept, [*range(13), *range(32, 45)])):
        [asked] = [
            one for one in explanations(rows, MonitorFacts(known.monitors, table)) if one.kind == "poll"
        ]
        assert asked.values == {rows[number]["trial_id"]: float(number % 4 == 0) for number in told}


def test_trials_without_polls_around_them_are_not_explained() -> None:
    rows = trials([80e6] * 6)
    known = router(rows, [1e6] * 6)
    early = facts([])
    assert explanations(rows, early) == ()
    [cross] = [one for one in explanations(rows[:3], known) if one.kind == "cross"]
    assert len(cross.values) == 3


def test_which_way_a_trial_goes_through_an_interface() -> None:
    assert crossed("a", "b", ["b"]) == "out_bytes"
    assert crossed("b", "a", ["b"]) == "in_bytes"
    assert crossed("a", "c", ["b"]) is None
    assert crossed("b", "c", ["b", "c"]) is None
