"""How busy each core was during a trial, and with what."""

import ibis.expr.types as ir

_PARTS = ("busy", "user", "system", "softirq", "irq", "steal")


def core_loads(cpu: ir.Table) -> ir.Table:
    """Sum up the time of each core over a trial.

    Args:
        cpu: As in an archive; its columns are those of schema/cpu.json, times in microseconds.

    Returns:
        One row per trial, role, host and core: trial_id, role ("source" or "sink", of hosts that only carry
        companions "companion_source" or "companion_sink"), host, core (its number),
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
