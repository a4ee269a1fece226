"""One end of one pair of hosts: what is asked of its engine, and what the engine makes of it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from flowsweep.defaults import ENGINE_CUT_OFF_TIMEOUT_S, STOP_UNAWAITED_TIMEOUT_S
from flowsweep.errors import SessionError
from flowsweep.hosts.inbox import EndReport, TrialEvent
from flowsweep.hosts.messages import (
    Connected,
    FailedEvent,
    Granted,
    Listening,
    Phase,
    Prepare,
    Progress,
    Start,
    Stop,
)
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.outcome import EndRole, Failure
from flowsweep.run.report_allowance import allowance_of
from flowsweep.run.traffic import Traffic

POINT_BUSY = "point_busy"
"""The kind of failure of a trial that a standing point did not begin, since others have their turn there."""


class TrialError(Exception):
    """A trial did not get to its reports."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(str(failure))


Expected = TypeVar("Expected", Listening, Connected, EndReport)


_MISSED: Mapping[type[TrialEvent], str] = {
    Listening: "the engine named no port to connect to",
    Connected: "the engine did not say that all flows stand",
    EndReport: "the engine did not report the end of the trial",
}


class TrialEnd:
    """One end of the flows between two hosts. Every method that waits raises `TrialError`."""

    def __init__(
        self, traffic: Traffic, role: EndRole, session: HostSession, peer: str, deadlines: Deadlines
    ) -> None:
        self.role = role
        self.access = session.access
        self.clock = session.clock
        self.peer = peer
        self.granted: Granted | None = None
        self.result: EndReport | None = None
        self.trouble: Failure | None = None
        """The first that went wrong here, also while the trial was stopped."""
        self._name = traffic.name
        self._session = session.engine
        self._allowance = allowance_of(traffic, role)
        self._channel = session.engine.channel(traffic.name, self._allowance)
        self._deadlines = deadlines
        self._asked = False
        self._over = False
        self._latest = 0.0
        """When the report must be there, by the event loop's clock; 0 before it was waited for."""
        self._progress: Callable[[Progress], None] | None = None

    async def prepare(self, request: Prepare) -> None:
        """Have the engine make and check its sockets."""
        self._asked = True
        await self._send(request, "prepare")

    async def listening(self, source_timeout_s: float) -> int:
        """Wait for the port that takes the trial's connections.

        Args:
            source_timeout_s: how long a source's engine may take, which makes its files before it listens.
        """
        own_s = self._deadlines.request_s
        timeout_s = source_timeout_s + self._deadlines.slack_s if self.role == "source" else own_s
        return (await self._next(Listening, "prepare", max(own_s, timeout_s))).port

    async def connected(self, engine_timeout_s: float) -> None:
        """Wait until all flows stand."""
        timeout_s = engine_timeout_s + self._deadlines.slack_s
        self.granted = (await self._next(Connected, "connect", timeout_s)).granted

    async def start(self, moment_unix_ns: int | None) -> None:
        """Have the source begin to send, at a moment of the controller's clock, or at once."""
        at_unix_ns = None if moment_unix_ns is None else moment_unix_ns + self.clock.offset_ns
        await self._send(Start(trial=self._name, at_unix_ns=at_unix_ns), "run")

    async def finished(self, engine_timeout_s: float, progress: Callable[[Progress], None]) -> None:
        """Wait for the report, and hand on each progress message until then.

        When it is due, its tables may still be on their way: as long as something comes, they have the time
        that the allowance gives them, and no more.
        """
        self._progress = progress
        due_s = engine_timeout_s + self._deadlines.slack_s
        longest_s = due_s + self._allowance.transfer_s
        self._latest = asyncio.get_running_loop().time() + longest_s
        await self._next(EndReport, "run", due_s, longest_s)

    async def stop(self) -> None:
        """End what goes on here, whatever state it is in. An engine that does not even stop is ended.

        That takes no longer than `Deadlines.stop_s` and ending the engine; where tables come, no longer than
        the trial might have taken, either.
        """
        if not self._asked or self._over:
            return
        stop_s = self._deadlines.stop_s
        left_s = self._latest - asyncio.get_running_loop().time()
        longest_s = max(stop_s, min(left_s, stop_s + self._allowance.transfer_s))
        try:
            await self._send(Stop(trial=self._name), "run", stop_s)
            await self._next(EndReport, "run", stop_s, longest_s)
        except Exception as error:
            if not self._over:
                await self._session.close(ENGINE_CUT_OFF_TIMEOUT_S)
            if not isinstance(error, TrialError):
                raise

    async def let_go(self) -> None:
        """Tell the engine to end what goes on, and wait for nothing: its session is about to be closed."""
        if self._asked and not self._over:
            with suppress(TrialError):
                await self._send(Stop(trial=self._name), "run", STOP_UNAWAITED_TIMEOUT_S)

    @property
    def over(self) -> bool:
        """Whether nothing more goes on here: the engine has said its last word, or is gone."""
        return self._over

    @property
    def incomplete(self) -> Failure | None:
        """Why the trial is not whole at this end, if its report says so."""
        failure = None if self.result is None else self.result.report.incomplete
        return None if failure is None else self._failure(failure.phase, failure.kind, failure.message)

    def close(self) -> None:
        """Whatever still comes is dropped."""
        self._channel.close()

    def error(self, phase: Phase, kind: str, message: str) -> TrialError:
        """What is to be raised of a failure at this end."""
        failure = self._failure(phase, kind, message)
        self.trouble = self.trouble or failure
        return TrialError(failure)

    def _failure(self, phase: Phase, kind: str, message: str) -> Failure:
        return Failure(phase=phase, host=self.access.name, kind=kind, message=message)

    async def _send(
        self, request: Prepare | Start | Stop, phase: Phase, timeout_s: float | None = None
    ) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._channel.send(request)
        except TimeoutError:
            message = f"the engine took no request for {timeout_s:g} s"
            raise self.error(phase, "engine_silent", message) from None
        except SessionError as error:
            raise self.error(phase, "session_lost", error.reason) from error

    async def _next(
        self, expected: type[Expected], phase: Phase, timeout_s: float, longest_s: float | None = None
    ) -> Expected:
        """The next event of the expected kind; whatever else ends the trial fails it.

        Args:
            expected: kind of the event.
            phase: where the trial is.
            timeout_s: when the event is due.
            longest_s: how long it is waited for as long as something comes; absent: no longer than that.
        """
        begun = asyncio.get_running_loop().time()
        try:
            while True:
                event = await self._receive(begun + timeout_s, begun + (longest_s or timeout_s))
                if isinstance(event, expected):
                    return event
                if isinstance(event, FailedEvent):
                    raise self.error(event.phase, event.kind, event.message)
                if isinstance(event, EndReport):
                    raise self._early_end(phase, event)
                if isinstance(event, Progress) and self._progress is not None:
                    self._progress(event)
        except TimeoutError:
            waited_s = round(asyncio.get_running_loop().time() - begun, 1)
            message = f"{_MISSED[expected]} within {max(timeout_s, waited_s):g} s"
            raise self.error(phase, "engine_silent", message) from None
        except SessionError as error:
            self._over = True
            raise self.error(phase, "session_lost", error.reason) from error

    async def _receive(self, due: float, latest: float) -> TrialEvent:
        """The next event, before it is due, or at the latest for as long as something comes."""
        clock = asyncio.get_running_loop().time
        while True:
            received = self._channel.bytes_received
            # What is due already has a while from the last word on.
            until = due if clock() < due else min(latest, clock() + self._deadlines.request_s)
            try:
                async with asyncio.timeout_at(until):
                    event = await self._channel.receive()
                break
            except TimeoutError:
                if self._channel.waiting:
                    # It came in time, and this process was held up.
                    event = await self._channel.receive()
                    break
                if self._channel.bytes_received == received or clock() >= latest:
                    raise
        self._over = isinstance(event, FailedEvent | EndReport)
        if isinstance(event, EndReport):
            self.result = event
        return event

    def _early_end(self, phase: Phase, event: EndReport) -> TrialError:
        if event.report.incomplete is not None:
            incomplete = event.report.incomplete
            return self.error(incomplete.phase, incomplete.kind, incomplete.message)
        return self.error(phase, "early_end", "the engine reported before the trial ran")
