"""What a sweep that measures round-trip times must have."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.units import write_size


def rtt_problems(_: PlanFile, sweep: SweepTable, __: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find what round-trip times cannot be measured with."""
    least, most = defaults.ECHO_MIN_BYTES, defaults.DATAGRAM_MAX_BYTES
    for index, length in enumerate(sweep.length or []):
        if not least <= length <= most:
            path = (*at, "length", index) if len(sweep.length or []) > 1 else (*at, "length")
            expected = f"expected {write_size(least)} to {write_size(most)} in a probe"
            yield Problem(path, f"found {write_size(length)}, {expected}", ((*at, "test"),))
    if sweep.length is not None and sweep.echo == ["tcp-connect"]:
        message = "has no effect: a handshake carries no payload; leave it out, or take another `echo`"
        yield Problem((*at, "length"), message, ((*at, "echo"),))
