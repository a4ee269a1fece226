"""Asks SNMP agents again and again, in a process of its own: `python -m flowsweep.monitors.snmp_poller`.

Its first line of standard input says whom it asks; it writes a line for each poll, and an empty one at each
answer, which says that it goes on. It ends when its standard input does. So whatever an agent sends, and
however long a name takes to resolve, neither trials nor the controller's event loop notice. SNMP itself is
pysnmp's.
"""

import asyncio
import os
import sys
import time

from flowsweep.defaults import MONITOR_LAST_WORDS_S, MONITOR_POLL_MAX_S, SECOND_NS
from flowsweep.monitors.messages import AgentAsked, Asked, line_of
from flowsweep.monitors.reading import Poll, bounded
from flowsweep.monitors.snmp_agent import AgentSilentError, SnmpClient

_NICE = 10


def main() -> None:
    """Ask until standard input ends."""
    os.nice(_NICE)
    asked = Asked.model_validate_json(sys.stdin.buffer.readline())
    asyncio.run(_ask_all(asked))


async def _ask_all(asked: Asked) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    askers = [_Agent(agent) for agent in asked.agents]
    tasks = [asyncio.create_task(asker.ask_on()) for asker in askers]
    ended = asyncio.create_task(reader.read())
    # A task that fails ends the process, which says why; whoever started it begins again.
    over, _ = await asyncio.wait({ended, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    for task in (*tasks, ended):
        task.cancel()
    for task in over:
        task.result()
    last = [asyncio.create_task(asker.ask(MONITOR_LAST_WORDS_S)) for asker in askers if asker.answers]
    if last:
        await asyncio.wait(last, timeout=2 * MONITOR_LAST_WORDS_S)


class _Agent:
    """One agent, and what is known of it."""

    def __init__(self, agent: AgentAsked) -> None:
        self.answers = False
        """Whether it did the last time."""
        self._agent = agent
        self._client = SnmpClient(agent)

    async def ask_on(self) -> None:
        """Poll at equal distances of time; a poll that takes longer lets the next ones go by."""
        loop = asyncio.get_running_loop()
        every_s = self._agent.every_ns / SECOND_NS
        due_s = loop.time()
        while True:
            await self.ask(MONITOR_POLL_MAX_S)
            due_s += every_s * max(1, -(-(loop.time() - due_s) // every_s))
            await asyncio.sleep(max(0.0, due_s - loop.time()))

    async def ask(self, deadline_s: float) -> None:
        """Poll once, and say what came of it; the deadline is of each answer: what came stays."""
        began_us, began_s = time.time_ns() // 1000, time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(deadline_s) as timer:

                def answered() -> None:
                    timer.reschedule(loop.time() + deadline_s)
                    _write(b"\n")

                async for poll in self._client.poll(answered):
                    _write(line_of(poll))
            self.answers = True
        except (AgentSilentError, TimeoutError, OSError) as error:
            self.answers = False
            why = str(error) or f"no answer within {deadline_s:g} s"
            took_us = round((time.monotonic() - began_s) * 1e6)
            _write(line_of(Poll(self._agent.name, began_us + took_us // 2, took_us, silent=bounded(why))))
            # A new one next time: an agent that was replaced has another engine id, which v3 remembers.
            self._client.close()
            self._client = SnmpClient(self._agent)


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
