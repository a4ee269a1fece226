"""How the hosts were in each trial: their load, and their cores."""

from collections.abc import Callable, Sequence
from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null, columns_added, quotient
from flowsweep.defaults import SECOND_US
from flowsweep.wording import counted, format_number, format_share

SOCKET_DROPS = (
    "TcpExt.TCPRcvQDrop", "TcpExt.TCPBacklogDrop", "TcpExt.RcvPruned", "TcpExt.OfoPruned",
)  # fmt: skip
"""Packets that reached the host and did not reach the connection, or were thrown out of it again."""
_FULL_BUFFER = ("TcpExt.TCPRcvQDrop", "TcpExt.RcvPruned")
"""Of a packet that a full buffer has no room for Linux counts both (`tcp_prune_queue`, `tcp_data_queue`).
`OfoPruned` is of none: it rises once for however many packets were thrown out (`tcp_prune_ofo_queue`)."""
_BUSY_SOCKET = ("TcpExt.TCPBacklogDrop",)
"""Of a socket that somebody holds; no packet of these is among the others."""
BACKLOG_DROPS = ("softnet.dropped",)
RING_DROPS = ("rx_missed_errors", "rx_fifo_errors", "rx_over_errors")
STRAY_DROPS = "rx_dropped"
"""A device's own, what its queue of a CPU drops, and frames that are nobody's."""
_RECEIVER_DEVICE_DROPS = (STRAY_DROPS, *RING_DROPS)
_SENDER_DEVICE_DROPS = ("tx_dropped", "tx_fifo_errors")
_STRAY_PER_S = 5
"""The kernel counts frames there, too, of protocols that nobody on the host has asked for: spanning tree,
link layer discovery, tags of other networks. So many a second at a device are no drops of a trial."""
ZERO_WINDOW = "TcpExt.TCPToZeroWindowAdv"
"""How often the host advertised that a window was closed."""
_DRIVER = ".ethtool."
_S_PER_GB = 1_000
"""In a microsecond a byte."""


def host_load(cpu: ir.Table, counters: ir.Table, flows: ir.Table) -> ir.Table:
    """Sum up CPU time and drops of each trial's hosts.

    Args:
        cpu: As in an archive.
        counters: As in an archive.
        flows: As in an archive.

    Returns:
        One row per trial that any of them tells of: trial_id; thread_busy_send, thread_busy_recv (float64, 0
        to 1: CPU time / elapsed time of the flows' threads at that end, mean over flows); cpu_send_s_per_gb,
        cpu_recv_s_per_gb (float64, s/GB: CPU time of all those threads / bytes that they passed);
        cores_busy_send, cores_busy_recv (0 to 1: of all cores of the busiest host at that end, time stolen by
        a hypervisor included, whoever used them); softirq_core_recv (0 to 1: the largest share of a core that
        a sink's software interrupts took); throttleable_send_us, throttleable_recv_us (float64: how long the
        threads of the flows of a host at that end ran together, of the host where that is most: of no more of
        them than it has cores, since the kernel counts what a quota holds back once for each core);
        host_dropped_packets (int64: of the hosts' kernels and devices,
        sinks' receiving, as `dropped_before_sockets` and at full sockets, and sources' sending, of each host
        the counter that rose most; 0 where none rose and somebody watched the sinks, empty where nobody did).
    """
    ends = flows.select("trial_id").distinct()
    parts = (_threads(flows), _cores(cpu), _throttleable(cpu, flows), _drops(counters, flows))
    joined = columns_added(ends, parts, ["trial_id"])
    none = joined.cores_busy_recv.notnull().ifelse(0, ibis.null("int64"))
    return joined.mutate(host_dropped_packets=joined.host_dropped_packets.coalesce(none))


def _threads(flows: ir.Table) -> ir.Table:
    used_us = (flows.cpu_user_us + flows.cpu_system_us).cast("float64")
    busy = used_us / flows.cpu_elapsed_us.nullif(0)

    def s_per_gb(role: str) -> ir.FloatingValue:
        own = (flows.role == role) & used_us.notnull()
        return used_us.sum(where=own) * _S_PER_GB / flows.bytes.sum(where=own).nullif(0)

    return flows.group_by("trial_id").aggregate(
        thread_busy_send=busy.mean(where=flows.role == "source"),
        thread_busy_recv=busy.mean(where=flows.role == "sink"),
        cpu_send_s_per_gb=s_per_gb("source"),
        cpu_recv_s_per_gb=s_per_gb("sink"),
    )


