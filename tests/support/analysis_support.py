"""Synthetic trials with known answers: parameters, samples, outcomes, whole campaigns, without an engine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from flowsweep.archive import create_archive
from flowsweep.run.outcome import End, Failure, Status, TrialOutcome, TrialRecord
from flowsweep.run.tables import FLOWS_SCHEMA
from flowsweep.schedule import TcpParameters, Trial
from flowsweep.schedule.parameters import Parameters

SECOND_NS = 1_000_000_000
STARTED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

TCP_INFO_COLUMNS = (
    "rtt_us", "rttvar_us", "rto_us", "min_rtt_us", "snd_mss_bytes", "snd_cwnd", "snd_ssthresh", "unacked",
    "sacked", "lost", "retrans", "total_retrans", "bytes_sent", "bytes_retrans", "bytes_acked",
    "snd_wnd_bytes", "rcv_space_bytes", "delivery_rate_bytes_per_s", "notsent_bytes", "busy_time_us",
    "rwnd_limited_us", "sndbuf_limited_us", "ca_state", "total_rto_recoveries", "reord_seen", "rcv_ooopack",
    "pmtu_bytes", "advmss_bytes", "options",
)  # fmt: skip

SAMPLES_SCHEMA = pa.schema(
    [
        pa.field("role", pa.string(), nullable=False),
        pa.field("flow", pa.int32(), nullable=False),
        pa.field("start_ns", pa.int64(), nullable=False, metadata={"unit": "ns"}),
        pa.field("end_ns", pa.int64(), nullable=False, metadata={"unit": "ns"}),
        pa.field("bytes", pa.int64(), nullable=False, metadata={"unit": "bytes"}),
        pa.field("host", pa.string(), nullable=False),
        pa.field("peer", pa.string(), nullable=False),
        *(pa.field(name, pa.int64()) for name in TCP_INFO_COLUMNS),
    ]
)

Row = dict[str, Any]


def make_trial(  # the axes of a plan, each with a default
    *,
    sweep: str = "windows",
    repeat: int = 1,
    src: str = "a",
    dst: str = "b",
    sources: tuple[str, ...] = (),
    sinks: tuple[str, ...] = (),
    simultaneous: bool = False,
    window_sums_asked_bytes: tuple[int, ...] | None = None,
    window_capped: bool = False,
    **parameters: Any,
) -> Trial:
    """Make a trial; keywords not its own go to its parameters, `window_bytes` to both ends."""
    checked = make_parameters(**parameters)
    trial = Trial(
        sweep=sweep, repeat=repeat, src=src, dst=dst, sources=sources or (src,), sinks=sinks or (dst,),
        test="tcp", simultaneous=simultaneous, parameters=checked,
        window_sums_asked_bytes=window_sums_asked_bytes or (), window_capped=window_capped,
    )  # fmt: skip
    if window_sums_asked_bytes is None and trial.window_sum_bytes is not None:
        return trial.model_copy(update={"window_sums_asked_bytes": (trial.window_sum_bytes,)})
    return trial


BULK: dict[str, Any] = {
    "flows": 1, "window_send_bytes": None, "window_recv_bytes": None, "length_bytes": 1 << 18,
    "omit_ns": 0, "interval_ns": SECOND_NS, "sample_interval_ns": SECOND_NS, "rate_bps": None, "dscp": None,
    "affinity": (), "family": None, "clip_allowed": False, "drain_timeout_ns": 10 * SECOND_NS,
}  # fmt: skip
"""What the parameters of all tests have that send for a time, but for that time."""


def trial_of(parameters: Parameters, *, sweep: str, repeat: int = 1, src: str = "a", dst: str = "b") -> Trial:
    """Make a trial of any test from one host to another, with nothing of its own but its parameters."""
    return Trial(
        sweep=sweep, repeat=repeat, src=src, dst=dst, sources=(src,), sinks=(dst,), test=parameters.test,
        simultaneous=False, parameters=parameters, window_sums_asked_bytes=(), window_capped=False,
    )  # fmt: skip


def make_parameters(*, window_bytes: int | None = None, **changes: Any) -> TcpParameters:
    """Make parameters of five seconds with the first omitted and bins of a second, as changed."""
    settings: dict[str, Any] = {
        "flows": 1, "window_send_bytes": window_bytes, "window_recv_bytes": window_bytes,
        "length_bytes": 8192, "congestion": "cubic", "duration_ns": 5 * SECOND_NS,
        "omit_ns": SECOND_NS, "interval_ns": SECOND_NS,
        "sample_interval_ns": SECOND_NS // 10, "rate_bps": None, "pacing_rate_bps": None, "mss_bytes": None,
        "dscp": None, "no_delay": False, "affinity": (), "family": None, "mode": "copy",
        "clip_allowed": False, "drain_timeout_ns": 10 * SECOND_NS,
    }  # fmt: skip
    return TcpParameters(**(settings | changes))


def make_end(host: str, *, window_bytes: int | None, **changes: Any) -> End:
    """Make what an end had granted: on Linux twice the window asked for."""
    settings: dict[str, Any] = {
        "host": host, "peer": "", "clock_offset_ns": 0, "clock_bound_ns": 0,
        "window_granted_bytes": None if window_bytes is None else 2 * window_bytes,
        "window_clipped": False, "window_raised": False, "congestion": "cubic", "mss_bytes": 1448,
        "origin_unix_ns": int(STARTED_AT.timestamp()) * SECOND_NS, "rejected_connections": 0,
        "sample_rows_lost": 0,
    }  # fmt: skip
    return End(**(settings | changes))


def make_record(  # one finished attempt
    trial: Trial,
    *,
    attempt: int = 1,
    status: Status = "ok",
    failure: Failure | None = None,
    started_at: datetime = STARTED_AT,
) -> TrialRecord:
    """Make the journal's record of an attempt; a failed one has no ends."""
    parameters = trial.parameters
    pairs = () if status == "failed" else trial.pairs
    return TrialRecord(
        trial_id=trial.trial_id,
        attempt=attempt,
        trial=trial,
        status=status,
        started_at=started_at,
        elapsed_ns=parameters.duration_ns + SECOND_NS // 10,
        failure=failure,
        sources=tuple(
            make_end(src, peer=dst, window_bytes=parameters.window_send_bytes) for src, dst in pairs
        ),
        sinks=tuple(make_end(dst, peer=src, window_bytes=parameters.window_recv_bytes) for src, dst in pairs),
    )


