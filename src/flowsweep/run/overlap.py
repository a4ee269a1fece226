"""Whether what was to run beside a trial did so in the time that counts, once all its flows ran."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from flowsweep.run.outcome import Failure, TrialOutcome
from flowsweep.schedule.parameters import Bulk
from flowsweep.schedule.trial import BackgroundTraffic, Trial
from flowsweep.wording import all_of, format_duration

_SHARE_MIN = 0.9
"""Of the time for which it was to run beside what counts. Where first packets are lost again and again, the
last flow may begin seconds after the others; then a good part of what counts is not what was asked for."""
_COLUMNS = ("role", "background", "host", "peer", "origin_ns", "first_byte_ns", "clock_bound_ns")


class _Span(NamedTuple):
    from_ns: int
    to_ns: int

    def shared_with(self, other: "_Span") -> int:
        """For how long both last."""
        return max(0, min(self.to_ns, other.to_ns) - max(self.from_ns, other.from_ns))

    def later(self, by_ns: int) -> "_Span":
        return _Span(self.from_ns + by_ns, self.to_ns + by_ns)


class _Begun(NamedTuple):
    """When the last of some flows had its first byte, and how far the clocks behind it may be wrong."""

    at_ns: int
    bound_ns: int


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
        apart = _fell_short(_counted(trial), _begun(outcome), _sends(other), _begun(beside))
        if apart is not None:
            whose = f"the trial from {other.src} to {other.dst}, at the same time,"
            return _failure(trial, f"{all_of(other.total_flows, 'flow')} of {whose} {apart}")
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
    begun = _begun_of(rows, background=None)
    for traffic in trial.background:
        asked = _background_sends(trial, traffic)
        other = _begun_of(rows, background=traffic.name, host=traffic.dst, peer=traffic.src)
        moved = None if other is None else other._replace(at_ns=other.at_ns - traffic.start_ns)
        apart = _fell_short(_counted(trial), begun, asked, moved)
        if apart is not None:
            whose = f"background traffic {traffic.name} from {traffic.src} to {traffic.dst}"
            return _failure(trial, f"{all_of(traffic.parameters.flows, 'flow')} of {whose} {apart}")
    return None


def _fell_short(
    counts: _Span | None, begun: _Begun | None, sends: _Span | None, other: _Begun | None
) -> str | None:
    """Say for how long at most something ran beside what counts; absent if it was long enough, or unknown."""
    if counts is None or begun is None or sends is None or other is None:
        return None
    asked_ns = counts.shared_with(sends)
    shared_ns = counts.shared_with(sends.later(other.at_ns - begun.at_ns)) + begun.bound_ns + other.bound_ns
    if shared_ns >= _SHARE_MIN * asked_ns:
        return None
    return f"ran beside this trial for at most {format_duration(shared_ns)} of {format_duration(asked_ns)}"


def _failure(trial: Trial, message: str) -> Failure:
    return Failure(phase="run", host=trial.sources[0], kind="not_simultaneous", message=message)


def _counted(trial: Trial) -> _Span | None:
    """What counts of a trial that sends for a time, from when all its flows run."""
    parameters = trial.parameters
    if not isinstance(parameters, Bulk) or parameters.pad_ns == 0:
        return None
    return _Span(parameters.omit_ns, parameters.duration_ns)


def _sends(trial: Trial) -> _Span | None:
    """For how long all its flows send, likewise."""
    return None if _counted(trial) is None else _Span(0, trial.parameters.duration_ns + trial.pad_ns)


def _background_sends(trial: Trial, traffic: BackgroundTraffic) -> _Span | None:
    """When all flows of background traffic were to send, from when all flows of the trial run."""
    parameters = traffic.parameters
    if traffic.burst is not None or not isinstance(parameters, Bulk) or parameters.pad_ns == 0:
        return None
    return _Span(0, parameters.duration_ns + trial.pad_ns).later(traffic.start_ns)


def _begun(outcome: TrialOutcome) -> _Begun | None:
    """When all flows of a trial ran, by the controller's clock."""
    sinks, flows = outcome.record.sinks, outcome.flows
    origins = [end.origin_unix_ns - end.clock_offset_ns for end in sinks if end.origin_unix_ns is not None]
    begun = _begun_of(flows.select(_COLUMNS).to_pylist(), background=None)
    return None if begun is None or not origins else begun._replace(at_ns=begun.at_ns + min(origins))


def _begun_of(rows: Sequence[Mapping[str, Any]], **values: str | None) -> _Begun | None:
    """When all flows with these values ran, on the trial's axis; absent if none had a byte."""
    wanted = {"role": "sink"} | values
    own = [row for row in rows if row["first_byte_ns"] is not None and wanted.items() <= row.items()]
    if not own:
        return None
    at_ns = max(row["first_byte_ns"] + row["origin_ns"] for row in own)
    return _Begun(at_ns, max(row["clock_bound_ns"] or 0 for row in own))
