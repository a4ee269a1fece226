# Generated from schema/messages.json by tools/regenerate_engine.py: do not edit.

from __future__ import annotations

from flowsweep.frozen import Frozen
from typing import Annotated, Any, Literal
from typing_extensions import TypeAliasType
from pydantic import Field


class AddedTest(Frozen):
    """
    A test that the engine has from another crate.
    """

    name: str
    """
    What it is called.
    """
    settings: Any
    """
    As that crate has them.
    """
    type: Literal["added"] = "added"


class AddressPair(Frozen):
    """
    A path by the addresses of its ends; absent: that of the first path.
    """

    local: str | None = None
    """
    Address of this end.
    """
    remote: str | None = None
    """
    Address of the other end.
    """


class Alive(Frozen):
    """
    Nothing is asked, nothing is answered: the controller is still there. From the first of these on, an engine that
    hears no request at all for 30 s ends its traffic and exits.
    """

    type: Literal["alive"] = "alive"


Cache = TypeAliasType("Cache", Literal["dropped", "warm", "direct"])
"""
What stands between files and the disk.
"""


class Clock(Frozen):
    """
    Answer to `clock`.
    """

    number: Annotated[int, Field(ge=0)]
    """
    As in the request.
    """
    type: Literal["clock"] = "clock"
    unix_ns: int
    """
    Wall clock, in nanoseconds since 1970 UTC.
    """


class ClockRequest(Frozen):
    """
    Say what the host's clock shows. Answered by `clock`, at once.
    """

    number: Annotated[int, Field(ge=0)]
    """
    Repeated in the answer.
    """
    type: Literal["clock"] = "clock"


class Connect(Frozen):
    """
    Go to the other end.
    """

    address: str
    """
    Name or address of the other end.
    """
    bind: str | None = None
    """
    Local address to send from; the kernel's choice if absent.
    """
    further: Annotated[list[AddressPair] | None, Field(validate_default=True)] = []
    """
    Further paths to the other end, for tests that use several; those of another IP version are left out.
    """
    port: Annotated[int, Field(ge=0, le=65535)]
    """
    Port the other end listens on.
    """
    type: Literal["connect"] = "connect"


class Connected(Frozen):
    """
    All flows of the trial stand, with these settings granted.
    """

    granted: Granted
    """
    What the kernel granted.
    """
    role: Role
    """
    Which end says so.
    """
    trial: str
    """
    The trial.
    """
    type: Literal["connected"] = "connected"


Content = TypeAliasType("Content", Literal["random", "zeros"])
"""
What files consist of.
"""


CountersAdditionalProperty = TypeAliasType(
    "CountersAdditionalProperty", Annotated[int, Field(ge=0)]
)


Cpu = TypeAliasType("Cpu", Annotated[int, Field(ge=0)])


class CpuTime(Frozen):
    """
    CPU time of a thread, and how long it ran by the clock.
    """

    elapsed_us: Annotated[int, Field(ge=0)]
    """
    By the clock, in microseconds.
    """
    involuntary_switches: Annotated[int, Field(ge=0)]
    """
    How often the CPU was taken from the thread.
    """
    system_us: Annotated[int, Field(ge=0)]
    """
    In the kernel, in microseconds.
    """
    user_us: Annotated[int, Field(ge=0)]
    """
    In user mode, in microseconds.
    """
    voluntary_switches: Annotated[int, Field(ge=0)]
    """
    How often the thread gave the CPU away.
    """


class Decided(Frozen):
    """
    What a source decided that may end early. Times in whole microseconds since all flows run.
    """

    counted_from_us: Annotated[int, Field(ge=0)]
    """
    From when on the mean counts: slow start is over, and what is omitted.
    """
    ended_us: Annotated[int, Field(ge=0)]
    """
    Until when it counts; what was sent after that is a pad.
    """
    half_width_ppm: Annotated[int | None, Field(ge=0)] = None
    """
    Half of the 95 % interval of the mean when that was last asked, over the mean, in millionths; absent if there was
    too little to tell.
    """
    held_by: HeldBy | None = None
    """
    Why the mean is not known although the duration is over; absent if it is known.
    """


class Describe(Frozen):
    """
    Say what this host is. Answered by `host_facts`.
    """

    peers: list[str]
    """
    Addresses of the hosts it will exchange traffic with: the answer has the routes to them.
    """
    type: Literal["describe"] = "describe"


Echo = TypeAliasType("Echo", Literal["auto", "icmp", "udp", "tcp_connect"])
"""
What a round trip consists of.
"""


