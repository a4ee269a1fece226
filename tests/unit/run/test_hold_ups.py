"""Why a time was missed, in words: from readings of the clocks, as a controller takes them."""

import pytest

from flowsweep.campaigns.supervisor import _Tries
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.run.clock import Reading
from flowsweep.run.hold_ups import Failing, HoldUps, shown_time
from flowsweep.schedule import Occasion

BEGUN_NS = 1_790_000_000 * SECOND_NS


def reading(after_s: float, *, suspended_s: float = 0, stepped_s: float = 0) -> Reading:
    boot_ns = round(after_s * SECOND_NS)
    unix_ns = BEGUN_NS + boot_ns + round(stepped_s * SECOND_NS)
    return Reading(unix_ns, boot_ns, boot_ns - round(suspended_s * SECOND_NS))


def reason(told: HoldUps, after_s: int) -> str:
    """Of a time that was due so long after the begin, with a slip of ten seconds."""
    due_ns = BEGUN_NS + after_s * SECOND_NS
    return told.reason(Occasion("s", 1, due_ns, due_ns + 10 * SECOND_NS))


@pytest.mark.parametrize(
    ("while_busy", "ticks_s", "said"),
    [
        # A controller that looks only when a trial is over cannot tell whether it was stopped meanwhile.
        (False, [0, 60], "other runs were still going (until 2026-09-21T14:14:20Z)"),
        (True, range(61), "other runs were still going (until 2026-09-21T14:14:20Z)"),
        (True, [0, 1, 60], "the controller was held up (for 59 s)"),
    ],
)
def test_trials_that_ran_and_a_controller_that_was_stopped_are_told_apart(while_busy, ticks_s, said):
    told = HoldUps(reading(0), looks_while_busy=while_busy)
    for second in ticks_s:
        told.look(reading(second), busy=True)
    assert reason(told, 30) == said


@pytest.mark.parametrize(
    ("found", "keys", "said"),
    [
        ({}, {}, "the controller was held up (for 1 min)"),
        ({}, {"tidied": True}, "the archive's files were being put in order (for 1 min)"),
        ({"suspended_s": 40}, {"tidied": True}, "the machine was suspended (for 40 s)"),
        ({"stepped_s": 600}, {"busy": True}, "the clock was set forward (by 10 min)"),
    ],
)
def test_each_reason_has_its_words(found, keys, said):
    told = HoldUps(reading(0))
    told.look(reading(60, **found), **keys)
    assert reason(told, 30) == said
    assert reason(told, -100) == "the controller was not running"


def test_what_was_due_while_it_was_tried_to_begin_says_why_that_failed():
    told = HoldUps(reading(0), failing=Failing(BEGUN_NS - 600 * SECOND_NS, "host b: no route to host"))
    assert (
        reason(told, -100)
        == reason(told, -603)
        == ("the campaign could not begin (host b: no route to host)")
    )
    assert reason(told, -700) == "the controller was not running"


def test_what_was_due_while_a_campaign_ran_that_failed_then_waited_for_other_runs():
    why, since_ns = "no space left", BEGUN_NS - 600 * SECOND_NS
    told = HoldUps(reading(0), failing=Failing(since_ns, why, ran_since_unix_ns=BEGUN_NS - 900 * SECOND_NS))
    assert reason(told, -100) == "the campaign could not begin (no space left)"
    assert reason(told, -700) == f"other runs were still going (until {shown_time(since_ns)})"
    assert reason(told, -1000) == "the controller was not running"


def test_a_try_that_failed_knows_when_the_campaign_ran_before(monkeypatch):
    now_ns = iter([1, 2, 3])
    monkeypatch.setattr("flowsweep.campaigns.supervisor.time.time_ns", lambda: next(now_ns))
    tries = _Tries()
    tries.began()
    for why in ("no space left", "damaged"):
        tries.failed(ArchiveError(why))
        assert tries.failing == Failing(3, why, ran_since_unix_ns=2)
