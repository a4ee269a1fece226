"""The data of all ends of a trial, joined: whose they are, flows numbered through, times on one axis."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import FlowReport
from flowsweep.run.pair import Pair
from flowsweep.run.tables import COUNTERS_SCHEMA, FLOWS_SCHEMA
from flowsweep.run.traffic import Traffic
from flowsweep.run.trial_end import TrialEnd

_UNKNOWN_OF_SERVERS = (
    "local_port", "remote_port", "clock_offset_ns", "clock_bound_ns", "udp_reordered",
    "udp_reordering_extent_max", "udp_duplicates", "udp_late", "udp_loss_bursts", "udp_loss_burst_max",
    "udp_refused",
)  # fmt: skip
"""Columns of flows that no server tells; nor does it tell those of its cores."""
_OF_ALL = ("samples", "cpu")
"""Tables that every test may have."""


@dataclass(frozen=True, slots=True)
class Data:
    """Tables as in `flowsweep.run.outcome.TrialOutcome`."""

    samples: pa.Table
    flows: pa.Table
    cpu: pa.Table
    counters: pa.Table
    of_tests: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class _ReportedEnd:
    """An end that has reported, and what has to be known of it."""

    end: TrialEnd
    result: EndReport
    traffic: Traffic
    of_host: bool
    """It is the one that speaks for its host in its role; all its other ends saw the same of it."""
    of_cores: bool
    """Likewise, of its host's cores: of a host of the trial they are reported in its role there only."""

    @property
    def origin_ns(self) -> int:
        """Its time origin by the controller's clock."""
        return self.result.report.origin_unix_ns - self.end.clock.offset_ns


def data_of(pairs: Sequence[Pair], background: Sequence[Pair]) -> Data:
    """Join what the ends of a trial and of its background traffic reported, as far as they did."""
    own = _reported_ends(pairs)
    of_background = _reported_ends(background, spoken={(one.end.access.name, one.end.role) for one in own})
    reported = [*own, *of_background]
    origins = [*_origins(own, pairs), *_origins_of_background(of_background, own)]
    return Data(
        samples=_joined([_of_flows(one, "samples") for one in reported]),
        flows=pa.Table.from_pylist(
            [
                _flow_row(one, flow, origin_ns)
                for one, origin_ns in zip(reported, origins, strict=True)
                for flow in one.result.report.flows
            ],
            schema=FLOWS_SCHEMA,
        ),
        cpu=_joined([_cpu(one) for one in reported]),
        counters=pa.Table.from_pylist(
            [
                {"host": one.end.access.name, "role": _counted_as(one), "name": name, "value": value}
                for one in reported
                if one.of_host
                for name, value in one.result.report.counters.items()
            ],
            schema=COUNTERS_SCHEMA,
        ),
        of_tests=_of_tests([*own, *(_since_own_start(one, own) for one in of_background)]),
    )


def _reported_ends(pairs: Sequence[Pair], *, spoken: Collection[tuple[str, str]] = ()) -> list[_ReportedEnd]:
    """The ends of pairs that have reported; for hosts and roles in `spoken` others have spoken already."""
    speakers = set(spoken)
    reported = []
    for pair in pairs:
        for end in pair.ends:
            if end.result is not None:
                speaker = (end.access.name, end.role)
                of_host = speaker not in speakers
                known = any(host == end.access.name for host, _ in speakers)
                of_cores = of_host and (pair.traffic.background is None or not known)
                reported.append(_ReportedEnd(end, end.result, pair.traffic, of_host, of_cores))
                speakers.add(speaker)
    return reported


def _counted_as(one: _ReportedEnd) -> str:
    """The role of a host's counters and cores; those of hosts of background traffic are not the trial's."""
    return one.end.role if one.traffic.background is None else f"background_{one.end.role}"


def _origins(reported: Sequence[_ReportedEnd], pairs: Sequence[Pair]) -> list[int]:
    """Time origins on the axis of the trial, which is that of the earliest sink.

    A single pair needs no clocks to agree: each of its ends counts from its own origin, as one would read it.
    """
    if len(pairs) == 1:
        return [0] * len(reported)
    earliest_ns = _earliest_ns(reported)
    return [one.origin_ns - earliest_ns for one in reported]


def _origins_of_background(background: Sequence[_ReportedEnd], own: Sequence[_ReportedEnd]) -> list[int]:
    """Time origins of background traffic on the trial's axis; on their own if the trial has no reports."""
    earliest_ns = _earliest_ns(own or background)
    return [one.origin_ns - earliest_ns for one in background]


