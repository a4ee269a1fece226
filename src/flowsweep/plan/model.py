"""The checked plan: frozen types that cannot be wrong. Only plan/ makes them; nothing checks them again."""

from collections.abc import Collection
from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field

from flowsweep import defaults
from flowsweep.plan.alarms.model import Alarms
from flowsweep.plan.campaign import Campaign, Timing
from flowsweep.plan.expansion import members
from flowsweep.plan.frozen import Frozen
from flowsweep.plan.handling import Cache, Content, Part, SyncPolicy, Verify
from flowsweep.plan.links.named import NamedLink
from flowsweep.plan.monitors.model import Monitor
from flowsweep.plan.probing import Echo, PathProbing, Probe, RttProbing
from flowsweep.plan.retain.model import Retain
from flowsweep.plan.searching.model import BestSearch, OfPlateau, RateSearch, Search
from flowsweep.plan.until.model import Until
from flowsweep.tests import TESTS, TIMED_TESTS

Directions = Literal["one", "both", "simultaneous"]
Setting = Literal["A", "B"]


def _among(test: str, tests: Collection[str]) -> str:
    if test not in tests:
        raise ValueError(f"found the test {test!r}, expected one of {', '.join(tests)}")
    return test


Test = Annotated[str, AfterValidator(partial(_among, tests=TESTS))]
"""A row of `flowsweep.tests`."""
TimedTest = Annotated[str, AfterValidator(partial(_among, tests=TIMED_TESTS))]
"""A row of it that sends for as long as a plan says."""


class Policer(Frozen):
    """What drops packets that exceed a rate and burst, and delays none (RFC 2697)."""

    rate_bps: int
    """Committed rate, of IP packets."""
    burst_bytes: int
    """Committed burst size."""


class CrossTraffic(Frozen):
    """Traffic of others in a link's queue, evenly spaced while it sends."""

    rate_bps: int
    """Of IP packets, while it sends."""
    packet_bytes: int
    on_ns: int | None = None
    """How long it sends before each pause; always if this and `off_ns` are absent."""
    off_ns: int | None = None
    poisson: bool = False
    """Whether these are means of exponential distributions."""

    @property
    def mean_bps(self) -> int:
        """Its rate over a long time."""
        return mean_bps(self.rate_bps, self.on_ns, self.off_ns)


def mean_bps(rate_bps: int, on_ns: int | None, off_ns: int | None) -> int:
    """Compute the mean rate of traffic that pauses, in bit/s."""
    return rate_bps if on_ns is None or off_ns is None else rate_bps * on_ns // (on_ns + off_ns)


class LinkDirection(Frozen):
    """What a link does to packets on one of its two ways."""

    rate_bps: int | None = None
    """Rate of IP packets, without Ethernet framing; unlimited if absent."""
    queue_bytes: int | None = None
    """What may wait for the link; a default that suits the rate if this and `queue_packets` are absent."""
    queue_packets: int | None = None
    """How many packets may wait; beside `queue_bytes`, what is reached first counts."""
    delay_ns: int = 0
    """From the end of a packet's transmission to its arrival."""
    jitter_ns: int = 0
    """Each packet's delay is drawn evenly from `delay_ns` ± this."""
    reorder: bool = False
    """Whether jitter lets packets overtake each other."""
    loss: float = 0.0
    """Probability that a packet is lost, from 0 to below 1."""
    duplicate: float = 0.0
    """Probability that a packet that is not lost arrives twice; of hops together, its further arrivals."""
    policer: Policer | None = None
    """What packets pass before the queue; of hops together, the one of the least rate."""
    cross: CrossTraffic | None = None
    """What comes to the queue besides; of hops together, at the one that leaves least."""
    members: tuple["LinkDirection", ...] = ()
    """Paths side by side, of which every flow takes one; all else is of them together. Empty: one path."""

    @property
    def carried_bps(self) -> int | None:
        """What of the hosts' packets it lets through at most, in bit/s; None without a limit."""
        return self._limited(self.rate_bps)

    @property
    def left_bps(self) -> int | None:
        """What it lets through on average beside its cross traffic, in bit/s.

        None without a limit, and where it depends on the paths that flows take.
        """
        return None if self.members else self._limited(self.rate_beside_bps)

    @property
    def queue_limit_bytes(self) -> int | None:
        """Bytes of IP packets that may wait: those of the plan, else `LAB_QUEUE_NS` at the rate.

        None where nothing bounds them: the plan counts packets instead, or there is no rate to wait for.
        """
        if self.queue_bytes is not None:
            return self.queue_bytes
        if self.rate_bps is None or self.queue_packets is not None:
            return None
        at_the_rate = self.rate_bps * defaults.LAB_QUEUE_NS // (8 * defaults.SECOND_NS)
        return max(at_the_rate, defaults.LAB_QUEUE_MINIMUM_BYTES)

    @property
    def rate_beside_bps(self) -> int | None:
        """Its rate without what cross traffic takes on average."""
        taken_bps = 0 if self.cross is None else self.cross.mean_bps
        return None if self.rate_bps is None else self.rate_bps - taken_bps

    def _limited(self, rate_bps: int | None) -> int | None:
        limits = [rate_bps, None if self.policer is None else self.policer.rate_bps]
        return min((limit for limit in limits if limit is not None), default=None)


