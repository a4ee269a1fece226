"""From the reports of both ends to the outcome of a trial. No session, no waiting."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pyarrow as pa

from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import FlowReport, Report
from flowsweep.run.attempt import Attempt
from flowsweep.run.end import TrialEnd
from flowsweep.run.outcome import (
    COUNTERS_SCHEMA,
    FLOWS_SCHEMA,
    End,
    Failure,
    Status,
    TrialOutcome,
    TrialRecord,
)

_PHASES = ("prepare", "listen", "connect", "run", "drain", "report")
_ECHOES = ("broken", "ended_early", "stopped")
"""What an end sees when the other one gave up."""


def outcome_of(attempt: Attempt, source: TrialEnd, sink: TrialEnd, failure: Failure | None) -> TrialOutcome:
    """What a trial came to.

    Args:
        attempt: the trial, and which attempt at it.
        source: the sending end.
        sink: the receiving end.
        failure: what kept the trial from its two reports, if anything did.
    """
    results = [end.result for end in (source, sink) if end.result is not None]
    shortfall = _shortfall(source, sink) if failure is None else failure
    status: Status = "failed" if failure is not None else "ok" if shortfall is None else "incomplete"
    record = _record(attempt, status, shortfall, (_end(source), _end(sink)))
    return TrialOutcome(
        record,
        samples=_joined([result.samples for result in results]),
        flows=_flows(results),
        cpu=_joined([result.cpu for result in results]),
        counters=_counters(results),
    )


def unreachable(attempt: Attempt, host: str, reason: str) -> TrialOutcome:
    """The outcome of a trial whose host has no engine to talk to."""
    failure = Failure(phase="prepare", host=host, kind="host_unreachable", message=reason)
    return TrialOutcome(_record(attempt, "failed", failure, (None, None)), _joined([]), _flows([]))


def simultaneous(outcomes: Sequence[TrialOutcome]) -> list[TrialOutcome]:
    """What the trials of one slot came to: one that is whole is none if another one did not run beside it.

    Args:
        outcomes: of trials that were to run at the same time; a single one stays as it is.
    """
    broken = next((outcome.record for outcome in outcomes if outcome.record.failure is not None), None)
    return [
        outcome if broken is None or outcome.record.failure is not None else _left_alone(outcome, broken)
        for outcome in outcomes
    ]


def _left_alone(outcome: TrialOutcome, broken: TrialRecord) -> TrialOutcome:
    src, dst, failure = broken.trial.src, broken.trial.dst, broken.failure
    reason = f"the trial from {src} to {dst}, at the same time, is {broken.status}: {failure}"
    alone = Failure(phase="run", host=src, kind="not_simultaneous", message=reason)
    return replace(
        outcome, record=outcome.record.model_copy(update={"status": "incomplete", "failure": alone})
    )


def _record(
    attempt: Attempt, status: Status, failure: Failure | None, ends: tuple[End | None, End | None]
) -> TrialRecord:
    return TrialRecord(
        trial_id=attempt.trial.trial_id,
        attempt=attempt.number,
        trial=attempt.trial,
        status=status,
        started_at=attempt.started_at,
        elapsed_ns=attempt.elapsed_ns,
        failure=failure,
        source=ends[0],
        sink=ends[1],
    )


def _shortfall(source: TrialEnd, sink: TrialEnd) -> Failure | None:
    """Why a trial that has both reports is not whole."""
    return _incomplete(source, sink) or _bytes_differ(source, sink) or _rows_missing(source, sink)


def _end(end: TrialEnd) -> End | None:
    """What the journal keeps of one end; nothing if its flows never stood."""
    if end.granted is None:
        return None
    report = None if end.result is None else end.result.report
    return End(
        host=end.access.name,
        window_granted_bytes=end.granted.window_bytes,
        window_clipped=end.granted.window_clipped,
        window_raised=end.granted.window_raised,
        congestion=end.granted.congestion,
        mss_bytes=end.granted.mss_bytes,
        origin_unix_ns=None if report is None else report.origin_unix_ns,
        strangers=0 if report is None else sum(report.strangers.model_dump().values()),
        sample_rows_lost=0 if report is None else report.sample_rows_lost,
        throttled_us=None if report is None else report.throttled_us,
    )


def _joined(pieces: list[pa.Table | None]) -> pa.Table:
    """A table of the engines, from all ends; one without columns if there is none.

    Engines of different versions may have recorded different columns: what one has not is null.
    """
    tables = [piece for piece in pieces if piece is not None]
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def _counters(results: list[EndReport]) -> pa.Table:
    """One row for each end and counter that rose, in COUNTERS_SCHEMA."""
    rows = [
        {"role": result.report.role, "name": name, "value": value}
        for result in results
        for name, value in result.report.counters.items()
    ]
    return pa.Table.from_pylist(rows, schema=COUNTERS_SCHEMA)


def _flows(results: list[EndReport]) -> pa.Table:
    """One row for each flow and end, in FLOWS_SCHEMA."""
    rows = [_flow_row(result.report.role, flow) for result in results for flow in result.report.flows]
    return pa.Table.from_pylist(rows, schema=FLOWS_SCHEMA)


def _flow_row(role: Literal["source", "sink"], flow: FlowReport) -> dict[str, object]:
    cpu = {f"cpu_{name}": value for name, value in flow.cpu.model_dump().items()}
    return {"role": role, **flow.model_dump(exclude={"cpu"}), **cpu}


def _report(end: TrialEnd) -> Report:
    if end.result is None:
        raise ValueError(f"{end.access.name} has not reported")
    return end.result.report


def _incomplete(source: TrialEnd, sink: TrialEnd) -> Failure | None:
    """What an end says itself: a cause before its echo at the other end, then what was earlier."""
    said = [
        end.failure(incomplete.phase, incomplete.kind, incomplete.message)
        for end in (source, sink)
        if (incomplete := _report(end).incomplete) is not None
    ]
    return min(
        said, key=lambda failure: (failure.kind in _ECHOES, _PHASES.index(failure.phase)), default=None
    )


def _bytes_differ(source: TrialEnd, sink: TrialEnd) -> Failure | None:
    sent = {flow.flow: flow.bytes for flow in _report(source).flows}
    read = {flow.flow: flow.bytes for flow in _report(sink).flows}
    different = [flow for flow in sorted(sent | read) if sent.get(flow) != read.get(flow)]
    if not different:
        return None
    first = different[0]
    message = (
        f"{len(different)} of {len(sent | read)} flows: bytes written and bytes read differ; "
        f"flow {first}: {sent.get(first)} written, {read.get(first)} read"
    )
    return sink.failure("drain", "bytes_differ", message)


def _rows_missing(source: TrialEnd, sink: TrialEnd) -> Failure | None:
    for end in (source, sink):
        report = _report(end)
        samples, cpu = (None, None) if end.result is None else (end.result.samples, end.result.cpu)
        for kind, name, announced, table in (
            ("samples_missing", "samples", report.sample_rows, samples),
            ("cpu_missing", "CPU time", report.cpu_rows, cpu),
        ):
            arrived = 0 if table is None else table.num_rows
            if arrived != announced:
                message = f"{announced} rows of {name} were announced, {arrived} came"
                return end.failure("report", kind, message)
    return None
