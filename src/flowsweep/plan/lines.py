"""Where the keys of a TOML document are written."""

import re
from collections.abc import Mapping

from flowsweep.plan.problems import KeyPath

_HEADER = re.compile(r"\s*(?P<open>\[\[?)\s*(?P<name>[^\[\]]+?)\s*\]\]?\s*(#.*)?")
_KEY = re.compile(r"\s*(?P<name>[A-Za-z0-9_\-.\"' ]+?)\s*=")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Find the line, from 1, of every table header and key at the beginning of a line.

    Good enough to point at, and no parser: what looks like a key inside a text of several lines counts too.
    """
    lines: dict[KeyPath, int] = {}
    tables: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            table = _placed(_parts(header["name"]), tables)
            if header["open"] == "[[":
                index = tables.get(table, 0)
                tables[table] = index + 1
                table = (*table, index)
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_parts(key["name"])), number)
    return lines


def line_of(path: KeyPath, lines: Mapping[KeyPath, int]) -> int | None:
    """Return the line of a key, of the first thing in it, or of the nearest thing around it that has one."""
    inside = (line for known, line in lines.items() if known[: len(path)] == path)
    if path not in lines and (first := next(inside, None)) is not None:
        return first
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _placed(name: KeyPath, tables: Mapping[KeyPath, int]) -> KeyPath:
    """Put the numbers of lists of tables into a name: `[[sweep.background]]` belongs to the last sweep."""
    *around, last = name
    path: KeyPath = ()
    for part in around:
        path = (*path, part)
        if path in tables:
            path = (*path, tables[path] - 1)
    return (*path, last)


def _parts(dotted: str) -> KeyPath:
    return tuple(
        next(part for part in match.groups() if part is not None) for match in _PART.finditer(dotted)
    )
