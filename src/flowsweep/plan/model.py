"""The checked plan: frozen types that cannot be wrong. Only plan/ makes them; nothing checks them again."""

from collections.abc import Collection
from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field

from flowsweep.frozen import Frozen
from flowsweep.plan.alarms.model import Alarms
from flowsweep.plan.campaign import Campaign, Timing
from flowsweep.plan.file_choices import Cache, Content, Part, SyncPolicy, Verify
from flowsweep.plan.hosts.expansion import members
from flowsweep.plan.links.model import Link
from flowsweep.plan.links.named import NamedLink
from flowsweep.plan.monitors.model import Monitor
from flowsweep.plan.probing import Echo, PathProbing, Probe, RttProbing
from flowsweep.plan.retain.model import Retain
from flowsweep.plan.searching.model import BestSearch, OfPlateau, RateSearch, Search, SearchInRounds
from flowsweep.plan.until.model import Until
from flowsweep.tests import TESTS, TIMED_TESTS, facts_of

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
    sendfile: tuple[bool, ...] = Field(default=(False,), exclude_if=lambda asked: asked == (False,))
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
    def may_take_less(self) -> bool:
        """Whether it may take less than is said: it searches, or trials end once they know or are done."""
        searches = isinstance(self.search, SearchInRounds)
        return searches or self.until is not None or facts_of(self.test).ends_early

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
