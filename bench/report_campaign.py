"""A synthetic archive of 600 trials, as a campaign of three and a half hours would leave it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pyarrow as pa

from flowsweep.archive import create_archive
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.defaults import SECOND_NS
from flowsweep.plan import parse_plan
from flowsweep.run.outcome import End, TrialOutcome, TrialRecord
from flowsweep.run.tables import COUNTERS_SCHEMA, FLOWS_SCHEMA
from flowsweep.schedule import schedule
from flowsweep.schedule.trial import Trial
from scale.traffic import MSS_BYTES, samples_of, tcp_parameters

SEED = 20010829
STARTED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECONDS_PER_TRIAL = 21
CORES = 2
COUNTERS = (
    "Tcp.RetransSegs", "TcpExt.TCPFastRetrans", "TcpExt.TCPLostRetransmit", "TcpExt.TCPSACKReorder",
    "TcpExt.TCPOrigDataSent", "TcpExt.TCPDelivered", "Ip.InReceives", "Ip.OutRequests", "Tcp.InSegs",
    "Tcp.OutSegs", "eth0.rx_bytes", "eth0.rx_packets", "eth0.tx_bytes", "eth0.tx_packets",
    "softnet.processed",
)  # fmt: skip
PLAN = """
[campaign]
name = "six hundred trials"
repeats = 10
seed = 1

[hosts.left]
[hosts.right]

[[sweep]]
name = "windows"
test = "tcp"
paths = [{ from = "left", to = "right" }]
directions = "both"
flows = [1, 2, 4, 8, 16]
window_sum = ["256KiB", "512KiB", "1MiB", "2MiB", "4MiB", "8MiB"]
congestion = "cubic"
duration = "10s"
omit = "2s"
"""


def write_campaign(folder: Path) -> int:
    """Write the archive: 10 s at 10 Hz each, 1 to 16 flows. Returns the number of trials."""
    plan = parse_plan(PLAN, "campaign.toml")
    with create_archive(folder, plan_json=plan.model_dump_json(), seed=SEED) as archive:
        archive.hosts(
            {host.name: {"hostname": host.name, "kernel": "6.18.0", "cpus": CORES} for host in plan.hosts}
        )
        trials = [trial for slot in schedule(plan, SEED) for trial in slot.trials]
        for place, trial in enumerate(trials):
            outcome = _outcome(trial, place)
            archive.started(trial.trial_id, 1, outcome.record.started_at)
            archive.finished(outcome)
        archive.compact()
    return len(trials)


def _outcome(trial: Trial, place: int) -> TrialOutcome:
    samples = samples_of(trial, seed=place)
    return TrialOutcome(
        record=_record(trial, place),
        samples=samples,
        flows=pa.Table.from_pylist(list(_flows(trial, samples)), schema=FLOWS_SCHEMA),
        cpu=pa.Table.from_pylist(list(_cpu(trial)), schema=pa.schema(NEEDED_FIELDS["cpu"])),
        counters=pa.Table.from_pylist(list(_counters(trial, place)), schema=COUNTERS_SCHEMA),
    )


def _record(trial: Trial, place: int) -> TrialRecord:
    started_at = STARTED_AT + timedelta(seconds=place * SECONDS_PER_TRIAL)

    def end(host: str, peer: str, window_bytes: int | None) -> End:
        return End(
            host=host, peer=peer, window_granted_bytes=2 * (window_bytes or 0), window_clipped=False,
            window_raised=False, congestion="cubic", mss_bytes=MSS_BYTES,
            rejected_connections=0, sample_rows_lost=0,
            origin_unix_ns=int(started_at.timestamp()) * SECOND_NS, clock_offset_ns=0,
            clock_bound_ns=0, throttled_us=0,
        )  # fmt: skip

    return TrialRecord(
        trial_id=trial.trial_id,
        attempt=1,
        trial=trial,
        status="ok",
        started_at=started_at,
        elapsed_ns=trial.parameters.duration_ns,
        failure=None,
        sources=(end(trial.src, trial.dst, tcp_parameters(trial).window_send_bytes),),
        sinks=(end(trial.dst, trial.src, tcp_parameters(trial).window_recv_bytes),),
    )


def _flows(trial: Trial, samples: pa.Table) -> Iterator[dict[str, object]]:
    totals = samples.group_by(["role", "flow"]).aggregate([("bytes", "sum"), ("end_ns", "max")])
    for row in totals.to_pylist():
        here, there = (trial.src, trial.dst) if row["role"] == "source" else (trial.dst, trial.src)
        yield {
            "host": here, "peer": there, "origin_ns": 0, "role": row["role"], "flow": row["flow"],
            "bytes": row["bytes_sum"], "first_byte_ns": 0, "end_ns": row["end_ns_max"], "end": "drained",
            "error": None, "local_port": 40_000 + row["flow"], "remote_port": 5_300, "cpu_user_us": 100_000,
            "cpu_system_us": 4_000_000, "cpu_elapsed_us": trial.parameters.duration_ns // 1_000,
            "cpu_voluntary_switches": 9, "cpu_involuntary_switches": 1,
        }  # fmt: skip


def _cpu(trial: Trial) -> Iterator[dict[str, object]]:
    length_us = trial.parameters.duration_ns // 1_000
    for (role, host), core in product((("source", trial.src), ("sink", trial.dst)), range(CORES)):
        yield {
            "role": role, "host": host, "peer": "", "kind": "core", "id": core, "start_ns": 0,
            "end_ns": trial.parameters.duration_ns, "user_us": length_us // 10, "system_us": length_us // 5,
            "softirq_us": length_us // 20, "irq_us": 0, "steal_us": 0, "idle_us": length_us // 2,
            "busy_us": length_us * 7 // 20, "voluntary_switches": None, "involuntary_switches": None,
        }  # fmt: skip


def _counters(trial: Trial, place: int) -> Iterator[dict[str, object]]:
    for (role, host), (number, name) in product(
        (("source", trial.src), ("sink", trial.dst)), enumerate(COUNTERS)
    ):
        yield {"host": host, "role": role, "name": name, "value": 7_919 * (number + 1) + place}
