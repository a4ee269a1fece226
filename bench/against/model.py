"""What a benchmark leaves behind: the types of its JSON."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from against.contender import Kind
from against.machine import Machine

Metric = Literal["goodput", "cpu"]


class Frozen(BaseModel):
    """Base of all types here."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Run(Frozen):
    """One run of one contender."""

    round: int
    """From 1. Runs of one round are neighbours in time: comparisons pair them."""
    goodput_bps: float
    """What reached the sink in the window, as the kernel counts it there."""
    cpu_s_per_gb: float
    """Both ends, user and system, all threads, in the same window."""
    machine_cpu_s_per_gb: float
    """All that kept the machine busy in the window; far above `cpu_s_per_gb`, something else was at work."""
    reported_bps: float
    """What the contender itself says that its receiver got, over the whole run."""


class ScanRun(Frozen):
    """A short run that looks for a contender's best length."""

    length_bytes: int
    goodput_bps: float
    cpu_s_per_gb: float


class Measured(Frozen):
    """One contender on one path with one number of flows."""

    name: str
    kind: Kind
    ours: bool
    scan: tuple[ScanRun, ...]
    length_bytes: int
    """The length with the highest goodput in the scan; all rounds use it."""
    in_rounds: bool
    """False: in the scan it was so far behind its likes that no round could make it the best of them."""
    runs: tuple[Run, ...]
    failures: tuple[str, ...]


class Comparison(Frozen):
    """One of our modes against the best of its peers, by one metric."""

    mode: Kind
    metric: Metric
    ours: float
    """Median, in bit/s or in CPU s/GB."""
    peer: str
    """The peer with the best median."""
    best: float
    """Its median."""
    ratio: float
    """Ours by the peer's: of medians."""
    ratio_low: float
    ratio_high: float
    """95 % interval of the ratio, from the rounds as pairs."""
    target: float
    """What the ratio should reach; for CPU, what it should not exceed."""
    met: bool
    """The target is reached, and the interval lies on the right side of 1."""


class Cell(Frozen):
    """One path with one number of flows."""

    path: str
    flows: int
    measured: tuple[Measured, ...]
    comparisons: tuple[Comparison, ...]


class ManyFlows(Frozen):
    """One run with more flows than anybody needs."""

    mode: Kind
    flows: int
    goodput_bps: float | None
    """Absent: it failed."""
    failure: str | None


class Settings(Frozen):
    """How it was measured."""

    congestion: str
    rounds: int
    window_s: float
    warm_up_s: float
    lengths_bytes: tuple[int, ...]
    sample_interval_s: float
    """Of our engines, at both ends."""
    seed: int


class PeersResult(Frozen):
    """bench/results/peers.json."""

    what: str = (
        "goodput and CPU time of Flowsweep's engine and of other tools: same path, same congestion control, "
        "each at its own best length, in rounds of shuffled order, seen from outside in the same window"
    )
    machine: Machine
    settings: Settings
    seconds: float
    """What the whole benchmark took."""
    cells: tuple[Cell, ...]
    many_flows: tuple[ManyFlows, ...]


class SamplingResult(Frozen):
    """bench/results/sampling-cost.json."""

    what: str = "goodput of 16 flows with samples at 100 Hz by that at 10 Hz, runs in pairs of drawn order"
    machine: Machine
    flows: int
    window_s: float
    pairs: int
    goodput_10_hz_bps: float
    goodput_100_hz_bps: float
    """Medians."""
    ratio: float
    ratio_low: float
    ratio_high: float
    """Geometric mean over the pairs with its 95 % interval."""
    cpu_ratio: float
    """The same of CPU s/GB."""
    limit: float
    met: bool
    goodputs_bps: tuple[tuple[float, float], ...]
    """Of each pair: at 10 Hz, at 100 Hz."""


class DatagramRun(Frozen):
    """One run of a sender of datagrams."""

    round: int
    goodput_bps: float
    """Of payload, by the receiver's count."""
    loss: float
    cpu_s_per_gb: float
    """Both ends, as `against.observer` has it."""


class DatagramsMeasured(Frozen):
    """A sender of datagrams at the highest rate that it delivers with little loss."""

    name: str
    ours: bool
    offload: bool
    rate_bps: int | None
    """What it was asked for in the rounds; absent: as fast as it can."""
    runs: tuple[DatagramRun, ...]
    failures: tuple[str, ...]


class DatagramsComparison(Frozen):
    """One of our senders against one peer, or the best of some."""

    metric: str
    """goodput or cpu."""
    offload: bool
    """Of ours."""
    peer: str
    ratio: float
    ratio_low: float
    ratio_high: float
    """Of medians, and the 95 % interval of the geometric mean over the rounds."""
    target: float
    met: bool


class DatagramsResult(Frozen):
    """bench/results/datagrams.json."""

    what: str = (
        "goodput of datagrams of 1470 bytes with less than 1 % lost, one flow on a bare veth pair: each tool "
        "at the highest rate that it delivers so, in rounds of shuffled order"
    )
    machine: Machine
    rounds: int
    seconds: float
    """Of one run."""
    loss_limit: float
    measured: tuple[DatagramsMeasured, ...]
    comparisons: tuple[DatagramsComparison, ...]


class PacingRun(Frozen):
    """How even one flow of datagrams was."""

    rate_bps: int
    asked_ns: int
    """From the beginning of one datagram to the next."""
    even_sent: float
    even_received: float
    """Share of gaps within 10 % of that, by the source's clock and by the receiving kernel's times."""
    rate_error: float
    """What was sent by what was asked for, minus 1."""
    burst_max: int
    """Most datagrams sent at once to catch up."""


class PacingResult(Frozen):
    """bench/results/pacing.json."""

    what: str = "evenness of datagrams of 1470 bytes, one flow on a bare veth pair"
    machine: Machine
    runs: tuple[PacingRun, ...]
