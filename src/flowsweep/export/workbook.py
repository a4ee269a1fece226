"""Tables as sheets of a workbook: numbers and dates as such, the header and units in sight."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import ibis.expr.types as ir
import pyarrow as pa
import xlsxwriter
from xlsxwriter.exceptions import FileCreateError
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from flowsweep.errors import ExportError
from flowsweep.export.column_units import unit_of_column

MOST_ROWS = 1_048_576
"""What a sheet holds (ECMA-376; Excel's and LibreOffice's limit), header included."""
_HEADER_ROWS = 2
_WIDTH_MIN, _WIDTH_MAX = 8, 48
_ROWS_MEASURED = 200
_LONGEST_TEXT = 32_767
"""Characters of a cell."""
_FIRST_YEAR = 1900
_SAFE_INTEGER = 2**53
"""Spreadsheets have floating-point numbers only."""
_NOTES = (
    "The first row has the columns' names, the second their units; what is not known is empty.",
    "Times are UTC. All columns, and where each is defined: docs/reference/summary-columns.md of Flowsweep.",
    "Whole numbers above 2^53 are text, since a spreadsheet would round them.",
)


def write_workbook(path: Path, tables: Mapping[str, ir.Table]) -> int:
    """Write each table into a sheet of its name; returns the number of rows of all.

    Raises:
        ExportError: A table has more rows than a sheet holds.
        OSError: The file cannot be written.
    """
    contents = {name: table.to_pyarrow() for name, table in tables.items()}
    for name, content in contents.items():
        if content.num_rows > MOST_ROWS - _HEADER_ROWS:
            raise ExportError(
                f"{name} has {content.num_rows} rows, and a sheet holds {MOST_ROWS - _HEADER_ROWS} beside "
                f"its header: export it as csv or parquet, or choose other tables with --table"
            )
    book = BytesIO()
    with TemporaryDirectory(prefix="flowsweep-") as scratch:
        _write_book(book, contents, scratch)
    path.write_bytes(book.getbuffer())
    return sum(content.num_rows for content in contents.values())


def _write_book(file: BytesIO, contents: Mapping[str, pa.Table], scratch: str) -> None:
    """Write a workbook; its sheets lie uncompressed in the folder `scratch` meanwhile."""
    options = {
        "strings_to_formulas": False, "strings_to_urls": False, "default_date_format": _DATE,
        "nan_inf_to_errors": True, "tmpdir": scratch,
    }  # fmt: skip
    try:
        with xlsxwriter.Workbook(file, options) as book:
            bold, dim = (
                book.add_format({"bold": True}),
                book.add_format({"italic": True, "font_color": "#666666"}),
            )
            for name, content in contents.items():
                _write_sheet(book.add_worksheet(name), content, bold, dim)
            notes = book.add_worksheet("notes")
            notes.set_column(0, 0, 100)
            for row, line in enumerate(_NOTES):
                notes.write_string(row, 0, line)
    except FileCreateError as error:
        # The library hides what the system said.
        refused = error.args[0].errno, error.args[0].strerror
    else:
        return
    # Not from within: what the library has open is closed once no error refers to it, before `file` is.
    raise OSError(*refused, scratch)


_DATE = "yyyy-mm-dd hh:mm:ss"


def _write_sheet(sheet: Worksheet, content: pa.Table, bold: Format, dim: Format) -> None:
    sheet.freeze_panes(_HEADER_ROWS, 1)
    sheet.autofilter(_HEADER_ROWS - 1, 0, _HEADER_ROWS - 1 + content.num_rows, content.num_columns - 1)
    for place, name in enumerate(content.column_names):
        values = [_cell(name, value) for value in content.column(place).to_pylist()]
        sheet.write_string(0, place, name, bold)
        sheet.write_string(1, place, unit_of_column(name), dim)
        sheet.set_column(place, place, _width(name, values))
        for row, value in enumerate(values, start=_HEADER_ROWS):
            if isinstance(value, str):
                sheet.write_string(row, place, value)  # `write` may take it for a formula or a link
            elif value is not None:
                sheet.write(row, place, value)


def _cell(name: str, value: object) -> object:
    match value:
        case list() | tuple():
            return " ".join(map(str, value))[:_LONGEST_TEXT]
        case str() if name.endswith("_at"):
            return _moment(value)
        case str():
            return value[:_LONGEST_TEXT]
        case int() if abs(value) > _SAFE_INTEGER:
            return str(value)
        case _:
            return value


def _moment(text: str) -> datetime | str:
    """A date, or text of one before the first that a spreadsheet knows, and of none."""
    try:
        at = datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return text
    return at if at.year >= _FIRST_YEAR else text


def _width(name: str, values: Sequence[object]) -> float:
    longest = max((len(_shown(value)) for value in values[:_ROWS_MEASURED]), default=0)
    return min(max(longest, len(name), _WIDTH_MIN), _WIDTH_MAX) + 2


def _shown(value: object) -> str:
    """About what a spreadsheet shows of a value."""
    match value:
        case None:
            return ""
        case datetime():
            return _DATE
        case float():
            return f"{value:.10g}"
        case _:
            return str(value)
