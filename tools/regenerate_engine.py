"""Write schema/ and the models of the messages again, as the engine of this checkout says them.

Run it as `python tools/regenerate_engine.py` after a change of the messages in `engine/wire` or
of a table in `engine/traffic`. It writes the page of all columns, too.
"""

import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from flowsweep.hosts.engine import engine_path

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "schema" / "messages.json"
OF_ENGINES = (
    "samples", "cpu", "datagrams", "histograms", "echoes", "hops", "trains", "subflows", "quic",
    "streams", "storage", "devices",
)  # fmt: skip
TABLES = {name: ROOT / "schema" / f"{name}.json" for name in OF_ENGINES}
"""The tables that engines send."""
COLUMNS = ROOT / "docs" / "reference" / "columns.md"
EMULATION = ROOT / "schema" / "emulation.json"
MODELS = ROOT / "src" / "flowsweep" / "hosts" / "messages.py"
COLUMNS_HEADER = """# The columns of what engines record

<!-- Generated from the tables in schema/ by tools/regenerate_engine.py. -->

What the engines record while a trial runs, as it lies in the archive ([archive.md](archive.md)), where
`host`, `peer`, `trial_id` and `attempt` stand behind these columns. A *counter* runs since the connection
began: what an interval added is the difference of two rows, modulo 2^bits, since one of 16 or 32 bits begins
again at 0 when it is full (32 bits of segments of 1448 bytes: after 6 TB). A *gauge* is what was true at the
end of the interval. Without either it belongs to the interval. A value that a kernel does not have is null.
The same is in the metadata of the Parquet files' columns.
"""
KNOWN_COLUMNS = ROOT / "src" / "flowsweep" / "hosts" / "columns.py"
KNOWN_COLUMNS_HEADER = '''\
# Generated from the tables in schema/ by tools/regenerate_engine.py: do not edit.
"""The tables that engines send: names of their columns, Arrow types, and whether a value may be absent."""

from collections.abc import Mapping

COLUMNS: Mapping[str, tuple[tuple[str, str, bool], ...]] = {
'''
HEADER = "# Generated from schema/messages.json by tools/regenerate_engine.py: do not edit."


def main() -> None:
    """Write everything that follows from what the engine says."""
    schema = engine_schema("messages")
    SCHEMA.write_text(schema)
    for name, path in TABLES.items():
        path.write_text(engine_schema(name))
    COLUMNS.write_text(columns_page([path.read_text() for path in TABLES.values()]))
    KNOWN_COLUMNS.write_text(known_columns({name: path.read_text() for name, path in TABLES.items()}))
    EMULATION.write_text(engine_schema("emulation"))
    MODELS.write_text(models_of(schema))


def engine_schema(what: str) -> str:
    """The schema of the messages or of a table, as the engine of this installation prints it."""
    command = [str(engine_path()), "schema", what]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


def columns_page(schemas: list[str]) -> str:
    """The page that lists every column of every table, with unit and meaning."""
    return "\n".join([COLUMNS_HEADER, *map(_columns_section, schemas)])


def _columns_section(schema: str) -> str:
    table = json.loads(schema)
    rows = [
        f"| `{field['name']}` | {field.get('unit', '')} | {_kind(field)} | {field['description']} |"
        for field in table["fields"]
    ]
    head = ["| column | unit | kind | meaning |", "|---|---|---|---|"]
    return "\n".join([f"## {table['title']}", "", *head, *rows, ""])


def _kind(field: dict[str, str]) -> str:
    bits = field.get("counter_bits")
    return field.get("kind", "") + (f" ({bits} bits)" if bits else "")


def known_columns(schemas: dict[str, str]) -> str:
    """Python source of the tables' columns, from the schemas by the names of their tables."""
    lines = []
    for name, schema in schemas.items():
        lines.append(f'    "{name}": (')
        lines += [
            f'        ("{field["name"]}", "{field["type"]}", {field["nullable"]}),'
            for field in json.loads(schema)["fields"]
        ]
        lines.append("    ),")
    return "\n".join([KNOWN_COLUMNS_HEADER.rstrip(), *lines, "}", ""])


def models_of(schema: str) -> str:
    """Python source of the models."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "messages.json"
        target = Path(folder) / "messages.py"
        source.write_text(json.dumps(with_named_variants(json.loads(schema))))
        arguments = [
            *("--input", str(source), "--input-file-type", "jsonschema", "--output", str(target)),
            *("--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.11"),
            *("--class-name", "Messages", "--base-class", "flowsweep.frozen.Frozen"),
            *("--use-annotated", "--use-standard-collections", "--use-union-operator", "--use-double-quotes"),
            *("--use-schema-description", "--use-field-description", "--use-one-literal-as-default"),
            *("--enum-field-as-literal", "all", "--field-constraints", "--keep-model-order"),
            *("--use-type-alias", "--formatters", "ruff-format", "--custom-file-header", HEADER),
        ]
        command = [str(Path(sys.executable).parent / "datamodel-codegen"), *arguments]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        return target.read_text()


def with_named_variants(schema: dict[str, Any]) -> dict[str, Any]:
    """Each variant of a tagged union gets a name of its own, so that the models have names to read.

    `{"oneOf": [{… "type": {"const": "host_facts"}}]}` becomes a union of references to a definition
    `HostFacts`. Where that name is taken, or says too little, the union's name is added: `FailedEvent`,
    `TcpTest`.
    """
    schema = copy.deepcopy(schema)
    definitions = schema["$defs"]
    for union_name, union in list(definitions.items()):
        variants = union.get("oneOf", [])
        if not variants or not all("type" in variant.get("properties", {}) for variant in variants):
            continue
        references = []
        for variant in variants:
            name = "".join(word.title() for word in variant["properties"]["type"]["const"].split("_"))
            name = name + union_name if name in definitions or union_name == "Test" else name
            definitions[name] = _as_subclass(variant, definitions)
            references.append({"$ref": f"#/$defs/{name}"})
        union |= {"oneOf": references, "discriminator": {"propertyName": "type"}}
    definitions["UdpTest"]["properties"]["cpus"]["items"] = {"type": "integer"}
    for test in ("RttTest", "PathTest"):
        definitions[test]["properties"]["sizes_bytes"]["items"] = {"type": "integer"}
    for model in (schema, *definitions.values()):
        if model.get("additionalProperties") is False:
            del model["additionalProperties"]  # `Frozen` says so of all.
    return schema


def _as_subclass(variant: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A variant that has all fields of a definition, and no other: a subclass of it that adds `type`."""
    fields = {name: field for name, field in variant["properties"].items() if name != "type"}
    for name, definition in definitions.items():
        if definition.get("properties") == fields:
            added = {"properties": {"type": variant["properties"]["type"]}, "required": ["type"]}
            return {"description": variant["description"], "allOf": [{"$ref": f"#/$defs/{name}"}, added]}
    return variant


if __name__ == "__main__":
    main()
