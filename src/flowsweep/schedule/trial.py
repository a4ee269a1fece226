"""What one trial is: the frozen types that everything to the right works with."""

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

from flowsweep import defaults
from flowsweep.plan.groups import HostPair, host_pairs

Family = Literal[4, 6]
Mode = Literal["copy", "zerocopy", "discard"]


class TcpParameters(BaseModel):
    """One point of a TCP sweep. `None` means: not set, the kernel or the host decides."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flows: int
    """From each source to each sink."""
    window_send_bytes: int | None
    window_recv_bytes: int | None
    length_bytes: int
    congestion: str | None
    duration_ns: int
    omit_ns: int
    interval_ns: int
    sample_interval_ns: int
    rate_bps: int | None
    pacing_rate_bps: int | None
    mss_bytes: int | None
    dscp: int | None
    no_delay: bool
    affinity: tuple[int, ...]
    family: Family | None
    mode: Mode
    clip_allowed: bool
    drain_timeout_ns: int

    @property
    def window_bytes(self) -> int | None:
        """Window per flow, where both ends ask for the same."""
        return self.window_send_bytes if self.window_send_bytes == self.window_recv_bytes else None

    @property
    def expected_bins(self) -> int:
        """Whole intervals that count: the duration less what is omitted."""
        return (self.duration_ns - self.omit_ns) // self.interval_ns


class Trial(BaseModel):
    """One run at one point of the sweep: one set of parameters, one direction, one repeat."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sweep: str
    repeat: int
    """From 1."""
    src: str
    """A host or a group, as the plan has it."""
    dst: str
    sources: tuple[str, ...]
    """The hosts that send."""
    sinks: tuple[str, ...]
    """The hosts that receive; one that also sends does not send to itself."""
    test: Literal["tcp"]
    simultaneous: bool
    """Runs together with the same point in the other direction."""
    parameters: TcpParameters
    window_sums_asked_bytes: tuple[int, ...]
    """The window sums of the plan that this trial answers; more than one if `window_max` made them equal."""
    window_capped: bool
    """At least one of them was over `window_max` per flow."""

    @property
    def trial_id(self) -> str:
        """12 hexadecimal digits: a hash of sweep, parameters, direction, hosts of groups and repeat."""
        no_identity = {"window_sums_asked_bytes", "window_capped"}
        if (self.sources, self.sinks) == ((self.src,), (self.dst,)):
            no_identity |= {"sources", "sinks"}
        identity = self.model_dump(mode="json", exclude=no_identity)
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def pairs(self) -> tuple[HostPair, ...]:
        """Source and sink of each pair of hosts, in the order in which their flows are numbered."""
        return host_pairs(self.sources, self.sinks)

    @property
    def total_flows(self) -> int:
        """Flows of all pairs together."""
        return len(self.pairs) * self.parameters.flows

    @property
    def window_sum_bytes(self) -> int | None:
        """Window times all flows, where both ends ask for the same window."""
        window = self.parameters.window_bytes
        return None if window is None else window * self.total_flows

    @property
    def pad_ns(self) -> int:
        """How much longer than asked the sources send, so that the last bin of all flows is whole."""
        pad_ns = defaults.PAD_NS if len(self.pairs) == 1 else defaults.PAD_OF_PAIRS_NS
        return pad_ns + round(self.parameters.duration_ns * defaults.PAD_PER_DURATION)


class Slot(BaseModel):
    """Trials that run at the same time: one, or the two directions of a simultaneous pair."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trials: tuple[Trial, ...]
