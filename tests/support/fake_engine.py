"""Engines without traffic: sessions whose trials end at once, and the bytes a real engine would say."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.hosts.clock import ClockExchange
from flowsweep.hosts.engine_version import PROTOCOL
from flowsweep.hosts.frames import MAGIC, Frame, FrameKind, encode
from flowsweep.hosts.inbox import Allowance, TrialEvent, TrialInbox
from flowsweep.hosts.messages import (
    Connected,
    CpuTime,
    Event,
    Failed,
    FailedEvent,
    FlowReport,
    Granted,
    Hello,
    HostFacts,
    Listen,
    Listening,
    Prepare,
    Progress,
    RejectedConnections,
    Report,
    Route,
    Start,
    Stop,
    UdpCounts,
    UdpTest,
)

BYTES_PER_FLOW = 1_000_000
PEERS = ("a", "b", "c", "left", "right", *(f"{side}{number}" for side in "st" for number in range(1, 13)))
REFUSALS = {"prepare": "window_clipped"} | {
    kind: kind for kind in ("window_clipped", "connect", "connect_timeout", "congestion_unavailable")
}
"""Mishaps of which an engine tells before there is traffic, and their kinds as it has them."""
NOT_CAME = "its sink reported no datagram within 10 s"
KILLED = "the session ended (SIGKILL)"
CLOCK_SET = "this host's clock was set"
LATE_S = 9.0
"""As long as an engine may wait for the first bytes of all flows, all but a second."""
BREAKS_S = 10.0
"""As long as a source of datagrams waits for the word that they come (`silence_timeout_us`)."""
MAKES_S = 60.0
"""As long as making a large file takes."""


def access(name: str, *, listens: bool = True, launch: tuple[str, ...] = ()) -> HostAccess:
    addresses = {peer: (DataAddress("127.0.0.1", 4), DataAddress("::1", 6)) for peer in PEERS}
    return HostAccess(name, launch, None, addresses, listens=listens)


def hello(protocol: int = PROTOCOL) -> Hello:
    return Hello(protocol=protocol, engine_version="0.1.0", pid=1)


def host_facts(name: str = "a", peers: Sequence[str] = ()) -> HostFacts:
    return HostFacts(
        hostname=name,
        kernel="6.1",
        architecture="x86_64",
        cpus=2,
        congestion_available=["cubic"],
        tcp_info_bytes=280,
        sysctls={},
        nics=[],
        routes={peer: Route(address=peer, device="lo") for peer in peers},
        engine_version="0.1.0",
    )


def said(*events: Event) -> bytes:
    """What an engine writes for these events, without the magic."""
    return b"".join(
        encode(Frame(FrameKind.JSON, event.model_dump_json(exclude_none=True).encode())) for event in events
    )


def greeting() -> bytes:
    return MAGIC + said(hello())


def samples_frame(trial: str, role: str, values: list[int]) -> bytes:
    return table_frame(samples(role, values), trial, role)


def table_frame(table: pa.Table, trial: str, role: str) -> bytes:
    metadata = {**(table.schema.metadata or {}), "trial": trial, "role": role}
    table = table.replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return encode(Frame(FrameKind.ARROW, sink.getvalue().to_pybytes()))


def cpu_rows(role: str) -> pa.Table:
    """What a core and a thread took."""
    return pa.table({"role": [role] * 2, "kind": ["core", "thread"], "id": pa.array([0, 0], pa.int32())})


def samples(role: str, values: list[int]) -> pa.Table:
    numbers = {
        "flow": pa.array([0] * len(values), pa.int32()),
        "start_ns": pa.array(range(0, 10 * len(values), 10), pa.int64()),
        "end_ns": pa.array(range(10, 10 * len(values) + 10, 10), pa.int64()),
        "bytes": pa.array(values, pa.int64()),
    }
    return pa.table({"role": pa.array([role] * len(values), pa.string()), **numbers})


def histogram_rows(role: str, counts: list[int]) -> pa.Table:
    """Buckets of one flow's delays."""
    numbers = {name: pa.array(range(len(counts)), pa.int64()) for name in ("low", "high")}
    numbers["count"] = pa.array(counts, pa.int64())
    words = {"role": [role] * len(counts), "flow": pa.array([0] * len(counts), pa.int32())}
    return pa.table({**words, "quantity": ["delay"] * len(counts), **numbers})


