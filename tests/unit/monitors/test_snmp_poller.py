"""What is told of an agent that answers in parts, slowly or only some of them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from flowsweep.hosts.process import PipedProcess
from flowsweep.monitors import snmp_poller
from flowsweep.monitors.askers import AgentsAsker
from flowsweep.monitors.messages import AgentAsked, line_of, poll_of
from flowsweep.monitors.reading import Poll
from snmp_support import AGENT
from virtual_time import VirtualTimeLoop

DEADLINE_S = 8.0


def told(
    answers_s: Sequence[float], monkeypatch: pytest.MonkeyPatch, capsysbinary: Any
) -> tuple[list[Poll], bool]:
    """What is told of an agent whose answers take so long, and whether it counts as one that answers."""

    class Client:
        def __init__(self, agent: AgentAsked) -> None:
            self.name = agent.name

        async def poll(self, answered: Callable[[], None]) -> AsyncIterator[Poll]:
            for number, answer_s in enumerate(answers_s):
                await asyncio.sleep(answer_s)
                answered()
                yield Poll(self.name, number, 1, (("et0", "in_bytes", number),))

        def close(self) -> None:
            pass

    monkeypatch.setattr(snmp_poller, "SnmpClient", Client)
    asker = snmp_poller._Agent(AGENT)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(asker.ask(DEADLINE_S))
    lines = capsysbinary.readouterr().out.splitlines(keepends=True)
    assert lines.count(b"\n") == sum(answer_s < DEADLINE_S for answer_s in answers_s)
    return [poll_of(line) for line in lines if line != b"\n"], asker.answers


def test_many_slow_answers_are_all_told(monkeypatch: pytest.MonkeyPatch, capsysbinary: Any) -> None:
    polls, answers = told([0.25] * 64, monkeypatch, capsysbinary)
    assert [poll.at_us for poll in polls] == list(range(64))
    assert all(poll.silent is None for poll in polls)
    assert answers


def test_what_was_answered_stays_where_the_rest_is_not(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: Any
) -> None:
    polls, answers = told([1.0, 1.0, 60.0], monkeypatch, capsysbinary)
    assert [poll.silent for poll in polls] == [None, None, "no answer within 8 s"]
    assert not answers


def test_a_process_that_says_nothing_is_told_with_a_reason() -> None:
    async def asked() -> None:
        asker = AgentsAsker([AGENT], None)
        asker._command = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
        asker._silence_s = 0.2
        async for _ in asker.polls(asyncio.Event()):
            pass

    with pytest.raises(TimeoutError, match=r"what asks it said nothing for 0\.2 s"):
        asyncio.run(asked())


def test_a_process_whose_agent_answers_is_waited_for_until_it_tells() -> None:
    """An agent with many interfaces is asked for their names for longer than a process may say nothing."""
    line = line_of(Poll("core", 1, 1, (("et0", "in_bytes", 1),)))
    script = (
        f"import sys, time\nfor line in [b'\\n'] * 8 + [{line!r}]:\n"
        " time.sleep(0.2)\n sys.stdout.buffer.write(line)\n sys.stdout.flush()"
    )

    async def asked() -> Poll:
        asker = AgentsAsker([AGENT], None)
        asker._command = (sys.executable, "-I", "-S", "-c", script)
        asker._silence_s = 1.0
        async with aclosing(asker.polls(asyncio.Event())) as polls:
            return await anext(polls)

    assert asyncio.run(asked()).values == (("et0", "in_bytes", 1),)


def test_modules_in_the_folder_where_a_run_begins_do_not_get_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m` looks there first."""
    (tmp_path / "pydantic.py").write_text("raise SystemExit('they were asked for')")
    monkeypatch.chdir(tmp_path)

    async def asked() -> str:
        process = await PipedProcess.start("a", AgentsAsker([AGENT], None)._command)
        process.stdin.write(b"nothing that is asked\n")
        await process.end(20)
        return process.complaint

    assert "ValidationError" in asyncio.run(asked())
