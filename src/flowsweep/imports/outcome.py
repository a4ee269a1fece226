"""From what a file says of a test to a trial that an archive takes in."""

import hashlib
import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from flowsweep.archive import GoodputMethod, ImportedOutcome, ImportedTrial
from flowsweep.defaults import IMPORT_BINS_PER_INTERVAL, MILLISECOND_NS, MINIMUM_BINS, NAME_MAX_CHARACTERS
from flowsweep.imports.rows import ImportedEnd, flows_of, further_tables, samples_of
from flowsweep.imports.transfer import Report, Transfer
from flowsweep.occasions import Occasions
from flowsweep.run.outcome import EndRole
from flowsweep.wording import format_duration, printable

_POINT = (
    "sweep", "src", "dst", "test", "simultaneous", "flows", "window_send_bytes", "window_recv_bytes",
    "length_bytes", "congestion", "duration_ns", "omit_ns", "rate_bps",
    "dscp", "mss_bytes", "pacing_rate_bps",
)  # fmt: skip
"""What trials of one point have in common."""
UNKNOWN_HOSTS = ("unknown sender", "unknown receiver")
"""Where neither the file nor anybody else says which hosts they were."""
_NEARLY_WHOLE = 0.98
"""Tools end their last interval some milliseconds early."""
_APART = 0.05
"""How much of an interval flows may begin it apart, and still have the same one."""
_LATE = 0.01
"""How much of an interval a busy host may be late in ending it. Those of netperf vary by far more."""
_WHOLE_FROM = 0.9
"""A test that lasted a smaller share of its duration was broken off."""
_LONGEST_REASON = 2 * NAME_MAX_CHARACTERS
"""Of a trial that gave no result, or only a part of it."""
_NOT_IN_IDS = (
    "assumed", "cut_off_ns", "dscp", "mss_bytes", "pacing_rate_bps", "asked_bytes", "of_linux", "lasted_ns",
    "as_before", "as_lately", "size_before", "rate_before", "level_ns",
)  # fmt: skip
"""What a reader knows of the kind of file; and settings that earlier versions did not read, so that ids stay:
files with these tell the time."""
_Sums = Sequence[float]
"""For each exact interval of a source the rate of all flows, in bit/s."""
_Fields = list[tuple[str, Any]]
"""Of a dataclass, with their values."""
_TOO_FEW: tuple[None, int, _Sums] = (None, 0, ())


def point_of(trial: ImportedTrial) -> tuple[Any, ...]:
    """What a trial has in common with others of its point, to compare it by."""
    return tuple(getattr(trial, name) for name in _POINT)


class Numbering:
    """Which repeat of its point a trial is.

    Statistics take a repeat for a block, whose trials share what their time had in store. So no repeat
    reaches over two occasions: on each, the trials of a point take its repeats as they come, and when there
    are none left a new one.
    """

    def __init__(self, earlier: Iterable[ImportedTrial], starts: Iterable[datetime | None] = ()) -> None:
        """Number what is added to an archive.

        Args:
            earlier: What the archive has; it keeps its repeats.
            starts: When the trials to come began.
        """
        known = sorted(earlier, key=lambda trial: trial.repeat)
        self._occasions = Occasions([*(trial.started_at for trial in known), *starts])
        self._repeats: dict[int | None, list[int]] = {}
        self._owned: set[int] = set()
        self._taken: dict[tuple[Any, ...], set[int]] = {}
        self._looked_at: Counter[tuple[int | None, tuple[Any, ...]]] = Counter()
        self._last = 0
        for trial in known:
            self._take(trial.repeat, self._occasions.of(trial.started_at), point_of(trial))

    def next_repeat(self, point: dict[str, Any], started_at: datetime | None) -> int:
        """Count one more trial of a point."""
        occasion, key = self._occasions.of(started_at), tuple(point[name] for name in _POINT)
        repeats, taken = self._repeats.get(occasion, []), self._taken.get(key, set())
        place = self._looked_at[occasion, key]
        while place < len(repeats) and repeats[place] in taken:
            place += 1
        self._looked_at[occasion, key] = place
        repeat = repeats[place] if place < len(repeats) else self._last + 1
        self._take(repeat, occasion, key)
        return repeat

    def _take(self, repeat: int, occasion: int | None, key: tuple[Any, ...]) -> None:
        if repeat not in self._owned:
            self._owned.add(repeat)
            self._repeats.setdefault(occasion, []).append(repeat)
        self._taken.setdefault(key, set()).add(repeat)
        self._last = max(self._last, repeat)


