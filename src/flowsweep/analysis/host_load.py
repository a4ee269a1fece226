"""How busy the hosts of a trial were, and what they dropped."""

import ibis.expr.types as ir

_RECEIVER_DROPS = (
    "TcpExt.TCPRcvQDrop", "TcpExt.TCPBacklogDrop", "TcpExt.RcvPruned", "TcpExt.OfoPruned", "softnet.dropped",
    "Udp.RcvbufErrors", "Udp6RcvbufErrors",
)  # fmt: skip
"""Packets that reached the host and did not reach the connection, or were thrown out of it again."""
_RECEIVER_DEVICE_DROPS = ("rx_dropped", "rx_missed_errors", "rx_fifo_errors", "rx_over_errors")
_SENDER_DEVICE_DROPS = ("tx_dropped", "tx_fifo_errors")
_DRIVER = ".ethtool."
"""A driver's own counters say the same again."""

HOST_LOAD_COLUMNS = (
    "thread_busy_send", "thread_busy_recv", "cores_busy_send", "cores_busy_recv", "softirq_core_recv",
    "host_dropped_packets",
)  # fmt: skip


def host_load(cpu: ir.Table, counters: ir.Table, flows: ir.Table) -> ir.Table:
    """Sum up CPU time and drops of each trial's hosts.

    Args:
        cpu: As in an archive.
        counters: As in an archive.
        flows: As in an archive.

    Returns:
        One row per trial that any of them tells of: trial_id; thread_busy_send, thread_busy_recv (float64, 0
        to 1: CPU time / elapsed time of the flows' threads at that end, mean over flows); cores_busy_send,
        cores_busy_recv (0 to 1: of all cores of the busiest host at that end, time stolen by a hypervisor
        included, whoever used them); softirq_core_recv (0 to 1: the largest share of a core that a sink's
        software interrupts took); host_dropped_packets (int64: of the hosts' kernels and devices, sinks'
        receiving and sources' sending; 0 where no counter rose, empty where nobody watched the hosts).
    """
    ends = flows.select("trial_id").distinct()
    parts = (_threads(flows), _cores(cpu), _drops(counters))
    joined = ends
    for part in parts:
        joined = joined.left_join(part, "trial_id").drop("trial_id_right")
    watched = joined.cores_busy_send.notnull() | joined.cores_busy_recv.notnull()
    return joined.mutate(
        host_dropped_packets=watched.ifelse(
            joined.host_dropped_packets.coalesce(0), joined.host_dropped_packets
        )
    )


def _threads(flows: ir.Table) -> ir.Table:
    busy = (flows.cpu_user_us + flows.cpu_system_us).cast("float64") / flows.cpu_elapsed_us.nullif(0)
    return flows.group_by("trial_id").aggregate(
        thread_busy_send=busy.mean(where=flows.role == "source"),
        thread_busy_recv=busy.mean(where=flows.role == "sink"),
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


def _drops(counters: ir.Table) -> ir.Table:
    def of_device(names: tuple[str, ...]) -> ir.BooleanValue:
        first, *others = (counters.name.endswith(f".{name}") for name in names)
        for other in others:
            first |= other
        return first & ~counters.name.contains(_DRIVER)

    receiving = (counters.role == "sink") & (
        counters.name.isin(_RECEIVER_DROPS) | of_device(_RECEIVER_DEVICE_DROPS)
    )
    sending = (counters.role == "source") & of_device(_SENDER_DEVICE_DROPS)
    return counters.group_by("trial_id").aggregate(
        host_dropped_packets=counters.value.sum(where=receiving | sending).cast("int64")
    )
