"""Synthetic trials of QUIC with known answers, without an engine."""

from typing import Any

import pyarrow as pa

from analysis_support import BULK, SECOND_NS, STARTED_AT, Row, make_flows, make_record, make_samples, trial_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import Trial
from flowsweep.schedule.tests.quic import QuicParameters

SECONDS = 4
BYTES_PER_SECOND = 1_000_000


def make_quic_trial(*, repeat: int = 1, **changes: Any) -> Trial:
    """Make a trial of 4 s from "a" to "b"; further keywords go to its parameters."""
    own = {
        "duration_ns": SECONDS * SECOND_NS, "congestion": "cubic", "streams_per_flow": 1,
        "stream_window_bytes": None, "datagram_bytes": None, "gso": True,
    }  # fmt: skip
    return trial_of(QuicParameters(**(BULK | own | changes)), sweep="quic", repeat=repeat)


def make_quic_outcome(
    trial: Trial, *, congestion_us: int = 0, windows_us: int = 0, application_us: int = 0, lost: int = 0
) -> TrialOutcome:
    """Make an outcome of one flow of 8 Mbit/s, with what held its source back in each second."""
    samples: list[Row] = [
        {
            "role": role, "flow": 0, "start_ns": at * SECOND_NS, "end_ns": (at + 1) * SECOND_NS,
            "bytes": BYTES_PER_SECOND,
        }
        for role in ("source", "sink")
        for at in range(SECONDS)
    ]  # fmt: skip
    quic = [
        {
            "host": "a", "peer": "b", "role": "source", "flow": 0,
            "start_ns": at * SECOND_NS, "end_ns": (at + 1) * SECOND_NS, "min_rtt_us": 20_000 - at,
            "packets_lost": lost * (at + 1), "bytes_lost": 1000 * lost * (at + 1),
            "datagrams_sent": 1000 * (at + 1), "datagram_bytes_sent": 1_050_000 * (at + 1),
            "congestion_limited_us": congestion_us * (at + 1),
            "flow_control_limited_us": windows_us * (at + 1),
            "application_limited_us": application_us * (at + 1),
        }
        for at in range(SECONDS)
    ]  # fmt: skip
    ends = [{"role": role, "flow": 0, "bytes": SECONDS * BYTES_PER_SECOND} for role in ("source", "sink")]
    return TrialOutcome(
        make_record(trial, started_at=STARTED_AT),
        samples=make_samples(samples),
        flows=make_flows(ends),
        of_tests={"quic": pa.Table.from_pylist(quic, schema=pa.schema(NEEDED_FIELDS["quic"]))},
    )
