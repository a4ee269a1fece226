"""Sessions with shells that say what an engine would: `cat` stands for the engine's output."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pytest

from fake_engine import (
    greeting,
    hello,
    histogram_rows,
    host_facts,
    report,
    said,
    samples,
    samples_frame,
    table_frame,
)
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.engine_version import PROTOCOL
from flowsweep.hosts.frames import MAGIC, Frame, FrameKind, encode
from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import Clock, Progress, Refused, Stop
from flowsweep.hosts.process import PipedProcess
from flowsweep.hosts.session import Session

T = TypeVar("T")

HEADER_BYTES = 5
"""Of a frame."""

STAYS = "cat >/dev/null"
"""An engine that ends when its standard input does."""


@pytest.fixture
def saying(tmp_path: Path) -> Callable[..., PipedProcess]:
    """Starts a shell that says some bytes and goes on with a script."""

    async def start(said: bytes, script: str = STAYS) -> Session:
        output = tmp_path / "said"
        output.write_bytes(said)
        process = await PipedProcess.start("a", ("sh", "-c", f"cat {output}; {script}"))
        return Session("a", process)

    return start


def run(talk: Callable[[], Awaitable[T]]) -> T:
    return asyncio.run(talk())


async def greeted(session: Session) -> Session:
    await session.greet()
    return session


def test_a_banner_is_skipped(saying) -> None:
    async def talk() -> str:
        session = await greeted(await saying(b"Welcome!\r\n" * 500 + greeting() + said(host_facts("moon"))))
        facts = await session.describe()
        await session.close()
        return facts.hostname

    assert run(talk) == "moon"


def test_a_clock_is_told_whatever_else_comes(saying, tmp_path: Path) -> None:
    """The answer to an earlier question, which nobody waits for any more, is not taken for this one's."""
    answers = [Clock(number=7, unix_ns=1), host_facts("moon"), Clock(number=1, unix_ns=5_000)]
    (tmp_path / "answers").write_bytes(said(*answers))

    async def talk() -> tuple[int, int, str]:
        script = f"head -c1 >/dev/null; cat {tmp_path / 'answers'}; {STAYS}"
        session = await greeted(await saying(greeting(), script))
        exchange = await session.clock()
        facts = await session.describe()
        await session.close()
        return exchange.answered_unix_ns, exchange.round_trip_ns, facts.hostname

    answered_unix_ns, round_trip_ns, hostname = run(talk)
    assert (answered_unix_ns, hostname) == (5_000, "moon")
    assert round_trip_ns > 0


def test_a_clock_that_is_not_told_is_no_clock(saying) -> None:
    async def talk() -> None:
        session = await greeted(await saying(greeting()))
        try:
            await session.clock(deadline_s=0.05)
        finally:
            await session.close()

    assert "its clock was not told within 0.05 s" in error_of(talk)


def test_a_session_whose_engine_cannot_be_ended_is_lost_all_the_same(saying, monkeypatch) -> None:
    async def refuse(*_: object) -> str:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    async def talk() -> None:
        session = await greeted(await saying(greeting(), "head -c1 >/dev/null; exit 3"))
        with monkeypatch.context() as changed:
            changed.setattr(PipedProcess, "end", refuse)
            try:
                async with asyncio.timeout(5):
                    await session.clock()
            finally:
                changed.undo()
                await session.close()

    assert "the session ended (ending it failed: " in error_of(talk)


def test_whoever_waits_for_a_clock_is_told_of_the_end(saying) -> None:
    async def talk() -> None:
        session = await greeted(await saying(greeting(), "head -c1 >/dev/null; exit 3"))
        await session.clock()

    assert "exit status 3" in error_of(talk)


def error_of(talk: Callable[[], Awaitable[object]]) -> str:
    with pytest.raises(SessionError) as caught:
        run(talk)
    assert caught.value.host == "a"
    return caught.value.reason


def test_what_comes_in_place_of_an_engine_is_named_with_how_it_ended(saying) -> None:
    async def talk() -> None:
        script = "echo 'no such program' >&2; exit 127"
        await greeted(await saying(b"This account is not available.\n", script))

    reason = error_of(talk)
    assert "exit status 127" in reason
    assert "no such program" in reason
    assert "This account is not available." in reason


def test_a_host_that_says_nothing_is_given_up(saying) -> None:
    async def talk() -> None:
        session = await saying(b"")
        await session.greet(deadline_s=0.05)

    assert "no engine answered within 0.05 s" in error_of(talk)


