"""Whatever comes in place of an engine's words ends its session with `SessionError`; tables are whole."""

import asyncio
import atexit
from collections.abc import Iterable, Iterator
from functools import cache

import pyarrow as pa

from fake_engine import echoes, greeting, report, said, table_frame
from flowsweep.errors import SessionError
from flowsweep.hosts.frames import MAGIC, Frame, FrameKind, FrameReader, encode
from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import Connected, FailedEvent, Granted, Listening, Progress
from flowsweep.hosts.session import Session, TrialChannel

TRIAL = "t"
AS_IT_IS = b"R"
"""First byte of an input that is a stream; what follows another one is made one, see `stream_of`."""
LENGTH_BYTES = 2
SAMPLES = pa.table(
    {
        "role": pa.array(["sink", "sink"], pa.string()),
        "flow": pa.array([0, 0], pa.int32()),
        "start_ns": pa.array([0, 10], pa.int64()),
        "end_ns": pa.array([10, 20], pa.int64()),
        "bytes": pa.array([3, 4], pa.int64()),
        "rtt_us": pa.array([7, None], pa.int64()),
    }
)
"""What every engine tells, and a column that only some have."""
WITHIN_S = 10.0
"""How long a session may take to read some kilobytes."""


class Said:
    """A process that has said some bytes and ended."""

    complaint = ""

    def __init__(self, stream: bytes) -> None:
        self.stdin = Nobody()
        self.stdout = asyncio.StreamReader()
        self.stdout.feed_data(stream)
        self.stdout.feed_eof()

    async def end(self, *_: object) -> str:
        return "it ended"


class Nobody:
    """Standard input of a process that is gone."""

    def get_extra_info(self, _name: str) -> None:
        return None


def try_one(data: bytes) -> None:
    """Raises whatever is no end of a session."""
    loop().run_until_complete(play(stream_of(data)))


async def play(stream: bytes) -> None:
    """Have a session read a stream to its end, while a trial waits for what concerns it."""
    session = Session("far", Said(stream))
    following = asyncio.create_task(follow(session.channel(TRIAL)))
    done, waiting = await asyncio.wait(
        {following, session._reader}, timeout=WITHIN_S, return_when=asyncio.FIRST_EXCEPTION
    )
    for task in waiting:
        task.cancel()
    for task in done:
        task.result()
    assert not waiting, "the session waits for more than there is"
    assert isinstance(session.lost, SessionError)


async def follow(channel: TrialChannel) -> None:
    """Take all that comes of a trial, until its session is lost."""
    try:
        while True:
            event = await channel.receive()
            if isinstance(event, EndReport):
                whole(event.tables.values())
    except SessionError:
        return


def whole(tables: Iterable[pa.Table]) -> None:
    """Check what Arrow does not by itself, and would read beyond its buffers for."""
    for table in tables:
        table.validate(full=True)


def stream_of(data: bytes) -> bytes:
    """The bytes themselves; or, after the magic, frames made of them: kind, length, payload.

    Frames that say themselves how long they are would all be one that never ends.
    """
    if data[:1] == AS_IT_IS:
        return data[1:]
    rest, frames = data[1:], [MAGIC]
    while rest:
        kind = FrameKind.ARROW if rest[0] & 1 else FrameKind.JSON
        begin = 1 + LENGTH_BYTES
        end = begin + int.from_bytes(rest[1:begin])
        frames.append(encode(Frame(kind, rest[begin:end])))
        rest = rest[end:]
    return b"".join(frames)


@cache
def loop() -> asyncio.AbstractEventLoop:
    """One for all inputs: to make one takes longer than to read an input."""
    made = asyncio.new_event_loop()
    atexit.register(made.close)
    return made


def seeds() -> Iterator[tuple[str, bytes]]:
    """What engines say in a trial, as streams and as frames."""
    granted = Granted(congestion="cubic", window_clipped=False, window_raised=False, remarks=[])
    begun = [
        Listening(trial=TRIAL, port=5300),
        Connected(trial=TRIAL, role="sink", granted=granted),
        Progress(trial=TRIAL, role="sink", elapsed_us=5, bytes=7),
    ]
    done = said(report(TRIAL, "sink", [7]))
    tables = {
        "samples": table_frame(SAMPLES, TRIAL, "sink"),
        "echoes": table_frame(asked(), TRIAL, "source"),
    }
    yield "stream", AS_IT_IS + greeting() + said(*begun) + tables["samples"] + done
    for name, table in tables.items():
        yield name, b"F" + shortened(table + done)
    yield "failed", b"F" + shortened(said(FailedEvent(trial=TRIAL, phase="run", kind="broken", message="")))


def asked() -> pa.Table:
    """Questions for the round-trip time, with whose they are."""
    table = echoes()
    whose = {"role": pa.array(["source"] * 2, pa.string()), "flow": pa.array([0, 0], pa.int32())}
    columns = whose | {name: table[name] for name in table.column_names}
    return pa.table(columns, metadata={"table": "echoes"})


def shortened(frames: bytes) -> bytes:
    """Frames as `stream_of` makes them again."""
    made = b""
    for frame in FrameReader().feed(MAGIC + frames):
        kind = b"A" if frame.kind is FrameKind.ARROW else b"J"
        made += kind + len(frame.payload).to_bytes(LENGTH_BYTES) + frame.payload
    return made