def _cores(cpu: ir.Table) -> ir.Table:
    rows = cpu.filter(cpu.kind == "core")
    used = rows.busy_us + rows.steal_us.coalesce(0)
    cores = rows.group_by("trial_id", "role", "host", "id").aggregate(
        used_us=used.sum().cast("float64"),
        all_us=(used + rows.idle_us).sum().cast("float64"),
        softirq_us=rows.softirq_us.sum().cast("float64"),
    )
    hosts = cores.group_by("trial_id", "role", "host").aggregate(
        busy=cores.used_us.sum() / cores.all_us.sum().nullif(0.0),
        softirq=(cores.softirq_us / cores.all_us.nullif(0.0)).max(),
    )
    return hosts.group_by("trial_id").aggregate(
        cores_busy_send=hosts.busy.max(where=hosts.role == "source"),
        cores_busy_recv=hosts.busy.max(where=hosts.role == "sink"),
        softirq_core_recv=hosts.softirq.max(where=hosts.role == "sink"),
    )


def _throttleable(cpu: ir.Table, flows: ir.Table) -> ir.Table:
    host = ["trial_id", "role", "host"]
    cores = cpu.filter(cpu.kind == "core").group_by(host).aggregate(cores=ibis._.id.nunique())
    threads = flows.group_by(host).aggregate(
        threads=flows.cpu_elapsed_us.count(), elapsed_us=flows.cpu_elapsed_us.sum().cast("float64")
    )
    joined = columns_added(threads, [cores], host)
    at_once = ibis.least(joined.threads, joined.cores.coalesce(joined.threads))
    hosts = joined.mutate(most_us=joined.elapsed_us * at_once / joined.threads.nullif(0))
    return hosts.group_by("trial_id").aggregate(
        throttleable_send_us=hosts.most_us.max(where=hosts.role == "source"),
        throttleable_recv_us=hosts.most_us.max(where=hosts.role == "sink"),
    )


class HostCounterRow(TypedDict):
    """How much a counter of a host rose in a trial."""

    trial_id: str
    role: str
    host: str
    name: str
    value: int


def telling_counters(counters: ir.Table, trial_ids: Sequence[str]) -> ir.Table:
    """Choose the counters that say where hosts dropped packets, and that a window was closed.

    Args:
        counters: As in an archive.
        trial_ids: Of which trials.

    Returns:
        Rows of `counters`: trial_id, role ("source" or "sink"), host, name, value (int64). A sink's that
        count drops on receiving, and ZERO_WINDOW; a source's that count drops on sending.
    """
    rows = counters.filter(counters.trial_id.isin(list(trial_ids)))
    closed = (rows.role == "sink") & (rows.name == ZERO_WINDOW)
    chosen = rows.filter(_dropped(rows) | closed)
    return chosen.select(*HostCounterRow.__annotations__).order_by(*HostCounterRow.__annotations__)


def _drops(counters: ir.Table, flows: ir.Table) -> ir.Table:
    """Per trial: what hosts dropped, at least. Several counters may count the same packet."""

    def most(role: str, chosen: ir.BooleanValue, name: str) -> ir.Table:
        rows = counters.filter((counters.role == role) & chosen)
        hosts = rows.group_by("trial_id", "host").aggregate(most=rows.value.max())
        return hosts.group_by("trial_id").aggregate(**{name: hosts.most.sum().cast("int64")})

    parts = (
        dropped_before_sockets(counters, flows),
        most("sink", counters.name.isin(_FULL_BUFFER), "no_room"),
        most("sink", counters.name.isin(_BUSY_SOCKET), "held"),
        most("source", _of_device(counters, _SENDER_DEVICE_DROPS), "unsent"),
    )
    trials = counters.group_by("trial_id").aggregate(watched=(counters.role == "sink").any())
    joined = columns_added(trials, parts, ["trial_id"])
    total = sum(
        (joined[name].coalesce(0) for name in ("dropped", "no_room", "held", "unsent")),
        start=ibis.literal(0, "int64"),
    )
    known = joined.watched | (total > 0)
    return joined.select("trial_id", host_dropped_packets=ibis.cases((known, total)))


def dropped_before_sockets(counters: ir.Table, flows: ir.Table) -> ir.Table:
    """Count the packets that sinks' hosts dropped before any socket: at a device, or at the queue of a CPU.

    Args:
        counters: As in an archive.
        flows: As in an archive.

    Returns:
        One row per trial in which such a counter rose: trial_id, dropped (int64). There is none of others:
        whether they were watched, this does not tell.

    Method:
        Whose they were the kernel does not say. Several counters may count the same packet: a bond what its
        ports do, and Linux adds to a device's `rx_dropped` what the queue of a CPU drops
        (`enqueue_to_backlog`). So of each host the one that rose most counts, `rx_dropped` without the frames
        that nobody asked for. The queues are those of the whole machine, so that hosts that share one, as
        those with the controller's clock do, tell of the same ones.
    """
    before = counters.name.isin(BACKLOG_DROPS) | of_receiving_device(counters)
    rows = without_stray(counters.filter((counters.role == "sink") & before), flows)
    queue, device = rows.name.isin(BACKLOG_DROPS), of_receiving_device(rows)
    hosts = rows.group_by("trial_id", "host").aggregate(
        queue=rows.value.max(where=queue), device=rows.value.max(where=device)
    )
    bounds = flows.select("trial_id", "host", bound_ns=column_or_null(flows, "clock_bound_ns"))
    clocks = bounds.group_by("trial_id", "host").aggregate(bound_ns=bounds.bound_ns.max())
    joined = columns_added(hosts, [clocks], ["trial_id", "host"])
    here = (joined.bound_ns == 0).coalesce(False)
    joined = joined.mutate(machine=here.ifelse("", joined.host))
    machines = joined.group_by("trial_id", "machine").aggregate(
        dropped=ibis.greatest(joined.queue.max().coalesce(0), joined.device.sum().coalesce(0))
    )
    return machines.group_by("trial_id").aggregate(dropped=machines.dropped.sum().cast("int64"))


