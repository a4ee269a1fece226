"""What the keys of a sweep of datagrams must agree on."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweep_table import SweepTable
from flowsweep.units import write_rate, write_size
from flowsweep.wording import counted

PACES = ("rate", "rate_sum", "spacing")
"""Keys that say how fast a source sends; at most one of them."""


def udp_problems(sweep: SweepTable, flows: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find what contradicts itself in a sweep of datagrams.

    Args:
        sweep: Of any test; others have no such problems.
        flows: How many its trials have, over all pairs of hosts.
        at: Where it stands in the plan.
    """
    if sweep.test != "udp":
        return
    yield from _pace_problems(sweep, flows, at)
    for index, length in enumerate(sweep.length or ()):
        if defaults.DATAGRAM_MIN_BYTES <= length <= defaults.DATAGRAM_MAX_BYTES:
            continue
        first, last = write_size(defaults.DATAGRAM_MIN_BYTES), write_size(defaults.DATAGRAM_MAX_BYTES)
        path = (*at, "length", index) if len(sweep.length or ()) > 1 else (*at, "length")
        message = f"found {write_size(length)}, expected a datagram's payload of {first} to {last}"
        yield Problem(path, message, about=((*at, "test"),))


def _pace_problems(sweep: SweepTable, flows: list[int], at: KeyPath) -> Iterator[Problem]:
    found = [key for key in PACES if getattr(sweep, key) is not None]
    for key in found[1:]:
        message = f"found together with `{found[0]}`, expected one of them: each says how fast a flow sends"
        yield Problem((*at, key), message, about=((*at, found[0]), (*at, "test")))
    if sweep.rate_sum is not None and min(sweep.rate_sum) < max(flows):
        message = (
            f"found {write_rate(min(sweep.rate_sum))} for {counted(max(flows), 'flow')}, expected at least "
            "1bit/s per flow"
        )
        yield Problem((*at, "rate_sum"), message, about=((*at, "flows"), (*at, "paths"), (*at, "pairs")))
