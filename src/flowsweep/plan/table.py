"""What every table of a plan file has in common."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Value = TypeVar("Value")


def key(
    description: str, default: Value, *, written: JsonValue = None, examples: list[Any] | None = None
) -> Value:
    """Declare a key: what it means, its checked default, and how a plan would write that default."""
    extra: dict[str, JsonValue] | None = None if written is None else {"default": written}
    field: Value = Field(default=default, description=description, examples=examples, json_schema_extra=extra)
    return field


class Table(BaseModel):
    """Base of all tables: no other keys, no conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