def echoes() -> pa.Table:
    """Two questions, one of which was answered."""
    return pa.table(
        {
            "sequence": pa.array([0, 1], pa.int64()),
            "echo": ["udp", "udp"],
            "size_bytes": pa.array([64, 64], pa.int64()),
            "sent_ns": pa.array([10, 20], pa.int64()),
            "rtt_ns": pa.array([5, None], pa.int64()),
        }
    )


def report(trial: str, role: str, read: list[int], incomplete: Failed | None = None, rows: int = 1) -> Report:
    """A report of one flow for each number of bytes."""
    cpu = CpuTime(user_us=1, system_us=2, elapsed_us=10, voluntary_switches=3, involuntary_switches=4)
    flows = [
        FlowReport(flow=i, bytes=count, end_ns=5, end="drained", local_port=1, remote_port=2, cpu=cpu)
        for i, count in enumerate(read)
    ]
    rejected_connections = RejectedConnections(
        not_an_engine=1, wrong_token=2, wrong_flow=0, unfinished=0, crowded_out=0
    )
    return Report(
        trial=trial,
        role=role,
        origin_unix_ns=0,
        flows=flows,
        rejected_connections=rejected_connections,
        table_rows={"samples": rows},
        rows_lost=0,
        counters={},
        incomplete=incomplete,
    )


@dataclass
class FakeNetwork:
    """Hosts whose engines run every trial at once, but for the mishaps.

    A mishap is one of `prepare` (the engine refuses), `REFUSALS` (likewise, of other kinds), `busy` (a
    standing point has others there), `dies` (its session is lost when bytes should flow), `dies_late` (a
    moment later), `broken` (a flow breaks), `not_running` (no byte came), `silent` (it never reports, and
    stops when told to), `stuck` (it does not even stop), `drain_timeout`, `reads_less`, `no_samples`,
    `loses_rows` (it has no room for all of them), `cuts_no_more` (the source's kernel ceases to cut datagrams
    apart), `other_columns` (its samples have one more), `clock_set` (its host's clock is set meanwhile),
    `late` (the first bytes flow only after `LATE_S`), `makes` (it listens only after `MAKES_S`), `breaks`
    (flow 0, of datagrams, is found broken after `BREAKS_S`), `gets_nothing` (its sink says so later).
    """

    mishaps: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """By host and number of the trial that it prepares, from 1."""
    unreachable: dict[str, int] = field(default_factory=dict)
    """How many more attempts to reach a host fail."""
    log: list[str] = field(default_factory=list)
    """What was asked of the engines, in order."""
    origins: dict[str, int] = field(default_factory=dict)
    """When a host's trials begin, by its own clock; or one of them, by `trial host`."""
    clocks: dict[str, int] = field(default_factory=dict)
    """How far a host's clock is ahead of the controller's, in nanoseconds."""
    starts: dict[str, int | None] = field(default_factory=dict)
    """The moment that each source was told to begin, by trial."""
    told_s: dict[str, float] = field(default_factory=dict)
    """When it was told so, by the event loop's clock."""
    ends: dict[tuple[str, str], "FakeChannel"] = field(default_factory=dict)
    prepared: Counter[str] = field(default_factory=Counter)
    carries_bps: int = 0
    """What a path carries of the datagrams of one flow, whatever their rate; the rest is lost."""
    sessions: list["FakeSession"] = field(default_factory=list)
    on_silence: Callable[[], None] = lambda: None
    """Called when bytes should flow at a `silent` engine."""

    async def connect(self, access: HostAccess) -> "FakeSession":
        if self.unreachable.get(access.name, 0) > 0:
            self.unreachable[access.name] -= 1
            raise LaunchError(access.name, "no route to host")
        self.log.append(f"open {access.name}")
        session = FakeSession(access.name, self)
        self.sessions.append(session)
        return session


