"""Tables as CSV, the same on the command line and in a report."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence


def csv_text(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Write some columns of rows as CSV with a header, by RFC 4180 but for line ends, which are LF.

    What is not known is empty, truth is `true` or `false`, and a list is its items with spaces between.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_field(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def _field(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value
