"""An engine is told that its controller is there, whatever keeps that busy, and no frame is cut by it."""

import asyncio
import time
from pathlib import Path

import pytest

from analysis_support import make_parameters
from fake_engine import greeting
from flowsweep.hosts import heartbeat
from flowsweep.hosts.frames import Frame, FrameKind, encode
from flowsweep.hosts.heartbeat import Heartbeat
from flowsweep.hosts.messages import Listen, Prepare
from flowsweep.hosts.process import PipedProcess
from flowsweep.hosts.session import Session
from flowsweep.run.tests.registry import settings_of

ALIVE = b'{"type":"alive"}'


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.02)


def frames(heard: bytes) -> list[bytes]:
    """Payloads of frames; a cut one fails."""
    found = []
    while heard:
        length = int.from_bytes(heard[:4])
        assert heard[4:5] == b"J"
        assert len(heard) >= 5 + length
        found.append(heard[5 : 5 + length])
        heard = heard[5 + length :]
    return found


def test_an_engine_hears_of_a_controller_whose_loop_is_held_up(tmp_path: Path) -> None:
    said, heard = tmp_path / "said", tmp_path / "heard"
    said.write_bytes(greeting())

    async def talk() -> int:
        process = await PipedProcess.start("a", ("sh", "-c", f"cat {said}; cat > {heard}"))
        session = Session("a", process)
        await session.greet()
        time.sleep(0.5)  # noqa: ASYNC251 - the loop is to be held up
        before = len(frames(heard.read_bytes()))
        await session.close()
        return before

    assert asyncio.run(talk()) >= 5
    assert set(frames(heard.read_bytes())) == {ALIVE}


def test_whoever_prepares_a_trial_was_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 60)
    said, heard = tmp_path / "said", tmp_path / "heard"
    said.write_bytes(greeting())
    test = settings_of(make_parameters(), "sink", 0)
    token = "0" * 32
    request = Prepare(trial="t", role="sink", token=token, answer=token, rendezvous=Listen(), test=test)

    async def talk() -> None:
        process = await PipedProcess.start("a", ("sh", "-c", f"cat {said}; cat > {heard}"))
        session = Session("a", process)
        await session.greet()
        await session.send(request)
        await session.send(request)
        await session.close()

    asyncio.run(talk())
    first, second, third = frames(heard.read_bytes())
    assert first == ALIVE
    assert second == third != ALIVE


def test_no_frame_is_cut_by_a_heartbeat(tmp_path: Path) -> None:
    """The engine reads late: frames wait in the loop's buffer, partly written."""
    heard = tmp_path / "heard"
    frame = encode(Frame(FrameKind.JSON, b'"' + b"x" * 100_000 + b'"'))

    async def talk() -> None:
        process = await PipedProcess.start("a", ("sh", "-c", f"sleep 0.2; cat > {heard}"))
        beat = Heartbeat(process.stdin)
        beat.start()
        for _ in range(20):
            beat.write(frame)
            await asyncio.sleep(0.02)
        await process.stdin.drain()
        await asyncio.sleep(0.1)
        beat.end()
        await process.end()

    asyncio.run(talk())
    told = frames(heard.read_bytes())
    assert told.count(frame[5:]) == 20
    assert set(told) == {frame[5:], ALIVE}


def test_an_engine_sees_the_end_of_its_input(tmp_path: Path) -> None:
    """The thread has a copy of the pipe, which must be closed as well."""
    said = tmp_path / "said"
    said.write_bytes(greeting())

    async def talk() -> str:
        process = await PipedProcess.start("a", ("sh", "-c", f"cat {said}; cat >/dev/null; exit 7"))
        session = Session("a", process)
        await session.greet()
        await session.close()
        return str(session.lost)

    assert "exit status 7" in asyncio.run(talk())
