"""Rows put together by what they have in common."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_Row = TypeVar("_Row")
_Key = TypeVar("_Key", bound=Hashable)


def grouped(rows: Iterable[_Row], key: Callable[[_Row], _Key]) -> dict[_Key, list[_Row]]:
    """Put rows of the same key together: keys in the order in which they appear first, rows in their own."""
    groups: dict[_Key, list[_Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
