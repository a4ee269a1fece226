"""The data of one attempt as tables: the engine's columns as they came, and whose they are."""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from flowsweep.archive.imported import ImportedOutcome
from flowsweep.archive.sampled_flows import SAMPLED_FIELDS, with_sampled
from flowsweep.errors import ArchiveError
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import COUNTERS_SCHEMA, FLOWS_SCHEMA, LINKS_SCHEMA

KEY_FIELDS = (
    pa.field("trial_id", pa.string(), nullable=False),
    pa.field("attempt", pa.int16(), nullable=False),
)
"""What the archive adds to each row: of which attempt it is."""

HOST_FIELDS = (
    pa.field("host", pa.string(), nullable=False),
    pa.field("peer", pa.string(), nullable=False),
)
"""Whose samples or CPU time it is, and which host is at the other end."""

NEEDED_SAMPLE_FIELDS = (
    *HOST_FIELDS,
    pa.field("role", pa.string(), nullable=False),
    pa.field("flow", pa.int32(), nullable=False),
    pa.field("start_ns", pa.int64(), nullable=False),
    pa.field("end_ns", pa.int64(), nullable=False),
    pa.field("bytes", pa.int64(), nullable=False),
)
"""What every engine records; all other columns of its samples may be absent."""

NEEDED_CPU_FIELDS = (
    *HOST_FIELDS,
    pa.field("role", pa.string(), nullable=False),
    pa.field("start_ns", pa.int64(), nullable=False),
    pa.field("end_ns", pa.int64(), nullable=False),
    pa.field("kind", pa.string(), nullable=False),
    pa.field("id", pa.int32(), nullable=False),
    pa.field("user_us", pa.int64()),
    pa.field("system_us", pa.int64()),
    pa.field("softirq_us", pa.int64()),
    pa.field("irq_us", pa.int64()),
    pa.field("steal_us", pa.int64()),
    pa.field("idle_us", pa.int64()),
    pa.field("busy_us", pa.int64(), nullable=False),
    pa.field("voluntary_switches", pa.int64()),
    pa.field("involuntary_switches", pa.int64()),
)
"""What an analysis may ask of CPU time, also where no engine recorded any."""

_DATAGRAM_FIELDS = (
    *HOST_FIELDS,
    pa.field("role", pa.string(), nullable=False),
    pa.field("flow", pa.int32(), nullable=False),
    pa.field("start_ns", pa.int64(), nullable=False),
    pa.field("end_ns", pa.int64(), nullable=False),
    pa.field("datagrams", pa.int64(), nullable=False),
    pa.field("reordered", pa.int64(), nullable=False),
    pa.field("duplicates", pa.int64(), nullable=False),
    pa.field("missing", pa.int64(), nullable=False),
    pa.field("jitter_ns", pa.int64()),
    pa.field("delay_min_ns", pa.int64()),
    pa.field("delay_mean_ns", pa.int64()),
    pa.field("delay_max_ns", pa.int64()),
)
_HISTOGRAM_FIELDS = (
    *HOST_FIELDS,
    pa.field("role", pa.string(), nullable=False),
    pa.field("flow", pa.int32(), nullable=False),
    pa.field("quantity", pa.string(), nullable=False),
    pa.field("low", pa.int64(), nullable=False),
    pa.field("high", pa.int64(), nullable=False),
    pa.field("count", pa.int64(), nullable=False),
)
_ECHO_FIELDS = (
    *HOST_FIELDS,
    pa.field("sequence", pa.int64(), nullable=False),
    pa.field("echo", pa.string(), nullable=False),
    pa.field("size_bytes", pa.int64(), nullable=False),
    pa.field("sent_ns", pa.int64(), nullable=False),
    pa.field("rtt_ns", pa.int64()),
)
_HOP_FIELDS = (
    *HOST_FIELDS,
    pa.field("sequence", pa.int64(), nullable=False),
    pa.field("ttl", pa.int32(), nullable=False),
    pa.field("size_bytes", pa.int64(), nullable=False),
    pa.field("sent_ns", pa.int64(), nullable=False),
    pa.field("rtt_ns", pa.int64()),
    pa.field("address", pa.string()),
    pa.field("answer", pa.string()),
)
_TRAIN_FIELDS = (
    *HOST_FIELDS,
    pa.field("train", pa.int64(), nullable=False),
    pa.field("kind", pa.string(), nullable=False),
    pa.field("rate_bps", pa.int64()),
    pa.field("sequence", pa.int64(), nullable=False),
    pa.field("size_bytes", pa.int64(), nullable=False),
    pa.field("sent_ns", pa.int64(), nullable=False),
    pa.field("received_ns", pa.int64(), nullable=False),
)
_SUBFLOW_FIELDS = (
    *HOST_FIELDS,
    pa.field("role", pa.string(), nullable=False),
    pa.field("flow", pa.int32(), nullable=False),
    pa.field("subflow", pa.int32(), nullable=False),
    pa.field("start_ns", pa.int64(), nullable=False),
    pa.field("end_ns", pa.int64(), nullable=False),
    pa.field("local_address", pa.string()),
    pa.field("remote_address", pa.string()),
    pa.field("connection_sent_bytes", pa.int64(), nullable=False),
    pa.field("connection_reinjected_bytes", pa.int64(), nullable=False),
    pa.field("bytes_sent", pa.int64()),
    pa.field("bytes_retrans", pa.int64()),
    pa.field("total_retrans", pa.int64()),
    pa.field("min_rtt_us", pa.int64()),
)
_OF_CONNECTION = (
    *HOST_FIELDS,
    pa.field("role", pa.string(), nullable=False),
    pa.field("flow", pa.int32(), nullable=False),
    pa.field("start_ns", pa.int64(), nullable=False),
    pa.field("end_ns", pa.int64(), nullable=False),
)
_QUIC_COUNTS = (
    "min_rtt_us", "packets_lost", "bytes_lost", "datagrams_sent", "datagram_bytes_sent",
    "congestion_limited_us", "flow_control_limited_us", "application_limited_us",
)  # fmt: skip
_QUIC_FIELDS = (*_OF_CONNECTION, *(pa.field(name, pa.int64(), nullable=False) for name in _QUIC_COUNTS))
_STREAM_FIELDS = (
    *_OF_CONNECTION,
    pa.field("stream", pa.int32(), nullable=False),
    pa.field("stream_bytes", pa.int64(), nullable=False),
)
_STORAGE_COUNTS = (
    "storage_bytes", "network_bytes", "synced_bytes", "files", "storage_call_ns", "sync_call_ns",
    "network_call_ns", "waits_for_storage_ns", "waits_for_network_ns", "storage_cpu_us",
)  # fmt: skip
_STORAGE_FIELDS = (*_OF_CONNECTION, *(pa.field(name, pa.int64(), nullable=False) for name in _STORAGE_COUNTS))
_DEVICE_FIELDS = (
    *HOST_FIELDS,
    pa.field("role", pa.string(), nullable=False),
    pa.field("start_ns", pa.int64(), nullable=False),
    pa.field("end_ns", pa.int64(), nullable=False),
    pa.field("device", pa.string()),
    pa.field("file_system", pa.string(), nullable=False),
    pa.field("read_bytes", pa.int64()),
    pa.field("written_bytes", pa.int64()),
    pa.field("busy_us", pa.int64()),
    pa.field("queued_us", pa.int64()),
)
NEEDED_FIELDS = {
    "samples": NEEDED_SAMPLE_FIELDS,
    "cpu": NEEDED_CPU_FIELDS,
    "datagrams": _DATAGRAM_FIELDS,
    "histograms": _HISTOGRAM_FIELDS,
    "echoes": _ECHO_FIELDS,
    "hops": _HOP_FIELDS,
    "trains": _TRAIN_FIELDS,
    "subflows": _SUBFLOW_FIELDS,
    "quic": _QUIC_FIELDS,
    "streams": _STREAM_FIELDS,
    "storage": _STORAGE_FIELDS,
    "devices": _DEVICE_FIELDS,
}
"""What an analysis may ask of each of the engines' tables: schema/NAME.json says what the columns mean."""