def content_ids(transfers: Sequence[Transfer]) -> list[str]:
    """Make a trial_id of what each transfer says; those of a file that say the same get ids of their own."""
    return _ids(transfers, _known_fields)


def former_ids(transfers: Sequence[Transfer], *, with_rates: bool = False) -> list[str]:
    """The ids that earlier versions made, which read less of some files; else those of now.

    Args:
        transfers: All of a file.
        with_rates: As later ones of them made the ids, which read the rate that was asked for, too.
    """
    known_then = {"rate_bps"} if with_rates else set()
    before = [
        replace(transfer, **{name: value for name, value in transfer.as_before if name not in known_then})
        for transfer in transfers
    ]
    return _ids(before, lambda fields: _with_former(fields, "rate", "size"))


def late_ids(transfers: Sequence[Transfer]) -> list[str]:
    """The ids of versions that read some files as `as_lately` has it, and added all rates; else now's."""
    return added_ids([replace(transfer, **dict(transfer.as_lately)) for transfer in transfers])


def added_ids(transfers: Sequence[Transfer]) -> list[str]:
    """The ids of versions that added the rates of flows also where these do not last alike; else now's."""
    return _ids(transfers, lambda fields: _with_former(fields, "rate"))


def _ids(transfers: Sequence[Transfer], as_told: Callable[[_Fields], dict[str, Any]]) -> list[str]:
    seen: Counter[bytes] = Counter()
    ids = []
    for transfer in transfers:
        text = json.dumps(asdict(transfer, dict_factory=as_told), sort_keys=True, default=str)
        same = hashlib.sha256(text.encode()).digest()
        seen[same] += 1
        ids.append(hashlib.sha256(f"{seen[same]} {text}".encode()).hexdigest()[:12])
    return ids


_NUMBERS = {"rate": "rate_bps", "size": "size_bytes"}


def _with_former(fields: _Fields, *names: str) -> dict[str, Any]:
    """Fields with what earlier versions made of the rate or the size, where it was another."""
    told = dict(fields)
    former = [(_NUMBERS[name], told.get(f"{name}_before")) for name in names]
    return _known_fields([*fields, *(each for each in former if each[1] is not None)])


def _known_fields(fields: _Fields) -> dict[str, Any]:
    """Leave out what the file does not say, so that an id stays when more can be said of other files."""
    return {name: value for name, value in fields if value is not None and name not in _NOT_IN_IDS}


def outcome_of(
    transfer: Transfer, trial_id: str, *, sweep: str, imported_from: str, numbering: Numbering
) -> ImportedOutcome:
    """Make a trial of a transfer.

    Goodput is what the receiver's intervals give, as of own trials, where there are enough of them; else what
    the file has of the receiver for the whole transfer; without a receiver the median over the sender's
    intervals, or what the file has of the sender.
    """
    transfer = replace(
        transfer,
        role=transfer.role or "source",
        src=printable(transfer.src or UNKNOWN_HOSTS[0]),
        dst=printable(transfer.dst or UNKNOWN_HOSTS[1]),
        congestion=None if transfer.congestion is None else printable(transfer.congestion),
        flow_count=transfer.flow_count or 1,
        # Of tools that write 0 for what nobody asked for.
        window_send_bytes=transfer.window_send_bytes or None,
        window_recv_bytes=transfer.window_recv_bytes or None,
        length_bytes=transfer.length_bytes or None,
        duration_ns=transfer.duration_ns or transfer.level_ns,
        rate_bps=transfer.rate_bps or None,
        mss_bytes=transfer.mss_bytes or None,
        pacing_rate_bps=transfer.pacing_rate_bps or None,
    )
    ends = _ends(transfer)
    counted = ends.get("sink") or ends["source"]
    interval_ns, count, sums = _intervals(counted, transfer)
    method, goodput_bps = _goodput(counted, count, sums)
    failed = transfer.failure is not None
    point = {
        "sweep": sweep,
        "flows": transfer.flow_count,
        **{name: getattr(transfer, name) for name in _POINT if name not in ("sweep", "flows")},
    }
    record = ImportedTrial(
        **point,
        trial_id=trial_id,
        imported_from=printable(imported_from),
        repeat=numbering.next_repeat(point, transfer.started_at),
        started_at=transfer.started_at,
        elapsed_ns=_elapsed_ns(transfer, counted.role),
        window_granted_send_bytes=transfer.window_granted_send_bytes,
        window_granted_recv_bytes=transfer.window_granted_recv_bytes,
        of_linux=transfer.of_linux,
        interval_ns=interval_ns,
        expected_bins=count if counted.role == "sink" else 0,
        goodput_method=method,
        reported_bytes=None if failed else counted.size_bytes,
        reported_goodput_bps=None if failed else goodput_bps,
        failure=_reason(transfer.failure),
        unfinished=_reason(transfer.unfinished or _too_short(transfer)),
    )
    return ImportedOutcome(
        record,
        samples=samples_of(ends.values()),
        flows=flows_of(ends.values()),
        of_tests={name: table for name, table in further_tables(transfer, ends.values()) if table.num_rows},
    )


