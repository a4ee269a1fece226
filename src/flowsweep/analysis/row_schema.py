"""Arrow's schema of a table whose rows are declared as a TypedDict."""

from collections.abc import Mapping
from types import NoneType
from typing import get_args, get_type_hints

import pyarrow as pa

_ARROW_TYPES: Mapping[object, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    list[int]: pa.list_(pa.int64()),
    list[float]: pa.list_(pa.float64()),
    list[str]: pa.list_(pa.string()),
}


def schema_of(row: type) -> pa.Schema:
    """Make the schema of rows, in the order of the declaration: a field may be null if it is `… | None`.

    Raises:
        KeyError: A field is of a type that no column has.
    """
    return pa.schema([_field(name, kind) for name, kind in get_type_hints(row).items()])


def _field(name: str, kind: object) -> pa.Field:
    either = get_args(kind)
    nullable = NoneType in either
    if nullable:
        (kind,) = (one for one in either if one is not NoneType)
    return pa.field(name, _ARROW_TYPES[kind], nullable=nullable)
