"""A sweep of TCP."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Self

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan.model import Sweep
from flowsweep.plan.until.model import Until
from flowsweep.schedule.combinations import bulk_points
from flowsweep.schedule.parameters import Streams
from flowsweep.schedule.windows import Window
from flowsweep.wording import format_rate, format_size

BACKGROUND: Mapping[str, object] = {
    "drain_timeout_ns": defaults.DRAIN_TIMEOUT_NS,
    "pacing_rate_bps": None,
    "mss_bytes": None,
    "no_delay": False,
    "encryption": "none",
    "mode": "copy",
}
"""What a plan cannot set of background traffic."""


class TcpParameters(Streams):
    """One point of a TCP sweep."""

    test = "tcp"
    protocol = "TCP"

    pacing_rate_bps: int | None
    mss_bytes: int | None
    no_delay: bool
    # Trials without these are those that they were before there were any.
    fwmark: int | None = Field(default=None, exclude_if=lambda mark: mark is None)
    encryption: Literal["none", "tls"] = Field(default="none", exclude_if=lambda kind: kind == "none")
    mode: Literal["copy", "zerocopy", "discard"]
    until: Until | None = Field(default=None, exclude_if=lambda until: until is None)
    """When a trial may end before `duration_ns`."""

    @property
    def bound_bps(self) -> int | None:
        """The lower of the application's and the kernel's pace."""
        return min(filter(None, (self.rate_bps, self.pacing_rate_bps)), default=None)

    @property
    def may_end_early(self) -> bool:
        """Whether it may be over before its duration is: once its mean is known."""
        return self.until is not None

    @property
    def shortest_ns(self) -> int:
        """How long it lasts at least."""
        if self.until is None:
            return self.duration_ns
        known_ns = self.until.shortest_ns(self.omit_ns, self.interval_ns, self.sample_interval_ns)
        return min(self.duration_ns, known_ns)

    @property
    def ends_from_ns(self) -> int:
        """The soonest that its source may end it: `shortest_ns` takes samples to be evenly apart."""
        return self.duration_ns if self.until is None else self.until.at_least_ns

    def plain(self) -> Self:
        """One flow, with the host's windows and congestion control."""
        return super().plain().model_copy(update={"congestion": None})

    def in_words(self, flows: int) -> str:
        """Flows, their windows, what protects them, and another mode than that of applications."""
        protected = "" if self.encryption == "none" else f", {self.encryption}"
        return super().in_words(flows) + protected + ("" if self.mode == "copy" else f", {self.mode}")


def tcp_points(sweep: Sweep, flows: int, pairs: int, _: int) -> Iterator[tuple[Window, TcpParameters]]:
    """List what a sweep asks for with some flows between each of some pairs of hosts."""
    for window, parameters in bulk_points(TcpParameters, sweep, flows, pairs):
        yield (
            window,
            parameters if sweep.until is None else parameters.model_copy(update={"until": sweep.until}),
        )


def tcp_remarks(sweep: Sweep, points: Sequence[TcpParameters]) -> Iterator[str]:
    """Say what is worth knowing of a sweep before it runs."""
    slow = [parameters for parameters in points if _writes_too_seldom(parameters)]
    if slow:
        worst = max(slow, key=lambda parameters: parameters.length_bytes / (parameters.rate_bps or 1))
        yield (
            f"a length of {format_size(worst.length_bytes)} is long for {format_rate(worst.rate_bps or 0)}: "
            f"fewer than {defaults.WRITES_PER_INTERVAL} writes an interval make the intervals differ; leave "
            "`length` out, or lower it"
        )
    if None in sweep.congestion:
        yield "no congestion control is named; each host uses its default, which is recorded"


def _writes_too_seldom(parameters: TcpParameters) -> bool:
    if parameters.rate_bps is None:
        return False
    write_ns = parameters.length_bytes * 8 * defaults.SECOND_NS // parameters.rate_bps
    return write_ns * defaults.WRITES_PER_INTERVAL > parameters.interval_ns
