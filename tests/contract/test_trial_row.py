"""The declared row of a summary is the row that summaries of recorded campaigns have."""

from functools import cache
from pathlib import Path
from typing import TypedDict, get_type_hints

import pyarrow as pa
import pytest

from flowsweep.analysis import FURTHER_COLUMNS, STABLE_COLUMNS
from flowsweep.analysis.row_schema import schema_of
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.archive import read_archive
from flowsweep.archive.trials import TRIALS_SCHEMA
from flowsweep.axes import AXES, SETTINGS, SettingColumns
from flowsweep.prepared.whole_summary import summary_table

ARCHIVES = sorted((Path(__file__).parent / "numbers" / "archives").iterdir())
_NARROWER = {pa.int16(): pa.int64()}
"""A Python number is of one type, whichever Arrow has."""


def types_of(schema: pa.Schema) -> list[tuple[str, str]]:
    """Names and types in their order; what an element of a list is called is of no matter."""
    return [(field.name, str(type_of(field.type))) for field in schema]


def type_of(kind: pa.DataType) -> pa.DataType:
    return pa.list_(kind.value_type) if pa.types.is_list(kind) else _NARROWER.get(kind, kind)


@cache
def summed_up(path: Path) -> pa.Table:
    """By the prepared statement or by Ibis: test_prepared_statement.py holds the one against the other."""
    return summary_table(read_archive(path))


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.name)
def test_a_summary_has_the_columns_of_a_row_in_their_types(path: Path) -> None:
    rows = summed_up(path)
    assert types_of(rows.schema) == types_of(schema_of(TrialRow))
    empty = [
        field.name for field in schema_of(TrialRow) if not field.nullable and rows[field.name].null_count
    ]
    assert empty == []


def test_a_row_of_another_declaration_is_found() -> None:
    rows = types_of(summed_up(ARCHIVES[0]).schema)
    declared = get_type_hints(TrialRow)
    one_more = declared | {"goodput_max_bps": float | None}
    one_less = {name: kind for name, kind in declared.items() if name != "verdict"}
    other_type = declared | {"verdict": int | None}
    for fields in (one_more, one_less, other_type):
        assert types_of(schema_of(TypedDict("Other", fields))) != rows
    assert types_of(schema_of(TypedDict("Same", declared))) == rows


def test_what_is_never_null_is_so_in_the_table_of_trials() -> None:
    """As far as both have it; a status, an omission and a time are computed of what is there."""
    declared = {field.name: field for field in schema_of(TrialRow)}
    for field in TRIALS_SCHEMA:
        if field.name in declared:
            assert declared[field.name].nullable == field.nullable, field.name


def test_settings_have_the_types_of_their_axes() -> None:
    of_datagrams = {"spacing_ns", "gso", "gro"}
    declared = {field.name: field for field in schema_of(TrialRow)}
    assert tuple(SettingColumns.__annotations__) == tuple(
        axis.column for axis in SETTINGS if axis.column not in of_datagrams
    )
    for axis in SETTINGS:
        assert axis.kind == str(declared[axis.column].type).replace("item: ", "")
    assert {axis.column for axis in AXES} <= declared.keys()


def test_stable_columns_come_first() -> None:
    assert tuple(TrialRow.__annotations__) == (*STABLE_COLUMNS, *FURTHER_COLUMNS)
    assert len(STABLE_COLUMNS) == 31
