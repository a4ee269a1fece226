"""A sweep of Multipath TCP."""

from collections.abc import Iterator, Mapping
from typing import Self

from flowsweep import defaults
from flowsweep.plan.model import Sweep
from flowsweep.schedule.combinations import bulk_points
from flowsweep.schedule.parameters import Streams
from flowsweep.schedule.windows import Window
from flowsweep.wording import counted

BACKGROUND: Mapping[str, object] = {
    "drain_timeout_ns": defaults.DRAIN_TIMEOUT_NS,
    "no_delay": False,
    "fwmark": None,
    "subflows": None,
}
"""What a plan cannot set of background traffic."""


class MptcpParameters(Streams):
    """One point of a sweep of MPTCP: windows are those of whole connections."""

    test = "mptcp"
    protocol = "TCP"

    no_delay: bool
    fwmark: int | None
    subflows: int | None
    """Of each connection, its first one included; None: one for each path between the hosts."""

    @property
    def samples_most(self) -> int:
        """Each is of a subflow."""
        return super().samples_most * (self.subflows or defaults.SUBFLOWS_MAX)

    @property
    def paths(self) -> int | None:
        """One for each subflow."""
        return self.subflows

    def plain(self) -> Self:
        """One flow over all known paths, with the host's windows and congestion control."""
        return super().plain().model_copy(update={"congestion": None, "subflows": None})

    def in_words(self, flows: int) -> str:
        """Flows, what is asked of them, and what they consist of."""
        made_of = "" if self.subflows is None else f", {counted(self.subflows, 'subflow')} each"
        return f"{super().in_words(flows)}{made_of}, MPTCP"


def mptcp_points(sweep: Sweep, flows: int, pairs: int, _: int) -> Iterator[tuple[Window, MptcpParameters]]:
    """List what a sweep asks for with some flows between each of some pairs of hosts."""
    return bulk_points(MptcpParameters, sweep, flows, pairs)
