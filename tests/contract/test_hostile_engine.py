"""An engine that is none: whatever it says or leaves unsaid costs a trial, and neither time nor memory."""

import asyncio
import signal
from functools import partial
from pathlib import Path

import pytest

from flowsweep.defaults import (
    CONNECT_TIMEOUT_NS,
    SECOND_NS,
    SESSION_OPEN_TIMEOUT_S,
    SESSION_REQUEST_TIMEOUT_S,
)
from flowsweep.run.attempt import Attempt
from flowsweep.run.report_allowance import allowance_of
from flowsweep.run.traffic import own_traffic
from hostile_support import (
    DEADLINES,
    HONEST,
    Ending,
    command,
    endings,
    peak_mb,
    reached,
    seconds_to_end,
    trial,
    wait_for_all,
)
from misbehaviours import misbehaviours
from witness import judged

pytestmark = pytest.mark.whole

ALL = misbehaviours()
BEYOND_S = 5.0
"""What a trial may take longer than its deadline, beside what an honest one takes, and a late event loop."""
MEMORY_MB = 300.0
"""What a misbehaviour may take of the controller's memory."""
HUNGRY = {
    "while it opens": ("a banner without an end", "facts for ever", "answers for ever"),
    "in trials": (
        "a compressed bomb",
        "columns that are one buffer",
        "a batch of 10⁹ rows",
        "JSON that is wide",
        "JSON of many faults",
        "tables for ever",
        "tiny tables for ever",
        "tables of nobody's trial for ever",
        "progress for ever",
        "10⁹ rows announced",
    ),
}
"""What would fill memory; the hosts of one campaign each."""
STUBBORN = {
    "while it opens": (
        "says nothing",
        "a banner that drips",
        "no facts",
        "a clock that takes 30 s each time",
    ),
    "in a trial": ("deaf to all",),
    "during a transfer": ("a table that drips",),
}
"""What would hold a campaign up; likewise."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ending]:
    # Those first that take long: nobody waits for the last one alone.
    patient = sorted(
        ALL, key=lambda name: ALL[name].action not in ("drip", "instead", "slow", "deaf", "complain")
    )
    order = {"honest": HONEST, **{name: ALL[name] for name in patient}}

    def measure(_attempt: int) -> dict[str, Ending]:
        return asyncio.run(endings(tmp_path_factory.mktemp("engines"), order))

    return judged(measure, all_in_time, bears_s=BEYOND_S / 5)


def all_in_time(ended: dict[str, Ending]) -> None:
    for name in ALL:
        in_time(ended, name)


def in_time(ended: dict[str, Ending], name: str) -> None:
    ending, honest = ended[name], ended["honest"]
    # A deadline counts from where its step begins, and the steps before it are honest: where no trial began,
    # engines were started, too.
    took_s, honest_s = (
        (ending.trial_s, honest.trial_s) if ending.record else (ending.campaign_s, honest.campaign_s)
    )
    assert took_s is not None
    assert honest_s is not None
    due_s = deadline_s(ALL[name].point)
    assert took_s <= honest_s + due_s + ending.late_after(due_s) + BEYOND_S


def deadline_s(point: str) -> float:
    """When a campaign of one trial must be over whose engine misbehaves from a point on."""
    opened_s = {"open": SESSION_OPEN_TIMEOUT_S, "greeted": 2 * SESSION_REQUEST_TIMEOUT_S}
    opened_s |= {"describe": SESSION_REQUEST_TIMEOUT_S, "clock": SESSION_REQUEST_TIMEOUT_S}
    if point in opened_s:
        return opened_s[point]
    (traffic,) = own_traffic(Attempt.now(trial(), 1))
    connected_s = DEADLINES.request_s + CONNECT_TIMEOUT_NS / SECOND_NS + DEADLINES.slack_s
    if point in ("listening", "connected"):
        return connected_s
    run_s = traffic.longest_run_ns / SECOND_NS + DEADLINES.slack_s
    return run_s + allowance_of(traffic, "sink").transfer_s


def test_there_are_more_than_thirty() -> None:
    assert len(ALL) >= 30


@pytest.mark.long
def test_an_engine_that_keeps_to_the_script_is_taken_for_one(ended: dict[str, Ending]) -> None:
    record = ended["honest"].record
    assert record is not None
    assert (record.status, record.failure) == ("ok", None)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_a_trial_ends_in_time_with_a_reason(ended: dict[str, Ending], name: str) -> None:
    in_time(ended, name)
    ending, misbehaviour = ended[name], ALL[name]
    assert ending.record is None or ending.record.status in ("failed", "incomplete")
    # A controller that is held up comes to the deadline before it has taken as much as is too much.
    slow = misbehaviour.action == "forever" and ending.late_after(0.0) > BEYOND_S
    assert misbehaviour.reason in ending.reason or (slow and "did not report the end" in ending.reason)
    assert len(ending.reason) < 2000


@pytest.mark.long
def test_no_misbehaviour_fills_the_controllers_memory(tmp_path: Path) -> None:
    named = {"honest": [HONEST], **{name: [ALL[one] for one in ones] for name, ones in HUNGRY.items()}}
    running = {name: command(tmp_path, name, ones) for name, ones in named.items()}
    told = {name: process.communicate(timeout=120)[0] for name, process in running.items()}
    normal_mb = peak_mb(tmp_path, "honest")
    taken_mb = {name: round(peak_mb(tmp_path, name) - normal_mb) for name in named}
    assert "1 trial" in told["honest"]
    assert f"{len(HUNGRY['in trials'])} trials" in told["in trials"]
    assert {name: mb for name, mb in taken_mb.items() if mb > MEMORY_MB} == {}


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)
def test_a_signal_ends_a_campaign_whatever_its_engines_do(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    ended: list[tuple[str, str, int]] = []

    def measure(attempt: int) -> dict[str, float]:
        folder = tmp_path / str(attempt)
        folder.mkdir()
        running = {name: command(folder, name, [ALL[one] for one in ones]) for name, ones in STUBBORN.items()}
        wait_for_all([partial(reached, folder, name) for name in running])
        took_s = {name: seconds_to_end(process, number) for name, process in running.items()}
        ended.extend(
            (name, process.communicate()[0], process.returncode) for name, process in running.items()
        )
        return took_s

    def check(took_s: dict[str, float]) -> None:
        assert {name: seconds for name, seconds in took_s.items() if seconds > BEYOND_S} == {}

    judged(measure, check, bears_s=BEYOND_S / 5)
    # However busy the machine is.
    assert [(name, text) for name, text, _ in ended if "Traceback" in text] == []
    assert {returned for _, _, returned in ended} == {code}
