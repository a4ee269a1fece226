"""Tables as CSV inside a link, so that a page without a server can hand them out."""

import csv
import io
from collections.abc import Sequence
from urllib.parse import quote

from flowsweep.figures.axis import Row


def csv_link(rows: Sequence[Row], columns: Sequence[str] | None = None) -> str:
    """Write rows as CSV (RFC 4180) into a data URL (RFC 2397); empty where a value is not set.

    `columns`: which, in this order; all of the first row if absent.
    """
    names = list(columns) if columns is not None else list(rows[0]) if rows else []
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return "data:text/csv;charset=utf-8," + quote(text.getvalue())