Encryption = TypeAliasType("Encryption", Literal["none", "tls"])
"""
What protects flows on the path.
"""


class Failed(Frozen):
    """
    Why a trial, or one end of it, did not go as asked.
    """

    kind: str
    """
    A word that programs can compare: `window_clipped`, `connect_timeout`, ….
    """
    message: str
    """
    What happened, with addresses and numbers, and what to do.
    """
    phase: Phase
    """
    Where it was.
    """
    trial: str
    """
    The trial.
    """


class FailedEvent(Failed):
    """
    The end of a trial that never ran.
    """

    type: Literal["failed"] = "failed"


class FarFlow(Frozen):
    """
    What a far side without an engine counted of one flow, without the beginning that it left out.
    """

    bytes: Annotated[int, Field(ge=0)]
    """
    Application bytes that it received, or sent.
    """
    datagrams: Annotated[int | None, Field(ge=0)] = None
    """
    Of a stream of datagrams: sent, or the highest number that came.
    """
    elapsed_us: Annotated[int, Field(ge=0)]
    """
    How long it counted, in microseconds.
    """
    flow: Annotated[int, Field(ge=0)]
    """
    Index of the flow.
    """
    jitter_ns: Annotated[int | None, Field(ge=0)] = None
    """
    Interarrival jitter at the end, in nanoseconds; of a receiver.
    """
    lost: Annotated[int | None, Field(ge=0)] = None
    """
    Of those that should have come, those that did not; of a receiver.
    """
    retransmits: Annotated[int | None, Field(ge=0)] = None
    """
    Segments that it sent again; absent where it does not know.
    """


class FarSide(Frozen):
    """
    What a far side without an engine said at the end of a trial.
    """

    congestion: str | None = None
    """
    Congestion control of its sockets that sent.
    """
    cpu_percent: float
    """
    CPU time of its process per elapsed time, in percent of one processor.
    """
    flows: list[FarFlow]
    """
    Flow by flow, in the order of their index; those that it did not tell of are left out.
    """


class FileTest(Frozen):
    """
    Files, from disk to disk.
    """

    cache: Cache
    """
    What stands between files and the disk.
    """
    content: Content
    """
    What the files that are made consist of.
    """
    existing: str | None = None
    """
    What a source reads in place of files that it makes: a file, or a folder whose regular files are read, by name.
    Nothing there is changed.
    """
    file_bytes: Annotated[int, Field(ge=0)]
    """
    Size of each file that is made.
    """
    files: Annotated[int, Field(ge=0)]
    """
    How many files are made; at most so many of those of `existing` are read.
    """
    folder: str
    """
    A folder of this host that is there already. Files are made in its file system only, without names.
    """
    part: Part
    """
    What of the way is gone.
    """
    sendfile: bool
    """
    Whether a source has its kernel send files from the page cache (`sendfile(2)`). It reads them itself all the same if
    they are compared.
    """
    sync: Sync
    """
    When a sink has files written to the disk.
    """
    tcp: TcpSettings
    """
    As of connections of TCP, in `copy` mode and without a rate. `length_bytes` is what is read, sent or written at once.
    `duration_us` is the longest that files are sent; the trial ends once all of them are at the far end.
    """
    type: Literal["file"] = "file"
    verify: Verify
    """
    What is compared.
    """


FlowEnd = TypeAliasType(
    "FlowEnd", Literal["drained", "drain_timeout", "broken", "stopped"]
)
"""
How a flow ended at one end.
"""


class FlowReport(Frozen):
    """
    What became of one flow at one end.
    """

    bytes: Annotated[int, Field(ge=0)]
    """
    Application bytes after the handshake: written by a source, read by a sink.
    """
    cpu: CpuTime
    """
    CPU time of the flow's thread while the trial ran.
    """
    end: FlowEnd
    """
    How the flow ended.
    """
    end_ns: int
    """
    When the flow was over, in nanoseconds since the origin: at a sink when it had read to the end, at a source when
    the sink had closed.
    """
    error: str | None = None
    """
    The kernel's word for it, if it ended badly.
    """
    first_byte_ns: int | None = None
    """
    When the first of them passed, in nanoseconds since the origin.
    """
    flow: Annotated[int, Field(ge=0)]
    """
    Index of the flow, from 0.
    """
    local_port: Annotated[int, Field(ge=0, le=65535)]
    """
    Local port.
    """
    remote_port: Annotated[int, Field(ge=0, le=65535)]
    """
    Remote port.
    """
    udp: UdpCounts | None = None
    """
    Of a stream of datagrams only.
    """