LATER_FIELDS = {"links": frozenset(field.name for field in LINKS_SCHEMA if field.nullable)}
"""Columns that earlier campaigns did not record: the analysis takes them for null."""

EMPTY_TABLES = {
    # `empty_table` would load pandas.
    name: pa.Table.from_batches([], pa.schema([*fields, *KEY_FIELDS]))
    for name, fields in (
        *NEEDED_FIELDS.items(),
        ("flows", (*FLOWS_SCHEMA, *SAMPLED_FIELDS)),
        ("counters", COUNTERS_SCHEMA),
        ("links", LINKS_SCHEMA),
    )
}
"""Each of the archive's tables without rows."""


def keyed_tables(outcome: TrialOutcome) -> dict[str, pa.Table]:
    """Return the outcome's tables that have rows, by name, with the columns that say whose rows they are.

    Raises:
        ArchiveError: The engine's lack what every analysis needs.
    """
    tables = {
        "samples": outcome.samples,
        "flows": outcome.flows,
        "cpu": outcome.cpu,
        "counters": outcome.counters,
        "links": outcome.links,
        **outcome.of_tests,
    }
    for name, fields in NEEDED_FIELDS.items():
        table = tables.get(name)
        missing = () if table is None else sorted({field.name for field in fields} - set(table.column_names))
        if missing and table is not None and table.num_rows:
            raise ArchiveError(
                f"trial {outcome.record.trial_id}: the engine's {name} lack the column {', '.join(missing)}"
            )
    return _keyed(tables, outcome.record.trial_id, outcome.record.attempt)


def keyed_tables_of_imported(outcomes: Iterable[ImportedOutcome]) -> dict[str, pa.Table]:
    """Return the tables of imported trials that have rows, likewise, those of all trials together."""
    pieces: dict[str, list[pa.Table]] = {}
    for outcome in outcomes:
        tables = {"samples": outcome.samples, "flows": outcome.flows, **outcome.of_tests}
        for name, table in _keyed(tables, outcome.record.trial_id, 1).items():
            pieces.setdefault(name, []).append(table)
    return {name: pa.concat_tables(tables, promote_options="default") for name, tables in pieces.items()}


def _keyed(tables: Mapping[str, pa.Table], trial_id: str, attempt: int) -> dict[str, pa.Table]:
    if tables["flows"].num_rows:
        tables = {**tables, "flows": with_sampled(tables["flows"], tables["samples"])}
    return {name: _with_keys(table, trial_id, attempt) for name, table in tables.items() if table.num_rows}


def _with_keys(table: pa.Table, trial_id: str, attempt: int) -> pa.Table:
    for field, key in zip(KEY_FIELDS, (trial_id, attempt), strict=True):
        table = table.append_column(field, pa.repeat(pa.scalar(key, field.type), table.num_rows))
    return table