def without_stray(counters: ir.Table, flows: ir.Table) -> ir.Table:
    """Take off the `rx_dropped` of sinks' devices the frames that nobody on the host has asked for.

    Args:
        counters: As in an archive.
        flows: As in an archive.

    Returns:
        The rows of `counters`; `value` (int64) of each such device is less by 5 a second while the flows'
        threads ran, and at least 0.
    """
    lasted = flows.group_by("trial_id").aggregate(elapsed_us=flows.cpu_elapsed_us.max())
    joined = columns_added(counters, [lasted], ["trial_id"])
    usual = quotient(joined.elapsed_us.coalesce(0) * _STRAY_PER_S, SECOND_US)
    stray = (joined.role == "sink") & _of_device(joined, (STRAY_DROPS,))
    value = stray.ifelse(ibis.greatest(joined.value - usual, 0), joined.value)
    return joined.mutate(value=value.cast("int64")).drop("elapsed_us")


def _dropped(counters: ir.Table) -> ir.BooleanValue:
    """Whether a counter is of packets that a sink dropped on receiving, or a source on sending."""
    of_kernel = counters.name.isin((*SOCKET_DROPS, *BACKLOG_DROPS))
    receiving = (counters.role == "sink") & (of_kernel | of_receiving_device(counters))
    return receiving | ((counters.role == "source") & _of_device(counters, _SENDER_DEVICE_DROPS))


def of_receiving_device(counters: ir.Table) -> ir.BooleanValue:
    """Whether a counter is of packets that a device of the host dropped on receiving."""
    return _of_device(counters, _RECEIVER_DEVICE_DROPS)


def _of_device(counters: ir.Table, names: tuple[str, ...]) -> ir.BooleanValue:
    first, *others = (counters.name.endswith(f".{name}") for name in names)
    for other in others:
        first |= other
    # A driver's own counters say the same again.
    return first & ~counters.name.contains(_DRIVER)


_PARTS = ("busy", "user", "system", "softirq", "irq", "steal")


def core_loads(cpu: ir.Table) -> ir.Table:
    """Sum up the time of each core over a trial.

    Args:
        cpu: As in an archive; its columns are those of schema/cpu.json, times in microseconds.

    Returns:
        One row per trial, role, host and core: trial_id, role ("source" or "sink", of hosts that only carry
        background "background_source" or "background_sink"), host, core (its number),
        then busy_share, user_share, system_share, softirq_share, irq_share and steal_share (float64, of the
        time that was watched). What the kernel did not say is null. busy is the sum of user, system, softirq
        and irq, as proc(5) counts them in /proc/stat; time that a hypervisor took is not in it.

    Method:
        Time of each kind divided by wall-clock time, over all intervals of the trial; the kernel counts ticks
        of 10 ms, so that a share of a trial of 10 s is good to 0.1 %.
    """
    cores = cpu.filter(cpu.kind == "core")
    watched_us = ((cores.end_ns - cores.start_ns).sum().cast("float64") / 1_000).nullif(0)
    shares = {f"{part}_share": cores[f"{part}_us"].sum().cast("float64") / watched_us for part in _PARTS}
    return (
        cores.group_by("trial_id", "role", "host", core=cores.id)
        .aggregate(**shares)
        .order_by("trial_id", "role", "host", "core")
    )


def _round_trip(milliseconds: float) -> str:
    return f"{format_number(milliseconds)} ms"


def _count(count: float) -> str:
    return counted(round(count), "packet")


HOST_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "cpu_send": ("CPU load of the busiest sending thread", format_share),
    "cpu_recv": ("CPU load of the busiest receiving thread", format_share),
    "cores_busy_send": ("load of the sender's cores", format_share),
    "cores_busy_recv": ("load of the receiver's cores", format_share),
    "softirq_core_recv": ("software interrupts of the receiver", format_share),
    "throttled_send_share": ("time the sender's threads were held back by a CPU quota", format_share),
    "throttled_recv_share": ("time the receiver's threads were held back by a CPU quota", format_share),
    "host_dropped_packets": ("packets that the hosts dropped", _count),
    "retransmits": ("retransmitted segments", _count),
    "rtt_median_ms": ("median round-trip time", _round_trip),
}
"""What each is called, and how to write a value."""
