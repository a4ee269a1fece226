"""Synthetic trials of Multipath TCP with known answers, without an engine."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from analysis_support import BULK, SECOND_NS, STARTED_AT, Row, make_flows, make_record, make_samples, trial_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.run.outcome import Failure, TrialOutcome
from flowsweep.schedule import Trial
from flowsweep.schedule.tests.mptcp import MptcpParameters

OPENING_BYTES = 24
PATHS = (("10.0.0.1", "10.0.0.2"), ("10.0.1.1", "10.0.1.2"))
SECONDS = 4


def make_mptcp_trial(*, repeat: int = 1, **changes: Any) -> Trial:
    """Make a trial of 4 s from "a" to "b"; further keywords go to its parameters."""
    own = {
        "duration_ns": SECONDS * SECOND_NS, "congestion": "cubic", "no_delay": False, "fwmark": None,
        "subflows": None,
    }  # fmt: skip
    return trial_of(MptcpParameters(**(BULK | own | changes)), sweep="paths", repeat=repeat)


def make_mptcp_outcome(
    trial: Trial,
    carried: Sequence[int],
    *,
    retransmitted: int = 0,
    reinjected: int = 0,
    fell_back: bool = False,
) -> TrialOutcome:
    """Make an outcome of one flow.

    Args:
        trial: Of one flow.
        carried: Payload bytes a second, path by path as in `PATHS`.
        retransmitted: Bytes that each subflow sent once more, in the whole trial.
        reinjected: Bytes that MPTCP sent once more, in the whole trial.
        fell_back: The flow became plain TCP while it ran.
    """
    per_second = sum(carried)
    samples: list[Row] = [
        {
            "role": role,
            "flow": 0,
            "start_ns": at * SECOND_NS,
            "end_ns": (at + 1) * SECOND_NS,
            "bytes": per_second,
        }
        for role in ("source", "sink")
        for at in range(SECONDS)
    ]
    subflows = [
        {
            "host": "a", "peer": "b", "role": "source", "flow": 0, "subflow": number,
            "start_ns": at * SECOND_NS, "end_ns": (at + 1) * SECOND_NS,
            "local_address": PATHS[number - 1][0], "remote_address": PATHS[number - 1][1],
            "connection_sent_bytes": per_second * (at + 1) + OPENING_BYTES - reinjected,
            "connection_reinjected_bytes": reinjected, "bytes_sent": count * (at + 1) + retransmitted,
            "bytes_retrans": retransmitted, "total_retrans": retransmitted // 1000,
            "min_rtt_us": 1000 * number,
        }
        for number, count in enumerate(carried, start=1)
        for at in range(SECONDS)
    ]  # fmt: skip
    reason = Failure(phase="run", host="a", kind="fell_back_to_tcp", message="flow 0 fell back to TCP")
    ends = [{"role": role, "flow": 0, "bytes": SECONDS * per_second} for role in ("source", "sink")]
    return TrialOutcome(
        make_record(
            trial,
            status="incomplete" if fell_back else "ok",
            failure=reason if fell_back else None,
            started_at=STARTED_AT,
        ),
        samples=make_samples(samples),
        flows=make_flows(ends),
        of_tests={"subflows": pa.Table.from_pylist(subflows, schema=pa.schema(NEEDED_FIELDS["subflows"]))},
    )