class Hop(Frozen):
    """One of the hops of a link."""

    forward: LinkDirection
    backward: LinkDirection


class Link(Frozen):
    """`[lab.links.NAME]`: an emulated path between two hosts, or a switch that joins more."""

    name: str
    between: tuple[str, ...]
    """Two hosts, or more."""
    mtu_bytes: int = defaults.LAB_MTU_BYTES
    forward: LinkDirection
    """From the first host to the second; of a switch, what each of its ports does, as in `backward`; of hops,
    what they do together."""
    backward: LinkDirection
    hops: tuple[Hop, ...] = ()
    """From the first host to the second, a router between each two of them; empty: the link is one hop."""
    icmp_interval_ns: int | None = None
    """From one ICMP error of a router, or of one of the hosts, to its next; absent: the kernel's limit."""

    @property
    def is_switch(self) -> bool:
        """Whether each of more than two hosts has a port of its own."""
        return len(self.between) > 2

    @property
    def is_emulated(self) -> bool:
        """Whether it does more than a shaper of the kernel can: then packets go through an emulator."""
        one, other = self.forward, self.backward
        if self.hops or one != other:
            return True
        emulated = (
            one.delay_ns,
            one.loss,
            one.duplicate,
            one.policer,
            one.cross,
            one.members,
            one.queue_packets,
        )
        return any(emulated)

    def direction(self, src: str, dst: str) -> LinkDirection | None:
        """What it does to packets from one host to another; None if it does not join them."""
        if src == dst or not {src, dst} <= set(self.between):
            return None
        return self.forward if self.between.index(src) < self.between.index(dst) else self.backward


class Iperf3Peer(Frozen):
    """`peer = "iperf3"` of a host: a server of iperf3 that runs there, in place of an engine."""

    kind: ClassVar[Literal["iperf3"]] = "iperf3"
    words: ClassVar[str] = "an iperf3 server"

    port: int
    user: str | None
    password_env: str | None
    """Environment variable with the password, which no file of ours holds."""
    public_key: str | None
    """File with the server's RSA public key."""
    pkcs1: bool
    """The padding that servers before 3.17 expect."""


class QuicPerfPeer(Frozen):
    """`peer = "quic-perf"` of a host: a server of QUIC's perf protocol, in place of an engine."""

    kind: ClassVar[Literal["quic-perf"]] = "quic-perf"
    words: ClassVar[str] = "a QUIC perf server"

    port: int


ServerPeer = Iperf3Peer | QuicPerfPeer
"""A server that runs somewhere, in place of an engine."""


class Host(Frozen):
    """`[hosts.NAME]`: how to start an engine there and where its data connections go."""

    name: str
    launch: tuple[str, ...]
    """Argument list put in front of the engine's command; empty: this machine."""
    address: str | None
    data_address: str | None
    """Where peers reach it for traffic; `address` if absent."""
    bind: str | None
    ports: tuple[int, int] | None
    """Inclusive range the listening side chooses from."""
    engine: str | None
    """Path of the engine there; absent: the one that comes with Flowsweep, copied there where needed."""
    listens: bool
    """False: cannot be reached from outside (NAT), so that its peer listens in either role."""
    further_addresses: tuple[str, ...] = ()
    """Of its other devices: peers reach it there, too."""
    folder: str | None = None
    """Where files are made, and nowhere else."""
    iperf3: Iperf3Peer | None = None
    quic_perf: QuicPerfPeer | None = None

    @property
    def server(self) -> ServerPeer | None:
        """The server that runs there; absent: an engine."""
        return self.iperf3 or self.quic_perf


class Group(Frozen):
    """A line of `[groups]`: hosts that send or receive together."""

    name: str
    hosts: tuple[str, ...]


class Path(Frozen):
    """`{ from = "…", to = "…" }`: an ordered pair of hosts, or of groups: each source sends to each sink."""

    src: str
    """A host or a group."""
    dst: str


class Background(Frozen):
    """`[[sweep.background]]`: traffic beside each trial."""

    name: str
    src: str | None
    """A host or a group; absent, as is `dst` then: as the trial's."""
    dst: str | None
    test: TimedTest
    flows: int
    window_bytes: int | None
    length_bytes: int
    congestion: str | None
    rate_bps: int | None
    """Per flow."""
    start_ns: int
    duration_ns: int | None
    """Absent: until the trial's is over."""
    on_ns: int | None = None
    """How long it sends before each pause; without pauses if this and `off_ns` are absent."""
    off_ns: int | None = None