def make_samples(rows: Iterable[Row]) -> pa.Table:
    """Make a table of samples from "a" to "b"; other columns that a row leaves out are null."""
    return pa.Table.from_pylist([_hosts(row) | row for row in rows], schema=SAMPLES_SCHEMA)


def make_flows(rows: Iterable[Row]) -> pa.Table:
    """Make a table of flows from "a" to "b": role, flow and bytes are needed, the rest is plausible."""
    usual: Row = {
        "origin_ns": 0, "first_byte_ns": 0, "end_ns": 5 * SECOND_NS, "end": "drained", "error": None,
        "local_port": 40000, "remote_port": 5300, "cpu_user_us": 100_000, "cpu_system_us": 400_000,
        "cpu_elapsed_us": 5_000_000, "cpu_voluntary_switches": 9, "cpu_involuntary_switches": 1,
    }  # fmt: skip
    return pa.Table.from_pylist([usual | _hosts(row) | row for row in rows], schema=FLOWS_SCHEMA)


def _hosts(row: Row) -> Row:
    host, peer = ("a", "b") if row["role"] == "source" else ("b", "a")
    return {"host": host, "peer": peer}


@dataclass(frozen=True)
class Steady:
    """Traffic that never changes: what each flow carries, and what the kernel says of it."""

    bytes_per_second: int = 12_500_000
    """Per flow; a multiple of the samples a second, so that every sample holds the same."""
    min_rtt_us: int = 40_000
    in_flight_bytes: int = 500_000
    retransmits: int = 7
    """Per flow, over the whole trial."""
    pad_ns: int = SECOND_NS // 10
    """How much longer than asked the source sends."""
    stagger_ns: int = 3_000_000
    """Each flow starts this much after the one before."""


def make_outcome(
    trial: Trial, steady: Steady | None = None, *, attempt: int = 1, started_at: datetime = STARTED_AT
) -> TrialOutcome:
    """Make an outcome that went well: every flow is steady until duration + pad after the last began."""
    steady = steady or Steady()
    samples: list[Row] = []
    flows: list[Row] = []
    for flow in range(trial.parameters.flows):
        rows = _steady_rows(trial.parameters, steady, flow)
        samples += rows
        total = sum(row["bytes"] for row in rows if row["role"] == "sink")
        flows += [{"role": role, "flow": flow, "bytes": total} for role in ("source", "sink")]
    record = make_record(trial, attempt=attempt, started_at=started_at)
    return TrialOutcome(record=record, samples=make_samples(samples), flows=make_flows(flows))


