"""When traffic sends that sends on and off, as plans and their trials have it."""

from collections.abc import Iterator
from typing import NamedTuple

from flowsweep import defaults


class Burst(NamedTuple):
    """One time that background traffic sends."""

    number: int | None
    """From 0; absent for traffic without pauses."""
    start_ns: int
    duration_ns: int


def bursts(start_ns: int, lasts_ns: int, on_ns: int | None, off_ns: int | None) -> Iterator[Burst]:
    """List the times that it sends: once, but for traffic that sends on and off.

    The last burst ends with its traffic; one that would be too short to send at all is left out.
    """
    if on_ns is None or off_ns is None:
        yield Burst(None, start_ns, lasts_ns)
        return
    for number, begin_ns in enumerate(range(0, lasts_ns, on_ns + off_ns)):
        duration_ns = min(on_ns, lasts_ns - begin_ns)
        if number == 0 or duration_ns >= defaults.SAMPLE_INTERVAL_MIN_NS:
            yield Burst(number, start_ns + begin_ns, duration_ns)
