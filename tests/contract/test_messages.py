"""Messages and samples are defined once, in the engine: what is committed here is what it says."""

import json

from flowsweep.run.tables import LINKS_SCHEMA
from regenerate_engine import (
    COLUMNS,
    EMULATION,
    KNOWN_COLUMNS,
    MODELS,
    SCHEMA,
    TABLES,
    columns_page,
    engine_schema,
    known_columns,
    models_of,
)

REMEDY = "run `python tools/regenerate_engine.py` and commit what it writes"


def test_the_committed_schemas_are_the_engines() -> None:
    assert SCHEMA.read_text() == engine_schema("messages"), REMEDY
    for name, path in TABLES.items():
        assert path.read_text() == engine_schema(name), REMEDY
    assert EMULATION.read_text() == engine_schema("emulation"), REMEDY


def test_the_page_of_all_columns_is_of_the_committed_schemas() -> None:
    assert COLUMNS.read_text() == columns_page([path.read_text() for path in TABLES.values()]), REMEDY


def test_the_controller_knows_the_columns_of_the_committed_schemas() -> None:
    told = known_columns({name: path.read_text() for name, path in TABLES.items()})
    assert KNOWN_COLUMNS.read_text() == told, REMEDY


def test_the_committed_models_are_of_the_committed_schema() -> None:
    assert MODELS.read_text() == models_of(SCHEMA.read_text()), REMEDY


def test_the_archive_has_a_column_for_everything_that_an_emulator_counts() -> None:
    counted = json.loads(EMULATION.read_text())["$defs"]["DirectionCounters"]["properties"]
    assert {*LINKS_SCHEMA.names} == {"link", "src", "dst", "at_ns", "at_unix_ns", *counted}


def test_the_page_says_when_a_counter_begins_again_at_0() -> None:
    field = {"name": "x", "unit": "segments", "kind": "counter", "description": "So far."}
    fields = [field, field | {"name": "y", "counter_bits": "32"}]
    page = columns_page([json.dumps({"title": "Samples", "fields": fields})])
    assert page.endswith(
        "| `x` | segments | counter | So far. |\n| `y` | segments | counter (32 bits) | So far. |\n"
    )
