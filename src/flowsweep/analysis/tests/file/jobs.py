"""What each trial of files did: how long it took, and which stage the others waited for."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import not_below_0

_ENDS = ("source", "sink")
_SUMS = (
    "storage_bytes", "files", "storage_call_ns", "sync_call_ns", "waits_for_storage_ns",
    "waits_for_network_ns", "storage_cpu_us",
)  # fmt: skip


def file_facts(storage: ir.Table, devices: ir.Table, flows: ir.Table) -> ir.Table:
    """Sum up the flows of each trial of files, and the devices below them.

    Args:
        storage: As in an archive.
        devices: As in an archive.
        flows: As in an archive.

    Returns:
        One row per trial with files: trial_id; job_s (float64: from when sources began to read until
        the last of the sinks' flows had all of its files written and synced), files_moved (int64),
        source_storage_share, network_share, sink_storage_share, source_storage_idle_share,
        sink_storage_idle_share, source_storage_call_share, sink_storage_call_share, sync_share,
        source_storage_cpu_share, sink_storage_cpu_share,
        source_device_bytes_per_byte, sink_device_bytes_per_byte,
        source_device_busy_share, sink_device_busy_share (float64), source_file_system, sink_file_system.

    Method:
        Of the time of all flows, the source's storage has what the source's network thread waited for it;
        the sink's storage what the sink's network thread waited for it, and what was left to do when the
        last byte had arrived; the network has the rest. Who waits for whom shows the slower one, however
        fast both are; a socket's buffer lets the network's own thread go on for a moment.
    """
    jobs = _jobs(flows, storage)
    totals = storage.group_by("trial_id").aggregate(
        **{
            f"{end}_{name}": storage[name].sum(where=storage.role == end).cast("float64")
            for end in _ENDS
            for name in _SUMS
        }
    )
    below = _devices(devices)
    joined = totals.left_join(jobs, "trial_id").left_join(below, "trial_id", rname="{name}_below")
    time_ns = joined.time_ns.nullif(0.0)
    reading = _share(joined.source_waits_for_storage_ns / time_ns)
    writing = _share((joined.sink_waits_for_storage_ns + joined.left_ns) / time_ns)
    waited = reading + writing
    both = ibis.cases((waited > 1, waited), (waited <= 1, 1.0))
    return joined.select(
        "trial_id",
        job_s=joined.job_ns.cast("float64") / 1e9,
        files_moved=joined.sink_files.cast("int64"),
        source_storage_share=reading / both,
        network_share=(waited > 1).ifelse(0.0, 1 - reading - writing),
        sink_storage_share=writing / both,
        **{
            f"{end}_storage_idle_share": _share(joined[f"{end}_waits_for_network_ns"] / time_ns)
            for end in _ENDS
        },
        **{f"{end}_storage_call_share": _share(joined[f"{end}_storage_call_ns"] / time_ns) for end in _ENDS},
        sync_share=_share(joined.sink_sync_call_ns / time_ns),
        **{f"{end}_storage_cpu_share": joined[f"{end}_storage_cpu_us"] * 1000 / time_ns for end in _ENDS},
        source_device_bytes_per_byte=joined.source_read_bytes / joined.source_storage_bytes.nullif(0.0),
        sink_device_bytes_per_byte=joined.sink_written_bytes / joined.sink_storage_bytes.nullif(0.0),
        source_device_busy_share=joined.source_busy_share,
        sink_device_busy_share=joined.sink_busy_share,
        source_file_system=joined.source_file_system,
        sink_file_system=joined.sink_file_system,
    )


def with_jobs(rows: ir.Table) -> ir.Table:
    """Settle the goodput of trials of files: what was written, over the time until all of it was there.

    Args:
        rows: One row per trial, with columns as in a summary and those of `file_facts`.

    Returns:
        The rows; goodput_bps and goodput_mean_bps of jobs that moved bytes; job_bytes (int64: what there was
        to do between all pairs of hosts; null of files that were there), job_moved_share (float64: the part
        of it that was moved).
    """
    job = (rows.goodput_method == "job_mean") & (rows.status != "failed")
    rate_bps = rows.bytes.cast("float64") * 8 / rows.job_s.nullif(0.0)
    asked = rows.file_size_bytes * rows.files
    pairs = (rows.flows.cast("float64") / rows.flows_per_pair).round().cast("int64")
    job_bytes = asked * pairs
    return rows.mutate(
        goodput_bps=job.ifelse(rate_bps, rows.goodput_bps),
        goodput_mean_bps=job.ifelse(rate_bps, rows.goodput_mean_bps),
        job_bytes=job_bytes,
        job_moved_share=job.ifelse(rows.bytes.cast("float64") / job_bytes.nullif(0), ibis.null("float64")),
    )


def _jobs(flows: ir.Table, storage: ir.Table) -> ir.Table:
    """Per trial: how long it took, and of all its flows their time and what was left when no more arrived.

    The ends of one pair of hosts have origins of their own, which differ by the controller's round trips: so
    a job lasts as long as the first source needs until it has sent a byte, and from when the first sink has
    one. How long that byte was under way is in neither.
    """
    own = flows.semi_join(storage.select("trial_id").distinct(), "trial_id")
    ends = own.group_by("trial_id").aggregate(
        begun_ns=(own.first_byte_ns + own.origin_ns).min(where=own.role == "sink")
        - own.first_byte_ns.min(where=own.role == "source").coalesce(0),
        over_ns=(own.end_ns + own.origin_ns).max(where=own.role == "sink"),
    )
    left = _left(own, storage).inner_join(ends.select("trial_id", "begun_ns"), "trial_id")
    times = left.group_by("trial_id").aggregate(
        left_ns=left.left_ns.sum().cast("float64"),
        time_ns=(left.end_ns + left.origin_ns - left.begun_ns).sum().cast("float64"),
    )
    return ends.inner_join(times, "trial_id").select(
        "trial_id", "left_ns", "time_ns", job_ns=ends.over_ns - ends.begun_ns
    )


def _left(flows: ir.Table, storage: ir.Table) -> ir.Table:
    """Per flow of a sink that anything arrived on: how long its storage thread was alone at the end.

    What the network thread's calls and waits take together is how long it was there; it ended within the last
    row in which it did anything, whatever was missed of it.
    """
    rows = storage.filter(storage.role == "sink")
    there_ns = rows.network_call_ns + rows.waits_for_storage_ns
    active = there_ns + rows.network_bytes > 0
    seen = rows.group_by("trial_id", "flow").aggregate(
        there_ns=there_ns.sum().cast("int64"),
        from_ns=rows.start_ns.max(where=active),
        to_ns=rows.end_ns.max(where=active),
    )
    sinks = flows.filter((flows.role == "sink") & flows.first_byte_ns.notnull())
    timed = sinks.select("trial_id", "flow", "origin_ns", "end_ns").left_join(seen, ["trial_id", "flow"])
    by_calls = ibis.greatest(timed.end_ns - timed.there_ns, timed.end_ns - timed.to_ns)
    within = ibis.least(by_calls, timed.end_ns - timed.from_ns)
    return timed.select("trial_id", "origin_ns", "end_ns", left_ns=not_below_0(within).coalesce(0))


def _devices(devices: ir.Table) -> ir.Table:
    """Per trial: what the devices of each end did; bytes are null unless all hosts of that end have one."""
    watched_us = (devices.end_ns - devices.start_ns).cast("float64") / 1000
    timed = devices.busy_us.notnull()
    of_pairs = devices.group_by("trial_id", "role", "host", "peer").aggregate(
        read_bytes=devices.read_bytes.sum().cast("float64"),
        written_bytes=devices.written_bytes.sum().cast("float64"),
        busy_us=devices.busy_us.sum(where=timed).cast("float64"),
        watched_us=watched_us.sum(where=timed),
        file_system=devices.file_system.max(),
    )
    # Each pair of a host tells of all that its device did.
    hosts = of_pairs.group_by("trial_id", "role", "host").aggregate(
        **{
            name: of_pairs[name].max()
            for name in ("read_bytes", "written_bytes", "busy_us", "watched_us", "file_system")
        }
    )

    def moved(bytes_moved: ir.FloatingColumn, end: str) -> ir.FloatingValue:
        of_end = hosts.role == end
        seen = bytes_moved.count(where=of_end) == hosts.host.count(where=of_end)
        return ibis.cases((seen, bytes_moved.sum(where=of_end)))

    def busy(end: str) -> ir.FloatingValue:
        of_end = hosts.role == end
        return hosts.busy_us.sum(where=of_end) / hosts.watched_us.sum(where=of_end).nullif(0.0)

    return hosts.group_by("trial_id").aggregate(
        source_read_bytes=moved(hosts.read_bytes, "source"),
        sink_written_bytes=moved(hosts.written_bytes, "sink"),
        **{f"{end}_busy_share": busy(end) for end in _ENDS},
        **{f"{end}_file_system": hosts.file_system.max(where=hosts.role == end) for end in _ENDS},
    )


def _share(value: ir.FloatingValue) -> ir.FloatingValue:
    """Return the value, at most 1; null stays null, which `least` of some backends leaves out."""
    return (value > 1).ifelse(1.0, value)