class Granted(Frozen):
    """
    What the kernel made of the settings, at this end. The same for all flows of a trial.
    """

    congestion: str | None = None
    """
    Congestion control in use.
    """
    echo: Echo | None = None
    """
    How round-trip times are measured: `icmp`, `udp` or `tcp_connect`. Absent where none are.
    """
    gro: bool | None = None
    """
    Whether the kernel hands this end several datagrams at once (`UDP_GRO`). Absent where that is no question.
    """
    gso: bool | None = None
    """
    Whether the kernel cuts what this end sends into datagrams (`UDP_SEGMENT`). Absent where that is no question.
    """
    mss_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Segment size of what this end sends when the flow was set up, in bytes of payload without TCP options. It may
    grow later: the samples have `snd_mss_bytes`.
    """
    remarks: list[str]
    """
    What was asked for and is not to be had here, a sentence each: what, why, and what is done instead.
    """
    window_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    What `getsockopt` says of the socket buffer that was asked for, in bytes: on Linux twice the request. Absent if
    none was asked for.
    """
    window_clipped: bool
    """
    The kernel granted less than asked for: its maximum is lower.
    """
    window_raised: bool
    """
    The kernel granted more than asked for: the request is below its floor.
    """


HeldBy = TypeAliasType(
    "HeldBy", Literal["slow_start", "too_short", "window_grows", "spread", "trend"]
)
"""
Why a mean is not known.
"""


class Hello(Frozen):
    """
    First message of every session.
    """

    engine_version: str
    """
    Version of the engine.
    """
    pid: Annotated[int, Field(ge=0)]
    """
    Process id on its host.
    """
    protocol: Annotated[int, Field(ge=0)]
    """
    Version of the messages, see [`PROTOCOL`].
    """
    type: Literal["hello"] = "hello"


class HostFacts(Frozen):
    """
    Answer to `describe`.
    """

    architecture: str
    """
    Machine architecture, as `uname -m` prints it.
    """
    clock_source: str | None = None
    """
    What the kernel keeps time with, such as `tsc`.
    """
    congestion_available: list[str]
    """
    Congestion controls that may be asked for.
    """
    congestion_default: str | None = None
    """
    Congestion control a socket has when none is asked for.
    """
    cpu_governor: str | None = None
    """
    CPU frequency governor; several, separated by commas, where CPUs differ.
    """
    cpu_model: str | None = None
    """
    CPU model name.
    """
    cpus: Annotated[int, Field(ge=0)]
    """
    CPUs this engine may run on.
    """
    engine_version: str
    """
    Version of the engine.
    """
    hostname: str
    """
    Name the kernel has for the host.
    """
    kernel: str
    """
    Kernel release, as `uname -r` prints it.
    """
    memory_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Memory of the host, in bytes.
    """
    nics: list[Nic]
    """
    Network devices, loopback included.
    """
    numa_nodes: Annotated[int | None, Field(ge=0)] = None
    """
    NUMA nodes.
    """
    routes: dict[str, Route]
    """
    Routes to the peers that were named in the request, by the name that was used there.
    """
    sysctls: dict[str, str]
    """
    The kernel's settings that matter for TCP, by their `sysctl` name, as the kernel prints them.
    """
    tcp_info_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of `TCP_INFO` this kernel returns.
    """
    type: Literal["host_facts"] = "host_facts"


class Iperf3(Frozen):
    """
    What an engine must know of an iperf3 server beyond where it is.
    """

    busy_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long a server that is busy is asked again, in microseconds.
    """
    login: Iperf3Login | None = None
    """
    Who asks, where the server wants to know.
    """
    omit_s: Annotated[int, Field(ge=0)]
    """
    Beginning of the duration that the far side leaves out of its totals, in whole seconds.
    """
    together_with: str | None = None
    """
    Name of the trial in the other direction, prepared in the same session, that runs in the same test of the server's;
    absent: this one has a test of its own.
    """
    window_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Socket buffers of the far side, per flow, in bytes; its own choice if absent.
    """


class Iperf3Login(Frozen):
    """
    Who asks.
    """

    password: Secret
    """
    The user's password.
    """
    pkcs1: bool
    """
    The padding that servers before 3.17 expect (PKCS#1 v1.5); OAEP if not.
    """
    public_key: str
    """
    The server's RSA public key, as PEM.
    """
    user: str
    """
    Name of the user.
    """


