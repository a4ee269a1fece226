"""Archives of format 2: what they call by other names, given the names of today.

A campaign that began under format 2 may have gone on later: then its journal and its files have both names.
"""

from typing import TYPE_CHECKING

from pydantic import JsonValue
from pydantic_core import from_json, to_json

if TYPE_CHECKING:
    import ibis.expr.types as ir

FORMAT_2 = 2
KEYS = {"companions": "background", "strangers": "rejected_connections"}
"""Of records of attempts in the journal: the names of today by those of then."""
COLUMNS = {"flows": {"companion": "background"}}
"""The same, by table."""
_ROLES = {"cpu", "counters"}
"""Tables that tell, as `companion_source` and `companion_sink`, of hosts of background traffic alone."""

_SIGNS = tuple(f'"{name}":'.encode() for name in KEYS)


def with_keys_of_today(payload: bytes) -> bytes:
    """Rename the keys of a record of an attempt; any other payload stays as it is, also what is no JSON."""
    if not any(sign in payload for sign in _SIGNS):
        return payload
    try:
        entry = from_json(payload)
    except ValueError:
        return payload
    if not isinstance(entry, dict) or entry.get("kind") != "finished":
        return payload
    return to_json(_renamed(entry))


def with_names_of_today(name: str, rows: "ir.Table") -> "ir.Table":
    """Rename the columns of a table, and the roles in it.

    Args:
        name: Of the table.
        rows: As its files have them.
    """
    for former, today in COLUMNS.get(name, {}).items():
        if former in rows.columns:
            found = rows[today].coalesce(rows[former]) if today in rows.columns else rows[former]
            rows = rows.mutate(**{today: found}).drop(former)
    return rows.mutate(role=rows.role.replace("companion_", "background_")) if name in _ROLES else rows


def _renamed(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {KEYS.get(key, key): _renamed(one) for key, one in value.items()}
    return [_renamed(one) for one in value] if isinstance(value, list) else value
