"""Write schema/ and the models of the messages again, as the engine of this checkout says them.

Run it as `python tests/contract/regenerate_engine.py` after a change of the messages in `engine/wire` or
of the samples in `engine/traffic`.
"""

import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from flowsweep.hosts.engine import engine_path

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schema" / "messages.json"
SAMPLES = ROOT / "schema" / "samples.json"
EMULATION = ROOT / "schema" / "emulation.json"
MODELS = ROOT / "src" / "flowsweep" / "hosts" / "messages.py"
HEADER = "# Generated from schema/messages.json by tests/contract/regenerate_engine.py: do not edit."


def main() -> None:
    schema = engine_schema("messages")
    SCHEMA.write_text(schema)
    SAMPLES.write_text(engine_schema("samples"))
    EMULATION.write_text(engine_schema("emulation"))
    MODELS.write_text(models_of(schema))


def engine_schema(what: str) -> str:
    """The schema of the messages or samples, as the engine of this installation prints it."""
    command = [str(engine_path()), "schema", what]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


def models_of(schema: str) -> str:
    """Python source of the models."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "messages.json"
        target = Path(folder) / "messages.py"
        source.write_text(json.dumps(with_named_variants(json.loads(schema))))
        arguments = [
            *("--input", str(source), "--input-file-type", "jsonschema", "--output", str(target)),
            *("--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.11"),
            *("--class-name", "Messages", "--extra-fields", "forbid", "--enable-faux-immutability"),
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
    `HostFacts`. Where that name is taken, the union's name is added: `FailedEvent`.
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
            name = name + union_name if name in definitions else name
            definitions[name] = variant
            references.append({"$ref": f"#/$defs/{name}"})
        union |= {"oneOf": references, "discriminator": {"propertyName": "type"}}
    definitions["TcpSettings"]["properties"]["cpus"]["items"] = {"type": "integer"}
    return schema


if __name__ == "__main__":
    main()