def test_a_flood_is_not_read_for_ever(saying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowsweep.hosts.process.ENGINE_END_TIMEOUT_S", 0.05)

    async def talk() -> None:
        await greeted(await saying(b"", "yes"))

    assert "no engine among them" in error_of(talk)


def test_another_version_is_refused(saying) -> None:
    async def talk() -> None:
        await greeted(await saying(MAGIC + said(hello(protocol=99))))

    said_of_it = error_of(talk)
    assert f"release '0.1.0' with protocol 99; expected protocol {PROTOCOL}" in said_of_it
    assert "update the older of the two" in said_of_it


def test_what_does_not_begin_with_a_hello_is_no_engine(saying) -> None:
    async def talk() -> None:
        await greeted(await saying(MAGIC + said(host_facts())))

    assert "it is no engine of Flowsweep" in error_of(talk)


@pytest.mark.parametrize(
    ("nonsense", "expected"),
    [
        (b"\0\0\0\x02J{}", "not the protocol"),
        (b"\0\0\0\x02Xab", "unknown frame kind"),
        (b"\0\0\0\x02Aab", "not the protocol"),
        (b"\xff\xff\xff\xffJ", "at most"),
        (said(Refused(message="no such request")), "no such request"),
    ],
)
def test_nonsense_ends_the_session(saying, nonsense: bytes, expected: str) -> None:
    async def talk() -> None:
        session = await greeted(await saying(greeting() + nonsense))
        await session.describe()

    assert expected in error_of(talk)


def test_tables_are_told_apart_by_their_names(saying) -> None:
    histogram = histogram_rows("sink", [3, 4, 5]).replace_schema_metadata({"table": "histograms"})
    frames = (table_frame(table, "t", "sink") for table in (samples("sink", [1]), histogram))

    async def talk() -> None:
        session = await saying(greeting() + b"".join(frames) + said(report("t", "sink", [1])))
        end = await session.channel("t").receive()
        assert isinstance(end, EndReport)
        assert end.tables["samples"]["bytes"].to_pylist() == [1]
        assert end.tables["histograms"]["count"].to_pylist() == [3, 4, 5]
        assert not end.tables["histograms"].schema.metadata

    asyncio.run(talk())


@pytest.mark.parametrize("end", [60, -20], ids=["in the schema", "in the rows"])
def test_samples_that_are_cut_short_end_the_session(saying, end: int) -> None:
    """Arrow has an error of its own for each place where a stream may end."""
    whole = samples_frame("t", "sink", [1, 2])[HEADER_BYTES:]

    async def talk() -> None:
        session = await saying(greeting() + encode(Frame(FrameKind.ARROW, whole[:end])))
        async with asyncio.timeout(5):
            await session.channel("t").receive()

    assert "what came is not the protocol" in error_of(talk)


def test_an_engine_that_dies_is_named_with_its_signal(saying) -> None:
    async def talk() -> None:
        session = await greeted(await saying(greeting(), "kill -9 $$"))
        await session.channel("t").receive()

    assert error_of(talk) == "the session ended (SIGKILL)"


def test_a_lost_session_stays_lost(saying) -> None:
    async def talk() -> list[str]:
        session = await greeted(await saying(greeting(), "exit 3"))
        early = session.channel("t")
        reasons = []
        for wait in (
            early.receive,
            early.receive,
            session.channel("later").receive,
            lambda: early.send(Stop(trial="t")),
        ):
            with pytest.raises(SessionError) as caught:
                await wait()
            reasons.append(caught.value.reason)
        await session.close()
        return reasons

    reasons = run(talk)
    assert len(set(reasons)) == 1
    assert "exit status 3" in reasons[0]


def test_samples_come_with_the_report_of_their_own_trial(saying) -> None:
    output = b"".join(
        [
            greeting(),
            samples_frame("one", "source", [1, 2]),
            samples_frame("two", "sink", [3]),
            said(Progress(trial="one", role="source", elapsed_us=1, bytes=5)),
            samples_frame("one", "source", [4]),
            samples_frame("nobody asked", "source", [9]),
            said(report("two", "sink", [3]), report("one", "source", [7])),
        ]
    )

    async def talk() -> tuple[list[object], list[object]]:
        session = await saying(output, STAYS)
        one, two = session.channel("one"), session.channel("two")
        await session.greet()
        events = [await one.receive(), await one.receive()], [await two.receive()]
        assert one.bytes_received == len(output)
        await session.close()
        return events

    (progress, end), (other,) = run(talk)
    assert isinstance(progress, Progress)
    assert isinstance(end, EndReport)
    assert end.tables["samples"]["bytes"].to_pylist() == [1, 2, 4]
    assert end.tables["samples"].schema.metadata is None
    assert other.tables["samples"]["bytes"].to_pylist() == [3]
    assert other.report.flows[0].bytes == 3


def test_pieces_of_samples_may_have_different_columns(saying) -> None:
    more = samples("sink", [2]).append_column("rtt_us", pa.array([7])).append_column("later", pa.array([8]))
    output = greeting() + samples_frame("t", "sink", [1]) + table_frame(more, "t", "sink")

    async def talk() -> object:
        session = await saying(output + said(report("t", "sink", [3])))
        async with asyncio.timeout(5):
            return await session.channel("t").receive()

    end = run(talk)
    assert isinstance(end, EndReport)
    assert end.tables["samples"]["rtt_us"].to_pylist() == [None, 7]
    assert "later" not in end.tables["samples"].column_names, "this version does not know it"


def test_requests_reach_the_engine(saying, tmp_path: Path) -> None:
    heard = tmp_path / "heard"

    async def talk() -> None:
        session = await greeted(await saying(greeting(), f"cat > {heard}"))
        await session.channel("t").send(Stop(trial="t"))
        await session.close()

    run(talk)
    assert heard.read_bytes() == b'\x00\x00\x00\x1bJ{"trial":"t","type":"stop"}'


def test_an_engine_that_does_not_end_is_ended(saying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowsweep.hosts.process.ENGINE_END_TIMEOUT_S", 0.05)

    async def talk() -> str:
        session = await greeted(await saying(greeting(), "exec sleep 60"))
        await session.close()
        assert session.lost is not None
        return session.lost.reason

    assert "SIGKILL" in run(talk)


def test_a_launcher_that_is_not_there_is_named() -> None:
    async def talk() -> None:
        await PipedProcess.start("a", ("no-such-launcher", "x"))

    with pytest.raises(LaunchError, match="host a: cannot start `no-such-launcher x`: No such file"):
        run(talk)