def _steady_rows(parameters: TcpParameters, steady: Steady, flow: int) -> list[Row]:
    step_ns = parameters.sample_interval_ns
    start_ns = flow * steady.stagger_ns
    stop_ns = parameters.flows * steady.stagger_ns + parameters.duration_ns + steady.pad_ns
    count = -(-(stop_ns - start_ns) // step_ns)
    per_row = steady.bytes_per_second * step_ns // SECOND_NS
    rows: list[Row] = []
    for index in range(count):
        acked = max(per_row * (index + 1) - steady.in_flight_bytes, 0)
        at = {
            "flow": flow,
            "start_ns": start_ns + index * step_ns,
            "end_ns": start_ns + (index + 1) * step_ns,
        }
        rows.append(at | {"role": "sink", "bytes": per_row, "rtt_us": steady.min_rtt_us + 100})
        rows.append(
            at
            | {
                "role": "source", "bytes": per_row, "rtt_us": steady.min_rtt_us + 100, "unacked": 300,
                "min_rtt_us": steady.min_rtt_us, "snd_mss_bytes": 1448, "snd_cwnd": 345, "bytes_retrans": 0,
                "total_retrans": steady.retransmits * (index + 1) // count, "bytes_acked": acked,
                "bytes_sent": acked + steady.in_flight_bytes, "snd_wnd_bytes": 1 << 20,
            }
        )  # fmt: skip
    return rows


def later(outcomes: Iterable[TrialOutcome], by: timedelta) -> list[TrialOutcome]:
    """The same, measured at another time: trials of another campaign."""
    return [
        replace(one, record=one.record.model_copy(update={"started_at": one.record.started_at + by}))
        for one in outcomes
    ]


def make_failed(trial: Trial, *, attempt: int = 1, started_at: datetime = STARTED_AT) -> TrialOutcome:
    """Make an outcome without traffic: the window was clipped at the source."""
    failure = Failure(
        phase="prepare",
        host=trial.src,
        kind="window_clipped",
        message="send window of 67108864 bytes asked, 8388608 granted; raise net.core.wmem_max to 67108864",
    )
    record = make_record(trial, attempt=attempt, status="failed", failure=failure, started_at=started_at)
    return TrialOutcome(record=record, samples=make_samples([]), flows=make_flows([]))


def make_incomplete(trial: Trial, *, started_at: datetime = STARTED_AT) -> TrialOutcome:
    """Make an outcome whose last flow broke in the middle: no interval after that is complete."""
    whole = make_outcome(trial, started_at=started_at)
    last, middle_ns = trial.parameters.flows - 1, trial.parameters.duration_ns // 2
    kept = [row for row in whole.samples.to_pylist() if row["flow"] != last or row["end_ns"] <= middle_ns]
    totals = {
        (role, flow): sum(row["bytes"] for row in kept if row["role"] == role and row["flow"] == flow)
        for role in ("source", "sink")
        for flow in range(trial.parameters.flows)
    }
    flows = [
        {"role": role, "flow": flow, "bytes": total, "end": "broken" if flow == last else "drained"}
        for (role, flow), total in totals.items()
    ]
    failure = Failure(
        phase="run", host=trial.src, kind="flow_broken", message=f"flow {last}: connection reset"
    )
    record = make_record(trial, status="incomplete", failure=failure, started_at=started_at)
    return replace(whole, record=record, samples=make_samples(kept), flows=make_flows(flows))


def make_campaign(
    *,
    flows: Sequence[int] = (1, 2, 4),
    window_sums: Sequence[int] = (1 << 18, 1 << 19, 1 << 20),
    lengths: Sequence[int] = (8192,),
    repeats: int = 1,
    rate_bps: int = 100_000_000,
    rtt_us: int = 40_000,
    with_failures: bool = True,
) -> list[TrialOutcome]:
    """Make a campaign over a grid, both directions: goodput is the smaller of window sum / RTT and rate.

    With failures, the last point's trial towards "b" has failed and the one towards "a" is incomplete.
    """
    points = list(product(range(1, repeats + 1), lengths, flows, window_sums))
    outcomes: list[TrialOutcome] = []
    for repeat, length, count, window_sum in points:
        last = with_failures and (repeat, length, count, window_sum) == points[-1]
        for src, dst in (("a", "b"), ("b", "a")):
            trial = make_trial(
                repeat=repeat, src=src, dst=dst, flows=count, length_bytes=length,
                window_bytes=window_sum // count, window_sums_asked_bytes=(window_sum,),
            )  # fmt: skip
            at = STARTED_AT + timedelta(seconds=6 * len(outcomes))
            if last:
                make = make_failed if dst == "b" else make_incomplete
                outcomes.append(make(trial, started_at=at))
                continue
            rate = min(rate_bps // 8, window_sum * 1_000_000 // rtt_us) * (100 if dst == "b" else 93) // 100
            per_flow = rate // count // 10 * 10
            steady = Steady(
                bytes_per_second=per_flow, min_rtt_us=rtt_us, in_flight_bytes=per_flow * rtt_us // 1_000_000
            )
            outcomes.append(make_outcome(trial, steady, started_at=at))
    return outcomes


def write_archive(
    folder: Path,
    outcomes: Iterable[TrialOutcome],
    *,
    plan_json: str = "{}",
    seed: int = 1,
    facts: dict[str, dict[str, object]] | None = None,
) -> Path:
    """Write outcomes as the archive of a finished campaign, without other facts between hosts "a" and "b"."""
    usual: dict[str, dict[str, object]] = {
        host: {
            "hostname": host, "kernel": "6.18.0", "architecture": "x86_64", "cpu_model": "Example CPU",
            "cpus": 2, "memory_bytes": 24 << 30, "congestion_default": "cubic",
            "congestion_available": ["cubic", "reno"], "tcp_info_bytes": 280, "engine_version": "0.1.0",
            "sysctls": {"net.core.rmem_max": "212992", "net.core.wmem_max": "212992"},
        }
        for host in ("a", "b")
    }  # fmt: skip
    with create_archive(folder, plan_json=plan_json, seed=seed) as archive:
        archive.hosts(usual if facts is None else facts)
        for outcome in outcomes:
            record = outcome.record
            archive.started(record.trial_id, record.attempt, record.started_at)
            archive.finished(outcome)
        archive.compact()
    return folder
