"""Whether what was to run beside a trial did so in the time that counts, from when all its flows ran."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from flowsweep.defaults import BITS_PER_BYTE, SECOND_NS
from flowsweep.run.outcome import Failure, TrialOutcome
from flowsweep.schedule.parameters import Bulk, Parameters
from flowsweep.schedule.trial import BackgroundTraffic, Trial
from flowsweep.wording import format_duration

_SHARE_MIN = 0.9
"""Of the time for which it was to run beside what counts, a mean over its flows. Where first packets are lost
again and again, a flow may begin seconds late; then a good part of what counts is not what was asked for."""
_MISSING_NS = SECOND_NS // 2
"""Less than this may always be missing: flows of which one packet is lost begin 0.2 or 0.4 s later."""
_COLUMNS = (
    "role", "background", "host", "peer", "origin_ns", "first_byte_ns", "end_ns", "clock_bound_ns",
)  # fmt: skip


class _Span(NamedTuple):
    from_ns: int
    to_ns: int

    def shared_with(self, other: "_Span") -> int:
        """For how long both last."""
        return max(0, min(self.to_ns, other.to_ns) - max(self.from_ns, other.from_ns))

    def later(self, by_ns: int) -> "_Span":
        return _Span(self.from_ns + by_ns, self.to_ns + by_ns)


class _Ran(NamedTuple):
    """When each flow of some traffic ran, as its sink saw it, and how far that may be wrong."""

    flows: tuple[_Span, ...]
    bound_ns: int

    @property
    def all_from_ns(self) -> int:
        """From when on all of them did."""
        return max(flow.from_ns for flow in self.flows)

    def shared_with(self, span: _Span) -> int:
        """For how long one of them ran within a time, on average."""
        return sum(flow.shared_with(span) for flow in self.flows) // len(self.flows)


def ran_alone(outcome: TrialOutcome, of_slot: Sequence[TrialOutcome]) -> Failure | None:
    """Say which trial did not run beside what counts of another one, which is whole as it is.

    Args:
        outcome: A trial.
        of_slot: All that were to run at the same time, itself among them.

    Returns:
        Nothing if all did, clocks of hosts leave it open, or they do not send for a time.
    """
    trial = outcome.record.trial
    for beside in of_slot if len(of_slot) > 1 else ():
        other = beside.record.trial
        apart = _fell_short(_counted(trial), _ran(outcome), _sends(other.parameters), _ran(beside))
        if apart is not None:
            return _failure(trial, f"the trial from {other.src} to {other.dst}, at the same time: {apart}")
    return None


def background_apart(trial: Trial, flows: pa.Table) -> Failure | None:
    """Say what background traffic did not run beside what counts of a trial for as long as was asked for.

    Args:
        trial: That is whole, as its background traffic is.
        flows: What its ends reported, in FLOWS_SCHEMA.

    Returns:
        Nothing for traffic with pauses: its shares are those of the intervals in which it ran.
    """
    rows = flows.select(_COLUMNS).to_pylist() if trial.background else []
    own = _ran_of(rows, trial.parameters, background=None)
    for traffic in trial.background:
        asked, parameters = _asked_beside(traffic), traffic.parameters
        ran = _ran_of(rows, parameters, background=traffic.name, host=traffic.dst, peer=traffic.src)
        apart = _fell_short(_counted(trial), own, asked, ran)
        if apart is not None:
            whose = f"background traffic {traffic.name} from {traffic.src} to {traffic.dst}"
            return _failure(trial, f"{whose}: {apart}")
    return None


def _fell_short(
    counts: _Span | None, own: _Ran | None, asked: _Span | None, other: _Ran | None
) -> str | None:
    """Say for how long at most something ran beside what counts; absent if long enough, or unknown.

    Args:
        counts: Of the trial, from when all its flows ran.
        own: Its flows.
        asked: When the other traffic was to run, as `counts` counts.
        other: Its flows.
    """
    if counts is None or own is None or asked is None or other is None:
        return None
    asked_ns = counts.shared_with(asked)
    ran_ns = other.shared_with(counts.later(own.all_from_ns))
    at_most_ns = min(asked_ns, ran_ns + own.bound_ns + other.bound_ns)
    if asked_ns - at_most_ns <= max((1 - _SHARE_MIN) * asked_ns, _MISSING_NS):
        return None
    whole, at_most = format_duration(asked_ns), format_duration(at_most_ns)
    on_average = " on average" if len(other.flows) > 1 else ""
    flows = "its flows" if on_average else "its flow"
    return f"{flows} ran beside what counts of this trial for at most {at_most} of {whole}{on_average}"


def _failure(trial: Trial, message: str) -> Failure:
    return Failure(phase="run", host=trial.sources[0], kind="not_simultaneous", message=message)


def _counted(trial: Trial) -> _Span | None:
    """What counts of a trial that sends for a time, from when all its flows run."""
    sends = _sends(trial.parameters)
    return None if sends is None else sends._replace(from_ns=getattr(trial.parameters, "omit_ns", 0))


def _sends(parameters: Parameters) -> _Span | None:
    """For how long such traffic sends, likewise."""
    sends_for_a_time = isinstance(parameters, Bulk) and parameters.pad_ns > 0
    return _Span(0, parameters.duration_ns) if sends_for_a_time else None


def _asked_beside(traffic: BackgroundTraffic) -> _Span | None:
    """When background traffic was to run, from when all flows of the trial do."""
    sends = _sends(traffic.parameters)
    return None if sends is None or traffic.burst is not None else sends.later(traffic.start_ns)


def _ran(outcome: TrialOutcome) -> _Ran | None:
    """When the flows of a trial ran, by the controller's clock."""
    sinks = outcome.record.sinks
    origins = [end.origin_unix_ns - end.clock_offset_ns for end in sinks if end.origin_unix_ns is not None]
    rows = outcome.flows.select(_COLUMNS).to_pylist()
    ran = _ran_of(rows, outcome.record.trial.parameters, background=None)
    if ran is None or not origins:
        return None
    return ran._replace(flows=tuple(flow.later(min(origins)) for flow in ran.flows))


def _ran_of(rows: Sequence[Mapping[str, Any]], parameters: Parameters, **values: str | None) -> _Ran | None:
    """When flows with these values ran, on the trial's axis; absent where that is not known of one.

    Of flows with a rate the first byte may be late by the time between two blocks or datagrams.
    """
    wanted = {"role": "sink"} | values
    own = [row for row in rows if wanted.items() <= row.items()]
    if not own or any(row["first_byte_ns"] is None for row in own):
        return None
    flows = tuple(_Span(row["first_byte_ns"], row["end_ns"]).later(row["origin_ns"]) for row in own)
    return _Ran(flows, max(row["clock_bound_ns"] or 0 for row in own) + _gap_ns(parameters))


def _gap_ns(parameters: Parameters) -> int:
    if not isinstance(parameters, Bulk) or not parameters.rate_bps:
        return 0
    return parameters.length_bytes * BITS_PER_BYTE * SECOND_NS // parameters.rate_bps
