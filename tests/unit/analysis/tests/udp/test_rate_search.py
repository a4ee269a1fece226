"""Searches for the highest rate: what a plan asks for, what runs, what is concluded."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from analysis_support import STARTED_AT
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from fake_engine import FakeNetwork, access
from flowsweep.analysis import cells
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.tests.udp.rate_search import rate_search_hypotheses
from flowsweep.analysis.verdict_words import limit_words
from flowsweep.archive import tables_of
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import FigureData
from flowsweep.plan.searching.model import RateSearch
from flowsweep.report.headline import highest_goodputs
from flowsweep.report.opening import opening
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.events import CampaignStarted, TrialStarted
from flowsweep.run.results import carried
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.sessions import Patience
from flowsweep.schedule import estimate, expand, remarks, schedule
from flowsweep.schedule.search.steps import at_rate
from plan_support import plan_of
from run_support import ListRecorder
from summary_support import summary_rows, summary_table

MBIT = 1_000_000
SEARCH = 'rate_search = { low = "10Mbit/s", high = "80Mbit/s", resolution = "10Mbit/s", loss_max = "1%" }'
BRIEF = 'duration = "30ms"\ninterval = "10ms"\nsample_interval = "10ms"\ndrain = "5ms"'


def plan(more: str = "", campaign: str = ""):
    return plan_of(f'test = "udp"\n{SEARCH}\n{BRIEF}\n{more}', campaign)


def run(slots, carries_bps, resume=None, mishaps=None):
    network = FakeNetwork(carries_bps=carries_bps, mishaps=mishaps or {})
    recorder, events = ListRecorder(), []
    conditions = Conditions(network.connect, Patience(0.001, 0.01), Deadlines(0.01, 0.01, 0.01))
    hosts = {name: access(name) for name in ("left", "right")}
    asyncio.run(
        run_campaign(slots, hosts, recorder, resume=resume, events=events.append, conditions=conditions)
    )
    return recorder, events


def rates(recorder):
    return [outcome.record.trial.parameters.rate_sum_bps // MBIT for outcome in recorder.outcomes]


def test_a_search_counts_as_all_its_steps():
    found = plan("flows = [1, 2]", "repeats = 2")
    slots = schedule(found, seed=1)
    assert [slot.trial_count for slot in slots] == [4, 4, 4, 4]
    assert estimate(slots, found.links).trials == 16
    assert remarks(found, expand(found)) == ()


def test_the_first_rate_is_in_the_middle_and_is_of_all_flows():
    (one, two) = schedule(plan("flows = [1, 2]", 'order = "listed"'), seed=1)
    assert one.trials[0].parameters.rate_sum_bps == two.trials[0].parameters.rate_sum_bps == 45 * MBIT
    assert two.trials[0].parameters.rate_bps == 45 * MBIT // 2


def test_an_estimate_of_bytes_has_the_highest_rate_in_every_step():
    found = plan()
    sent_ns = 30_000_000 + 100_006_000
    each = 80 * MBIT * sent_ns // (8 * 10**9) + found.sweeps[0].length_bytes[0]
    assert estimate(schedule(found, seed=1), found.links).bytes_at_most == 4 * each


@pytest.mark.parametrize(
    ("carries", "tried"),
    [
        (62, [45, 65, 55, 60]),
        (500, [45, 65, 75, 80]),
        (1, [45, 25, 15, 10]),
    ],
)
def test_halves_until_the_resolution(carries, tried):
    recorder, events = run(schedule(plan(), seed=1), carries * MBIT)
    assert rates(recorder) == tried
    assert recorder.statuses == ["ok"] * 4
    assert [outcome.record.carried for outcome in recorder.outcomes] == [rate <= carries for rate in tried]
    started = [event for event in events if isinstance(event, TrialStarted)]
    assert [event.number for event in started] == [1, 2, 3, 4]
    assert started[0].left_ns == 4 * started[-1].left_ns


def test_goes_on_where_it_was_broken_off():
    slots = schedule(plan(), seed=1)
    first, _ = run(slots, 62 * MBIT)
    known = {outcome.record.trial_id: outcome.record.carried for outcome in first.outcomes[:2]}
    again, events = run(slots, 62 * MBIT, ResumeState(done=set(known), learned=known))
    assert rates(again) == [55, 60]
    assert isinstance(events[0], CampaignStarted)
    assert (events[0].trials, events[0].done) == (4, 2)
    known = {outcome.record.trial_id: outcome.record.carried for outcome in first.outcomes}
    assert ResumeState(done=set(known), learned=known).next_step(slots[0]) == (4, None)


def test_ends_where_a_step_is_not_whole_and_the_campaign_goes_on():
    slots = schedule(plan(campaign="repeats = 2"), seed=1)
    recorder, events = run(slots, 62 * MBIT, mishaps={("left", 2): "prepare"})
    assert Counter(outcome.record.trial.repeat for outcome in recorder.outcomes) == {1: 2, 2: 4}
    assert recorder.statuses == ["ok", "failed", "ok", "ok", "ok", "ok"]
    assert [event.number for event in events if isinstance(event, TrialStarted)] == [1, 2, 5, 6, 7, 8]


def search_trial(rate, *, repeat=1, limit=0.01):
    trial = make_udp_trial(repeat=repeat, rate_sum_bps=rate, rate_bps=rate)
    search = RateSearch(low_bps=8 * MBIT, high_bps=56 * MBIT, resolution_bps=8 * MBIT, loss_max=limit)
    return trial.model_copy(update={"search": search})


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (Stream(sent=1000, lost=0), True),
        (Stream(sent=1000, lost=10), True),
        (Stream(sent=1000, lost=11), False),
        (Stream(sent=700, lost=0), False),
    ],
    ids=["all comes", "as much as the limit is lost", "more than that", "the source did not offer it"],
)
def test_what_counts_as_carried(stream, expected):
    trial = search_trial(8 * MBIT)
    assert carried(trial, make_udp_outcome(trial, [stream]).flows) is expected


@pytest.mark.parametrize(
    ("delays", "expected"),
    [
        ([(0, 1_000_000, 3960), (60_000_000, 61_000_000, 40)], True),
        ([(0, 1_000_000, 3959), (60_000_000, 61_000_000, 41)], False),
        ([(9_000_000, 10_000_000, 4000)], True),
        ([(10_000_000, 11_000_000, 4000)], False),
        ([], False),
    ],
    ids=["1 % is late", "more is", "all are just in time", "all are late", "nothing is known"],
)
def test_with_a_limit_of_delay_no_rate_is_carried_at_which_a_queue_stands(delays, expected):
    trial = search_trial(8 * MBIT)
    limited = trial.search.model_copy(update={"delay_max_ns": 10_000_000})
    outcome = make_udp_outcome(trial, [Stream()], delays=delays)
    of_search = trial.model_copy(update={"search": limited})
    assert carried(of_search, outcome.flows, outcome.of_tests.get("histograms")) is expected
    assert carried(trial, outcome.flows) is True


def test_other_trials_are_not_judged():
    trial = make_udp_trial()
    assert carried(trial, make_udp_outcome(trial, [Stream()]).flows) is None


def test_steps_have_ids_of_their_own_and_other_trials_keep_theirs():
    trial = search_trial(8 * MBIT)
    assert at_rate(trial, 16 * MBIT).trial_id != trial.trial_id
    assert (
        trial.model_copy(update={"search": None}).trial_id == make_udp_trial(rate_sum_bps=8 * MBIT).trial_id
    )


@pytest.fixture(scope="module")
def archive():
    outcomes = []
    for repeat, limit_mbit in ((1, 40), (2, 48), (3, 40)):
        for rate in (32, 48, 40):
            trial = search_trial(rate * MBIT, repeat=repeat)
            stream = Stream(sent=rate * 125, lost=0 if rate <= limit_mbit else rate * 125 // 4)
            outcome = make_udp_outcome(trial, [stream])
            at = STARTED_AT + timedelta(seconds=5 * len(outcomes))
            told = {"carried": carried(trial, outcome.flows), "started_at": at}
            outcomes.append(
                outcome.__class__(
                    outcome.record.model_copy(update=told),
                    **{name: getattr(outcome, name) for name in ("samples", "flows", "counters", "of_tests")},
                )
            )
    return tables_of(outcomes)


@pytest.fixture(scope="module")
def rows(archive):
    return summary_rows(archive)


def test_the_summary_says_what_was_a_step_and_what_it_told(rows):
    assert {(row["rate_search_loss_max"], row["rate_search_trials"]) for row in rows} == {(0.01, 3)}
    assert [row["rate_carried"] for row in rows[:3]] == [True, False, True]


def test_the_finding_has_both_sides_of_the_limit_over_the_repeats(rows, archive):
    found = findings(rows, tables=archive)
    (one,) = [one for one in found if one.kind == "rate"]
    assert (one.effect, one.interval_low, one.interval_high, one.n) == (40e6, 40e6, 48e6, 9)
    assert one.claim == (
        "a → b, 1 flow of 1 KB: up to 40.0 Mbit/s (40.0 Mbit/s to 48.0 Mbit/s in 3 of 3 repeats) is carried "
        "with no more than 1.00 % of the datagrams lost, 48.0 Mbit/s is not."
    )
    assert found[0] is one
    assert {other.kind for other in found} == {"rate"}


def test_a_search_that_found_no_end_says_so(rows):
    lost = [row | {"rate_carried": False} for row in rows]
    (one,) = [one for one in findings(lost) if one.kind == "rate"]
    assert "no rate is carried" in one.claim
    assert "32.0 Mbit/s, the lowest that was tried" in one.claim
    assert one.effect is None
    (one,) = [one for one in findings([row | {"rate_carried": True} for row in rows]) if one.kind == "rate"]
    assert "the highest rate that was tried" in one.claim


def test_a_search_that_its_source_ended_says_so(rows):
    def ends(row):
        return not row["rate_carried"]

    def ended(repeats):
        less = [row | {"loss": 0.0} if ends(row) and row["repeat"] in repeats else row for row in rows]
        (one,) = [one for one in findings(less) if one.kind == "rate"]
        return one.claim

    assert ended(()).endswith("48.0 Mbit/s is not.")
    assert ended((1, 2, 3)).endswith("48.0 Mbit/s is not, since the source does not send that much.")
    assert ended((1,)).endswith("is not, since the source does not send that much in 1 of 3 repeats.")


def test_the_figure_has_a_line_for_each_repeat(rows, archive):
    drawn = drawn_figures(FigureData(rows, cells(summary_table(archive)).to_pyarrow().to_pylist()))
    (one,) = [one for one in drawn if one.key.kind == "rate_search"]
    assert not {"plane", "line", "repeats", "per_flow", "ecdf"} & {one.key.kind for one in drawn}
    assert [list(trace.y) for trace in one.figure.data] == [[32, 48, 40]] * 3
    first, second, _ = one.figure.data
    assert list(first.marker.symbol) == ["circle", "circle-open", "circle"]
    assert list(second.marker.symbol) == ["circle"] * 3
    assert len(one.rows) == 9


def test_a_limit_of_delay_is_said_and_why_a_rate_was_not_carried(rows):
    limited = [
        row
        | {
            "rate_search_delay_max_ms": 10.0,
            "loss": 0.0,
            "delay_variation_ms": 4.0 if row["rate_carried"] else 60.0,
        }
        for row in rows
    ]
    (one,) = rate_search_hypotheses(limited)
    assert "no more than 1.00 % of the datagrams lost and 99 % delayed by at most 10 ms" in one.claim
    assert one.claim.endswith(", 48.0 Mbit/s is not, since a queue delays them by more.")
    assert "99th percentile of delays" in one.method
    unsent = [row | {"delay_variation_ms": 4.0} for row in limited]
    (one,) = rate_search_hypotheses(unsent)
    assert "since the source does not send that much" in one.claim


def test_no_queue_is_told_of_where_no_delays_are_known(rows):
    unknown = [
        row | {"rate_search_delay_max_ms": 10.0, "loss": 0.0, "delay_variation_ms": None} for row in rows
    ]
    (one,) = rate_search_hypotheses(unknown)
    assert one.claim.endswith(", 48.0 Mbit/s is not, since no delays are known.")


def claim_of(rows, *repeats):
    """The claim on repeats: of each the rates in Mbit/s that were tried, and those that were carried."""
    steps = [
        rows[0]
        | {
            "repeat": number,
            "rate_sum_bps": rate * MBIT,
            "rate_carried": rate in is_carried,
            "rate_search_trials": len(tried),
        }
        for number, (tried, is_carried) in enumerate(repeats, start=1)
        for rate in tried
    ]
    (one,) = rate_search_hypotheses(steps)
    return one.claim, one.estimate


def test_repeats_that_disagree_say_so(rows):
    claim, estimate = claim_of(rows, ((75, 50, 100), (50,)), ((100,), (100,)))
    assert "up" not in claim
    assert "50.0 Mbit/s (50.0 Mbit/s to 100 Mbit/s in 2 of 2 repeats) is carried" in claim
    assert claim.endswith(", all that was tried in 1 of 2 repeats; in the others 75.0 Mbit/s is not.")
    assert (estimate.effect, estimate.low, estimate.high) == (50e6, None, None)
    claim, estimate = claim_of(rows, ((50, 100, 1), ()), ((100,), (100,)))
    assert "no rate is carried" in claim
    assert (
        "1.00 Mbit/s, the lowest that was tried, in 1 of 2 repeats; in the others up to 100 Mbit/s is"
        in claim
    )
    assert estimate.effect is None


def test_what_is_carried_is_below_what_is_not_however_unlike_repeats_are(rows):
    unlike = [((38, 50), (38,)), ((75, 80), (75,)), ((20, 38), (20,)), ((100,), (100,))]
    _, estimate = claim_of(rows, *unlike)
    assert (estimate.effect, estimate.low, estimate.high) == (38e6, 38e6, 80e6)
    _, estimate = claim_of(rows, *unlike[:3])
    assert (estimate.effect, estimate.low, estimate.high) == (38e6, 38e6, 50e6)


def test_a_search_that_broke_off_does_not_make_the_highest_rate_low(rows):
    broken = [row for row in rows if row["repeat"] == 2 or row["rate_sum_bps"] < 40 * MBIT]
    assert [(row["repeat"], row["rate_carried"]) for row in broken if row["repeat"] != 2] == [
        (1, True),
        (3, True),
    ]
    (one,) = rate_search_hypotheses(broken)
    assert one.claim == (
        "a → b, 1 flow of 1 KB: 48.0 Mbit/s is carried with no more than 1.00 % of the datagrams lost, the "
        "highest rate that was tried; 2 of 3 searches are incomplete and do not count."
    )
    assert (one.estimate.effect, len(one.evidence)) == (48e6, 3)
    (one,) = rate_search_hypotheses([row for row in broken if row["repeat"] < 3])
    assert one.claim.endswith("; 1 of 2 searches is incomplete and does not count.")


def test_where_every_search_broke_off_the_highest_rate_is_not_known(rows):
    begun = [row for row in rows if row["rate_sum_bps"] < 40 * MBIT]
    (one,) = rate_search_hypotheses(begun)
    assert one.claim == (
        "a → b, 1 flow of 1 KB: which rate is carried is not known, since the searches of all 3 repeats are "
        "incomplete; so far up to 32.0 Mbit/s was."
    )
    assert one.estimate.effect is None
    (one,) = rate_search_hypotheses([begun[0] | {"rate_carried": False}])
    assert one.claim.endswith("which rate is carried is not known, since the search is incomplete.")


OVERDUE = {
    "lost": 63, "loss": 0.0105, "loss_bursts": 2, "loss_burst_max": 44, "burst_max": 44,
    "pacing_lag_max_ms": 32.5,
}  # fmt: skip
"""A source that was 32.5 ms late sent 44 datagrams at once, into a queue of fewer."""


def test_losses_that_fit_the_source_s_own_bursts_are_no_limit_of_the_path(rows):
    late = [row if row["rate_carried"] else row | OVERDUE for row in rows]
    (one,) = rate_search_hypotheses(late)
    assert one.claim.endswith(
        "48.0 Mbit/s is not; in 2 of 3 repeats it ended with losses that may be of the source's own making, "
        "as it was up to 32.5 ms late and caught up in bursts of up to 44 datagrams: the path may carry more."
    )
    for change in ({"lost": 2}, {"loss_burst_max": 45}, {"pacing_lag_max_ms": 0.5}, {"burst_max": None}):
        (one,) = rate_search_hypotheses([row | change for row in late])
        assert one.claim.endswith("48.0 Mbit/s is not.")


def test_plain_overload_is_not_laid_to_the_source_s_own_bursts(rows):
    """Of 400 Mbit/s offered to a link known to carry 100, 75 % was lost in short runs: "own making"."""
    late = [row if row["rate_carried"] else row | OVERDUE for row in rows]
    for change in ({"loss": 0.75}, {"loss": 0.051}, {"loss": None}, {"path_rate_bps": 48 * MBIT}):
        (one,) = rate_search_hypotheses([row | change if not row["rate_carried"] else row for row in late])
        assert "own making" not in one.claim
    # 1000 bytes with 28 of headers, at 48 Mbit/s.
    (one,) = rate_search_hypotheses([row | {"path_rate_bps": 49_344_000} for row in late])
    assert "own making" in one.claim
    lossy = next(row for row in rows if row["verdict"] == "path loss") | OVERDUE
    assert limit_words(lossy | {"loss": 0.75})[1] == "The path lost what was missing."


def test_a_path_s_loss_says_where_the_source_may_have_made_it(rows):
    lossy = next(row for row in rows if row["verdict"] == "path loss")
    assert limit_words(lossy) == ("path loss", "The path lost what was missing.")
    assert limit_words(lossy | OVERDUE)[1] == (
        "The path lost what was missing. That may be of the source's own making: it was up to 32.5 ms late, "
        "caught up in bursts of up to 44 datagrams, and no more than that was lost in a row."
    )


def test_the_headline_of_a_search_is_the_highest_rate_that_was_carried(rows):
    highest = [
        row
        | {"rate_carried": row["rate_carried"] and row["rate_sum_bps"] <= 40e6, "rate_search_loss_max": 0.001}
        | {"goodput_bps": 0.98 * row["rate_sum_bps"], "goodput_mean_bps": 0.98 * row["rate_sum_bps"]}
        for row in rows
    ]
    (found,) = highest_goodputs(highest)
    assert (found.number, found.point["rate_sum_bps"]) == ("39.2", 40e6)
    assert found.place.endswith("; carried with no more than 0.100 % lost")
    told = opening(highest, ())
    assert told is not None
    assert not {"Limit", "To do"} & set(dict(told.lines))
    (found,) = highest_goodputs([row | {"rate_carried": False} for row in highest])
    assert (found.number, found.point["rate_sum_bps"]) == ("47.0", 48e6)
