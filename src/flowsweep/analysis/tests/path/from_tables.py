"""Measurements of paths, out of the tables of an archive."""

import functools
import operator
from collections.abc import Iterable

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from flowsweep.analysis.tests.path.columns import COLUMNS_OF_TABLES
from flowsweep.analysis.tests.path.facts import PathFacts, facts_rows, path_facts_of
from flowsweep.analysis.tests.path.rows import HOPS_SCHEMA, hop_rows
from flowsweep.archive import Tables, keep_with

UNANSWERED = "the other end answered no probe of a hop, and trains and streams tell nothing"
"""Why a measurement of a path says nothing."""


def unanswered(rows: ir.Table) -> ir.BooleanValue:
    """Whether a trial measured a path, and found nothing."""
    found = (
        rows.path_capacity_bps,
        rows.path_hops,
        rows.path_dispersion_rate_bps,
        rows.path_available_low_bps,
    )
    return functools.reduce(operator.and_, (column.isnull() for column in found), rows.test == "path")


def path_facts(tables: Tables) -> ir.Table:
    """Sum up each measurement of a path, now, in memory.

    Returns:
        One row per trial of test "path" with data: trial_id and PATH_COLUMNS; rates in bit/s of IP packets,
        intervals of 95 %. Methods: docs/guide/path.md.
    """
    return facts_table(tables, measured_paths(tables))


def facts_table(tables: Tables, measured: Iterable[PathFacts]) -> ir.Table:
    """Make the rows of `path_facts` of trials that have been analysed, in the backend of `tables`."""
    return keep_with(tables.trials, "path_facts", facts_rows(measured))


def measured_paths(tables: Tables) -> list[PathFacts]:
    """Analyse each measurement of a path, in the order of the campaign; none costs hardly anything."""
    asked = tables.trials.filter(tables.trials.test == "path").order_by("order_index")
    place = {trial_id: place for place, trial_id in enumerate(asked.trial_id.to_pyarrow().to_pylist())}
    if not place:
        return []
    rows = {
        name: getattr(tables, name).select(*columns).to_pyarrow()
        for name, columns in COLUMNS_OF_TABLES.items()
    }
    measured = [facts for facts in path_facts_of(**rows) if facts.trial_id in place]
    return sorted(measured, key=lambda facts: place[facts.trial_id])


def hop_table(tables: Tables) -> ir.Table:
    """List the hops of each measurement of a path, in order.

    Returns:
        In HOPS_SCHEMA: rates in bit/s of IP packets, with the ends of their 95 % interval; where there is no
        capacity, `note` says why, and `capacity_low_bps`, if it is there, what the capacity is above, or with
        `capacity_high_bps` what it is between.
    """
    return ibis.memtable(pa.Table.from_pylist(hop_rows(measured_paths(tables)), schema=HOPS_SCHEMA))
