"""The session with one engine: requests go out, events and samples come in, every wait has a deadline."""

import asyncio
import itertools
import time
from collections.abc import Sequence

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from flowsweep.defaults import SESSION_OPEN_TIMEOUT_S, SESSION_REQUEST_TIMEOUT_S
from flowsweep.errors import SessionError
from flowsweep.hosts.clock import ClockExchange
from flowsweep.hosts.frames import Frame, FrameError, FrameKind, FrameReader, encode
from flowsweep.hosts.inbox import Inbox, TrialEvent, TrialInbox
from flowsweep.hosts.messages import (
    Clock,
    ClockRequest,
    Describe,
    Event,
    Hello,
    HostFacts,
    Prepare,
    Refused,
    Report,
    Start,
    Stop,
)
from flowsweep.hosts.process import PipedProcess

PROTOCOL = 4

_READ_BYTES = 256 << 10
_SHOWN_CHARACTERS = 400
_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


class Session:
    """One engine that was started; `open_session` gives one that has said hello."""

    def __init__(self, host: str, process: PipedProcess) -> None:
        self.host = host
        self.lost: SessionError | None = None
        """Why the session is over, once it is."""
        self._process = process
        self._frames = FrameReader()
        self._general: Inbox[Hello | HostFacts] = Inbox()
        self._clock_numbers = itertools.count(1)
        self._clock_answers: dict[int, Inbox[tuple[int, int]]] = {}
        """By number of the question: what the host's clock showed, and when that came here."""
        self._trials: dict[str, TrialInbox] = {}
        self._reader = asyncio.create_task(self._read())

    @property
    def complaint(self) -> str:
        """What engine and launcher said last on standard error."""
        return self._process.complaint

    async def greet(self, deadline_s: float = SESSION_OPEN_TIMEOUT_S) -> None:
        """Wait for the engine's hello, through whatever a login prints before it.

        Raises:
            SessionError: it did not come in time, or it is of another version. The session is closed then.
        """
        try:
            async with asyncio.timeout(deadline_s):
                hello = await self._general.get()
            if not isinstance(hello, Hello) or hello.protocol != PROTOCOL:
                raise self._error(
                    f"an engine of another version answered: {hello}; expected protocol {PROTOCOL}"
                )
        except TimeoutError:
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
            peers: names or addresses of the hosts it will exchange traffic with: the routes to them are told.
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
            del self._clock_answers[number]
        return ClockExchange(asked_unix_ns, answered_unix_ns, came_ns - asked_ns)

    def channel(self, trial: str) -> "TrialChannel":
        """Follow one trial; to be called before its `prepare` is sent."""
        inbox = self._trials.setdefault(trial, TrialInbox())
        if self.lost is not None:
            inbox.put(self.lost)
        return TrialChannel(self, trial, inbox)

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
                self._process.stdin.write(encode(Frame(FrameKind.JSON, payload)))
                await self._process.stdin.drain()
        except TimeoutError:
            raise self._error(f"the engine took no request for {deadline_s:g} s") from None
        except OSError as error:
            raise self._error(f"the session broke: {error}") from error

    async def close(self) -> None:
        """Without its standard input an engine ends its traffic and exits; by force if it does not."""
        ending = await self._process.end()
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        self._lose(self._error(f"the session was closed, {ending}"))

    async def _read(self) -> None:
        try:
            while data := await self._process.stdout.read(_READ_BYTES):
                for frame in self._frames.feed(data):
                    self._take(frame)
            reason = "the session ended"
        except (FrameError, ValidationError, pa.ArrowException) as error:
            reason = f"what came is not the protocol: {error}"
        except SessionError as error:
            reason = error.reason
        except OSError as error:
            reason = f"the session broke: {error}"
        ending = await self._process.end()
        self._lose(self._error(f"{reason}, {ending}"))

    def _take(self, frame: Frame) -> None:
        if frame.kind is FrameKind.ARROW:
            self._take_table(frame.payload)
            return
        event = _EVENTS.validate_json(frame.payload)
        if isinstance(event, Hello | HostFacts):
            self._general.put(event)
        elif isinstance(event, Clock):
            # Nobody waits for an answer that came too late.
            if (answer := self._clock_answers.get(event.number)) is not None:
                answer.put((event.unix_ns, time.monotonic_ns()))
        elif isinstance(event, Refused):
            raise SessionError(self.host, f"the engine refused a request: {event.message}")
        elif (inbox := self._trials.get(event.trial)) is not None:
            if isinstance(event, Report):
                inbox.put_report(event)
            else:
                inbox.put(event)

    def _take_table(self, payload: bytes) -> None:
        try:
            with pa.ipc.open_stream(payload) as stream:
                metadata = dict(stream.schema.metadata or {})
                table = stream.read_all()
        except OSError as error:
            # Arrow calls it so where a stream is shorter than it says; nothing was read from the engine here.
            raise FrameError(f"a table that is not Arrow: {error}") from error
        trial = metadata.pop(b"trial", b"").decode(errors="replace")
        name = metadata.pop(b"table", b"samples").decode(errors="replace")
        metadata.pop(b"role", None)
        if (inbox := self._trials.get(trial)) is not None:
            inbox.put_table(name, table.replace_schema_metadata(metadata or None))

    def _lose(self, error: SessionError) -> None:
        if self.lost is not None:
            return
        self.lost = error
        self._general.put(error)
        for answer in self._clock_answers.values():
            answer.put(error)
        for inbox in self._trials.values():
            inbox.put(error)

    def _error(self, reason: str) -> SessionError:
        """An error that also names what was said beside the protocol."""
        said = [reason]
        if self.complaint:
            said.append(f"it said: {self.complaint[-_SHOWN_CHARACTERS:]}")
        banner = self._frames.banner.decode(errors="replace").strip("\0\n\r ")
        if banner and not self._frames.opened:
            said.append(f"in place of an engine came: {banner[:_SHOWN_CHARACTERS]}")
        return SessionError(self.host, "; ".join(said))


class TrialChannel:
    """One trial's part of a session."""

    def __init__(self, session: Session, trial: str, inbox: TrialInbox) -> None:
        self._session = session
        self._trial = trial
        self._inbox = inbox

    @property
    def tables_received(self) -> int:
        """Pieces of tables that came so far."""
        return self._inbox.tables_received

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
