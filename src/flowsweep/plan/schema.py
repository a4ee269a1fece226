"""JSON Schema of plan files, for editors: `python -m flowsweep.plan.schema > schema/plan.json`."""

import json
import sys
from typing import Any

from flowsweep.plan.input import PlanFile


def plan_schema() -> str:
    """Return the JSON Schema (draft 2020-12) of a plan file, as text."""
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_tidied(PlanFile.model_json_schema()),
        "title": "Flowsweep plan",
        "required": ["sweep"],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _tidied(schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out null, which TOML does not have, defaults of whole tables, and titles that repeat the key."""
    kept: dict[str, Any] = {name: _tidied_value(value) for name, value in schema.items()}
    if isinstance(kept.get("title"), str):
        del kept["title"]
    if "default" in kept and (kept["default"] in (None, []) or isinstance(kept["default"], dict)):
        del kept["default"]
    choices = [choice for choice in kept.pop("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**choices[0], **kept}
    return {"anyOf": choices, **kept} if choices else kept


def _tidied_value(value: object) -> object:
    if isinstance(value, dict):
        return _tidied(value)
    return [_tidied_value(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.stdout.write(plan_schema())
