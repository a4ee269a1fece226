"""A sweep of UDP."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from flowsweep import defaults
from flowsweep.packets import udp_header_bytes
from flowsweep.plan.model import Sweep
from flowsweep.schedule.combinations import Values, bulk_points
from flowsweep.schedule.parameters import Bulk
from flowsweep.schedule.search.rate import first_rate_bps
from flowsweep.schedule.windows import Window
from flowsweep.units import LARGEST
from flowsweep.wording import format_rate

BACKGROUND: Mapping[str, object] = {
    "drain_timeout_ns": defaults.DATAGRAM_DRAIN_NS,
    "spacing_ns": None,
    "gso": True,
    "gro": True,
}
"""What a plan cannot set of background traffic."""


class UdpParameters(Bulk):
    """One point of a UDP sweep: `length_bytes` is a datagram's payload, rates are of payload."""

    test = "udp"

    spacing_ns: int | None
    """From the beginning of one datagram to that of the flow's next, in place of a rate."""
    rate_sum_bps: int | None = None
    """Asked of all flows of the trial together; `rate_bps` is the share of one."""
    gso: bool
    gro: bool

    @property
    def bound_bps(self) -> int | None:
        """The pace."""
        if self.spacing_ns is not None:
            return self.length_bytes * 8 * defaults.SECOND_NS // self.spacing_ns
        return self.rate_bps

    @property
    def written_bps(self) -> int | None:
        """The pace."""
        return self.bound_bps

    @property
    def rate_sum_asked_bps(self) -> int | None:
        """As the plan, or a search, has it."""
        return self.rate_sum_bps

    def at_rate_sum(self, rate_sum_bps: int, flows: int) -> Self:
        """Each flow has its share."""
        return self.model_copy(update={"rate_sum_bps": rate_sum_bps, "rate_bps": rate_sum_bps // flows})

    @property
    def first_datagrams_ns(self) -> int:
        """Three gaps of a flow, as engines wait for one that is silent between its datagrams."""
        rate_bps = self.bound_bps
        gap_ns = 0 if not rate_bps else self.length_bytes * 8 * defaults.SECOND_NS // rate_bps
        return max(0, 3 * gap_ns - defaults.SILENCE_TIMEOUT_NS)

    @property
    def drain_ns(self) -> int:
        """All of it: nothing tells a sink that no datagram is under way any more."""
        return self.wait_ns

    @property
    def packet_bytes(self) -> int:
        """A datagram with its headers; those of IPv4 if the plan leaves the version open."""
        return self.length_bytes + udp_header_bytes(self.family or 4)

    def _first_bytes(self, flows: int) -> int:
        """The first datagram of each does not wait for its turn."""
        return flows * self.length_bytes

    def _left_bytes(self, flows: int) -> int:
        """Nothing tells how much links hold: all that they carry while the sink waits."""
        del flows
        return LARGEST

    def in_words(self, flows: int) -> str:
        """Flows, their windows and their rate together."""
        rate = "as fast as it can" if self.bound_bps is None else format_rate(self.bound_bps * flows)
        return f"{super().in_words(flows)}, datagrams, {rate}"


def udp_points(sweep: Sweep, flows: int, pairs: int, _: int) -> Iterator[tuple[Window, UdpParameters]]:
    """List what a sweep asks for with some flows between each of some pairs of hosts."""
    return bulk_points(UdpParameters, sweep, flows, pairs, _paces(sweep, flows * pairs))


def udp_remarks(_: Sweep, points: Sequence[UdpParameters]) -> Iterator[str]:
    """Say what is worth knowing of a sweep before it runs."""
    if any(parameters.bound_bps is None for parameters in points):
        yield "no rate, rate_sum or spacing is given; datagrams are sent as fast as the source can"


def _paces(sweep: Sweep, flows: int) -> Values:
    """Work out the pace of one of some flows for every rate, sum of rates, or spacing of the sweep."""
    if sweep.spacing_ns is not None:
        return [{"rate_bps": None, "spacing_ns": spacing_ns} for spacing_ns in sweep.spacing_ns]
    sums = sweep.rate_sum_bps if sweep.rate_search is None else (first_rate_bps(sweep.rate_search),)
    if sums is not None:
        return [{"rate_bps": asked // flows, "spacing_ns": None, "rate_sum_bps": asked} for asked in sums]
    return [{"rate_bps": rate_bps, "spacing_ns": None} for rate_bps in sweep.rate_bps]
