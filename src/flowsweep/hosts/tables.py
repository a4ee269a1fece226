"""Tables of an engine: Arrow streams, of which nothing is believed that was not looked at.

No buffer is decompressed and none is copied: what a table takes is what came. Known tables only, with the
columns that this version knows (`columns.COLUMNS`); another one, of a later engine, is left out if it is as
plain as these, else refused. All columns are there that an engine always tells.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from flowsweep.defaults import TABLE_BYTE_COUNT_MAX, TABLE_TEXT_MAX_BYTES, TABLE_TIME_MAX_NS
from flowsweep.hosts.columns import COLUMNS
from flowsweep.hosts.frames import FrameError

ARROW_TYPES = {"utf8": pa.string(), "int32": pa.int32(), "int64": pa.int64()}
_SCHEMA_MAX_BYTES = 256 << 10
_SHOWN_CHARACTERS = 60
_BATCH_COMPRESSION = 3
_MESSAGE_HEADER = 2
"""Places of `compression` in the table `RecordBatch`, of `header` in `Message` (format/Message.fbs)."""


@dataclass(frozen=True, slots=True)
class EngineTable:
    """A piece of a table, and whose it is."""

    trial: str
    role: str
    name: str
    rows: pa.Table


def read_table(payload: bytes) -> EngineTable:
    """Read one Arrow IPC stream.

    Raises:
        FrameError: It is none, or not one of a table that this version knows.
        pa.ArrowException, OSError, struct.error: It is damaged.
    """
    messages = _messages(payload)
    first = next(messages, None)
    if first is None or first.type != "schema" or first.metadata.size > _SCHEMA_MAX_BYTES:
        raise FrameError("a table does not begin with a schema")
    schema = pa.ipc.read_schema(first)
    about = {key.decode(errors="replace"): value for key, value in (schema.metadata or {}).items()}
    trial, role, name = (about.get(key, b"").decode(errors="replace") for key in ("trial", "role", "table"))
    name = name or "samples"
    if name not in COLUMNS:
        raise FrameError(f"unknown table {name[:_SHOWN_CHARACTERS]!r}, expected {', '.join(COLUMNS)}")
    _check_columns(name, schema)
    batches = [_batch(message, schema) for message in messages]
    rows = pa.Table.from_batches(batches, schema)
    known = [column for column, _, _ in COLUMNS[name] if column in schema.names]
    rows = rows.select(known).replace_schema_metadata(None)
    if rows.nbytes > len(payload):
        raise FrameError(f"{name}: columns of {rows.nbytes} bytes came in {len(payload)}")
    _check_values(name, rows)
    return EngineTable(trial, role, name, rows)


def check_flows(table: EngineTable, flows: int) -> None:
    """See that all rows are of flows that exist.

    Raises:
        FrameError: They are not.
    """
    if "flow" in table.rows.column_names and table.rows.num_rows:
        found = pc.min_max(table.rows["flow"]).as_py()
        if found["min"] < 0 or found["max"] >= flows:
            raise FrameError(f"{table.name}: flow {found['max']}, expected 0 to {flows - 1}")


def _messages(payload: bytes) -> Iterator[pa.Message]:
    reader = pa.ipc.MessageReader.open_stream(payload)
    while True:
        try:
            yield reader.read_next_message()
        except StopIteration:
            return


def _check_columns(name: str, schema: pa.Schema) -> None:
    known = {column: ARROW_TYPES[kind] for column, kind, _ in COLUMNS[name]}
    if len(set(schema.names)) != len(schema.names):
        raise FrameError(f"{name}: a column comes twice")
    for field in schema:
        expected = known.get(field.name)
        plain = pa.types.is_primitive(field.type) or pa.types.is_string(field.type)
        if (expected is None and not plain) or (expected is not None and field.type != expected):
            found = f"column {field.name[:_SHOWN_CHARACTERS]!r} of type {str(field.type)[:_SHOWN_CHARACTERS]}"
            raise FrameError(f"{name}: {found}, expected {expected or 'a plain one'}")
    missing = [column for column, _, nullable in COLUMNS[name] if not nullable and column not in schema.names]
    if missing:
        raise FrameError(f"{name}: lacks {', '.join(missing)}")


def _batch(message: pa.Message, schema: pa.Schema) -> pa.RecordBatch:
    if message.type != "record batch":
        raise FrameError(f"a table with a {message.type} in it, expected record batches")
    metadata = message.metadata.to_pybytes()
    (root,) = struct.unpack_from("<I", metadata)
    header = _field(metadata, root, _MESSAGE_HEADER)
    (forward,) = struct.unpack_from("<I", metadata, header)
    if _field(metadata, header + forward, _BATCH_COMPRESSION):
        raise FrameError("a compressed table, expected a plain one")
    batch = pa.ipc.read_record_batch(message, schema)
    batch.validate(full=True)
    return batch


def _field(buffer: bytes, table: int, number: int) -> int:
    """Where a field of a FlatBuffers table lies, 0 if it is absent. Arrow has verified the buffer before."""
    (back,) = struct.unpack_from("<i", buffer, table)
    (size,) = struct.unpack_from("<H", buffer, table - back)
    entry = 4 + 2 * number
    (offset,) = struct.unpack_from("<H", buffer, table - back + entry) if entry < size else (0,)
    return table + offset if offset else 0


def _check_values(name: str, rows: pa.Table) -> None:
    """See that later sums and differences are numbers, and texts are words."""
    for column, kind, nullable in COLUMNS[name]:
        if column not in rows.column_names:
            continue
        values = rows[column]
        if values.null_count and not nullable:
            raise FrameError(f"{name}: {column} is absent in {values.null_count} rows")
        if kind == "utf8":
            longest = pc.max(pc.binary_length(values)).as_py() or 0
            if longest > TABLE_TEXT_MAX_BYTES:
                raise FrameError(
                    f"{name}: {column} of {longest} bytes, at most {TABLE_TEXT_MAX_BYTES} are accepted"
                )
        elif kind == "int64" and (column.endswith("_ns") or not nullable):
            most = TABLE_TIME_MAX_NS if column.endswith("_ns") else TABLE_BYTE_COUNT_MAX
            found = pc.min_max(values).as_py()
            if max(abs(found["min"] or 0), abs(found["max"] or 0)) > most:
                raise FrameError(f"{name}: {column} from {found['min']} to {found['max']}, at most ±{most}")
