"""A sweep of QUIC."""

from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan.model import Sweep
from flowsweep.schedule.combinations import bulk_points
from flowsweep.schedule.parameters import Streams
from flowsweep.schedule.windows import Window

BACKGROUND: Mapping[str, object] = {
    "drain_timeout_ns": defaults.DRAIN_TIMEOUT_NS,
    "streams_per_flow": 1,
    "stream_window_bytes": None,
    "datagram_bytes": None,
    "gso": True,
    "gro": True,
}
"""What a plan cannot set of background traffic."""


class QuicParameters(Streams):
    """One point of a sweep of QUIC: windows are those of whole connections, which no kernel clips."""

    test = "quic"

    dscp: None = None
    """The library writes the field itself, for ECN."""
    streams_per_flow: int
    stream_window_bytes: int | None
    datagram_bytes: int | None
    gso: bool
    gro: bool = Field(default=True, exclude_if=lambda on: on)
    """Trials with it are those that they were before there was a choice."""

    def plain(self) -> Self:
        """One flow of one stream."""
        return super().plain().model_copy(update={"streams_per_flow": 1, "stream_window_bytes": None})

    def in_words(self, flows: int) -> str:
        """Flows, what is asked of them, and their streams where there are several."""
        streams = "" if self.streams_per_flow == 1 else f", {self.streams_per_flow} streams each"
        return f"{super().in_words(flows)}{streams}, QUIC"


def quic_points(sweep: Sweep, flows: int, pairs: int, _: int) -> Iterator[tuple[Window, QuicParameters]]:
    """List what a sweep asks for with some flows between each of some pairs of hosts."""
    return bulk_points(QuicParameters, sweep, flows, pairs)
