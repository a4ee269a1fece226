"""The session with one engine: requests go out, events and samples come in, every wait has a deadline."""

import asyncio
import itertools
import time
from collections.abc import Sequence

from flowsweep.defaults import (
    ENGINE_CUT_OFF_TIMEOUT_S,
    SESSION_OPEN_TIMEOUT_S,
    SESSION_REQUEST_TIMEOUT_S,
    SESSION_STRAY_MAX_BYTES,
)
from flowsweep.errors import SessionError
from flowsweep.hosts.clock import ClockExchange
from flowsweep.hosts.engine_version import why_no_session
from flowsweep.hosts.events import read_event
from flowsweep.hosts.frames import Frame, FrameError, FrameKind, FrameReader, encode
from flowsweep.hosts.heartbeat import Heartbeat
from flowsweep.hosts.inbox import Allowance, Inbox, TrialEvent
from flowsweep.hosts.intake import TrialIntake
from flowsweep.hosts.messages import (
    Clock,
    ClockRequest,
    Describe,
    Hello,
    HostFacts,
    Prepare,
    Refused,
    Start,
    Stop,
)
from flowsweep.hosts.process import PipedProcess
from flowsweep.hosts.tables import read_table

_READ_BYTES = 256 << 10
_SHOWN_CHARACTERS = 400
_UNASKED_MAX = 2
"""Answers that may wait for whoever will ask for them."""


