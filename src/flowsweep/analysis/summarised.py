"""The summary of archives of any size, in bounded memory."""

from dataclasses import fields

import ibis.expr.types as ir

from flowsweep.analysis.alignment import flow_starts
from flowsweep.analysis.path import path_facts
from flowsweep.analysis.sampled import Sampled, sampled
from flowsweep.analysis.summarising import concluded, summary
from flowsweep.archive import Tables

ROWS_AT_A_TIME = 5_000_000
"""Rows of samples that are summed up together. Fewer would take less memory and more planning."""
_FACTS = tuple(field.name for field in fields(Tables))


def summarised(
    tables: Tables, *, paths: ir.Table | None = None, rows_at_a_time: int = ROWS_AT_A_TIME
) -> ir.Table:
    """Sum up each trial, now and once, so that several expressions may start from it.

    Args:
        tables: In any backend.
        paths: From `path_facts`; if absent it is computed.
        rows_at_a_time: How many samples DuckDB sums up together. Trials are summed up one by one, so that it
            does not matter which of them are together. Other backends have ways of their own to go beyond
            their memory.

    Returns:
        As `flowsweep.analysis.summary`, in the backend of `tables`.
    """
    paths = path_facts(tables) if paths is None else paths
    if tables.trials.get_backend().name != "duckdb":
        return summary(tables, paths=paths).cache()
    return concluded(tables, _sampled_in_parts(tables, rows_at_a_time), paths).cache()


def _sampled_in_parts(tables: Tables, rows_at_a_time: int) -> Sampled:
    """Sum up the samples of some trials after the other, and keep what was found of all.

    The tables of a part are filled anew for each, the long expressions are compiled once.
    """
    connection = tables.trials.get_backend()
    starts = connection.create_table("starts", flow_starts(tables.samples, tables.flows), overwrite=True)
    facts = {name: getattr(tables, name) for name in _FACTS} | {"starts": starts}
    parts = _parts(tables.trials, starts, rows_at_a_time) or [("", "")]

    def narrow(first: str, last: str) -> dict[str, ir.Table]:
        within = {name: table.filter(table.trial_id.between(first, last)) for name, table in facts.items()}
        return {
            name: connection.create_view(f"{name}_of_part", rows, overwrite=True)
            for name, rows in within.items()
        }

    steps: dict[str, ir.Table] = {}

    def keep(name: str, table: ir.Table) -> ir.Table:
        steps[f"{name}_kept"] = connection.create_view(f"{name}_of_part", table, overwrite=True)
        return connection.create_table(f"{name}_kept", schema=table.schema(), overwrite=True)

    views = narrow(*parts[0])
    part = sampled(Tables(**{name: views[name] for name in _FACTS}), views["starts"], keep)
    found = {
        field.name: connection.create_table(
            f"{field.name}_sampled", schema=getattr(part, field.name).schema(), overwrite=True
        )
        for field in fields(Sampled)
    }
    for first, last in parts:
        narrow(first, last)
        for name, step in steps.items():
            connection.insert(name, step, overwrite=True)
        for name in found:
            connection.insert(f"{name}_sampled", getattr(part, name))
    return Sampled(**found)


def _parts(trials: ir.Table, starts: ir.Table, rows_at_a_time: int) -> list[tuple[str, str]]:
    """First and last trial_id of each part: whole trials, one at least."""
    counts = starts.group_by("trial_id").aggregate(rows=starts["rows"].sum())
    sizes = dict.fromkeys(trials.trial_id.to_pyarrow().to_pylist(), 0)
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