def _earliest_ns(reported: Sequence[_ReportedEnd]) -> int:
    """The time origin of the sink that began first."""
    sinks = [one.origin_ns for one in reported if one.end.role == "sink"]
    return min(sinks or [one.origin_ns for one in reported], default=0)


def _since_own_start(one: _ReportedEnd, own: Sequence[_ReportedEnd]) -> _ReportedEnd:
    """Let the probes of background traffic count from when the trial's own source started.

    Two sources of one host read the same clock, so that their origins need no estimate of it.
    """
    echoes = one.result.tables.get("echoes")
    if echoes is None:
        return one
    sources = [other for other in own if other.end.role == "source"]
    here = [other for other in sources if other.end.access.name == one.end.access.name]
    begin_ns = min((other.origin_ns for other in here or sources), default=None)
    later_ns = one.traffic.start_ns if begin_ns is None else one.origin_ns - begin_ns
    index = echoes.schema.get_field_index("sent_ns")
    sent = pc.add(echoes["sent_ns"], pa.scalar(later_ns, pa.int64()))
    moved = echoes.set_column(index, echoes.schema.field(index), sent)
    return replace(one, result=replace(one.result, tables={**one.result.tables, "echoes": moved}))


def _joined(pieces: Sequence[pa.Table | None]) -> pa.Table:
    """A table of the engines, from all ends; one without columns if there is none.

    Engines of different versions may have recorded different columns: what one has not is null.
    """
    tables = [piece for piece in pieces if piece is not None]
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def _of_tests(reported: Sequence[_ReportedEnd]) -> dict[str, pa.Table]:
    names = dict.fromkeys(name for one in reported for name in one.result.tables)
    joined = {
        name: _joined([_of_flows(one, name) for one in reported]) for name in names if name not in _OF_ALL
    }
    return {name: table for name, table in joined.items() if table.num_rows}


def _of_flows(one: _ReportedEnd, name: str) -> pa.Table | None:
    table = one.result.tables.get(name)
    return None if table is None else _with_hosts(_numbered(table, "flow", one.traffic.first_flow), one)


def _cpu(one: _ReportedEnd) -> pa.Table | None:
    table = one.result.tables.get("cpu")
    if table is None:
        return None
    if not one.of_cores:
        table = table.filter(pc.not_equal(table["kind"], "core"))
    elif one.traffic.background is not None:
        index = table.schema.get_field_index("role")
        roles = pc.if_else(pc.equal(table["kind"], "core"), pa.scalar(_counted_as(one)), table["role"])
        table = table.set_column(index, table.schema.field(index), roles)
    return _with_hosts(_numbered(table, "id", one.traffic.first_flow, only="thread"), one)


def _numbered(table: pa.Table, column: str, first: int, only: str | None = None) -> pa.Table:
    """Number flows through all pairs; only in rows of one `kind`, if one is given; those below 0 are none."""
    index = table.schema.get_field_index(column)
    if first == 0 or index < 0:
        return table
    numbers = table[column]
    moved = pc.add(numbers, pa.scalar(first, numbers.type))
    counts = pc.greater_equal(numbers, pa.scalar(0, numbers.type))
    if only is not None:
        counts = pc.and_(counts, pc.equal(table["kind"], only))
    return table.set_column(index, table.schema.field(index), pc.if_else(counts, moved, numbers))


def _with_hosts(table: pa.Table, one: _ReportedEnd) -> pa.Table:
    for name, host in (("host", one.end.access.name), ("peer", one.end.peer)):
        column = pa.repeat(pa.scalar(host), table.num_rows)
        table = table.append_column(pa.field(name, pa.string(), nullable=False), column)
    return table


def _flow_row(one: _ReportedEnd, flow: FlowReport, origin_ns: int) -> dict[str, object]:
    cpu = {f"cpu_{name}": value for name, value in flow.cpu.model_dump().items()}
    udp = {} if flow.udp is None else {f"udp_{name}": value for name, value in flow.udp.model_dump().items()}
    whose = {"host": one.end.access.name, "peer": one.end.peer, "role": one.end.role, "origin_ns": origin_ns}
    whose["background"] = one.traffic.background
    clock = {"clock_offset_ns": one.end.clock.offset_ns, "clock_bound_ns": one.end.clock.bound_ns}
    known = one.end.access.server is None
    unknown = {} if known else dict.fromkeys((*_UNKNOWN_OF_SERVERS, *cpu))
    numbered = {"flow": one.traffic.first_flow + flow.flow}
    return whose | flow.model_dump(exclude={"cpu", "udp"}) | cpu | udp | clock | numbered | unknown
