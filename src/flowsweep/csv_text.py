"""Tables as CSV, the same on the command line and in a report."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from urllib.parse import quote

from flowsweep.wording import printable

_BEGIN_A_FORMULA = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufffd")
"""What spreadsheets take for the beginning of a formula, or leave out before one (OWASP, CSV Injection)."""
_BEHIND_A_SEPARATOR = re.compile(rf'([;\t\n])(?="*[{re.escape("".join(_BEGIN_A_FORMULA))}])')
"""Where such a beginning comes to stand if a semicolon, a tab or a line's end begins another cell."""
_LEFT_AS_THEY_ARE = ",:;/+=()*$@!?"
"""Characters that a data URL may hold: what is quoted takes three times the room."""


def csv_text(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Write some columns of rows as CSV with a header, by RFC 4180 but for line ends, which are LF.

    What is not known is empty, truth is `true` or `false`, and a list is its items with spaces between. Text
    that a spreadsheet would compute gets an apostrophe in front, also where a semicolon or a tab would begin
    a cell with it, and what cannot be printed a mark in its place: hosts, plans and files have names that
    anybody may have chosen. Numbers are as they are.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_harmless, columns))
    writer.writerows([_field(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def csv_link(rows: Sequence[Mapping[str, object]], columns: Sequence[str] | None = None) -> str:
    """Write rows as CSV into a data URL (RFC 2397).

    `columns`: which, in this order; all of the first row if absent.
    """
    names = list(columns) if columns is not None else list(rows[0]) if rows else []
    return "data:text/csv;charset=utf-8," + quote(csv_text(rows, names), safe=_LEFT_AS_THEY_ARE)


def _field(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        joined = " ".join(map(str, value))
        return _harmless(joined) if any(isinstance(item, str) for item in value) else joined
    return value if value is None or isinstance(value, int | float | Decimal) else _harmless(str(value))


def _harmless(text: str) -> str:
    shown = _BEHIND_A_SEPARATOR.sub(r"\1'", printable(text))
    return f"'{shown}" if shown.startswith(_BEGIN_A_FORMULA) else shown
