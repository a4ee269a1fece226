"""The data of one attempt as tables: the engine's columns as they came, and whose they are."""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from flowsweep.archive.imported import ImportedOutcome
from flowsweep.archive.sampled_flows import SAMPLED_FIELDS, with_sampled
from flowsweep.errors import ArchiveError
from flowsweep.hosts.columns import COLUMNS
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

_NEEDED_COLUMNS = {
    "samples": ("role", "flow", "start_ns", "end_ns", "bytes"),
    "cpu": (
        "role", "start_ns", "end_ns", "kind", "id", "user_us", "system_us", "softirq_us", "irq_us",
        "steal_us", "idle_us", "busy_us", "voluntary_switches", "involuntary_switches",
    ),
    "datagrams": (
        "role", "flow", "start_ns", "end_ns", "datagrams", "reordered", "duplicates", "missing", "jitter_ns",
        "delay_min_ns", "delay_mean_ns", "delay_max_ns",
    ),
    "histograms": ("role", "flow", "quantity", "low", "high", "count"),
    "echoes": ("sequence", "echo", "size_bytes", "sent_ns", "rtt_ns"),
    "hops": ("sequence", "ttl", "size_bytes", "sent_ns", "rtt_ns", "address", "answer"),
    "trains": ("train", "kind", "rate_bps", "sequence", "size_bytes", "sent_ns", "received_ns"),
    "subflows": (
        "role", "flow", "subflow", "start_ns", "end_ns", "local_address", "remote_address",
        "connection_sent_bytes", "connection_reinjected_bytes", "bytes_sent", "bytes_retrans",
        "total_retrans", "min_rtt_us",
    ),
    "quic": (
        "role", "flow", "start_ns", "end_ns", "min_rtt_us", "packets_lost", "bytes_lost", "datagrams_sent",
        "datagram_bytes_sent", "congestion_limited_us", "flow_control_limited_us", "application_limited_us",
    ),
    "streams": ("role", "flow", "start_ns", "end_ns", "stream", "stream_bytes"),
    "storage": (
        "role", "flow", "start_ns", "end_ns", "storage_bytes", "network_bytes", "synced_bytes", "files",
        "storage_call_ns", "sync_call_ns", "network_call_ns", "waits_for_storage_ns", "waits_for_network_ns",
        "storage_cpu_us",
    ),
    "devices": (
        "role", "start_ns", "end_ns", "device", "file_system", "read_bytes", "written_bytes", "busy_us",
        "queued_us",
    ),
}  # fmt: skip
"""Of the engines' tables, `samples` and `cpu` of every engine: all other columns may be absent."""
PLANNED_PLAINLY_ROWS_MAX = 20_000
"""Of trials that no archive keeps: to find a better plan takes longer than what a worse one costs. Of
19,264 rows the plain plan took 0.36 s of CPU and the better one 0.45 s, of 77,118 rows 0.43 s and 0.40 s."""


def _needed_fields(table: str) -> tuple[pa.Field, ...]:
    sent = {
        name: pa.field(name, pa.type_for_alias(kind), nullable) for name, kind, nullable in COLUMNS[table]
    }
    return (*HOST_FIELDS, *(sent[name] for name in _NEEDED_COLUMNS[table]))


NEEDED_FIELDS = {table: _needed_fields(table) for table in _NEEDED_COLUMNS}
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
