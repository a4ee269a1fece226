"""Data files of Flent (`.flent`, `.flent.gz`, format 4): the TCP flows of a test, each direction a transfer.

Which flows there are and what they were asked to do is in the metadata of the series. An upload's intervals
are the sender's, a download's the receiver's: netperf counts at the end that runs it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from flowsweep.defaults import (
    IMPORT_UNANSWERED_MAX,
    IMPORT_UNANSWERED_PER_ANSWER,
    MILLISECOND_NS,
    NAME_MAX_CHARACTERS,
    SECOND_NS,
)
from flowsweep.imports.json_text import Part, Real, Seconds, WholeIfKnown, json_texts
from flowsweep.imports.transfer import Echo, FlowReport, PlaceError, Report, Transfer, sum_of

NAME = "flent"
FORMAT = 4
_SIGN = '"FLENT_VERSION"'
_TEST = re.compile(r" -t (TCP_STREAM|TCP_MAERTS|TCP_SENDFILE)\b")
_TO = re.compile(r" -H (\S+)")
"""The last one is where data go; before it stands who controls that."""
_MEGABIT = 1e6
_SAME_MOMENT_NS = 10 * MILLISECOND_NS
"""Flent rounds when an interval ended."""

_EpochSeconds = Annotated[float, Field(ge=0, lt=1 << 36, allow_inf_nan=False)]


def recognises(lines: Sequence[str]) -> bool:
    """Whether it is JSON that names the version of Flent."""
    first = next((line for line in lines if line.strip()), "")
    return first.startswith("{") and any(_SIGN in line for line in lines)


def read(lines: Sequence[str]) -> tuple[Transfer, ...]:
    """Read the flows of a file: all uploads are one transfer, all downloads another.

    Raises:
        PlaceError: It is of another format, has no flow of TCP, or flows with several hosts.
    """
    transfers: list[Transfer] = []
    for text in json_texts(lines):
        version = text.parsed(_Version).version
        if version != FORMAT:
            raise PlaceError(
                f"{text.line}$.version",
                f"found {version}, expected {FORMAT}: open and save it with a recent Flent",
            )
        transfers += _transfers(text.parsed(_File), text.line)
    return tuple(transfers)


class _Version(Part):
    version: int


class _Series(Part):
    """What Flent knows of a series; of one that a program measured there is its command."""

    command: str | None = Field(None, alias="COMMAND")
    units: str | None = Field(None, alias="UNITS")
    mean: Real | None = Field(None, alias="MEAN_VALUE")
    elapsed: Seconds | None = Field(None, alias="ELAPSED_TIME")
    bytes_sent: WholeIfKnown = Field(None, alias="BYTES_SENT")
    bytes_received: WholeIfKnown = Field(None, alias="BYTES_RECVD")
    congestion: str | None = Field(None, alias="CONG_CONTROL")
    send_size: WholeIfKnown = Field(None, alias="SEND_SIZE")


class _Metadata(Part):
    series: dict[str, _Series] = Field(alias="SERIES_META")
    host: str | None = Field(None, alias="HOST")
    local_host: str | None = Field(None, alias="LOCAL_HOST")
    time: datetime | None = Field(None, alias="TIME")
    length_s: Seconds | None = Field(None, alias="LENGTH")


class _Value(Part):
    t: _EpochSeconds
    """The end of the span, since 1970."""
    val: Real | None = None
    dur: Seconds | None = None
    seq: Real | None = None

    @property
    def began(self) -> float:
        return self.t - (self.dur or 0)


class _File(Part):
    metadata: _Metadata
    raw_values: dict[str, list[_Value]]


@dataclass(frozen=True, slots=True)
class _Found:
    """A flow."""

    name: str
    series: _Series
    values: list[_Value]


def _transfers(file: _File, line: int) -> list[Transfer]:
    flows: dict[bool, list[_Found]] = {True: [], False: []}
    for name, series in file.metadata.series.items():
        test = _TEST.search(series.command or "")
        if test is None or series.units != "Mbits/s":
            continue
        values = [value for value in file.raw_values.get(name, ()) if value.val is not None and value.dur]
        flows[test[1] != "TCP_MAERTS"].append(_Found(name, series, values))
    if not any(flows.values()):
        raise PlaceError(f"{line}$.metadata.SERIES_META", "no series is a flow of TCP that netperf measured")
    commands = (flow.series.command or "" for found in flows.values() for flow in found)
    hosts = {host for command in commands for host in _TO.findall(command)[-1:]}
    if len(hosts) > 1:
        raise PlaceError(
            f"{line}$.metadata.SERIES_META",
            f"its flows are with {len(hosts)} hosts, such as {' and '.join(sorted(hosts)[:2])}: "
            "only a test with one can be imported",
        )
    both = all(flows.values())
    return [_transfer(file, found, upload=upload, both=both) for upload, found in flows.items() if found]


def _transfer(file: _File, found: Sequence[_Found], *, upload: bool, both: bool) -> Transfer:
    metadata = file.metadata
    origin = min((flow.values[0].began for flow in found if flow.values), default=None)
    flows = tuple(_flow(flow.series, flow.values, origin or 0, upload=upload) for flow in found)
    congestion = {flow.series.congestion for flow in found}
    sizes = {flow.series.send_size for flow in found}
    without = [flow.name for flow in found if flow.series.mean is None]
    return Transfer(
        src=metadata.local_host if upload else metadata.host,
        dst=metadata.host if upload else metadata.local_host,
        role="source" if upload else "sink",
        total=sum_of(flows),
        flow_count=len(flows),
        flows=flows,
        started_at=_started_at(metadata, origin),
        length_bytes=sizes.pop() if len(sizes) == 1 else None,
        congestion=congestion.pop() if len(congestion) == 1 else None,
        duration_ns=None if metadata.length_s is None else round(metadata.length_s * SECOND_NS),
        simultaneous=both,
        echoes=() if origin is None or not (upload or not both) else _echoes(file, origin),
        failure=_no_result(without) if without else None,
    )


def _no_result(names: Sequence[str]) -> str:
    return f"no MEAN_VALUE of {', '.join(names)[:NAME_MAX_CHARACTERS]}: netperf did not end as it should"


def _started_at(metadata: _Metadata, origin: float | None) -> datetime | None:
    if origin is not None:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=origin)
    at = metadata.time
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)


def _flow(series: _Series, values: Sequence[_Value], origin: float, *, upload: bool) -> FlowReport:
    intervals: list[Report] = []
    for value in values:
        start_ns, end_ns = (round((at - origin) * SECOND_NS) for at in (value.began, value.t))
        if intervals and start_ns <= intervals[-1].end_ns + _SAME_MOMENT_NS:
            start_ns = intervals[-1].end_ns
        rate_bps = (value.val or 0) * _MEGABIT
        if end_ns > start_ns:
            size = round(rate_bps * (value.dur or 0) / 8)
            intervals.append(Report(max(start_ns, 0), end_ns, size, rate_bps))
    rate_bps = (series.mean or 0) * _MEGABIT
    counted = series.bytes_sent if upload else series.bytes_received
    last_ns = intervals[-1].end_ns if intervals else 0
    end_ns = last_ns if series.elapsed is None else round(series.elapsed * SECOND_NS)
    size = round(rate_bps * end_ns / 8e9) if counted is None else counted
    return FlowReport(Report(0, end_ns, size, round(rate_bps, 1)), tuple(intervals))


def _echoes(file: _File, origin: float) -> tuple[Echo, ...]:
    """Answers to pings, which have numbers of their own; a number that is missing was not answered."""
    for name, series in file.metadata.series.items():
        values = file.raw_values.get(name, [])
        if series.units != "ms" or not values or any(value.seq is None for value in values):
            continue
        answered = [_answered(value, origin) for value in values if value.val is not None]
        return _with_unanswered(answered)
    return ()


def _answered(value: _Value, origin: float) -> Echo:
    rtt_ns = round((value.val or 0) * MILLISECOND_NS)
    return Echo(round(value.seq or 0), round((value.t - origin) * SECOND_NS) - rtt_ns, rtt_ns)


def _with_unanswered(answered: Sequence[Echo]) -> tuple[Echo, ...]:
    """All questions; nothing where the numbers leave out so many that they do not count questions."""
    pairs = list(pairwise(answered))
    left_out = sum(max(after.sequence - before.sequence - 1, 0) for before, after in pairs)
    if left_out > min(IMPORT_UNANSWERED_PER_ANSWER * len(answered), IMPORT_UNANSWERED_MAX):
        return ()
    echoes = list(answered[:1])
    for before, after in pairs:
        echoes += [*_unanswered(before, after), after]
    return tuple(echoes)


def _unanswered(last: Echo, next_one: Echo) -> list[Echo]:
    """Questions between two that were answered, evenly spread over the time between them."""
    if next_one.sequence - last.sequence <= 1:
        return []
    step_ns = (next_one.at_ns - last.at_ns) / (next_one.sequence - last.sequence)
    return [
        Echo(number, last.at_ns + round(step_ns * (number - last.sequence)), None)
        for number in range(last.sequence + 1, next_one.sequence)
    ]
