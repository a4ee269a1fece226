"""What flows may take of a host's memory."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.units import write_size
from flowsweep.wording import counted


def buffer_problems(flows: int, length: int, at: KeyPath) -> Iterator[Problem]:
    """Find more flows and longer writes, of the table at a place, than a host should have memory for."""
    if flows * length > defaults.BUFFERS_MAX_BYTES:
        message = (
            f"found {write_size(length)} for {counted(flows, 'flow')}, expected at most "
            f"{write_size(defaults.BUFFERS_MAX_BYTES)} of all flows"
        )
        yield Problem((*at, "length"), message, about=((*at, "flows"),))
