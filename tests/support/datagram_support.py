"""Synthetic trials of datagrams with known answers, without an engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from analysis_support import BULK, SECOND_NS, STARTED_AT, Row, make_flows, make_record, make_samples, trial_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.run.outcome import Failure, TrialOutcome
from flowsweep.run.tables import COUNTERS_SCHEMA
from flowsweep.schedule import Trial, UdpParameters

LENGTH_BYTES = 1000
MILLISECOND_NS = 1_000_000


@dataclass(frozen=True)
class Stream:
    """What became of one flow's datagrams, the same in each second."""

    sent: int = 1000
    """Datagrams a second."""
    lost: int = 0
    duplicates: int = 0
    reordered: int = 0
    extent: int = 0
    late: int = 0
    bursts: int = 0
    longest_burst: int = 0
    socket_dropped: int | None = 0
    """In the whole trial, as all below."""
    refused: int | None = 0
    jitter_ns: int = 50_000
    delay_min_ns: int = 20 * MILLISECOND_NS
    """By the wall clocks."""
    broken_at_s: int | None = None
    """The second from which on nothing comes."""


def make_udp_trial(**changes: Any) -> Trial:
    """Make a trial of 4 s with datagrams of 1000 bytes; keywords not its own go to its parameters."""
    own: dict[str, Any] = {"sweep": "datagrams", "repeat": 1, "src": "a", "dst": "b"}
    own |= {name: changes.pop(name) for name in tuple(changes) if name in own}
    settings = BULK | {
        "duration_ns": 4 * SECOND_NS, "length_bytes": LENGTH_BYTES, "rate_bps": 8_000_000,
        "spacing_ns": None, "gso": True, "gro": False, "drain_timeout_ns": SECOND_NS // 2,
    }  # fmt: skip
    return trial_of(UdpParameters(**(settings | changes)), **own)


def make_udp_outcome(
    trial: Trial,
    streams: Sequence[Stream],
    *,
    delays: Sequence[tuple[int, int, int]] = (),
    spacings: Sequence[tuple[str, int, int, int]] = (),
    softnet_dropped: int = 0,
    device_dropped: int = 0,
    stray: int = 0,
    send_errors: int | None = None,
    clock_offset_ns: int = 0,
    clock_bound_ns: int = 0,
) -> TrialOutcome:
    """Make an outcome: flow by flow what became of its datagrams.

    Args:
        trial: With as many flows as there are streams.
        streams: One for each flow.
        delays: Steps of the sink's histogram of delays, of flow 0: low, high, count.
        spacings: Steps of histograms of gaps, of flow 0: role, low, high, count.
        softnet_dropped: Packets that the sink's kernel dropped before any socket.
        device_dropped: Packets that the ring of the sink's device had no room for, told by two counters.
        stray: Frames that nobody asked for, which one of these counts as well.
        send_errors: What the source's kernel did not take or dropped; None: nobody watched the hosts.
        clock_offset_ns: How far the sink's clock is ahead of the controller's.
        clock_bound_ns: How far the estimate of either clock may be wrong.
    """
    samples, rows, flows = _told(streams, trial, clock_offset_ns, clock_bound_ns)
    histograms = [
        *(_step("sink", "delay", *step) for step in delays),
        *(_step(role, "spacing", *step) for role, *step in spacings),
    ]
    counters = _counters(softnet_dropped or None, device_dropped, stray, send_errors)
    broken = sum(stream.broken_at_s is not None for stream in streams)
    failure = Failure(
        phase="run",
        host="b",
        kind="flows_broken",
        message=f"{broken} of {len(streams)} flows broke: flow 0: no datagram for 10 s",
    )
    status = "incomplete" if broken else "ok"
    record = make_record(trial, status=status, failure=failure if broken else None, started_at=STARTED_AT)
    ends = {
        name: tuple(
            end.model_copy(
                update={"congestion": None, "gso": trial.parameters.gso, "gro": trial.parameters.gro}
            )
            for end in getattr(record, name)
        )
        for name in ("sources", "sinks")
    }
    return TrialOutcome(
        record.model_copy(update=ends),
        samples=make_samples(samples),
        flows=make_flows(flows),
        counters=pa.Table.from_pylist(counters, schema=COUNTERS_SCHEMA),
        of_tests={"datagrams": _table("datagrams", rows), "histograms": _table("histograms", histograms)},
    )


