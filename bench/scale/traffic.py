"""Samples of one synthetic trial, as an engine would have recorded them, from a seed alone.

Flows in slow start, then congestion windows that saw. What is lost is sent again in a recovery, which takes a
round trip, 0.4 of a sample interval: so often the sample ends within it. The counters of the kernel rise as
the bytes do. Values differ from sample to sample as much as real ones, since values that repeat would be
read faster.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from flowsweep.defaults import SECOND_NS
from flowsweep.schedule import TcpParameters, Trial

Column = np.ndarray[Any, Any]

MSS_BYTES = 1448
NO_THRESHOLD = 2_147_483_647
OPEN, RECOVERY = 0, 3
IDLE_COLUMNS = (
    "retransmits", "probes", "backoff", "delivery_rate_app_limited", "fastopen_client_fail", "fackets",
    "last_ack_sent_ms", "delivered_ce", "dsack_dups", "reord_seen", "rcv_ooopack", "rehash", "total_rto",
    "total_rto_time_ms", "received_ce", "delivered_e1_bytes", "delivered_e0_bytes", "delivered_ce_bytes",
    "received_e1_bytes", "received_e0_bytes", "received_ce_bytes",
)  # fmt: skip
"""What stays 0 on a path that is well."""
STEADY_COLUMNS = {
    "state": 1, "options": 7, "snd_wscale": 10, "rcv_wscale": 10, "ato_us": 40_000, "rto_us": 240_000,
    "pmtu_bytes": 1500, "advmss_bytes": MSS_BYTES, "reordering": 3, "snd_mss_bytes": MSS_BYTES,
    "rcv_mss_bytes": MSS_BYTES, "rcv_ssthresh_bytes": 65_535,
}  # fmt: skip
UNKNOWN_COLUMNS = (
    "max_pacing_rate_bytes_per_s", "bbr_bw_bytes_per_s", "bbr_min_rtt_us", "bbr_pacing_gain", "bbr_cwnd_gain",
)  # fmt: skip


def tcp_parameters(trial: Trial) -> TcpParameters:
    """Take what a trial of TCP was asked with, which all synthetic ones are."""
    if not isinstance(trial.parameters, TcpParameters):
        raise TypeError(f"{trial.trial_id}: found test {trial.test!r}, expected TCP")
    return trial.parameters


def samples_of(trial: Trial, seed: int) -> pa.Table:
    """Make a trial's samples: columns as in schema/samples.json, host and peer, flow by flow."""
    random = np.random.default_rng(seed)
    parameters = tcp_parameters(trial)
    count = (parameters.duration_ns + trial.pad_ns) // parameters.sample_interval_ns + 2
    shape = (parameters.flows, count)
    times = parameters.sample_interval_ns * np.arange(count + 1) + random.integers(0, 200_000, count + 1)
    window = parameters.window_send_bytes or 1 << 20
    rtt_us = 40_000 + random.integers(0, 3_000, shape)
    segments = _sawtooth(random, shape, window // MSS_BYTES)
    in_flight = np.minimum(segments * MSS_BYTES, window)
    carried = in_flight * parameters.sample_interval_ns // 1_000 // rtt_us
    acknowledged = np.cumsum(carried, axis=1)
    lost = random.random(shape) < 0.01
    again = np.cumsum(lost, axis=1)
    source = {
        "bytes": carried, "ca_state": np.where(lost & (random.random(shape) < 0.4), RECOVERY, OPEN),
        "snd_cwnd": segments + random.integers(0, 3, shape), "unacked": in_flight // MSS_BYTES,
        "sacked": np.zeros(shape), "lost": np.zeros(shape), "retrans": np.zeros(shape),
        "snd_ssthresh": np.where(np.arange(count) < 30, NO_THRESHOLD, segments),
        "rtt_us": rtt_us, "rttvar_us": random.integers(50, 900, shape),
        "min_rtt_us": np.minimum.accumulate(rtt_us, axis=1), "total_retrans": again,
        "bytes_retrans": again * MSS_BYTES, "bytes_acked": acknowledged + 1,
        "bytes_sent": acknowledged + in_flight + again * MSS_BYTES + 1,
        "notsent_bytes": random.integers(0, window, shape), "snd_wnd_bytes": np.full(shape, window),
        "delivery_rate_bytes_per_s": carried * SECOND_NS // parameters.sample_interval_ns,
        "pacing_rate_bytes_per_s": 2 * in_flight * 1_000_000 // rtt_us,
        "busy_time_us": np.broadcast_to(times[1:] // 1_000, shape),
        "rwnd_limited_us": np.cumsum(random.integers(0, 90_000, shape), axis=1),
        "sndbuf_limited_us": np.zeros(shape), "total_rto_recoveries": np.zeros(shape),
        "segs_out": acknowledged // MSS_BYTES + again, "segs_in": acknowledged // (2 * MSS_BYTES),
        "data_segs_out": acknowledged // MSS_BYTES + again, "delivered": acknowledged // MSS_BYTES,
        "last_data_recv_ms": np.broadcast_to(times[1:] // 1_000_000, shape),
    }  # fmt: skip
    sink = _sink_columns(random, carried, rtt_us, window)
    return _table(trial, times, source, sink)


def _sink_columns(
    random: np.random.Generator, carried: Column, rtt_us: Column, window: int
) -> dict[str, Column]:
    shape: tuple[int, ...] = carried.shape
    acknowledged = np.cumsum(carried, axis=1)
    read = np.maximum(carried + random.integers(-20_000, 20_000, shape), 0)
    read[:, -1] += acknowledged[:, -1] - read.sum(axis=1)
    return {
        "bytes": read, "bytes_received": acknowledged + 1, "rcv_rtt_us": rtt_us + 500,
        "rcv_space_bytes": random.integers(14_480, window, shape), "rcv_wnd_bytes": np.full(shape, window),
        "rtt_us": rtt_us + 1_000, "min_rtt_us": np.full(shape, 40_100), "rttvar_us": rtt_us // 90,
        "segs_in": acknowledged // MSS_BYTES, "data_segs_in": acknowledged // MSS_BYTES,
        "last_data_sent_ms": np.broadcast_to(100 * np.arange(shape[1]), shape),
        "snd_cwnd": np.full(shape, 10),
        "snd_ssthresh": np.full(shape, NO_THRESHOLD), "snd_wnd_bytes": np.full(shape, 65_535),
        "pacing_rate_bytes_per_s": 20 * MSS_BYTES * 1_000_000 // rtt_us,
    }  # fmt: skip


def _table(trial: Trial, times: Column, source: dict[str, Column], sink: dict[str, Column]) -> pa.Table:
    """Put both ends below each other, with what never changes beside them."""
    flows, count = source["bytes"].shape
    rows = flows * count
    kernel = [name for name in dict.fromkeys((*source, *sink)) if name != "bytes"]
    unset = np.zeros((flows, count))
    columns: dict[str, pa.Array] = {
        "role": pa.array(["source", "sink"]).take(pa.array(np.repeat([0, 1], rows))),
        "flow": _both(np.repeat(np.arange(flows), count), pa.int32()),
        "start_ns": _both(np.tile(times[:-1], flows)),
        "end_ns": _both(np.tile(times[1:], flows)),
        "bytes": _ends(source["bytes"], sink["bytes"]),
        **{name: _ends(source.get(name, unset), sink.get(name, unset)) for name in kernel},
        **{name: pa.repeat(pa.scalar(0, pa.int64()), 2 * rows) for name in IDLE_COLUMNS},
        **{name: pa.repeat(pa.scalar(value, pa.int64()), 2 * rows) for name, value in STEADY_COLUMNS.items()},
        **{name: pa.nulls(2 * rows, pa.int64()) for name in UNKNOWN_COLUMNS},
    }
    hosts = pa.array([trial.src, trial.dst])
    columns["host"] = hosts.take(pa.array(np.repeat([0, 1], rows)))
    columns["peer"] = hosts.take(pa.array(np.repeat([1, 0], rows)))
    return pa.table(columns)


def _sawtooth(random: np.random.Generator, shape: tuple[int, int], most: int) -> Column:
    """Congestion windows in segments: doubling at first, then between 70 and 100 % of `most`."""
    flows, count = shape
    start = np.minimum(10 * 2.0 ** np.minimum(np.arange(count), 30), most)
    phase = (np.arange(count) + random.integers(0, 100, (flows, 1))) % 100 / 100
    return np.maximum(np.minimum(start, most * (0.7 + 0.3 * phase)).astype(np.int64), 2)


def _both(values: Column, kind: pa.DataType | None = None) -> pa.Array:
    return pa.array(np.concatenate([values, values]), type=kind or pa.int64())


def _ends(source: Column, sink: Column) -> pa.Array:
    return pa.array(np.concatenate([source.ravel(), sink.ravel()]).astype(np.int64))