class Listen(Frozen):
    """
    Wait for the other end.
    """

    bind: str | None = None
    """
    Local address to listen on; all addresses if absent.
    """
    ports: PortRange | None = None
    """
    Ports to choose from; any free one if absent.
    """
    type: Literal["listen"] = "listen"


class Listening(Frozen):
    """
    The listening side takes connections now.
    """

    port: Annotated[int, Field(ge=0, le=65535)]
    """
    Port that takes the trial's connections.
    """
    trial: str
    """
    The trial.
    """
    type: Literal["listening"] = "listening"


class Messages(Frozen):
    """
    Both directions of the control channel, as one document.
    """

    event: Event
    """
    From an engine to the controller.
    """
    request: Request
    """
    From the controller to an engine.
    """


Mode = TypeAliasType("Mode", Literal["copy", "zerocopy", "discard"])
"""
How bytes get into and out of the kernel.
"""


class MptcpTest(Frozen):
    """
    Bulk connections of Multipath TCP.
    """

    subflows: Annotated[int | None, Field(ge=0)] = None
    """
    TCP connections that each connection consists of, its first one included: one for each path that the
    rendezvous names if absent, or, where it names none, as many as the path managers of both hosts make.
    """
    tcp: TcpSettings
    """
    As of connections of TCP, but in `copy` mode only, without `mss_bytes`, `pacing_rate_bps`, and with no
    `silence_timeout_us` that ends it: Linux has none of these for such connections.
    """
    type: Literal["mptcp"] = "mptcp"


