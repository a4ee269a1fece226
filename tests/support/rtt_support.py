"""Synthetic trials with questions for the round-trip time, without an engine."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from analysis_support import SECOND_NS, STARTED_AT, make_end, make_flows, make_samples, trial_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.run.outcome import TrialOutcome, TrialRecord
from flowsweep.schedule import RttParameters, Trial

MILLISECOND_NS = 1_000_000
Question = tuple[int, float | None]
"""When it was sent, in ms from the start, and how long the answer took, in ms; None: lost."""


def make_rtt_trial(**changes: Any) -> Trial:
    """Make a trial of 1 s; keywords not its own go to its parameters."""
    own: dict[str, Any] = {"sweep": "rtt", "repeat": 1, "src": "a", "dst": "b"}
    own |= {name: changes.pop(name) for name in tuple(changes) if name in own}
    settings: dict[str, Any] = {
        "duration_ns": SECOND_NS, "echo": "auto", "sizes_bytes": (64,), "every_ns": 10 * MILLISECOND_NS,
        "poisson": False, "seed": 1, "timeout_ns": SECOND_NS, "dscp": None,
    }  # fmt: skip
    return trial_of(RttParameters(**(settings | changes)), **own)


def make_echoes(questions: Sequence[Question], *, echo: str = "udp", size_bytes: int = 64) -> pa.Table:
    """Make the table of a source's questions."""
    rows = [
        {
            "host": "a", "peer": "b", "role": "source", "flow": 0, "sequence": sequence, "echo": echo,
            "size_bytes": size_bytes, "sent_ns": sent_ms * MILLISECOND_NS,
            "rtt_ns": None if rtt_ms is None else round(rtt_ms * MILLISECOND_NS),
        }
        for sequence, (sent_ms, rtt_ms) in enumerate(questions)
    ]  # fmt: skip
    more = (pa.field("role", pa.string()), pa.field("flow", pa.int32()))
    return pa.Table.from_pylist(rows, schema=pa.schema([*NEEDED_FIELDS["echoes"], *more]))


def make_rtt_outcome(trial: Trial, questions: Sequence[Question], **echoes: Any) -> TrialOutcome:
    """Make what a trial of test rtt leaves behind."""
    ends = {
        name: (make_end(host, peer=peer, window_bytes=None, congestion=None, mss_bytes=None),)
        for name, host, peer in (("sources", trial.src, trial.dst), ("sinks", trial.dst, trial.src))
    }
    record = TrialRecord(
        trial_id=trial.trial_id, attempt=1, trial=trial, status="ok", started_at=STARTED_AT,
        elapsed_ns=2 * SECOND_NS, failure=None, **ends,
    )  # fmt: skip
    flows = make_flows({"role": role, "flow": 0, "bytes": 64} for role in ("source", "sink"))
    of_tests = {"echoes": make_echoes(questions, **echoes)}
    return TrialOutcome(record=record, samples=make_samples([]), flows=flows, of_tests=of_tests)