class FakeSession:
    def __init__(self, host: str, network: FakeNetwork) -> None:
        self.host = host
        self.lost: SessionError | None = None
        self.bytes_received = 0
        self.closed = False
        self._network = network
        self._channels: list[FakeChannel] = []

    async def clock(self) -> ClockExchange:
        return ClockExchange(0, 500 + self._network.clocks.get(self.host, 0), 1000)

    async def describe(self, peers: Sequence[str] = ()) -> HostFacts:
        return host_facts(self.host, peers)

    def channel(self, trial: str, allowance: Allowance | None = None) -> "FakeChannel":
        channel = FakeChannel(self, trial, self._network)
        self._channels.append(channel)
        return channel

    async def close(self, patience_s: float | None = None) -> None:
        self.closed = True
        self.lose("the session was closed")

    def lose(self, reason: str) -> None:
        self.lost = self.lost or SessionError(self.host, reason)
        for channel in self._channels:
            channel.inbox.put(self.lost)


class FakeChannel:
    """One end of a trial."""

    def __init__(self, session: FakeSession, trial: str, network: FakeNetwork) -> None:
        self.inbox = TrialInbox()
        self.bytes_received = 0
        self.mishap: str | None = None
        self.request: Prepare | None = None
        self._session = session
        self._trial = trial
        self._network = network

    async def send(self, request: Prepare | Start | Stop) -> None:
        if self._session.lost is not None:
            raise self._session.lost
        self._network.log.append(f"{request.type} {self._session.host}")
        if isinstance(request, Prepare):
            self._prepare(request)
        elif isinstance(request, Start):
            self._network.starts[self._trial] = request.at_unix_ns
            self._network.told_s[self._trial] = asyncio.get_running_loop().time()
            for role in ("source", "sink"):
                self._network.ends[self._trial, role].run()
        elif self.mishap not in ("stuck", "dies_late"):
            self.finish()

    @property
    def waiting(self) -> int:
        return self.inbox.waiting

    async def receive(self) -> TrialEvent:
        return await self.inbox.get()

    def close(self) -> None:
        pass

    def run(self) -> None:
        if self.mishap == "dies":
            self._session.lose(KILLED)
        elif self.mishap == "dies_late":
            asyncio.get_running_loop().call_later(0.1, self._session.lose, KILLED)
        elif self.mishap == "not_running":
            self.inbox.put(
                FailedEvent(trial=self._trial, phase="run", kind="not_running", message="no bytes came")
            )
        elif self.mishap in ("silent", "stuck"):
            self._network.on_silence()
        elif self.mishap == "late":
            duration_s = 0 if self.request is None else self.request.test.duration_us / 1_000_000
            asyncio.get_running_loop().call_later(LATE_S + duration_s, self.finish)
        elif self.mishap == "breaks":
            asyncio.get_running_loop().call_later(BREAKS_S, self.finish)
        elif self.mishap == "gets_nothing":
            asyncio.get_running_loop().call_later(BREAKS_S + 1, self.finish)
        else:
            self.inbox.put(Progress(trial=self._trial, role=self.role, elapsed_us=1_000_000, bytes=125_000))
            self.finish()

    def finish(self) -> None:
        count = BYTES_PER_FLOW - 1 if self.mishap == "reads_less" else BYTES_PER_FLOW
        incomplete = None
        if self.mishap == "drain_timeout":
            incomplete = Failed(
                trial=self._trial, phase="drain", kind="drain_timeout", message="3 flows had bytes under way"
            )
        elif self.mishap == "broken":
            incomplete = Failed(trial=self._trial, phase="run", kind="broken", message="connection reset")
        elif self.mishap == "breaks":
            # As an engine words it.
            message = f"1 of 1 flows broke; flow 0: {NOT_CAME}"
            incomplete = Failed(trial=self._trial, phase="run", kind="flows_broken", message=message)
        elif self.mishap == "gets_nothing":
            incomplete = Failed(trial=self._trial, phase="run", kind="not_running", message="no data came")
        flows = 1 if self.request is None else getattr(self.request.test, "flows", 0)
        if flows == 0:
            self._finish_asking()
            return
        if self.mishap != "no_samples":
            table = samples(self.role, [count * flows])
            if self.mishap == "other_columns":
                table = table.append_column("later", pa.array([7]))
            self.inbox.put_table("samples", table)
        self.inbox.put_table("cpu", cpu_rows(self.role))
        said = report(self._trial, self.role, [count] * flows, incomplete)
        facts = {
            "origin_unix_ns": self._origin_unix_ns(),
            "table_rows": {"samples": 1, "cpu": 2},
            "counters": {"Tcp.OutSegs": 9},
            "rows_lost": 5 if self.mishap == "loses_rows" else 0,
            "remarks": [CLOCK_SET] if self.mishap == "clock_set" else [],
        }
        if self.request is not None and isinstance(self.request.test, UdpTest):
            counts = self._counts(self.request.test)
            facts["flows"] = [flow.model_copy(update={"udp": counts}) for flow in said.flows]
            if self.mishap == "breaks":
                facts["flows"][0] = facts["flows"][0].model_copy(update={"end": "broken", "error": NOT_CAME})
        self.inbox.put_report(said.model_copy(update=facts))

    def _counts(self, test: UdpTest) -> UdpCounts:
        """A source sends its rate for as long as asked; a sink gets what the path carries of it."""
        offered_bps = test.rate_bps or 0
        rate_bps = offered_bps if self.role == "source" else min(offered_bps, self._network.carries_bps)
        count = -(-rate_bps * (test.duration_us + test.pad_us) // (8_000_000 * test.length_bytes))
        zeros = dict.fromkeys(
            ("duplicates", "late", "loss_burst_max", "loss_bursts", "refused", "reordered"), 0
        )
        gso = self.mishap != "cuts_no_more" if self.role == "source" and test.gso else None
        return UdpCounts(datagrams=count, reordering_extent_max=0, gso=gso, **zeros)

    def _finish_asking(self) -> None:
        """A source of questions has asked two, one of which was answered."""
        rows = {"echoes": 2} if self.role == "source" else {}
        if rows:
            self.inbox.put_table("echoes", echoes())
        said = report(self._trial, self.role, [])
        facts = {"origin_unix_ns": self._origin_unix_ns(), "table_rows": rows}
        self.inbox.put_report(said.model_copy(update=facts))

    def _origin_unix_ns(self) -> int:
        origins, host = self._network.origins, self._session.host
        return origins.get(f"{self._trial} {host}", origins.get(host, 0))

    @property
    def role(self) -> str:
        return "sink" if self.request is None else self.request.role

    def _prepare(self, request: Prepare) -> None:
        host = self._session.host
        self.request = request
        self._network.ends[self._trial, request.role] = self
        self._network.prepared[host] += 1
        self.mishap = self._network.mishaps.get((host, self._network.prepared[host]))
        if self.mishap == "busy":
            message = "this standing point is busy with alice"
            self.inbox.put(
                FailedEvent(trial=self._trial, phase="prepare", kind="point_busy", message=message)
            )
        elif self.mishap in REFUSALS:
            message = "asked for 1 MiB, 416 KiB granted: raise net.core.rmem_max"
            kind = REFUSALS[self.mishap]
            self.inbox.put(FailedEvent(trial=self._trial, phase="prepare", kind=kind, message=message))
        elif isinstance(request.rendezvous, Listen):
            listening = Listening(trial=self._trial, port=5300)
            if self.mishap == "makes":
                asyncio.get_running_loop().call_later(MAKES_S, self.inbox.put, listening)
            else:
                self.inbox.put(listening)
        else:
            granted = Granted(window_bytes=2 * 65536, window_clipped=False, window_raised=False, remarks=[])
            for role in ("source", "sink"):
                end = self._network.ends[self._trial, role]
                end.inbox.put(Connected(trial=self._trial, role=role, granted=granted))