class Nic(Frozen):
    """
    A network device.
    """

    driver: str | None = None
    """
    Its driver.
    """
    mtu_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Largest packet, in bytes.
    """
    name: str
    """
    The kernel's name for it.
    """
    numa_node: Annotated[int | None, Field(ge=0)] = None
    """
    NUMA node it is attached to.
    """
    offloads: dict[str, bool]
    """
    Offloads, by the kernel's name for them, and whether they are on.
    """
    qdiscs: list[str]
    """
    Queueing disciplines of its transmit side, the root first.
    """
    rx_queues: Annotated[int, Field(ge=0)]
    """
    Receive queues.
    """
    speed_mbps: Annotated[int | None, Field(ge=0)] = None
    """
    Speed of the link, in Mbit/s.
    """
    tx_queues: Annotated[int, Field(ge=0)]
    """
    Transmit queues.
    """


Part = TypeAliasType("Part", Literal["whole", "read", "network", "write"])
"""
What of the way from disk to disk is gone.
"""


class PathTest(Frozen):
    """
    Hops, their capacity, and the capacity and load of the whole path.
    """

    connect_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long meeting the other end may take.
    """
    deadline_us: Annotated[int, Field(ge=0)]
    """
    How long all of it may take.
    """
    every_us: Annotated[int, Field(ge=0)]
    """
    From one probe to the next; longer where a host limits its answers.
    """
    family: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    4 or 6: the IP version to use; either if absent.
    """
    probes: Annotated[int, Field(ge=0)]
    """
    Probes of each size at each hop.
    """
    seed: Annotated[int, Field(ge=0)]
    """
    Of the random draws.
    """
    sizes_bytes: list[int]
    """
    Sizes of the probes of each hop, in bytes.
    """
    stream_packets: Annotated[int, Field(ge=0)]
    """
    Packets of a stream.
    """
    stream_rates: Annotated[int, Field(ge=0)]
    """
    How many rates, evenly apart.
    """
    streams: Annotated[int, Field(ge=0)]
    """
    Streams at each of some rates up to what the trains showed, which show what is free of it.
    """
    timeout_us: Annotated[int, Field(ge=0)]
    """
    How long an answer may take before it counts as lost.
    """
    train_bytes: Annotated[int, Field(ge=0)]
    """
    Size of a packet of trains and streams, in bytes.
    """
    train_packets: Annotated[int, Field(ge=0)]
    """
    Packets of a train.
    """
    trains: Annotated[int, Field(ge=0)]
    """
    Trains of packets, back to back, that show the narrowest link.
    """
    ttl_max: Annotated[int, Field(ge=0, le=255)]
    """
    Hops to look for, at most; 0: none.
    """
    type: Literal["path"] = "path"


Phase = TypeAliasType(
    "Phase", Literal["prepare", "listen", "connect", "run", "drain", "report"]
)
"""
Where in its life a trial is.
"""


class PortRange(Frozen):
    """
    An inclusive range of ports.
    """

    first: Annotated[int, Field(ge=0, le=65535)]
    """
    Lowest port.
    """
    last: Annotated[int, Field(ge=0, le=65535)]
    """
    Highest port.
    """


class Prepare(Frozen):
    """
    Get ready for one end of a trial. Answered by `listening` (listening side), then `connected`, or by `failed`.
    """

    answer: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    """
    The listening side answers with this.
    """
    iperf3: Iperf3 | None = None
    """
    The other end is an iperf3 server, to which this one connects; another engine if absent. Takes `tcp` and `udp`.
    """
    rendezvous: RendezvousRole
    """
    How the two ends meet.
    """
    role: Role
    """
    Which end this engine is.
    """
    test: Test
    """
    What is measured, and how.
    """
    token: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    """
    The connecting side shows this.
    """
    trial: str
    """
    Name of the trial, unique in this session.
    """
    type: Literal["prepare"] = "prepare"


class Progress(Frozen):
    """
    Once a second while the trial runs.
    """

    bytes: Annotated[int, Field(ge=0)]
    """
    Application bytes of all flows so far.
    """
    elapsed_us: Annotated[int, Field(ge=0)]
    """
    Time since this end's origin, in microseconds.
    """
    role: Role
    """
    Which end says so.
    """
    trial: str
    """
    The trial.
    """
    type: Literal["progress"] = "progress"


class QuicTest(Frozen):
    """
    Bulk streams of QUIC connections.
    """

    congestion: str | None = None
    """
    Congestion control: `cubic`, `newreno` or `bbr`; the implementation's own if absent.
    """
    connect_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long the handshakes of all flows may take.
    """
    cpus: list[Cpu]
    """
    CPUs the flows' threads are bound to, in turn; unbound if empty.
    """
    datagram_bytes: Annotated[int | None, Field(ge=0, le=65535)] = None
    """
    Payload of UDP datagrams; found on the path (RFC 8899), up to 1452 B, if absent.
    """
    drain_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long the sink may need to read what is still under way once the source has stopped.
    """
    duration_us: Annotated[int, Field(ge=0)]
    """
    How long the source sends once every flow runs.
    """
    family: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    4 or 6: the IP version to use; either if absent.
    """
    flows: Annotated[int, Field(ge=0)]
    """
    Parallel connections.
    """
    gro: bool
    """
    Have the kernel hand over several datagrams at once (`UDP_GRO`) where it can.
    """
    gso: bool
    """
    Have the kernel cut what is sent at once into datagrams (`UDP_SEGMENT`).
    """
    length_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes handed to one write.
    """
    pad_us: Annotated[int, Field(ge=0)]
    """
    How much longer it sends, so that the sink's last bin is whole.
    """
    perf: bool
    """
    The other end is a server of QUIC's perf protocol (draft-banks-quic-performance), to which this one connects; another
    engine if not.
    """
    rate_bps: Annotated[int | None, Field(ge=0)] = None
    """
    Rate the application writes at, per flow, in bit/s; as fast as it can if absent.
    """
    sample_interval_us: Annotated[int, Field(ge=0)]
    """
    How often both ends record.
    """
    silence_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long a path may be silent before its flows count as broken.
    """
    stream_window_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Of each stream, what a sink lets the source send ahead (`MAX_STREAM_DATA`); the implementation's own if absent.
    """
    streams: Annotated[int, Field(ge=0)]
    """
    Streams of each connection, all of them sent at once.
    """
    type: Literal["quic"] = "quic"
    window_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Of a connection: what a sink lets the source send ahead of what it has read (`MAX_DATA`), or what a source keeps
    that is not acknowledged; the implementation's own if absent.
    """


class Refused(Frozen):
    """
    A request that could not be understood.
    """

    message: str
    """
    What was wrong with it.
    """
    type: Literal["refused"] = "refused"


class RejectedConnections(Frozen):
    """
    Connections that reached a listening engine and were not its trial's. They are closed and counted.
    """

    crowded_out: Annotated[int, Field(ge=0)]
    """
    Came while too many handshakes were pending, or as datagrams faster than they could be looked at.
    """
    not_an_engine: Annotated[int, Field(ge=0)]
    """
    Spoke something else.
    """
    unfinished: Annotated[int, Field(ge=0)]
    """
    Did not finish the handshake in time, or hung up.
    """
    wrong_flow: Annotated[int, Field(ge=0)]
    """
    Showed a flow index that does not exist or was there already.
    """
    wrong_token: Annotated[int, Field(ge=0)]
    """
    Showed another token.
    """


