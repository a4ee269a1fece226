"""Tables of an outcome that are none of the engines' own, column by column."""

import pyarrow as pa

COUNTERS_SCHEMA = pa.schema(
    [
        pa.field("host", pa.string(), nullable=False),
        # source or sink; of a host that only carries background traffic: background_source, background_sink
        pa.field("role", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),  # Tcp.RetransSegs, softnet.dropped, eth0.rx_dropped, …
        pa.field("value", pa.int64(), nullable=False),  # how much it rose while flows ran
    ]
)


LINKS_SCHEMA = pa.schema(
    [
        pa.field("link", pa.string(), nullable=False),
        pa.field("src", pa.string(), nullable=False),  # the direction: packets from this host
        pa.field("dst", pa.string(), nullable=False),
        pa.field("at_ns", pa.int64(), nullable=False),  # since the trial began; the first row is from before
        pa.field("at_unix_ns", pa.int64(), nullable=False),
        # Since the link was built; all packets are IP packets, as schema/emulation.json defines them
        pa.field("packets_in", pa.int64(), nullable=False),
        pa.field("bytes_in", pa.int64(), nullable=False),
        pa.field("packets_out", pa.int64(), nullable=False),
        pa.field("bytes_out", pa.int64(), nullable=False),
        pa.field("dropped_queue_packets", pa.int64(), nullable=False),
        pa.field("dropped_loss_packets", pa.int64(), nullable=False),
        pa.field("dropped_malformed_packets", pa.int64(), nullable=False),
        pa.field("dropped_overload_packets", pa.int64(), nullable=False),
        pa.field("device_dropped_packets", pa.int64(), nullable=False),
        pa.field("queue_bytes", pa.int64(), nullable=False),  # now
        pa.field("queue_packets", pa.int64(), nullable=False),  # now
        pa.field("queue_max_bytes", pa.int64(), nullable=False),  # since the row before
        pa.field("late_packets", pa.int64(), nullable=False),
        pa.field("late_max_us", pa.int64(), nullable=False),  # since the row before
        pa.field("reordered_packets", pa.int64(), nullable=False),
        pa.field("duplicated_packets", pa.int64(), nullable=False),
        # Null of a campaign that began before there were policers and cross traffic
        pa.field("dropped_policer_packets", pa.int64()),
        pa.field("cross_packets_in", pa.int64()),
        pa.field("cross_bytes_in", pa.int64()),
        pa.field("cross_dropped_packets", pa.int64()),
    ]
)


FLOWS_SCHEMA = pa.schema(  # What an engine always tells may be null of a trial that was imported
    [
        pa.field("host", pa.string(), nullable=False),
        pa.field("peer", pa.string(), nullable=False),  # the host at the flow's other end
        # This end's time origin on the trial's axis, which begins with the origin of the earliest sink
        pa.field("origin_ns", pa.int64(), nullable=False),
        pa.field("role", pa.string(), nullable=False),  # source or sink
        pa.field("flow", pa.int32(), nullable=False),
        pa.field("background", pa.string()),  # whose it is; null: the trial's own
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("first_byte_ns", pa.int64()),
        pa.field("end_ns", pa.int64(), nullable=False),
        pa.field("end", pa.string()),  # drained, drain_timeout, broken, stopped
        pa.field("error", pa.string()),
        pa.field("local_port", pa.int32()),
        pa.field("remote_port", pa.int32()),
        pa.field("cpu_user_us", pa.int64()),
        pa.field("cpu_system_us", pa.int64()),
        pa.field("cpu_elapsed_us", pa.int64()),
        pa.field("cpu_voluntary_switches", pa.int64()),
        pa.field("cpu_involuntary_switches", pa.int64()),
        # This host's clock minus the controller's, as it was estimated before, and how far that may be wrong
        pa.field("clock_offset_ns", pa.int64()),
        pa.field("clock_bound_ns", pa.int64()),
        # Of streams of datagrams, as `UdpCounts` in schema/messages.json defines them
        pa.field("udp_datagrams", pa.int64()),
        pa.field("udp_reordered", pa.int64()),
        pa.field("udp_reordering_extent_max", pa.int64()),
        pa.field("udp_duplicates", pa.int64()),
        pa.field("udp_late", pa.int64()),
        pa.field("udp_loss_bursts", pa.int64()),
        pa.field("udp_loss_burst_max", pa.int64()),
        pa.field("udp_socket_dropped", pa.int64()),
        pa.field("udp_refused", pa.int64()),
        pa.field("udp_jitter_ns", pa.int64()),
        pa.field("udp_delay_min_ns", pa.int64()),
        pa.field("udp_behind_max_ns", pa.int64()),
        pa.field("udp_burst_max", pa.int64()),
        # As the sink of another tool counts it, of whose source nothing may be known
        pa.field("udp_missing", pa.int64()),
    ]
)