def _counters(
    softnet_dropped: int | None, device_dropped: int, stray: int, send_errors: int | None
) -> list[Row]:
    """What rose at the hosts, as far as somebody watched."""
    rose = (
        ("b", "sink", "softnet.dropped", softnet_dropped),
        ("b", "sink", "eth0.rx_dropped", device_dropped + stray or None),
        ("b", "sink", "eth0.rx_missed_errors", device_dropped or None),
        ("a", "source", "Udp.SndbufErrors", send_errors),
    )
    return [
        {"host": host, "role": role, "name": name, "value": value}
        for host, role, name, value in rose
        if value is not None
    ]


def _told(
    streams: Sequence[Stream], trial: Trial, clock_offset_ns: int, clock_bound_ns: int
) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of samples, of datagrams and of flows."""
    seconds = trial.parameters.duration_ns // SECOND_NS + 1
    samples: list[Row] = []
    rows: list[Row] = []
    flows: list[Row] = []
    for flow, stream in enumerate(streams):
        alive = seconds if stream.broken_at_s is None else stream.broken_at_s
        for second in range(seconds):
            at = {"flow": flow, "start_ns": second * SECOND_NS, "end_ns": (second + 1) * SECOND_NS}
            came = stream.sent - stream.lost
            if second >= alive:
                break
            for role, count in (("source", stream.sent), ("sink", came)):
                samples.append(at | {"role": role, "bytes": count * LENGTH_BYTES})
            rows.append(at | _source(stream.sent))
            rows.append(at | _sink(stream, came))
        flows += _ends(stream, flow, alive, clock_offset_ns, clock_bound_ns)
    return samples, rows, flows


def _ends(stream: Stream, flow: int, seconds: int, offset_ns: int, bound_ns: int) -> list[Row]:
    came = (stream.sent - stream.lost) * seconds
    end = "drained" if stream.broken_at_s is None else "broken"
    common = {"flow": flow, "end": end, "clock_bound_ns": bound_ns}
    return [
        common
        | {
            "role": "source", "bytes": stream.sent * seconds * LENGTH_BYTES, "clock_offset_ns": 0,
            "udp_datagrams": stream.sent * seconds, "udp_refused": stream.refused,
            "udp_behind_max_ns": 90_000, "udp_burst_max": 3,
        },
        common
        | {
            "role": "sink", "bytes": came * LENGTH_BYTES, "clock_offset_ns": offset_ns,
            "udp_datagrams": came, "udp_duplicates": stream.duplicates * seconds,
            "udp_reordered": stream.reordered * seconds, "udp_reordering_extent_max": stream.extent,
            "udp_late": stream.late, "udp_loss_bursts": stream.bursts,
            "udp_loss_burst_max": stream.longest_burst, "udp_socket_dropped": stream.socket_dropped,
            "udp_jitter_ns": stream.jitter_ns, "udp_delay_min_ns": stream.delay_min_ns,
        },
    ]  # fmt: skip


def _source(sent: int) -> Row:
    return {"role": "source", "datagrams": sent, "reordered": 0, "duplicates": 0, "missing": 0}


def _sink(stream: Stream, came: int) -> Row:
    return {
        "role": "sink", "datagrams": came, "reordered": stream.reordered, "duplicates": stream.duplicates,
        "missing": stream.lost, "jitter_ns": stream.jitter_ns, "delay_min_ns": stream.delay_min_ns,
        "delay_mean_ns": stream.delay_min_ns + MILLISECOND_NS,
        "delay_max_ns": stream.delay_min_ns + 2 * MILLISECOND_NS,
    }  # fmt: skip


def _step(role: str, quantity: str, low: int, high: int, count: int) -> Row:
    return {"role": role, "flow": 0, "quantity": quantity, "low": low, "high": high, "count": count}


def _table(name: str, rows: Sequence[Row]) -> pa.Table:
    hosts = {"source": ("a", "b"), "sink": ("b", "a")}
    whole = [dict(zip(("host", "peer"), hosts[row["role"]], strict=True)) | row for row in rows]
    return pa.Table.from_pylist(whole, schema=pa.schema(NEEDED_FIELDS[name]))