RendezvousRole = TypeAliasType(
    "RendezvousRole", Annotated[Listen | Connect, Field(discriminator="type")]
)
"""
How an engine meets the other end.
"""


class Report(Frozen):
    """
    The end of a trial that got as far as running. Its samples came just before, in Arrow frames.
    """

    counters: dict[str, CountersAdditionalProperty]
    """
    How much the host's counters rose from when the flows stood until they had ended: `Tcp.RetransSegs` and others of
    `/proc/net/snmp` and `netstat`, `Ip6InReceives` and others of `snmp6`, `softnet.dropped`, each device's, such as
    `eth0.rx_dropped`, and its driver's own, such as `eth0.ethtool.rx_no_buffer`. Those that did not rise are left out.
    """
    decided: Decided | None = None
    """
    Of a source that may end early and has sent to its end: when it ended, and why.
    """
    far_side: FarSide | None = None
    """
    What the far side said that has no engine; absent if it has one, or did not get to say anything.
    """
    flows: list[FlowReport]
    """
    One entry for each flow.
    """
    incomplete: Failed | None = None
    """
    Why the trial is not whole at this end; absent if it is.
    """
    origin_unix_ns: int
    """
    Wall clock at this end's time origin, in nanoseconds since 1970 UTC. Samples count from there.
    """
    rejected_connections: RejectedConnections
    """
    Connections that were not this trial's.
    """
    remarks: list[str] | None = []
    """
    What else is to be reported: that this host's clock was set meanwhile, and what that cost.
    """
    role: Role
    """
    Which end reports.
    """
    rows_lost: Annotated[int, Field(ge=0)]
    """
    Rows that could not be kept or read back, of all tables but that of CPU time, of which a remark tells.
    """
    table_rows: dict[str, TableRowsAdditionalProperty]
    """
    Rows sent ahead of this report, by the name of their table.
    """
    throttled_us: Annotated[int | None, Field(ge=0)] = None
    """
    How long CPU quotas kept the engine from running while flows ran (cgroup `cpu.stat`), in microseconds, summed over
    all CPUs: of its own control group and those around it, the one that was held back most. Absent where none counts
    it.
    """
    trial: str
    """
    The trial.
    """
    type: Literal["report"] = "report"


Event = TypeAliasType(
    "Event",
    Annotated[
        Hello
        | HostFacts
        | Clock
        | Listening
        | Connected
        | Progress
        | Report
        | FailedEvent
        | Refused,
        Field(discriminator="type"),
    ],
)
"""
What an engine tells its controller.
"""


Role = TypeAliasType("Role", Literal["source", "sink"])
"""
Which end of the traffic an engine is.
"""


class Route(Frozen):
    """
    How packets to a peer leave a host.
    """

    address: str
    """
    Address of the peer, once its name is resolved.
    """
    device: str
    """
    Device they leave by.
    """
    gateway: str | None = None
    """
    First router; absent for a peer on the same link.
    """
    mtu_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Largest packet of the route, where one is set, in bytes.
    """
    source: str | None = None
    """
    Address they are sent from.
    """


class RttTest(Frozen):
    """
    Round-trip times.
    """

    connect_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long meeting the other end may take.
    """
    dscp: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    Differentiated services code point, 0 to 63.
    """
    duration_us: Annotated[int, Field(ge=0)]
    """
    How long to ask.
    """
    echo: Echo
    """
    What to ask with.
    """
    every_us: Annotated[int, Field(ge=0)]
    """
    From one question to the next; the mean of it if `poisson`.
    """
    family: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    4 or 6: the IP version to use; either if absent.
    """
    poisson: bool
    """
    Draw the times between questions from an exponential distribution (RFC 2330).
    """
    seed: Annotated[int, Field(ge=0)]
    """
    Of the random draws.
    """
    sizes_bytes: list[int]
    """
    Payload of a question and of its answer, in bytes, headers of this protocol included; asked in turn, at random.
    """
    timeout_us: Annotated[int, Field(ge=0)]
    """
    How long an answer may take before it counts as lost.
    """
    type: Literal["rtt"] = "rtt"


Secret = TypeAliasType("Secret", str)
"""
A text that is not shown.
"""


class Start(Frozen):
    """
    Begin to send. The receiving end needs no start.
    """

    at_unix_ns: int | None = None
    """
    When to begin, by this host's clock, in nanoseconds since 1970 UTC; at once if absent or past. At most 5 s
    ahead: a later moment counts as that.
    """
    trial: str
    """
    The trial that was prepared.
    """
    type: Literal["start"] = "start"