def _elapsed_ns(transfer: Transfer, counted: EndRole) -> int | None:
    """How long the transfer took at the end whose bytes the trial has, where the file says so."""
    far = transfer.far
    if far is None or counted == transfer.role or far.lasted_ns is None:
        return transfer.total.end_ns
    return far.lasted_ns


def _too_short(transfer: Transfer) -> str | None:
    """Say how long a test lasted that somebody broke off, where its file does not call it unfinished."""
    asked_ns, told_ns = transfer.duration_ns, transfer.total.end_ns
    if asked_ns is None or told_ns is None:
        return None
    lasted_ns = transfer.omit_ns + told_ns
    if lasted_ns + (transfer.cut_off_ns or 0) >= _WHOLE_FROM * asked_ns:
        return None
    return f"it lasted {format_duration(lasted_ns)} of {format_duration(asked_ns)}"


def _reason(told: str | None) -> str | None:
    """Why something is not whole, in no more characters than a record takes: it may quote a file."""
    if told is None:
        return None
    return printable(told if len(told) <= _LONGEST_REASON else f"{told[: _LONGEST_REASON - 1]}…")


def _ends(transfer: Transfer) -> dict[EndRole, ImportedEnd]:
    """The end that wrote the file, and the other one where the file has its counts."""
    role: EndRole = transfer.role or "source"
    other: EndRole = "sink" if role == "source" else "source"
    hosts = {"source": transfer.src or "", "sink": transfer.dst or ""}
    total, far = transfer.total, transfer.far
    # One row for several flows is their sum.
    flows = transfer.flows if len(transfer.flows) == transfer.flow_count else ()
    near_end = ImportedEnd(role, hosts[role], hosts[other], total.rate_bps, total.size_bytes, flows)
    if far is None:
        return {role: near_end}
    far_end = ImportedEnd(other, hosts[other], hosts[role], far.rate_bps, far.size_bytes, far.flows)
    return {role: near_end, other: far_end}


def _goodput(end: ImportedEnd, intervals: int, sums: _Sums) -> tuple[GoodputMethod, float | None]:
    """Choose the method, and take the goodput of the file where samples of a receiver do not tell it."""
    if end.role == "sink":
        return ("receiver_median", None) if intervals else ("receiver_mean", end.rate_bps)
    if not intervals:
        return "sender_mean", end.rate_bps
    return "sender_median", statistics.median(sums)


def _intervals(end: ImportedEnd, transfer: Transfer) -> tuple[int | None, int, _Sums]:
    """Find the width of the exact intervals, how many all flows have and, of a source, their rates."""
    rows = [
        [report for report in flow.intervals if report.start_ns >= transfer.omit_ns] for flow in end.flows
    ]
    if len(rows) != transfer.flow_count or not all(rows):
        return _TOO_FEW
    width_ns = _asked_width(statistics.median(_width(report) for reports in rows for report in reports))
    if width_ns <= 0 or _bins(end, width_ns) > IMPORT_BINS_PER_INTERVAL * sum(map(len, rows)):
        return _TOO_FEW
    sums: _Sums = ()
    if end.role == "sink":
        first_ns = max(flow.intervals[0].start_ns for flow in end.flows) + transfer.omit_ns
        width_ns, count = _fitted(min(reports[-1].end_ns for reports in rows) - first_ns, width_ns)
    else:
        sums = _rates_together(rows, width_ns)
        count = len(sums)
    return (width_ns, count, sums) if width_ns > 0 and count >= MINIMUM_BINS else _TOO_FEW