class Sweep(Frozen):
    """`[[sweep]]`: an axis is a tuple, of one where the plan has a scalar; `None` in it means not set.

    What archives keep has the names of the aliases.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    name: str
    test: Test
    paths: tuple[Path, ...]
    directions: Directions
    pairs: tuple[int | None, ...] = (None,)
    """How many hosts of each group take part, the first ones; all, if absent."""
    flows: tuple[int, ...]
    """From each source to each sink."""
    window_bytes: tuple[int, ...] | None
    window_sum_bytes: tuple[int, ...] | None
    """At most one of `window_bytes` and `window_sum_bytes`."""
    window_send_bytes: tuple[int, ...] | None
    window_recv_bytes: tuple[int, ...] | None
    """Each overrides its side of `window`."""
    window_max_bytes: int | None
    """Cap of the window per flow."""
    length_bytes: tuple[int, ...]
    congestion: tuple[str | None, ...]
    duration_ns: tuple[int, ...]
    until: Until | None = Field(default=None, exclude_if=lambda until: until is None)
    """When its trials may end before that."""
    rate_bps: tuple[int | None, ...]
    pacing_rate_bps: tuple[int | None, ...]
    mss_bytes: tuple[int | None, ...]
    dscp: tuple[int | None, ...]
    no_delay: tuple[bool, ...]
    fwmark: tuple[int | None, ...] = (None,)
    encryption: tuple[Literal["none", "tls"], ...] = ("none",)
    subflows: tuple[int | None, ...] = (None,)
    streams_per_flow: tuple[int, ...] = (1,)
    stream_window_bytes: tuple[int | None, ...] = (None,)
    datagram_bytes: tuple[int | None, ...] = (None,)
    file_size_bytes: tuple[int | None, ...] = (None,)
    files: tuple[int | None, ...] = (None,)
    part: tuple[Part, ...] = ("whole",)
    cache: tuple[Cache | None, ...] = (None,)
    sync: tuple[SyncPolicy | None, ...] = (None,)
    content: Content = "random"
    verify: Verify = "received"
    existing: str | None = None
    """What a source reads in place of files that it makes."""
    affinity: tuple[tuple[int, ...], ...]
    """Each element is a list of CPUs, empty for unbound."""
    family: tuple[Literal[4, 6] | None, ...]
    mode: tuple[Literal["copy", "zerocopy", "discard"], ...]
    rate_sum_bps: tuple[int, ...] | None = None
    spacing_ns: tuple[int, ...] | None = None
    """At most one of these, `rate_bps` and `rate_search`."""
    rate_search: RateSearch | None = None
    plateau_search: OfPlateau | None = Field(default=None, exclude_if=lambda search: search is None)
    """In place of windows, or of more than one number of `flows`."""
    best_search: BestSearch | None = Field(default=None, exclude_if=lambda search: search is None)
    """Among the points that its axes span."""
    gso: tuple[bool, ...] = (True,)
    gro: tuple[bool, ...] = (True,)
    echo: tuple[Echo, ...] = ("auto",)
    rtt_probing: RttProbing | None = Field(default=None, alias="asking")
    """Of a measurement of round-trip times."""
    probing: PathProbing | None = None
    """Of a measurement of paths."""
    probe: Probe | None = None
    background: tuple[Background, ...] = ()
    omit_ns: int
    interval_ns: int
    sample_interval_ns: int
    clip_allowed: bool
    drain_timeout_ns: int
    exclusive: bool = True
    """Whether its trials have their hosts and links for themselves."""
    timing: Timing | None = None
    """Absent: it runs once, as often as the campaign's `repeats` say."""
    setting: Setting | None = None
    """Of which of two plans that were joined; it ends the name, too: `NAME-A`."""

    @property
    def search(self) -> Search | None:
        """What each of its points is the first step of."""
        return self.rate_search or self.plateau_search or self.best_search

    @property
    def plain_name(self) -> str:
        """Its name in the plan that it is of."""
        return self.name if self.setting is None else self.name.removesuffix(f"-{self.setting}")


class Plan(Frozen):
    """A plan file, checked."""

    source: str
    """Where it came from, for messages."""
    text: str
    """The file as it was written."""
    overrides: tuple[str, ...] = ()
    """`TABLE.KEY=VALUE`, put over the file by `--set`; everything below already has them in it."""
    campaign: Campaign
    links: tuple[Link, ...]
    """Empty: real hosts."""
    hosts: tuple[Host, ...]
    """Every host that a path names, with a `[hosts]` entry or, in a lab, without."""
    groups: tuple[Group, ...] = ()
    named_links: tuple[NamedLink, ...] = ()
    """Of real paths."""
    sweeps: tuple[Sweep, ...]
    alarms: Alarms | None = None
    """Not of what is measured: a campaign may go on with others."""
    retain: Retain | None = None
    """Neither; absent: all is kept."""
    monitors: tuple[Monitor, ...] = ()

    def members(self, name: str, pairs: int | None = None) -> tuple[str, ...]:
        """List the hosts that a name of a path stands for, the first `pairs` of a group."""
        return members({group.name: group.hosts for group in self.groups}, name, pairs)
