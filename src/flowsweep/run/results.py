"""From the reports of all ends to the outcome of a trial. No session, no waiting."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from flowsweep.defaults import BITS_PER_BYTE, MICROSECOND_NS, NUMBER_MAX, OFFERED_SHARE_MIN, SECOND_NS
from flowsweep.hosts.messages import Report
from flowsweep.plan.searching.model import RateSearch, SearchInRounds
from flowsweep.run.attempt import Attempt
from flowsweep.run.background import BackgroundPair
from flowsweep.run.data import Data, data_of
from flowsweep.run.early_end import decided_of
from flowsweep.run.failure_cause import cause_of, shortfall
from flowsweep.run.far_end import FarEnd, told_of
from flowsweep.run.outcome import BackgroundRecord, End, Failure, Status, TrialOutcome, TrialRecord
from flowsweep.run.overlap import background_apart, ran_alone
from flowsweep.run.pair import Pair
from flowsweep.run.searched import searched_bps
from flowsweep.run.tables import FLOWS_SCHEMA
from flowsweep.run.trial_end import TrialEnd
from flowsweep.schedule.parameters import Bulk
from flowsweep.schedule.trial import Trial
from flowsweep.wording import counted

_CUT_NO_MORE = "UDP_SEGMENT ceased to work while datagrams were sent: from then on they went one by one"


def outcome_of(
    attempt: Attempt, pairs: Sequence[Pair], background: Sequence[BackgroundPair], failure: Failure | None
) -> TrialOutcome:
    """What a trial came to.

    Args:
        attempt: the trial, and which attempt at it.
        pairs: its pairs of hosts, all over.
        background: what ran beside it, all over; one that is not whole makes the trial incomplete.
        failure: what kept the trial from its reports, if anything did.
    """
    of_background = [one.pair for one in background]
    data = data_of(pairs, of_background)
    reported = all(end.result is not None for pair in pairs for end in pair.ends)
    if failure is None and reported:
        fallen_short = (shortfall(pairs), *(one.failure for one in background))
        failure = next((found for found in fallen_short if found is not None), None)
        failure = failure or background_apart(attempt.trial, data.flows)
        status: Status = "ok" if failure is None else "incomplete"
    else:
        failure, status = cause_of(failure, pairs), "failed"
    record = _record(attempt, status, failure, pairs, of_background)
    told = _told(record, data, status)
    return TrialOutcome(
        record.model_copy(update=told),
        samples=data.samples,
        flows=data.flows,
        cpu=data.cpu,
        counters=data.counters,
        of_tests=data.of_tests,
    )


def _told(record: TrialRecord, data: Data, status: Status) -> dict[str, object]:
    """What a step of a search tells."""
    trial = record.trial
    if isinstance(trial.search, SearchInRounds):
        return {"searched_bps": _searched_bps(record, data) if status == "ok" else 0.0}
    return {
        "carried": carried(trial, data.flows, data.of_tests.get("histograms")) if status == "ok" else None
    }


def _searched_bps(record: TrialRecord, data: Data) -> float:
    """The mean goodput of a whole trial: a server that received has no samples, and tells its own."""
    if record.reported_goodput_bps is not None:
        return record.reported_goodput_bps
    return searched_bps(record.trial, data.samples, record.decided)


def unreachable(attempt: Attempt, host: str, reason: str) -> TrialOutcome:
    """The outcome of a trial whose host has no engine to talk to."""
    return without_data(attempt, Failure(phase="prepare", host=host, kind="host_unreachable", message=reason))


def without_data(attempt: Attempt, failure: Failure) -> TrialOutcome:
    """The outcome of a trial of which nothing is known but why it failed."""
    record = _record(attempt, "failed", failure, (), ())
    if isinstance(attempt.trial.search, SearchInRounds):
        # To a search in rounds it is a step that failed, as any other; one for a rate cannot go on without.
        record = record.model_copy(update={"searched_bps": 0.0})
    return TrialOutcome(record, samples=pa.table({}), flows=FLOWS_SCHEMA.empty_table())


def simultaneous(outcomes: Sequence[TrialOutcome]) -> list[TrialOutcome]:
    """What the trials of one slot came to: one that is whole is none if another one did not run beside it.

    Args:
        outcomes: of trials that were to run at the same time; a single one stays as it is.
    """
    broken = next((outcome.record for outcome in outcomes if outcome.record.failure is not None), None)
    if broken is None:
        found = [ran_alone(outcome, outcomes) for outcome in outcomes]
    else:
        left = _left_alone(broken)
        found = [left if outcome.record.failure is None else None for outcome in outcomes]
    return [
        outcome if failure is None else _incomplete(outcome, failure)
        for outcome, failure in zip(outcomes, found, strict=True)
    ]


def carried(trial: Trial, flows: pa.Table, histograms: pa.Table | None = None) -> bool | None:
    """Judge a trial that is whole: its source offered the rate, and loss and delay were within their limits.

    Args:
        trial: Of any kind.
        flows: What its ends reported, in FLOWS_SCHEMA.
        histograms: Likewise (schema/histograms.json), if they did.

    Returns:
        None for a trial that is no step of a search.
    """
    search, parameters = trial.search, trial.parameters
    if not isinstance(search, RateSearch) or not isinstance(parameters, Bulk):
        return None
    rate_sum_bps = parameters.rate_sum_asked_bps
    if rate_sum_bps is None:
        return None
    sent, came, told_of = _datagrams(flows)
    sent_bits = sent * parameters.length_bytes * BITS_PER_BYTE
    asked_bits = rate_sum_bps * _sending_ns(trial, parameters, flows) / SECOND_NS
    offered = sent_bits >= Fraction(str(OFFERED_SHARE_MIN)) * asked_bits
    within_loss = told_of - came <= Fraction(str(search.loss_max)) * told_of
    return (
        min(sent, told_of) > 0
        and offered
        and within_loss
        and _in_time(search.delay_max_ns, trial, histograms)
    )


def _datagrams(flows: pa.Table) -> tuple[int, int, int]:
    """How many a trial's own flows sent, how many came, and of how many it is known whether they came.

    These are all, but where a server counted what it missed: at the end it stopped to. A flow of which it
    counted nothing is lost.
    """
    sent: Counter[int] = Counter()
    came: Counter[int] = Counter()
    told_of: dict[int, int] = {}
    for row in flows.select(["role", "flow", "background", "udp_datagrams", "udp_missing"]).to_pylist():
        if row["background"] is None:
            count, missing = row["udp_datagrams"] or 0, row["udp_missing"]
            (sent if row["role"] == "source" else came)[row["flow"]] += count
            if missing is not None and count + missing > 0:
                told_of[row["flow"]] = count + missing
    return sent.total(), came.total(), sum(told_of.get(flow, count) for flow, count in sent.items())


def _sending_ns(trial: Trial, parameters: Bulk, flows: pa.Table) -> Fraction:
    """How long the flows sent in the mean, as `with_sender_drops` of the analysis has it."""
    rows = flows.select(["role", "background", "first_byte_ns", "end_ns"]).to_pylist()
    sources = [row for row in rows if row["role"] == "source" and row["background"] is None]
    # Of a server that sends only the end is known: how long it says that it counted.
    lasted_ns = [
        row["end_ns"] + (parameters.omit_ns if row["first_byte_ns"] is None else 0)
        for row in sources
        if row["end_ns"] > 0
    ]
    if not sources or len(lasted_ns) < len(sources):
        return Fraction(parameters.duration_ns + trial.pad_ns)
    return Fraction(sum(lasted_ns), len(lasted_ns))


_IN_TIME_PERCENT = 99


def _in_time(delay_max_ns: int | None, trial: Trial, histograms: pa.Table | None) -> bool:
    """Whether the 99th percentile of delays above the least of their flow is no larger, as summed up later.

    So no rate is carried at which nothing came, or of which no delays are known.
    """
    if delay_max_ns is None:
        return True
    if histograms is None:
        return False
    delays = [
        row
        for row in histograms.to_pylist()
        if row["quantity"] == "delay" and row["role"] == "sink" and row["flow"] < trial.total_flows
    ]
    total, reached = sum(row["count"] for row in delays), 0
    for row in sorted(delays, key=lambda row: row["low"]):
        reached += row["count"]
        if reached * 100 >= total * _IN_TIME_PERCENT:
            return bool((row["low"] + row["high"] - 1) / 2 <= delay_max_ns)
    return False


def _left_alone(broken: TrialRecord) -> Failure:
    src, dst, failure = broken.trial.src, broken.trial.dst, broken.failure
    reason = f"the trial from {src} to {dst}, at the same time, is {broken.status}: {failure}"
    return Failure(phase="run", host=src, kind="not_simultaneous", message=reason)


def _incomplete(outcome: TrialOutcome, failure: Failure) -> TrialOutcome:
    update = {"status": "incomplete", "failure": failure}
    return replace(outcome, record=outcome.record.model_copy(update=update))


def _record(
    attempt: Attempt,
    status: Status,
    failure: Failure | None,
    pairs: Sequence[Pair],
    background: Sequence[Pair],
) -> TrialRecord:
    senders, receivers = (_end(pair.sender) for pair in pairs), (_end(pair.receiver) for pair in pairs)
    return TrialRecord(
        trial_id=attempt.trial.trial_id,
        attempt=attempt.number,
        trial=attempt.trial,
        status=status,
        started_at=attempt.started_at,
        elapsed_ns=attempt.elapsed_ns,
        failure=failure,
        decided=decided_of(pairs),
        far_side=next((pair.server.kind for pair in pairs if pair.server is not None), None),
        **_reported(pairs),
        sources=tuple(end for end in senders if end is not None),
        sinks=tuple(end for end in receivers if end is not None),
        background=tuple(
            BackgroundRecord(
                name=pair.traffic.background or "", source=_end(pair.sender), sink=_end(pair.receiver)
            )
            for pair in background
        ),
    )


def _reported(pairs: Sequence[Pair]) -> dict[str, Any]:
    """What a server that received says, or acknowledged, of all flows; nothing if of some it did not."""
    reports = [
        pair.sender.result.report
        for pair in pairs
        if isinstance(pair.receiver, FarEnd) and pair.sender.result is not None
    ]
    flows = [flow for near in reports if near.far_side is not None for flow in told_of(near.far_side)]
    asked = pairs[0].traffic.parameters.flows if pairs else 0
    if not flows or len(flows) != asked or not all(flow.elapsed_us for flow in flows):
        return {}
    per_us = BITS_PER_BYTE * SECOND_NS / MICROSECOND_NS
    goodput_bps = sum(flow.bytes * per_us / flow.elapsed_us for flow in flows)
    return {
        "reported_bytes": sum(flow.bytes for flow in flows),
        "reported_goodput_bps": goodput_bps,
    }


def _not_counted(report: Report) -> tuple[str, ...]:
    """Say how many datagrams a server that received neither counted nor missed."""
    far = report.far_side
    told = {
        flow.flow: flow.datagrams for flow in (() if far is None else told_of(far)) if flow.lost is not None
    }
    sent = ((flow.flow, flow.udp.datagrams) for flow in report.flows if flow.udp is not None)
    left = sum(max(0, count - last) for flow, count in sent if (last := told.get(flow)))
    if not left:
        return ()
    remark = (
        f"The server's numbers end {counted(left, 'datagram')} before what was sent: it did not read these "
        "any more, or they were lost. They are in no loss."
    )
    return (remark,)


def _end(end: TrialEnd) -> End | None:
    """What the journal keeps of one end; nothing if its flows never stood."""
    if end.granted is None:
        return None
    report = None if end.result is None else end.result.report
    stopped_cutting = report is not None and any(
        flow.udp is not None and flow.udp.gso is False for flow in report.flows
    )
    return End(
        host=end.access.name,
        peer=end.peer,
        window_granted_bytes=end.granted.window_bytes,
        window_clipped=end.granted.window_clipped,
        window_raised=end.granted.window_raised,
        congestion=end.granted.congestion,
        mss_bytes=end.granted.mss_bytes,
        gso=False if stopped_cutting else end.granted.gso,
        gro=end.granted.gro,
        remarks=(
            *end.granted.remarks,
            *([_CUT_NO_MORE] if stopped_cutting else []),
            *(() if report is None else (*(report.remarks or ()), *_not_counted(report))),
        ),
        origin_unix_ns=None if report is None else report.origin_unix_ns,
        clock_offset_ns=end.clock.offset_ns,
        clock_bound_ns=end.clock.bound_ns,
        # Sums of what hosts say are numbers that an archive holds.
        rejected_connections=0
        if report is None
        else min(sum(report.rejected_connections.model_dump().values()), NUMBER_MAX),
        sample_rows_lost=0 if report is None else min(report.rows_lost, NUMBER_MAX),
        throttled_us=None if report is None else report.throttled_us,
    )
