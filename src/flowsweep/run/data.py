"""The data of all ends of a trial, joined: whose they are, flows numbered through, times on one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from flowsweep.hosts.inbox import EndReport
from flowsweep.hosts.messages import FlowReport
from flowsweep.run.end import TrialEnd
from flowsweep.run.outcome import COUNTERS_SCHEMA, FLOWS_SCHEMA
from flowsweep.run.pair import Pair

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
class _Told:
    """What one end told, and what has to be known of it."""

    end: TrialEnd
    result: EndReport
    first_flow: int
    of_host: bool
    """It is the one that speaks for its host in its role; all its other ends saw the same of it."""


def data_of(pairs: Sequence[Pair]) -> Data:
    """Join what the ends of a trial told, as far as they did."""
    told = _told(pairs)
    origins = _origins(told, pairs)
    return Data(
        samples=_joined([_of_flows(one, "samples") for one in told]),
        flows=pa.Table.from_pylist(
            [
                _flow_row(one, flow, origin_ns)
                for one, origin_ns in zip(told, origins, strict=True)
                for flow in one.result.report.flows
            ],
            schema=FLOWS_SCHEMA,
        ),
        cpu=_joined([_cpu(one) for one in told]),
        counters=pa.Table.from_pylist(
            [
                {"host": one.end.access.name, "role": one.end.role, "name": name, "value": value}
                for one in told
                if one.of_host
                for name, value in one.result.report.counters.items()
            ],
            schema=COUNTERS_SCHEMA,
        ),
        of_tests=_of_tests(told),
    )


def _told(pairs: Sequence[Pair]) -> list[_Told]:
    speakers: set[tuple[str, str]] = set()
    told = []
    for pair in pairs:
        for end in pair.ends:
            if end.result is not None:
                speaker = (end.access.name, end.role)
                told.append(_Told(end, end.result, pair.first_flow, speaker not in speakers))
                speakers.add(speaker)
    return told


def _origins(told: Sequence[_Told], pairs: Sequence[Pair]) -> list[int]:
    """Time origins on the axis of the trial, which is that of the earliest sink.

    A single pair needs no clocks to agree: each of its ends counts from its own origin, as one would read it.
    """
    if len(pairs) == 1:
        return [0] * len(told)
    origins = [one.result.report.origin_unix_ns - one.end.clock.offset_ns for one in told]
    sinks = [origin for one, origin in zip(told, origins, strict=True) if one.end.role == "sink"]
    earliest = min(sinks or origins, default=0)
    return [origin - earliest for origin in origins]


def _joined(pieces: Sequence[pa.Table | None]) -> pa.Table:
    """A table of the engines, from all ends; one without columns if there is none.

    Engines of different versions may have recorded different columns: what one has not is null.
    """
    tables = [piece for piece in pieces if piece is not None]
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def _of_tests(told: Sequence[_Told]) -> dict[str, pa.Table]:
    names = dict.fromkeys(name for one in told for name in one.result.tables)
    joined = {name: _joined([_of_flows(one, name) for one in told]) for name in names if name not in _OF_ALL}
    return {name: table for name, table in joined.items() if table.num_rows}


def _of_flows(one: _Told, name: str) -> pa.Table | None:
    table = one.result.tables.get(name)
    return None if table is None else _with_hosts(_numbered(table, "flow", one.first_flow), one)


def _cpu(one: _Told) -> pa.Table | None:
    table = one.result.tables.get("cpu")
    if table is None:
        return None
    if not one.of_host:
        table = table.filter(pc.not_equal(table["kind"], "core"))
    return _with_hosts(_numbered(table, "id", one.first_flow, only="thread"), one)


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


def _with_hosts(table: pa.Table, one: _Told) -> pa.Table:
    for name, host in (("host", one.end.access.name), ("peer", one.end.peer)):
        column = pa.repeat(pa.scalar(host), table.num_rows)
        table = table.append_column(pa.field(name, pa.string(), nullable=False), column)
    return table


def _flow_row(one: _Told, flow: FlowReport, origin_ns: int) -> dict[str, object]:
    cpu = {f"cpu_{name}": value for name, value in flow.cpu.model_dump().items()}
    udp = {} if flow.udp is None else {f"udp_{name}": value for name, value in flow.udp.model_dump().items()}
    whose = {"host": one.end.access.name, "peer": one.end.peer, "role": one.end.role, "origin_ns": origin_ns}
    return whose | flow.model_dump(exclude={"cpu", "udp"}) | cpu | udp | {"flow": one.first_flow + flow.flow}
