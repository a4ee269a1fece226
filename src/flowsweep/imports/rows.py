"""The tables of an imported trial: samples and flows of the ends that its file tells of, and the rest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.imports.transfer import FlowReport, Report, Transfer
from flowsweep.run.outcome import EndRole
from flowsweep.run.tables import FLOWS_SCHEMA

_TCP_FIELDS = tuple(
    pa.field(name, pa.int64())
    for name in ("total_retrans", "rtt_us", "rttvar_us", "snd_wnd_bytes", "pmtu_bytes")
)
"""As schema/samples.json has them."""
_SAMPLES_SCHEMA = pa.schema([*NEEDED_FIELDS["samples"], *_TCP_FIELDS])
_ECHOES_SCHEMA = pa.schema([field.with_nullable(nullable=True) for field in NEEDED_FIELDS["echoes"]])
_DATAGRAMS_SCHEMA = pa.schema([field.with_nullable(nullable=True) for field in NEEDED_FIELDS["datagrams"]])
_NO_SAMPLES, _NO_FLOWS, _NO_ECHOES, _NO_DATAGRAMS = (
    # `empty_table` would load pandas.
    pa.Table.from_batches([], schema)
    for schema in (_SAMPLES_SCHEMA, FLOWS_SCHEMA, _ECHOES_SCHEMA, _DATAGRAMS_SCHEMA)
)


@dataclass(frozen=True, slots=True)
class ImportedEnd:
    """What a file says of one end of a transfer."""

    role: EndRole
    host: str
    peer: str
    rate_bps: float
    """Of all flows together."""
    size_bytes: int | None
    flows: tuple[FlowReport, ...]

    @property
    def key(self) -> dict[str, str]:
        """Columns that say whose rows they are."""
        return {"host": self.host, "peer": self.peer, "role": self.role}


def samples_of(ends: Iterable[ImportedEnd]) -> pa.Table:
    """One row per end, flow and interval."""
    rows = [{**key, "bytes": report.size_bytes, **_tcp(report)} for key, report in _reports(ends)]
    return _table(rows, _NO_SAMPLES)


def _table(rows: list[dict[str, Any]], without_rows: pa.Table) -> pa.Table:
    """Rows in the schema of a table without any: most tests have no rows of some tables."""
    if not rows:
        return without_rows
    schema = without_rows.schema
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _reports(ends: Iterable[ImportedEnd]) -> Iterator[tuple[dict[str, Any], Report]]:
    for end in ends:
        for flow, flow_report in enumerate(end.flows):
            for report in flow_report.intervals:
                span = {"flow": flow, "start_ns": report.start_ns, "end_ns": report.end_ns}
                yield {**end.key, **span}, report


def _tcp(report: Report) -> dict[str, int | None]:
    if report.tcp is None:
        return {}
    return {
        "total_retrans": report.tcp.retransmits,
        "rtt_us": report.tcp.rtt_us,
        "rttvar_us": report.tcp.rttvar_us,
        "snd_wnd_bytes": report.tcp.snd_wnd_bytes,
        "pmtu_bytes": report.tcp.pmtu_bytes,
    }


def flows_of(ends: Iterable[ImportedEnd]) -> pa.Table:
    """One row per end and flow, in FLOWS_SCHEMA."""
    rows = [
        {
            **end.key,
            "flow": flow,
            "origin_ns": 0,
            "bytes": flow_report.whole.size_bytes,
            "end_ns": flow_report.whole.end_ns,
            "local_port": flow_report.source_port if end.role == "source" else flow_report.sink_port,
            "remote_port": flow_report.sink_port if end.role == "source" else flow_report.source_port,
            **_udp(flow_report.whole),
        }
        for end in ends
        for flow, flow_report in enumerate(end.flows)
    ]
    return _table(rows, _NO_FLOWS)


def _udp(whole: Report) -> dict[str, int | None]:
    if whole.datagrams is None:
        return {}
    return {
        "udp_datagrams": whole.datagrams.count,
        "udp_reordered": whole.datagrams.reordered,
        "udp_jitter_ns": whole.datagrams.jitter_ns,
        "udp_missing": whole.datagrams.missing,
    }


def further_tables(transfer: Transfer, ends: Iterable[ImportedEnd]) -> Iterator[tuple[str, pa.Table]]:
    """Tables that only some files fill, by name."""
    datagrams = [
        {
            **key,
            "datagrams": report.datagrams.count,
            "reordered": report.datagrams.reordered,
            "missing": report.datagrams.missing,
            "jitter_ns": report.datagrams.jitter_ns,
        }
        for key, report in _reports(ends)
        if report.datagrams is not None
    ]
    yield "datagrams", _table(datagrams, _NO_DATAGRAMS)
    echoes = [
        {
            "host": transfer.src,
            "peer": transfer.dst,
            "sequence": echo.sequence,
            "echo": "icmp",
            "sent_ns": echo.at_ns,
            "rtt_ns": echo.rtt_ns,
        }
        for echo in transfer.echoes
    ]
    yield "echoes", _table(echoes, _NO_ECHOES)