def _rates_together(rows: Sequence[Sequence[Report]], width_ns: int) -> list[float]:
    """What all flows of a source sent in each interval, in bit/s; empty where only their means tell it.

    Intervals as the file has them, where all flows have the same ones. Where their widths vary, those that
    are longer may be the slower ones, so none is left out: the mean of the whole it is, or, where flows did
    not begin and end together, exact intervals of the time that they have in common.
    """
    inner = (report for reports in rows for report in reports[1:-1])
    if all(_is_as_wide(report, width_ns) for report in inner):
        exact = ([report for report in reports if _is_as_wide(report, width_ns)] for reports in rows)
        columns = list(zip(*exact, strict=False))
        if all(_spread(report.start_ns for report in column) <= width_ns * _APART for column in columns):
            return [sum(report.rate_bps for report in column) for column in columns]
    begins, ends = [reports[0].start_ns for reports in rows], [reports[-1].end_ns for reports in rows]
    count = (min(ends) - max(begins)) // width_ns
    if max(_spread(begins), _spread(ends)) <= width_ns or count < MINIMUM_BINS:
        return []
    return _summed(rows, [max(begins) + number * width_ns for number in range(count + 1)])


def _summed(rows: Sequence[Sequence[Report]], bounds: Sequence[int]) -> list[float]:
    """Rates of all flows together between bounds, in bit/s; without those that a flow does not cover."""
    width_ns = bounds[1] - bounds[0]
    totals = [0.0] * (len(bounds) - 1)
    whole = [True] * len(totals)
    for reports in rows:
        covered, bits = [0] * len(totals), [0.0] * len(totals)
        for report in reports:
            first = max((report.start_ns - bounds[0]) // width_ns, 0)
            for number in range(first, min(-((bounds[0] - report.end_ns) // width_ns), len(totals))):
                shared_ns = min(report.end_ns, bounds[number + 1]) - max(report.start_ns, bounds[number])
                covered[number] += shared_ns
                bits[number] += report.rate_bps * shared_ns
        for number, share_ns in enumerate(covered):
            whole[number] = whole[number] and share_ns >= _NEARLY_WHOLE * width_ns
            totals[number] += bits[number] / max(share_ns, 1)
    return [total for total, is_whole in zip(totals, whole, strict=True) if is_whole]


def _spread(times_ns: Iterable[int]) -> int:
    times = list(times_ns)
    return max(times) - min(times)


def _bins(end: ImportedEnd, width_ns: int) -> int:
    """How many exact intervals all flows have, gaps between theirs included: a file may claim any number."""
    covered = sum(_width(report) // width_ns + 1 for flow in end.flows for report in flow.intervals)
    spans = (flow.intervals[-1].end_ns - flow.intervals[0].start_ns for flow in end.flows)
    return max(covered, sum(span_ns // width_ns + 1 for span_ns in spans))


def _fitted(span_ns: int, width_ns: int) -> tuple[int, int]:
    """How wide and how many intervals are in a span: a little narrower, if that saves the last one."""
    count = int(span_ns / width_ns + 1 - _NEARLY_WHOLE)
    narrow_ns = span_ns // max(count, 1) // MILLISECOND_NS * MILLISECOND_NS
    return min(width_ns, narrow_ns), count


def _width(report: Report) -> int:
    return report.end_ns - report.start_ns


def _is_as_wide(report: Report, width_ns: int) -> bool:
    """Whether an interval is one of those that were asked for, however late the tool's clock woke it."""
    return abs(_width(report) - width_ns) <= width_ns * _LATE


def _asked_width(median_ns: float) -> int:
    """What a person asked for: two digits, where tools were late by a little."""
    digit_ns = 10.0 ** (math.floor(math.log10(max(median_ns, 1.0))) - 1)
    asked_ns = round(median_ns / digit_ns) * digit_ns
    near = abs(asked_ns - median_ns) <= median_ns * _LATE
    return _nearest_millisecond(asked_ns if near else median_ns)


def _nearest_millisecond(time_ns: float) -> int:
    return round(time_ns / MILLISECOND_NS) * MILLISECOND_NS
