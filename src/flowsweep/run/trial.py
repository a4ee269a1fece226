"""One trial: all pairs of hosts meet, start together, run and drain, report."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from flowsweep.defaults import (
    CONNECT_TIMEOUT_NS,
    LAST_WORDS_S,
    PAIRS_MEETING_MAX,
    SECOND_NS,
    START_AHEAD_NS,
    START_AHEAD_PER_PAIR_NS,
)
from flowsweep.hosts.messages import Progress
from flowsweep.run.attempt import Attempt
from flowsweep.run.end import Deadlines, TrialEnd, TrialError
from flowsweep.run.engines import Place
from flowsweep.run.observer import PathWatch, unless_broken
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.pair import Pair
from flowsweep.run.results import outcome_of
from flowsweep.run.together import all_of, until_over
from flowsweep.schedule.trial import Trial

_STANDARD_DEADLINES = Deadlines()

ProgressListener = Callable[[int, Progress], None]
"""Told the index of the pair of hosts, and what its sink says."""


async def run_trial(
    attempt: Attempt,
    places: Mapping[str, Place],
    *,
    watch: PathWatch | None = None,
    start_line: asyncio.Barrier | None = None,
    progress: ProgressListener = lambda _index, _said: None,
    deadlines: Deadlines = _STANDARD_DEADLINES,
) -> TrialOutcome:
    """Carry one trial out; whatever goes wrong with it is in the outcome.

    Args:
        attempt: the trial, and which attempt at it.
        places: the hosts that take part, by name.
        watch: the paths of the trial, which fails at once if one breaks.
        start_line: where trials that run at the same time wait for each other.
        progress: called with what each sink says about once a second.
        deadlines: what the engines may take.
    """
    pairs = [
        Pair(attempt, index, places[source], places[sink], deadlines)
        for index, (source, sink) in enumerate(attempt.trial.pairs)
    ]
    ends = [end for pair in pairs for end in pair.ends]
    error: TrialError | None = None
    try:
        await unless_broken(watch, _carry_out(attempt.trial, pairs, start_line, progress))
    except TrialError as trial_error:
        error = trial_error
    finally:
        if error is not None or not all(end.over for end in ends):
            await _stop(start_line, ends)
        for end in ends:
            end.close()
    return outcome_of(attempt, pairs, None if error is None else error.failure)


async def _carry_out(
    trial: Trial, pairs: Sequence[Pair], start_line: asyncio.Barrier | None, progress: ProgressListener
) -> None:
    await _meet(pairs)
    await _line_up(start_line, pairs[0].sender)
    await _start([pair.sender for pair in pairs])
    await _run_and_drain(trial, pairs, progress)


async def _meet(pairs: Sequence[Pair]) -> None:
    """Have all pairs of hosts meet, some of them at a time."""
    places = asyncio.Semaphore(PAIRS_MEETING_MAX)

    async def meet(pair: Pair) -> None:
        async with places:
            await pair.meet()

    await all_of([meet(pair) for pair in pairs])


async def _line_up(start_line: asyncio.Barrier | None, sender: TrialEnd) -> None:
    if start_line is None:
        return
    try:
        await start_line.wait()
    except asyncio.BrokenBarrierError:
        message = "the trial that should have run at the same time did not get ready"
        raise sender.error("connect", "not_simultaneous", message) from None


async def _start(senders: Sequence[TrialEnd]) -> None:
    """Have all sources begin to send at one moment, each by its host's clock; a single one at once."""
    moment: int | None = None
    if len(senders) > 1:
        # Half a round trip bounds the error of a clock; so it is known how far away an engine is.
        furthest_ns = max(sender.clock.bound_ns for sender in senders) * 2
        ahead_ns = START_AHEAD_NS + len(senders) * START_AHEAD_PER_PAIR_NS + furthest_ns
        moment = time.time_ns() + ahead_ns
    await all_of([sender.start(moment) for sender in senders])


async def _run_and_drain(trial: Trial, pairs: Sequence[Pair], progress: ProgressListener) -> None:
    """Wait for all reports; of several pairs none goes on for long once an end is not whole."""
    timeout_s = _longest_run_ns(trial) / SECOND_NS
    ends = [end for pair in pairs for end in pair.ends]

    def patience_s() -> float | None:
        return LAST_WORDS_S if len(pairs) > 1 and any(end.incomplete for end in ends) else None

    def reporter(index: int) -> Callable[[Progress], None]:
        return lambda said: progress(index, said)

    senders = [pair.sender.finished(timeout_s, lambda _: None) for pair in pairs]
    receivers = [pair.receiver.finished(timeout_s, reporter(index)) for index, pair in enumerate(pairs)]
    await until_over([*senders, *receivers], patience_s)


def _longest_run_ns(trial: Trial) -> int:
    """What an engine allows itself: the duration counts from when bytes of all flows have arrived."""
    parameters = trial.parameters
    return CONNECT_TIMEOUT_NS + parameters.duration_ns + trial.pad_ns + parameters.wait_ns


async def _stop(start_line: asyncio.Barrier | None, ends: Sequence[TrialEnd]) -> None:
    """Nothing of a trial that failed may go on beside the next one."""
    if start_line is not None:
        await start_line.abort()
    await asyncio.gather(*(end.stop() for end in ends))
