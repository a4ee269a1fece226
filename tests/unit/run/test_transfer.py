"""How long a report may take that is due: as long as something comes, and never longer than is allowed."""

import asyncio

import pytest

from analysis_support import make_trial
from fake_engine import FakeNetwork, access
from flowsweep.defaults import SECOND_NS, TRANSFER_MOST_S
from flowsweep.hosts.clock import ClockOffset
from flowsweep.run.attempt import Attempt
from flowsweep.run.engines import HostSession
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.report_allowance import allowance_of
from flowsweep.run.traffic import own_traffic
from flowsweep.run.trial import run_trial
from flowsweep.schedule import Trial
from virtual_time import VirtualTimeLoop

SLACK_S = 5.0
STOP_S = 3.0
SLOW = make_trial(
    flows=128, sample_interval_ns=SECOND_NS // 100, duration_ns=60 * SECOND_NS, drain_timeout_ns=SECOND_NS
)
SMALL = make_trial(duration_ns=4 * SECOND_NS, drain_timeout_ns=SECOND_NS)


def transfer(
    trial: Trial, *, every_s: float, for_s: float | None = None, mishap: str = "silent"
) -> tuple[TrialOutcome, float]:
    """A trial whose sink says a little now and then, and reports then, or never; how long it took."""
    network = FakeNetwork(mishaps={("b", 1): mishap})

    async def talk() -> tuple[TrialOutcome, float]:
        loop = asyncio.get_running_loop()

        def drip() -> None:
            (sink,) = (end for (_, role), end in network.ends.items() if role == "sink")
            sink.bytes_received += 1
            if for_s is not None and loop.time() - begun >= for_s:
                sink.finish()
            else:
                loop.call_later(every_s, drip)

        network.on_silence = drip
        clock = ClockOffset(offset_ns=0, bound_ns=0, measured_ns=0)
        sessions = {
            name: HostSession(access(name), await network.connect(access(name)), clock) for name in "ab"
        }
        begun = loop.time()
        outcome = await run_trial(Attempt.now(trial, 1), sessions)
        return outcome, loop.time() - begun

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(talk())


def due_s(trial: Trial) -> float:
    (traffic,) = own_traffic(Attempt.now(trial, 1))
    return traffic.longest_run_ns / SECOND_NS + SLACK_S


def allowed_s(trial: Trial) -> float:
    (traffic,) = own_traffic(Attempt.now(trial, 1))
    return allowance_of(traffic, "sink").transfer_s


def test_a_long_transfer_over_a_slow_channel_is_waited_for() -> None:
    """128 flows, 100 samples a second, a minute: 500 MB, which take 1000 s at 4 Mbit/s."""
    outcome, took_s = transfer(SLOW, every_s=5, for_s=1000)
    assert outcome.record.status == "ok"
    assert took_s == pytest.approx(1000, abs=5)


@pytest.mark.parametrize("trial", [SMALL, SLOW], ids=["small", "large"])
def test_a_transfer_without_an_end_is_not(trial: Trial) -> None:
    outcome, took_s = transfer(trial, every_s=1, mishap="stuck")
    failure = outcome.record.failure
    assert failure is not None
    assert (failure.kind, failure.host) == ("engine_silent", "b")
    assert took_s <= due_s(trial) + allowed_s(trial) + 5
    assert allowed_s(trial) <= TRANSFER_MOST_S


def test_a_transfer_that_stops_is_given_up_at_once() -> None:
    outcome, took_s = transfer(SLOW, every_s=10_000, mishap="stuck")
    assert outcome.record.failure is not None
    assert took_s <= due_s(SLOW) + STOP_S + 1


def test_a_small_trial_has_little_time_and_a_large_one_what_its_tables_take() -> None:
    assert allowed_s(SMALL) < 20
    assert allowed_s(SLOW) == pytest.approx(TRANSFER_MOST_S)


def test_bytes_follow_what_was_asked() -> None:
    (small,), (large,) = (own_traffic(Attempt.now(trial, 1)) for trial in (SMALL, SLOW))
    assert allowance_of(small, "sink").bytes < 64 << 20
    # 128 flows × 6000 samples × 700 bytes are 540 MB.
    assert 540e6 < allowance_of(large, "sink").bytes < 1.5e9
