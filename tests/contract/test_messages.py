"""Messages and samples are defined once, in the engine: what is committed here is what it says."""

from regenerate_engine import MODELS, SAMPLES, SCHEMA, engine_schema, models_of

REMEDY = "run `python tests/contract/regenerate_engine.py` and commit what it writes"


def test_the_committed_schemas_are_the_engines() -> None:
    assert SCHEMA.read_text() == engine_schema("messages"), REMEDY
    assert SAMPLES.read_text() == engine_schema("samples"), REMEDY


def test_the_committed_models_are_of_the_committed_schema() -> None:
    assert MODELS.read_text() == models_of(SCHEMA.read_text()), REMEDY
