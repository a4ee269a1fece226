"""The two ends of a pair of which one is a server: the near one tells what the far one said."""

import asyncio
from collections.abc import Callable

from flowsweep.defaults import MICROSECOND_NS, NUMBER_MAX
from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import (
    CpuTime,
    FarFlow,
    FarSide,
    FlowReport,
    Progress,
    RejectedConnections,
    Report,
    UdpCounts,
)
from flowsweep.plan.model import QuicPerfPeer
from flowsweep.run.trial_end import TrialEnd


class FarCounts(UdpCounts):
    """What a server counted of a stream of datagrams."""

    missing: int | None = None
    """Numbers that it waited for in vain, of one that received: what came after the end it did not count."""


class FarEnd(TrialEnd):
    """The end without an engine: nothing is asked of it; its report is what the near end tells of it.

    What was granted there nobody knows: `granted` stays absent.
    """

    _near_reported: asyncio.Event | None = None
    heard: Callable[[Progress], None] | None = None
    """Hears how far the near end is, since nobody else says it."""

    async def connected(self, engine_timeout_s: float) -> None:
        """It stands when the near end stands."""

    async def start(self, moment_unix_ns: int | None) -> None:
        """A server that sends has begun by itself."""

    async def finished(self, engine_timeout_s: float, progress: Callable[[Progress], None]) -> None:
        """Wait until the near end has reported."""
        self.heard = progress
        if self.result is None:
            self._near_reported = asyncio.Event()
            await self._near_reported.wait()

    def take(self, near: Report) -> None:
        """Report what the server said, as the near end has it: a QUIC perf server says nothing."""
        silent = isinstance(self.access.server, QuicPerfPeer)
        told = near.model_copy(update={"far_side": None}) if silent else near
        self.result = EndReport(_report(told, self.role), {})
        if self._near_reported is not None:
            self._near_reported.set()

    @property
    def over(self) -> bool:
        """Nothing goes on here that could be ended."""
        return True


class NearEnd(TrialEnd):
    """The end with an engine, which speaks for both."""

    far: FarEnd

    async def finished(self, engine_timeout_s: float, progress: Callable[[Progress], None]) -> None:
        """Wait for the report, and hand it on."""

        def heard(reached: Progress) -> None:
            progress(reached)
            if self.far.heard is not None:
                self.far.heard(reached)

        await super().finished(engine_timeout_s, heard)
        if self.result is not None:
            self.far.take(self.result.report)


def told_of(far: FarSide) -> list[FarFlow]:
    """The flows of which a server told, without those of which it told numbers that cannot be."""
    return [
        flow for flow in far.flows if max(filter(None, flow.model_dump().values()), default=0) <= NUMBER_MAX
    ]


def _report(near: Report, role: str) -> Report:
    far = near.far_side
    return near.model_copy(
        update={
            "role": role,
            "flows": [] if far is None else [_flow(flow, role) for flow in told_of(far)],
            "rejected_connections": RejectedConnections(
                not_an_engine=0, wrong_token=0, wrong_flow=0, unfinished=0, crowded_out=0
            ),
            "table_rows": {},
            "rows_lost": 0,
            "counters": {},
            "throttled_us": None,
            "far_side": None,
            "incomplete": None,
        }
    )


def _flow(flow: FarFlow, role: str) -> FlowReport:
    return FlowReport(
        flow=flow.flow,
        bytes=flow.bytes,
        first_byte_ns=None,
        end_ns=min(flow.elapsed_us * MICROSECOND_NS, NUMBER_MAX),
        end="drained",
        error=None,
        local_port=0,
        remote_port=0,
        cpu=CpuTime(user_us=0, system_us=0, elapsed_us=0, voluntary_switches=0, involuntary_switches=0),
        udp=_counts(flow, role),
    )


def _counts(flow: FarFlow, role: str) -> FarCounts | None:
    if flow.datagrams is None:
        return None
    lost = flow.lost or 0
    return FarCounts(
        missing=lost if role == "sink" else None,
        datagrams=max(0, flow.datagrams - lost) if role == "sink" else flow.datagrams,
        reordered=0,
        reordering_extent_max=0,
        duplicates=0,
        late=0,
        loss_bursts=0,
        loss_burst_max=0,
        socket_dropped=None,
        refused=0,
        jitter_ns=flow.jitter_ns,
        delay_min_ns=None,
        behind_max_ns=None,
        burst_max=None,
    )
