"""One trial: prepare, connect, run and drain, report."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from typing import Any

from flowsweep.defaults import CONNECT_TIMEOUT_NS, SECOND_NS
from flowsweep.hosts.messages import Connect, Listen, Prepare, Progress
from flowsweep.run.attempt import Attempt
from flowsweep.run.end import Deadlines, TrialEnd, TrialError
from flowsweep.run.engines import Place
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.requests import address_for, connect, listen, tcp_settings
from flowsweep.run.results import outcome_of
from flowsweep.schedule.trial import TcpParameters, Trial

_TOKEN_BYTES = 16
_STANDARD_DEADLINES = Deadlines()

ProgressListener = Callable[[Progress], None]


async def run_trial(
    attempt: Attempt,
    source: Place,
    sink: Place,
    *,
    start_line: asyncio.Barrier | None = None,
    progress: ProgressListener = lambda _: None,
    deadlines: Deadlines = _STANDARD_DEADLINES,
) -> TrialOutcome:
    """Carry one trial out; whatever goes wrong with it is in the outcome.

    Args:
        attempt: the trial, and which attempt at it.
        source: the host that sends.
        sink: the host that receives.
        start_line: where trials that run at the same time wait for each other.
        progress: called with what the sink says about once a second.
        deadlines: what the engines may take.
    """
    sender = TrialEnd(attempt.name, "source", source, deadlines)
    receiver = TrialEnd(attempt.name, "sink", sink, deadlines)
    try:
        await _prepare_and_connect(attempt, sender, receiver)
        await _line_up(start_line, sender)
        await sender.start()
        await _run_and_drain(attempt.trial, sender, receiver, progress)
    except TrialError as error:
        await _stop(start_line, sender, receiver)
        return outcome_of(attempt, sender, receiver, error.failure)
    except asyncio.CancelledError:
        await _stop(start_line, sender, receiver)
        raise
    finally:
        sender.close()
        receiver.close()
    return outcome_of(attempt, sender, receiver, None)


async def _prepare_and_connect(attempt: Attempt, sender: TrialEnd, receiver: TrialEnd) -> None:
    listener, connector = (receiver, sender) if receiver.access.listens else (sender, receiver)
    if not listener.access.listens:
        message = f"neither {sender.access.name} nor {receiver.access.name} can be reached from outside"
        raise TrialError(listener.failure("prepare", "nobody_listens", message))
    family = attempt.trial.parameters.family
    address = address_for(listener.access, connector.access.name, family)
    if address is None:
        wanted = "" if family is None else f"IPv{family} "
        message = f"no {wanted}address is known where {connector.access.name} reaches it"
        raise TrialError(listener.failure("prepare", "no_address", message))
    token, answer = secrets.token_hex(_TOKEN_BYTES), secrets.token_hex(_TOKEN_BYTES)

    def request(end: TrialEnd, meeting: Listen | Connect) -> Prepare:
        settings = tcp_settings(attempt.trial.parameters, end.role)
        return Prepare(
            trial=attempt.name, role=end.role, token=token, answer=answer, meeting=meeting, tcp=settings
        )

    await listener.prepare(request(listener, listen(listener.access)))
    port = await listener.listening()
    await connector.prepare(request(connector, connect(connector.access, address, port)))
    timeout_s = CONNECT_TIMEOUT_NS / SECOND_NS
    await _both(sender.connected(timeout_s), receiver.connected(timeout_s))


async def _line_up(start_line: asyncio.Barrier | None, sender: TrialEnd) -> None:
    if start_line is None:
        return
    try:
        await start_line.wait()
    except asyncio.BrokenBarrierError:
        message = "the trial that should have run at the same time did not get ready"
        raise TrialError(sender.failure("connect", "not_simultaneous", message)) from None


async def _run_and_drain(
    trial: Trial, sender: TrialEnd, receiver: TrialEnd, progress: ProgressListener
) -> None:
    timeout_s = _longest_run_ns(trial.parameters) / SECOND_NS
    await _both(sender.finished(timeout_s, lambda _: None), receiver.finished(timeout_s, progress))


def _longest_run_ns(parameters: TcpParameters) -> int:
    """What an engine allows itself: the duration counts from when bytes of all flows have arrived."""
    return CONNECT_TIMEOUT_NS + parameters.duration_ns + parameters.pad_ns + parameters.drain_timeout_ns


async def _stop(start_line: asyncio.Barrier | None, sender: TrialEnd, receiver: TrialEnd) -> None:
    """Nothing of a trial that failed may go on beside the next one."""
    if start_line is not None:
        await start_line.abort()
    await asyncio.gather(sender.stop(), receiver.stop())


async def _both(first: Coroutine[Any, Any, None], second: Coroutine[Any, Any, None]) -> None:
    """Wait for both ends; the first failure ends the waiting."""
    tasks = [asyncio.create_task(first), asyncio.create_task(second)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