class Session:
    """One engine that was started; `open_session` gives one that has said hello."""

    def __init__(self, host: str, process: PipedProcess) -> None:
        self.host = host
        self.lost: SessionError | None = None
        """Why the session is over, once it is."""
        self.bytes_received = 0
        """All that the engine has said: tells a long transfer from a silent engine."""
        self.timed_out = False
        """No hello came in time."""
        self._process = process
        self._heartbeat = Heartbeat(process.stdin)
        self._stray_bytes = 0
        self._frames = FrameReader()
        self._general: Inbox[Hello | HostFacts] = Inbox()
        self._clock_numbers = itertools.count(1)
        self._clock_answers: dict[int, Inbox[tuple[int, int]]] = {}
        """By number of the question: what the host's clock showed, and when that came here."""
        self._trials: dict[str, TrialIntake] = {}
        self._reader = asyncio.create_task(self._read())

    @property
    def complaint(self) -> str:
        """What engine and launcher said last on standard error."""
        return self._process.complaint

    @property
    def exit_status(self) -> int | None:
        """How the engine or its launcher ended; below 0: by a signal, absent: it runs."""
        return self._process.process.returncode

    async def greet(self, deadline_s: float = SESSION_OPEN_TIMEOUT_S) -> None:
        """Wait for the engine's hello, through whatever a login prints before it.

        Raises:
            SessionError: it did not come in time, or it is of another version. The session is closed then.
        """
        try:
            async with asyncio.timeout(deadline_s):
                answer = await self._general.get()
            reason = why_no_session(answer)
            if reason is not None:
                raise self._error(reason)
            self._heartbeat.start()
        except TimeoutError:
            self.timed_out = True
            await self.close()
            raise self._error(f"no engine answered within {deadline_s:g} s") from None
        except (SessionError, asyncio.CancelledError):
            await self.close()
            raise

    async def describe(
        self, peers: Sequence[str] = (), deadline_s: float = SESSION_REQUEST_TIMEOUT_S
    ) -> HostFacts:
        """Ask the engine what it sees of its host.

        Args:
            peers: names or addresses of the hosts it will exchange traffic with: it lists the routes to them.
            deadline_s: how long the answer may take.

        Raises:
            SessionError: the session is lost, or no answer came in time.
        """
        await self.send(Describe(peers=list(peers)))
        try:
            async with asyncio.timeout(deadline_s):
                facts = await self._general.get()
        except TimeoutError:
            raise self._error(f"no host facts came within {deadline_s:g} s") from None
        if not isinstance(facts, HostFacts):
            raise self._error(f"host facts were asked for, the engine said {facts}")
        return facts

    async def clock(self, deadline_s: float = SESSION_REQUEST_TIMEOUT_S) -> ClockExchange:
        """Ask once what the host's clock shows.

        Raises:
            SessionError: the session is lost, or no answer came in time.
        """
        number = next(self._clock_numbers)
        answer = self._clock_answers[number] = Inbox()
        asked_unix_ns, asked_ns = time.time_ns(), time.monotonic_ns()
        try:
            async with asyncio.timeout(deadline_s):
                await self.send(ClockRequest(number=number))
                answered_unix_ns, came_ns = await answer.get()
        except TimeoutError:
            raise self._error(f"its clock was not told within {deadline_s:g} s") from None
        finally:
            self._clock_answers.pop(number, None)
        return ClockExchange(asked_unix_ns, answered_unix_ns, came_ns - asked_ns)

    def channel(self, trial: str, allowance: Allowance | None = None) -> "TrialChannel":
        """Follow one trial; to be called before its `prepare` is sent.

        Args:
            trial: its name in the session.
            allowance: what the engine may say of it; who says more breaks the protocol.
        """
        intake = self._trials.setdefault(trial, TrialIntake(allowance or Allowance()))
        if self.lost is not None:
            intake.inbox.put(self.lost)
        return TrialChannel(self, trial, intake)

    def forget(self, trial: str) -> None:
        """Whatever still comes of this trial is dropped."""
        self._trials.pop(trial, None)

    async def send(
        self,
        request: Describe | ClockRequest | Prepare | Start | Stop,
        deadline_s: float = SESSION_REQUEST_TIMEOUT_S,
    ) -> None:
        """Hand a request to the engine.

        Raises:
            SessionError: the session is lost, or the engine does not take it in time.
        """
        if self.lost is not None:
            raise self.lost
        payload = request.model_dump_json().encode()
        try:
            async with asyncio.timeout(deadline_s):
                # Whoever has a trial must not be left alone with it.
                frame = encode(Frame(FrameKind.JSON, payload))
                self._heartbeat.write(frame, heard=isinstance(request, Prepare))
                await self._process.stdin.drain()
        except TimeoutError:
            raise self._error(f"the engine took no request for {deadline_s:g} s") from None
        except OSError as error:
            raise self._error(f"the session broke: {error}") from error

    async def close(self, patience_s: float | None = None) -> None:
        """Without its standard input an engine ends its traffic and exits; by force if it does not.

        Args:
            patience_s: how long it may take, in seconds; absent: `ENGINE_END_TIMEOUT_S`.
        """
        ending = await self._end(patience_s)
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        self._lose(self._error(f"the session was closed ({ending})"))

    async def _end(self, patience_s: float | None) -> str:
        self._heartbeat.end()
        return await self._process.end(patience_s)

    async def _read(self) -> None:
        patience_s = None
        try:
            while data := await self._process.stdout.read(_READ_BYTES):
                self.bytes_received += len(data)
                for frame in self._frames.feed(data):
                    self._take(frame)
            reason = "the session ended"
        except SessionError as error:
            reason = error.reason
        except ConnectionError as error:
            reason = f"the session broke: {error}"
        except Exception as error:  # noqa: BLE001 - hostile bytes may make a library raise anything
            patience_s = ENGINE_CUT_OFF_TIMEOUT_S
            words = " ".join(str(error).split()) or type(error).__name__
            reason = f"what came is not the protocol: {words[:_SHOWN_CHARACTERS]}"
        try:
            ending = await self._end(patience_s)
        except OSError as error:
            ending = f"ending it failed: {error}"
        self._lose(self._error(f"{reason} ({ending})"))

    def _take(self, frame: Frame) -> None:
        size = len(frame.payload)
        if frame.kind is FrameKind.ARROW:
            table = read_table(frame.payload)
            intake = self._trials.get(table.trial)
            if intake is None or intake.ended:
                self._pass_over(size)
            else:
                intake.take_table(table, size)
            return
        event = read_event(frame.payload)
        if isinstance(event, Hello | HostFacts):
            if self._general.waiting >= _UNASKED_MAX:
                raise FrameError(f"the engine said {event.type} although nobody asked")
            self._general.put(event)
        elif isinstance(event, Clock):
            # Nobody waits for an answer that came too late, or once more.
            if (answer := self._clock_answers.pop(event.number, None)) is not None:
                answer.put((event.unix_ns, time.monotonic_ns()))
            else:
                self._pass_over(size)
        elif isinstance(event, Refused):
            words = event.message[:_SHOWN_CHARACTERS]
            raise SessionError(self.host, f"the engine refused a request: {words}")
        elif (intake := self._trials.get(event.trial)) is not None and not intake.ended:
            intake.take_event(event, size)
        else:
            self._pass_over(size)

    def _pass_over(self, size: int) -> None:
        """Leave out what nobody waits for, as long as it does not become a habit."""
        self._stray_bytes += size
        if self._stray_bytes > SESSION_STRAY_MAX_BYTES:
            raise FrameError(f"more than {SESSION_STRAY_MAX_BYTES} bytes that nobody asked for")

    def _lose(self, error: SessionError) -> None:
        if self.lost is not None:
            return
        self.lost = error
        self._general.put(error)
        for answer in self._clock_answers.values():
            answer.put(error)
        for intake in self._trials.values():
            intake.inbox.put(error)

    def _error(self, reason: str) -> SessionError:
        """An error that also names what was said beside the protocol."""
        words = [reason]
        if self.complaint:
            words.append(f"it said: {self.complaint[-_SHOWN_CHARACTERS:].removesuffix('.')}")
        banner = self._frames.banner.decode(errors="replace").strip("\0\n\r ")
        if banner and not self._frames.opened:
            words.append(f"in place of an engine came: {banner[:_SHOWN_CHARACTERS]}")
        return SessionError(self.host, "; ".join(words))


class TrialChannel:
    """One trial's part of a session."""

    def __init__(self, session: Session, trial: str, intake: TrialIntake) -> None:
        self._session = session
        self._trial = trial
        self._inbox = intake.inbox

    @property
    def bytes_received(self) -> int:
        """What came so far, of this trial and all else in the session."""
        return self._session.bytes_received

    @property
    def waiting(self) -> int:
        """How many events have come and were not received yet."""
        return self._inbox.waiting

    async def send(self, request: Prepare | Start | Stop) -> None:
        """Hand a request to the engine; see `Session.send`."""
        await self._session.send(request)

    async def receive(self) -> TrialEvent:
        """Wait for what the engine says next of this trial, without a deadline of its own.

        Raises:
            SessionError: the session is lost.
        """
        return await self._inbox.get()

    def close(self) -> None:
        """Whatever still comes of this trial is dropped."""
        self._session.forget(self._trial)
