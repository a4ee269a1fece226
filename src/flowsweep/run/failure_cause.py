"""Why a trial is not whole: the cause among all that its ends say, not what follows from it."""

import errno
from collections import Counter
from collections.abc import Sequence

from flowsweep.hosts.messages import Report
from flowsweep.run.early_end import undecided
from flowsweep.run.outcome import Failure
from flowsweep.run.pair import Pair
from flowsweep.run.patience import FLOWS_BROKEN
from flowsweep.run.trial_end import TrialEnd
from flowsweep.wording import counted

_PHASES = ("prepare", "listen", "connect", "run", "drain", "report")
_ECHOES = (
    ("connect", "handshake", "connect_timeout", "accept_timeout", "not_running"),
    ("broken", FLOWS_BROKEN, "ended_early"),
    ("not_simultaneous",),
    ("stopped",),
)
"""What an end sees when another one gave up, the least telling last."""
_GONE = (f"(os error {errno.EPIPE})", f"(os error {errno.ECONNRESET})")
"""What breaks a connection whose other end is gone: why it is gone, that end says, if it is there."""


def cause_of(first: Failure | None, pairs: Sequence[Pair]) -> Failure:
    """Choose the cause of a trial that did not get to its reports.

    What only echoes a failure at another end may be reported first: peers of an engine that was killed can
    know before its session ends.

    Args:
        first: what ended the trial; absent if it was stopped because of an incomplete report.
        pairs: of the trial, all stopped.
    """
    troubles = [end.trouble for end in _ends(pairs) if end.trouble is not None]
    return min([*([] if first is None else [first]), *_incomplete(pairs), *troubles], key=_echo)


def shortfall(pairs: Sequence[Pair]) -> Failure | None:
    """Why a trial that has all its reports is not whole; absent if it is."""
    broken = _streams_broken(pairs)
    if broken is not None:
        return broken
    if failures := _incomplete(pairs):
        return min(failures, key=lambda failure: (_echo(failure), _PHASES.index(failure.phase)))
    found = (_rows_lost(pair) or _bytes_differ(pair) or _rows_missing(pair) for pair in pairs)
    return next((failure for failure in found if failure is not None), None) or undecided(pairs)


def _echo(failure: Failure) -> tuple[int, bool]:
    """How far from a cause, 0: it is none of those that follow from others; and whether it names none."""
    rank = next((rank for rank, kinds in enumerate(_ECHOES, start=1) if failure.kind in kinds), 0)
    return rank, failure.message.endswith(_GONE)


def _ends(pairs: Sequence[Pair]) -> list[TrialEnd]:
    return [end for pair in pairs for end in pair.ends]


def _incomplete(pairs: Sequence[Pair]) -> list[Failure]:
    return [end.incomplete for end in _ends(pairs) if end.incomplete is not None]


def _report(end: TrialEnd) -> Report:
    if end.result is None:
        raise ValueError(f"{end.access.name} has not reported")
    return end.result.report


def _streams_broken(pairs: Sequence[Pair]) -> Failure | None:
    """How many streams of datagrams broke off or never came up, and why most of them did.

    They do not end a trial: what the others carried stands.
    """
    broken: dict[int, tuple[TrialEnd, str]] = {}
    streams: set[int] = set()
    for pair in pairs:
        for end in pair.ends:
            for flow in _report(end).flows:
                if flow.udp is None:
                    continue
                number = pair.traffic.first_flow + flow.flow
                streams.add(number)
                if flow.end == "broken":
                    broken.setdefault(number, (end, flow.error or "it did not say why"))
    if not broken:
        return None
    reason, count = Counter(words for _, words in broken.values()).most_common(1)[0]
    first = next(number for number, (_, words) in sorted(broken.items()) if words == reason)
    others = "" if count == len(broken) else "; others for other reasons"
    message = f"{len(broken)} of {counted(len(streams), 'flow')} broke: flow {first}: {reason}{others}"
    return broken[first][0].error("run", FLOWS_BROKEN, message).failure


def _rows_lost(pair: Pair) -> Failure | None:
    """What an engine measured and had no room for: the rest would pass for all of it."""
    for end in pair.ends:
        if lost := _report(end).rows_lost:
            message = (
                f"the engine of {end.access.name} could not keep {counted(lost, 'row')} of what it measured: "
                "shorten the trial, sample less often, or give its temporary files more room (TMPDIR)"
            )
            return end.error("report", "rows_lost", message).failure
    return None


def _bytes_differ(pair: Pair) -> Failure | None:
    """What was written to a connection and not read from it; datagrams may be lost."""
    if pair.server is not None or not pair.traffic.parameters.reliable:
        # An iperf3 server does not read on once it knows of the end, and a QUIC perf server tells nothing.
        return None
    sent = {flow.flow: flow.bytes for flow in _report(pair.sender).flows}
    read = {flow.flow: flow.bytes for flow in _report(pair.receiver).flows}
    different = [flow for flow in sorted(sent | read) if sent.get(flow) != read.get(flow)]
    if not different:
        return None
    first = different[0]
    message = (
        f"{len(different)} of {len(sent | read)} flows: bytes written and bytes read differ; "
        f"flow {pair.traffic.first_flow + first}: {sent.get(first)} written, {read.get(first)} read"
    )
    return pair.receiver.error("drain", "bytes_differ", message).failure


def _rows_missing(pair: Pair) -> Failure | None:
    for end in pair.ends:
        tables = {} if end.result is None else end.result.tables
        rows = _report(end).table_rows
        for name in sorted({*rows, *tables}):
            announced = rows.get(name, 0)
            arrived = tables[name].num_rows if name in tables else 0
            if arrived != announced:
                message = f"{announced} rows of {name} were announced, {arrived} came"
                return end.error("report", "rows_missing", message).failure
    return None