class Stop(Frozen):
    """
    End the trial now. Answered by `report` or `failed`, whichever is due.
    """

    trial: str
    """
    The trial to end.
    """
    type: Literal["stop"] = "stop"


Request = TypeAliasType(
    "Request",
    Annotated[
        Describe | Alive | ClockRequest | Prepare | Start | Stop,
        Field(discriminator="type"),
    ],
)
"""
What the controller asks of an engine.
"""


Sync = TypeAliasType("Sync", Literal["file", "write", "none"])
"""
When a sink has files written to the disk.
"""


TableRowsAdditionalProperty = TypeAliasType(
    "TableRowsAdditionalProperty", Annotated[int, Field(ge=0)]
)


class TcpSettings(Frozen):
    """
    The settings of one end's flows. Times in whole microseconds.
    """

    clip_allowed: bool
    """
    Run even if the kernel grants less than was asked for.
    """
    congestion: str | None = None
    """
    Congestion control; the host's default if absent.
    """
    connect_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long connecting and the handshakes of all flows may take.
    """
    cpus: list[Cpu]
    """
    CPUs the flows' threads are bound to, in turn; unbound if empty.
    """
    drain_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long the sink may need to read what is still under way once the source has stopped.
    """
    dscp: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    Differentiated services code point, 0 to 63.
    """
    duration_us: Annotated[int, Field(ge=0)]
    """
    How long the source sends once every flow runs.
    """
    encryption: Encryption
    """
    What protects the flows on the path.
    """
    family: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    4 or 6: the IP version to use; either if absent.
    """
    flows: Annotated[int, Field(ge=0)]
    """
    Parallel connections.
    """
    fwmark: Annotated[int | None, Field(ge=0)] = None
    """
    Mark of this end's packets (`SO_MARK`), for which it needs `CAP_NET_ADMIN`; none if absent.
    """
    length_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes handed to one write or read.
    """
    mode: Mode
    """
    How bytes get into and out of the kernel.
    """
    mss_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    `TCP_MAXSEG`, in bytes.
    """
    no_delay: bool
    """
    `TCP_NODELAY`.
    """
    pacing_rate_bps: Annotated[int | None, Field(ge=0)] = None
    """
    Rate the kernel paces at, per flow, in bit/s (`SO_MAX_PACING_RATE`).
    """
    pad_us: Annotated[int, Field(ge=0)]
    """
    How much longer it sends, so that the sink's last bin is whole.
    """
    rate_bps: Annotated[int | None, Field(ge=0)] = None
    """
    Rate the application writes at, per flow, in bit/s; as fast as it can if absent.
    """
    sample_interval_us: Annotated[int, Field(ge=0)]
    """
    How often both ends record.
    """
    silence_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long a path may be silent before its flows count as broken (`TCP_USER_TIMEOUT`).
    """
    until: Until | None = None
    """
    When a source ends before `duration_us`; never if absent.
    """
    window_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Socket buffer of this end, per flow: `SO_SNDBUF` of a source, `SO_RCVBUF` of a sink; the kernel's autotuning if
    absent.
    """


class TcpTest(TcpSettings):
    """
    Bulk TCP connections.
    """

    type: Literal["tcp"] = "tcp"


class UdpCounts(Frozen):
    """
    What one end counted of one flow's datagrams.
    """

    behind_max_ns: Annotated[int | None, Field(ge=0)] = None
    """
    How far a source fell behind its pace, at most, in nanoseconds.
    """
    burst_max: Annotated[int | None, Field(ge=0)] = None
    """
    Most datagrams that a source sent at once to catch up, or because it has no pace to keep.
    """
    datagrams: Annotated[int, Field(ge=0)]
    """
    A source's: handed to the kernel. A sink's: different ones that came before the drain was over.
    """
    delay_min_ns: int | None = None
    """
    Smallest difference of the sink's receiving time and the source's sending time, each by its own wall clock as
    it went on from this end's origin, in nanoseconds.
    """
    duplicates: Annotated[int, Field(ge=0)]
    """
    Came again (RFC 5560); not among `datagrams`.
    """
    gso: bool | None = None
    """
    Whether a source's kernel cut what it sent at once to the end (`UDP_SEGMENT`), where it did at the beginning; absent
    where it did not.
    """
    jitter_ns: Annotated[int | None, Field(ge=0)] = None
    """
    Interarrival jitter at the end (RFC 3550), in nanoseconds, from the kernel's times; with `UDP_GRO` of the first
    datagram of each buffer. Of first copies only, in the order of arrival.
    """
    late: Annotated[int, Field(ge=0)]
    """
    Came after the drain was over, or so many numbers later that nobody remembers whether they had come (262 144); not
    among `datagrams`, so that they are part of what is lost.
    """
    loss_burst_max: Annotated[int, Field(ge=0)]
    """
    The longest of them.
    """
    loss_bursts: Annotated[int, Field(ge=0)]
    """
    Runs of numbers that never came.
    """
    refused: Annotated[int, Field(ge=0)]
    """
    Datagrams that the sending kernel refused (no buffers); they were sent again under the same number.
    """
    reordered: Annotated[int, Field(ge=0)]
    """
    Of a sink's, those that came after one with a higher number (RFC 4737, Type-P-Reordered).
    """
    reordering_extent_max: Annotated[int, Field(ge=0)]
    """
    How many later ones had come before the latest of them, at most (RFC 4737, 4.2.1).
    """
    socket_dropped: Annotated[int | None, Field(ge=0)] = None
    """
    Dropped by the kernel since this flow's socket was full (`SO_MEMINFO`); absent if it does not tell. With `UDP_GRO`
    datagrams that were dropped together may count once.
    """


