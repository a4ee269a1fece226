"""The moment from which all traffic of a trial counts its start."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.defaults import SECOND_NS, START_AHEAD_NS, START_AHEAD_PER_PAIR_NS, START_GIVEN_AHEAD_NS
from flowsweep.run.pair import Pair


@dataclass(frozen=True, slots=True)
class CommonStart:
    """When the trial's own traffic starts, by two clocks of the controller."""

    unix_ns: int
    loop_s: float
    """By the clock of the event loop, which nobody sets."""

    async def near(self, start_ns: int, *, ahead_ns: int = START_GIVEN_AHEAD_NS) -> int:
        """Wait until a start is at most `ahead_ns` away, and return its moment by the wall clock.

        Args:
            start_ns: from the start of the trial's own traffic on; before it, if negative.
            ahead_ns: an engine takes a start that is up to 5 s ahead.
        """
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self.loop_s + (start_ns - ahead_ns) / SECOND_NS - clock()))
        return self.unix_ns + start_ns


def common_start(pairs: Sequence[Pair]) -> CommonStart:
    """Choose the start so that all engines can know it before the first of these pairs has to begin."""
    # Half a round trip bounds the error of a clock; so it is known how far away an engine is.
    furthest_ns = max(pair.sender.clock.bound_ns for pair in pairs) * 2
    first_ns = min(pair.traffic.start_ns for pair in pairs)
    ahead_ns = START_AHEAD_NS + len(pairs) * START_AHEAD_PER_PAIR_NS + furthest_ns - min(0, first_ns)
    loop_s = asyncio.get_running_loop().time()
    return CommonStart(time.time_ns() + ahead_ns, loop_s + ahead_ns / SECOND_NS)
