"""Tables as CSV inside a link, so that a page without a server can hand them out."""

from collections.abc import Sequence
from urllib.parse import quote

from flowsweep.csv_text import csv_text
from flowsweep.figures.axis import Row

_LEFT_AS_THEY_ARE = ",:;/+=()*$@!?"
"""Characters that a data URL may hold: what is quoted takes three times the room."""


def csv_link(rows: Sequence[Row], columns: Sequence[str] | None = None) -> str:
    """Write rows as CSV into a data URL (RFC 2397).

    `columns`: which, in this order; all of the first row if absent.
    """
    names = list(columns) if columns is not None else list(rows[0]) if rows else []
    return "data:text/csv;charset=utf-8," + quote(csv_text(rows, names), safe=_LEFT_AS_THEY_ARE)