class UdpTest(Frozen):
    """
    Streams of numbered datagrams.
    """

    clip_allowed: bool
    """
    Run even if the kernel grants less than was asked for.
    """
    connect_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long setting the flows up may take; it is retried until then.
    """
    cpus: list[int]
    """
    CPUs the threads are bound to, in turn; unbound if empty.
    """
    drain_us: Annotated[int, Field(ge=0)]
    """
    How long the sink listens on once the source has stopped. What comes later is late.
    """
    dscp: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    Differentiated services code point, 0 to 63.
    """
    duration_us: Annotated[int, Field(ge=0)]
    """
    How long the source sends once the flows stand.
    """
    family: Annotated[int | None, Field(ge=0, le=255)] = None
    """
    4 or 6: the IP version to use; either if absent.
    """
    flows: Annotated[int, Field(ge=0)]
    """
    Parallel streams, each with a source port of its own.
    """
    gro: bool
    """
    Have the kernel hand over several datagrams at once (`UDP_GRO`) where it can.
    """
    gso: bool
    """
    Have the kernel cut large buffers into datagrams (`UDP_SEGMENT`) where it can and the pace allows it.
    """
    length_bytes: Annotated[int, Field(ge=0)]
    """
    Payload of a datagram, in bytes, its header included.
    """
    pad_us: Annotated[int, Field(ge=0)]
    """
    How much longer it sends, so that the sink's last bin is whole.
    """
    rate_bps: Annotated[int | None, Field(ge=0)] = None
    """
    Rate of payload, per flow, in bit/s. Without rate and spacing a source sends as fast as it can.
    """
    sample_interval_us: Annotated[int, Field(ge=0)]
    """
    How often both ends record.
    """
    silence_timeout_us: Annotated[int, Field(ge=0)]
    """
    How long a flow that should send may be silent before it counts as broken off.
    """
    spacing_ns: Annotated[int | None, Field(ge=0)] = None
    """
    From the beginning of a datagram to the beginning of the flow's next one, in nanoseconds, in place of a rate.
    """
    type: Literal["udp"] = "udp"
    window_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    Socket buffer of this end, per flow: `SO_SNDBUF` of a source, `SO_RCVBUF` of a sink; the host's default if absent.
    """


Test = TypeAliasType(
    "Test",
    Annotated[
        TcpTest
        | MptcpTest
        | QuicTest
        | FileTest
        | UdpTest
        | RttTest
        | PathTest
        | AddedTest,
        Field(discriminator="type"),
    ],
)
"""
What is measured, with its settings.
"""


class Until(Frozen):
    """
    A source ends as soon as its mean goodput is known. Times in whole microseconds since all flows run.
    """

    at_least_us: Annotated[int, Field(ge=0)]
    """
    How long flows send at least.
    """
    half_width_ppm: Annotated[int, Field(ge=0)]
    """
    Half of the 95 % interval of the mean, over the mean, in millionths.
    """
    interval_us: Annotated[int, Field(ge=0)]
    """
    What counts is a whole number of these.
    """
    omit_us: Annotated[int, Field(ge=0)]
    """
    What of the beginning does not count, though slow start be over.
    """


Verify = TypeAliasType("Verify", Literal["received", "stored", "none"])
"""
What is compared of a file at both ends.
"""
