"""The summary of archives of any size, in bounded memory."""

from dataclasses import fields

import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.analysis.path import path_facts
from flowsweep.analysis.summarising import summary
from flowsweep.archive import Tables

ROWS_AT_A_TIME = 1_500_000
"""Rows of samples that are summed up together. Fewer would take less memory and more planning."""
_FACTS = tuple(field.name for field in fields(Tables))


def summarised(tables: Tables, *, rows_at_a_time: int = ROWS_AT_A_TIME) -> ir.Table:
    """Sum up each trial, now and once, so that several expressions may start from it.

    Args:
        tables: In any backend.
        rows_at_a_time: How many samples DuckDB sums up together. Trials are summed up one by one, so that it
            does not matter which of them are together. Other backends have ways of their own to go beyond
            their memory.

    Returns:
        As `flowsweep.analysis.summary`, in the backend of `tables`.
    """
    connection = tables.trials.get_backend()
    paths = path_facts(tables)
    whole = summary(tables, paths=paths)
    parts = _parts(tables, rows_at_a_time) if connection.name == "duckdb" else []
    if len(parts) < 2:
        return whole.cache()
    facts = {name: getattr(tables, name) for name in _FACTS}

    def narrow(first: str, last: str) -> Tables:
        within = {name: table.filter(table.trial_id.between(first, last)) for name, table in facts.items()}
        return Tables(
            **{
                name: connection.create_view(f"{name}_part", rows, overwrite=True)
                for name, rows in within.items()
            }
        )

    # The views are made anew for each part, the long expression that stands on them is compiled once.
    each = connection.create_view("summary_part", summary(narrow(*parts[0]), paths=paths), overwrite=True)
    found: list[pa.Table] = []
    for first, last in parts:
        narrow(first, last)
        found.append(each.to_pyarrow())
    rows = pa.concat_tables(found).sort_by("order_index")
    return connection.create_table("summary", rows, temp=True, overwrite=True)


def _parts(tables: Tables, rows_at_a_time: int) -> list[tuple[str, str]]:
    """First and last trial_id of each part: whole trials, one at least."""
    counts = tables.samples.group_by("trial_id").aggregate(rows=tables.samples.count())
    sizes = dict.fromkeys(tables.trials.trial_id.to_pyarrow().to_pylist(), 0)
    sizes |= {row["trial_id"]: row["rows"] for row in counts.to_pyarrow().to_pylist()}
    parts: list[tuple[str, str]] = []
    room = 0
    for trial_id, rows in sorted(sizes.items()):
        if rows > room or not parts:
            parts.append((trial_id, trial_id))
            room = rows_at_a_time
        parts[-1] = (parts[-1][0], trial_id)
        room -= rows
    return parts
