"""The table of trials: parameters, what was granted and what became of each, flat."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from flowsweep.archive.imported import ImportedTrial
from flowsweep.axes import MODE, SETTINGS
from flowsweep.defaults import MILLISECOND_NS
from flowsweep.errors import ArchiveError
from flowsweep.plan.links.model import Link
from flowsweep.plan.searching.model import RateSearch, Search, SearchInRounds
from flowsweep.run.outcome import Status, TrialRecord
from flowsweep.schedule import Trial, path_mtu_bytes, trial_rate_bps
from flowsweep.schedule.background import PROBE
from flowsweep.schedule.trial_columns import asked_columns
from flowsweep.tests import facts_of

_TYPES = {"int64": pa.int64(), "bool": pa.bool_(), "string": pa.string(), "list<int64>": pa.list_(pa.int64())}

TRIALS_SCHEMA = pa.schema(
    [
        pa.field("trial_id", pa.string(), nullable=False),
        pa.field("order_index", pa.int64(), nullable=False),  # from 0, in the order of first starts
        pa.field("attempt", pa.int16(), nullable=False),  # the one that counts: the last finished
        pa.field("attempts", pa.int16(), nullable=False),  # started so far
        pa.field("sweep", pa.string(), nullable=False),
        pa.field("repeat", pa.int64(), nullable=False),
        pa.field("started_at", pa.string()),  # RFC 3339, UTC
        pa.field("elapsed_ns", pa.int64()),
        pa.field("src", pa.string(), nullable=False),
        pa.field("dst", pa.string(), nullable=False),
        pa.field("test", pa.string(), nullable=False),
        pa.field("simultaneous", pa.bool_(), nullable=False),
        # What was asked for
        pa.field("flows", pa.int64(), nullable=False),  # of all pairs of hosts together
        pa.field("flows_per_pair", pa.int64(), nullable=False),
        pa.field("sources", pa.int64(), nullable=False),  # hosts that send
        pa.field("sinks", pa.int64(), nullable=False),
        pa.field("window_bytes", pa.int64()),  # null where the two ends differ, or none was asked for
        pa.field("window_sum_bytes", pa.int64()),
        pa.field("window_send_bytes", pa.int64()),
        pa.field("window_recv_bytes", pa.int64()),
        pa.field("window_sums_asked_bytes", pa.list_(pa.int64()), nullable=False),
        pa.field("window_capped", pa.bool_(), nullable=False),
        pa.field("length_bytes", pa.int64()),
        pa.field("congestion_asked", pa.string()),
        pa.field("duration_ns", pa.int64()),  # of one that ended early, how long it lasted
        pa.field("pad_ns", pa.int64(), nullable=False),  # how much longer than that the sources send
        pa.field("duration_max_ns", pa.int64()),  # of one that may end early, how long it might have lasted
        pa.field("until_share", pa.float64()),  # likewise, how well its mean was to be known
        pa.field("omit_ns", pa.int64(), nullable=False),
        pa.field("interval_ns", pa.int64()),
        pa.field("sample_interval_ns", pa.int64()),
        pa.field("expected_bins", pa.int64(), nullable=False),
        pa.field("rate_sum_bps", pa.int64()),
        pa.field("rate_search_loss_max", pa.float64()),  # of a step of a search for the highest rate
        pa.field("rate_search_delay_max_ms", pa.float64()),  # likewise, where it has such a limit
        pa.field("rate_search_trials", pa.int64()),  # likewise: how many steps the search takes
        pa.field("search_precision", pa.float64()),  # likewise, of one in rounds
        pa.field("search_confidence", pa.float64()),  # likewise
        pa.field("searched_for", pa.string()),  # likewise: plateau, flows or best
        *(pa.field(axis.column, _TYPES[axis.kind], nullable=axis.default != ()) for axis in SETTINGS),
        pa.field("mode", pa.string()),  # of TCP; the part of the way of files; null for other tests
        pa.field("echo", pa.string()),  # what a round trip is to consist of
        pa.field("clip_allowed", pa.bool_()),
        pa.field("drain_timeout_ns", pa.int64()),
        # What was granted, the least of all pairs of hosts; null where no end got that far
        pa.field("congestion", pa.string()),  # the senders'; what was asked for if it did not get that far
        pa.field("mss_granted_bytes", pa.int64()),  # the senders'
        pa.field("window_granted_send_bytes", pa.int64()),
        pa.field("window_granted_recv_bytes", pa.int64()),
        pa.field("window_clipped", pa.bool_()),  # at any end
        pa.field("window_raised", pa.bool_()),
        pa.field("gso_granted", pa.bool_()),  # at all senders
        pa.field("gro_granted", pa.bool_()),  # at all receivers
        pa.field("remarks", pa.string()),  # what was not to be had, and what was done instead
        # What became of it
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("failure_phase", pa.string()),
        pa.field("failure_host", pa.string()),
        pa.field("failure_kind", pa.string()),
        pa.field("rate_carried", pa.bool_()),  # of such a step that is whole
        pa.field("ended_by", pa.string()),  # of one that may end early and is over: known, at_most
        pa.field("held_by", pa.string()),  # why its mean was not known when its time was over
        pa.field("half_width_share", pa.float64()),  # how well it was known then
        pa.field("clock_bound_ns", pa.int64()),  # largest of all hosts; null where one sink alone is timed
        pa.field("rejected_connections", pa.int64()),  # all ends
        pa.field("sample_rows_lost", pa.int64()),
        pa.field("throttled_us", pa.int64()),  # by CPU quotas, of the end that they held back most
        pa.field("throttled_send_us", pa.int64()),
        pa.field("throttled_recv_us", pa.int64()),
        # What the plan's links carry between the hosts of the trial; null for real hosts, and without a limit
        pa.field("path_rate_bps", pa.int64()),  # of IP packets
        pa.field("path_mtu_bytes", pa.int64()),
        # What runs beside it, each name once; flows of it are numbered from `flows` on
        pa.field("background", pa.list_(pa.string()), nullable=False),
        # How many flows each of them has at a time; more flows of a name are later bursts of it
        pa.field("background_flows", pa.list_(pa.int64()), nullable=False),
        # How many times each of them sends, with pauses between; 0: it sends on and on
        pa.field("background_bursts", pa.list_(pa.int64()), nullable=False),
        # What all of it is asked to send; pauses included; null where any of it has no rate of its own
        pa.field("background_asked_bps", pa.int64()),
        # Where the trial is from; what an import does not say is null
        pa.field("imported_from", pa.string()),  # kind and name of the file; null: Flowsweep ran the trial
        pa.field("far_side", pa.string()),  # iperf3, quic-perf: one end has no engine
        pa.field("goodput_method", pa.string(), nullable=False),
        pa.field("reported_bytes", pa.int64()),  # of all flows, by the end that goodput_method names
        pa.field("reported_goodput_bps", pa.float64()),  # as the file has it; null: samples tell
    ]
)


def trials_table(
    records: Iterable[TrialRecord],
    imported: Iterable[ImportedTrial] = (),
    *,
    attempts: Mapping[str, int],
    links: Sequence[Link] = (),
) -> pa.Table:
    """Make the table, in TRIALS_SCHEMA.

    Args:
        records: The attempts that count.
        imported: Trials of other tools.
        attempts: How often each trial was started, by trial_id, in the order of the campaign; trials not in
            it were started as often as their record says, in the order of the records.
        links: Emulated ones, of the plan.

    Raises:
        ArchiveError: A record has a number or a time that no trial can have; says which trial's it is.
    """
    order = {trial_id: index for index, trial_id in enumerate(attempts)}
    rows = []
    both: tuple[TrialRecord | ImportedTrial, ...] = (*records, *imported)
    for record in both:
        with _refused(record.trial_id):
            row = _row(record, links) if isinstance(record, TrialRecord) else _imported_row(record)
        index = order.setdefault(row["trial_id"], len(order))
        started = attempts.get(row["trial_id"], row["attempt"])
        rows.append({"order_index": index, "attempts": started} | row)
    return _table(sorted(rows, key=lambda row: row["order_index"]))


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    try:
        return pa.Table.from_pylist(rows, schema=TRIALS_SCHEMA)
    except (OverflowError, pa.ArrowException):
        # Arrow does not say which.
        for row in rows:
            with _refused(row["trial_id"]):
                pa.Table.from_pylist([row], schema=TRIALS_SCHEMA)
        raise


@contextmanager
def _refused(trial_id: str) -> Iterator[None]:
    """Refuse a record of which nothing can be made: archives come from strangers, too."""
    try:
        yield
    except (ArithmeticError, pa.ArrowException) as error:
        raise ArchiveError(
            f"trial {trial_id}: a number or a time in its record, or in a link of the plan, is none that a "
            f"trial can have: {error}"
        ) from error


def _row(record: TrialRecord, links: Sequence[Link]) -> dict[str, Any]:
    trial, failure, search = record.trial, record.failure, record.trial.search
    return {
        "trial_id": record.trial_id,
        "attempt": record.attempt,
        "sweep": trial.sweep,
        "repeat": trial.repeat,
        "started_at": rfc_3339(record.started_at),
        "elapsed_ns": record.elapsed_ns,
        "src": trial.src,
        "dst": trial.dst,
        "test": trial.test,
        "simultaneous": trial.simultaneous,
        "window_sums_asked_bytes": trial.window_sums_asked_bytes,
        "window_capped": trial.window_capped,
        "pad_ns": trial.pad_ns,
        **asked_columns(trial),
        **_decided(record),
        **_granted(record),
        **_background(trial),
        "path_rate_bps": trial_rate_bps(links, trial),
        "path_mtu_bytes": path_mtu_bytes(links, trial.pairs, trial.parameters.paths),
        "rate_search_loss_max": search.loss_max if isinstance(search, RateSearch) else None,
        "rate_search_delay_max_ms": _delay_max_ms(search),
        "rate_search_trials": search.trials if isinstance(search, RateSearch) else None,
        "search_precision": search.precision if isinstance(search, SearchInRounds) else None,
        "search_confidence": search.confidence if isinstance(search, SearchInRounds) else None,
        "searched_for": getattr(search, "find", None),
        "rate_carried": record.carried,
        "status": record.status,
        "error": None if failure is None else str(failure),
        "failure_phase": None if failure is None else failure.phase,
        "failure_host": None if failure is None else failure.host,
        "failure_kind": None if failure is None else failure.kind,
        "far_side": record.far_side,
        "goodput_method": "job_mean" if facts_of(trial.test).job else "receiver_median",
        **_reported(record),
    }


def _delay_max_ms(search: Search | None) -> float | None:
    limit_ns = search.delay_max_ns if isinstance(search, RateSearch) else None
    return None if limit_ns is None else limit_ns / MILLISECOND_NS


def _decided(record: TrialRecord) -> dict[str, Any]:
    """What counts of a trial that may end early is what its source says, and what follows from times."""
    parameters, decided = record.trial.parameters, record.decided
    until = getattr(parameters, "until", None)
    if until is None:
        return {}
    asked = {"until_share": until.share, "duration_max_ns": parameters.duration_ns}
    if decided is None:
        return asked
    counted_ns = decided.ended_ns - decided.counted_from_ns
    return asked | {
        "duration_ns": decided.ended_ns,
        "omit_ns": decided.counted_from_ns,
        "expected_bins": counted_ns // getattr(parameters, "interval_ns", counted_ns),
        "ended_by": decided.ended_by,
        "held_by": decided.held_by,
        "half_width_share": decided.half_width_share,
    }


def _background(trial: Trial) -> dict[str, Any]:
    flows: dict[str, int] = {}
    bursts: dict[str, int] = {}
    for one in trial.background:
        more = one.parameters.flows if one.burst in (None, 0) else 0
        flows[one.name] = flows.get(one.name, 0) + more
        bursts[one.name] = 0 if one.burst is None else one.burst + 1
    return {
        "background": tuple(flows),
        "background_flows": tuple(flows.values()),
        "background_bursts": tuple(bursts.values()),
        "background_asked_bps": _asked_bps(trial),
    }


def _asked_bps(trial: Trial) -> int | None:
    """What all background traffic is asked to send; that with pauses its rate times the share it sends.

    As shares do, that counts pauses from the first burst to the end of the trial.
    """
    background = [one for one in trial.background if one.name != PROBE]
    began_ns: dict[tuple[str, str, str], int] = {}
    for one in background:
        began_ns.setdefault((one.name, one.src, one.dst), one.start_ns)
    total_bps = 0.0
    for one in background:
        rate_bps: int | None = getattr(one.parameters, "rate_bps", None)
        if rate_bps is None:
            return None
        left_ns = trial.parameters.duration_ns - began_ns[one.name, one.src, one.dst]
        sending = 1.0 if one.burst is None else one.parameters.duration_ns / left_ns
        total_bps += one.parameters.flows * rate_bps * sending
    return round(total_bps) or None


def _reported(record: TrialRecord) -> dict[str, Any]:
    """What is known of a receiver without an engine: there are no intervals that could be expected of it."""
    if record.reported_goodput_bps is None:
        return {}
    return {
        "goodput_method": "sender_mean" if record.far_side == "quic-perf" else "receiver_mean",
        "reported_bytes": record.reported_bytes,
        "reported_goodput_bps": record.reported_goodput_bps,
        "expected_bins": 0,
    }


def _imported_row(record: ImportedTrial) -> dict[str, Any]:
    window = record.window_bytes
    return record.model_dump(exclude={"failure", "unfinished", "of_linux"}) | {
        "attempt": 1,
        "started_at": None if record.started_at is None else rfc_3339(record.started_at),
        "flows_per_pair": record.flows,
        "pad_ns": 0,
        "sources": 1,
        "sinks": 1,
        "window_bytes": window,
        "window_sum_bytes": None if window is None else window * record.flows,
        "window_sums_asked_bytes": (),
        "window_capped": False,
        "window_clipped": _imported_clipped(record),
        "congestion_asked": record.congestion,
        "affinity": (),
        "background": (),
        "background_flows": (),
        "background_bursts": (),
        "mode": "copy" if record.test in MODE.tests else None,  # as other tools write and read, too
        "status": _imported_status(record),
        "error": record.failure or record.unfinished,
        "failure_kind": None if record.failure is None else "no_result",
    }


def _imported_clipped(record: ImportedTrial) -> bool | None:
    """Whether any end got less than was asked for; null where it cannot be told, or of none both are known.

    Linux tells twice of what it uses, other kernels may not. So whether a window was raised cannot be told.
    """
    ends = (
        (record.window_send_bytes, record.window_granted_send_bytes, "source" in record.of_linux),
        (record.window_recv_bytes, record.window_granted_recv_bytes, "sink" in record.of_linux),
    )
    told = [
        _clipped(asked, granted, of_linux=of_linux)
        for asked, granted, of_linux in ends
        if asked is not None and granted is not None
    ]
    if any(told):
        return True
    return None if not told or None in told else False


def _clipped(asked: int, granted: int, *, of_linux: bool) -> bool | None:
    if granted < asked or granted >= 2 * asked:
        return granted < asked
    return True if of_linux else None


def _imported_status(record: ImportedTrial) -> Status:
    if record.failure is not None:
        return "failed"
    return "ok" if record.unfinished is None else "incomplete"


def _granted(record: TrialRecord) -> dict[str, Any]:
    ends = [*record.sources, *record.sinks]
    in_use = dict.fromkeys(end.congestion for end in record.sources if end.congestion is not None)
    beside = [end for one in record.background for end in (one.source, one.sink) if end is not None]
    timed = {*record.trial.sinks, *(one.sink.host for one in record.background if one.sink is not None)}
    bounds_ns = [end.clock_bound_ns for end in (*ends, *beside)] if len(timed) > 1 else []
    return {
        "congestion": ", ".join(in_use) or record.trial.parameters.congestion_asked,
        "mss_granted_bytes": _least(end.mss_bytes for end in record.sources),
        "window_granted_send_bytes": _least(end.window_granted_bytes for end in record.sources),
        "window_granted_recv_bytes": _least(end.window_granted_bytes for end in record.sinks),
        "clock_bound_ns": max(bounds_ns, default=None),
        "gso_granted": _all(end.gso for end in record.sources),
        "gro_granted": _all(end.gro for end in record.sinks),
        "remarks": " ".join(dict.fromkeys(remark for end in ends for remark in end.remarks)) or None,
        "window_clipped": any(end.window_clipped for end in ends) if ends else None,
        "window_raised": any(end.window_raised for end in ends) if ends else None,
        "rejected_connections": sum(end.rejected_connections for end in ends) if ends else None,
        "sample_rows_lost": sum(end.sample_rows_lost for end in ends) if ends else None,
        "throttled_us": _longest(end.throttled_us for end in ends),
        "throttled_send_us": _longest(end.throttled_us for end in record.sources),
        "throttled_recv_us": _longest(end.throttled_us for end in record.sinks),
    }


def _least(sizes: Iterable[int | None]) -> int | None:
    return min((size for size in sizes if size is not None), default=None)


def _all(switches: Iterable[bool | None]) -> bool | None:
    known = [switch for switch in switches if switch is not None]
    return all(known) if known else None


def _longest(times_us: Iterable[int | None]) -> int | None:
    return max((time_us for time_us in times_us if time_us is not None), default=None)


def rfc_3339(at: datetime) -> str:
    """Return an aware time as RFC 3339 text in UTC, to the millisecond, with a Z."""
    try:
        in_utc = at.astimezone(UTC)
    except (OverflowError, ValueError):
        # Beyond the first or the last day that there is: such a trial is read, too.
        in_utc = at.replace(tzinfo=UTC)
    return in_utc.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
