"""One trial: all pairs of hosts meet, start together, run and drain, report."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from flowsweep.defaults import PAIRS_CONNECTING_MAX, SECOND_NS
from flowsweep.hosts.messages import Progress
from flowsweep.run.attempt import Attempt
from flowsweep.run.background import BackgroundPair, background_of
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.first_failure import all_of, until_over
from flowsweep.run.observer import PathWatch, unless_broken
from flowsweep.run.outcome import EndRole, Failure, TrialOutcome
from flowsweep.run.pair import Pair
from flowsweep.run.patience import patience_s
from flowsweep.run.results import outcome_of
from flowsweep.run.starting import CommonStart, common_start
from flowsweep.run.traffic import own_traffic
from flowsweep.run.trial_end import TrialEnd, TrialError
from flowsweep.run.unforeseen import ENDS_A_CAMPAIGN, unforeseen

_STANDARD_DEADLINES = Deadlines()

ProgressListener = Callable[[int, EndRole, Progress], None]
"""Given the index of the pair of hosts, which of its ends says something, and what it says."""


async def run_trial(
    attempt: Attempt,
    sessions: Mapping[str, HostSession],
    *,
    watch: PathWatch | None = None,
    start_line: asyncio.Barrier | None = None,
    progress: ProgressListener = lambda _index, _end, _progress: None,
    deadlines: Deadlines = _STANDARD_DEADLINES,
    together_with: str | None = None,
) -> TrialOutcome:
    """Carry one trial out; whatever goes wrong with it is in the outcome.

    When cancelled, it waits for nobody's last words: whoever ends a campaign closes the sessions with its
    engines, which ends all traffic.

    Args:
        attempt: the trial, and which attempt at it.
        sessions: with the hosts that take part, by their names.
        watch: the paths of the trial, which fails at once if one breaks.
        start_line: where trials that run at the same time wait for each other.
        progress: called with what each end says about once a second.
        deadlines: what the engines may take.
        together_with: name of the attempt that runs at the same time in the other direction.
    """
    pairs = [
        Pair(traffic, sessions[traffic.src], sessions[traffic.dst], deadlines)
        for traffic in own_traffic(attempt, together_with)
    ]
    background = background_of(attempt, sessions, deadlines)
    ends = [end for pair in (*pairs, *(one.pair for one in background)) for end in pair.ends]
    failure: Failure | None = None
    try:
        try:
            await unless_broken(watch, _carry_out(pairs, background, start_line, progress))
        except TrialError as error:
            failure = error.failure
        except ENDS_A_CAMPAIGN:
            raise
        except Exception as error:  # noqa: BLE001 - recorded, with its words
            failure = unforeseen(error)
        if failure is not None or not all(end.over for end in ends):
            await _stop(start_line, ends)
    except asyncio.CancelledError:
        await asyncio.gather(*(end.let_go() for end in ends))
        raise
    finally:
        for end in ends:
            end.close()
    return outcome_of(attempt, pairs, background, failure)


async def _carry_out(
    pairs: Sequence[Pair],
    background: Sequence[BackgroundPair],
    start_line: asyncio.Barrier | None,
    progress: ProgressListener,
) -> None:
    await _meet(pairs, background)
    await _line_up(start_line, pairs[0].sender)
    if len(pairs) == 1 and not background:
        await pairs[0].sender.start(None)
        await _run_and_drain(pairs, progress)
        return
    start = common_start([*pairs, *(one.pair for one in background)])
    own = _start_run_and_drain(pairs, start, progress)
    # Nothing goes on beside a trial that is not whole.
    await until_over([own, *(one.run(start) for one in background)], lambda: patience_s(pairs, together=True))


async def _meet(pairs: Sequence[Pair], background: Sequence[BackgroundPair]) -> None:
    """Have all pairs of hosts meet, some of them at a time."""
    turns = asyncio.Semaphore(PAIRS_CONNECTING_MAX)

    async def meet(one: Pair | BackgroundPair) -> None:
        async with turns:
            await one.meet()

    early = [one for one in background if not one.meets_later]
    await all_of([*map(meet, pairs), *map(meet, early)])


async def _line_up(start_line: asyncio.Barrier | None, sender: TrialEnd) -> None:
    if start_line is None:
        return
    try:
        await start_line.wait()
    except asyncio.BrokenBarrierError:
        message = "the trial that should have run at the same time did not get ready"
        raise sender.error("connect", "not_simultaneous", message) from None


async def _start_run_and_drain(pairs: Sequence[Pair], start: CommonStart, progress: ProgressListener) -> None:
    """Have all sources begin to send at one moment, each by its host's clock, and wait for the end."""
    moment = await start.near(0)
    await all_of([pair.sender.start(moment) for pair in pairs])
    await _run_and_drain(pairs, progress)


async def _run_and_drain(pairs: Sequence[Pair], progress: ProgressListener) -> None:
    """Wait for all reports; of several pairs none goes on for long once an end is not whole."""
    timeout_s = pairs[0].longest_run_ns / SECOND_NS

    def finished(index: int, end: TrialEnd) -> Coroutine[Any, Any, None]:
        return end.finished(timeout_s, lambda message: progress(index, end.role, message))

    senders = [finished(index, pair.sender) for index, pair in enumerate(pairs)]
    receivers = [finished(index, pair.receiver) for index, pair in enumerate(pairs)]
    await until_over([*senders, *receivers], lambda: patience_s(pairs, together=len(pairs) > 1))


async def _stop(start_line: asyncio.Barrier | None, ends: Sequence[TrialEnd]) -> None:
    """Nothing of a trial that failed may go on beside the next one."""
    if start_line is not None:
        await start_line.abort()
    await asyncio.gather(*(end.stop() for end in ends))
